"""Questions: which operation produced the NaN or infinity that fails a check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...diagnostics import LimitReached, ProgramError
from ...opening import UsageError
from ...pipeline.request import Ran
from ...recording.facts import Place
from ...recording.facts.check import Problem
from ...recording.sides import AnyTensor
from .numeric.live_tape import LiveTape
from .numeric.points import words_of
from .numeric.tape import Tape, operands_of
from .repeated import once_more


class Culprits:
    """Who made what fails; asked only where something fails.

    A value came from a recorded operation. A gradient may be bad although all values are good: then
    the program runs once more, for `why` to say where its pass made the first bad number.
    """

    def __init__(
        self, ran: Ran, tape: Tape | LiveTape, results: Sequence[AnyTensor],
        place: Callable[[Any], Place | None],
    ) -> None:  # fmt: skip
        self.ran, self.tape, self.results, self.place = ran, tape, results, place
        self._reasons: Any = None

    def of_value(self, result: AnyTensor, problem: Problem) -> Problem:
        """The first operation that made such a number of others."""
        for step in self.tape.behind(result):
            came_in = any(problem.kind in words_of(one.data) for _, _, one in operands_of(step))
            outs = (out for out, _ in step.outs if out is not None)
            if came_in or not any(problem.kind in words_of(out._data) for out in outs):
                continue
            place = self.place(step.node)
            if place is not None:
                return _at(problem, (place.line, place.column, place.end_line, place.end_column),
                           f"{problem.kind} from here on")  # fmt: skip
        return problem

    def of_gradient(self, name: str, problem: Problem) -> Problem:
        """The same where a value is bad, else what `gradcli why` says."""
        for result in self.results:
            found = self.of_value(result, problem)
            if found is not problem:
                return found
        with suppress(UsageError, ProgramError, LimitReached):
            labels = [label for label in self._why(name).labels if label.primary]
            if labels:
                return _at(problem, labels[0][:4], labels[0].text)
        return problem

    def _why(self, name: str) -> Any:
        from ..why import reported
        from ..why.provenance import Provenance

        if self._reasons is None:
            provenance = Provenance()
            self._reasons = once_more(self.ran.request, provenance.recording), provenance
        again, provenance = self._reasons
        return reported(again, provenance, name)


def _at(problem: Problem, where: tuple[int, int, int, int], said: str) -> Problem:
    line, column, end_line, end_column = where
    return problem._replace(line=line, column=column, end_line=end_line, end_column=end_column,
                            shown=(said, *problem.shown))  # fmt: skip
