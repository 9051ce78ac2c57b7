"""net: ends a process whose interpreter is stuck, in words: a timer of the system calls C itself.

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
from typing import Any

from .diagnostics import ExitStatus

SEMAPHORE = 64  # bytes, more than a sem_t has
PATIENCE = 5  # seconds
BREATH = 0.1  # seconds between the last words and the end
CLOCK_MONOTONIC, CLOCK_PROCESS = 1, 2  # <time.h> of Linux, as the constants below
ON_A_THREAD = 2  # SIGEV_THREAD
FULLY_BUFFERED = 0  # _IOFBF
LONGEST_PLACE = 24
ROOM = 4096  # a stream with little room for them writes the words at once


class Net:
    """The timers of one run: processor time and clock, in seconds from now.

    `at` says which place the last words name from then on.
    """

    def __init__(self, name: str, words: str, work: float, clock: float) -> None:
        self.timers: list[Any] = []
        self.libc = libc = ctypes.CDLL(None)
        libc.fdopen.restype = ctypes.c_void_p
        head, tail = (text.encode("utf-8", "backslashreplace") for text in (name, words))
        said = head + b" " * LONGEST_PLACE + b"\n" + tail
        self.start = len(head)
        self.buffer = ctypes.create_string_buffer(len(said) + ROOM)
        self.view = memoryview(self.buffer).cast("B")
        self.stream = ctypes.c_void_p(libc.fdopen(os.dup(2), b"w"))
        if not self.stream:
            raise OSError("no stream")
        size = ctypes.c_size_t(len(self.buffer))
        libc.setvbuf(self.stream, self.buffer, FULLY_BUFFERED, size)
        libc.fputs(said, self.stream)  # into the buffer: nothing is written before fflush
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

    def at(self, line: int, column: int) -> None:
        """The program has come here."""
        place = b":%d:%d" % (line, column)
        self.view[self.start : self.start + LONGEST_PLACE] = place.ljust(LONGEST_PLACE)

    def gone(self) -> None:
        """No timer is left, and nothing to be written."""
        for timer in self.timers:
            self.libc.timer_delete(timer)
        getattr(self.libc, "__fpurge")(self.stream)  # a class would rename it
        self.libc.fclose(self.stream)
