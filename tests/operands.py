"""Tests: the operands that the samples of the catalogue are written over.

The same for PyTorch and for gradcli: whoever asks hands its torch-like module in. Values have no
ties, no zeros and stay away from the edges of the functions' domains, and from round numbers,
where piecewise functions have their kinks.
"""

from __future__ import annotations

import ast
import functools
import math
from typing import Any

from gradcli.questions.ops.sample_operands import DOUBLE, FIXED, FLOATING

KINDS = {"i": "int64", "j": "int64", "k": "bool", "n": "int64"}


def operands(lib: Any, double: bool = False, text: str = "") -> dict[str, Any]:
    """Fresh operands, made by `lib.tensor`, with the names that samples may use: those that `text`
    has, or all."""
    kind = lib.float64 if double else lib.float32
    wanted = _names(text) if text else {*FLOATING, *DOUBLE, *FIXED}
    made = {
        name: lib.tensor(values, dtype=kind, requires_grad=True)
        for name, values in FLOATING.items()
        if name in wanted
    }
    if "d" in wanted:
        made["d"] = lib.tensor(DOUBLE["d"], dtype=lib.float64, requires_grad=True)
    for name, values in FIXED.items():
        if name in wanted:
            made[name] = lib.tensor(values, dtype=getattr(lib, KINDS[name]))
    return made


@functools.cache
def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def scope(lib: Any, double: bool = False, text: str = "") -> dict[str, Any]:
    """What a sample is evaluated in; with the sample's text, no more operands than it names."""
    return {"torch": lib, "F": lib.nn.functional, "math": math, **operands(lib, double, text)}
