"""Questions: a pass over several roots as one over their sum, so that paths have one beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.catalogue import catalogue
from ...engine.schema.mode import next_sequence, state
from ...opening import UsageError
from ...recording.facts.seeds import SeedFact
from ...recording.passes import Pass
from ...recording.snapshot import as_tensor
from ..seeds import seed_facts
from .labels import Labels, Spot


def goes_for_several(roots: Sequence[Any], gradients: Sequence[Any]) -> bool:
    """Whether a pass goes back for several gradients at once, as those of a whole Jacobian do."""
    pairs = zip(roots, gradients, strict=True)
    return any(one is not None and tuple(one.shape) != tuple(root.shape) for root, one in pairs)


def refuse_several(number: int) -> None:
    """Paths have one beginning."""
    raise UsageError(
        f"pass {number} goes back for several gradients at once: paths can't follow it",
        f"gradcli step FILE --pass {number}",
    )


def began(labels: Labels, one: Pass) -> tuple[Spot, tuple[SeedFact, ...]]:
    """Where the paths of a pass begin, and what the program gave there."""
    spots = [labels.spot_of(root) for root in one.roots]
    seeds = seed_facts([spot.name for spot in spots], one.gradients, labels.ran)
    if len(spots) == 1:
        return spots[0], seeds
    return _sum(spots, one, seeds), seeds


def _sum(spots: Sequence[Spot], one: Pass, seeds: Sequence[SeedFact]) -> Spot:
    """The number whose gradients are those of the pass: each root times what was given for it."""
    words: list[str] = []
    total: Any = None
    before = state.grad_enabled, state.origin
    state.grad_enabled, state.origin = True, one.origin
    try:
        for place, (spot, seed) in enumerate(zip(spots, seeds, strict=True), 1):
            part: Any = spot.tensor
            word = spot.name
            if not seed.is_one:
                part = catalogue.functions["mul"](as_tensor(one.gradients[place - 1]), part)
                whole = word if word.isidentifier() else f"({word})"
                word = f"{seed.symbol}{place}*{whole}"
                word = f"({word})" if seed.shape else word
            if seed.shape:
                part, word = catalogue.functions["sum"](part), f"{word}.sum()"
            words.append(word)
            total = part if total is None else catalogue.functions["add"](total, part)
    finally:
        state.grad_enabled, state.origin = before
    return Spot(" + ".join(words), None, 1, total.grad_fn, 0, total, next_sequence())
