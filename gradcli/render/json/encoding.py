"""Render: values as strict JSON.

JSON knows no infinity and no NaN: these stand as the strings "nan", "inf", "-inf". A string that
holds a command to a CI system (`##vso[`) is written with an escape: whatever reads the document
gets the string, and what reads the log finds no command.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import Any

from ...diagnostics import bounded
from ..escape import log_string

MOST_SOURCE = 500  # characters of an expression


def _pair(value: Any) -> Any:
    """A complex number, wherever it stands."""
    if isinstance(value, complex):
        return [value.real, value.imag]
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


_encode = json.JSONEncoder(allow_nan=False, default=_pair, check_circular=False).encode


def encoded(value: Any) -> str:
    """Strict JSON; the slow way is only for values that hold a NaN or an infinity."""
    try:
        return log_string(_encode(value))
    except ValueError:
        return log_string(_encode(finite(value)))


def quoted(text: str) -> str:
    """A string alone."""
    return log_string(encode_basestring_ascii(text))


def source(text: str) -> str:
    """An expression of the program. A sum of a thousand terms is a thousand nodes, and each of
    them has the whole sum for its expression."""
    return bounded(text, MOST_SOURCE)


def finite(value: Any) -> Any:
    """The same with strings for numbers that JSON lacks."""
    if isinstance(value, float):
        if value != value:
            return "nan"
        if value in (float("inf"), float("-inf")):
            return "inf" if value > 0 else "-inf"
        return value
    if isinstance(value, complex):
        return [finite(value.real), finite(value.imag)]
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value
