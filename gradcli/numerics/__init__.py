"""Numerics: arithmetic in the order of the kernels of PyTorch, where the last bits depend on it."""
