"""Func: normalisation written out, for tangents that are differentiated again.

These rows save their statistics as constants, and their backward accounts for them in closed form,
which holds for one derivative more and not for two. What a tangent needs is the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue


def _normalised(x: Any, dims: Sequence[int], eps: float) -> Any:
    mean = catalogue.methods["mean"]
    centred = x - mean(x, tuple(dims), True)
    spread = mean(centred * centred, tuple(dims), True)
    return centred * catalogue.methods["rsqrt"](spread + eps)


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


def _column(x: Any, per_channel: Any) -> Any:
    if per_channel is None:
        return None
    size = (1, -1) + (1,) * (x._data.ndim - 2)
    return catalogue.functions["reshape"](per_channel, size)


def _layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    rank = input._data.ndim
    dims = range(rank - len(normalized_shape), rank)
    return _scaled(_normalised(input, dims, eps), weight, bias)


def _batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> Any:  # fmt: skip
    if training:
        x = _normalised(input, [d for d in range(input._data.ndim) if d != 1], eps)
    else:
        scale = catalogue.methods["rsqrt"](running_var + eps)
        x = (input - _column(input, running_mean)) * _column(input, scale)
    return _scaled(x, _column(input, weight), _column(input, bias))


def _group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    reshape = catalogue.functions["reshape"]
    x = _normalised(reshape(input, (N, group, -1)), [2], eps)
    x = reshape(x, tuple(input._data.shape))
    return _scaled(x, _column(input, weight), _column(input, bias))


COMPOSED: dict[str, Callable[..., Any]] = {
    "native_layer_norm": _layer_norm,
    "native_batch_norm": _batch_norm,
    "native_group_norm": _group_norm,
}
