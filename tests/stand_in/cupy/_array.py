"""Stand-in for CuPy: the array. It holds a NumPy array and lets nobody see it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from . import cuda
from ._record import RECORD, signature_of

TYPES = "?bhilqBHILQefdFD"  # the element types that a GPU has
ADDED = "ilILQefd"  # those that a GPU adds to without a lock: scatter_add
ADDED_TYPES = ("int32", "float16", "float32", "float64", "uint32", "uint64")


class ndarray:
    __slots__ = ("__weakref__", "_held", "base", "device")

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Any, dtype: Any = float, order: str = "C") -> None:
        self._held, self.base = numpy.empty(shape, dtype, order), None
        self.device = cuda.Device()

    # ---- what it refuses

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to "
            "construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        import cupy

        if method != "__call__" or not hasattr(cupy, ufunc.__name__):
            return NotImplemented
        return getattr(cupy, ufunc.__name__)(*inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        import cupy

        ours = getattr(cupy, function.__name__, None)
        return NotImplemented if ours is None else ours(*args, **kwargs)

    # ---- what it is

    dtype = property(lambda self: self._held.dtype)
    ndim = property(lambda self: self._held.ndim)
    size = property(lambda self: self._held.size)
    strides = property(lambda self: self._held.strides)
    itemsize = property(lambda self: self._held.itemsize)
    nbytes = property(lambda self: self._held.nbytes)
    T = property(lambda self: wrapped(self._held.T))
    mT = property(lambda self: wrapped(self._held.mT))
    flags = property(lambda self: Flags(self._held))
    data = property(lambda self: Memory(self._held))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._held.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self._held.shape = value

    @property
    def real(self) -> ndarray:
        return wrapped(self._held.real)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> ndarray:
        return wrapped(self._held.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    # ---- its values

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        return self._held.copy(order="K")

    def item(self) -> Any:
        return self._held.item()

    def tolist(self) -> Any:
        return self._held.tolist()

    __bool__ = lambda self: bool(self._held)  # noqa: E731
    __int__ = lambda self: int(self._held)  # noqa: E731
    __float__ = lambda self: float(self._held)  # noqa: E731
    __complex__ = lambda self: complex(self._held)  # noqa: E731
    __len__ = lambda self: len(self._held)  # noqa: E731
    __repr__ = lambda self: repr(self._held)  # noqa: E731
    __str__ = lambda self: str(self._held)  # noqa: E731
    __copy__ = lambda self: self.copy()  # noqa: E731
    __deepcopy__ = lambda self, memo: self.copy()  # noqa: E731
    __dlpack_device__ = lambda self: (2, self.device.id)  # noqa: E731

    def __format__(self, spec: str) -> str:
        return format(self._held.item() if self.ndim == 0 else str(self), spec)

    def __iter__(self) -> Iterator[ndarray]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    # ---- indices

    def __getitem__(self, key: Any) -> ndarray:
        key, advanced = prepared(self._held, key)
        return wrapped(self._held[key], copied=advanced)

    def __setitem__(self, key: Any, value: Any) -> None:
        key, advanced = prepared(self._held, key)
        if not isinstance(value, ndarray):
            if not advanced and not _is_number(value):
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            value = numpy.array(value, dtype=self.dtype)
        else:
            value = value._held.astype(self.dtype)
        if not advanced:
            self._held[key] = value
            return
        places = numpy.arange(self.size).reshape(self.shape)[key]
        value = numpy.broadcast_to(_trimmed(value), places.shape)
        # A GPU writes in no order: the last one of several must not be the one that counts.
        self._held.flat[places.ravel()[::-1]] = value.ravel()[::-1]

    def scatter_add(self, slices: Any, value: Any) -> None:
        key, advanced = prepared(self._held, slices)
        if advanced and self.dtype.name not in ADDED_TYPES:
            raise TypeError(
                "scatter_add only supports int32, float16, float32, float64, uint32, uint64, as "
                "data type"
            )
        refuse_host(value)
        numpy.add.at(self._held, key, value._held if isinstance(value, ndarray) else value)


# The array that owns a piece of memory, by the NumPy array that holds it.
_roots: weakref.WeakValueDictionary[int, ndarray] = weakref.WeakValueDictionary()


class Flags:
    """What CuPy says of an array's memory: three flags."""

    def __init__(self, held: Any) -> None:
        self.c_contiguous = held.flags.c_contiguous
        self.f_contiguous = held.flags.f_contiguous
        self.owndata = held.flags.owndata


class Memory:
    """Where an array begins, and in which piece of memory."""

    def __init__(self, held: Any) -> None:
        self.ptr = held.__array_interface__["data"][0]
        self.mem = held
        while (base := _base_of(self.mem)) is not None:
            self.mem = base


def wrapped(value: Any, copied: bool = False) -> Any:
    """A result of NumPy as CuPy gives it: arrays, of no dimension too."""
    if isinstance(value, tuple | list):
        return (
            type(value)(wrapped(v) for v in value)
            if type(value) in (tuple, list)
            else tuple(wrapped(v) for v in value)
        )
    if not isinstance(value, numpy.ndarray | numpy.generic):
        return value
    held = numpy.array(value) if copied else numpy.asarray(value)
    if held.dtype.char not in TYPES:
        raise ValueError(f"Unsupported dtype {held.dtype}")
    array: ndarray = object.__new__(ndarray)
    array._held, array.device, array.base = held, cuda.Device(), None
    root = held
    while isinstance(root.base, numpy.ndarray):  # as_strided tells no base
        root = root.base
    if root is held:
        _roots[id(root)] = array
    else:
        known = _roots.get(id(root))
        array.base = wrapped(root) if known is None or known._held is not root else known
    return array


def _base_of(held: Any) -> Any:
    """What a view was made of; as_strided puts an object of its own between the two."""
    base = held.base
    if base is not None and not isinstance(base, numpy.ndarray):
        base = getattr(base, "base", None)
    return base if isinstance(base, numpy.ndarray) else None


def unwrapped(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value._held
    if isinstance(value, numpy.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (list, tuple):
        return type(value)(unwrapped(item) for item in value)
    return value


def refuse_host(*values: Any) -> None:
    for value in values:
        unwrapped(value)


def prepared(held: Any, key: Any) -> tuple[Any, bool]:
    """An index as NumPy takes it, arrays of integers wrapped; does it gather?"""
    entries, axis, advanced, rest = [], 0, False, False
    keys = key if isinstance(key, tuple) else (key,)
    arrays = [_index(k) for k in keys]
    taken = sum(0 if k is None or k is Ellipsis else k.ndim if _is_mask(k) else 1 for k in arrays)
    if taken > held.ndim:
        raise IndexError(f"too many indices for array: array is {held.ndim}-dimensional")
    for entry in arrays:
        if isinstance(entry, numpy.ndarray):
            advanced = True
            if entry.dtype.kind not in "biu":
                raise IndexError("arrays used as indices must be of integer or boolean type.")
            if not _is_mask(entry):
                size = held.shape[axis]
                entry = entry % size if size else entry
                axis += 1
            else:
                axis += entry.ndim
        elif entry is Ellipsis:
            rest, axis = True, axis + held.ndim - taken
        elif entry is not None:
            axis += 1
        entries.append(entry)
    if not rest and not advanced:
        entries.append(Ellipsis)  # a view, of no dimension too
    return tuple(entries), advanced


def _index(entry: Any) -> Any:
    if isinstance(entry, ndarray):
        return entry._held
    if isinstance(entry, list | tuple | numpy.ndarray | bool | numpy.bool_):
        array = numpy.array(unwrapped(entry) if isinstance(entry, list | tuple) else entry)
        return array if array.size else array.astype("int32")
    return entry


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, numpy.ndarray) and entry.dtype.kind == "b"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | complex | numpy.generic) or (
        isinstance(value, numpy.ndarray) and value.ndim == 0
    )


def _trimmed(value: Any) -> Any:
    while value.ndim and value.shape[0] == 1:
        value = value[0]
    return value


def _method(name: str, text: str) -> Callable[..., Any]:
    """A method as it was recorded: its parameters, NumPy's work."""
    signature = signature_of(text)
    changed = CHANGED.get(name)

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        if changed is not None:
            changed(self, *args, **kwargs)
        given = {n: v for n, v in bound.arguments.items() if v is not None}
        args = tuple(unwrapped(v) for v in given.pop("shape", given.pop("axes", ())))
        if name == "take":
            given["mode"] = "wrap"
        plain = {n: unwrapped(v) for n, v in given.items()}
        result = getattr(self._held, name)(*args, **_positional(name, plain))
        return wrapped(result) if result is not None else None

    def positional(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        """The same where NumPy's parameters have no names."""
        signature.bind(*args, **kwargs)
        return wrapped(getattr(self._held, name)(*map(unwrapped, args), **kwargs))

    return positional if name in ("fill", "swapaxes", "transpose", "view") else method


def _positional(name: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"v": given["v"], **given} if name == "searchsorted" else given


def _no_scalar(self: ndarray, *args: Any, **kwargs: Any) -> None:
    if self.ndim == 0:
        raise numpy.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")


def _no_array_of_repeats(self: ndarray, repeats: Any, axis: Any = None) -> None:
    if isinstance(repeats, ndarray):
        raise ValueError("cupy.ndaray cannot be specified as `repeats` argument.")


CHANGED: dict[str, Callable[..., None]] = {
    "sort": _no_scalar, "argsort": _no_scalar, "partition": _no_scalar, "argpartition": _no_scalar,
    "repeat": _no_array_of_repeats,
}  # fmt: skip

for _name, _text in RECORD["ndarray"]["methods"].items():
    if not hasattr(ndarray, _name) and hasattr(numpy.ndarray, _name):
        setattr(ndarray, _name, _method(_name, _text))


def _install_operators() -> None:
    """x + y and its like are the ufuncs."""
    import cupy

    names = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
        "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
        "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
        "matmul": "matmul", "lt": "less", "le": "less_equal", "gt": "greater",
        "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    }  # fmt: skip
    compared = {"lt", "le", "gt", "ge", "eq", "ne"}
    for word, name in names.items():
        function = getattr(cupy, name)
        setattr(ndarray, f"__{word}__", lambda x, y, f=function: f(x, y))
        if word not in compared:
            setattr(ndarray, f"__r{word}__", lambda x, y, f=function: f(y, x))
        if word not in compared and word != "matmul":
            setattr(ndarray, f"__i{word}__", lambda x, y, f=function: f(x, y, x))
    for word, name in {
        "neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"
    }.items():  # fmt: skip
        function = getattr(cupy, name)
        setattr(ndarray, f"__{word}__", lambda x, f=function: f(x))
