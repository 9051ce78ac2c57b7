"""Operators: variance and standard deviation."""

from __future__ import annotations

from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import catalogue, composite, operator, warn
from ...numerics.summation import mean_of
from ..conventions import Late
from ..geometry import elements_along
from .reduce import axes, mean, mean_backward, mean_dim, unreduced

masked_fill = Late("masked_fill.Scalar")

# ---- the numbers


def _deviation(
    xp: Any, self: Any, dim: Any, correction: Any, keepdim: bool, root: bool
) -> tuple[Any, Any]:
    """Variance (or its root) and mean, in double and rounded once, as PyTorch's kernel does."""
    axis = axes(dim, self.ndim)
    real = self.dtype.kind != "c"
    wide = self.astype("float64" if real else "complex128")
    count = elements_along(self.shape, axis)
    centre = wide.sum(axis=axis, keepdims=True) / (count or xp.nan)
    off = wide - centre
    free = max(count - (1 if correction is None else correction), 0)
    squares = off * off if real else off.real**2 + off.imag**2
    value = squares.sum(axis=axis, keepdims=keepdim) / xp.float64(free)
    if root:
        value = xp.sqrt(value)
    if not keepdim:
        centre = centre.reshape([n for place, n in enumerate(self.shape) if place not in axis])
    kind = self.dtype
    return xp.asarray(value).astype(self.real.dtype), xp.asarray(centre).astype(kind)


def _alone(
    xp: Any, self: Any, dim: Any, correction: Any, keepdim: bool, root: bool
) -> Any:  # fmt: skip
    """Variance (or its root) without the mean. Where it is a single number PyTorch measures from
    the mean rounded to the tensor's own type: equal numbers can have a variance."""
    if self.dtype.char not in "fd" or not self.size or self.size != elements_along(
        self.shape, axes(dim, self.ndim)
    ):  # fmt: skip
        return _deviation(xp, self, dim, correction, keepdim, root)[0]
    off = self.astype("float64") - xp.float64(mean_of(xp, self, None, False, None))
    free = max(self.size - (1 if correction is None else correction), 0)
    value = (off * off).sum() / xp.float64(free)
    left = self.ndim if keepdim else self.ndim - len(axes(dim, self.ndim))
    return xp.asarray(xp.sqrt(value) if root else value).astype(self.dtype).reshape((1,) * left)


def _check(name: str, words: str) -> Any:
    def check(self: Any, dim: Any, correction: Any, keepdim: bool) -> None:
        if self.dtype.category < dtypes.FLOATING:
            raise RuntimeError(f"{words} only support floating point and complex dtypes")
        count = elements_along(self.shape, axes(dim, self.ndim))
        if count <= (1 if correction is None else correction):
            _warn(name)

    return check


def _warn(name: str) -> None:
    warn(
        f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
        "reduction factor (input numel divided by output numel)."
    )


# ---- their slopes

degenerate = operator(
    "_degenerate(Tensor self, Tensor centre) -> Tensor",
    where="hidden",
    forward=lambda xp, self, centre: xp.where(self == centre, xp.nan, xp.inf).astype(self.dtype),
    doc="The slope of a variance without a degree of freedom.",
    samples=("torch.autograd.grad(x.var(correction=6), x, create_graph=True)[0]",),
)


def var_backward(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    correction = 1 if correction is None else correction
    if self.ndim == 0 or dim is None:
        free = elements_along(self.shape, range(self.ndim)) - correction
        if free <= 0:
            return grad * degenerate(self, mean(self, None))
        return (2.0 / free) * grad * (self - mean(self, None))
    if not keepdim and self.ndim > 1:
        grad = unreduced(grad, dim, self.ndim)
    free = elements_along(self.shape, axes(dim, self.ndim)) - correction
    factor = 2.0 / free if free else float("inf")
    return factor * grad * (self - mean_dim(self, tuple(dim), True, None))


def std_backward(
    result: Any, grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool
) -> Any:
    of_variance = masked_fill(grad / (result * 2), result == 0, 0)
    return var_backward(of_variance, self, dim, correction, keepdim)


def _with_mean(first: Any, grad: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """The slope of the first output, if asked for, and that of the mean."""
    if grad is None:
        return first
    numel = elements_along(self.shape, range(self.ndim))
    second = mean_backward(grad, tuple(self.shape), dim, numel, keepdim)
    return second if first is None else first + second


# ---- the operators


def _by_flag(unbiased: bool) -> int:
    return 1 if unbiased else 0


# Declared first: a dimension given alone means `unbiased`, which is a correction of 1.
for _name, _face, _words in (
    ("std", "torch method", "Standard deviation"),
    ("var", "torch method", "Variance"),
    ("std_mean", "torch", "Standard deviation and mean"),
    ("var_mean", "torch", "Variance and mean"),
):
    composite(
        f"{_name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
        lambda self, dim, unbiased, keepdim, _name=_name: catalogue.row(f"{_name}.correction").run(
            self, dim, _by_flag(unbiased), keepdim
        ),
        where=_face,
        doc=f"{_words} over some dimensions.",
        computes="",
        samples=(f"torch.{_name}(x, 1)", f"torch.{_name}(c, (0, 1), keepdim=True)",
                 f"torch.{_name}(v, 0, False)", f"torch.{_name}(x, dim=-1, unbiased=False)"),
        errors=(f"torch.{_name}(x, 3)", f"torch.{_name}(i, 1)"),
    )  # fmt: skip


_SCHEMA = "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)"

std = operator(
    f"std.correction{_SCHEMA} -> Tensor",
    node="StdBackward0",
    dtype="real",
    holomorphic=False,
    check=_check("std", "std and var"),
    layout="row-major",
    forward=lambda xp, self, dim, correction, keepdim: _alone(
        xp, self, dim, correction, keepdim, True
    ),
    self=lambda grad, result, self, dim, correction, keepdim: std_backward(
        result, grad, self, dim, correction, keepdim
    ),
    acts="along",
    jacobian="standard deviation",
    doc="Standard deviation, by default with one degree of freedom less than there are elements.",
    computes="sqrt(var(self, dim, correction=correction, keepdim=keepdim))",
    corners=("tensor([2., 2.]).std(correction=1)",),
    samples=("torch.std(x, correction=0)", "torch.complex(x, y).std(0)",
             "x.std(0, correction=0, keepdim=True)",
             "torch.std(c, (0, 2), correction=2)", "x.std(correction=1.5)",
             "torch.std(x, dim=None, correction=1)"),
    errors=("i.std(correction=0)", "x.std(3, correction=1)"),
)  # fmt: skip

var = operator(
    f"var.correction{_SCHEMA} -> Tensor",
    node="VarBackward0",
    dtype="real",
    holomorphic=False,
    check=_check("var", "std and var"),
    layout="row-major",
    forward=lambda xp, self, dim, correction, keepdim: _alone(
        xp, self, dim, correction, keepdim, False
    ),
    self=lambda grad, self, dim, correction, keepdim: var_backward(
        grad, self, dim, correction, keepdim
    ),
    acts="along",
    jacobian="variance",
    doc="Variance, by default with one degree of freedom less than there are elements.",
    computes="",
    corners=("tensor([5.]).var(correction=1)",),
    samples=("torch.var(x, correction=0)", "torch.complex(x, y).var()",
             "x.var(1, correction=0, keepdim=True)",
             "torch.var(c, (0, 2), correction=2)"),
    errors=("k.var(correction=0)", "x.var((0, 0), correction=1)"),
)  # fmt: skip

std_mean = operator(
    f"std_mean.correction{_SCHEMA} -> (Tensor, Tensor)",
    holomorphic=False,
    node="StdMeanBackward0",
    where="torch",
    check=_check("std_mean", "std_mean"),
    layout="row-major",
    forward=lambda xp, self, dim, correction, keepdim: _deviation(
        xp, self, dim, correction, keepdim, True
    ),
    self=lambda grads, self, result0, dim, correction, keepdim: _with_mean(
        None
        if grads[0] is None
        else std_backward(result0, grads[0], self, dim, correction, keepdim),
        grads[1], self, dim, keepdim,
    ),
    acts="along",
    doc="Standard deviation and mean.",
    corners=("torch.std_mean(tensor([2., 2.]), correction=1)",),
    samples=("torch.std_mean(x, correction=0)", "torch.std_mean(x, 1, correction=0)"),
    errors=("torch.std_mean(i, correction=0)",),
)  # fmt: skip

var_mean = operator(
    f"var_mean.correction{_SCHEMA} -> (Tensor, Tensor)",
    holomorphic=False,
    node="VarMeanBackward0",
    where="torch",
    check=_check("var_mean", "var_mean"),
    layout="row-major",
    forward=lambda xp, self, dim, correction, keepdim: _deviation(
        xp, self, dim, correction, keepdim, False
    ),
    self=lambda grads, self, dim, correction, keepdim: _with_mean(
        None if grads[0] is None else var_backward(grads[0], self, dim, correction, keepdim),
        grads[1], self, dim, keepdim,
    ),
    acts="along",
    doc="Variance and mean.",
    samples=("torch.var_mean(x, correction=0)", "torch.var_mean(torch.complex(x, y), 1)",
             "torch.var_mean(x, 1, correction=0, keepdim=True)[0]"),
    errors=("torch.var_mean(i, correction=0)",),
)  # fmt: skip


_VARIANCE = "((self - self.mean())**2).sum()/(self.numel() - 1)"

for _name, _row, _face, _words, _computes, _corners in (
    (
        "std", std, "torch method", "Standard deviation", f"sqrt({_VARIANCE})",
        ("tensor([5.]).std()", "tensor([2., 2.]).std()"),
    ),
    (
        "var", var, "torch method", "Variance", _VARIANCE,
        ("tensor([5.]).var()", "tensor([2., 2.]).var()"),
    ),
    (
        "std_mean", std_mean, "torch", "Standard deviation and mean", "",
        ("torch.std_mean(tensor([2., 2.]))",),
    ),
    ("var_mean", var_mean, "torch", "Variance and mean", "", ()),
):  # fmt: skip
    composite(
        f"{_name}(Tensor self, bool unbiased=True) -> Tensor",
        lambda self, unbiased, _row=_row: _row.run(self, None, _by_flag(unbiased), False),
        where=_face,
        doc=f"{_words} of all elements.",
        computes=_computes,
        corners=_corners,
        samples=(f"torch.{_name}(x)", f"torch.{_name}(x, False)",
                 f"torch.{_name}(x, unbiased=False)"),
        errors=(f"torch.{_name}(i)",),
    )  # fmt: skip
