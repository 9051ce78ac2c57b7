"""Live: the traceback of an error as it would be without a recording."""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .text import CALLER, Text

HERE = os.path.dirname(__file__)
MOST = 100  # errors behind an error


def without(traceback: Any, text: Text) -> Any:
    """A traceback without the frames of the recording, and those of PyTorch that lead to it."""
    kept: list[Any] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_name == "handle_torch_function" and kept:
            asking = kept.pop().tb_frame.f_code  # it is called once more behind the mode
            if asking.co_filename == text.filename:
                kept.append(traceback)
        elif code.co_qualname == "Module._call_impl.<locals>.inner" and kept:
            kept.append(_plain_call(kept.pop()))  # a module that has hooks calls forward in it
        elif code.co_name != CALLER and not code.co_filename.startswith(HERE):
            kept.append(traceback)
        traceback = traceback.tb_next
    made = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made


def _plain_call(entry: Any) -> Any:
    """The entry of `Module._call_impl` where it calls forward at once, as it does without hooks."""
    line = entry.tb_lineno
    for one in dis.get_instructions(entry.tb_frame.f_code):
        line = one.starts_line or line
        if one.opname == "CALL_FUNCTION_EX":
            return TracebackType(None, entry.tb_frame, one.offset, line)
    return entry


def catching(text: Text) -> Callable[[], None]:
    """What the handlers of a program's errors call first."""

    def caught() -> None:
        error = sys.exception()
        for _ in range(MOST):
            if error is None:
                return
            error.__traceback__ = without(error.__traceback__, text)
            error = error.__cause__ or error.__context__

    return caught
