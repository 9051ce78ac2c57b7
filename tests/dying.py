"""Tests: a task that ends its process; in a file of its own, which is all that it imports."""

from __future__ import annotations

import os
import signal

from fuzz.workers import Say


def dies_at(say: Say, seed: int, how: str) -> int:
    """A task of the fuzzer that may end its process."""
    say((seed, "PyTorch"))
    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    if how == "error":
        raise RuntimeError("a defect of the fuzzer")
    return seed
