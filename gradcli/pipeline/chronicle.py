"""pipeline: what happened in a run: which value came of which, which passes went back over them."""

from __future__ import annotations

from ..language.interpreter import Machine
from ..language.tracing import TracingCompiler
from .why.flow import Flow
from .why.passes import Passes


class Chronicle:
    """Give it to `execute`; ordinary runs have none and pay nothing."""

    def __init__(self) -> None:
        self.flow = Flow()
        self.passes = Passes(self.flow)
        self.flow.passes = self.passes

    def start(self, machine: Machine) -> None:
        """The program is about to run: its closures shall tell what they do."""
        compiler = TracingCompiler(machine.program, machine.globals, machine.overrides, self.flow)
        compiler.dynamic.update(machine.globals.values)
        machine.compiler = compiler
        for name, value in machine.globals.values.items():
            node = machine.globals.nodes.get(name)
            if node is not None:
                self.flow.stored(node, name, None, value)
