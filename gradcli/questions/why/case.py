"""Questions: the input of a verdict: the tensor in question, the run, places in its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...diagnostics import Edit, Span
from ...language.places import Enclosing
from ...named import NamedTuple
from ...pipeline.request import Ran
from ...recording.facts.basic import grad_name
from ...recording.holding import named_tensors, parameters
from ...recording.sides import AnyTensor, elsewhere_of, gradient_of, origin_of
from ..provenance import Provenance
from ..provenance.flow import Flow
from ..provenance.passes import Entry, Pass, Passes
from ..provenance.values import Mark, Step

SHORT = 40  # characters of a piece of code in a sentence
_NUMBERED = re.compile(r"\.(\d+)(?=\.|$)")


class Remark(NamedTuple):
    """A place of the program and what is said of it."""

    node: Any
    text: str


class Trial(NamedTuple):
    """An advice, and the edits that try it; `shown` is False where only a trial tells if it holds.

    `goal` is what the gradient must be then: "there", "nonzero", "finite"; "proof" is "nonzero"
    of a change that nobody would make for its own sake, and says nothing where it does not help.
    """

    advice: str
    edits: tuple[Edit, ...]
    goal: str = "there"
    shown: bool = True


def remark_once(remarks: list[Remark], node: Any, text: str) -> None:
    """Adds a remark, unless its place has one."""
    if not any(remark.node is node for remark in remarks):
        remarks.append(Remark(node, text))


@dataclass(eq=False)
class Finding:
    """A verdict, before it is put into words for a reader."""

    verdict: str
    sentence: str
    causes: list[Remark] = field(default_factory=list)
    others: list[Remark] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    advice: str = ""
    about: str = ""  # the result that is bad, where the gradient is not
    failed: str = ""  # how the program failed with what was tried first
    instead: list[Finding] = field(default_factory=list)  # other causes, where this is not proven


class Case(Enclosing):
    """One question about one run."""

    def __init__(
        self, ran: Ran, provenance: Provenance, name: str, tensor: AnyTensor,
        element: tuple[int, ...] | None,
    ) -> None:  # fmt: skip
        assert ran.program is not None and ran.outcome is not None
        self.ran, self.name, self.tensor, self.element = ran, name, tensor, element
        self.provenance = provenance
        self.flow: Flow = provenance.flow
        self.passes: Passes = provenance.passes
        self.source = ran.program.source
        self.program = ran.program
        self.value = self.flow.value_of(tensor)

    @property
    def code(self) -> str:
        """The name as the program would write it: net[0].weight for net.0.weight."""
        return _NUMBERED.sub(r"[\1]", self.name.partition("#")[0])

    @property
    def grad_name(self) -> str:
        return grad_name(self.name, self.element)

    def none(self, why: str) -> str:
        """The sentence of a verdict on a gradient that is not there."""
        return f"{self.name}.grad is None: {why}"

    # ------------------------------------------------------------ the tensor

    @property
    def gradient(self) -> AnyTensor | None:
        return gradient_of(self.tensor)

    @cached_property
    def entries(self) -> list[Entry]:
        return self.passes.entries_of(self.tensor)

    @cached_property
    def added(self) -> list[Entry]:
        """What was added to .grad since it was cleared last."""
        clears = [at for at, entry in enumerate(self.entries) if entry.kind == "clear"]
        return self.entries[clears[-1] + 1 :] if clears else self.entries

    @cached_property
    def last_pass(self) -> Pass | None:
        """The last pass that added to .grad."""
        numbers = [entry.number for entry in self.entries if entry.kind == "add"]
        return self.pass_of(numbers[-1]) if numbers else None

    def pass_of(self, number: int) -> Pass | None:
        return next((one for one in self.passes.passes if one.number == number), None)

    @cached_property
    def marks(self) -> list[Mark]:
        return [mark for mark in self.flow.marks.all if mark.tensor() is self.tensor]

    @cached_property
    def made(self) -> Step | None:
        """The expression that made the tensor, before any change in place."""
        for step in self.steps:
            if step.tensor is not None and step.tensor() is self.tensor:
                return step
        return None

    @cached_property
    def switches(self) -> dict[int, list[Mark]]:
        """requires_grad_ of each tensor, by its identity."""
        found: dict[int, list[Mark]] = {}
        for mark in self.flow.marks.all:
            if mark.kind == "requires_grad_":
                found.setdefault(id(mark.tensor()), []).append(mark)
        return found

    def turned_off(self, value: int, steps: int) -> Mark | None:
        """What had turned the requires_grad of a value off when there were so many steps."""
        tensor = self.flow.alive(value)
        marks = [] if tensor is None else self.switches.get(id(tensor), [])
        last = next((mark for mark in reversed(marks) if mark.steps <= steps), None)
        return None if last is None or last.on else last

    def step_of(self, value: int) -> Step | None:
        return self.flow.step(value)

    # ------------------------------------------------------------ the flow

    @property
    def steps(self) -> list[Step]:
        """What made the values, in their order."""
        return self.provenance.steps

    @property
    def users(self) -> dict[int, list[Step]]:
        """For each value the steps that used it."""
        return self.provenance.users

    def along(self, start: Iterable[int], live_only: bool) -> set[int]:
        """All values that came from these."""
        seen = set(start)
        pending = list(seen)
        for value in pending:
            for step in self.users.get(value, ()):
                if step.out not in seen and (not live_only or value in step.live):
                    seen.add(step.out)
                    pending.append(step.out)
        return seen

    def behind(self, ends: Iterable[int]) -> frozenset[int]:
        """All values that these came from."""
        return self.provenance.behind(ends)

    def outside(self, origin: Any) -> Iterator[Step]:
        """What made the operands outside the graph of the operation at a place."""
        for step in self.steps:
            if step.node is origin:
                made = map(self.step_of, self.behind(step.dead))
                yield from (one for one in made if one is not None)

    def reached(self, one: Pass) -> bool:
        """Whether a pass could have come to the tensor."""
        return one.reaches(self.tensor)

    # ------------------------------------------------------------ the text

    @property
    def parents(self) -> dict[int, ast.AST]:
        return self.provenance.parents

    @property
    def modules(self) -> frozenset[str]:
        """The names of modules that the program imports."""
        return self.provenance.modules

    def bound_by(self) -> ast.stmt | None:
        """The statement that gave the asked name this tensor."""
        for _, node, tensor in reversed(self.flow.bindings.get(self.name.partition("#")[0], [])):
            if tensor is self.tensor:
                return self.statement(node)
        made = self.made
        statement = None if made is None else self.statement(made.node)
        if isinstance(statement, ast.Assign):
            if any(self.whole(target) == self.name for target in statement.targets):
                return statement
        return None

    def function_of(self, node: ast.AST | None) -> ast.AST | None:
        """The function that a place is in."""
        outer = () if node is None else self.ancestors(node)
        return next((one for one in outer if isinstance(one, (ast.FunctionDef, ast.Lambda))), None)

    def is_here(self, node: Any) -> bool:
        """Whether it is a place of the program's text."""
        if not hasattr(node, "lineno") or hasattr(node, "of_option"):
            return False
        return getattr(node, "of_source", self.source) is self.source

    def span(self, node: Any) -> Span:
        return self.source.span_of(node)

    def line(self, node: Any) -> int:
        return self.source.place_of(node).line if self.is_here(node) else 0

    def text(self, node: Any, most: int = SHORT) -> str:
        """The text of a piece of the program, shortened."""
        if not self.is_here(node):
            return ""
        text = self.source.words_of(self.span(node))
        return text if len(text) <= most else text[: most - 3] + "..."

    def words(self, step: Step) -> str:
        """What made a value; of another file its expression and line, or the operation's."""
        if (inner := step.inner) is None or not inner.place:
            return self.text(step.node)
        word = inner.word.strip("_")
        return f"{inner.text or ('.data' if word == 'data' else f'{word}()')} on {inner.place}"

    def words_at(self, node: Any) -> str:
        """What made a node of the graph."""
        there = elsewhere_of(node)
        return self.text(origin_of(node)) if there is None else f"{there.source} on {there.words}"

    def whole(self, node: Any) -> str:
        """The text of a piece of the program as it stands."""
        return self.source.text_of(self.span(node))

    @cached_property
    def names(self) -> dict[int, str]:
        """What the tensors are called at the end, by identity."""
        assert self.ran.outcome is not None
        bindings = self.ran.outcome.bindings
        found: dict[int, str] = {}
        for name, tensor in (*named_tensors(bindings, AnyTensor), *parameters(bindings, AnyTensor)):
            found.setdefault(id(tensor), name)
        return found

    def called(self, value: int) -> str:
        """What a value is called: its name, else the text that made it."""
        reference = self.flow.value(value).tensor
        tensor = None if reference is None else reference()
        if tensor is not None and id(tensor) in self.names:
            return self.names[id(tensor)]
        step = self.step_of(value)
        if step is None:
            return "it"
        statement = self.statement(step.node)
        if isinstance(statement, ast.Assign) and statement.value is step.node:
            if isinstance(statement.targets[0], ast.Name):
                return statement.targets[0].id
        return self.text(step.node, 24)
