"""output: on a terminal a page that is longer than the screen goes through less, as git's do."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from ..render.escape import Terminal


def is_long(pieces: Sequence[Terminal]) -> bool:
    """Whether a page needs a pager: it is longer than the screen of a terminal."""
    rows = _rows()
    return bool(rows) and sum(piece.count("\n") for piece in pieces) >= rows and bool(_command())


def _rows() -> int:
    """The height of the terminal; 0 if there is none, or it is unknown."""
    if "CI" in os.environ or os.environ.get("TERM") == "dumb":
        return 0
    try:
        if sys.stdin.isatty() and sys.stdout.isatty():
            return os.get_terminal_size(sys.stdout.fileno()).lines
    except (OSError, ValueError, AttributeError):
        pass
    return 0


def _command() -> list[str]:
    """GRADCLI_PAGER, PAGER, or less; an empty one and cat mean none."""
    for name in ("GRADCLI_PAGER", "PAGER"):
        if name in os.environ:
            with suppress(ValueError):
                words = shlex.split(os.environ[name])
                return [] if not words or words[0] == "cat" else words
            return []
    found = shutil.which("less")
    return [] if found is None else [found]


def show(pieces: Sequence[Terminal]) -> bool:
    """Shows a page until its reader has done; False where the pager could not be started."""
    # Colours; no clearing, so that what the program printed stays; no pager for a single screen.
    environment = {**os.environ, "LESS": os.environ.get("LESS", "FRX")}
    try:
        pager = subprocess.Popen(_command(), stdin=subprocess.PIPE, env=environment)
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the pager's while that is open
    try:
        assert pager.stdin is not None
        with suppress(BrokenPipeError), pager.stdin:
            for piece in pieces:
                pager.stdin.write(piece.encode("utf-8", "backslashreplace"))
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True
