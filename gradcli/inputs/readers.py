"""Inputs: bounded readers of data files. What a header asks for is compared with the file first.

Nothing is ever unpickled, and no reader follows what a file says beyond the file.
"""

from __future__ import annotations

import ast
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from ..opening import at_once
from .bounds import DIMENSIONS, LARGEST, at_the_end, bytes_for, damaged, exactly, filled
from .refused import InputError, shortened
from .safetensors import read_safetensors
from .table import read_csv

DEFLATE_RATIO = 1032  # deflate can't make more out of one byte
LONGEST_HEADER = 1 << 16
_NPY = b"\x93NUMPY"
_DESCR = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c8|c16)")
_IDX = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_HOW = "known are .npy, .npz:KEY, .csv, .csv:COLUMN, .safetensors:KEY, .idx, .idx.gz"

Array = Any


def read(path: str, key: str = "", *, folder: str | None = None, most: int = 1 << 32) -> Array:
    """The array in a file; with `folder`, only a file in it or below, reached without a link."""
    place = path if folder is None else _below(folder, path)
    lower = path.lower()
    path = shortened(path, 200)
    with opened(place, path, folder is None) as file:
        size = os.fstat(file.fileno()).st_size
        if lower.endswith(".npy"):
            return read_npy(file, size, most, path)
        if lower.endswith(".npz"):
            return _npz(file, key, most, path)
        if lower.endswith(".csv"):
            return read_csv(file, size, key, most, path)
        if lower.endswith(".safetensors"):
            return read_safetensors(file, size, key, most, path, _chosen)
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
    path = shortened(path, 200)
    if os.path.isabs(path) or ".." in parts:
        raise InputError(
            f"{path}: a program reads data beside it only",
            f"on the command line: --set NAME=@{path}",
        )
    place = folder
    for part in parts:
        place = os.path.join(place, part)
        if os.path.islink(place):
            raise InputError(
                f"{path}: {shortened(part)} is a link, and a program's own data may not be one",
                f"on the command line: --set NAME=@{path}",
            )
    return place


@contextmanager
def opened(place: str, path: str, anywhere: bool) -> Iterator[IO[bytes]]:
    """A file to read; a pipe or a device is none, and is not waited for."""
    try:
        file = open(place, "rb", opener=at_once)  # noqa: SIM115 - `with` is below
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no such file"
        start = "the current folder" if anywhere else "the program's folder"
        raise InputError(f"{path}: {why}", f"the path counts from {start}") from None
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError(f"{path}: not a file", _HOW)
        try:
            yield file
        except OSError as error:  # a broken disk, a folder of the network that is gone
            raise InputError(f"{path}: {error.strerror or 'the file cannot be read'}") from None


# ---- .npy, .npz


def read_npy(file: IO[bytes], size: int, most: int, path: str) -> Array:
    """One array in NumPy's own format, from its start."""
    if exactly(file, 6, path) != _NPY:
        raise damaged(path, "not a .npy file")
    major = exactly(file, 2, path)[0]
    if major not in (1, 2, 3):
        raise damaged(path, f"version {major} of the format is not known")
    width = 2 if major == 1 else 4
    length = int.from_bytes(exactly(file, width, path), "little")
    before = 8 + width + length
    if length > LONGEST_HEADER or before > size:
        raise damaged(path, f"a header of {length:,} bytes is too long")
    descr, fortran, shape = _npy_header(exactly(file, length, path), path)
    itemsize = int(re.sub(r"\D", "", descr))
    need = bytes_for(shape, itemsize, size - before, most, path)
    return filled(file, need, descr, shape, path, "F" if fortran else "C")


def _npy_header(raw: bytes, path: str) -> tuple[str, bool, tuple[int, ...]]:
    try:
        header = ast.literal_eval(raw.decode("utf-8").strip())
        descr, fortran, shape = str(header["descr"]), header["fortran_order"], header["shape"]
    except Exception:
        raise damaged(path, "the header can't be read") from None
    if not _DESCR.fullmatch(descr):
        raise InputError(
            f"{path}: elements of type '{shortened(descr)}' are not numbers",
            "save floats, integers or booleans; Python objects are never read",
        )
    whole = isinstance(shape, tuple) and all(type(length) is int for length in shape)
    if not whole or any(abs(length) > LARGEST for length in shape):
        raise damaged(path, "the shape can't be read")
    if not isinstance(fortran, bool):
        raise damaged(path, "the header can't be read")
    return descr, fortran, shape


def _npz(file: IO[bytes], key: str, most: int, path: str) -> Array:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(file) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if len(members) != len(archive.infolist()):
                raise damaged(path, "a name stands in it twice")
            key = _chosen(key, list(members), path)
            info = members[key]
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{path}: the compression of {shortened(key)} is not known")
            if info.file_size > max(1, info.compress_size) * DEFLATE_RATIO:
                raise damaged(path, f"{shortened(key)} claims {info.file_size:,} bytes")
            with archive.open(info) as member:
                return read_npy(member, info.file_size, most, f"{path}:{shortened(key)}")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError):
        raise damaged(path, "not a .npz file") from None


def _chosen(key: str, names: list[str], path: str) -> str:
    if key in names:
        return key
    if not key and len(names) == 1:
        return names[0]
    listed = shortened(", ".join(sorted(names)), 200) or "nothing"
    what = f"there is no '{shortened(key)}' in it." if key else "which of its arrays?"
    example = f"@{path}:{shortened(sorted(names)[0])}" if names else "another file"
    raise InputError(f"{path}: {what} It holds {listed}", example)


# ---- IDX


def _idx(file: IO[bytes], size: int, most: int, path: str) -> Array:
    if exactly(file, 2, path) != b"\x00\x00":
        raise damaged(path, "not an IDX file")
    return _idx_body(file, size - 2, most, path)


def _idx_body(file: IO[bytes], there: int, most: int, path: str) -> Array:
    code, dimensions = exactly(file, 2, path)
    dtype = _IDX.get(code)
    if dtype is None:
        raise damaged(path, f"elements of type 0x{code:02x} are not known")
    if dimensions > DIMENSIONS:
        raise damaged(path, f"an array of {dimensions} dimensions is not read")
    shape = tuple(int.from_bytes(exactly(file, 4, path), "big") for _ in range(dimensions))
    need = bytes_for(shape, int(dtype[-1]), there - 2 - 4 * dimensions, most, path)
    array = filled(file, need, dtype, shape, path)
    at_the_end(file, path)
    return array


def _idx_gz(file: IO[bytes], size: int, most: int, path: str) -> Array:
    import gzip
    import zlib

    try:
        with cast(IO[bytes], gzip.GzipFile(fileobj=file)) as inner:
            if exactly(inner, 2, path) != b"\x00\x00":
                raise damaged(path, "not an IDX file within gzip")
            return _idx_body(inner, size * DEFLATE_RATIO, most, path)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise damaged(path, "not a gzip file") from None
