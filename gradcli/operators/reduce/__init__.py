"""Operators: along dimensions: sums, extremes, sorting, softmax, statistics."""
