"""output: where answers and messages go: streams, colours, files. Only escaped text passes."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

from ..columns import WRITABLE
from ..opening import OUTSIDE, PATIENCE, leads_out
from ..render.escape import Terminal
from ..render.look import Look
from . import progress

PAGE = 80


def look_of(stream: TextIO, color: str) -> Look:
    """How a stream is drawn on; standard output and standard error are judged apart."""
    terminal = progress.is_terminal(stream)
    columns = PAGE
    if terminal:
        with suppress(OSError, ValueError):
            told = os.get_terminal_size(stream.fileno()).columns or PAGE  # some terminals say 0
            columns = max(40, min(200, told))
    coloured, unicode = _wants_color(terminal, color), encoding_of(stream).startswith("utf")
    rich = terminal and coloured and os.environ.get("TERM") != "dumb"
    return Look(coloured, unicode, columns, not terminal, rich)


def encoding_of(stream: TextIO) -> str:
    return (getattr(stream, "encoding", None) or "utf-8").lower()


def _wants_color(terminal: bool, color: str) -> bool:
    """The option first, then FORCE_COLOR and CLICOLOR_FORCE, NO_COLOR, CLICOLOR, the terminal."""
    if color != "auto":
        return color == "always"
    get = os.environ.get
    if get("FORCE_COLOR", "0") not in ("0", "") or get("CLICOLOR_FORCE", "0") not in ("0", ""):
        return True
    if get("NO_COLOR") or get("CLICOLOR") == "0" or get("TERM") == "dumb":
        return False
    return terminal


def document_to_stdout() -> None:
    """What says its encoding itself, such as a picture, is UTF-8 whatever the locale is."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        with suppress(ValueError, OSError):
            reconfigure(encoding="utf-8", errors=WRITABLE)


def prepare_streams() -> None:
    """Characters that a stream can't encode become visible instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with suppress(ValueError, OSError):
                reconfigure(errors=WRITABLE)


class Unwritable(BaseException):
    """Standard output takes no more. Not an Exception: no `except` of a program matches it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


def put(text: Terminal) -> None:
    """A piece of what the program prints, on standard output."""
    progress.erase()
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise Unwritable(error) from None


def write(pieces: Iterable[Terminal]) -> None:
    """The answer, on standard output."""
    progress.end()
    put = sys.stdout.write
    for piece in pieces:
        try:
            put(piece)
        except OSError as error:
            raise Unwritable(error) from None


def flush() -> None:
    """What was put so far is out."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise Unwritable(error) from None


def save(path: str, pieces: Iterable[Terminal]) -> None:
    """The answer, into a file: the old one stays until the new one is whole."""
    number = open_stream(path)
    if number is not None:
        flush()
        with open(
            os.dup(number), "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as file:
            file.writelines(pieces)
        return
    if leads_out(path):
        raise OSError(errno.EPERM, f"it {OUTSIDE}")
    if os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe is written to; putting a file in its place would destroy it.
        with open(
            path, "w", encoding="utf-8", errors="backslashreplace", newline="\n",
            opener=_with_a_reader,
        ) as file:  # fmt: skip
            file.writelines(pieces)
        return
    if os.path.islink(path) and not os.path.exists(path):
        raise OSError(errno.ENOENT, "it is a link that leads to nothing")
    put_in_place(os.path.realpath(path), pieces)  # the file behind a link is meant, not the link


def put_in_place(path: str, pieces: Iterable[Terminal]) -> None:
    """A new file under this name, whole; a link of this name is replaced and not followed.

    The file in the making has a name that cannot be guessed, and is made by us or not at all: who
    can write beside it may have put links there.
    """
    folder, _ = os.path.split(path)
    unfinished = os.path.join(folder, f".{os.urandom(12).hex()}.unfinished")
    try:
        with open(
            unfinished, "x", encoding="utf-8", errors="backslashreplace", newline="\n",
            opener=_without_links,
        ) as file:  # fmt: skip
            file.writelines(pieces)
            _keep_mode(file.fileno(), path)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.remove(unfinished)
        raise


def _keep_mode(new: int, path: str) -> None:
    """The new file gets the permissions of the old one."""
    with suppress(OSError, AttributeError):
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode):
            os.fchmod(new, stat.S_IMODE(mode) & 0o777)


def open_stream(path: str) -> int | None:
    """The number of a stream that is open here: what it leads to is added to, and not replaced."""
    folder, name = os.path.split(path)
    if folder in ("/dev/fd", "/proc/self/fd") and name.isdecimal() and len(name) < 10:
        return int(name)
    return {"/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def _with_a_reader(path: str, flags: int) -> int:
    """An opener that waits for the reader of a pipe, but not for ever."""
    flags = flags & ~os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            number = os.open(path, flags)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
            if time.monotonic() > ends:
                raise OSError(errno.ENXIO, "it is a pipe without a reader") from None
            time.sleep(0.02)
            continue
        os.set_blocking(number, True)
        return number


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def tell(text: Terminal) -> None:
    """A message, on standard error, after what the program printed."""
    progress.erase()
    with suppress(ValueError, OSError):
        sys.stdout.flush()
    if text:
        with suppress(OSError):  # it can't be said that it can't be said
            sys.stderr.write(text)
            sys.stderr.flush()


def close_silently() -> None:
    """The reader is gone: nothing is written when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
