"""language: how deep the host may call: Python's frames, and the C stack beneath them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..process.interrupts import is_main_thread

# Measured with CPython 3.11: a call that passes through C takes 520 to 1365 bytes of its stack, and
# the process dies where 8 MiB end. From 3.12 on Python counts calls through C by itself.
BYTES_A_FRAME = 1100
STACK = 120 * 1024 * 1024  # the kernel keeps at least 128 MiB below a stack free
FRAMES_A_CALL = 100  # of the host, for one call of the program with its nesting
MOST_FRAMES = 100_000


@contextmanager
def room_for_calls(depth: int) -> Iterator[None]:
    """Within it the host may call as deep as a program with so many nested calls needs."""
    before = sys.getrecursionlimit()
    wanted = min(MOST_FRAMES, 2000 + FRAMES_A_CALL * depth)
    with _stack() as size:
        if sys.version_info < (3, 12):
            wanted = min(wanted, size // BYTES_A_FRAME)
        sys.setrecursionlimit(max(before, wanted))
        try:
            yield
        finally:
            sys.setrecursionlimit(before)


@contextmanager
def _stack() -> Iterator[int]:
    """The bytes of the C stack. The main thread's grows under Linux when its limit is raised."""
    if not is_main_thread() or sys.platform == "win32":
        yield 1024 * 1024
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    unlimited = soft == resource.RLIM_INFINITY
    if not sys.platform.startswith("linux") or unlimited or soft >= STACK:
        yield STACK if unlimited else min(soft, STACK)
        return
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    except (ValueError, OSError):
        yield soft
        return
    try:
        yield wanted
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
