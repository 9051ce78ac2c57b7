"""Inputs: tensors in a .safetensors file, read by its rules: what is not whole is not read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from .bounds import DIMENSIONS, LARGEST, bytes_for, damaged, exactly, filled
from .refused import InputError, shortened

LONGEST_INDEX = 1 << 24
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "|i1", "U8": "|u1", "BOOL": "|b1", "BF16": "<u2",
}  # fmt: skip
SIZES = {name: int(dtype[-1]) for name, dtype in DTYPES.items()}


class Entry(NamedTuple):
    """One tensor as the header has it; `start` and `end` count from the end of the header."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def read_safetensors(
    file: IO[bytes], size: int, key: str, most: int, path: str, chosen: Callable[..., str]
) -> Any:
    """The tensor with this key."""
    length = int.from_bytes(exactly(file, 8, path), "little")
    if length > min(size - 8, LONGEST_INDEX):
        raise damaged(path, f"a header of {length:,} bytes is too long")
    there = size - 8 - length
    entries = _entries(exactly(file, length, path), path)
    _without_gaps(entries, there, path)
    entry = entries[chosen(key, list(entries), path)]
    if entry.dtype not in DTYPES:
        raise InputError(f"{path}: elements of type '{shortened(entry.dtype)}' are not read")
    need = bytes_for(entry.shape, SIZES[entry.dtype], entry.end - entry.start, most, path)
    file.seek(8 + length + entry.start)
    array = filled(file, need, DTYPES[entry.dtype], entry.shape, path)
    return _from_bfloat16(array) if entry.dtype == "BF16" else array


def _entries(header: bytes, path: str) -> dict[str, Entry]:
    try:
        index = json.loads(header.decode("utf-8"), object_pairs_hook=_once)
        if not isinstance(index, dict):
            raise ValueError("not an object")
        index.pop("__metadata__", None)
        return {name: _entry(**row) for name, row in index.items()}
    except (ValueError, TypeError, RecursionError):
        raise damaged(path, "the header can't be read") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with no key twice: readers would not agree on what it says."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _entry(dtype: object, shape: object, data_offsets: object) -> Entry:
    if not isinstance(shape, list) or not isinstance(data_offsets, list):
        raise ValueError("not a list")
    start, end = data_offsets
    if not isinstance(dtype, str) or any(type(n) is not int for n in (*shape, start, end)):
        raise ValueError("not a number")
    if not 0 <= start <= end <= LARGEST:
        raise ValueError("not a place")
    if len(shape) > DIMENSIONS or any(abs(n) > LARGEST for n in shape):
        raise ValueError("not a shape")  # before lengths by the thousand are multiplied
    return Entry(dtype, tuple(shape), start, end)


def _without_gaps(entries: dict[str, Entry], there: int, path: str) -> None:
    """Every byte belongs to one tensor, and every tensor has as many as its shape needs."""
    place = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].end)):
        called = shortened(name)
        if entry.start != place:
            raise damaged(path, f"the bytes of {called!r} overlap others or leave a gap")
        place = entry.end
        itemsize = SIZES.get(entry.dtype)
        need = None if itemsize is None else math.prod(entry.shape) * itemsize
        if min(entry.shape, default=0) < 0 or need not in (None, entry.end - entry.start):
            raise damaged(path, f"{called!r} has {entry.end - entry.start:,} bytes, which is not "
                          "what its shape needs")  # fmt: skip
    if place != there:
        raise damaged(path, f"the header declares {place:,} bytes, the file holds {there:,}")


def _from_bfloat16(array: Any) -> Any:
    """bfloat16 is the upper half of a float32, so this loses nothing."""
    import numpy

    wide = array.astype(numpy.uint32)
    wide <<= 16
    return wide.view(numpy.float32)
