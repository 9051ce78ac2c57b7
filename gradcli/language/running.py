"""language: the active calls of a program, with the current values of their names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .calls import invoke
from .values import UNBOUND, Code

_INVOKE = invoke.__code__


def running() -> Iterator[dict[str, Any]]:
    """The names of each, from the innermost outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _INVOKE:
            held = frame.f_locals
            if "code" in held and "frame" in held:
                yield _names(held["code"], held["frame"])
        frame = frame.f_back


def _names(code: Code, frame: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if code.scope is None:
        return found
    boxed = {*code.scope.cells, *code.scope.free}
    for name, slot in code.scope.slots.items():
        value = frame[slot]
        if name in boxed and isinstance(value, list):
            value = value[0]
        if value is not UNBOUND:
            found[name] = value
    return found
