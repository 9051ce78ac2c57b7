"""Recording: the numbers of a tensor as facts: nested tuples, PyTorch's text, their range."""

from __future__ import annotations

import warnings
from math import hypot, inf
from typing import Any

from .facts import FEW, Nested, Spread
from .sides import side_of, with_one_shape

RANGED = 100_000  # elements of a tensor whose range is looked for
UNORDERED = frozenset({"bool", "complex32", "complex64", "complex128"})


def frozen(value: Any) -> Nested:
    """What tolist() gave, with tuples for lists."""
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return tuple(map(frozen, value))
    return tuple(value)


def numbers(value: Any) -> Nested:
    """The numbers of a tensor, or of an array, as nested tuples."""
    return frozen((_dense(value) if hasattr(value, "detach") else value).tolist())


def _dense(tensor: Any) -> Any:
    """With all its elements: PyTorch's may be sparse."""
    held = with_one_shape(tensor).detach()
    return held.to_dense() if getattr(held, "is_sparse", False) else held


def text_of(tensor: Any) -> str:
    """What PyTorch prints for the values alone."""
    held = with_one_shape(tensor).detach()
    return side_of(held).text(held)


def range_of(tensor: Any) -> Spread | None:
    """The least and the greatest of several numbers, of many their mean and norm too; nothing for
    one, for very many, for NaN."""
    kind = str(tensor.dtype).removeprefix("torch.")
    if not 1 < tensor.numel() <= RANGED or kind in UNORDERED:
        return None
    held = _dense(tensor).reshape(-1)
    if kind in ("float32", "float64") and str(held.device) == "cpu" and len(held) > FEW:
        return _spread(held.numpy().astype("float64"))
    found: list[Any] = held.tolist()
    total = sum(found)
    if total != total and any(number != number for number in found):
        return None  # infinities of both signs have no sum either
    if len(found) <= FEW:
        return Spread(min(found), max(found))
    return Spread(min(found), max(found), total / len(found), hypot(*found))


def _spread(values: Any) -> Spread | None:
    """The same of an array of doubles."""
    least, most = float(values.min()), float(values.max())
    if least != least:
        return None
    largest = max(-least, most)
    norm = largest
    if 0 < largest < inf:  # a square of the numbers themselves may be too large
        scaled = values / largest
        norm *= float(scaled @ scaled) ** 0.5
    return Spread(least, most, _mean(values), norm)


def _mean(values: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # infinities of both signs
        return float(values.sum()) / len(values)
