"""Stand-in for CuPy: the special functions that Python's math module has too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from cupy._record import RECORD
from cupy._ufunc import ufunc


def _each(function: Callable[[float], float]) -> Callable[..., Any]:
    def of(value: float) -> float:
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.inf

    return lambda array: numpy.array([of(v) for v in array.ravel().tolist()]).reshape(array.shape)


_TYPES = RECORD["cupyx.scipy.special"]["ufuncs"]
erf = ufunc("erf", _TYPES["erf"], _each(math.erf))
erfc = ufunc("erfc", _TYPES["erfc"], _each(math.erfc))
gammaln = ufunc("gammaln", _TYPES["gammaln"], _each(math.lgamma))
