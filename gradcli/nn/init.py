"""Library: torch.nn.init: starting values for parameters, drawn from PyTorch's random stream."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..engine.schema.class_name import name_in_messages
from ..engine.schema.mode import no_grad, state

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_",
    "xavier_uniform_", "zeros_",
]  # fmt: skip
# The names without an underscore are older than these three.
_YOUNG = ("ones_", "trunc_normal_", "zeros_")
__all__ += [name[:-1] for name in __all__ if name.endswith("_") and name not in _YOUNG]

_LINEAR = (
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "sigmoid",
)  # fmt: skip


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor by which a nonlinearity shrinks the standard deviation, undone."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, int | float) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Any, val: float) -> Any:
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Any) -> Any:
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Convolution kernels that pass their input through."""
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.shape
    if sizes[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    out = sizes[0] // groups
    middle = tuple(size // 2 for size in sizes[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(out, sizes[1])):
                tensor[(group * out + channel, channel, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    if not isinstance(mode, str):
        kind = name_in_messages(type(mode))
        raise AttributeError(f"'{kind}' object has no attribute 'lower'")
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(
            f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']"
        )
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:  # fmt: skip
    if 0 in tensor.shape:
        state.warn("Initializing zero-element tensors is a no-op")
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:  # fmt: skip
    if 0 in tensor.shape:
        state.warn("Initializing zero-element tensors is a no-op")
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Any:  # fmt: skip
    """Normal values within [a, b], drawn again until they lie there."""
    if mean < a - 2 * std or mean > b + 2 * std:
        state.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect."
        )
    share = _below((b - mean) / std) - _below((a - mean) / std)
    with no_grad():
        # Few normal values fall into a narrow or far interval: there uniform ones are rejected.
        draw = _normal_within if share > 0.3 else _rejection_sampled
        tensor.copy_(draw(tensor, mean, std, a, b, generator))
    return tensor


def _below(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _normal_within(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    result = tensor.normal_(mean, std, generator=generator).clone()
    while (outside := (result < low) | (result > high)).any():
        again = result.new_empty(result.shape).normal_(mean, std, generator=generator)
        result = again.where(outside, result)
    return result


def _rejection_sampled(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Any
) -> Any:
    """Uniform values, each kept with a probability in proportion to the density there."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    result = tensor.uniform_(a, b, generator=generator).clone()
    candidates, chance = result.clone(), result.new_empty(result.shape)

    def refused() -> Any:
        density = candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chance.uniform_(generator=generator).log_().gt(density)

    pending = refused()
    while pending.any():
        candidates.uniform_(a, b, generator=generator)
        result = candidates.where(pending, result)
        pending = pending & refused()
    return result


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Rows or columns at right angles, from the QR decomposition of normal values."""
    from ..operators import catalogue

    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        if rows < columns:
            flat = flat.t()
        q, r = catalogue.functions["linalg.qr"](flat)
        q = q * r.diagonal().sign()
        if rows < columns:
            q = q.t()
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal values, a share of each column set to zero."""
    from ..operators import catalogue

    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            order = catalogue.functions["randperm"](rows)
            tensor[order[:zeros], column] = 0
    return tensor


def _older(new: Callable[..., Any]) -> Callable[..., Any]:
    """The name without an underscore, which warns and does the same."""
    name = new.__name__

    def initialise(*args: Any, **kwargs: Any) -> Any:
        state.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
        )
        return new(*args, **kwargs)

    initialise.__name__ = initialise.__qualname__ = name[:-1]
    return initialise


uniform, normal, constant = _older(uniform_), _older(normal_), _older(constant_)
eye, dirac, sparse, orthogonal = (_older(new) for new in (eye_, dirac_, sparse_, orthogonal_))
xavier_uniform, xavier_normal = _older(xavier_uniform_), _older(xavier_normal_)
kaiming_uniform, kaiming_normal = _older(kaiming_uniform_), _older(kaiming_normal_)
