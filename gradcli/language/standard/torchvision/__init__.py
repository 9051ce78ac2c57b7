"""language: torchvision: its datasets and transforms, and the pictures that they work on."""
