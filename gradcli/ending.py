"""ending: how the command's own process ends: its memory is left to the system, all at once.

A graph is millions of objects and hardly a cycle. Nothing is collected on its own (the budget of
the language starts a collection when memory grows), and nothing is taken apart at the end.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

_kept: list[object] | None = None  # None in a process that goes on afterwards


def begin() -> None:
    """From here on the process is the command's."""
    global _kept
    _kept = []
    gc.disable()
    for name in ("stdout", "stderr"):  # closed by whoever started us: nobody wants to read
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def keep(*values: object) -> None:
    """Large things that are done with: taking them apart would take as long as a tenth of a run."""
    if _kept is not None:
        _kept.extend(values)


def leave(status: int) -> None:
    """Flushes what was written, and ends the process."""
    if sys.getprofile() is not None or sys.gettrace() is not None:
        sys.exit(status)  # whoever watches writes its answer at the end
    os._exit(_flushed(status))


def _flushed(status: int) -> int:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (ValueError, BrokenPipeError):
        pass  # closed, or nobody reads any more
    except OSError as error:
        return unwritable(error)
    return status


def unwritable(error: OSError) -> int:
    """Tells of a full disk beneath standard output; the exit code."""
    why = f"UsageError: standard output can't be written: {error.strerror}\n"
    with suppress(OSError):
        os.write(2, why.encode("utf-8", "backslashreplace"))
    return 2
