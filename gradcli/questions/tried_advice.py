"""Questions: the advice of an error, tried: the program is changed there and runs again.

Only where that is cheap, and within a number of steps. Advice that does not help
is not given; advice that can't be tried is given without a word about trying.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..diagnostics import UNASKED, Cure, Diagnostic, ExitStatus, Label, Span
from ..engine.schema.run_state import as_new
from ..language.budget import memory_in_use
from ..pipeline.request import Ran
from ..recording.holding import named_tensors, parameters
from ..recording.sides import AnyTensor, changed_at, gradient_of
from .cure import Room, attempt, bytes_for, steps_for

MOST_STEPS = 200_000  # of a run that is worth another one
MOST_SOURCE = 200_000  # bytes
MOST_MEMORY = 1 << 30  # bytes that the first run left; what the process held before is not its
MOST_CURES = 4
TRIED = "      tried: "
NO_GRAPH = "does not require grad and does not have a grad_fn"


def with_trials(ran: Ran) -> Ran:
    """The same run, whose error says which of its advice helps."""
    error, outcome = ran.error, ran.outcome
    if error is None or outcome is None or not error.cures:
        return ran
    if _is_long(ran):
        return ran
    room = Room(ran)
    answers: dict[str, str | None] = {}
    for cure in sorted(error.cures, key=lambda cure: cure.last_resort)[:MOST_CURES]:
        if not cure.last_resort or not any(answers.values()):
            answers[cure.note] = _answer(error, cure, attempt(ran, cure.edits, room))
    resorts = [note for note in answers if note not in error.notes and answers[note]]
    notes = []
    for note in (*error.notes, *resorts):
        answer = answers.get(note)
        if answer:
            notes.append(f"{note}{TRIED}{answer}")
        elif answer is None and not (resorts and note.startswith("help: ")):
            notes.append(note)
    if room.time is not None:
        notes.append(f"note: the {room.time} left no time to try this")
    return ran._replace(error=error._replace(notes=tuple(notes), cures=()))


def _is_long(ran: Ran) -> bool:
    """Whether it is too much to run again, or was ended by a limit."""
    steps = 0 if ran.outcome is None else ran.outcome.steps
    if steps > MOST_STEPS or len(ran.request.data) > MOST_SOURCE:
        return True
    if ran.error is None or ran.error.exit_status is not ExitStatus.PROGRAM_ERROR:
        return True
    return memory_in_use()[0] - ran.held_before > MOST_MEMORY


def with_cut(ran: Ran, *, tries: bool = True) -> Ran:
    """The same run, whose error also names what took the root of its pass out of the graph.

    Where the text alone does not show it, the program runs once more, and is followed.
    """
    error = ran.error
    if error is None or NO_GRAPH not in error.message:
        return ran
    if not (error.is_bare or error.is_of_constants):
        return ran
    if _is_long(ran) or not Room(ran).is_there:
        return ran
    from ..pipeline.run import execute
    from .provenance import Provenance
    from .why.refused import causes_of_refusal, cures_of_refusal, is_cut

    provenance = Provenance()
    with as_new():
        again = execute(ran.request, None, provenance.recording)
    if again.program is None or again.error is None or again.error.span != error.span:
        return ran
    place_of = again.program.source.place_of
    if not error.is_bare and not is_cut(again, provenance):
        return ran  # constants from the beginning
    cuts = [Label(place_of(node), text) for node, text in causes_of_refusal(again, provenance)]
    labels = [label for label in error.labels if label.text != UNASKED]
    cures = tuple(cures_of_refusal(again, provenance)) if tries else ()
    told = error._replace(
        labels=(*labels, *cuts), notes=tuple(cure.note for cure in cures), cures=cures
    )
    return with_trials(ran._replace(error=told))


def in_own_words(ran: Ran, *, tries: bool = True) -> Ran:
    """A failure under PyTorch, with the labels and the advice of the own engine."""
    own = failed_alike(ran)
    if own is None:
        return ran
    own = with_trials(own) if tries else own
    return ran._replace(error=with_cut(own, tries=tries).error)


def failed_alike(ran: Ran) -> Ran | None:
    """The same failure by the own engine.

    It runs the same text, where that is cheap; nothing of the program gets out of it. Where it
    fails at the same place in the same words, what it knows of the failure holds for both.
    """
    error, limits = ran.error, ran.request.limits
    if error is None or error.span is None or error.exit_status is not ExitStatus.PROGRAM_ERROR:
        return None
    if len(ran.request.data) > MOST_SOURCE:
        return None
    from ..pipeline.run import execute

    request = ran.request._replace(
        engine="own", device="cpu", arguments=(),
        limits=limits._replace(
            max_steps=min(MOST_STEPS, steps_for(limits)), max_asked=bytes_for(limits),
            max_memory=MOST_MEMORY,
        ),
    )  # fmt: skip
    with as_new():
        own = execute(request, None)
    if own.error is None or own.error.span is None or own.error.message != error.message:
        return None
    is_alike = (own.error.type, own.error.span.line) == (error.type, error.span.line)
    return own if is_alike else None


def _answer(error: Diagnostic, cure: Cure, again: Ran | None) -> str | None:
    """The result of the trial; empty if it does not help, None if unknown."""
    if again is None or again.outcome is None:
        return None
    if again.error is None:
        return f"passes; {cure.added}" if cure.added and _adds(again) else "passes"
    before, after = error.span, again.error.span
    if before is None or after is None:
        return ""
    line = _moved(before, cure)
    if after.line <= line:
        return ""  # it fails in the same place, or even earlier
    return f"line {before.line} passes; {again.error.type} on line {_back(after.line, cure)} then"


def _moved(span: Span, cure: Cure) -> int:
    """The line that a place has after the edits."""
    return span.line + sum(more for at, more in _grown(cure) if at.start <= span.start)


def _back(line: int, cure: Cure) -> int:
    """The line of the program that a line of the changed one was."""
    for at, more in sorted(_grown(cure), key=lambda grown: grown[0].line, reverse=True):
        if line > at.line:
            line -= more
    return line


def _grown(cure: Cure) -> Iterator[tuple[Span, int]]:
    """Where lines came in, and how many."""
    for span, text in cure.edits:
        more = text.count("\n") - (span.end_line - span.line)
        if more:
            yield span, more


def _adds(again: Ran) -> bool:
    """Whether a leaf's .grad was added to: stored once and changed by a backward call since."""
    assert again.outcome is not None
    bindings = again.outcome.bindings
    tensors: list[Any] = [tensor for _, tensor in named_tensors(bindings, AnyTensor)]
    tensors += [tensor for _, tensor in parameters(bindings, AnyTensor)]
    grads = (gradient_of(tensor) for tensor in tensors)
    return any(grad is not None and grad._version and _by_backward(grad) for grad in grads)


def _by_backward(grad: AnyTensor) -> bool:
    function = getattr(changed_at(grad), "func", None)
    return getattr(function, "attr", getattr(function, "id", "")) == "backward"
