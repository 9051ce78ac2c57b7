"""Operators: Fourier transforms."""
