"""Questions: a counterfactual run: the program with one piece of text replaced.

An advice is worth more when it was tried. `attempt` applies edits to a program that ran and runs
what comes out under the same inputs, options and limits, and answers with the new `Ran`:

    again = attempt(ran, [Edit(span, "x")], room)
    if again is None: ...              # unknown: no program, no room, a limit
    elif again.error is None: ...      # it passes
    held = tensor_of(again, "a")       # what a name holds at its end

The same program gives the same numbers: what a run may change starts anew.
Nothing is printed, hooks of the command line are not set, and what the first run left stays as it
is. An edited program that can't be parsed, which would be a mistake of the advice, is None too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics import Edit, ExitStatus
from ..engine.schema.run_state import as_new
from ..language.source import Source
from ..pipeline.request import Limits, Ran
from ..process.deadline import reached
from ..recording.holding import parameters, tensors_in
from ..recording.sides import AnyTensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..language.interpreter import Outcome
    from .provenance import Provenance

TIMES, MORE = 4, 20_000  # steps of a trial: so many times those of the run, and some more
# What the run and its trials may take for each second of the time limit. Work of a second is ten
# times that, so a machine has to be slow for the clock to have a say.
STEPS, BYTES = 100_000, 256 << 20
LONG = 3600  # seconds of a limit that count


class Room:
    """What all trials of a run may take: steps, and bytes of large arrays, so that every machine
    tries the same, whatever else it does. A trial takes about what the run took; where less than
    that is left, there is none."""

    def __init__(self, ran: Ran) -> None:
        limits, outcome = ran.request.limits, ran.outcome
        self.taken, self.asked = (0, 0) if outcome is None else (outcome.steps, outcome.asked)
        self.steps, self.bytes = steps_for(limits), bytes_for(limits)
        self.time: str | None = None  # the limit of time, once a trial has met it
        self._take(outcome)

    @property
    def is_there(self) -> bool:
        """Whether the run would fit into it once more."""
        return self.taken <= self.steps and self.asked <= self.bytes and self.time is None

    def limits(self, limits: Limits, size: int) -> Limits:
        """Those of the next trial, whose text has that many characters."""
        return limits._replace(
            max_steps=min(self.steps, TIMES * self.taken + MORE), max_asked=self.bytes,
            max_source=max(limits.max_source, size * 4),
        )  # fmt: skip

    def spend(self, again: Ran) -> None:
        """A trial has run."""
        self._take(again.outcome)
        if again.error is not None:
            seconds = again.request.limits.timeout
            for limit in (reached(seconds), reached(seconds, by_clock=True)):
                if again.error.message == str(limit):
                    self.time = limit.limit

    def _take(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self.steps -= outcome.steps
            self.bytes -= outcome.asked


def steps_for(limits: Limits) -> int:
    """The steps of a run and its trials within these limits."""
    return min(limits.max_steps, int(STEPS * min(limits.timeout, LONG)))


def bytes_for(limits: Limits) -> int:
    """The bytes of large arrays of a run and its trials."""
    return int(BYTES * min(limits.timeout, LONG))


def edited(source: Source, edits: Iterable[Edit]) -> str | None:
    """The text with the edits done; None where two of them touch the same piece."""
    pieces = sorted(
        (_offset(source, span.line, span.column), _offset(source, span.end_line, span.end_column),
         place, text)
        for place, (span, text) in enumerate(edits)
    )  # fmt: skip
    out: list[str] = []
    at = 0
    for start, end, _, text in pieces:
        if start < at or end < start:
            return None
        out += (source.text[at:start], text)
        at = end
    return "".join(out) + source.text[at:]


def _offset(source: Source, line: int, column: int) -> int:
    starts = source.line_starts
    return len(source.text) if line > len(starts) else starts[line - 1] + column - 1


def attempt(
    ran: Ran,
    edits: Sequence[Edit],
    room: Room,
    provenance: Provenance | None = None,
) -> Ran | None:
    """The edited program's run; None when it shows nothing (see above)."""
    if ran.program is None or not edits:
        return None
    text = edited(ran.program.source, edits)
    if text is None:
        return None
    if not room.is_there:
        return None
    name = ran.request.name
    request = ran.request._replace(
        # The text of a notebook's cells is none itself.
        name=f"{name} (cells)" if ran.program.source.is_notebook else name,
        data=text.encode("utf-8", "surrogatepass"),
        limits=room.limits(ran.request.limits, len(text)),
        placeholders=False,
    )  # fmt: skip
    from ..pipeline.run import execute

    if request.engine == "torch":
        assert ran.outcome is not None and ran.outcome.machine is not None
        ran.outcome.machine.rewind()
    with as_new():
        again = execute(request, None, provenance.recording if provenance else None)
    room.spend(again)
    if again.outcome is None:
        return None
    if again.error is not None and again.error.exit_status is ExitStatus.LIMIT_REACHED:
        return None
    return again


def tensor_of(ran: Ran, name: str) -> AnyTensor | None:
    """The tensor that a name (`x`, `weights[0]`, `net.0.weight`) holds at a program's end."""
    if ran.outcome is None:
        return None
    return find(ran.outcome.bindings, name)


def find(bindings: Mapping[str, Any], name: str) -> AnyTensor | None:
    """The same among given names."""
    first = name.partition("[")[0]
    if first in bindings:
        for known, tensor in tensors_in(first, bindings[first], AnyTensor):
            if known == name:
                return tensor
    for known, tensor in parameters(bindings, AnyTensor):
        if known == name:
            return tensor
    return None
