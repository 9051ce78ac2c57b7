"""Operators: elements read from places and written to places."""
