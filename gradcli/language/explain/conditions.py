"""language: a condition that does not hold: what its operands held, where two tensors differ."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ...engine.size import Size
from ...engine.tensor import Tensor
from ..compile.kept import Operands
from ..explained import Explanation
from ..operations import type_name

SHORT, MOST_SHOWN = 40, 3
LARGEST = 1_000_000  # elements of two tensors that are compared once more


def condition(out: Explanation, error: BaseException) -> None:
    """What names and operands held; for two tensors, in which elements they differ."""
    held: Operands = getattr(error, "operands", [])
    names = [node for node in ast.walk(out.place) if isinstance(node, ast.Name)]
    shown: set[str] = set()
    for node, value in (*held, *((node, value_of(out, node)) for node in names)):
        code = out.places.text(node, 10 * SHORT) or ""
        if isinstance(node, ast.Name) and not is_bound(out, node):
            continue
        text = None if code in shown or len(shown) >= MOST_SHOWN else short(value)
        if text is not None and text != code:
            shown.add(code)
            out.put(node, text)
    said = difference([value for _, value in held])
    if said:
        out.note(said)


def difference(values: Iterable[Any]) -> str:
    """How two tensors that were compared differ; empty for any other values."""
    pair = [value for value in values if isinstance(value, Tensor)]
    if len(pair) != 2:
        return ""
    one, other = pair
    if one.shape != other.shape:
        return f"the shapes are {list(one.shape)} and {list(other.shape)}"
    if not 1 < one.numel() <= LARGEST or one.device != other.device:
        return ""
    return _elements(one, other)


def _elements(one: Tensor, other: Tensor) -> str:
    """How many elements differ, and where the difference is largest."""
    xp, a, b = one._kind.xp, one._data, other._data
    different = (a != b) & ~((a != a) & (b != b))
    count = int(different.sum())
    if not count:
        return ""
    with xp.errstate(all="ignore"):
        gaps = abs(a.astype(complex if a.dtype.kind == "c" else float) - b)
    gaps = xp.where(different, xp.where(gaps != gaps, xp.inf, gaps), 0.0)
    place = [int(i) for i in xp.unravel_index(int(gaps.argmax()), gaps.shape)]
    verb = "differs" if count == 1 else "differ"
    largest = f", by at most {float(gaps.max()):.3g}" if float(gaps.max()) < float("inf") else ""
    return f"{count:,} of {a.size:,} elements {verb}{largest}, at {place}"


def value_of(out: Explanation, node: ast.AST) -> Any:
    """What a name holds where the program failed."""
    if not isinstance(node, ast.Name):
        return None
    table = out.places.local if node.id in out.places.local else out.places.values
    return table.get(node.id)


def is_bound(out: Explanation, node: ast.Name) -> bool:
    """Whether it is a name of the program."""
    return node.id in out.places.local or node.id in out.places.values


def short(value: Any) -> str | None:
    """A number, a word, a shape or a small tensor as text."""
    if isinstance(value, Tensor):
        text = (
            repr(value.detach())
            if value.numel() <= 8
            else f"{type_name(value)} {list(value.shape)}"
        )
        if len(text) > SHORT or "\n" in text:
            text = f"{type_name(value)} {list(value.shape)}"
    elif type(value) is int and value.bit_length() > 4 * SHORT:
        return None  # making its digits takes long, and has a limit of Python's
    elif type(value) in (int, float, bool, str, type(None)):
        text = repr(value)
    elif type(value) is Size and len(value) <= MOST_SHOWN * 2:
        text = f"torch.Size({list(value)})"
    else:
        return None
    return text if len(text) <= SHORT and "\n" not in text else None
