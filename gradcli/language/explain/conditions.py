"""language: a condition that is false: the values of its operands, where two tensors differ."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ...engine.memory.device import Device
from ...engine.schema.dtypes import DType
from ...engine.schema.numpy_wrappers import Wrapped
from ...engine.schema.size import Size
from ...engine.tensors.tensor import Tensor
from ..compile.operand_values import Operands
from ..explanation import Explanation
from ..operations import type_name

SHORT, MOST_SHOWN = 40, 3
MOST_ITEMS = 8  # of a collection that is shown
LARGEST = 1_000_000  # elements of two tensors that are compared once more


def condition(out: Explanation, error: BaseException) -> None:
    """What names and operands held; for two tensors, in which elements they differ."""
    held: Operands = getattr(error, "operands", [])
    names = [node for node in ast.walk(out.place) if isinstance(node, ast.Name)]
    shown: set[str] = set()
    for node, value in (*held, *((node, out.places.value_of(node)) for node in names)):
        code = out.places.text(node, 10 * SHORT) or ""
        if isinstance(node, ast.Name) and not out.places.is_bound(node):
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


def short(value: Any) -> str | None:
    """A number, a string, a shape, a type, a small tensor or collection of these as text."""
    if isinstance(value, Tensor):
        text = _tensor_text(value)
    elif isinstance(value, Wrapped):
        text = _array_text(value.array)
    elif type(value) is int and value.bit_length() > 4 * SHORT:
        return None  # making its digits takes long, and has a limit of Python's
    elif type(value) is str:
        text = repr(value if len(value) <= SHORT else f"{value[:SHORT]}...")
        return text if len(text) <= 2 * SHORT else None
    elif type(value) in (int, float, bool, complex, type(None), DType, Device):
        text = repr(value)
    elif type(value) in (list, tuple, set, dict, Size) and len(value) <= MOST_ITEMS:
        return _collection_text(value)
    else:
        return None
    return text if 0 < len(text) <= SHORT and "\n" not in text else None


def _tensor_text(value: Tensor) -> str:
    """Its elements, where they are few and short; else its type and shape."""
    text = repr(value.detach()) if value.numel() <= 8 else ""
    if text and len(text) <= SHORT and "\n" not in text:
        return text
    return f"{type_name(value)} {list(value.shape)}"


def _array_text(array: Any) -> str:
    """What NumPy prints of a small array or a number; else its shape."""
    dtype = getattr(array, "dtype", None)
    if dtype is None:  # it is an element type
        return repr(array)
    if dtype.kind == "U":  # strings of any length
        return ""
    text = repr(array) if array.size <= 8 else ""
    shown = 0 < len(text) <= SHORT and "\n" not in text
    return text if shown else f"array {list(array.shape)}"


def _collection_text(value: Any) -> str | None:
    """A collection whose items have a short text each; one inside of another has none."""
    items: list[str | None]
    if type(value) is dict:
        if any(map(_is_collection, value.values())):
            return None
        items = [f"{short(key)}: {short(item)}" for key, item in value.items()]
    else:
        items = [None if _is_collection(item) else short(item) for item in value]
    if None in items:
        return None
    text = ", ".join(map(str, items))
    if type(value) is tuple:
        text = f"({text},)" if len(items) == 1 else f"({text})"
    elif type(value) is Size:
        text = f"torch.Size([{text}])"
    elif type(value) is list:
        text = f"[{text}]"
    else:
        text = f"{{{text}}}" if items or type(value) is dict else "set()"
    return text if len(text) <= 2 * SHORT else None


def _is_collection(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, dict))
