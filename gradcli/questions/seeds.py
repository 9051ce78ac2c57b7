"""Questions: the gradients that a pass starts with, at each of its roots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy

from ..pipeline.request import Ran
from ..recording.facts.seeds import SeedFact
from ..recording.measures import array_of
from ..recording.sides import AnyTensor
from ..recording.snapshot import Summary, restored, snapshot, snapshot_text

SYMBOLS = ("v", "seed", "given")


def seed_facts(
    names: Sequence[str], gradients: Sequence[Any], ran: Ran | None = None
) -> tuple[SeedFact, ...]:
    """One for each root; the gradients are tensors, arrays, or snapshots of them."""
    symbol = symbol_of(ran, gradients)
    pairs = zip(names, gradients, strict=True)
    return tuple(_seed(name, gradient, symbol) for name, gradient in pairs)


def symbol_of(ran: Ran | None, gradients: Sequence[Any]) -> str:
    """v, where the program calls nothing else by that name; v1, v2 of several."""
    text = "" if ran is None else ran.text
    bindings = {} if ran is None or ran.outcome is None else ran.outcome.bindings
    word = r"{}\b" if len(gradients) == 1 else r"{}\d"
    for symbol in SYMBOLS:
        taken = re.search(r"(?<![\w.\"'])" + word.format(symbol) + r"(?![\"'])", text)
        if taken is None or (len(gradients) == 1 and _is(bindings.get(symbol), gradients[0])):
            return symbol
    return SYMBOLS[0]


def _is(value: Any, gradient: Any) -> bool:
    """Whether a name of the program stands for the gradient that it gave."""
    held = restored(gradient)
    if not isinstance(value, AnyTensor) or isinstance(held, Summary):
        return False
    return not value.requires_grad and numpy.array_equal(array_of(value), array_of(held))


def _seed(name: str, gradient: Any, symbol: str) -> SeedFact:
    held = restored(gradient)
    if not isinstance(held, Summary):
        held = restored(snapshot(held))  # a large one is summed up
    shown = snapshot_text(held, full=True)
    dtype = str(getattr(held, "dtype", "")).removeprefix("torch.")
    return SeedFact(
        name, shown.shape, dtype, shown.text or "", shown.range, shown.value,
        is_one(shown.value), symbol,
    )  # fmt: skip


def is_one(value: Any) -> bool:
    """Of numbers as nested tuples: whether they are the single number 1."""
    while isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    return not isinstance(value, tuple) and value == 1
