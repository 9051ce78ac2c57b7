"""Inputs: what every reader of a data file relies on: no more is read than is there and may be."""

from __future__ import annotations

import math
from typing import IO, TYPE_CHECKING, Any

from .refused import InputError, shortened

if TYPE_CHECKING:
    import numpy

DIMENSIONS = 32
LARGEST = 2**63 - 1  # bytes that NumPy may be asked for, empty arrays included
PIECE = 1 << 20


def damaged(path: str, what: str) -> InputError:
    """A file that is not what it says."""
    return InputError(f"{path}: {what}", "the file is damaged or not what its name says")


def exactly(file: IO[bytes], count: int, path: str) -> bytes:
    """So many bytes, or the file ends early."""
    data = file.read(count)
    if len(data) != count:
        raise damaged(path, "the file ends early")
    return data


def bytes_for(shape: tuple[int, ...], itemsize: int, there: int, most: int, path: str) -> int:
    """The size of the data; refused where the file can't hold it, or memory may not."""
    if len(shape) > DIMENSIONS or any(length < 0 for length in shape):
        raise damaged(path, f"the shape {shortened(str(shape))} is not one")
    if math.prod(length for length in shape if length) * itemsize > LARGEST and 0 in shape:
        raise damaged(path, f"the shape {shortened(str(shape))} is not one")
    need = math.prod(shape) * itemsize
    if need > there:
        raise damaged(path, f"the header asks for {need:,} bytes, the file holds {there:,}")
    if need > most:
        raise InputError(
            f"{path}: {need:,} bytes are more than --max-memory allows ({most:,})",
            "raise --max-memory, or read a smaller file",
        )
    return need


def filled(
    file: IO[bytes], need: int, dtype: str, shape: tuple[int, ...], path: str, order: str = "C"
) -> numpy.ndarray:
    """The array whose bytes follow, in the machine's own order of bytes.

    It is read piece by piece: a file that ends before what its header says costs what it holds.
    """
    import numpy

    raw = numpy.empty(need, numpy.uint8)
    for start in range(0, need, PIECE):
        piece = exactly(file, min(PIECE, need - start), path)
        raw[start : start + len(piece)] = numpy.frombuffer(piece, numpy.uint8)
    kind = numpy.dtype(dtype)
    if kind.kind == "b":  # any byte but 0 is True; NumPy's own booleans hold 0 and 1
        numpy.not_equal(raw, 0, out=raw.view(numpy.bool_))
    flat: Any = raw.view(kind)
    if not kind.isnative:
        flat = flat.byteswap(inplace=True).view(kind.newbyteorder("="))
    whole: numpy.ndarray = numpy.ascontiguousarray(flat.reshape(shape, order=order))
    return whole.reshape(shape)  # a single number stays one


def at_the_end(file: IO[bytes], path: str) -> None:
    """Nothing follows; of compressed data the check sum is compared."""
    if file.read(1):
        raise damaged(path, "the file holds more than its header says")
