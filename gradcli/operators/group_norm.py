"""Operators: group norm, whose backward pass is itself a composition under create_graph."""

from __future__ import annotations

from typing import Any

from ..engine.operator import operator
from .conventions import Late, floating_only
from .sums import sum_dims

view = Late("view")
unsqueeze = Late("unsqueeze")


def _group_norm(
    xp: Any, x: Any, weight: Any, bias: Any, n: int, c: int, places: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    flat = x.reshape(n * group, -1)
    mean = flat.mean(axis=1, keepdims=True)
    rstd = 1 / xp.sqrt(flat.var(axis=1, keepdims=True) + eps)
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
    """PyTorch's differentiable form: sums over places, then over each group's channels."""
    grad, inside = grads[0], c // group
    if grad is None:
        return None, None, None
    share = 1.0 / (inside * places)
    wide = (n, group, inside, places)
    x, g = view(input, wide), view(grad, wide)
    mean, rstd = view(mean, (n, group, 1, 1)), view(rstd, (n, group, 1, 1))
    gamma = None if weight is None else view(weight, (1, group, inside, 1))
    products = _kept(sum_dims(g * x, (3,), False), 3)
    totals = _kept(sum_dims(g, (3,), False), 3)
    to_input = to_weight = to_bias = None
    if needs["input"]:
        scaled_products, scaled_totals = products, totals
        if gamma is not None:
            scaled_products, scaled_totals = products * gamma, totals * gamma
        db = _kept(sum_dims(scaled_totals, (2,), False), 2)
        ds = _kept(sum_dims(scaled_products, (2,), False), 2)
        b = (db * mean - ds) * (rstd * rstd * rstd) * share
        offset = -b * mean - db * rstd * share
        a = rstd if gamma is None else rstd * gamma
        to_input = view(g * a + b * x + offset, tuple(input.shape))
    if needs["weight"]:
        to_weight = view(sum_dims((products - totals * mean) * rstd, (0,), False), (c,))
    if needs["bias"]:
        to_bias = view(sum_dims(totals, (0,), False), (c,))
    return to_input, to_weight, to_bias


def _kept(x: Any, dim: int) -> Any:
    return unsqueeze(x, dim)


native_group_norm = operator(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, "
    "int group, float eps) -> (Tensor result0, Tensor result1, Tensor result2)",
    node="NativeGroupNormBackward0",
    where="hidden",
    forward=_group_norm,
    joint={
        ("input", "weight", "bias"): (
            lambda grads, input, result1, result2, weight, N, C, HxW, group, needs: _backward(
                grads, input, result1, result2, weight, N, C, HxW, group, needs
            )
        )
    },
    undifferentiable="result1, result2",
    refuse=floating_only("GroupNormKernelImpl"),
    doc="Groups of channels of each example at mean 0 and variance 1.",
    samples=("F.group_norm(c, 3)",),
)
