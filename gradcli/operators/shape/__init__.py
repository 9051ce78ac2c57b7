"""Operators: the same elements in another shape, order or type, and tensors made of numbers."""
