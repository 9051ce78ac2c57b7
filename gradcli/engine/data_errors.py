"""engine: why nested values are no tensor, in PyTorch's words and in the order of its questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import dtypes
from .dtypes import DType
from .errors import type_name
from .tensor import Tensor

SEQUENCES = (list, tuple, range)


def refusal(data: Any, dtype: DType | None) -> Exception | None:
    """The first shape, then the types unless one is asked for, then what is stored; None: fine."""
    shape: list[int] = []
    level = data
    while isinstance(level, (*SEQUENCES, str)):
        if isinstance(level, str) and level:
            return ValueError("too many dimensions 'str'")
        shape.append(len(level))
        if not len(level):
            break
        level = level[0]
    if dtype is None:
        found = _inferred(data)
        if isinstance(found, Exception):
            return found
        dtype = found
    if shape and not shape[-1]:
        return None
    return _stored(data, shape, dtype.category in (dtypes.BOOL, dtypes.INTEGER))


def no_such_constructor(given: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    """torch.Tensor and its like take no requires_grad and no dtype."""
    words = [type_name(value) for value in given]
    words += [f"{name}={type_name(value)}" for name, value in named.items()]
    reason = f"\n      didn't match because some of the keywords were incorrect: {', '.join(named)}"
    rows = (
        "(*, torch.device device = None)", "(torch.Storage storage)", "(Tensor other)",
        "(tuple of ints size, *, torch.device device = None)",
        "(object data, *, torch.device device = None)",
    )  # fmt: skip
    lines = [f" * {row}{reason if place == 0 else ''}" for place, row in enumerate(rows)]
    return TypeError(
        f"new() received an invalid combination of arguments - got ({', '.join(words)}), "
        "but expected one of:\n" + "\n".join(lines) + "\n"
    )


def _inferred(data: Any) -> DType | Exception:
    best: DType | None = None
    for item in _leaves(data):
        if isinstance(item, str):
            return TypeError("new(): invalid data type 'str'")
        if isinstance(item, Tensor):
            mine = item.dtype
        elif isinstance(item, (bool, int, float, complex)):
            mine = dtypes.of_number(item)
        elif not hasattr(item, "dtype"):
            return RuntimeError(f"Could not infer dtype of {type_name(item)}")
        else:
            continue  # a number of the array library
        best = mine if best is None else dtypes.promote_types(best, mine)
    return best or dtypes.default_dtype()


def _leaves(data: Any) -> Iterator[Any]:
    stack: list[Iterator[Any]] = [iter((data,))]
    while stack:
        for item in stack[-1]:
            if isinstance(item, SEQUENCES):
                stack.append(iter(item))
                break
            yield item
        else:
            stack.pop()


def _stored(data: Any, shape: list[int], integers: bool) -> Exception | None:
    stack: list[Iterator[tuple[Any, int]]] = [iter(((data, 0),))]
    while stack:
        for item, dim in stack[-1]:
            if dim == len(shape):
                refused = _element(item, integers)
                if refused is not None:
                    return refused
                continue
            if isinstance(item, Tensor) and not item._data.ndim:
                return TypeError("len() of a 0-d tensor")
            if not isinstance(item, (*SEQUENCES, str, Tensor)):
                return TypeError("not a sequence")
            if len(item) != shape[dim]:
                return ValueError(
                    f"expected sequence of length {shape[dim]} at dim {dim} (got {len(item)})"
                )
            stack.append(iter([(part, dim + 1) for part in item]))
            break
        else:
            stack.pop()
    return None


def _element(item: Any, integers: bool) -> Exception | None:
    if isinstance(item, Tensor):
        whole = item.dtype.category <= dtypes.INTEGER
        if item._data.size == 1 and (whole or not integers):
            return None
        if integers:
            return TypeError(
                "only integer tensors of a single element can be converted to an index"
            )
        return ValueError("only one element tensors can be converted to Python scalars")
    if isinstance(item, (bool, int, float, complex)) or hasattr(item, "dtype"):
        return None
    if integers:
        return TypeError(f"'{type_name(item)}' object cannot be interpreted as an integer")
    return TypeError(f"must be real number, not {type_name(item)}")
