"""Questions: a program that is timed line by line while it runs."""

from __future__ import annotations

import ast
from typing import Any

from ..language.compile.statements import StatementCompiler
from ..language.interpreter import Machine
from ..language.names import Scope
from ..language.program import Program
from ..language.values import Closure, Function
from ..recording.facts.profile import ProfileFact
from ..recording.profile import Profile, Stopwatch


class TimedCompiler(StatementCompiler):
    """Every statement, and every function that is one expression, runs on its line's account."""

    watch: Stopwatch

    def statement(self, node: Any, scope: Scope) -> Closure | None:
        """The closure of a statement, timed."""
        part = super().statement(node, scope)
        return None if part is None else self.watch.timed(node.lineno, part)

    def function(self, node: Any, scope: Scope, name: str, doc: str | None) -> Any:
        """What makes a function; one that only returns an expression has no statement."""
        make = super().function(node, scope, name, doc)
        body = node.body if isinstance(node, ast.Lambda) else node.body[-1]
        timed = False

        def made(frame: list[Any]) -> Function:
            nonlocal timed
            function: Function = make(frame)
            if function.code.value is not None and not timed:
                timed = True
                function.code.value = self.watch.timed(body.lineno, function.code.value)
            return function

        return made


class Timed(Profile):
    """Times every line of a run."""

    def begin(self, machine: Machine) -> None:
        """Its statements will be timed, and passes over graphs too."""
        before = machine.compiler
        compiler = TimedCompiler(machine.program, machine.globals, machine.overrides)
        compiler.dynamic.update(before.dynamic)
        compiler.watch = self.watch
        machine.compiler = compiler


def facts(program: Program, profile: Profile) -> ProfileFact:
    """What was measured, with the text of each line."""
    return profile.watch.facts(lambda line: program.source.line(line).strip())
