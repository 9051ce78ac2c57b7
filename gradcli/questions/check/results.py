"""Questions: which results of a run have gradients to check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...engine.tensor import Tensor
from ...pipeline.request import Ran
from ...recording import collect as collecting
from ...recording.collect import Collected
from ..ledger import NAMELESS, tensor_names
from .numeric.tape import Tape

MOST = 50

Names = Callable[[Any], "tuple[str, int | None]"]


class Result(NamedTuple):
    """A tensor that gradients are asked of."""

    tensor: Tensor
    name: str
    line: int | None


def results_of(ran: Ran, tape: Tape, found: Collected) -> tuple[list[Result], Names]:
    """What the program differentiated (the last call of each line); if nothing, its results."""
    assert ran.outcome is not None
    names = tensor_names(ran, found)
    recorded = {id(out) for step in tape.steps for out, _ in step.outs if out is not None}
    results: dict[tuple[int, int], Result] = {}
    calls = {call.span.line: call for call in ran.outcome.backward_calls}
    for line, call in calls.items():
        tensor = None if call.tensor is None else call.tensor()
        if tensor is None or tensor._grad_fn is None or id(tensor) not in recorded:
            continue
        name, at = names(tensor)
        if name == NAMELESS:
            name, at = _in_words(call.text), line
        results.setdefault((id(tensor._grad_fn), tensor._output_nr), Result(tensor, name, at))
    for i in () if results else collecting.results(found.tensors, found.nodes):
        fact, held = found.tensors[i], found.held[i]
        if held._grad_fn is not None:
            key = (id(held._grad_fn), held._output_nr)
            results.setdefault(key, Result(held, fact.name, fact.line))
    return list(results.values())[:MOST], names


def _in_words(text: str) -> str:
    """What stands in front of .backward()."""
    head = text.rpartition(".backward")[0].strip()
    return head if head and "\n" not in head and len(head) <= 40 else "the result"


def first_line(text: str) -> str:
    """A text's first line."""
    return text.partition("\n")[0]
