"""Distributions: the operations that they are made of."""

from __future__ import annotations

from typing import Any

from ..engine.schema.dtypes import default_dtype
from ..engine.schema.limits import finfo
from ..engine.schema.numpy_wrappers import WrappedNumber
from ..engine.tensors.construct import tensor
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue


def run(name: str, *arguments: Any, **options: Any) -> Any:
    return catalogue.functions[name](*arguments, **options)


def _plain(value: Any) -> Any:
    """np.float64 is a number of Python's too."""
    return value.item() if isinstance(value, WrappedNumber) and value.is_python else value


def together(*values: Any) -> Any:
    """Tensors of one size; numbers become tensors of the first tensor's type."""
    values = tuple(_plain(value) for value in values)
    if not all(isinstance(value, (Tensor, int, float)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype, device = (default_dtype(), None) if first is None else (first.dtype, first.device)
    made = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype, device=device) for v in values]
    return run("broadcast_tensors", *made)


def type_of(value: Any) -> dict[str, Any]:
    """The type and the device of what is made for a tensor."""
    return {"dtype": value.dtype, "device": value.device}


def standard_normal(shape: Any, like: Any) -> Any:
    return run("normal", run("zeros", shape, **type_of(like)), run("ones", shape, **type_of(like)))


def expanded(value: Any, shape: Any) -> Any:
    return value.expand(shape)


def sum_rightmost(value: Any, count: int) -> Any:
    """The sum over the last dimensions, flattened to one."""
    return value.reshape((*value.shape[:-count], -1)).sum(-1) if count else value


def clipped_sigmoid(x: Any) -> Any:
    """Its values lie between 0 and 1, the bounds left out."""
    limits = finfo(x.dtype)
    return run("clamp", run("sigmoid", x), min=limits.tiny, max=1.0 - limits.eps)


def clipped_probs(probs: Any) -> Any:
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def numbers_of(mask_like: Any, diagonal: int) -> Any:
    """Which elements of a square matrix lie on or below a diagonal."""
    places = run("arange", mask_like.shape[-1], device=mask_like.device)
    return places < places.view(-1, 1) + (diagonal + 1)
