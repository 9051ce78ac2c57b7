"""Engine: the array library of a GPU: CuPy, and NumPy on the host for what CuPy lacks.

Declarations are written for NumPy's vocabulary. CuPy has most of it; this is the one place that
knows what it has not, so that declarations need not ask. What is found missing when a declaration
first asks for it is computed on the host and moved back. The CPU never comes here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from types import ModuleType
from typing import Any

import numpy

# CuPy has these, and they are computed on the host all the same.
ON_HOST = frozenset({
    "linalg",  # silent where a matrix is singular or not definite, which PyTorch reports as errors
    "unique",  # along an axis it compares rows one by one, in Python
})  # fmt: skip
# CuPy takes arrays only where NumPy takes numbers, and a list of counts where NumPy takes an array.
ADAPTED: dict[str, Callable[..., Any]] = {
    "broadcast_to": lambda xp, array, shape: xp.broadcast_to(xp.asarray(array), shape),
    "isin": lambda xp, elements, among, **options: xp.isin(
        xp.asarray(elements), xp.asarray(among), **options
    ),
    "repeat": lambda xp, array, counts, axis=None: xp.repeat(
        array, counts.tolist() if hasattr(counts, "tolist") else counts, axis
    ),
}
# The element types that a GPU adds to without a lock.
ATOMIC = frozenset({"int32", "uint32", "uint64", "float16", "float32", "float64"})


class Library:
    """An array library that has every name of NumPy's, found once each."""

    def __init__(self, device: Any, host: Any, arrays: Any, path: str = "") -> None:
        self._device, self._host, self._arrays, self._path = device, host, arrays, path
        self.__name__: str = arrays.__name__

    def __getattr__(self, name: str) -> Any:
        path, host = self._path + name, getattr(self._host, name, None)
        device = None if path in ON_HOST else getattr(self._device, name, None)
        if host is None and device is None:
            raise AttributeError(f"neither {self.__name__} nor numpy has {path}")
        if isinstance(host, ModuleType):
            found: Any = Library(device, host, self._arrays, path + ".")
        elif isinstance(host, numpy.ufunc):
            found = Elementwise(device, host, self._arrays)
        elif path in ADAPTED:
            found = partial(ADAPTED[path], self._arrays)
        elif device is None and callable(host) and not isinstance(host, type):
            found = on_host(host, self._arrays)
        else:
            found = host if device is None else device
        setattr(self, name, found)
        return found

    def argsort(self, array: Any, axis: int = -1, kind: str | None = None) -> Any:
        """CuPy sorts floats by their bits; there a NaN with a sign is the smallest."""
        if array.dtype.kind == "f":
            array = self._arrays.where(array != array, self._arrays.nan, array)
        return self._arrays.argsort(array, axis, kind)

    @cached_property
    def special(self) -> Library:
        """SciPy's special functions, of which CuPy has most."""
        import scipy.special
        from cupyx.scipy import special

        return Library(special, scipy.special, self._arrays)


class Elementwise:
    """A ufunc: CuPy's, for the element types and with the methods that CuPy has it for."""

    def __init__(self, device: Any, host: Any, arrays: Any) -> None:
        self.__name__: str = host.__name__
        self._arrays, self._moved = arrays, on_host(host, arrays)
        self._device: Any = self._moved if device is None else device
        types = getattr(device, "types", None)
        # CuPy's has no loop for complex numbers where NumPy's has one.
        self._real_only = types is not None and not _complex(types) and _complex(host.types)
        self.accumulate = self._method("accumulate", host)
        self.reduce = self._method("reduce", host)
        self.outer = self._method("outer", host)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self._real_only and any(_kind(a) == "c" for a in arguments):
            return self._moved(*arguments, **options)
        return self._device(*arguments, **options)

    def _method(self, name: str, host: Any) -> Callable[..., Any]:
        method = getattr(self._device, name, None)
        moved = on_host(getattr(host, name), self._arrays)

        def call(*arguments: Any, **options: Any) -> Any:
            if method is None:
                return moved(*arguments, **options)
            try:
                return method(*arguments, **options)
            except NotImplementedError:  # CuPy has the methods of all, and the bodies of a few
                return moved(*arguments, **options)

        return call

    def at(self, array: Any, places: Any, values: Any) -> None:
        """Adds to an array in place; a place that is named twice counts twice."""
        if self.__name__ == "add" and array.dtype.name in ATOMIC:
            self._device.at(array, places, values)
            return
        changed = array.get()
        getattr(numpy, self.__name__).at(changed, _here(places), _here(values))
        array[...] = self._arrays.asarray(changed)


def on_host(function: Callable[..., Any], arrays: Any) -> Callable[..., Any]:
    """The function of NumPy's for arrays on the device: they come here, its results go there."""

    def moved(*arguments: Any, **options: Any) -> Any:
        here = [_here(value) for value in arguments]
        result = function(*here, **{name: _here(value) for name, value in options.items()})
        return _there(result, arrays)

    moved.__name__ = function.__name__
    return moved


def _here(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)([_here(item) for item in value])
    return value.get() if hasattr(value, "get") and hasattr(value, "dtype") else value


def _there(value: Any, arrays: Any) -> Any:
    if isinstance(value, tuple | list):  # results with names come as plain tuples
        return tuple([_there(item, arrays) for item in value])
    return arrays.asarray(value) if isinstance(value, numpy.ndarray | numpy.generic) else value


def _kind(value: Any) -> str:
    if value.__class__ is complex:
        return "c"
    return getattr(getattr(value, "dtype", None), "kind", "")


def _complex(types: Any) -> bool:
    return any("F" in loop or "D" in loop for loop in types)
