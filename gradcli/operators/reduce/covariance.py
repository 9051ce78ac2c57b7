"""Operators: covariances, correlations, and matrices of powers."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, warn
from ..elementwise.complex_parts import conj
from ..linalg.product import matmul_of
from ..shape.constants import ones_as
from ..shape.diagonals import diagonal
from ..shape.join import cat
from ..shape.select import slice_
from ..shape.shape import expand, view
from ..shape.squeeze import squeeze, unsqueeze
from ..shape.transposed import t
from .sums import sum_all, sum_dims


def _check_weights(name: str, weights: Any, count: int) -> None:
    kind, categories = ("integral", (1,)) if name == "fweights" else ("floating point", (2,))
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.ndim} dimensions"
        )
    if weights.dtype.category not in categories:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with "
            f"{weights.dtype.word} dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {count}"
        )
    if count and bool((weights < 0).any().item()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _covariance(self: Any, correction: int, fweights: Any, aweights: Any) -> Any:
    """Row by row; frequencies count observations, reliabilities weigh them."""
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype.name == "bool":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = view(self, (1, -1)) if self.ndim < 2 else self
    count = rows.shape[1]
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _check_weights(name, given, count)
            weights = given if weights is None else weights * given
    if weights is None:
        total: Any = count
        mean = _divided(sum_dims(rows, (1,), False), count)
    else:
        total = sum_all(weights)
        mean = sum_dims(rows * weights, (1,), False) / total
    if aweights is not None and correction == 0:
        norm = total
    elif weights is None or aweights is None:
        number = isinstance(total, int)
        norm = total - correction if number else catalogue.row("sub.Scalar")(total, correction, 1)
    else:
        norm = total - catalogue.row("mul.Scalar")(sum_all(weights * aweights), correction) / total
    if norm <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations."
        )
        norm = norm * 0
    apart = rows - unsqueeze(mean, 1)
    turned = conj(t(apart if weights is None else apart * weights))
    return squeeze(_divided(matmul_of(apart, turned), norm))


def _divided(self: Any, divisor: Any) -> Any:
    return self / float(divisor) if isinstance(divisor, int) else self / divisor


cov = composite(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    _covariance,
    doc="Covariance matrix of the rows.",
    samples=(
        "torch.cov(x)", "x.cov(correction=0)", "x.cov(correction=0, aweights=w * w)",
        "torch.cov(x, fweights=j + 1)", "torch.cov(x, aweights=v.detach() ** 2)",
    ),
)  # fmt: skip


def _correlation(self: Any) -> Any:
    """Covariances divided by both deviations; the rounding beyond 1 is cut off."""
    if self.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    covariance = _covariance(self, 1, None, None)
    if covariance.ndim == 0:
        return covariance / covariance
    variance = diagonal(covariance, 0, 0, 1)
    deviation = (variance.real if variance.dtype.is_complex else variance).sqrt()
    covariance = covariance / view(deviation, (-1, 1))
    covariance = covariance / view(deviation, (1, -1))
    if not covariance.dtype.is_complex:
        return covariance.clamp(-1, 1)
    parts = covariance.real.clamp(-1, 1), covariance.imag.clamp(-1, 1)
    return catalogue.functions["complex"](*parts)


corrcoef = composite(
    "corrcoef(Tensor self) -> Tensor",
    _correlation,
    doc="Correlation coefficients of the rows.",
    samples=("torch.corrcoef(x)", "x.corrcoef()"),
)


def _vander(x: Any, N: int | None) -> Any:
    """1, x, x^2 ... by a cumulative product."""
    if x.dtype.is_reduced:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{x.dtype.word}"
        )
    x = x if x.ndim else unsqueeze(x, -1)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    shape = (*x.shape, count - 1)
    powers = expand(unsqueeze(x, -1), shape, False).cumprod(-1)
    return cat([ones_as(slice_(powers, -1, 0, 1, 1)), powers], -1)


vander = composite(
    "vander(Tensor x, *, int? N=None) -> Tensor",
    _vander,
    where="linalg",
    doc="The powers of every element, one row for each.",
    samples=("torch.linalg.vander(v)", "torch.linalg.vander(v, N=4)"),
)
