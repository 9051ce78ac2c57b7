"""Operators: declarations, one for each overload, and nothing else. Importing them loads no array library."""

from ..engine.operator import catalogue

__all__ = ["catalogue"]
