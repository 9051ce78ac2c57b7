"""Questions: which value came from which in a run, and which passes went over them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property

from ...language.interpreter import Machine
from ...recording.recording import Recording
from ...recording.spectator import Spectator
from .flow import Flow
from .layers import Layers
from .passes import Passes
from .values import Step


class Provenance(Spectator):
    """Adds itself to a recording; ordinary runs have none and pay nothing."""

    def __init__(self, recording: Recording | None = None) -> None:
        self.recording = Recording() if recording is None else recording
        self.flow, self.layers = Flow(), Layers()
        self.body: Sequence[ast.stmt] = ()
        self._behind: dict[frozenset[int], frozenset[int]] = {}
        self.flow.passes = self.passes = Passes(self.flow, self.recording)
        known = self.recording
        known.attach(known.names, known.leaf_names, known.lines, known.passes, known.optimizers,
                    known.ledger, self, self.passes, self.layers, known.modules,
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

    @cached_property
    def parts(self) -> list[ast.AST]:
        """Every piece of the program's text, statement by statement."""
        return [part for statement in self.body for part in ast.walk(statement)]

    @cached_property
    def parents(self) -> dict[int, ast.AST]:
        """The piece around each piece, by identity."""
        return {id(child): node for node in self.parts for child in ast.iter_child_nodes(node)}

    @cached_property
    def attributes(self) -> list[ast.Attribute]:
        """Where the text reads or sets an attribute."""
        return [part for part in self.parts if isinstance(part, ast.Attribute)]

    @cached_property
    def modules(self) -> frozenset[str]:
        """The names of modules that the program imports."""
        imports = (one for part in self.parts if isinstance(part, ast.Import) for one in part.names)
        return frozenset(one.asname or one.name.partition(".")[0] for one in imports)

    def behind(self, ends: Iterable[int]) -> frozenset[int]:
        """All values that these came from."""
        ends = frozenset(ends)
        known = self._behind.get(ends)
        if known is None:
            seen, pending = set(ends), list(ends)
            for value in pending:
                step = self.flow.step(value)
                if step is not None:
                    for source in (*step.live, *step.dead):
                        if source not in seen:
                            seen.add(source)
                            pending.append(source)
            known = self._behind[ends] = frozenset(seen)
        return known

    def begin(self, machine: Machine) -> None:
        """Makes the closures of the machine report what they do."""
        self.flow.grad_enabled = machine.side.grad_enabled
        self.body = machine.program.body
        self.flow.whole.read(self.body)
        machine.listen(self.flow)
        for name, value in machine.globals.values.items():
            node = machine.globals.nodes.get(name)
            if node is not None:
                self.flow.stored(node, name, None, value)
