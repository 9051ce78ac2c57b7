"""Render: `gradcli grad --value`: gradients as numbers and lists, one on each line."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any

from ...recording.facts import GradReport
from ..escape import Terminal
from .edges import numbers

LARGEST = 3.4028234663852886e38


def values(report: GradReport) -> Iterator[Terminal]:
    """Each gradient as a number or lists of numbers; None where there is none."""
    for fact in report.gradients:
        yield Terminal(_text(numbers(fact.value, fact.dtype), fact.dtype) + "\n")


def _text(value: Any, dtype: str) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_text(item, dtype) for item in value)}]"
    if isinstance(value, float) and dtype == "float32" and math.isfinite(value):
        return repr(_shortest(value))
    return repr(value)


def _shortest(value: float) -> float:
    """The number of the fewest digits that is this one in single precision."""
    for digits in range(1, 9):
        near = float(f"{value:.{digits}g}")
        if abs(near) <= LARGEST and struct.unpack("f", struct.pack("f", near))[0] == value:
            return near
    return value
