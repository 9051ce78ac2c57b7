"""Operators: one number of the result from one number of each operand."""
