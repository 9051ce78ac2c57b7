"""Questions: which results of a run have gradients to check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...named import NamedTuple
from ...pipeline.request import Ran
from ...recording import collect as collecting
from ...recording.collect import Collected
from ...recording.sides import AnyTensor, node_of
from ..ledger import NAMELESS, tensor_names
from .numeric.live_tape import LiveTape
from .numeric.tape import Tape

MOST = 50

Names = Callable[[Any], "tuple[str, int | None]"]


class Result(NamedTuple):
    """A tensor that gradients are asked of."""

    tensor: AnyTensor
    name: str
    line: int | None


def results_of(ran: Ran, tape: Tape | LiveTape, found: Collected) -> tuple[list[Result], Names]:
    """What the program differentiated (the last call of each line); if nothing, its results."""
    assert ran.outcome is not None
    names = tensor_names(ran, found)
    results: dict[tuple[int, int], Result] = {}
    for line, text, tensor in tape.differentiated(ran.outcome):
        name, at = names(tensor)
        if name == NAMELESS:
            name, at = _in_words(text), line
        results.setdefault(_key(tensor), Result(tensor, name, at))
    for i in () if results else collecting.results(found.tensors, found.nodes):
        fact, held = found.tensors[i], found.held[i]
        if node_of(held) is not None:
            results.setdefault(_key(held), Result(held, fact.name, fact.line))
    return list(results.values()), lambda tensor: names(tape.theirs(tensor))


def _key(tensor: AnyTensor) -> tuple[int, int]:
    return id(node_of(tensor)), tensor.output_nr


def _in_words(text: str) -> str:
    """What precedes .backward()."""
    head = text.rpartition(".backward")[0].strip()
    return head if head and "\n" not in head and len(head) <= 40 else "the result"


def first_line(text: str) -> str:
    """A text's first line."""
    return text.partition("\n")[0]
