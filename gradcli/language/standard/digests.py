"""language: hashlib: digests of bytes, by the algorithms that every Python has."""

from __future__ import annotations

import hashlib
from typing import Any

from ..adoption import VALUES
from ..session import session
from .publishing import functions

ALGORITHMS = "md5 sha1 sha224 sha256 sha384 sha512".split()


def _octets(data: Any) -> bytes:
    if type(data) is str:
        raise TypeError("Strings must be encoded before hashing")
    if type(data) is not bytes:
        raise TypeError("object supporting the buffer API required")
    session.budget.charge(1 + (len(data) >> 4))
    return data


class HASH:
    """What hashlib.sha256() gives."""

    _torch_name = "_hashlib.HASH"
    PUBLIC = ("update", "digest", "hexdigest", "copy", "name", "digest_size", "block_size")
    __slots__ = ("_hash", *PUBLIC[4:])

    def __init__(self, name: str, data: Any = b"") -> None:
        if name not in ALGORITHMS:
            raise ValueError(f"unsupported hash type {name}")
        self._hash = hashlib.new(name, usedforsecurity=False)
        self.name = name
        self.digest_size, self.block_size = self._hash.digest_size, self._hash.block_size
        self.update(data)

    def update(self, data: Any, /) -> None:
        self._hash.update(_octets(data))

    def digest(self) -> bytes:
        return self._hash.digest()

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def copy(self) -> HASH:
        twin = HASH(self.name)
        twin._hash = self._hash.copy()
        return twin


def _new(name: Any, data: Any = b"", *, usedforsecurity: bool = True) -> HASH:
    return HASH(name, data)


def _named(name: str) -> Any:
    return lambda data=b"", *, usedforsecurity=True: HASH(name, data)


VALUES.add(HASH)
MODULES: dict[str, dict[str, Any]] = {
    "hashlib": functions({"new": _new, **{name: _named(name) for name in ALGORITHMS}}),
}
