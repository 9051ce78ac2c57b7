"""Numerics: SciPy's special functions, loaded by the first kernel that asks for them.

They are computed in double and rounded once. PyTorch's float64 kernels are the same Cephes code as
SciPy's; its float32 kernels have coefficients of their own, which nothing else comes nearer to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def special(xp: Any) -> Any:
    """The special functions for the arrays of a library."""
    if xp.__name__ == "cupy":
        return xp.special
    import scipy.special

    return scipy.special


def in_double(name: str) -> Callable[..., Any]:
    """The forward of a row that is one function of SciPy's."""

    def forward(xp: Any, *arrays: Any) -> Any:
        wide = getattr(special(xp), name)(*(array.astype("float64") for array in arrays))
        return wide.astype(arrays[0].dtype)

    return forward
