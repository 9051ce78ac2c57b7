"""language: Python's own parser, guarded against inputs that exhaust it."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator

from ..pattern import pattern
from ..process.memory import left, peak
from .suspension import as_functions

# Before 3.12 the parser looks for the place of each field of an f-string from its start: a text
# with a million fields takes an hour. So many characters it passes in some seconds.
MOST_PASSED = 2_000_000_000
LITTLE = 64 << 20  # bytes: more than a text needs that is too deep for the parser
SHORT = 10_000  # characters of an f-string that are never too many
_LONG_FSTRING = pattern(r"""(?i)(?:rf|fr|f)("{3}|'{3})""")


def parsed(text: str) -> list[ast.stmt]:
    """The statements of a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and `1is x`: Python's own manners
        try:
            body = ast.parse(text, "<program>", "exec").body
            if "async" in text or "await" in text:
                as_functions(body)
            return body
        except SystemError as error:  # of some allocations that fail, Python forgets to say so
            raise MemoryError from error


def endless_fstring(text: str) -> str | None:
    """The start of an f-string, or of its line, whose fields are too many for Python's parser."""
    if sys.version_info >= (3, 12) or text.count("{") * len(text) < MOST_PASSED:
        return None
    for part in _that_may_be_fstrings(text):
        if len(part) > SHORT and part.count("{") * len(part) > MOST_PASSED:
            return part
    return None


def _that_may_be_fstrings(text: str) -> Iterator[str]:
    """Lines, with those that a backslash joins to them, and what stands between three quotes."""
    yield from text.replace("\\\n", "").split("\n")
    start = _LONG_FSTRING.search(text)
    while start is not None:
        end = text.find(start[1], start.end())
        yield text[start.start() : end if end >= 0 else len(text)]
        if end < 0:
            return
        start = _LONG_FSTRING.search(text, end + 3)


class MemoryUse:
    """How much memory a call took: a parser that had too little of it says no more than that."""

    def __init__(self, text: str) -> None:
        self.before, self.much = peak(), (32 << 20) + 4 * len(text)

    def is_much(self) -> bool:
        return peak() - self.before > self.much or left() < LITTLE
