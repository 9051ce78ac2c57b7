"""opening: finds and reads the file of a command; every failure has a message."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

from .diagnostics import some
from .named import NamedTuple

SUFFIX = ".expr"
PROGRAMS = (SUFFIX, ".py", ".ipynb")
PICTURES = 16  # a notebook holds pictures besides its text: it may be so many times as large
LOOKED_AT = 10_000  # names of a folder
OUTSIDE = "is a link that leads out of its folder: name what it leads to"
PATIENCE = 1.0  # seconds in which the other end of a pipe may be opened


class UsageError(Exception):
    """The command can't be carried out as it was given; `advice` says what can be done.

    Each is one line: names of files stand in it, and a name may have line ends.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message.replace("\n", "\\n"))
        self.advice = advice.replace("\n", "\\n")


class DeviceMissing(UsageError):
    """A requested device or optional part is missing."""


class Opened(NamedTuple):
    """The bytes of a program. `path` is None for standard input; `note` is for standard error."""

    name: str
    path: str | None
    data: bytes
    note: str = ""


def opened(given: str | None, most: int) -> Opened:
    """The program that FILE names: a path, - or nothing at all. Reads `most` + 1 bytes at most."""
    if given == "-":
        return _from_stdin(most)
    if given == "":
        raise UsageError("FILE is empty", "gradcli run FILE")
    path, _, cell = (given or "").rpartition(":")
    if given is not None and path.endswith(".ipynb") and cell.isdecimal() and len(cell) < 10:
        return Opened(given, path, _read(path, PICTURES * most))
    if given is not None:
        room = PICTURES * most if given.endswith(".ipynb") else most
        return Opened(given, given, _read(given, room))
    if sys.stdin is not None and not sys.stdin.isatty() and _is_piped():
        return _from_stdin(most)
    return _only_one(most)


def _is_piped() -> bool:
    """Something was put in on purpose: a pipe or a file; not a terminal and not /dev/null."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _from_stdin(most: int) -> Opened:
    if sys.stdin is None:
        raise UsageError("standard input is closed", "gradcli run FILE")
    if sys.stdin.isatty():
        sys.stderr.write("reading a program from the terminal; Ctrl-D ends it\n")
    try:
        return Opened("<stdin>", None, sys.stdin.buffer.read(most + 1))
    except OSError as error:
        raise UsageError(f"standard input can't be read: {error.strerror}") from None


def _only_one(most: int) -> Opened:
    here = sorted(name for name in _names_in(".") if name.endswith(SUFFIX) and os.path.isfile(name))
    if len(here) == 1:
        return Opened(
            here[0], here[0], _read(here[0], most), f"reading {here[0]}, the only one here"
        )
    if not here:
        raise UsageError(
            "no FILE was given, and this folder holds no .expr file", "gradcli trace FILE"
        )
    held = f"this folder holds {len(here)}: {some(here, 8)}"
    raise UsageError(f"no FILE was given, and {held}", "name one")


def leads_out(path: str) -> bool:
    """Does a link lead out of the folder? Who made the folder may have made the link.

    The folder is the current one for a path below it, and else the one that the path names; what
    lies in /dev is the system's own.
    """
    here = os.path.realpath(os.curdir)
    named = os.path.abspath(path)
    if named.startswith(("/dev/", "/proc/self/fd/")):
        return False
    root = here if within(here, named) else os.path.realpath(os.path.dirname(named))
    return not within(root, os.path.realpath(path))


def within(root: str, path: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))


def _read(path: str, most: int) -> bytes:
    try:
        if leads_out(path):
            raise UsageError(f"{path} {OUTSIDE}")
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a folder", _inside(path))
        with open(path, "rb", opener=at_once) as file:
            is_pipe = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
            first = _first_piece(file.fileno(), path) if is_pipe else b""
            os.set_blocking(file.fileno(), is_pipe or file.isatty())
            rest: bytes | None = file.read(max(0, most + 1 - len(first)))
            if rest is None:  # of a device or a file of the kernel, such as its messages
                raise UsageError(f"{path} can't be read: it holds nothing yet")
            return first + rest
    except (OSError, ValueError) as error:
        code = getattr(error, "errno", None)
        if code == errno.ENOENT and os.path.islink(path):
            raise UsageError(
                f"{path} is a link to {os.readlink(path)}, which is not there"
            ) from None
        if code == errno.ENOENT:
            raise UsageError(f"there is no file {path}", _near(path)) from None
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} can't be read: {why[0].lower()}{why[1:]}") from None


def is_excluded(name: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches a program, or a folder on its path, by name or by path."""
    from fnmatch import fnmatchcase

    names = _normal(name).split("/")
    paths = ("/".join(names[:end]) for end in range(2, len(names) + 1))
    candidates = (*names, *paths)
    known = [_normal(pattern) for pattern in patterns]
    return any(fnmatchcase(candidate, p) for p in known for candidate in candidates)


def _normal(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")


def at_once(path: str, flags: int) -> int:
    """An opener that does not wait: a pipe without a writer would block the command."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


def at_once_without_links(path: str, flags: int) -> int:
    """The same for a file that lies beside another, and must not lead anywhere else."""
    return at_once(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _first_piece(pipe: int, path: str) -> bytes:
    """What can be read of a pipe at once; one left in a folder to do harm has no writer."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        with suppress(BlockingIOError):
            piece = os.read(pipe, 1 << 16)
            if piece:
                return piece
            time.sleep(0.02)
            continue
        return b""  # there is a writer, which has not written yet
    raise UsageError(f"{path} is a pipe without a writer")


def _names_in(folder: str) -> list[str]:
    """What lies in a folder, as far as it is looked at."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, LOOKED_AT)]


def _inside(folder: str) -> str:
    try:
        names = sorted(name for name in _names_in(folder) if name.endswith(SUFFIX))
    except OSError:
        return ""
    if not names:
        return "it holds no .expr file"
    return "in it: " + some([os.path.join(folder, name) for name in names], 5)


def _near(path: str) -> str:
    """Files that may have been meant."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    try:
        names = _names_in(folder or ".")
    except OSError:
        return f"there is no folder {folder} either" if folder else ""
    stem = os.path.splitext(name)[0]  # the same ending alone is not near
    close = [
        other
        for other in get_close_matches(name, names, 3, 0.6)
        if get_close_matches(stem, [os.path.splitext(other)[0]], 1, 0.6)
    ]
    if not close and name + SUFFIX in names:
        close = [name + SUFFIX]
    if not close:
        programs = sorted(other for other in names if other.endswith(SUFFIX))
        listed = some([os.path.join(folder, program) for program in programs], 3)
        return f"here are: {listed}" if programs else ""
    return "did you mean " + " or ".join(os.path.join(folder, other) for other in close) + "?"
