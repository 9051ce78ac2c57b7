"""language: einops: patterns in which axes have names."""
