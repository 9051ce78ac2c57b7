"""Numerics: SciPy's special functions, loaded by the first kernel that asks for them.

They are computed in double and rounded once. PyTorch's float64 kernels are the same Cephes code as
SciPy's (the same bits in 55 to 100 of 100 numbers); its float32 kernels have coefficients of their
own, which nothing else comes nearer to. Loading SciPy takes a quarter of a second.

Not SciPy's, since others agree with PyTorch in more of 100 numbers: `erf` and `erfc` (the C
library: 92 and 81, SciPy 71 and 62), `entr` (94 against 82), `logit` (93 against 88),
`polygamma(1)` (PyTorch's own series: 68 against 6), `ndtr` (composed of `erf`: 99 against 70),
polynomials (Legendre's: 50 against 31), `xlogy` (because of `kl_div`). Nor is linear algebra:
SciPy's LU factors are no nearer (55 against 56), and `det` and `inv` would wait for it.
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
