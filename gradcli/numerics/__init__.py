"""Numerics: arithmetic in the order of the kernels of PyTorch, where the last bits depend on it.

`thresholds` says of each rule up to how many elements it holds, why, and what it costs.
"""
