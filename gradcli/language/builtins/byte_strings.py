"""language: bytes: made, read as text and back, by a closed list of encodings."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..attributes import STATICS
from ..costs import charge_shown, charge_text
from ..members import TABLES, Members
from ..operations import collect, type_name
from ..session import session
from ..values import UNBOUND
from .arguments import all_named, named
from .strings import METHODS as OF_TEXT, PRICES, priced, replace, wide
from .types import CONSTRUCT

# Python finds an encoding by importing a module of its name, so a program has these alone.
ENCODINGS = {
    spelt: name
    for name, others in {
        "utf-8": "utf8 u8", "ascii": "us-ascii 646", "latin-1": "latin1 iso-8859-1 iso8859-1 l1",
        "utf-16": "utf16", "utf-16-le": "utf-16le", "utf-16-be": "utf-16be", "utf-32": "utf32",
        "cp1252": "windows-1252", "utf-8-sig": "",
    }.items()
    for spelt in (name, *others.split())
}  # fmt: skip
HANDLERS = frozenset(
    "strict ignore replace backslashreplace xmlcharrefreplace surrogateescape surrogatepass".split()
)


def _encoding(name: Any, errors: Any) -> tuple[str, str]:
    for value, word in ((name, "encoding"), (errors, "errors")):
        if type(value) is not str:
            raise TypeError(f"argument '{word}' must be str, not {type_name(value)}")
    known = ENCODINGS.get(name.lower().replace("_", "-"))
    if known is None:
        raise LookupError(f"unknown encoding: {name}")
    if errors not in HANDLERS:
        raise LookupError(f"unknown error handler name '{errors}'")
    return known, errors


def encode(text: str, encoding: Any = "utf-8", errors: Any = "strict") -> bytes:
    charge_shown(text)
    return text.encode(*_encoding(encoding, errors))


def decode(octets: bytes, encoding: Any = "utf-8", errors: Any = "strict") -> str:
    charge_shown(octets)
    return octets.decode(*_encoding(encoding, errors))


def make_bytes(source: Any = b"", encoding: Any = UNBOUND, errors: Any = "strict") -> bytes:
    kind = type(source)
    if kind is str:
        if encoding is UNBOUND:
            raise TypeError("string argument without an encoding")
        return encode(source, encoding, errors)
    if kind is bytes:
        return source
    if kind is int or kind is bool:
        if source < 0:
            raise ValueError("negative count")
        session.budget.charge_bytes(source)
        return bytes(source)
    return bytes(collect(source))


def _hex(octets: bytes, *separator: Any) -> str:
    charge_shown(octets)
    return octets.hex(*separator)


def _from_hex(string: Any, /) -> bytes:
    if type(string) is str:
        charge_text(string)
        session.budget.charge_bytes(len(string))
    return bytes.fromhex(string)


def _join(octets: bytes, iterable_of_bytes: Any, /) -> bytes:
    parts = collect(iterable_of_bytes)
    for place, part in enumerate(parts):
        if type(part) is not bytes:
            raise TypeError(
                f"sequence item {place}: expected a bytes-like object, {type_name(part)} found"
            )
    size = sum(map(len, parts)) + len(octets) * len(parts)
    session.budget.charge_bytes(size)
    session.budget.charge(size >> 10)
    return octets.join(parts)


def _in_lines(octets: bytes, keepends: Any = False) -> list[bytes]:
    charge_shown(octets)
    session.budget.charge_bytes(64 * octets.count(b"\n"))
    return octets.splitlines(bool(keepends))


def to_bytes(number: int, length: Any = 1, byteorder: Any = "big", *, signed: Any = False) -> bytes:
    session.budget.charge_bytes(operator.index(length))
    return number.to_bytes(length, byteorder, signed=bool(signed))


def _from_bytes(octets: Any, byteorder: Any = "big", *, signed: Any = False) -> int:
    given = make_bytes(octets) if type(octets) is not int else b""
    session.budget.charge_bytes(len(given))
    session.budget.charge(len(given) >> 3)
    return int.from_bytes(given, byteorder, signed=bool(signed))


_SAME = (
    "startswith endswith find index count rfind rindex isdigit isalpha isalnum isspace isupper "
    "islower istitle isascii partition rpartition removeprefix removesuffix strip lstrip rstrip "
    "upper lower title capitalize swapcase split rsplit"
)
_METHODS: dict[str, Callable[..., Any]] = {
    **{name: priced(getattr(bytes, name), PRICES[name]) for name in _SAME.split()},
    **{name: wide(getattr(bytes, name)) for name in ("ljust", "rjust", "center", "zfill")},
    "replace": replace, "join": _join, "splitlines": _in_lines, "decode": decode, "hex": _hex,
}  # fmt: skip
TABLES[bytes] = Members(all_named("bytes", _METHODS))
TABLES[str].methods["encode"] = OF_TEXT["encode"] = named("str.encode", encode)
STATICS["bytes", "fromhex"] = _from_hex
STATICS["int", "from_bytes"] = _from_bytes
CONSTRUCT["bytes"] = make_bytes
