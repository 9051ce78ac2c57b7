"""Questions: runs a program again: does every run give the same bits?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...engine.schema.run_state import as_new
from ...named import NamedTuple
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...recording.facts.check import Problem
from ...recording.sides import array_of, gradient_of
from ..graph import collected

if TYPE_CHECKING:
    from ...recording.recording import Recording


class Bits(NamedTuple):
    """What a run left: its text, how it ended, the numbers of every named tensor."""

    output: str
    error: str
    numbers: dict[str, tuple[int | None, Any]]  # name or name.grad: line, array


def bits_of(ran: Ran) -> Bits:
    """To be asked before anything else happens to the tensors."""
    error = "" if ran.error is None else f"{ran.error.type}: {ran.error.message}"
    return Bits(ran.output, error, dict(_numbers(ran)))


def _numbers(ran: Ran) -> Iterator[tuple[str, tuple[int | None, Any]]]:
    if ran.outcome is None:
        return
    found = collected(ran.outcome, texts=False)
    for fact, tensor in zip(found.tensors, found.held, strict=True):
        yield fact.name, (fact.line, array_of(tensor).copy())
        gradient = gradient_of(tensor)
        if gradient is not None:
            yield f"{fact.name}.grad", (fact.line, array_of(gradient).copy())


def once_more(request: Request, recording: Recording | None = None) -> Ran:
    """The program, run as a new process runs it."""
    with as_new():
        if request.engine == "torch":
            from ...live.library import seed_torch

            seed_torch()
        return execute(request, None, recording)


def repeated(request: Request, first: Bits, times: int) -> Problem | None:
    """Runs the program until it has run so many times; the first difference."""
    for number in range(2, times + 1):
        again = bits_of(once_more(request))
        said = _difference(first, again)
        if said is not None:
            line, words = said
            message = f"run {number} of {times} gives other bits than the first: {words}"
            return Problem("repeat", message, line)
    return None


def _difference(first: Bits, again: Bits) -> tuple[int | None, str] | None:
    for name, (line, one) in first.numbers.items():
        other = again.numbers.get(name, (None, None))[1]
        if other is None or one.shape != other.shape or one.dtype != other.dtype:
            return line, f"{name} is another tensor"
        if one.tobytes() != other.tobytes():
            unequal = (one != other) & ~((one != one) & (other != other))
            flat = int(unequal.reshape(-1).argmax())
            values = one.reshape(-1)[flat], other.reshape(-1)[flat]
            return line, f"{name} is {values[0]!s}, then {values[1]!s}"
    if first.error != again.error:
        return None, f"{first.error or 'no error'}, then {again.error or 'no error'}"
    return (None, "it prints something else") if first.output != again.output else None
