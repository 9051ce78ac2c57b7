"""engine: errors of nested values that make no tensor, in PyTorch's words and order of checks."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence
from typing import Any

import numpy

from ..memory.layout import MOST_NESTED
from ..schema import dtypes
from ..schema.dtypes import DType
from ..schema.errors import type_name
from ..schema.mode import state
from ..schema.numpy_wrappers import Wrapped, unwrapped
from .tensor import Tensor

SEQUENCES = (list, tuple, range, MutableSequence)
PER_LIST = 8  # steps that looking into one takes
LEAF_BYTES = 32  # what a number takes in a list


def refusal(data: Any, dtype: DType | None) -> Exception | None:
    """The first shape, then the types unless one is requested, then what is stored; None: fine."""
    shape: list[int] = []
    data = level = _listed(data)
    while isinstance(level, (*SEQUENCES, str)):
        if isinstance(level, str) and level:
            return ValueError("too many dimensions 'str'")
        shape.append(len(level))
        if len(shape) > MOST_NESTED:
            return ValueError(f"too many dimensions '{type_name(level)}'")
        if not len(level):
            break
        level = _listed(level[0])
    if dtype is None:
        found = inferred(data)
        if isinstance(found, Exception):
            return found
        dtype = found
    if shape and not shape[-1]:
        return None
    return _stored(data, shape, dtype.category in (dtypes.BOOL, dtypes.INTEGER))


def no_such_constructor(given: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    """torch.Tensor and its like take sizes, or one sequence; no requires_grad and no dtype."""
    from ..schema.call_errors import mismatch

    words = [type_name(value) for value in given]
    words += [f"{name}={type_name(value)}" for name, value in named.items()]
    rows = (
        "(*, torch.device device = None)", "(torch.Storage storage)", "(Tensor other)",
        "(tuple of ints size, *, torch.device device = None)",
        "(object data, *, torch.device device = None)",
    )  # fmt: skip
    lines = [f" * {row}\n{mismatch(row, given, named)}" for row in rows]
    return TypeError(
        f"new() received an invalid combination of arguments - got ({', '.join(words)}), "
        "but expected one of:\n" + "".join(lines)
    )


def no_sizes(data: Any, more: tuple[Any, ...]) -> TypeError:
    """torch.Tensor and its like take sizes, or one sequence of values."""
    if not more:
        if isinstance(data, str | bytes):
            return TypeError(f"new(): invalid data type '{type_name(data)}'")
        return TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    if data.__class__ is not int:
        return no_such_constructor((data, *more), {})
    place, wrong = next(item for item in enumerate(more, 2) if item[1].__class__ is not int)
    return TypeError(
        f"new(): argument 'size' failed to unpack the object at pos {place} with error "
        f'"type must be tuple of ints,but got {type_name(wrong)}"'
    )


def no_alias(obj: Any, wanted: DType | None) -> ValueError:
    """torch.asarray(obj, dtype=wanted, copy=False) where the memory can't be the same."""
    if not isinstance(obj, Tensor | Wrapped | numpy.ndarray):
        return ValueError("can't alias arbitrary sequence into a tensor.")
    found = obj.dtype if isinstance(obj, Tensor) else dtypes.OF_ARRAY[unwrapped(obj).dtype.name]
    asked = found if wanted is None else wanted
    return ValueError(f"can't alias tensor with dtype '{found.word}' into dtype '{asked.word}'.")


def _listed(data: Any) -> Any:
    """A sequence as it is, with a list in the place of an array."""
    data = unwrapped(data)
    if not isinstance(data, numpy.ndarray):
        return data
    if not data.ndim:
        raise TypeError("len() of unsized object")
    state.reserve(LEAF_BYTES * data.size)
    return data.tolist()


def inferred(data: Any) -> DType | Exception:
    """The type that all numbers of nested sequences have in common, or why there is none."""
    best: DType | None = None
    for item in _leaves(data):
        if item is CIRCLE:
            return TypeError("new(): self-referential lists are incompatible")
        if isinstance(item, str | bytes):
            return TypeError(f"new(): invalid data type '{type_name(item)}'")
        if isinstance(item, Tensor):
            mine = item.dtype
        elif isinstance(item, (bool, int, float, complex)):
            mine = dtypes.of_number(item)
        elif isinstance(item, numpy.generic) and item.dtype.name in dtypes.OF_ARRAY:
            mine = dtypes.OF_ARRAY[item.dtype.name]
        elif not hasattr(type(item), "dtype") or isinstance(item, DType):
            return RuntimeError(f"Could not infer dtype of {type_name(item)}")
        else:
            continue
        best = mine if best is None else dtypes.promote_types(best, mine)
    return best or dtypes.default_dtype()


CIRCLE = object()


def _leaves(data: Any) -> Iterator[Any]:
    """What is in nested sequences; CIRCLE where one of them is in itself."""
    stack: list[tuple[int, Iterator[Any]]] = [(0, iter((data,)))]
    above: set[int] = set()
    while stack:
        for item in stack[-1][1]:
            item = _listed(item)
            if isinstance(item, SEQUENCES):
                if id(item) in above:
                    yield CIRCLE
                    return
                # Few lists that share others are many on the way through.
                state.charge(PER_LIST + len(item))
                above.add(id(item))
                stack.append((id(item), iter(item)))
                break
            yield item
        else:
            above.discard(stack.pop()[0])


def _stored(data: Any, shape: list[int], integers: bool) -> Exception | None:
    stack: list[Iterator[tuple[Any, int]]] = [iter(((data, 0),))]
    while stack:
        for item, dim in stack[-1]:
            item = _listed(item)
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
            state.charge(PER_LIST + len(item))
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
    if isinstance(item, (bool, int, float, complex)) or hasattr(type(item), "dtype"):
        return None
    if integers:
        return TypeError(f"'{type_name(item)}' object cannot be interpreted as an integer")
    return TypeError(f"must be real number, not {type_name(item)}")
