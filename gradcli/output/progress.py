"""output: a line on a terminal that shows how far a long run is, and is erased.

A thread writes it to standard error, first after a second, then five times in each. It is shown on
a terminal only, never with --quiet, and gone before anything else is written there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

FIRST, NEXT = 1.0, 0.2  # seconds until the line is drawn, and between two drawings
ERASE = "\r\x1b[K"


class Progress:
    """The line on one stream; `words` says what is in it, nothing while nothing runs."""

    def __init__(self, stream: TextIO, words: Callable[[float], str]) -> None:
        import threading  # which takes as long to load as the rest of this

        self.stream, self.words = stream, words
        self.started = time.monotonic()
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.is_drawn = False
        self.thread = threading.Thread(target=self._draw, daemon=True)

    def _draw(self) -> None:
        """The thread: draws until the end; a stream that breaks ends it."""
        wait = FIRST
        with suppress(OSError, ValueError):
            while not self.ended.wait(wait):
                wait = NEXT
                room = os.get_terminal_size(self.stream.fileno()).columns or 80
                text = self.words(time.monotonic() - self.started)[: room - 1]
                with self.lock:
                    if (text or self.is_drawn) and not self.ended.is_set():
                        self.stream.write(ERASE + text)
                        self.stream.flush()
                        self.is_drawn = bool(text)

    def erase(self) -> None:
        """Room for something else; the line comes back."""
        with self.lock, suppress(OSError, ValueError):
            if self.is_drawn:  # read under the lock: the thread may be in the middle of drawing
                self.stream.write(ERASE)
                self.stream.flush()
                self.is_drawn = False

    def end(self) -> None:
        """The line is gone for good."""
        self.ended.set()
        self.erase()


_shown: Progress | None = None


@contextmanager
def progress(wanted: bool, words: Callable[[float], str]) -> Iterator[None]:
    """Within it a long run shows its progress, on a terminal only."""
    global _shown
    if not wanted or os.environ.get("TERM") == "dumb" or not is_terminal(sys.stderr):
        yield
        return
    before, _shown = _shown, Progress(sys.stderr, words)
    _shown.thread.start()
    try:
        yield
    finally:
        _shown.end()
        _shown = before


def is_terminal(stream: TextIO) -> bool:
    """Whether it is a terminal; a closed stream is none."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def erase() -> None:
    """Called before a line of the program or a message is written."""
    if _shown is not None:
        _shown.erase()


def end() -> None:
    """Called before the answer is written."""
    if _shown is not None:
        _shown.end()
