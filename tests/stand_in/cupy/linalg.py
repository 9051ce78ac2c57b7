"""Stand-in for CuPy: linear algebra, which tells of no failure: a singular matrix gives NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.linalg import LinAlgError as LinAlgError

from ._functions import functions_of


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        if a.dtype.char == "e":
            raise TypeError("float16 is unsupported in linalg")
        try:
            return function(a, *args, **kwargs)
        except LinAlgError as error:
            if "square" in str(error) or "dimensional" in str(error):
                raise
            import cupy

            return cupy.full(a.shape, numpy.nan, a.dtype)

    return call


globals().update({
    name: _silent(function) for name, function in functions_of("cupy.linalg", numpy.linalg).items()
})  # fmt: skip
