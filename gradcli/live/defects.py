"""Live: what goes wrong in gradcli itself while it listens; the program goes on."""

from __future__ import annotations

import signal
from typing import Any


class Defects(list[Exception]):
    """Errors of our own. One that a handler of a signal raises meanwhile is the program's, and
    goes on."""

    def append(self, error: Exception) -> None:
        if _is_of_a_signal(error):
            raise error
        super().append(error)


def _is_of_a_signal(error: Exception) -> bool:
    handlers: Any = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = {
        getattr(getattr(handler, "__func__", handler), "__code__", None) for handler in handlers
    }
    codes.discard(None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False
