"""Engine: apply_, map_ and map2_: a function gives each element its new value, number by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..schema.dtypes import COMPLEX
from ..schema.errors import type_name
from ..schema.limits import as_element
from ..schema.mode import no_grad, state
from ..schema.numpy_wrappers import WrappedNumber
from .tensor import Tensor, write_into

ITEM_BYTES = 32  # what a number takes in a list


def apply(self: Tensor, callable: Callable[[Any], Any], /) -> Tensor:
    """x.apply_(f): f of each element."""
    return _mapped("apply_", callable, self)


def map_other(self: Tensor, other: Tensor, callable: Callable[..., Any]) -> Tensor:
    """x.map_(other, f): f of each element and the one of `other` at its place."""
    return _mapped("map_", callable, self, ("'other'", other))


def map_others(self: Tensor, x: Tensor, y: Tensor, callable: Callable[..., Any]) -> Tensor:
    """x.map2_(x, y, f): the same with two others."""
    return _mapped("map2_", callable, self, ("argument 'x'", x), ("argument 'y'", y))


def _mapped(
    name: str, function: Callable[..., Any], tensor: Tensor, *others: tuple[str, Any]
) -> Tensor:
    dtype = tensor.dtype
    for place, (word, other) in enumerate(others, 1):
        if not isinstance(other, Tensor):
            bare = word.removeprefix("argument ")
            raise TypeError(
                f"{name}(): argument {bare} (position {place}) must be Tensor, not "
                f"{type_name(other)}"
            )
    if any(one.requires_grad for one in (tensor, *[other for _, other in others])):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    for word, other in others:
        if other.dtype is not dtype:
            wanted, found = f"torch.{dtype.word}Tensor", f"torch.{other.dtype.word}Tensor"
            raise TypeError(f"{name}: expected {wanted} for {word} (got {found})")
    if not callable(function):
        raise TypeError(f"'{type_name(function)}' object is not callable")
    with no_grad():
        given: list[Any] = [tensor, *[other.expand_as(tensor) for _, other in others]]
    state.reserve(ITEM_BYTES * tensor.numel() * (len(given) + 1))
    state.charge(tensor.numel())
    columns = [one.reshape(-1).tolist() for one in given]
    values = [_element(function(*items), dtype) for items in zip(*columns, strict=True)]
    write_into(tensor, numpy.array(values, dtype=dtype.numpy).reshape(tensor.shape))
    return tensor


def _element(value: Any, dtype: Any) -> Any:
    value = value.item() if isinstance(value, Tensor | WrappedNumber) else value
    allowed = (bool, int, float, complex) if dtype.category == COMPLEX else (bool, int, float)
    if value.__class__ not in allowed:
        raise TypeError(f"must be real number, not {type_name(value)}")
    return as_element(value, dtype, {})
