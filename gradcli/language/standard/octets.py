"""language: struct, base64 and uuid: numbers and texts as bytes."""

from __future__ import annotations

import base64
import binascii
import functools
import struct
import uuid
from collections.abc import Callable
from typing import Any

from ...engine.schema.run_state import run_state
from ..builtins.types import host_type
from ..operations import type_name
from ..session import session
from ..values import Lazy
from .publishing import called, classes, functions

# ---------------------------------------------------------------- struct


@called("error")
class StructError(Exception):
    _torch_name = "struct.error"


def _size(format: Any) -> int:
    """calcsize"""
    if type(format) not in (str, bytes):
        raise TypeError(
            f"Struct() argument 1 must be a str or bytes object, not {type_name(format)}"
        )
    session.budget.charge(1 + len(format))
    try:
        return struct.calcsize(format)
    except struct.error as error:
        raise StructError(str(error)) from None


def _octets(buffer: Any) -> bytes:
    if type(buffer) is not bytes:
        raise TypeError(f"a bytes-like object is required, not '{type_name(buffer)}'")
    return buffer


def _pack(format: Any, *values: Any) -> bytes:
    size = _size(format)
    session.budget.charge_bytes(size)
    session.budget.charge(size >> 4)
    plain = [value if type(value) in (int, float, bool, bytes) else None for value in values]
    try:
        return struct.pack(format, *plain)
    except struct.error as error:
        raise StructError(str(error)) from None


def _unpack(format: Any, buffer: Any) -> tuple[Any, ...]:
    return _taken(format, _size(format), lambda: struct.unpack(format, _octets(buffer)))


def _unpack_from(format: Any, buffer: Any, offset: int = 0) -> tuple[Any, ...]:
    size = _size(format)
    return _taken(format, size, lambda: struct.unpack_from(format, _octets(buffer), offset))


def _taken(format: Any, size: int, take: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    session.budget.charge_bytes(40 * size + len(format))
    session.budget.charge(size)
    try:
        return take()
    except struct.error as error:
        raise StructError(str(error)) from None


def _unpack_all(format: Any, buffer: Any) -> Lazy:
    """iter_unpack"""
    size, data = _size(format), _octets(buffer)
    if not size or len(data) % size:
        words = "a non-empty" if not size else f"a multiple of {size} bytes"
        raise StructError(f"iterative unpacking requires a buffer of {words}")
    parts = (data[at : at + size] for at in range(0, len(data), size))
    return Lazy("unpack_iterator", map(functools.partial(_unpack, format), parts))


# ---------------------------------------------------------------- base64


def _coded(code: Callable[[Any], bytes], takes_text: bool) -> Callable[[Any], bytes]:
    def run(s: Any) -> bytes:
        if type(s) is not bytes and not (takes_text and type(s) is str):
            raise TypeError(f"a bytes-like object is required, not '{type_name(s)}'")
        session.budget.charge(1 + (len(s) >> 4))
        session.budget.charge_bytes(2 * len(s))
        try:
            return code(s)
        except binascii.Error as error:
            raise ValueError(str(error)) from None

    return run


_CODES = ("b64", "urlsafe_b64", "b32", "b16")

# ---------------------------------------------------------------- uuid


class UUID:
    """uuid.UUID(hex)"""

    _torch_name = "uuid.UUID"
    PUBLIC = ("hex", "int", "bytes", "version", "urn")
    __slots__ = ("_value",)

    def __init__(self, hex: str) -> None:
        if type(hex) is not str:
            raise TypeError("a UUID is made of a text here")
        session.budget.charge(1 + (len(hex) >> 4))
        self._value = uuid.UUID(hex[:100])

    hex = property(lambda self: self._value.hex)
    int = property(lambda self: self._value.int)
    bytes = property(lambda self: self._value.bytes)
    version = property(lambda self: self._value.version)
    urn = property(lambda self: self._value.urn)

    def __repr__(self) -> str:
        return f"UUID('{self._value}')"

    def __str__(self) -> str:
        return str(self._value)

    def __eq__(self, other: Any) -> bool:
        return self._value == other._value if type(other) is UUID else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self._value < other._value if type(other) is UUID else NotImplemented

    def __hash__(self) -> Any:
        return hash(self._value)


class _Made:
    """How many names the program has been given: the same in each run."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


_made = run_state(_Made())


def _next(*node: Any) -> UUID:
    """uuid4() and uuid1(), which ask the machine in Python."""
    _made.count += 1
    return UUID(str(uuid.UUID(bytes=_digest(f"gradcli {_made.count}"), version=4)))


def _digest(text: str) -> bytes:
    return uuid.uuid5(uuid.NAMESPACE_OID, text).bytes


def _of_name(make: Callable[[Any, str], uuid.UUID]) -> Callable[[Any, Any], UUID]:
    def run(namespace: Any, name: Any) -> UUID:
        if type(namespace) is not UUID or type(name) is not str:
            raise TypeError("a UUID and a text are expected")
        session.budget.charge(1 + (len(name) >> 4))
        return UUID(str(make(namespace._value, name)))

    return run


MODULES: dict[str, dict[str, Any]] = {
    "struct": {
        **functions({"pack": _pack, "unpack": _unpack, "calcsize": _size,
                     "unpack_from": _unpack_from, "iter_unpack": _unpack_all}),
        "error": host_type(StructError),
    },
    "base64": functions({
        f"{code}{way}code": _coded(getattr(base64, f"{code}{way}code"), way == "de")
        for code in _CODES for way in ("en", "de")
    }),
    "uuid": {
        **classes([UUID]),
        **functions({"uuid1": _next, "uuid4": _next, "uuid3": _of_name(uuid.uuid3),
                     "uuid5": _of_name(uuid.uuid5)}),
        "NAMESPACE_DNS": UUID(str(uuid.NAMESPACE_DNS)),
        "NAMESPACE_URL": UUID(str(uuid.NAMESPACE_URL)),
    },
}  # fmt: skip
