"""Live: runs a program again in a process of its own."""

from __future__ import annotations

import math
import os
import pickle
import select
import sys
import time
from collections.abc import Callable
from typing import Any

from ..process.deadline import CLOCK


def answered(work: Callable[[], Any], seconds: float) -> Any:
    """What the work answers in a copy of this process; None where it fails, or takes more work than
    so many seconds."""
    torch = sys.modules.get("torch")
    if not hasattr(os, "fork") or (torch is not None and torch.cuda.is_initialized()):
        return None
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing, torch, math.ceil(seconds))
    os.close(writing)
    try:
        return _read(reading, time.monotonic() + CLOCK * seconds, child)
    finally:
        os.close(reading)
        os.waitpid(child, 0)


def _work(work: Callable[[], Any], writing: int, torch: Any, seconds: int) -> None:
    """The child's part, which never returns. Nothing that the program says is heard."""
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        import resource  # where there is fork, there is this

        most = math.ceil(time.process_time()) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        if torch is not None:
            torch.set_num_threads(1)  # the threads of the parent are not here
        data = pickle.dumps(work())
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(data)
    except BaseException:  # the parent gets no answer
        os._exit(1)
    os._exit(0)


def _read(reading: int, until: float, child: int) -> Any:
    pieces: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            os.kill(child, 9)
            return None
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        pieces.append(piece)
    return pickle.loads(b"".join(pieces)) if pieces else None
