"""process: how the command's process starts and exits: quickly, and without a traceback.

A graph is millions of objects and hardly a cycle. Nothing is collected on its own (the budget of
the language starts a collection when memory grows), and nothing is taken apart at the end.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import warnings
from contextlib import suppress

from .interrupts import silent
from .modules import install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_kept: list[object] | None = None  # None in a process that goes on afterwards
_has_run_python = False


def begin() -> None:
    """From here on the process is the command's."""
    global _kept
    _kept = []
    gc.disable()
    install()
    warnings.simplefilter("ignore")  # a program's own are reported in words; NumPy's name our files
    sys.unraisablehook = _ignored
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            _stand_in(place, name)
        elif isinstance(getattr(stream, "buffer", None), io.RawIOBase):
            setattr(sys, name, _whole(stream))


class _Whole(io.BufferedWriter):
    """Writes at once, as PYTHONUNBUFFERED=1 asks, and all of it: Python's own stream loses without
    a word what a disk that fills up, or a write that a signal interrupts, leaves of a text."""

    def write(self, data: Any) -> int:
        count = super().write(data)
        self.flush()
        return count


def _whole(stream: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        _Whole(stream.buffer), encoding=stream.encoding, errors=stream.errors, write_through=True
    )


def _ignored(unraisable: object) -> None:
    """Ignores errors of a generator that is closed after the run."""


def _stand_in(place: int, name: str) -> None:
    """In place of a stream that the caller has closed, so that no file gets its number.

    What is written to standard output fails, as it does on a full disk; standard error is lost.
    """
    flags = os.O_RDWR if name == "stderr" else os.O_RDONLY
    with suppress(OSError):
        opened = os.open(os.devnull, flags)
        if opened != place:  # pragma: no cover - one in front of it is closed as well
            os.dup2(opened, place)
            os.close(opened)
        if name != "stdin":
            stream = open(place, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def keep(*values: object) -> None:
    """Large things that are done with: taking them apart would take as long as a tenth of a run."""
    if _kept is not None:
        _kept.extend(values)


def run_python() -> None:
    """From here on Python runs a program in the process: what that left to the end is done then."""
    global _has_run_python
    _has_run_python = True


def leave(status: int) -> None:
    """Flushes what was written, and ends the process."""
    silent()
    if _has_run_python and _kept is not None:
        _finish()
    if sys.getprofile() is not None or sys.gettrace() is not None:
        sys.exit(status)  # whoever watches writes its answer at the end
    os._exit(_flushed(status))


def _finish() -> None:
    """Waits for threads and calls what was registered for the end, as Python does."""
    import atexit
    import threading

    sys.unraisablehook = sys.__unraisablehook__
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()


def _flushed(status: int) -> int:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (ValueError, BrokenPipeError):
        pass  # closed, or its reader is gone
    except OSError as error:
        return unwritable(error)
    return status


def unwritable(error: OSError) -> int:
    """Tells of a full disk beneath standard output, or that it is closed; the exit code."""
    with suppress(OSError):
        os.write(2, f"UsageError: {why_unwritable(error)}\n".encode("utf-8", "backslashreplace"))
    with suppress(OSError, ValueError, AttributeError):  # what is left goes nowhere, and silently
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 2


def why_unwritable(error: OSError) -> str:
    """The same as a sentence."""
    if error.errno == errno.EBADF:
        return "standard output is closed"
    return f"standard output can't be written: {error.strerror}"
