"""Operators: products, decompositions and solutions; distances between vectors."""
