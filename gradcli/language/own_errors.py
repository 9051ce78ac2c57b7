"""language: tells gradcli's own defects from errors of the program.

A class of the library may be given anything, and then fails in Python's words as PyTorch's does:
that is the program's error, at its line: it may put a tensor where `items()` is called. An
undefined name in gradcli's text, or something private that its own objects lack, no program can
bring about.
"""

from __future__ import annotations

import os
from opcode import opmap
from types import FunctionType, ModuleType

ROOM = os.path.dirname(__file__)  # whose frames know the names of the program
HOUSE = os.path.dirname(ROOM)
RAISED = opmap["RAISE_VARARGS"]


def is_defect(error: BaseException) -> bool:
    """Whether it shows a mistake in gradcli's own text."""
    trace = error.__traceback__
    if trace is None or not isinstance(error, (NameError, AttributeError)):
        return False
    asker, raised = trace, True
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name != "__getattr__":  # which only says that there is none
            asker, raised = trace, trace.tb_next is None
        trace = trace.tb_next
    code = asker.tb_frame.f_code
    if not code.co_filename.startswith(HOUSE) or code.co_filename.startswith(ROOM):
        return False
    if raised and code.co_code[asker.tb_lasti] == RAISED:
        return False  # the program raised it itself
    return isinstance(error, NameError) or _is_internal(error.obj, error.name or "")


def _is_internal(owner: object, name: str) -> bool:
    """Whether only gradcli's text can have asked this object for the name."""
    if owner is None or not name:
        return False
    if isinstance(owner, (ModuleType, FunctionType)):
        return True
    return name.startswith("_") and type(owner).__module__.startswith("gradcli.")
