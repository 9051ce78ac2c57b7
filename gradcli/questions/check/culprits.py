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
from ...recording.sides import AnyTensor, node_of
from .numeric.live_tape import LiveTape
from .numeric.points import words_of
from .numeric.tape import Key, Tape, operands_of
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
        """The operation that made such a number of others, and from which it came to the result."""
        node = node_of(result)
        wanted: Key | None = (id(node), int(result.output_nr))
        for step in reversed(self.tape.behind(result)):
            outs = step.outs if step.base is None else (*step.outs, step.base)
            out = next((out for out, key in outs if key == wanted), None)
            if out is None or problem.kind not in words_of(out._data):
                continue
            operands = (one for _, _, one in operands_of(step))
            bad = next((one for one in operands if problem.kind in words_of(one.data)), None)
            if bad is None:
                place, said = self.place(step.node), f"{problem.kind} from here on"
                return problem if place is None else _at(problem, place[:4], said)
            wanted = bad.key if bad.base is None or bad.key is not None else bad.base.key
            if wanted is None:
                break  # it was there from the beginning
        return problem

    def of_gradient(self, name: str, problem: Problem) -> Problem:
        """The same where a value is bad, else what `gradcli why` says."""
        for result in self.results:
            found = self.of_value(result, problem)
            if found is not problem:
                return found
        with suppress(UsageError, ProgramError, LimitReached):
            why = self._why(name)
            labels = [label for label in why.labels if label.primary]
            if labels and ("nan" in why.verdict or why.verdict == "inf-born"):
                return _at(problem, labels[0][:4], labels[0].text)
        return problem

    def _why(self, name: str) -> Any:
        from ..provenance import Provenance
        from ..why import reported

        if self._reasons is None:
            provenance = Provenance()
            self._reasons = once_more(self.ran.request, provenance.recording), provenance
        again, provenance = self._reasons
        return reported(again, provenance, name)


def _at(problem: Problem, where: tuple[int, int, int, int], said: str) -> Problem:
    line, column, end_line, end_column = where
    return problem._replace(line=line, column=column, end_line=end_line, end_column=end_column,
                            label=said)  # fmt: skip
