"""Stand-in for CuPy: functions element by element, for the element types that CuPy has them for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ._array import ndarray, unwrapped, wrapped

WEAK = {bool: 0, int: 1, float: 2, complex: 3}
KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


class ufunc:
    """One function, with the loops that were recorded of the real one."""

    def __init__(self, name: str, types: Sequence[str], body: Callable[..., Any]) -> None:
        self.__name__, self.name, self.types, self._body = name, f"cupy_{name}", list(types), body
        self.loops = [tuple(text.split("->")) for text in types]
        self.taken: dict[tuple[Any, ...], tuple[str, ...]] = {}  # loops of types that were met
        self.nin = len(self.loops[0][0])
        self.nout = len(self.loops[0][1])

    def __call__(
        self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind"
    ) -> Any:
        if not self.nin <= len(args) <= self.nin + self.nout:
            raise TypeError(f"Wrong number of arguments for {self.name!r}.")
        inputs, outs = args[: self.nin], args[self.nin :]
        out = outs[0] if outs else out
        for value in inputs:
            if not isinstance(value, ndarray | numpy.generic | int | float | complex):
                raise TypeError(f"Unsupported type {type(value)}")
        taken, given = self.loop(inputs, dtype)
        arrays = [numpy.asarray(unwrapped(v)).astype(t) for v, t in zip(inputs, taken, strict=True)]
        with numpy.errstate(all="ignore"):
            found = self._body(*arrays)
        results = found if isinstance(found, tuple) else (found,)
        # Results lie row by row, whatever the operands' order in memory is.
        results = tuple(
            numpy.asarray(r).astype(t, order="C") for r, t in zip(results, given, strict=True)
        )
        if out is None:
            return wrapped(results) if self.nout > 1 else wrapped(results[0])
        if not isinstance(out, ndarray):
            raise TypeError("return arrays must be of ArrayType")
        if not numpy.can_cast(results[0].dtype, out.dtype, casting):
            raise TypeError(f"output (typecode '{out.dtype.char}') could not be coerced")
        out._held[...] = results[0]
        return out

    def loop(self, inputs: Sequence[Any], dtype: Any) -> tuple[str, ...]:
        """The first loop that takes these types; numbers of Python are weak."""
        if all(type(value) in WEAK for value in inputs):
            return self._searched(inputs, dtype)  # what they are made to depends on their size
        key = (dtype, *(type(v) if type(v) in WEAK else v.dtype for v in inputs))
        if key not in self.taken:
            self.taken[key] = self._searched(inputs, dtype)
        return self.taken[key]

    def _searched(self, inputs: Sequence[Any], dtype: Any) -> tuple[str, ...]:
        for loop in self.loops:
            if dtype is not None:
                if all(numpy.dtype(t) == numpy.dtype(dtype) for t in loop[1]):
                    return loop
            elif all(self._fits(v, t, inputs) for v, t in zip(inputs, loop[0], strict=True)):
                return loop
        names = ", ".join(str(getattr(v, "dtype", type(v).__name__)) for v in inputs)
        raise TypeError(f"Wrong type (({names})) of arguments for {self.name}")

    def _fits(self, value: Any, type_: str, inputs: Sequence[Any]) -> bool:
        weak = WEAK.get(type(value))
        if weak is None:
            return bool(numpy.can_cast(value.dtype, type_))
        strong = any(type(v) not in WEAK for v in inputs)
        if not strong:
            return bool(numpy.can_cast(numpy.asarray(value).dtype, type_))
        return KINDS[numpy.dtype(type_).kind] >= weak

    # ---- the few of NumPy's methods that CuPy has, each for a few functions

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        total = array.sum if self.__name__ == "add" else array.prod
        return total(axis, dtype, out, keepdims)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return (array.cumsum if self.__name__ == "add" else array.cumprod)(axis, dtype, out)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        if self.__name__ != "add":
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        a.scatter_add(indices, b)

    def outer(self, A: Any, B: Any, **kwargs: Any) -> Any:
        left = A.reshape(A.shape + (1,) * B.ndim)
        return self(left, B.reshape((1,) * A.ndim + B.shape), **kwargs)
