"""Inputs: bounded readers of data files. What a header asks for is compared with the file first.

Nothing is ever unpickled, and no reader follows what a file says beyond the file.
"""

from __future__ import annotations

import ast
import math
import os
import re
import stat
from typing import IO, TYPE_CHECKING, Any

from .given import InputError, shortened

if TYPE_CHECKING:
    from gzip import GzipFile

    import numpy

DEFLATE_RATIO = 1032  # deflate can't make more out of one byte
LONGEST_HEADER = 1 << 16
LONGEST_INDEX = 1 << 24
DIMENSIONS = 32
_NPY = b"\x93NUMPY"
_DESCR = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c8|c16)")
_IDX = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_SAFETENSORS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "i1", "U8": "u1", "BOOL": "?", "BF16": "<u2",
}  # fmt: skip
_HOW = "known are .npy, .npz:KEY, .csv, .csv:COLUMN, .safetensors:KEY, .idx, .idx.gz"

Array = Any


def read(path: str, key: str = "", *, folder: str | None = None, most: int = 1 << 32) -> Array:
    """The array in a file; with `folder`, only a file in it or below, reached without a link."""
    place = path if folder is None else _below(folder, path)
    size = _size(place, path)
    lower = path.lower()
    with open(place, "rb") as file:
        if lower.endswith(".npy"):
            return read_npy(file, size, most, path)
        if lower.endswith(".npz"):
            return _npz(file, key, most, path)
        if lower.endswith(".csv"):
            return _csv(file, size, key, most, path)
        if lower.endswith(".safetensors"):
            return _safetensors(file, size, key, most, path)
        if lower.endswith(".gz"):
            return _idx_gz(file, size, most, path)
        if "idx" in os.path.basename(lower):
            return _idx(file, size, most, path)
    if lower.endswith((".pt", ".pth", ".pkl", ".pickle", ".bin")):
        raise InputError(
            f"{path}: a pickled file can run code when it is read, so it is not read",
            "save the tensor with numpy.save or safetensors.torch.save_file",
        )
    raise InputError(f"{path}: the format is not known", _HOW)


def _below(folder: str, path: str) -> str:
    """The path within the folder; refused if it leads out of it in any way."""
    parts = path.replace("\\", "/").split("/")
    if os.path.isabs(path) or ".." in parts:
        raise InputError(
            f"{path}: a program reads data beside it only",
            f"--set NAME=@{path} on the command line",
        )
    place = folder
    for part in parts:
        place = os.path.join(place, part)
        if os.path.islink(place):
            raise InputError(
                f"{path}: {part} is a link, and a program's own data may not be one",
                f"--set NAME=@{path} on the command line",
            )
    return place


def _size(place: str, path: str) -> int:
    try:
        status = os.stat(place)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no such file"
        raise InputError(f"{path}: {why}", "the path counts from the current folder") from None
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: not a file", _HOW)
    if not os.access(place, os.R_OK):
        raise InputError(f"{path}: permission denied")
    return status.st_size


# ---- what a header asks for


def _bytes_for(shape: tuple[int, ...], itemsize: int, there: int, most: int, path: str) -> int:
    """The size of the data; refused where the file can't hold it, or memory may not."""
    if len(shape) > DIMENSIONS or any(length < 0 for length in shape):
        raise InputError(f"{path}: the shape {shortened(str(shape))} is not one")
    need = math.prod(shape) * itemsize
    if need > there:
        raise InputError(
            f"{path}: the header asks for {need:,} bytes, the file holds {there:,}",
            "the file is damaged or not what its name says",
        )
    if need > most:
        raise InputError(
            f"{path}: {need:,} bytes are more than --max-memory allows ({most:,})",
            "raise --max-memory, or read a smaller file",
        )
    return need


def _array(data: bytes, dtype: str, shape: tuple[int, ...], order: str = "C") -> numpy.ndarray:
    import numpy

    flat = numpy.frombuffer(data, dtype=numpy.dtype(dtype))
    whole = flat.reshape(shape, order=order)  # type: ignore[call-overload]
    return numpy.array(whole, dtype=flat.dtype.newbyteorder("="), order="C")


def _exactly(file: IO[bytes] | GzipFile, count: int, path: str) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise InputError(f"{path}: the file ends early")
    return data


def _damaged(path: str, what: str) -> InputError:
    return InputError(f"{path}: {what}", "the file is damaged or not what its name says")


# ---- .npy, .npz


def read_npy(file: IO[bytes], size: int, most: int, path: str) -> Array:
    """One array in NumPy's own format, from its start."""
    if _exactly(file, 6, path) != _NPY:
        raise _damaged(path, "not a .npy file")
    major = _exactly(file, 2, path)[0]
    if major not in (1, 2, 3):
        raise _damaged(path, f"version {major} of the format is not known")
    width = 2 if major == 1 else 4
    length = int.from_bytes(_exactly(file, width, path), "little")
    before = 8 + width + length
    if length > LONGEST_HEADER or before > size:
        raise _damaged(path, f"a header of {length:,} bytes is too long")
    descr, fortran, shape = _npy_header(_exactly(file, length, path), path)
    itemsize = int(re.sub(r"\D", "", descr))
    need = _bytes_for(shape, itemsize, size - before, most, path)
    return _array(_exactly(file, need, path), descr, shape, "F" if fortran else "C")


def _npy_header(raw: bytes, path: str) -> tuple[str, bool, tuple[int, ...]]:
    try:
        header = ast.literal_eval(raw.decode("utf-8").strip())
        descr, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
    except Exception:
        raise _damaged(path, "the header can't be read") from None
    if not isinstance(descr, str) or not _DESCR.fullmatch(descr):
        raise InputError(
            f"{path}: elements of type {shortened(str(descr))!r} are not numbers",
            "save floats, integers or booleans; Python objects are never read",
        )
    if not isinstance(shape, tuple) or not all(type(length) is int for length in shape):
        raise _damaged(path, "the shape can't be read")
    return descr, bool(fortran), shape


def _npz(file: IO[bytes], key: str, most: int, path: str) -> Array:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(file) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            info = members[_chosen(key, list(members), path)]
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{path}: the compression of {info.filename} is not known")
            if info.file_size > max(1, info.compress_size) * DEFLATE_RATIO:
                raise _damaged(path, f"{info.filename} claims {info.file_size:,} bytes")
            with archive.open(info) as member:
                return read_npy(member, info.file_size, most, f"{path}:{key}")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError):
        raise _damaged(path, "not a .npz file") from None


def _chosen(key: str, names: list[str], path: str) -> str:
    if key in names:
        return key
    if not key and len(names) == 1:
        return names[0]
    listed = shortened(", ".join(sorted(names)), 200) or "nothing"
    what = f"there is no {key!r} in it" if key else "which of its arrays?"
    example = f"@{path}:{sorted(names)[0]}" if names else "another file"
    raise InputError(f"{path}: {what} It holds {listed}", example)


# ---- .safetensors


def _safetensors(file: IO[bytes], size: int, key: str, most: int, path: str) -> Array:
    import json

    length = int.from_bytes(_exactly(file, 8, path), "little")
    if length > min(size - 8, LONGEST_INDEX):
        raise _damaged(path, f"a header of {length:,} bytes is too long")
    try:
        index = json.loads(_exactly(file, length, path))
        names = [name for name, _ in index.items() if name != "__metadata__"]
    except (ValueError, RecursionError, AttributeError):
        raise _damaged(path, "the header can't be read") from None
    entry = index[_chosen(key, names, path)]
    try:
        word, shape = entry["dtype"], tuple(entry["shape"])
        start, end = entry["data_offsets"]
        whole = all(type(number) is int for number in (*shape, start, end))
    except (KeyError, TypeError, ValueError):
        raise _damaged(path, "the header can't be read") from None
    if word not in _SAFETENSORS:
        raise InputError(f"{path}: elements of type {shortened(str(word))!r} are not read")
    if not whole or not 0 <= start <= end:
        raise _damaged(path, "the header can't be read")
    dtype = _SAFETENSORS[word]
    itemsize = 1 if dtype == "?" else int(dtype[-1])
    need = _bytes_for(shape, itemsize, min(end, size - 8 - length) - start, most, path)
    file.seek(8 + length + start)
    array = _array(_exactly(file, need, path), dtype, shape)
    return _from_bfloat16(array) if word == "BF16" else array


def _from_bfloat16(array: Array) -> Array:
    """bfloat16 is the upper half of a float32, so this loses nothing."""
    import numpy

    return (array.astype(numpy.uint32) << 16).view(numpy.float32)


# ---- IDX


def _idx(file: IO[bytes], size: int, most: int, path: str) -> Array:
    if _exactly(file, 2, path) != b"\x00\x00":
        raise _damaged(path, "not an IDX file")
    return _idx_body(file, size - 2, most, path)


def _idx_body(file: IO[bytes] | GzipFile, there: int, most: int, path: str) -> Array:
    code, dimensions = _exactly(file, 2, path)
    dtype = _IDX.get(code)
    if dtype is None:
        raise _damaged(path, f"elements of type 0x{code:02x} are not known")
    shape = tuple(
        int.from_bytes(_exactly(file, 4, path), "big") for _ in range(min(dimensions, DIMENSIONS))
    )
    need = _bytes_for(shape, int(dtype[-1]), there - 2 - 4 * dimensions, most, path)
    return _array(_exactly(file, need, path), dtype, shape)


def _idx_gz(file: IO[bytes], size: int, most: int, path: str) -> Array:
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=file) as inner:
            if _exactly(inner, 2, path) != b"\x00\x00":
                raise _damaged(path, "not an IDX file within gzip")
            return _idx_body(inner, size * DEFLATE_RATIO, most, path)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise _damaged(path, "not a gzip file") from None


# ---- CSV


def _csv(file: IO[bytes], size: int, key: str, most: int, path: str) -> Array:
    import numpy

    if size * 8 > most:  # a number of two characters becomes eight bytes, its text a string
        raise InputError(f"{path}: {size:,} bytes of text are more than --max-memory allows")
    try:
        text = file.read(size).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _damaged(path, "not UTF-8 text") from None
    rows = [line.split(",") for line in text.splitlines() if line.strip()]
    if not rows:
        raise _damaged(path, "there is nothing in it")
    heads: list[str] = []
    if not all(map(_is_number, rows[0])):
        heads = [head.strip().strip('"') for head in rows.pop(0)]
    numbers = _numbers(rows, 2 if heads else 1, path)
    width = len(rows[0]) if rows else len(heads)
    array = numpy.array(numbers, dtype=numpy.float64).reshape(len(rows), width)
    whole = all("." not in cell and "e" not in cell.lower() and "n" not in cell.lower()
                for row in rows for cell in row)  # fmt: skip
    array = array.astype(numpy.int64) if whole and rows else array.astype(numpy.float32)
    if key:
        array = array[:, _column(key, heads, width, path)]
    return array[:, 0] if array.ndim == 2 and width == 1 else array


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(rows: list[list[str]], first: int, path: str) -> list[float]:
    found: list[float] = []
    width = len(rows[0]) if rows else 0
    for number, row in enumerate(rows, start=first):
        if len(row) != width:
            raise InputError(f"{path}: row {number} has {len(row)} numbers, the first {width}")
        for cell in row:
            try:
                found.append(float(cell))
            except ValueError:
                raise InputError(
                    f"{path}: row {number}: {shortened(cell.strip())!r} is not a number"
                ) from None
    return found


def _column(key: str, heads: list[str], width: int, path: str) -> int:
    if key in heads:
        return heads.index(key)
    if key.isdecimal() and int(key) < width:
        return int(key)
    listed = ", ".join(heads) if heads else f"0 to {width - 1}"
    raise InputError(
        f"{path}: there is no column {key!r}; the columns are {shortened(listed, 200)}"
    )
