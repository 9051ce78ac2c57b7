"""Recording: the facts of a check as one line of JSON, and back: what a worker answers.

A worker may have been taken over by the program that it ran. So nothing that it says is unpickled:
what comes back is built from the declared types of the facts, and anything else is no answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from .check import FileCheck

END = b"\n"


def packed(fact: FileCheck) -> bytes:
    """The facts as one line."""
    return json.dumps(fact, separators=(",", ":")).encode("ascii") + END


def unpacked(line: bytes) -> FileCheck | None:
    """The facts again; None where the line is none of ours."""
    try:
        fact: FileCheck = _reader(FileCheck)(json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None
    return fact


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Makes values of exactly this type; ValueError for any other."""
    inner = get_args(kind)
    if get_origin(kind) is UnionType:
        [some] = (_reader(one) for one in inner if one is not NoneType)
        return lambda value: None if value is None else some(value)
    if get_origin(kind) is tuple:
        each = _reader(inner[0])
        return lambda value: tuple([each(item) for item in _listed(value)])
    if hasattr(kind, "_fields"):
        readers = [_reader(part) for part in get_type_hints(kind).values()]
        return lambda value: kind(
            *[read(item) for read, item in zip(readers, _listed(value), strict=True)]
        )

    def plain(value: Any) -> Any:
        if type(value) is kind or (kind is float and type(value) is int):
            return value
        raise ValueError(f"{value!r} is no {kind.__name__}")

    return plain


def _listed(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("no list")
    return value
