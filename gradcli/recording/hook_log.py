"""Recording: the hooks that ran, in order: which, on what, the gradient before and after."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..engine.schema.errors import type_name
from ..engine.schema.origin import current_line, current_origin
from ..named import NamedTuple
from .facts import EventFact
from .names import Names
from .numbers import range_of, text_of
from .passes import Pass, Passes
from .spectator import Spectator

MOST = 1000  # hooks that ran
MOST_ITEMS = 100  # of the gradients that one hook was given or returned
REGISTERED = 100_000


def name_of_hook(hook: Any) -> str:
    """The name of a function: of an interpreted one, or of one of Python's."""
    return str(getattr(hook, "name", "") or getattr(hook, "__name__", "")) or "a hook"


class Registration(NamedTuple):
    """Where a hook was registered, and by which words where it has no name."""

    line: int | None
    words: str = ""


class _Run(NamedTuple):
    """A hook that ran."""

    node: Any
    name: str
    words: str
    before: str
    after: str | None
    kind: str
    line: int | None
    backward: int | None


class _Running(NamedTuple):
    """A hook that runs: what it was given, as text, for it may change that in place."""

    node: Any
    number: int
    text: str


class HookLog(Spectator):
    """The hooks of a run. `options` are the functions of options by their identity, and how the
    command line writes them."""

    def __init__(self, names: Names, passes: Passes) -> None:
        self.names, self.passes = names, passes
        self.options: dict[int, str] = {}
        self.runs: list[_Run] = []
        self.missed = 0  # that ran after so many
        self._source: Any = None
        self._registered: dict[int, Registration] = {}
        self._running: list[_Running] = []
        self._outside: list[int] = []  # for each pass, how many hooks were running then

    def begin(self, machine: Any) -> None:
        """The program is about to run."""
        self._source = machine.program.source

    def registered(self, number: int, hook: Any) -> None:
        """A hook was given this number."""
        if len(self._registered) < REGISTERED:
            self._registered[number] = self._registration(hook)

    def _registration(self, hook: Any) -> Registration:
        """Where a hook is being registered, and the text of the lambda in that call."""
        if id(hook) in self.options:
            return Registration(None)  # an option's hook stands on no line
        origin = current_origin()
        if not isinstance(origin, ast.Call) or self._source is None:
            return Registration(current_line())
        words = next(
            (self._source.text_of(self._source.span_of(argument))
             for argument in origin.args if isinstance(argument, ast.Lambda)),
            "",
        )  # fmt: skip
        return Registration(origin.lineno, words)

    @property
    def has_changes(self) -> bool:
        """Whether a hook gave another gradient than it got."""
        return any(run.after is not None for run in self.runs)

    def began(self, one: Pass) -> None:
        """A pass begins."""
        self._outside.append(len(self._running))

    def over(self, one: Pass, freed: list[Any]) -> None:
        """It has ended; hooks that failed in it are no longer running."""
        del self._running[self._outside.pop() :]

    def hooking(self, kind: str, node: Any, hook: Any, number: int, value: Any) -> None:
        """A hook is about to run."""
        told = len(self.runs) < MOST and getattr(hook, "stands_for", hook) is not None
        self._running.append(_Running(node, number, _text(kind, value) if told else ""))

    def hooked(self, kind: str, node: Any, hook: Any, number: int, before: Any, after: Any) -> None:
        """It has run."""
        if not self._running:
            return
        node, number, text = self._running.pop()
        meant = getattr(hook, "stands_for", hook)
        if len(self.runs) >= MOST or meant is None:
            self.missed += meant is not None
            return
        line, written = self._registered.get(number, Registration(None))
        words = self.options.get(id(meant)) or name_of_hook(meant)
        if written and words.startswith("<"):
            words = written
        new: str | None = None
        if after is not None:
            new = _text(kind, after)
            if new == text and (after is before or kind == "post accumulate"):
                new = None
        elif _text(kind, before) != text:
            new = _text(kind, before)  # it changed in place what it was given
        running = self.passes.running
        call = running[-1].line if running else None
        name = self.names.of_node(node) or ""
        self.runs.append(_Run(node, name, words, text, new, kind, line, call))

    def clear(self) -> None:
        """From here on others are told."""
        self.runs.clear()
        self.missed = 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the log does not hold, in words."""
        if not self.missed:
            return ()
        return (f"hooks ran {self.missed:,} times more: the first {MOST:,} are listed "
                "(gradcli step --pass N tells those of one pass)",)  # fmt: skip

    def facts(self, names: Callable[[Any], str]) -> tuple[EventFact, ...]:
        """The log; `names` gives the final names of nodes without a name."""
        return tuple(
            EventFact(name or names(node), words, before, after, kind, line, call)
            for node, name, words, before, after, kind, line, call in self.runs
        )


def _text(kind: str, value: Any) -> str:
    """A gradient, or several, as PyTorch prints them; of a leaf its .grad."""
    if kind == "post accumulate":
        value = value.grad
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)):
        parts = [_one(item) for item in value[:MOST_ITEMS]]
        if len(value) > MOST_ITEMS:
            parts.append("...")
        return f"({', '.join(parts)}{',' if len(value) == 1 else ''})"
    return _one(value)


def _one(value: Any) -> str:
    """A gradient as PyTorch prints it; of anything else, which a hook should not return, its type:
    how it prints may be the program's own code, or without an end."""
    if value is None:
        return "None"
    if not hasattr(value, "detach"):
        return f"<{type_name(value)} object>"
    text = text_of(value)
    if "..." in text and (span := range_of(value)) is not None and span.norm is not None:
        return f"{text}, {span.low:.4g}…{span.high:.4g}, norm {span.norm:.6g}"
    return text
