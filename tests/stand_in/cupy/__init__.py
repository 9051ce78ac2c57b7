"""Stand-in for CuPy: the names that the real one has, over NumPy, without a GPU.

It is stricter than NumPy wherever CuPy is: names that CuPy lacks are not there, arguments that it
does not take raise TypeError, NumPy's arrays are refused, results of no dimension stay arrays,
indices out of bounds wrap, repeated indices are written in another order. So what runs here may
still fail on a GPU, but what fails here surely would. `names.json` comes from the real CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy

from . import cuda as cuda, fft as fft, lib as lib, linalg as linalg
from ._array import ndarray as ndarray, refuse_host, wrapped
from ._functions import functions_of
from ._record import RECORD
from ._ufunc import ufunc as ufunc

__version__ = RECORD["version"]

globals().update(functions_of("cupy", numpy))

# What CuPy hands on from NumPy as it is.
for _name in (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128 dtype generic ndindex finfo iinfo result_type promote_types can_cast pi inf nan e "
    "newaxis integer floating number"
).split():
    globals()[_name] = getattr(numpy, _name)


def array(
    obj: Any, dtype: Any = None, copy: Any = True, order: str = "K", subok: bool = False,
    ndmin: int = 0, *, blocking: bool = False,
) -> ndarray:  # fmt: skip
    """Anything as an array on the device: numbers, nested lists, arrays of either library."""
    host = numpy.array(_host(obj), dtype=dtype, order=order, ndmin=ndmin)
    if isinstance(obj, ndarray) and not copy and host.dtype == obj.dtype and host.ndim == obj.ndim:
        return obj
    return wrapped(host)


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> ndarray:
    return array(a, dtype, copy=bool(copy), order=order or "K")


asanyarray = asarray


def ascontiguousarray(a: ndarray, dtype: Any = None) -> ndarray:
    refuse_host(a)
    if not isinstance(a, ndarray):
        raise TypeError(f"Argument 'a' has incorrect type (expected ndarray, got {type(a)})")
    return wrapped(numpy.ascontiguousarray(a._held, dtype).reshape(a.shape))


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None) -> Any:
    return a.get() if isinstance(a, ndarray) else numpy.asarray(a, order=order)


def get_array_module(*args: Any) -> Any:
    import cupy

    return cupy if any(isinstance(a, ndarray) for a in args) else numpy


def is_available() -> bool:
    return cuda.is_available()


class _Pool:
    """Memory, which nobody counts here."""

    def used_bytes(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        return None


def get_default_memory_pool() -> _Pool:
    return _Pool()


def _host(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value._held
    return [_host(item) for item in value] if isinstance(value, list | tuple) else value


from ._array import _install_operators  # noqa: E402

_install_operators()
