"""Operators: quantiles, composed of sort, gather and lerp as PyTorch composes them."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite
from ..conventions import native, wrap_dim
from ..geometry import broadcast_sizes
from ..shape.constants import number_as
from ..shape.shape import expand
from .sorting import sort

MODES = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUNDED = {"lower": "floor", "higher": "ceil", "nearest": "round"}


def _checked(self: Any, q: Any, interpolation: str) -> Any:
    """q as a tensor, after PyTorch's questions."""
    if not hasattr(q, "ndim"):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {float(q):g}")
        q = number_as.run(self, q)
    if not self.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if self.dtype.name not in ("float32", "float64"):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if self.dtype is not q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in MODES:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    return q


def _quantile(
    self: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore: bool
) -> Any:
    q = _checked(self, q, interpolation)
    place = None if dim is None else wrap_dim(dim, self.ndim)
    if not bool((q.detach() >= 0).all()) or not bool((q.detach() <= 1).all()):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    ordered = _in_lines(self, place)
    rows = _result_size(self, place, keepdim)
    ordered = ordered.view((*rows, ordered.shape[-1]))
    ranks = _ranks(ordered, q, ignore)
    if interpolation in _ROUNDED:
        ranks = catalogue.methods[_ROUNDED[interpolation]](ranks)
    below = ranks.detach().long()
    values = ordered.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weights = ranks.detach() * 0 + 0.5 if interpolation == "midpoint" else ranks - below
        values.lerp_(ordered.gather(-1, ranks.detach().ceil().long()), weights)
    if q.ndim:
        values.unsqueeze_(0).transpose_(0, -1)
    return values.squeeze_(-1)


def _in_lines(self: Any, dim: int | None) -> Any:
    """Sorted, with what is reduced in the last dimension."""
    if dim is None:
        return sort.run(self.flatten(), -1, False)[0]
    if dim == self.ndim - 1:
        return sort.run(self, -1, False)[0]
    return sort.run(self.unsqueeze(-1).transpose(dim, -1), -1, False)[0]


def _result_size(self: Any, dim: int | None, keepdim: bool) -> tuple[int, ...]:
    """The size of the result for one quantile."""
    if dim is None:
        return (1,) * self.ndim if keepdim else ()
    if keepdim:
        return tuple(1 if d == dim else n for d, n in enumerate(self.shape))
    return tuple(n for d, n in enumerate(self.shape) if d != dim)


def _ranks(ordered: Any, q: Any, ignore: bool) -> Any:
    """Places between 0 and the last one, fractions included; NaN draws them to itself."""
    fixed = ordered.detach()
    there = fixed == fixed
    if ignore:
        ranks = q * (there.sum(-1, True) - 1)
        return ranks.masked_fill(ranks.detach() < 0, 0)
    last = ordered.shape[-1] - 1
    fails = (~there).any(-1, True)
    ranks = q * last
    size = broadcast_sizes(tuple(ranks.shape), tuple(fails.shape))
    if q.ndim and tuple(ranks.shape) != tuple(size):
        ranks = expand.run(ranks, size, False)
    return ranks.masked_fill(fails, last)


for _name, _ignore, _doc, _corner in (
    ("quantile", False, "Quantiles", "torch.quantile(tensor([1., 2., 2., 4.]), {})"),
    ("nanquantile", True, "Quantiles of what is not NaN", ""),
):
    for _overload, _kind, _q in (
        (".scalar", "float q", "0.5"), ("", "Tensor q", "tensor(0.5).detach()"),
    ):  # fmt: skip
        composite(
            f"{_name}{_overload}(Tensor self, {_kind}, int? dim=None, bool keepdim=False, *, "
            "str interpolation='linear') -> Tensor",
            native(
                lambda self, q, dim, keepdim, interpolation, _ignore=_ignore: _quantile(
                    self, q, dim, keepdim, interpolation, _ignore
                )
            ),
            doc=f"{_doc} of all elements, or along a dimension.",
            corners=(_corner.format(_q),) if _corner else (),
            samples=(f"torch.{_name}(x, 0.3)", f"x.{_name}(0.25, 1)",
                     f"torch.{_name}(c, 0.25, dim=1, keepdim=True)",
                     f"torch.{_name}(s, 0.5)",
                     *(f"x.{_name}(0.7, interpolation='{m}')" for m in MODES[1:]))
            if _overload
            else (f"torch.{_name}(x, torch.tensor([0.2, 0.5]), 1)", f"x.{_name}(torch.tensor(0.3))",
                  f"torch.{_name}(x, torch.tensor([0.2, 0.5]), keepdim=True)",
                  f"torch.{_name}(x, p[0] / 2)"),
            errors=(f"torch.{_name}(x, 1.5)", f"torch.{_name}(i, 0.5)",
                    f"torch.{_name}(x, 0.5, dim=3)", f"torch.{_name}(torch.zeros(0), 0.5)",
                    f"torch.{_name}(x, 0.5, interpolation='foo')")
            if _overload
            else (f"torch.{_name}(x, d[0, 0])", f"torch.{_name}(x, z)", f"torch.{_name}(x, q[0])"),
        )  # fmt: skip
