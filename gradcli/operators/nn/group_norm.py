"""Operators: group norm, whose backward pass is itself a composition under create_graph."""

from __future__ import annotations

from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import Reduced, operator
from ...numerics.moments import LANES, fused, moments_of_rows
from ...numerics.summation import sum_in_a_row
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
    kind, inside = x.dtype.type, c // group
    mean, spread = moments_of_rows(xp, x.reshape(n * group, inside * places))
    rstd = (1 / xp.sqrt(spread.astype(x.dtype) + xp.float64(eps))).astype(x.dtype)
    mean, rstd = mean.astype(x.dtype).reshape(n, group), rstd.reshape(n, group)
    if weight is None and bias is None:
        out = (x.reshape(n, group, -1) - mean[..., None]) * rstd[..., None]
        return out.reshape(x.shape), mean, rstd
    gamma = kind(1) if weight is None else weight.reshape(1, group, inside)
    scale = xp.broadcast_to(rstd[..., None] * gamma, (n, group, inside))
    beta = kind(0) if bias is None else bias.reshape(1, group, inside)
    offset = fused(xp, -scale, mean[..., None], beta)
    out = fused(xp, x.reshape(*scale.shape, places), scale[..., None], offset[..., None])
    return out.reshape(x.shape), mean, rstd


def _over_channels(xp: Any, sums: Any, gamma: Any) -> Any:
    """The products of (examples, groups, channels of a group) and gamma, added up as PyTorch's
    compiled code has it: eights fused, side by side; fours rounded first; the last ones fused."""
    if sums.dtype.char != "f":
        return (sums * gamma).sum(-1)
    gamma, count = xp.broadcast_to(gamma, sums.shape), sums.shape[-1]
    whole = count // LANES * LANES
    fours = whole + (count - whole) // 4 * 4
    lanes = xp.zeros((*sums.shape[:-1], LANES), sums.dtype)
    for at in range(0, whole, LANES):
        vector = (..., slice(at, at + LANES))
        lanes = fused(xp, sums[vector], gamma[vector], lanes)
    rounded = sums[..., whole:fours] * gamma[..., whole:fours]
    total = xp.add.accumulate(xp.concatenate([lanes, rounded], axis=-1), axis=-1)[..., -1]
    for at in range(fours, count):
        total = fused(xp, sums[..., at], gamma[..., at], total)
    return total


def _kernel_backward(
    xp: Any, grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Any, n: int, c: int,
    places: int, group: int, output_mask: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """In the order of PyTorch's kernel: sums over places in lanes, then over channels."""
    inside, to_input, to_weight, to_bias = c // group, None, None, None
    x, grad = (part.reshape(n, group, inside, places) for part in (input, grad_out))
    products = sum_in_a_row(xp, grad * x, LANES)[..., 0]
    totals = sum_in_a_row(xp, grad, LANES)[..., 0]
    if output_mask[0]:
        gamma = x.dtype.type(1) if weight is None else weight.reshape(1, group, inside)
        steep, slope = (_over_channels(xp, part, gamma) for part in (products, totals))
        share = x.dtype.type(1) / x.dtype.type(inside * places)
        tilt = fused(xp, slope, mean, -steep) * rstd * rstd * rstd * share
        offset = fused(xp, -(slope * rstd), share, -tilt * mean)
        scale = xp.broadcast_to(rstd[..., None] * gamma, (n, group, inside))[..., None]
        to_input = fused(xp, grad, scale, x * tilt[..., None, None]) + offset[..., None, None]
        to_input = to_input.reshape(input.shape)
    if output_mask[1]:
        to_weight = xp.zeros((group, inside), x.dtype)
        centred = fused(xp, -totals, mean[..., None], products)
        for part, its_rstd in zip(centred, rstd, strict=True):
            to_weight = fused(xp, part, its_rstd[:, None], to_weight)
        to_weight = to_weight.reshape(c)
    if output_mask[2]:
        to_bias = xp.add.reduce(totals.reshape(n, c), axis=0)
    return to_input, to_weight, to_bias


native_group_norm_backward = operator(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
    "Tensor? weight, int N, int C, int HxW, int group, bool[] output_mask) "
    "-> (Tensor result0, Tensor result1, Tensor result2)",
    node="torch::autograd::NotImplemented",
    where="hidden",
    forward=_kernel_backward,
    doc="The gradients of group norm.",
    samples=("torch.autograd.grad(F.group_norm(c, 3).sum(), c)",),
)


def _backward(
    grads: Any, input: Any, mean: Any, rstd: Any, weight: Any, n: int, c: int, places: int,
    group: int, needs: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """PyTorch's differentiable form: sums over places, then over each group's channels.

    Mean and rstd are outputs too: in a second backward pass their gradients arrive here.
    """
    grad, grad_mean, grad_rstd = grads
    by_kernel = grad_mean is None and grad_rstd is None and not state.grad_enabled
    if by_kernel:
        mask = (needs["input"], needs["weight"], needs["bias"])
        return native_group_norm_backward(
            grad, input, mean, rstd, weight, n, c, places, group, mask
        )  # fmt: skip
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
