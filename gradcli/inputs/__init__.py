"""Inputs: values that come from the command line, and data from files; nothing here runs code."""

from .assignments import Input, default_of, parse_set, parse_value
from .refused import InputError

__all__ = ["Input", "InputError", "default_of", "parse_set", "parse_value"]
