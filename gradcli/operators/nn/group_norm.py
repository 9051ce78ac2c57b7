"""Operators: group norm, whose backward pass is itself a composition under create_graph."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, operator
from ...numerics.moments import moments_of_rows
from ..conventions import Late, floating_only
from ..reduce.sums import sum_dims
from ..shape.shape import reshaped

view = Late("view")
squeeze = Late("squeeze.dim")
expand = Late("expand")
mean_dims = Late("mean.dim")


# PyTorch unsqueezes these sums in place, which leaves a node of another number.
unsqueeze = operator(
    "_unsqueezed(Tensor self, int dim) -> Tensor",
    node="UnsqueezeBackward1",
    where="hidden",
    forward=lambda xp, self, dim: xp.expand_dims(self, dim),
    self=lambda grad, dim: squeeze(grad, dim),
    jacobian="reshape",
    doc="A dimension of size one put in.",
    samples=("torch.autograd.grad(F.group_norm(c, 3).sum(), c, create_graph=True)[0]",),
)


def _group_norm(
    xp: Any, x: Any, weight: Any, bias: Any, n: int, c: int, places: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    flat = x.reshape(n * group, c // group * places)
    mean, spread = moments_of_rows(xp, flat)
    rstd = 1 / xp.sqrt(spread.astype(x.dtype) + x.dtype.type(eps))
    out = ((flat - mean) * rstd).reshape(n, c, places)
    out = out if weight is None else out * weight.reshape(1, c, 1)
    out = out if bias is None else out + bias.reshape(1, c, 1)
    return (
        out.reshape(x.shape),
        mean.reshape(n, group).astype(x.dtype),
        rstd.reshape(n, group).astype(x.dtype),
    )


def _backward(
    grads: Any, input: Any, mean: Any, rstd: Any, weight: Any, n: int, c: int, places: int,
    group: int, needs: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """PyTorch's differentiable form: sums over places, then over each group's channels.

    Mean and rstd are outputs too: in a second backward pass their gradients arrive here.
    """
    grad, grad_mean, grad_rstd = grads
    inside = c // group
    wide = (n, group, inside, places)
    x = reshaped(input, wide)
    mean, rstd = view(mean, (n, group, 1, 1)), view(rstd, (n, group, 1, 1))
    to_input = to_weight = to_bias = None
    if grad is not None:
        g = reshaped(grad, wide)
        gamma = None if weight is None else view(weight, (1, group, inside, 1))
        products = unsqueeze(sum_dims(g * x, (3,), False), 3)
        totals = unsqueeze(sum_dims(g, (3,), False), 3)
        if needs["input"]:
            to_input = _through(g, x, gamma, mean, rstd, products, totals, inside * places)
        if needs["weight"]:
            to_weight = view(sum_dims((products - totals * mean) * rstd, (0,), False), (c,))
        if needs["bias"]:
            to_bias = view(sum_dims(totals, (0,), False), (c,))
    if needs["input"]:
        for term in _of_statistics(x, rstd, grad_mean, grad_rstd, n, group, inside * places):
            to_input = term if to_input is None else to_input + term
        to_input = None if to_input is None else reshaped(to_input, tuple(input.shape))
    return to_input, to_weight, to_bias


def _through(
    g: Any, x: Any, gamma: Any, mean: Any, rstd: Any, products: Any, totals: Any, count: int
) -> Any:
    share = 1.0 / max(count, 1)
    if gamma is not None:
        products, totals = products * gamma, totals * gamma
    b = unsqueeze(sum_dims(products, (2,), False), 2)
    c = unsqueeze(sum_dims(totals, (2,), False), 2)
    b = (c * mean - b) * (rstd * rstd * rstd) * share
    c = -b * mean - c * rstd * share
    return (rstd if gamma is None else rstd * gamma) * g + b * x + c


def _of_statistics(
    x: Any, rstd: Any, grad_mean: Any, grad_rstd: Any, n: int, group: int, count: int
) -> Any:
    """What the gradients of mean and rstd add to the input's."""
    if grad_rstd is not None:
        slope = rstd * rstd * rstd * -0.5 * view(grad_rstd, (n, group, 1, 1))
        yield slope * (2.0 / max(count, 1)) * (x - mean_dims(x, (2, 3), True, None))
    if grad_mean is not None:
        yield expand(view(grad_mean, (n, group, 1, 1)), tuple(x.shape), False) / max(count, 1)


native_group_norm = operator(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, "
    "int group, float eps) -> (Tensor result0, Tensor result1, Tensor result2)",
    node="NativeGroupNormBackward0",
    where="hidden",
    forward=_group_norm,
    joint={
        ("input", "weight", "bias"): (
            lambda grads, input, result1, result2, weight, N, C, HxW, group, eps, needs: _backward(
                grads, input, result1, result2, weight, N, C, HxW, group, needs
            )
        )
    },
    refuse=floating_only("GroupNormKernelImpl"),
    reduced=Reduced(fused=True, mixed="result1 result2"),
    acts="along",
    zero="cancels",
    jacobian="normalisation",
    doc="Group normalization: mean 0 and variance 1 over groups of channels of each example.",
    samples=("F.group_norm(c, 3)",),
)
