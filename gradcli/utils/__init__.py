"""Utils: torch.utils, as far as gradients have to do with it."""
