"""arrays: Python's operators, indexing and iteration on arrays and numbers; attached to both."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ..engine.schema.mode import state
from ..engine.schema.numpy_wrappers import WITH_NUMPY, Wrapped
from ..engine.tensors.tensor import Tensor
from .algebra_costs import multiplied
from .costs import elementwise
from .extents import count, spread, width
from .functions import tensor_of
from .limits import computed
from .payment import pay
from .values import NUMBERS, Array, Number, host, wrap

FEW = 256  # elements that cost no more than the call
LARGEST = 1024  # bits of an integer beside an array: more than a float's largest
OPERANDS = NUMBERS | {list, tuple, range, str}
ARITHMETIC = ("add sub mul truediv floordiv mod pow divmod matmul and or xor lshift rshift").split()
COMPARISONS = "eq ne lt le gt ge".split()
NAMED = {"divmod": divmod, "and": operator.and_, "or": operator.or_}
REPEATS = (list, tuple, str)


def operand(value: Any) -> Any:
    """The other operand as NumPy takes it, or NotImplemented."""
    if isinstance(value, Wrapped):
        return value.array
    if type(value) is int and value.bit_length() <= LARGEST:
        return value
    if type(value) in OPERANDS:
        return host(value)
    return NotImplemented


def _charge(name: str, a: Any, b: Any) -> None:
    """What an operation of these costs; of two numbers, and of few, nothing."""
    if type(b) in NUMBERS or isinstance(b, numpy.generic):
        if isinstance(a, numpy.generic) or (a.__class__ is numpy.ndarray and a.size <= FEW):
            return
    (multiplied if name == "matmul" else elementwise)({"x1": a, "x2": b})


def _binary(name: str) -> None:
    compute = NAMED.get(name) or getattr(operator, name)

    def forward(self: Any, other: Any) -> Any:
        if name == "mul" and type(other) in REPEATS and type(self) is not Array:
            return _repeated(self, other)
        if type(other) in WITH_NUMPY:
            return compute(self.array, other)
        right = operand(other)
        if right is NotImplemented:
            if name == "add" and isinstance(other, Tensor) and type(self) is Array:
                raise TypeError(CONCATENATION)
            return NotImplemented
        _charge(name, self.array, right)
        return wrap(computed(compute, self.array, right))

    def backward(self: Any, other: Any) -> Any:
        if type(other) in WITH_NUMPY:
            return compute(other, self.array)
        if isinstance(other, Tensor):
            return _of_tensor(compute, name, other, self)
        if name == "mul" and type(other) in REPEATS and type(self) is not Array:
            return _repeated(self, other)
        left = operand(other)
        if left is NotImplemented or (type(other) is str and type(self) is not Array):
            return NotImplemented
        _charge(name, left, self.array)
        return wrap(computed(compute, _widened(left), self.array))

    for kind in (Array, Number):
        setattr(kind, f"__{name}__", forward)
        setattr(kind, f"__r{name}__", backward)
    if name != "divmod":
        setattr(Array, f"__i{name}__", _augmented(name))


def _widened(value: Any) -> Any:
    """A list on the left would do what lists do."""
    return numpy.asarray(value) if isinstance(value, REPEATS) else value


def _repeated(number: Any, sequence: Any) -> Any:
    """[1, 2] * np.int64(3): the sequence so many times."""
    times = number.array
    if not isinstance(times, numpy.integer):
        if isinstance(sequence, str):
            return NotImplemented
        raise TypeError(f"can't multiply sequence by non-int of type '{type(number).__name__}'")
    items = len(sequence) * max(int(times), 0)
    state.reserve(8 * items)
    state.charge(items >> 7)
    return sequence * int(times)


def _of_tensor(compute: Callable[..., Any], name: str, tensor: Any, array: Any) -> Any:
    """tensor + array: NumPy computes, and a tensor comes back."""
    if type(array) is not Array:
        return NotImplemented
    left = tensor.numpy()
    _charge(name, left, array.array)
    return tensor_of(computed(compute, left, array.array))


def _augmented(name: str) -> Callable[[Any, Any], Any]:
    compute = getattr(operator, f"i{name}")

    def run(self: Any, other: Any) -> Any:
        right = operand(other)
        if right is NotImplemented:
            if name == "add" and isinstance(other, Tensor):
                raise TypeError(CONCATENATION)
            return NotImplemented
        _charge(name, self.array, right)
        computed(compute, self.array, right)
        return self

    return run


CONCATENATION = (
    "Concatenation operation is not implemented for NumPy arrays, use np.concatenate() instead. "
    "Please do not rely on this error; it may not be given on all Python implementations."
)


def _comparison(name: str) -> None:
    compute = getattr(operator, name)

    def compare(self: Any, other: Any) -> Any:
        if type(other) in WITH_NUMPY:
            return compute(self.array, other)
        if isinstance(other, Tensor):
            if name not in ("eq", "ne") or type(self) is not Array:
                return NotImplemented
            left = other.numpy()
            _charge(name, left, self.array)
            return tensor_of(compute(left, self.array))
        right = operand(other)
        if right is NotImplemented:
            if name not in ("eq", "ne") or (other is not None and type(self) is not Array):
                return NotImplemented
            pay(count(self.array), count(self.array))
            return wrap(numpy.full(self.array.shape, name == "ne")[()])
        _charge(name, self.array, right)
        return wrap(computed(compute, self.array, right))

    for kind in (Array, Number):
        setattr(kind, f"__{name}__", compare)


def _unary(name: str) -> None:
    compute = getattr(operator, name)

    def run(self: Any) -> Any:
        pay(count(self.array), count(self.array) * width(self.array))
        return wrap(computed(compute, self.array))

    for kind in (Array, Number):
        setattr(kind, f"__{name}__", run)


def _converting(name: str, convert: Callable[[Any], Any]) -> None:
    for kind in (Array, Number):
        setattr(kind, f"__{name}__", lambda self: convert(self.array))


# ---------------------------------------------------------------- indexing


NO_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


def index_of(index: Any) -> Any:
    """An index as NumPy takes it."""
    if type(index) is tuple:
        return tuple([index_of(list(part) if type(part) is tuple else part) for part in index])
    kind = type(index)
    if kind is slice:
        return slice(*[_bound(part) for part in (index.start, index.stop, index.step)])
    if kind is list:
        found = numpy.asarray(host(index))
        if found.size and found.dtype.kind not in "biu":
            raise IndexError(NO_INDEX)
        return found if found.size else found.astype(int)
    if kind is int or kind is bool or index is None or index is ...:
        return host(index)
    if isinstance(index, Wrapped | Tensor | range):
        return host(index)
    if kind is str or kind is float:
        raise IndexError(NO_INDEX)
    return host(index)


def _bound(value: Any) -> Any:
    if isinstance(value, Tensor):
        return int(value)
    return host(getattr(value, "value", value)) if value is not None else None


def selected(array: Any, index: Any) -> int:
    """How many elements an index picks, at most; 0 for a view."""
    parts = index if type(index) is tuple else (index,)
    copies = [part for part in parts if isinstance(part, numpy.ndarray | bool | numpy.bool)]
    if not copies:
        return 0
    picks = [part for part in copies if isinstance(part, numpy.ndarray) and part.ndim]
    if not picks:
        return int(array.size)
    used = sum(part.ndim if part.dtype.kind == "b" else 1 for part in picks)
    picked = spread([
        numpy.empty(0).reshape(0) if not part.size
        else numpy.broadcast_to(part.flat[0], (int(numpy.count_nonzero(part)),))
        if part.dtype.kind == "b" else part
        for part in picks
    ])  # fmt: skip
    rest = sorted(array.shape)[used:]  # the longest that may remain
    return picked * math.prod(rest)


def get_item(self: Any, index: Any) -> Any:
    if type(index) is int:
        return wrap(self.array[index])
    place = index_of(index)
    many = selected(self.array, place)
    pay(4 * many, many * width(self.array))
    return wrap(self.array[place])


def number_of(tensor: Any, kind: str) -> Any:
    """A tensor as one element: NumPy asks it for a number, with its graph or without."""
    return {"f": float, "c": complex, "b": bool}.get(kind, int)(tensor)


def set_item(self: Any, index: Any, new: Any) -> None:
    if type(index) is int and type(new) is float and self.array.ndim == 1:
        self.array[index] = new
        return
    place = index_of(index)
    one = type(place) is int and self.array.ndim == 1 and isinstance(new, Tensor)
    value = number_of(new, self.array.dtype.kind) if one else host(new)
    many = selected(self.array, place)
    if not many:
        target = self.array[place]  # a view, or one element
        many = target.size
    pay(4 * many, many * width(self.array) if isinstance(value, numpy.ndarray) else 0)
    self.array[place] = value


def _iterate(self: Any) -> Iterator[Any]:
    if not self.array.ndim:
        kind = "object" if isinstance(self, Number) else "0-d array"
        if kind == "object":
            raise TypeError(f"'{type(self).__name__}' object is not iterable")
        raise TypeError("iteration over a 0-d array")
    return map(wrap, self.array)


def _contains(self: Any, item: Any) -> bool:
    value = operand(item)
    if value is NotImplemented:
        return False
    _charge("eq", self.array, value)
    return bool((self.array == value).any())


def _length(self: Any) -> int:
    return len(self.array)


# ---------------------------------------------------------------- numbers and copies


def _round(self: Any, digits: Any = None) -> Any:
    return wrap(round(self.array) if digits is None else round(self.array, host(digits)))


def _copy(self: Any, memo: Any = None) -> Any:
    pay(count(self.array), count(self.array) * width(self.array))
    return wrap(self.array.copy())


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """For NumPy, where the engine hands a value on."""
    return numpy.asarray(self.array, dtype=dtype)


def _format(self: Any, spec: str) -> str:
    if isinstance(self, Array) and spec and self.array.ndim:
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
    return format(self.array[()] if spec else self.array, spec)


def attach() -> None:
    """Python's protocols on both classes."""
    for name in ARITHMETIC:
        _binary(name)
    for name in COMPARISONS:
        _comparison(name)
    for name in ("neg", "pos", "abs", "invert"):
        _unary(name)
    for name, convert in (("bool", bool), ("float", float), ("int", int), ("complex", complex)):
        _converting(name, convert)
    for name, body in (
        ("getitem", get_item), ("iter", _iterate), ("len", _length),
        ("contains", _contains), ("copy", _copy), ("deepcopy", _copy), ("format", _format),
        ("array", _array),
    ):  # fmt: skip
        setattr(Array, f"__{name}__", body)
    setattr(Array, "__setitem__", set_item)  # noqa: B010
    Array.__hash__ = None  # type: ignore[assignment]
    for name, body in (
        ("round", _round), ("copy", lambda self: self), ("deepcopy", lambda self, memo: self),
        ("format", _format), ("array", _array), ("hash", lambda self: hash(self.array)),
    ):  # fmt: skip
        setattr(Number, f"__{name}__", body)
