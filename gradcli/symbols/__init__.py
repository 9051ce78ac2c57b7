"""Symbols: algebra, the third carrier of the formulas of a row."""
