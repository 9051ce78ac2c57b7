"""language: numpy.save and its kin, pickle, csv: values and rows in files that exist in memory."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import numpy

from ...arrays.values import element_type, host, wrap
from ...engine.schema.run_state import run_state
from ..builtins.modules import deeply_copied
from ..builtins.types import host_type
from ..costs import charge_text
from ..formatting import quoted, text
from ..operations import collect, type_name
from ..session import session
from .files import Content, MemoryFile, content_of, is_file, new_file, word_of
from .publishing import classes, functions
from .saved import PickleError, PicklingError, UnpicklingError, kept_copy

FORMAT = r"%[-+ 0#]*[0-9]{0,2}(\.[0-9]{1,2})?[a-zA-Z]"
PARSED = 200  # bytes and steps that a number takes on its way from text


def _named(file: Any, ending: str) -> Any:
    """NumPy adds an ending to a name that has none."""
    if isinstance(file, MemoryFile) or word_of(file).endswith(ending):
        return file
    return word_of(file) + ending


def _fresh(file: Any) -> Content:
    return file.content if isinstance(file, MemoryFile) else new_file(file)


def _content(file: Any) -> Content:
    return file.content if isinstance(file, MemoryFile) else content_of(file)


def _copied(array: Any) -> Any:
    """NumPy's own array of what a program or a file holds, paid for."""
    found = array if isinstance(array, numpy.ndarray) else numpy.asarray(host(array))
    session.budget.charge_bytes(found.nbytes)
    return found.copy()


# ---------------------------------------------------------------- arrays


def _save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    content = _fresh(_named(file, ".npy"))
    content.saved = _copied(arr)
    content.size = content.saved.nbytes + 128


def _savez(file: Any, *args: Any, **kwds: Any) -> None:
    content = _fresh(_named(file, ".npz"))
    given = {f"arr_{place}": value for place, value in enumerate(args)} | kwds
    content.saved = {name: _copied(value) for name, value in given.items()}
    content.size = sum(array.nbytes + 256 for array in content.saved.values())


def _load(file: Any, mmap_mode: Any = None, allow_pickle: bool = False) -> Any:
    saved = _content(file).saved
    if isinstance(saved, numpy.ndarray):
        return wrap(_copied(saved))
    if type(saved) is dict and all(isinstance(array, numpy.ndarray) for array in saved.values()):
        return {name: wrap(_copied(array)) for name, array in saved.items()}
    raise ValueError(
        "This file contains pickled (object) data. If you trust the file you can load it unsafely "
        "using the `allow_pickle=` keyword argument or `pickle.load()`."
    )


def _lines(fname: Any, words: str) -> list[str]:
    """The lines of a file, or of what the program gives in its place."""
    if type(fname) is str or hasattr(fname, "word"):
        if not is_file(fname):
            raise FileNotFoundError(words.format(word_of(fname)))
        whole = content_of(fname).text
    elif isinstance(fname, MemoryFile):
        whole = fname.read()
    else:
        return [str(line) for line in collect(fname)]
    charge_text(whole)
    return whole.splitlines()


def _charged(lines: list[str], delimiter: Any) -> None:
    fields = sum(line.count(delimiter or " ") + 1 for line in lines)
    session.budget.charge_bytes(fields * PARSED)
    session.budget.charge(fields)


def _loadtxt(
    fname: Any, dtype: Any = float, comments: Any = "#", delimiter: Any = None,
    converters: Any = None, skiprows: int = 0, usecols: Any = None, unpack: bool = False,
    ndmin: int = 0, encoding: Any = None, max_rows: Any = None,
) -> Any:  # fmt: skip
    if converters is not None:
        raise NotImplementedError("converters are not part of the language")
    lines = _lines(fname, "{} not found.")
    _charged(lines, delimiter)
    return wrap(numpy.loadtxt(
        lines, element_type(dtype), host(comments), host(delimiter), None, host(skiprows),
        host(usecols), bool(unpack), host(ndmin), max_rows=host(max_rows),
    ))  # fmt: skip


def _genfromtxt(
    fname: Any, dtype: Any = float, comments: Any = "#", delimiter: Any = None,
    skip_header: int = 0, skip_footer: int = 0, filling_values: Any = None, usecols: Any = None,
) -> Any:  # fmt: skip
    lines = _lines(fname, "{} not found.")
    _charged(lines, delimiter)
    return wrap(numpy.genfromtxt(
        lines, element_type(dtype), host(comments), host(delimiter), host(skip_header),
        host(skip_footer), filling_values=host(filling_values), usecols=host(usecols),
    ))  # fmt: skip


def _savetxt(
    fname: Any, X: Any, fmt: str = "%.18e", delimiter: str = " ", newline: str = "\n",
    header: str = "", footer: str = "", comments: str = "# ",
) -> None:  # fmt: skip
    array = numpy.asarray(host(X))
    if not re.fullmatch(FORMAT, fmt):
        raise ValueError(f"invalid fmt: {fmt!r}")
    if array.ndim not in (1, 2):
        raise ValueError(f"Expected 1D or 2D array, got {array.ndim}D array instead")
    session.budget.charge(array.size)
    session.budget.charge_bytes(array.size * PARSED)
    rows = array.tolist() if array.ndim == 2 else [[value] for value in array.tolist()]
    pieces = [comments + line + newline for line in header.split("\n")] if header else []
    pieces += [delimiter.join([fmt % value for value in row]) + newline for row in rows]
    pieces += [comments + line + newline for line in footer.split("\n")] if footer else []
    _fresh(fname).put("".join(pieces))


# ---------------------------------------------------------------- pickle


def _dump(obj: Any, file: Any, protocol: Any = None) -> None:
    if not isinstance(file, MemoryFile):
        raise TypeError("file must have a 'write' attribute")
    held = file.content.saved
    values = held if type(held) is _Pickles else _Pickles()
    values.found.append(kept_copy(obj))
    file.content.saved = values
    file.content.size += 100


class _Texts:
    """What pickle.dumps gave in this run: the value behind each of its answers."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[bytes, Any] = {}


_texts = run_state(_Texts())


def _dumps(obj: Any, protocol: Any = None) -> bytes:
    """Bytes that stand for a copy of the value; of what they say, nothing is read."""
    text = b"\x80\x04\x95%016x." % len(_texts.values)
    _texts.values[text] = kept_copy(obj)
    return text


def _read(data: Any) -> Any:
    if type(data) is not bytes:
        raise TypeError(f"a bytes-like object is required, not '{type_name(data)}'")
    if data not in _texts.values:
        raise UnpicklingError("invalid load key")
    return deeply_copied(_texts.values[data])


class _Pickles:
    """The values of one file, in the order in which they were put there, and how many were read."""

    __slots__ = ("found", "read")

    def __init__(self) -> None:
        self.found: list[Any] = []
        self.read: dict[int, int] = {}


def _loaded(file: Any) -> Any:
    if not isinstance(file, MemoryFile):
        raise TypeError("file must have 'read' and 'readline' attributes")
    held = file.content.saved
    if type(held) is not _Pickles:
        raise (
            UnpicklingError("invalid load key")
            if file.content.size
            else EOFError("Ran out of input")
        )
    place = held.read.get(session.number_of(file), 0)
    if place >= len(held.found):
        raise EOFError("Ran out of input")
    held.read[session.number_of(file)] = place + 1
    return deeply_copied(held.found[place])


# ---------------------------------------------------------------- csv


def _reader(
    csvfile: Any, dialect: Any = None, delimiter: str = ",", quotechar: str = '"',
    skipinitialspace: bool = False,
) -> Iterator[list[str]]:  # fmt: skip
    lines = [str(line) for line in collect(csvfile)]
    for line in lines:
        charge_text(line)
    rows = csv.reader(
        lines, delimiter=str(delimiter), quotechar=str(quotechar),
        skipinitialspace=bool(skipinitialspace),
    )  # fmt: skip
    return _rows(rows)


def _rows(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise CsvError(str(error)) from None


class CsvError(Exception):
    """csv.Error: such as a field that is too long."""

    _torch_name = "_csv.Error"


class DictReader:
    """csv.DictReader: each row as a dictionary; its first row has the names."""

    _torch_name = "csv.DictReader"
    PUBLIC = ("fieldnames",)

    def __init__(self, f: Any, fieldnames: Any = None, delimiter: str = ",") -> None:
        self._rows = _reader(f, delimiter=delimiter)
        self.fieldnames = next(self._rows, []) if fieldnames is None else collect(fieldnames)

    def __iter__(self) -> Iterator[dict[str, str]]:
        for row in self._rows:
            yield dict(zip(self.fieldnames, row, strict=False))


class Writer:
    """What csv.writer gives."""

    _torch_name = "_csv.writer"
    PUBLIC = ("writerow", "writerows")

    def __init__(
        self, csvfile: Any, dialect: Any = None, delimiter: str = ",", quotechar: Any = '"',
        quoting: Any = csv.QUOTE_MINIMAL, lineterminator: Any = None,
    ) -> None:  # fmt: skip
        if not isinstance(csvfile, MemoryFile):
            raise TypeError('argument 1 must have a "write" method')
        self._file = csvfile
        self._form = {"delimiter": delimiter, "quotechar": quotechar, "quoting": quoting}
        # Python writes both characters, and a file reads them back as the one of its lines.
        self._end = lineterminator or ("\n" if csvfile.name else "\r\n")

    def writerow(self, row: Any) -> int:
        line = io.StringIO()
        numbers = (int, float)
        values = ["" if value is None else value if type(value) in numbers else text(value)
                  for value in collect(row)]  # fmt: skip
        csv.writer(line, **self._form).writerow(values)
        return self._file.write(line.getvalue().replace("\r\n", str(self._end)))

    def writerows(self, rows: Any) -> None:
        for row in collect(rows):
            self.writerow(row)


class DictWriter(Writer):
    """csv.DictWriter: rows are dictionaries."""

    _torch_name = "csv.DictWriter"
    PUBLIC = ("fieldnames", "writeheader")

    def __init__(
        self, f: Any, fieldnames: Any, restval: Any = "", extrasaction: str = "raise",
        *args: Any, **kwds: Any,
    ) -> None:  # fmt: skip
        super().__init__(f, *args, **kwds)
        self.fieldnames = collect(fieldnames)
        self._absent, self._strict = restval, extrasaction == "raise"

    def writeheader(self) -> int:
        return super().writerow(self.fieldnames)

    def writerow(self, row: Any) -> int:
        unknown = [quoted(name) for name in row if name not in self.fieldnames]
        if unknown and self._strict:
            raise ValueError(f"dict contains fields not in fieldnames: {', '.join(unknown)}")
        return super().writerow([row.get(name, self._absent) for name in self.fieldnames])


ARRAYS = functions({
    "save": _save, "savez": _savez, "savez_compressed": _savez, "load": _load,
    "loadtxt": _loadtxt, "savetxt": _savetxt, "genfromtxt": _genfromtxt,
})  # fmt: skip
MODULES: dict[str, Any] = {
    "pickle": {
        **functions({"dump": _dump, "load": _loaded, "dumps": _dumps, "loads": _read}),
        "PickleError": host_type(PickleError), "HIGHEST_PROTOCOL": 5, "DEFAULT_PROTOCOL": 4,
        "PicklingError": host_type(PicklingError),
        "UnpicklingError": host_type(UnpicklingError),
    },
    "csv": {
        **functions({"reader": _reader}), **classes((DictReader, DictWriter)),
        "writer": classes((Writer,))["Writer"], "Error": host_type(CsvError),
        **{name: int(getattr(csv, name)) for name in (
            "QUOTE_ALL", "QUOTE_MINIMAL", "QUOTE_NONNUMERIC", "QUOTE_NONE")},
    },
}  # fmt: skip
