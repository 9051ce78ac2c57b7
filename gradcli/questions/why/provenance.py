"""Questions: which value came from which in a run, and which passes went over them."""

from __future__ import annotations

from functools import cached_property

from ...language.interpreter import Machine
from ...recording.recording import Recording
from ...recording.spectator import Spectator
from .dropouts import Dropouts
from .flow import Flow
from .passes import Passes
from .values import Step


class Provenance(Spectator):
    """Adds itself to a recording; ordinary runs have none and pay nothing."""

    def __init__(self, recording: Recording | None = None) -> None:
        self.recording = Recording() if recording is None else recording
        self.flow, self.dropouts = Flow(), Dropouts()
        self.flow.passes = self.passes = Passes(self.flow, self.recording)
        known = self.recording
        known.attach(known.names, known.leaf_names, known.lines, known.passes, known.optimizers,
                    known.ledger, self, self.passes, self.dropouts, known.modules,
                    known.losses)  # fmt: skip

    # Of a run that is over; all questions about it share them.

    @cached_property
    def steps(self) -> list[Step]:
        """What made the values, in their order."""
        return [Step._make(facts) for facts in self.flow.values if facts[1] is not None]

    @cached_property
    def users(self) -> dict[int, list[Step]]:
        """For each value the steps that used it."""
        found: dict[int, list[Step]] = {}
        for step in self.steps:
            for source in (*step.live, *step.dead):
                found.setdefault(source, []).append(step)
        return found

    def begin(self, machine: Machine) -> None:
        """Makes the closures of the machine report what they do."""
        self.flow.grad_enabled = machine.side.grad_enabled
        self.flow.whole.read(machine.program.body)
        machine.listen(self.flow)
        for name, value in machine.globals.values.items():
            node = machine.globals.nodes.get(name)
            if node is not None:
                self.flow.stored(node, name, None, value)
