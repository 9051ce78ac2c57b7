"""process: ends one whose interpreter is stuck, in words: a timer of the system calls C itself.

While a call in C holds the interpreter's lock, Python runs no signal handler and no thread. So the
last words lie ready in a stream of the C library, and two timers of the system call two of its
functions, each on a thread that knows nothing of Python: `fflush` writes the words, and `_exit`
ends the process. Two such timers count processor time, two more the clock.
"""

from __future__ import annotations

import ctypes  # NumPy has loaded it
import os
import struct
import time
from collections.abc import Callable
from typing import Any

from ..diagnostics import ExitStatus

Quote = Callable[[int, int], str]
SEMAPHORE = 64  # bytes, more than a sem_t has
PATIENCE = 5  # seconds
BREATH = 0.1  # seconds between the last words and the end
ROOM = 4096  # bytes of the last words at most, and as many that the stream keeps to itself
CLOCK_MONOTONIC, CLOCK_PROCESS = 1, 2  # <time.h> of Linux, as the constants below
ON_A_THREAD = 2  # SIGEV_THREAD
FULLY_BUFFERED = 0  # _IOFBF


class Net:
    """The timers of one run: processor time and clock, in seconds from now.

    `at` says which place the last words name from then on, and `quote` gives the lines of text
    that stand below it.
    """

    def __init__(self, name: str, words: str, work: float, clock: float) -> None:
        self.name, self.words = name, words
        self.quote: Quote | None = None
        self.timers: list[Any] = []
        self.libc = libc = ctypes.PyDLL(None)
        libc.fdopen.restype = ctypes.c_void_p
        self.buffer = ctypes.create_string_buffer(2 * ROOM)
        self.stream = ctypes.c_void_p(libc.fdopen(os.dup(2), b"w"))
        if not self.stream:
            raise OSError("no stream")
        size = ctypes.c_size_t(len(self.buffer))
        libc.setvbuf(self.stream, self.buffer, FULLY_BUFFERED, size)
        self.forget = getattr(libc, "__fpurge")  # a class would rename it
        self._say(f"{name}\n{words}")
        self._begin()
        for kind, seconds in ((CLOCK_PROCESS, work), (CLOCK_MONOTONIC, clock)):
            self._set(kind, seconds - BREATH, libc.fflush, self.stream.value)
            self._set(kind, seconds, libc._exit, int(ExitStatus.LIMIT_REACHED))

    def _begin(self) -> None:
        """One thread has run and gone before memory may be short: the next takes its place.

        It is waited for, since the C library holds a lock of its timers while it starts a thread:
        a process forked at that moment could never set a timer. Who sets the next one gets the
        lock, and so knows that it is free.
        """
        ran = ctypes.create_string_buffer(SEMAPHORE)
        self.libc.sem_init(ran, 0, 0)
        if self._set(CLOCK_MONOTONIC, 0.0, self.libc.sem_post, ctypes.addressof(ran)):
            until = struct.pack("@2l", int(time.time()) + PATIENCE, 0)
            self.libc.sem_timedwait(ran, until)  # there may be no room for a thread
            self.ran = ran  # it may come late

    def _set(self, kind: int, seconds: float, function: Any, argument: Any) -> bool:
        """In so many seconds function(argument) is called; False where there is no timer left."""
        address = ctypes.cast(function, ctypes.c_void_p).value
        event = struct.pack("@PiiP40x", argument, 0, ON_A_THREAD, address)  # struct sigevent
        timer = ctypes.c_void_p()
        if self.libc.timer_create(kind, event, ctypes.byref(timer)):
            return False
        self.timers.append(timer)
        whole = int(seconds)
        spec = struct.pack("@4l", 0, 0, whole, int((seconds - whole) * 1e9) or 1)
        return not self.libc.timer_settime(timer, 0, spec, None)

    def _say(self, said: str) -> None:
        """Into the buffer, in place of what is there: nothing is written before fflush."""
        self.forget(self.stream)
        self.libc.fputs(said.encode("utf-8", "backslashreplace")[-ROOM:], self.stream)

    def at(self, line: int, column: int) -> None:
        """The program has come here."""
        quoted = "" if self.quote is None else self.quote(line, column)
        self._say(f"{self.name}:{line}:{column}\n{quoted}{self.words}")

    def gone(self) -> None:
        """No timer is left, and nothing to be written."""
        for timer in self.timers:
            self.libc.timer_delete(timer)
        self.forget(self.stream)
        self.libc.fclose(self.stream)
