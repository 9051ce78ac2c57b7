"""process: Ctrl-C ends the command silently, but while a program runs: there it is an error.

The first code that the command loads: before it, Ctrl-C ends in a traceback. So it loads nothing
that Python has not loaded by then.
"""

from __future__ import annotations

import os
import sys

# What the module `signal` is made of, which loads enumerations first.
from _signal import SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def _gone(number: int, frame: FrameType | None) -> None:
    """Ctrl-C while nothing has to be cleaned up: modules are imported, or all is done."""
    os._exit(130)


def silent() -> None:
    """From here on Ctrl-C ends the process at once, unless the caller set a handler."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _gone)


def interruptible() -> bool:
    """From here on Ctrl-C is KeyboardInterrupt, if it ends the process so far; whether it did."""
    if getsignal(SIGINT) is _gone:
        signal(SIGINT, default_int_handler)
        return True
    return False


def is_main_thread() -> bool:
    """Whether this is the thread that Python began with: the only one while nobody loaded
    `threading`."""
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()
