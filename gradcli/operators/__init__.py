"""Operators: declarations, one for each overload, and nothing else.

Importing them loads no array library.
"""

from importlib import import_module
from os import listdir

from ..engine.operator import catalogue

__all__ = ["catalogue"]

# Every module of this folder declares operators: a new one needs no second place.
for _file in sorted(listdir(__path__[0])):
    if _file.endswith(".py") and not _file.startswith("_"):
        import_module(f"{__name__}.{_file[:-3]}")
