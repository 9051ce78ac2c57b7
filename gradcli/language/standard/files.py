"""language: open, io, os, pathlib, torch.save: files in a folder that exists in memory for one run.

Nothing here touches a disk: what a program writes it can read again until it ends. Paths are words.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from ...engine.schema.run_state import run_state
from ..costs import charge_shown, charge_text, width_of
from ..formatting import quoted
from ..operations import collect, type_name
from ..session import session
from .publishing import called

HOME = "/home/user/lessons/code"  # where a program starts
ENTRY = 200  # bytes of a name in a folder


class _Disk:
    """The files and folders of one run."""

    __slots__ = ("files", "folders", "here")

    def __init__(self) -> None:
        self.files: dict[str, Content] = {}
        self.folders: set[str] = {"/", "/tmp", *accumulate(HOME.split("/"), "{}/{}".format)}
        self.here = HOME


class Content:
    """What a file holds: text, or one value that torch.save put there."""

    __slots__ = ("length", "pieces", "saved", "size")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.saved: Any = None
        self.length = 0  # in characters
        self.size = 0  # in bytes

    @property
    def text(self) -> str:
        if len(self.pieces) != 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0]

    def put(self, text: str) -> None:
        session.budget.charge_bytes(len(text) * width_of(text))
        self._add(text)

    def fill(self, to: int) -> None:
        """Zeros from its end up to here, where there is nothing yet."""
        missing = to - self.length
        if missing > 0:
            session.budget.charge_bytes(missing)
            self._add("\0" * missing)

    def replace(self, at: int, text: str) -> None:
        """Overwrites the characters from `at` on."""
        before, after = self.text[:at], self.text[at + len(text) :]
        self.cut(0)
        self._add(before)
        self.put(text + after)

    def cut(self, at: int) -> None:
        """Keeps the first `at` characters."""
        kept = self.text[:at]
        self.pieces, self.length, self.size = [], 0, 0
        self._add(kept)

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)
        self.size += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class _Stored:
    """What stands for a saved value where a program asks for the bytes of its file."""

    __slots__ = ("made", "values")

    def __init__(self) -> None:
        self.values: dict[bytes, Any] = {}
        self.made: dict[int, bytes] = {}  # by the identity of the value: the same at each reading

    def bytes_of(self, content: Content) -> bytes:
        made = self.made.get(id(content.saved))
        if made is None:
            session.budget.charge_bytes(content.size)
            made = (b"PK\x03\x04%012x" % len(self.values)).ljust(content.size, b"\0")
            self.values[made] = content.saved
            self.made[id(content.saved)] = made
        return made


disk = run_state(_Disk())
stored = run_state(_Stored())


def word_of(path: Any) -> str:
    """The text of a path: a string, or a Path."""
    text = getattr(path, "word", path) if type(path) is not str else path
    if type(text) is not str:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type_name(path)}")
    charge_text(text)
    return text


def place_of(path: Any) -> str:
    """The whole path that a word means."""
    word = word_of(path)
    if "\0" in word:
        raise ValueError("embedded null byte")
    return posixpath.normpath(posixpath.join(disk.here, word))


def missing(path: Any) -> FileNotFoundError:
    return FileNotFoundError(f"[Errno 2] No such file or directory: {word_of(path)!r}")


def is_file(path: Any) -> bool:
    return "\0" not in word_of(path) and place_of(path) in disk.files


def is_folder(path: Any) -> bool:
    return "\0" not in word_of(path) and place_of(path) in disk.folders


def content_of(path: Any) -> Content:
    found = disk.files.get(place_of(path))
    if found is None:
        if is_folder(path):
            raise IsADirectoryError(f"[Errno 21] Is a directory: {word_of(path)!r}")
        raise missing(path)
    return found


def new_file(path: Any) -> Content:
    place = place_of(path)
    if posixpath.dirname(place) not in disk.folders:
        raise missing(path)
    if place in disk.folders:
        raise IsADirectoryError(f"[Errno 21] Is a directory: {word_of(path)!r}")
    session.budget.charge_bytes(ENTRY)
    found = disk.files[place] = Content()
    return found


def make_folder(path: Any, parents: bool = False, exist_ok: bool = False) -> None:
    place = place_of(path)
    if place in disk.files or (place in disk.folders and not exist_ok):
        raise FileExistsError(f"[Errno 17] File exists: {word_of(path)!r}")
    above = posixpath.dirname(place)
    if not parents and above not in disk.folders:
        raise missing(path)
    while place not in disk.folders:
        session.budget.charge_bytes(ENTRY)
        disk.folders.add(place)
        place = posixpath.dirname(place)


def listed(path: Any = ".") -> list[str]:
    """The names in a folder, in order."""
    place = place_of(path)
    if place not in disk.folders:
        raise missing(path)
    session.budget.charge(len(disk.files) + len(disk.folders))
    return sorted(
        posixpath.basename(name)
        for name in (*disk.files, *disk.folders)
        if name != "/" and posixpath.dirname(name) == place
    )


def remove(path: Any) -> None:
    content_of(path)
    del disk.files[place_of(path)]


def remove_folder(path: Any, deep: bool = False) -> None:
    place = place_of(path)
    if place not in disk.folders:
        raise missing(path)
    if listed(path) and not deep:
        raise OSError(f"[Errno 39] Directory not empty: {word_of(path)!r}")
    below = place + "/"
    disk.folders = {name for name in disk.folders if name != place and not name.startswith(below)}
    disk.files = {name: held for name, held in disk.files.items() if not name.startswith(below)}


def copy(path: Any, new: Any) -> Any:
    """shutil.copy, which takes a folder too; the name of the copy."""
    held, to = content_of(path), word_of(new)
    if is_folder(to):
        to = posixpath.join(to, posixpath.basename(word_of(path)))
    if place_of(path) == place_of(to):
        raise OSError(f"{word_of(path)!r} and {to!r} are the same file")
    made = new_file(to)
    made.put(held.text)
    made.saved, made.size = held.saved, held.size
    return new if to == word_of(new) else to


def move(path: Any, new: Any) -> Any:
    """shutil.move"""
    made = copy(path, new)
    remove(path)
    return made


def rename(path: Any, new: Any) -> None:
    held = content_of(path)
    del disk.files[place_of(path)]
    disk.files[place_of(new)] = held


@called("_io.TextIOWrapper")
class MemoryFile:
    """What open() gives, and io.StringIO and io.BytesIO too."""

    _torch_name = "_io.TextIOWrapper"
    PUBLIC = ("read", "readline", "readlines", "write", "writelines", "close", "flush", "seek",
              "tell", "getvalue", "truncate", "fileno", "closed", "name", "mode")  # fmt: skip

    __slots__ = ("_at", "_is_binary", "closed", "content", "mode", "name", "__weakref__")

    def __init__(self, content: Content, name: str, mode: str) -> None:
        self.content, self.name, self.mode = content, name, mode
        self._is_binary = "b" in mode
        self.closed = False
        self._at = content.length if "a" in mode else 0

    def _look(self, word: str, modes: str) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        if not any(letter in self.mode for letter in modes):
            raise UnsupportedOperation(f"not {word}")

    def _encoded(self, piece: str) -> Any:
        """Bytes that are no text are kept as half letters, and come out as they were."""
        return piece.encode("utf-8", "surrogateescape") if self._is_binary else piece

    def read(self, size: Any = -1) -> Any:
        self._look("readable", "r+")
        text: Any = stored.bytes_of(self.content) if self._is_saved() else self.content.text
        end = len(text) if size is None or size < 0 else self._at + size
        piece = text[self._at : end]
        session.budget.charge_bytes(len(piece) * width_of(piece))
        self._at += len(piece)
        return piece if type(piece) is bytes else self._encoded(piece)

    def _is_saved(self) -> bool:
        return self._is_binary and self.content.saved is not None

    def readline(self) -> Any:
        self._look("readable", "r+")
        text = self.content.text
        end = text.find("\n", self._at) + 1 or len(text)
        piece = text[self._at : end]
        charge_text(piece)
        self._at = end
        return self._encoded(piece)

    def readlines(self) -> list[Any]:
        return collect(self)

    def __iter__(self) -> Iterator[Any]:
        while line := self.readline():
            yield line

    def write(self, s: Any) -> int:
        self._look("writable", "wax+")
        if self._is_binary and type(s) is not bytes:
            raise TypeError(f"a bytes-like object is required, not '{type_name(s)}'")
        if not self._is_binary and type(s) is not str:
            raise TypeError(f"write() argument must be str, not {type_name(s)}")
        size = len(s)
        if self._is_binary and s in stored.values:
            self.content.saved, self.content.size = stored.values[s], size
            return size
        if self._is_binary:
            charge_shown(s)
            s = s.decode("utf-8", "surrogateescape")
        self.content.fill(self._at)
        if self._at < self.content.length:
            self.content.replace(self._at, s)
        else:
            self.content.put(s)
        self._at += len(s)
        return size

    def writelines(self, lines: Any) -> None:
        for line in collect(lines):
            self.write(line)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence not in (0, 1, 2):
            raise ValueError(f"invalid whence ({whence}, should be 0, 1 or 2)")
        if whence == 0 and offset < 0:
            raise ValueError(f"negative seek value {offset}")
        if whence and offset and not self._is_binary:
            raise OSError("Can't do nonzero cur-relative seeks")
        length = self.content.size if self._is_saved() else self.content.length
        self._at = max(0, (0, self._at, length)[whence] + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def truncate(self, size: int | None = None) -> int:
        at = self._at if size is None else size
        if at < 0:
            raise ValueError(f"negative size value {at}")
        self.content.cut(at)
        return at

    def getvalue(self) -> Any:
        if self._is_saved():
            return stored.bytes_of(self.content)
        return self._encoded(self.content.text)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def fileno(self) -> int:
        if not self.name:
            raise UnsupportedOperation("fileno")
        return 3  # the first that is free where three streams are open

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> MemoryFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.closed = True

    def __repr__(self) -> str:
        return f"<_io.TextIOWrapper name={quoted(self.name)} mode={quoted(self.mode)}>"


class UnsupportedOperation(ValueError):
    _torch_name = "io.UnsupportedOperation"


def open_file(
    file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
    newline: Any = None,
) -> MemoryFile:  # fmt: skip
    """open(): in memory, where the file that it names was written before."""
    letters = set(mode) if type(mode) is str else set("?")
    if letters - set("rwaxbt+") or len(letters & set("rwax")) != 1:
        raise ValueError(f"invalid mode: {mode!r}")
    if "x" in mode and is_file(file):
        raise FileExistsError(f"[Errno 17] File exists: {word_of(file)!r}")
    fresh = "w" in mode or "x" in mode or ("a" in mode and not is_file(file))
    content = new_file(file) if fresh else content_of(file)
    return MemoryFile(content, word_of(file), mode)


def text_in_memory(initial_value: Any = "", newline: Any = None) -> MemoryFile:
    """io.StringIO"""
    return _in_memory(initial_value, "r+")


def bytes_in_memory(initial_bytes: Any = b"") -> MemoryFile:
    """io.BytesIO"""
    return _in_memory(initial_bytes, "rb+")


def _in_memory(initial: Any, mode: str) -> MemoryFile:
    made = MemoryFile(Content(), "", mode)
    made.write(initial)
    made.seek(0)
    return made
