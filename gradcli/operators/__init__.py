"""Operators: declarations, one for each overload, and nothing else.

Importing them loads no array library.
"""

from ..engine.schema.declaration_index import declare
from ..engine.schema.operator import catalogue

__all__ = ["catalogue"]

# Every module of this folder declares operators: a new one needs no second place.
declare(catalogue, __name__, __path__[0])
