"""Stand-in for CuPy: functions of arrays, with the parameters that CuPy's have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ._array import ndarray, unwrapped, wrapped
from ._record import RECORD, signature_of
from ._ufunc import ufunc

# Functions whose first argument need not be an array on the device.
FREE = frozenset(
    "arange linspace logspace zeros ones empty full eye identity tri indices meshgrid stack "
    "concatenate vstack hstack dstack column_stack array asarray asanyarray broadcast_shapes "
    "ndindex result_type can_cast promote_types finfo iinfo triu_indices tril_indices "
    "diag_indices block einsum min_scalar_type common_type isscalar shape ndim size fftfreq "
    "rfftfreq hanning hamming blackman bartlett kaiser lexsort".split()
)


def functions_of(module: str, source: Any) -> dict[str, Any]:
    """The functions and ufuncs that CuPy's module has and NumPy can compute."""
    record = RECORD[module]
    made: dict[str, Any] = {}
    for name, types in record["ufuncs"].items():
        if (body := getattr(source, name, None)) is not None:
            made[name] = ufunc(name, types, body)
    for name, text in record["functions"].items():
        if (body := getattr(source, name, None)) is not None:
            made[name] = function(name, text, body)
    return made


def function(name: str, text: str, body: Callable[..., Any]) -> Callable[..., Any]:
    signature = signature_of(text)
    different = DIFFERENT.get(name)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        if name not in FREE:
            first = next(iter(bound.arguments.values()), None)
            if not isinstance(first[0] if type(first) is tuple else first, ndarray):
                raise TypeError(f"Unsupported type {type(first)} for cupy.{name}")
        if name in ("stack", "concatenate", "vstack", "hstack"):
            if not all(isinstance(item, ndarray) for item in args[0]):
                raise TypeError("Only cupy arrays can be concatenated")
        host_args, host_kwargs = _unwrapped(args, kwargs)
        with numpy.errstate(all="ignore"):
            if different is not None:
                return wrapped(different(*host_args, **host_kwargs))
            result = body(*host_args, **host_kwargs)
        return wrapped(numpy.asarray(result) if isinstance(result, bool) else result)

    call.__name__ = name
    return call


def _unwrapped(args: Any, kwargs: Any) -> tuple[Any, Any]:
    return tuple(map(unwrapped, args)), {n: unwrapped(v) for n, v in kwargs.items()}


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    return numpy.nonzero(condition) if x is None else numpy.where(condition, x, y)


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    return numpy.take(a, indices, axis, mode="wrap")


def _take_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    size = a.size if axis is None else a.shape[axis]
    return numpy.take_along_axis(a, indices % size if size else indices, axis)


def _bincount(x: Any, weights: Any = None, minlength: Any = None) -> Any:
    return numpy.bincount(x, weights, minlength or 0)


def _lexsort(keys: Any) -> Any:
    if not isinstance(keys, numpy.ndarray):
        raise TypeError("CuPy's lexsort takes an array of keys")
    return numpy.lexsort(keys)


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, numpy.ndarray):
        raise ValueError("cupy.ndaray cannot be specified as `repeats` argument.")
    return numpy.repeat(a, repeats, axis)


def _sorted(name: str) -> Callable[..., Any]:
    def body(a: Any, axis: Any = -1, kind: Any = None) -> Any:
        if a.ndim == 0:
            raise numpy.exceptions.AxisError(
                "Sorting arrays with the rank of zero is not supported"
            )
        if kind not in (None, "stable"):
            raise ValueError("kind can only be None or 'stable'")
        if a.dtype.kind == "f":  # a GPU sorts bits: a NaN with a sign comes first
            a = numpy.where(numpy.isnan(a) & numpy.signbit(a), -numpy.inf, a)
        return getattr(numpy, name)(a, axis, "stable")

    return body


DIFFERENT: dict[str, Callable[..., Any]] = {
    "where": _where, "take": _take, "take_along_axis": _take_along_axis, "bincount": _bincount,
    "lexsort": _lexsort, "repeat": _repeat, "sort": _sorted("sort"), "argsort": _sorted("argsort"),
}  # fmt: skip
