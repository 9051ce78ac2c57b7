"""Render: what a pass starts with, and what its gradients are called because of that.

A gradient of numbers that begins with 1 is a derivative, dy/dx. Any other one is a vector-Jacobian
product: v·dy/dx, with the v that the program gave; over several roots it is the sum of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from ..recording.facts.seeds import SeedFact
from .table import ranged
from .text import Cell, Line, Look, cell, width_of

EXPRESSION = re.compile(r"[^\w.#@\[\]'\"]")  # what no name has


class Begun(Protocol):
    """A root, and whether its pass began with the number 1 there."""

    @property
    def name(self) -> str:
        """The root's."""

    @property
    def is_one(self) -> bool:
        """Whether it is a derivative that the gradients are."""

    @property
    def symbol(self) -> str:
        """What else it began with."""


def names_of(seeds: Sequence[Begun]) -> tuple[str, ...]:
    """v, or v1, v2 of several roots; nothing for a seed that is 1."""
    if all(seed.is_one for seed in seeds):
        return ("",) * len(seeds)
    if len(seeds) == 1:
        return (seeds[0].symbol,)
    return tuple(
        "" if seed.is_one else f"{seed.symbol}{place}" for place, seed in enumerate(seeds, 1)
    )


def vector_of(seeds: Sequence[Begun]) -> str:
    """The v of an only root; empty where that is 1."""
    return names_of(seeds)[0] if len(seeds) == 1 else ""


def differential(name: str) -> str:
    """dx, d(x + y)."""
    return f"d({name})" if EXPRESSION.search(name) else f"d{name}"


def gradient(seeds: Sequence[Begun], wrt: str, times: str) -> str:
    """What a gradient is: dy/dx, v·dy/dx, dy/dx + v2·dz/dx."""
    return " + ".join(
        f"{name}{times}{differential(seed.name)}/{differential(wrt)}"
        if name
        else f"{differential(seed.name)}/{differential(wrt)}"
        for name, seed in zip(names_of(seeds), seeds, strict=True)
    )


def lines(seeds: Sequence[SeedFact], look: Look) -> Iterator[Line]:
    """What each v is."""
    for name, seed in zip(names_of(seeds), seeds, strict=True):
        if name:
            yield from _value(name, seed, look)


def text(seed: SeedFact) -> str:
    """As PyTorch prints it; a large one summed up."""
    if seed.text:
        return seed.text
    return f"{list(seed.shape)}  {ranged(seed.shape, seed.range)}"


def _value(name: str, seed: SeedFact, look: Look) -> Iterator[Line]:
    head = f"{name} = "
    rows = text(seed).split("\n")
    yield (cell(head, "name"), cell(rows[0]), cell(f"   given for {seed.name}", "dim"))
    yield from ((Cell(" " * width_of(head)), cell(row)) for row in rows[1:])
