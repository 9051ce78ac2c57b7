"""Operators: normalisations as torch.nn.functional offers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.carriers import TRANSFORMS
from ...engine.schema.dtypes import FLOATING
from ...engine.schema.mode import no_grad
from ...engine.schema.operator import catalogue, composite
from ..conventions import check_mixed, native, shape_text
from .group_norm import native_group_norm
from .normalization import native_batch_norm, native_layer_norm


def _layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float, cudnn: bool = True
) -> Any:
    return native_layer_norm.run(input, tuple(normalized_shape), weight, bias, eps)[0]


composite(
    "layer_norm.functional(Tensor input, int[] normalized_shape, Tensor? weight=None, "
    "Tensor? bias=None, float eps=1e-05) -> Tensor",
    _layer_norm,
    where="functional",
    doc="Layer normalization: mean 0, variance 1 over the last dimensions; scaled, shifted.",
    computes="(input - input.mean(-1, True))/sqrt(input.var(-1, correction=0, keepdim=True) + "
    "eps)*weight + bias",
    samples=("F.layer_norm(x, (3,))", "F.layer_norm(x, [3], v, w)", "F.layer_norm(c, (3, 3))"),
    errors=("F.layer_norm(x, (2,))", "F.layer_norm(x, (3,), torch.ones(2))"),
)

composite(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    _layer_norm,
    where="torch",
    doc="Layer normalization: mean 0, variance 1 over the last dimensions; scaled, shifted.",
    samples=("torch.layer_norm(x, (3,), v, w)",),
)


def _needs_several(shape: Sequence[int], shown: str) -> None:
    """Statistics of a single value per channel say nothing."""
    count = shape[0] if shape else 1
    for size in shape[2:]:
        count *= size
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {shown}"
        )


def _batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool,
    momentum: float, eps: float,
) -> Any:  # fmt: skip
    if training:
        _needs_several(input.shape, shape_text(input))
    if input.numel() == 0:
        out = input.clone()
        out = out if weight is None else out * weight[0]
        return out if bias is None else out + bias[0]
    out, mean, _ = native_batch_norm.run(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if training and (running_mean is not None or running_var is not None):
        try:
            _track(input, running_mean, running_var, mean, momentum)
        except RuntimeError as error:
            if str(error).startswith("vmap: inplace"):
                raise RuntimeError(_SHARED) from None
            raise
    return out


_SHARED = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
    "updated in place, were not batched.\nIf you are using a module and do not need eval mode, "
    "please set `track_running_stats` to be False.If you are using a prebuilt module and do not "
    "need eval mode, please see the functorch website for resources on how to patch your module to "
    "work with vmap"
)


def _track(input: Any, running_mean: Any, running_var: Any, mean: Any, momentum: float) -> None:
    """Moves the running statistics towards this batch's; they have no tangent."""
    input, mean = input.detach(), mean.detach()
    dims = [place for place in range(input.ndim) if place != 1]
    with no_grad():
        # Through .data: PyTorch's kernel writes the statistics without a new version.
        if running_mean is not None:
            _move(running_mean, mean, momentum)
        if running_var is not None:
            wide = input.float() if input.dtype.is_reduced else input
            _move(running_var, wide.var(dims), momentum, once=True)


def _move(running: Any, batch: Any, momentum: float, *, once: bool = False) -> None:
    """`once`: product and sum are rounded in one, as PyTorch's compiler has it of variances."""
    old = running
    if running.dtype.is_reduced:
        old, batch = running.float(), batch.float()
    kept = old * (1 - momentum)
    with TRANSFORMS.unasked():  # as a part of its own kernel
        running.data.copy_(kept.add(batch, alpha=momentum) if once else batch * momentum + kept)


composite(
    "batch_norm.functional(Tensor input, Tensor? running_mean, Tensor? running_var, "
    "Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, "
    "float eps=1e-05) -> Tensor",
    _batch_norm,
    where="functional",
    doc="Each channel at mean 0 and variance 1, over the batch or by running statistics.",
    samples=(
        "F.batch_norm(x, None, None, v, w, True)",
        "F.batch_norm(x, torch.zeros(3), torch.ones(3), v, w)",
        "F.batch_norm(c, torch.zeros(3), torch.ones(3), training=True)",
    ),
    errors=(
        "F.batch_norm(x, torch.zeros(2), torch.ones(2))",
        "F.batch_norm(x, None, None)",
        "F.batch_norm(x[:1], None, None, training=True)",
    ),
)


def _instance_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any,
    use_input_stats: bool, momentum: float, eps: float,
) -> Any:  # fmt: skip
    if use_input_stats:
        places = 1
        for size in input.shape[2:]:
            places *= size
        if places == 1:
            raise ValueError(
                "Expected more than 1 spatial element when training, got input size "
                f"{shape_text(input)}"
            )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    batch, channels = input.shape[0], input.shape[1]
    repeated = [
        None if value is None else value.repeat(batch)
        for value in (weight, bias, running_mean, running_var)
    ]
    flat = input.contiguous().view([1, batch * channels, *input.shape[2:]])
    out, mean, _ = native_batch_norm.run(
        flat, repeated[0], repeated[1], repeated[2], repeated[3], use_input_stats, momentum, eps
    )
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if use_input_stats and running_mean is not None:
        _track(flat, repeated[2], repeated[3], mean, momentum)
        with no_grad(), TRANSFORMS.unasked():
            running_mean.copy_(repeated[2].view([batch, channels]).mean(0))
            running_var.copy_(repeated[3].view([batch, channels]).mean(0))
    return out.view(list(input.shape))


composite(
    "instance_norm.functional(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, "
    "Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, "
    "float eps=1e-05) -> Tensor",
    _instance_norm,
    where="functional",
    doc="Each channel of each example at mean 0 and variance 1.",
    samples=("F.instance_norm(c)", "F.instance_norm(c, weight=v, bias=w)"),
    errors=("F.instance_norm(x)",),
)


def _group_norm(
    input: Any, num_groups: int, weight: Any, bias: Any, eps: float, cudnn: bool = True
) -> Any:
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    batch, channels = input.shape[0], input.shape[1]
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and (given.ndim != 1 or given.numel() != channels):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(given.shape)} and input of shape "
                f"{list(input.shape)}"
            )
    check_mixed(input, weight, bias)
    places = input.numel() // (batch * channels) if batch * channels else 0
    given = input if input.is_contiguous() else input.contiguous()
    return native_group_norm.run(given, weight, bias, batch, channels, places, num_groups, eps)[0]


def _group_norm_of_several(input: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    """What F.group_norm asks of a batch before PyTorch's own function sees it."""
    if input.ndim >= 2:
        batch = input.shape[0] * input.shape[1] // num_groups
        grouped = [batch, num_groups, *input.shape[2:]]
        _needs_several(grouped, str(grouped))
    return _group_norm(input, num_groups, weight, bias, eps)


for _face, _extra, _body in (
    ("functional", "", _group_norm_of_several), ("torch", ", bool cudnn_enabled=True", _group_norm)
):  # fmt: skip
    composite(
        f"group_norm.{_face}(Tensor input, int num_groups, Tensor? weight=None, "
        f"Tensor? bias=None, float eps=1e-05{_extra}) -> Tensor",
        _body,
        where=_face,
        doc="Group normalization: mean 0 and variance 1 over groups of channels of each example.",
        samples=("F.group_norm(c, 3, v, w)", "torch.group_norm(c, 1)"),
        errors=("F.group_norm(c, 2)", "F.group_norm(x[:1], 3)"),
    )


def _rms_norm(input: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    if weight is not None and list(weight.shape) != shape:
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {shape}"
        )
    if list(input.shape[input.ndim - len(shape) :]) != shape:
        expected = ", ".join(str(size) for size in shape)
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*{expected}], but got "
            f"input of size{list(input.shape)}"
        )
    if input.dtype.category < FLOATING:
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{input.dtype.word}'")
    if eps is None:
        eps = 2.220446049250313e-16 if input.dtype.name == "float64" else 1.1920928955078125e-07
    dims = list(range(input.ndim - len(shape), input.ndim))
    wide = input.float() if input.dtype.is_reduced else input
    out = wide * (wide.pow(2).mean(dims, keepdim=True) + eps).rsqrt()
    out = out if weight is None else out * weight
    out = out.to(input.dtype) if input.dtype.is_reduced else out
    return out.contiguous()


for _face in ("functional", "torch"):
    composite(
        f"rms_norm.{_face}(Tensor input, int[] normalized_shape, Tensor? weight=None, "
        "float? eps=None) -> Tensor",
        native(_rms_norm),
        where=_face,
        doc="Each vector over the last dimensions, divided by its root mean square.",
        samples=("F.rms_norm(x, (3,), v)", "torch.rms_norm(x, (3,))"),
        errors=("F.rms_norm(x, (2,))",),
    )


def _local_response_norm(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    if input.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input "
            f"(got {input.ndim} dimensions)"
        )
    if input.numel() == 0:
        return input
    functions = catalogue.functions
    pad, squares = functions["nn.functional.pad"], input * input
    if input.ndim == 3:
        padded = pad(squares.unsqueeze(1), (0, 0, size // 2, (size - 1) // 2))
        mean = functions["nn.functional.avg_pool2d"](padded, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.shape
        flat = squares.view([sizes[0], 1, sizes[1], sizes[2], -1])
        padded = pad(flat, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        mean = functions["nn.functional.avg_pool3d"](padded, (size, 1, 1), stride=1).squeeze(1)
        mean = mean.view(list(sizes))
    return input / (mean * alpha + k) ** beta


composite(
    "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, "
    "float k=1.0) -> Tensor",
    _local_response_norm,
    where="functional",
    doc="Each value divided by a power of the mean square of its neighbouring channels.",
    samples=("F.local_response_norm(c, 2)",),
)
