"""Operators on tensors of a sparse layout."""
