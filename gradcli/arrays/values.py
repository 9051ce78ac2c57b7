"""arrays: the values that programs get from numpy: an array, a number, an element type.

Each wraps NumPy's own object, which nothing of a program ever holds. `host` gives NumPy what the
program gave; `wrap` turns what NumPy returns into values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ..engine.schema.dtypes import DType
from ..engine.schema.errors import declared, type_name
from ..engine.schema.mode import state
from ..engine.schema.numpy_wrappers import WITH_NUMPY, Wrapped, WrappedNumber
from ..engine.tensors.tensor import Tensor

HELD = "biufcU"  # the kinds of elements that arrays have; objects, bytes and dates are none
LONGEST = 1 << 20  # characters of a text in an array
NUMBERS = frozenset({bool, int, float, complex})
PLAIN = NUMBERS | {str, type(None), type(...)}
LEAF_BYTES = 40  # what a number takes on its way from nested lists into an array
DEEPEST = 64  # NumPy's own limit of dimensions
WIDE = 1 << 64
LETTERS = 40  # more than the name of a type of elements has


class Array(Wrapped):
    """numpy.ndarray; its operators and methods are attached by `operators` and `methods`."""

    __slots__ = ()
    _torch_name = "numpy.ndarray"
    PUBLIC: tuple[str, ...] = ()


class ArrayType(Wrapped):
    """numpy.dtype: the type of an array's elements."""

    __slots__ = ()
    _torch_name = "numpy.dtype"
    PUBLIC = ("name", "kind", "char", "str", "itemsize", "type", "num", "byteorder")

    def __new__(cls, dtype: Any) -> Any:
        return wrap(element_type(dtype))

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self.array == element_type(other))
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.array)

    def __repr__(self) -> str:
        return repr(self.array)

    def __str__(self) -> str:
        return str(self.array)

    name = property(lambda self: self.array.name)
    kind = property(lambda self: self.array.kind)
    char = property(lambda self: self.array.char)
    str = property(lambda self: self.array.str)
    num = property(lambda self: self.array.num)
    byteorder = property(lambda self: self.array.byteorder)
    itemsize = property(lambda self: self.array.itemsize)
    type = property(lambda self: wrap(self.array.type))


class Number(WrappedNumber):
    """numpy.generic, below which there is a class for each of NumPy's types of numbers."""

    __slots__ = ()
    _torch_name = "numpy.generic"
    PUBLIC: tuple[str, ...] = ()
    of: type = numpy.generic

    def __new__(cls, value: Any = 0) -> Any:
        if issubclass(cls.of, numpy.generic) and cls.of in CONCRETE:
            return wrap(cls.of(host(value)))
        raise TypeError(f"cannot create 'numpy.{cls.of.__name__}' instances")


Array.__name__ = Array.__qualname__ = "numpy.ndarray"
ArrayType.__name__ = ArrayType.__qualname__ = "numpy.dtype"
Number.__name__ = Number.__qualname__ = "numpy.generic"
CONCRETE = frozenset(
    kind for kind in numpy.sctypeDict.values() if numpy.dtype(kind).kind in HELD[:5]
)


_CLASSES: dict[type, type] = {numpy.generic: Number, numpy.str_: str}


def number_class(kind: type) -> type:
    """Our class for one of NumPy's, beneath our classes for those above it."""
    made = _CLASSES.get(kind)
    if made is None:
        made = _CLASSES[kind] = _number_class(kind)
    return made


def _number_class(kind: type) -> type:
    bases = tuple(number_class(base) for base in kind.__bases__ if issubclass(base, numpy.generic))
    name = f"numpy.{kind.__name__}"
    body: dict[str, Any] = {
        "__slots__": (),
        "of": kind,
        "_torch_name": name,
        "__module__": __name__,
    }
    if issubclass(kind, float | complex):
        body["is_python"] = True
    if issubclass(kind, numpy.integer):
        body["__index__"] = lambda self: self.array.__index__()
    return type(name, bases, body)


# ---------------------------------------------------------------- to NumPy


def host(value: Any) -> Any:
    """What the program gave, as NumPy takes it; the leaves of lists are charged one by one."""
    kind = type(value)
    if kind in PLAIN:
        return value if kind is not int else _small(value)
    if isinstance(value, Wrapped):
        return value.array
    if kind is list or isinstance(value, tuple):
        return _sequence(value, 0)
    if isinstance(value, Tensor) or kind in WITH_NUMPY:
        return value.numpy()
    if kind is range:
        state.reserve(8 * len(value))
        return numpy.arange(value.start, value.stop, value.step)
    return _class(value)


def _small(value: int) -> int:
    if -WIDE < value < WIDE:
        return value
    raise OverflowError("Python integer too large to convert to C long")


def _sequence(value: Any, depth: int) -> Any:
    """Nested lists of numbers, texts, arrays and tensors; tuples stay tuples."""
    if depth >= DEEPEST:
        raise ValueError("setting an array element with a sequence: maximum depth exceeded")
    state.reserve(LEAF_BYTES * len(value))
    state.charge(len(value) >> 3)
    items = [
        item if type(item) is float or type(item) is str
        else _sequence(item, depth + 1) if type(item) in (list, tuple)
        else host(item)
        for item in value
    ]  # fmt: skip
    return items if type(value) is list else tuple(items)


def _class(value: Any) -> Any:
    """A type: float, np.float32; everything else would become an array of objects."""
    kind = value if isinstance(value, type) else declared(value, "host")
    if kind in (bool, int, float, complex, str):
        return kind
    if isinstance(kind, type) and issubclass(kind, Number):
        return kind.of
    if isinstance(value, slice):
        return slice(*[host(part) for part in (value.start, value.stop, value.step)])
    raise TypeError(f"numpy arrays hold numbers here, not objects such as '{type_name(value)}'")


def element_type(value: Any) -> numpy.dtype[Any]:
    """A dtype as a program names it; objects, records and dates are none."""
    if isinstance(value, DType):
        raise TypeError(f"Cannot interpret '{value!r}' as a data type")
    found = value if isinstance(value, str) else host(value)
    if isinstance(found, list | tuple) or (isinstance(found, str) and "," in found[:LETTERS]):
        raise TypeError("arrays of records are not part of the language")
    if isinstance(found, str) and len(found) > LETTERS:
        raise TypeError(f"data type {found[:LETTERS]!r}... not understood")
    dtype = numpy.dtype(found)
    check_type(dtype)
    return dtype


def check_type(dtype: numpy.dtype[Any]) -> None:
    """Elements are numbers, truth values or short texts."""
    if dtype.kind not in HELD:
        raise TypeError(f"arrays of the type {dtype.name!r} are not part of the language")
    if dtype.itemsize > LONGEST:
        raise ValueError(f"texts in an array have at most {LONGEST >> 2} characters here")


# ---------------------------------------------------------------- from NumPy


class LinAlgError(ValueError):
    """numpy.linalg.LinAlgError"""

    _torch_name = "numpy.linalg.LinAlgError"


class AxisError(ValueError, IndexError):
    """numpy.exceptions.AxisError"""

    _torch_name = "numpy.exceptions.AxisError"


class EigResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    Q: Any
    R: Any


class SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


NAMED = {
    kind.__name__: kind for kind in (EigResult, EighResult, QRResult, SVDResult, SlogdetResult)
}


def wrap(value: Any) -> Any:
    """A result of NumPy's as a value."""
    kind = type(value)
    if kind is numpy.ndarray:
        check_type(value.dtype)
        return holding(Array, value)
    if isinstance(value, numpy.generic):
        check_type(value.dtype)
        return str(value) if kind is numpy.str_ else holding(number_class(kind), value)
    if kind is list:
        return [wrap(item) for item in value]
    if isinstance(value, tuple):
        items = [wrap(item) for item in value]
        named = NAMED.get(kind.__name__)
        return tuple(items) if named is None else named(*items)
    if isinstance(value, numpy.dtype):
        return holding(ArrayType, value)
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return number_class(value)
    return value


def holding(kind: type, array: Any) -> Any:
    """An object of one of our classes around one of NumPy's."""
    made: Any = object.__new__(kind)
    made.array = array
    return made
