"""Distributions: Poisson and binomial numbers, one for each parameter.

They are computed on the CPU, in the order of the elements, and know no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..engine.schema.class_name import name_in_messages
from ..engine.schema.dtypes import FLOATING, float64
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor, from_array
from ..numerics import gamma_binomial
from ..numerics.gamma_binomial import DRAWN
from ..numerics.random import Generator, default_generator


def _sources(generator: Generator | None) -> tuple[Generator, Callable[[], float]]:
    source = default_generator if generator is None else generator
    return source, lambda: float(source.fractions(1, float64)[0])


def _array(value: Any) -> Any:
    return numpy.asarray(value.detach().cpu().numpy(), order="C")


def _tensor(values: list[float], like: Any) -> Any:
    array = numpy.array(values, numpy.float64).reshape(tuple(like.shape))
    made: Any = from_array(array)
    return made.to(like.dtype).to(like.device)


def poisson(input: Any, generator: Generator | None = None) -> Any:
    """torch.poisson"""
    if not isinstance(input, Tensor) or input.dtype.category == FLOATING:
        _check("poisson", "input", 1, input)
    if generator is not None and not isinstance(generator, Generator):
        kind = name_in_messages(type(generator))
        raise TypeError(
            f"poisson(): argument 'generator' (position 2) must be torch.Generator, not {kind}"
        )
    source, _ = _sources(generator)
    state.charge(input.numel() * DRAWN)
    wide = input.float() if input.dtype.is_reduced else input
    made: Any = from_array(source.poisson(_array(wide), input.dtype))
    return made.to(input.dtype).to(input.device)


def binomial(count: Any, prob: Any, generator: Generator | None = None) -> Any:
    """torch.binomial"""
    _check("binomial", "count", 1, count)
    _check("binomial", "prob", 2, prob)
    _, uniform = _sources(generator)
    counts, chances = numpy.broadcast_arrays(_array(count), _array(prob))
    state.charge(counts.size * DRAWN)
    pairs = zip(counts.ravel(), chances.ravel(), strict=True)
    drawn = [gamma_binomial.binomial(n, p, uniform) for n, p in pairs]
    return _tensor(drawn, count.new_empty(counts.shape))


def _check(name: str, argument: str, place: int, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {place}) must be Tensor, "
            f"not {type(value).__name__}"
        )
    if value.dtype.category != FLOATING:
        raise ValueError(
            f"{name} only supports floating-point dtypes for {argument}, got: {value.dtype.word}"
        )
