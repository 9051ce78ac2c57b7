"""Operators: the error function and its complement."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import operator
from ..conventions import real_only
from .exponential import exp

TWO_OVER_SQRT_PI = 1.1283791670955126

erf = operator(
    "erf(Tensor self) -> Tensor",
    node="ErfBackward0",
    inplace="erf_",
    dtype="promote_float",
    where="torch method special",
    refuse=real_only("erf_vml_cpu"),
    forward=lambda xp, self: error_function(xp, self),
    self=lambda grad, self: exp(-(self**2)) * TWO_OVER_SQRT_PI * grad,
    zero="saturates",
    doc="The error function.",
    samples=("torch.erf(x)", "x.erf()"),
)

erfc = operator(
    "erfc(Tensor self) -> Tensor",
    node="ErfcBackward0",
    inplace="erfc_",
    dtype="promote_float",
    where="torch method special",
    refuse=real_only("erfc_vml_cpu"),
    forward=lambda xp, self: error_function(xp, self, complement=True),
    self=lambda grad, self: exp(-(self**2)) * -TWO_OVER_SQRT_PI * grad,
    zero="saturates",
    doc="1 - erf(x), accurate for large x.",
    computes="1 - erf(self)",
    samples=("torch.erfc(x)", "x.erfc()"),
)


def error_function(xp: Any, self: Any, complement: bool = False) -> Any:
    """The C library's, element by element, in double: NumPy has none, and SciPy's is farther from
    PyTorch's float64."""
    from math import erf as erf_of, erfc as erfc_of

    function = erfc_of if complement else erf_of
    if xp.__name__ == "cupy":
        from cupyx.scipy import special

        return (special.erfc if complement else special.erf)(self)
    flat = [function(value) for value in self.astype("float64").reshape(-1).tolist()]
    return xp.asarray(flat, dtype="float64").astype(self.dtype).reshape(self.shape)
