"""Tests: the operands that the samples of the catalogue are written over.

The same for PyTorch and for gradcli: whoever asks hands its torch-like module in. Values have no
ties, no zeros and stay away from the edges of the functions' domains, and from round numbers,
where piecewise functions have their kinks.
"""

from __future__ import annotations

import math
from typing import Any

# Name: values, all float32 and requiring grad; `double` makes them float64 for numeric checks.
FLOATING: dict[str, Any] = {
    "x": [[0.5625, -1.28125, 1.71875], [-0.34375, 0.84375, -1.53125]],
    "y": [[-0.65625, 1.15625, 0.21875], [1.40625, -1.84375, 0.78125]],
    "p": [[0.75, 1.5, 0.625], [1.125, 1.875, 0.875]],
    "q": [[1.25, 0.5625, 1.75], [0.6875, 1.375, 1.0625]],
    "u": [[0.53125, -0.71875, 0.125], [-0.28125, 0.8125, -0.4375]],
    "s": 1.40625,
    "t": -0.71875,
    "v": [0.59375, -1.21875, 1.90625],
    "w": [1.125, 0.375, -0.78125],
    "a": [[2.0, 0.5, -0.25], [0.375, 1.75, 0.625], [-0.5, 0.125, 1.5]],
    "b": [[1.5, -0.375, 0.25], [0.5, 2.25, -0.125], [0.75, -0.625, 1.875]],
    "c": [
        [[2.25, -0.375, 0.5], [0.25, 1.25, -0.75], [0.875, 0.125, 1.625]],
        [[1.75, 0.5, -0.25], [0.125, 1.5, 0.375], [-0.5, 0.625, 2.0]],
    ],
    "r": [[0.25, -0.5, 1.0, 1.5], [-1.75, 0.625, 0.875, -0.125], [1.25, -0.75, 0.375, -1.375]],
    "z": [[0.75, -1.5, 1.25]],
}
FIXED: dict[str, Any] = {
    "i": [[0, 2, 1], [1, 0, 2]],
    "j": [0, 2, 1],
    "k": [[True, False, True], [False, False, True]],
    "n": 2,
}
KINDS = {"i": "int64", "j": "int64", "k": "bool", "n": "int64"}


def operands(lib: Any, double: bool = False) -> dict[str, Any]:
    """Fresh operands, made by `lib.tensor`, with the names that samples may use."""
    kind = lib.float64 if double else lib.float32
    made = {
        name: lib.tensor(values, dtype=kind, requires_grad=True)
        for name, values in FLOATING.items()
    }
    made["d"] = lib.tensor(
        [[0.875, -0.25, 1.125], [-1.625, 0.4375, 1.3125]], dtype=lib.float64, requires_grad=True
    )
    for name, values in FIXED.items():
        made[name] = lib.tensor(values, dtype=getattr(lib, KINDS[name]))
    return made


def scope(lib: Any, double: bool = False) -> dict[str, Any]:
    """What a sample is evaluated in."""
    return {"torch": lib, "F": lib.nn.functional, "math": math, **operands(lib, double)}
