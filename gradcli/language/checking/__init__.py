"""language: one pass over the parsed tree: closed list, nesting, scopes, namespaces."""

from __future__ import annotations

from ..source import Source
from . import definitions, expressions, imports, statements
from .checker import Checker

HANDLERS = {
    **expressions.HANDLERS,
    **definitions.HANDLERS,
    **statements.HANDLERS,
    **imports.HANDLERS,
}


def checker_of(source: Source, max_nesting: int) -> Checker:
    """The checker of a text, with everything that is in the language."""
    return Checker(source, max_nesting, HANDLERS)
