"""Operators: layer norm and batch norm: kernels, gradients, gradients of gradients."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, operator
from ...numerics.moments import (
    LANES,
    fused,
    moments_of_channels,
    moments_of_rows,
    shares_of_channels,
)
from ...numerics.summation import products_down, products_in_a_row, sum_in_a_row
from ...numerics.thresholds import NORMALISED
from ..conventions import Late, check_mixed, constant, floating_only, size_at
from ..reduce.sums import sum_dims
from ..shape.constants import number_as
from ..shape.shape import reshaped
from .linear import _product

expand = Late("expand")
view = Late("view")

# ---- layer norm


def _rows(x: Any, normalized_shape: tuple[int, ...]) -> tuple[int, int]:
    """The input as a matrix: how many vectors are normalised, and their length."""
    length = _product(normalized_shape)
    return (_product(x.shape) // length if length else 0), length


def _layer_norm(
    xp: Any, x: Any, normalized_shape: tuple[int, ...], weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    lead = x.shape[: x.ndim - len(normalized_shape)]
    flat = x.reshape(_rows(x, normalized_shape))
    mean, spread = moments_of_rows(xp, flat)
    rstd = 1 / xp.sqrt(spread.astype(x.dtype) + x.dtype.type(eps))
    out = flat - mean
    out *= rstd
    out = out.reshape(x.shape)
    if weight is not None:
        out = out * weight if bias is None else fused(xp, out, weight, bias)
    elif bias is not None:
        out = out + bias
    shape = lead + (1,) * len(normalized_shape)
    return out, mean.reshape(shape).astype(x.dtype), rstd.reshape(shape).astype(x.dtype)


def _layer_norm_backward(
    xp: Any, grad: Any, x: Any, normalized_shape: tuple[int, ...], mean: Any, rstd: Any,
    weight: Any, bias: Any, output_mask: Any, settle: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    rows, length = _rows(x, normalized_shape)
    dy, flat = grad.reshape(rows, length), x.reshape(rows, length)
    mean, rstd = mean.reshape(rows, 1), rstd.reshape(rows, 1)
    dx = to_weight = None
    if output_mask[0]:
        gamma = None if weight is None else weight.reshape(1, length)
        dx = _towards_rows(xp, dy, flat, mean, rstd, gamma).reshape(x.shape)
    if output_mask[1]:
        normal = fused(xp, flat, rstd, -rstd * mean)
        if settle is not None and flat.size <= NORMALISED:
            total = _added_up(normal * dy, settle)
        elif flat.size > NORMALISED:
            normal *= dy
            total = xp.einsum("ij->j", normal)
        else:
            total = products_down(xp, normal, dy, 0)
        to_weight = total.reshape(weight.shape)
    if not output_mask[2]:
        return dx, to_weight, None
    inexact = settle is None or flat.size > NORMALISED
    to_bias = xp.einsum("ij->j", dy) if inexact else _added_up(dy, settle)
    return dx, to_weight, to_bias.reshape(bias.shape)


def _added_up(rows: Any, settle: Any) -> Any:
    """The sum of the rows, in a buffer of reduced precision."""
    total = rows[:0].sum(0)
    for row in rows:
        total = settle(total + row)
    return total


def _towards_rows(xp: Any, dy: Any, x: Any, mean: Any, rstd: Any, gamma: Any) -> Any:
    """The gradient of normalised rows, in the order of PyTorch's kernel.

    A constant dy leaves nothing but rounding errors here, and they are what is printed then.
    """
    share = rstd.dtype.type(1) / rstd.dtype.type(x.shape[1])
    if gamma is None:
        steep, slope = products_in_a_row(xp, dy, x, LANES), sum_in_a_row(xp, dy, LANES)
        grown = rstd * dy
    else:
        steep = products_in_a_row(xp, dy * x, gamma, LANES)
        slope = products_in_a_row(xp, dy, gamma, LANES)
        grown = rstd * dy
        grown *= gamma
    tilt = fused(xp, slope, mean, -steep) * rstd * rstd * rstd * share
    towards = fused(xp, x, tilt, grown, tilt.size)
    towards += fused(xp, -tilt, mean, -(slope * rstd * share))
    return towards


def _spread_terms(
    g: Any, inner: Any, ggi: Any, sigma: Any, dims: tuple[int, ...], count: int
) -> Any:
    """The part of the second derivative that comes through the normalised input's gradient."""
    steep = inner * sigma**3
    g_mu_sum, g_sum = sum_dims(g * inner, dims, True), sum_dims(g, dims, True)
    ggi_mu_sum, ggi_sum = sum_dims(ggi * inner, dims, True), sum_dims(ggi, dims, True)
    every = (
        ggi_sum * g_sum / count
        - sum_dims(ggi * g, dims, True)
        + sigma**2 * g_mu_sum * ggi_mu_sum * (3.0 / count)
    )
    first = steep * every / count
    second = ggi_mu_sum * sigma**3 / count * (g_sum / count - g)
    third = g_mu_sum * sigma**3 / count * (ggi_sum / count - ggi)
    return first + second + third


def _scale_terms(g: Any, inner: Any, sigma: Any, dims: tuple[int, ...], count: int) -> Any:
    """The part that comes through the weight's gradient: g is grad_out times its tangent."""
    steep = inner * sigma**3
    return (
        g * sigma
        + sigma * sum_dims(g, dims, True) / -count
        + steep * sum_dims(g * inner, dims, True) / -count
    )


def _input_gradient(
    g: Any, weight: Any, inner: Any, sigma: Any, dims: tuple[int, ...], count: int
) -> Any:
    """What the first backward pass makes of g, written so that it can be differentiated."""
    scale = (sigma if weight is None else weight * sigma) / count
    spread = (
        g * count - sum_dims(g, dims, True) - inner * sigma**2 * sum_dims(g * inner, dims, True)
    )
    return scale * spread


def _layer_norm_double(
    grads: Any, grad_out: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any,
    weight: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    ggi, ggg, ggb = grads
    rows, length = _rows(input, normalized_shape)
    x, go = reshaped(input, (rows, length)), reshaped(grad_out, (rows, length))
    mu, sigma = view(mean, (rows, 1)), view(rstd, (rows, 1))
    gamma = None if weight is None else view(weight, (1, length))
    inner, dims = x - mu, (1,)
    to_input = to_weight = to_grad = None
    if ggi is not None:
        ggi = reshaped(ggi, (rows, length))
        to_input = _spread_terms(
            go if gamma is None else go * gamma, inner, ggi, sigma, dims, length
        )
        to_grad = _input_gradient(ggi, gamma, inner, sigma, dims, length)
        if weight is not None:
            plain = _input_gradient(ggi, None, inner, sigma, dims, length)
            to_weight = view(sum_dims(go * plain, (0,), False), tuple(weight.shape))
    if ggg is not None:
        ggg = view(ggg, (1, length))
        term = _scale_terms(go * ggg, inner, sigma, dims, length)
        to_input = term if to_input is None else to_input + term
        extra = ggg * inner * sigma
        to_grad = extra if to_grad is None else to_grad + extra
    if ggb is not None:
        extra = expand(view(ggb, (1, length)), (rows, length), False)
        to_grad = extra if to_grad is None else to_grad + extra
    shape = tuple(input.shape)
    if to_grad is not None:
        to_grad = view(expand(to_grad, (rows, length), False), shape)
    return to_grad, None if to_input is None else view(to_input, shape), to_weight


native_layer_norm_backward = operator(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, "
    "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[] output_mask) "
    "-> (Tensor result0, Tensor result1, Tensor result2)",
    node="NativeLayerNormBackwardBackward0",
    where="hidden",
    forward=_layer_norm_backward,
    reduced=Reduced(
        lambda kind, wide, *given: _layer_norm_backward(kind.xp, *given, settle=kind.settle),
        mixed="result1 result2",
    ),
    joint={
        ("grad_out", "input", "weight"): (
            lambda grads, grad_out, input, normalized_shape, mean, rstd, weight: _layer_norm_double(
                grads, grad_out, input, normalized_shape, mean, rstd, weight
            )
        )
    },
    mean=lambda grads: None,
    rstd=lambda grads: None,
    bias=lambda grads: None,
    zero="cancels",
    jacobian="normalisation",
    doc="The gradients of layer norm.",
    samples=("torch.autograd.grad(F.layer_norm(x, (3,), v, w), (x, v), y, create_graph=True)",),
)


def _check_layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> None:
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = {shape}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and list(given.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(given.shape)} and normalized_shape = {shape}"
            )
    if input.ndim < len(shape) or list(input.shape[input.ndim - len(shape) :]) != shape:
        expected = "".join(f", {size}" for size in shape)
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*{expected}], but got "
            f"input of size{list(input.shape)}"
        )
    check_mixed(input, weight, bias)


native_layer_norm = operator(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps) -> (Tensor result0, Tensor result1, Tensor result2)",
    node="NativeLayerNormBackward0",
    where="torch",
    undifferentiable="result1, result2",
    forward=_layer_norm,
    reduced=Reduced(mixed="result1 result2"),
    joint={
        ("input", "weight", "bias"): (
            lambda grads, input, normalized_shape, result1, result2, weight, bias, needs: (
                native_layer_norm_backward(
                    grads[0],
                    input,
                    normalized_shape,
                    result1,
                    result2,
                    weight,
                    bias,
                    (needs["input"], needs["weight"], needs["bias"]),
                )
            )
        )
    },
    check=_check_layer_norm,
    refuse=floating_only("LayerNormKernelImpl"),
    acts="along",
    zero="cancels",
    jacobian="normalisation",
    doc="Each vector over the last dimensions, moved to mean 0 and scaled to variance 1.",
    samples=("F.layer_norm(x, (3,))", "F.layer_norm(x, (3,), v, w)"),
)

# ---- batch norm


def _others(x: Any) -> tuple[int, ...]:
    """Every dimension but the channels'."""
    return tuple(place for place in range(x.ndim) if place != 1)


def _column(x: Any, per_channel: Any) -> Any:
    return per_channel.reshape((1, -1) + (1,) * (x.ndim - 2))


def _batch_norm(
    xp: Any, x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any,
    training: bool, momentum: float, eps: float, settle: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    if training:
        mean, spread = moments_of_channels(xp, x)
        invstd = (1 / xp.sqrt(spread.astype("float64") + eps)).astype(x.dtype)
        if settle is not None:  # what is saved is used
            mean, invstd = settle(mean), settle(invstd)
        saved = (mean, invstd)
    else:
        mean, invstd = running_mean, 1 / xp.sqrt(running_var + eps)
        saved = (xp.zeros((0,), dtype=x.dtype), xp.zeros((0,), dtype=x.dtype))
    # PyTorch folds everything into one factor and one offset, which decides the last bits.
    factor = invstd if weight is None else invstd * weight
    offset = fused(xp, -mean, factor, 0.0 if bias is None else bias)
    out = fused(xp, x, _column(x, factor), _column(x, offset))
    return out.astype(x.dtype, copy=False), *saved


def _statistics(
    xp: Any, x: Any, running_mean: Any, running_var: Any, save_mean: Any, save_invstd: Any,
    train: bool, eps: float,
) -> tuple[Any, Any]:  # fmt: skip
    if train:
        return _column(x, save_mean), _column(x, save_invstd)
    return _column(x, running_mean), _column(x, 1 / xp.sqrt(running_var + eps))


def _batch_norm_backward(
    xp: Any, grad: Any, x: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any,
    save_invstd: Any, train: bool, eps: float, output_mask: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    mean, invstd = _statistics(xp, x, running_mean, running_var, save_mean, save_invstd, train, eps)
    centred = x - mean
    total, tilt = shares_of_channels(xp, grad, centred)
    factor, count = invstd.reshape(-1), x.size // x.shape[1]
    scaled = (tilt * factor).astype(x.dtype, copy=False)
    dx = None
    if output_mask[0]:
        w = 1 if weight is None else _column(x, weight)
        if train:
            along = _column(x, tilt.astype(x.dtype, copy=False) * factor * factor / count)
            level = _column(x, (total / count).astype(x.dtype, copy=False))
            dx = fused(xp, -centred, along, grad - level)
            if (left := x.shape[1] % LANES) and x.ndim == 2:  # the last columns fill no vector
                dx[:, -left:] = (grad - level - centred * along)[:, -left:]
            dx = dx * invstd * w
        else:
            dx = grad * invstd * w
    total = total.astype(x.dtype, copy=False)
    return dx, scaled if output_mask[1] else None, total if output_mask[2] else None


def _batch_norm_double(
    grads: Any, grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any,
    save_mean: Any, save_invstd: Any, train: bool, eps: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    ggi, ggg, ggb = grads
    dims, count = _others(input), _product(input.shape) // input.shape[1]
    shape = (1, input.shape[1], *(1,) * (input.ndim - 2))
    mu, sigma = save_mean, save_invstd
    if not train:
        mu, sigma = running_mean, number_as(running_var, 1) / (running_var + eps) ** 0.5
    mu, sigma = view(mu, shape), view(sigma, shape)
    gamma = None
    if weight is not None:
        gamma = expand(view(weight, shape), tuple(input.shape), False)
    inner = input - mu
    to_input = to_weight = to_grad = None
    if ggi is not None and train:
        terms = _spread_terms(grad_out, inner, ggi, sigma, dims, count)
        to_input = terms if gamma is None else gamma * terms
        to_grad = _input_gradient(ggi, gamma, inner, sigma, dims, count)
        if weight is not None:
            plain = _input_gradient(ggi, None, inner, sigma, dims, count)
            to_weight = sum_dims(grad_out * plain, dims, False)
    elif ggi is not None:
        scaled = ggi * sigma
        to_grad = scaled if gamma is None else scaled * gamma
        if weight is not None:
            to_weight = sum_dims(scaled * grad_out, dims, False)
    if ggg is not None:
        ggg = view(ggg, shape)
        if train:
            term = ggg * _scale_terms(grad_out, inner, sigma, dims, count)
        else:
            term = ggg * sigma * grad_out
        to_input = term if to_input is None else to_input + term
        extra = ggg * inner * sigma
        to_grad = extra if to_grad is None else to_grad + extra
    if ggb is not None:
        extra = expand(view(ggb, shape), tuple(input.shape), False)
        to_grad = extra if to_grad is None else to_grad + extra
    return to_grad, to_input, to_weight


native_batch_norm_backward = operator(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, "
    "Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, "
    "bool train, float eps, bool[] output_mask) "
    "-> (Tensor result0, Tensor result1, Tensor result2)",
    node="NativeBatchNormBackwardBackward0",
    where="hidden",
    forward=_batch_norm_backward,
    reduced=Reduced(mixed="result1 result2"),
    joint={
        ("grad_out", "input", "weight"): (
            lambda grads, grad_out, input, weight, running_mean, running_var, save_mean,
            save_invstd, train, eps: (
                _batch_norm_double(
                    grads, grad_out, input, weight, running_mean, running_var, save_mean,
                    save_invstd, train, eps,
                )
            )
        )
    },
    save_mean=lambda grads: None,
    save_invstd=lambda grads: None,
    zero="cancels",
    jacobian="normalisation",
    doc="The gradients of batch norm.",
    samples=(
        "torch.autograd.grad(F.batch_norm(x, None, None, v, w, True), x, y, create_graph=True)",
    ),
)  # fmt: skip


def _channels(name: str, given: Any, channels: int) -> None:
    if given is not None and given.numel() != channels:
        raise RuntimeError(f"{name} should contain {channels} elements not {given.numel()}")


def _check_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> None:  # fmt: skip
    constant("native_batch_norm", running_mean=running_mean, running_var=running_var)
    channels = size_at(input, 1)
    for name, given in (("running_mean", running_mean), ("running_var", running_var)):
        if given is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        _channels(name, given, channels)
    _channels("weight", weight, channels)
    _channels("bias", bias, channels)
    check_mixed(input, weight, bias, running_mean, running_var)


native_batch_norm = operator(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps) "
    "-> (Tensor result0, Tensor result1, Tensor result2)",
    node="NativeBatchNormBackward0",
    where="hidden",
    undifferentiable="result1, result2",
    layout="channels",
    forward=_batch_norm,
    reduced=Reduced(
        lambda kind, wide, *given: _batch_norm(kind.xp, *given, settle=wide.settle),
        mixed="result1 result2",
    ),
    joint={
        ("input", "weight", "bias"): (
            lambda grads, input, weight, running_mean, running_var, result1, result2, training,
            eps, needs: (
                native_batch_norm_backward(
                    grads[0], input, weight, running_mean, running_var, result1, result2, training,
                    eps, (needs["input"], needs["weight"], needs["bias"]),
                )
            )
        )
    },
    check=_check_batch_norm,
    refuse=floating_only("batch_norm"),
    acts="along",
    zero="cancels",
    jacobian="normalisation",
    doc="Each channel moved to mean 0 and scaled to variance 1 over batch and places.",
    samples=("F.batch_norm(x, None, None, v, w, True)",),
)  # fmt: skip
