"""Recording: the facts of a check as one line of JSON, and back: what a worker answers.

A worker may have been taken over by the program that it ran. So nothing that it says is unpickled:
what comes back is built from the declared types of the facts, and anything else is no answer.
"""

from __future__ import annotations

import json
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
        fact: FileCheck = _made(FileCheck, json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None
    return fact


def _made(kind: Any, value: Any) -> Any:
    """A value of exactly this type; ValueError for any other."""
    inner = get_args(kind)
    if get_origin(kind) is UnionType:
        [some] = (one for one in inner if one is not NoneType)
        return None if value is None else _made(some, value)
    if get_origin(kind) is tuple:
        return tuple([_made(inner[0], item) for item in _listed(value)])
    if hasattr(kind, "_fields"):
        parts = zip(_types(kind), _listed(value), strict=True)
        return kind(*[_made(part, item) for part, item in parts])
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise ValueError(f"{value!r} is no {kind.__name__}")


def _listed(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("no list")
    return value


@cache
def _types(kind: Any) -> tuple[Any, ...]:
    return tuple(get_type_hints(kind).values())
