"""Tests: the operands that the samples of the catalogue are written over.

The same for PyTorch and for gradcli: whoever asks hands its torch-like module in. Values have no
ties, no zeros and stay away from the edges of the functions' domains, and from round numbers,
where piecewise functions have their kinks.
"""

from __future__ import annotations

import math
from typing import Any

from gradcli.questions.ops.sample_operands import DOUBLE, FIXED, FLOATING

KINDS = {"i": "int64", "j": "int64", "k": "bool", "n": "int64"}


def operands(lib: Any, double: bool = False) -> dict[str, Any]:
    """Fresh operands, made by `lib.tensor`, with the names that samples may use."""
    kind = lib.float64 if double else lib.float32
    made = {
        name: lib.tensor(values, dtype=kind, requires_grad=True)
        for name, values in FLOATING.items()
    }
    made["d"] = lib.tensor(DOUBLE["d"], dtype=lib.float64, requires_grad=True)
    for name, values in FIXED.items():
        made[name] = lib.tensor(values, dtype=getattr(lib, KINDS[name]))
    return made


def scope(lib: Any, double: bool = False) -> dict[str, Any]:
    """What a sample is evaluated in."""
    return {"torch": lib, "F": lib.nn.functional, "math": math, **operands(lib, double)}
