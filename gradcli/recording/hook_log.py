"""Recording: the hooks that ran, in order: which, on what, the gradient before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .collect import text_of
from .facts import EventFact

MOST = 1000  # hooks that ran
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


class HookLog:
    """What the engine tells of hooks, as a log.

    `name_of` names a node, as long as it lives, `words` a hook, and `registration` says where the
    program is when a hook is registered; all may be replaced by who knows the program.
    """

    def __init__(self, line: Callable[[], int | None]) -> None:
        self.line = line
        self.words: Callable[[Any], str] = lambda hook: "a hook"
        self.name_of: Callable[[Any], str | None] = lambda node: None
        self.registration: Callable[[], Registration] = lambda: Registration(self.line())
        self.runs: list[_Run] = []
        self.passes: list[tuple[int | None, int]] = []  # line of the call, hooks running then
        self._registered: dict[int, Registration] = {}
        self._running: list[_Running] = []

    def registered(self, number: int) -> None:
        """A hook was given this number."""
        if len(self._registered) < REGISTERED:
            self._registered[number] = self.registration()

    @property
    def is_used(self) -> bool:
        """Whether the program has hooks at all."""
        return bool(self._registered)

    def started(self) -> None:
        """A pass begins."""
        self.passes.append((self.line(), len(self._running)))

    def ended(self) -> None:
        """It is over; hooks that failed in it are no longer running."""
        if self.passes:
            _, running = self.passes.pop()
            del self._running[running:]

    def hooking(self, kind: str, node: Any, hook: Any, number: int, value: Any) -> None:
        """A hook is about to run."""
        told = len(self.runs) < MOST and getattr(hook, "stands_for", hook) is not None
        self._running.append(_Running(node, number, _text(kind, value) if told else ""))

    def hooked(self, kind: str, hook: Any, before: Any, after: Any) -> None:
        """It has run."""
        if not self._running:
            return
        node, number, text = self._running.pop()
        meant = getattr(hook, "stands_for", hook)
        if len(self.runs) >= MOST or meant is None:
            return
        line, written = self._registered.get(number, Registration(None))
        words = self.words(meant)
        if written and words.startswith("<"):
            words = written
        new: str | None = None
        if after is not None:
            new = _text(kind, after)
            if new == text and (after is before or kind == "post accumulate"):
                new = None
        elif _text(kind, before) != text:
            new = _text(kind, before)  # it changed in place what it was given
        call = self.passes[-1][0] if self.passes else None
        name = self.name_of(node) or ""
        self.runs.append(_Run(node, name, words, text, new, kind, line, call))

    def facts(self, names: Callable[[Any], str]) -> tuple[EventFact, ...]:
        """The log; `names` tells what a node without a name is called at the end."""
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
        inner = ", ".join(_text("", item) for item in value)
        return f"({inner}{',' if len(value) == 1 else ''})"
    return text_of(value) if hasattr(value, "detach") else repr(value)
