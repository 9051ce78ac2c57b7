"""Render: an interactive session of `step`: reads a line, answers with lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from difflib import get_close_matches

from ...diagnostics import some
from ...recording.facts.steps import StepsReport, WalkFact
from ..text import BLANK, Cell, Line, Look, cell, ellipsis, pad
from . import closing, opening
from .block import Blocks

AROUND = 4  # steps before and behind this one that `list` shows
HELP: tuple[tuple[str, str], ...] = (
    ("next [N]", "go to the next step, or N steps on; so does an empty line"),
    ("back [N]", "go one step back, or N"),
    ("run [NAME]", "go on to a name, a node, step N, a breakpoint or the end"),
    ("break [NAME]", "stop there when running; without a name: list the breakpoints"),
    ("clear [NAME]", "remove a breakpoint; without a name: all of them"),
    ("show [EXPR]", "a name or an expression at this moment; alone: this step"),
    ("set NAME EXPR", "give a tensor this gradient in this pass, and go on"),
    ("unset [NAME]", "take that back; without a name: all of them"),
    ("list [all]", "list the steps around this one"),
    ("pass [N]", "go to the next pass, or to pass N"),
    ("help", "print this list"),
    ("quit", "leave"),
)
Setting = tuple[str, int, str]  # a name, the number of a pass, an expression
_SHORT = {"n": "next", "b": "back", "r": "run", "s": "show", "p": "show", "l": "list",
          "q": "quit", "h": "help", "?": "help", "c": "run", "continue": "run", "print": "show",
          "exit": "quit", "step": "next", "where": "show", "w": "show"}  # fmt: skip


def matching(walk: WalkFact, word: str) -> list[int]:
    """The places of the steps that a name, a node's name or a number means."""
    if word.isdigit():
        return [int(word) - 1] if 0 < int(word) <= len(walk.steps) else []
    found = [i for i, name in enumerate(walk.names) if word in (name, name.partition("#")[0])]
    if not found and word in walk.others:
        return [walk.others[word]]
    return found or [i for i, name in enumerate(walk.node_names) if name == word]


class Session:
    """The current position in the passes of a program.

    `show` gives the text of an expression behind a step of a pass; `change` tells the passes with
    other gradients, or what is wrong with them.
    """

    def __init__(
        self, report: StepsReport, look: Look, show: Callable[[int, int, str], str],
        change: Callable[[tuple[Setting, ...]], StepsReport | str],
    ) -> None:  # fmt: skip
        self.report, self.look, self.show, self.change = report, look, show, change
        self.settings: dict[tuple[str, int], str] = {}  # by name and pass
        self.place = 0  # of the pass among the report's
        self.at = 0  # steps of it that are done
        self.stops: dict[str, None] = {}
        self.is_over = False
        self._blocks()

    @property
    def walk(self) -> WalkFact:
        return self.report.walks[self.place]

    @property
    def prompt(self) -> str:
        """What stands before the line that is read."""
        return f"step {self.at:,} of {len(self.walk.steps):,}> "

    def begin(self) -> list[Line]:
        """The first lines: the pass, and what can be done."""
        words = "next, back, run, break, show, set, list, pass, help, quit"
        return [*opening(self.walk, self.report, self.look), (cell(f"  {words}", "dim"),)]

    def answer(self, line: str) -> list[Line]:
        """What a line is answered with."""
        word, _, rest = line.strip().partition(" ")
        command = _SHORT.get(word, word) or "next"
        acting: dict[str, Callable[[str], Iterator[Line]]] = {
            "next": self._next, "back": self._back, "run": self._run, "break": self._break,
            "clear": self._clear, "show": self._show, "list": self._list, "pass": self._pass,
            "set": self._set, "unset": self._unset, "help": self._help, "quit": self._quit,
        }  # fmt: skip
        action = acting.get(command)
        if action is None:
            near = get_close_matches(command, acting, 1, 0.6)
            said = f"did you mean {near[0]}?" if near else "help lists the commands"
            return [(cell(f"{word}: unknown command; {said}", "error"),)]
        return list(action(rest.strip()))

    def _blocks(self) -> None:
        self.blocks = Blocks(self.walk, self.look)

    # ---- moving

    def _count(self, text: str) -> int:
        return max(1, int(text)) if text.isdigit() else 1

    def _next(self, rest: str) -> Iterator[Line]:
        if self.at == len(self.walk.steps):
            yield from self._ended()
            return
        yield from self._go(min(self.at + self._count(rest), len(self.walk.steps)))

    def _back(self, rest: str) -> Iterator[Line]:
        if self.at == 0:
            yield (cell("this is where the pass begins", "dim"),)
            return
        self.at = max(0, self.at - self._count(rest))
        yield from self._here()

    def _run(self, rest: str) -> Iterator[Line]:
        ends = self._places(rest) if rest else self._stopping()
        if ends is None:
            yield from self._unknown(rest)
            return
        later = [place for place in ends if place >= self.at]
        if rest and not later:
            yield (cell(f"{rest} is behind you: back, or back N, goes there", "dim"),)
            return
        if self.at == len(self.walk.steps):
            yield from self._ended()
            return
        yield from self._go(min(later) + 1 if later else len(self.walk.steps))

    def _go(self, at: int) -> Iterator[Line]:
        passed = at - self.at - 1
        if passed > 0:
            steps = f"steps {self.at + 1:,} to {at - 1:,}" if passed > 1 else f"step {at - 1:,}"
            yield (cell(f"{self.blocks.indent}{ellipsis(self.look)} {steps}", "dim"),)
            yield BLANK
        self.at = at
        yield from self._here()
        if at == len(self.walk.steps):
            yield BLANK
            yield from self._ended()

    def _here(self) -> Iterator[Line]:
        if self.at == 0:
            yield from opening(self.walk, self.report, self.look)
        else:
            yield from self.blocks.lines(self.walk.steps[self.at - 1])

    def _ended(self) -> Iterator[Line]:
        yield closing(self.walk)
        if self.place + 1 < len(self.report.walks):
            yield (cell("  pass goes on to the next one", "dim"),)

    def _pass(self, rest: str) -> Iterator[Line]:
        wanted = self.place + 1
        if rest.isdigit():
            numbers = [walk.number for walk in self.report.walks]
            wanted = numbers.index(int(rest)) if int(rest) in numbers else len(numbers)
        if wanted >= len(self.report.walks):
            yield (cell("there is no such pass", "dim"),)
            return
        self.place, self.at = wanted, 0
        self._blocks()
        yield from opening(self.walk, self.report, self.look)

    # ---- other gradients

    def _set(self, rest: str) -> Iterator[Line]:
        name, _, text = rest.partition(" ")
        if not name or not text.strip():
            yield (cell("set NAME EXPR, such as set b 2.0", "error"),)
            return
        if name.isdigit() or self._places(name) is None:
            yield from self._unknown(name)
            return
        before = dict(self.settings)
        self.settings[name, self.walk.number] = text.strip()
        if (yield from self._changed(before)):
            where = self._steps(name)
            yield (cell(f"the gradient of {name} is {text.strip()} in this pass, {where}"),)
            yield from self._here()

    def _unset(self, rest: str) -> Iterator[Line]:
        known = {key for key in self.settings if not rest or key[0] == rest}
        if not known:
            yield (cell(f"{rest or 'nothing'} was not set", "dim"),)
            return
        before = dict(self.settings)
        for key in known:
            del self.settings[key]
        if (yield from self._changed(before)):
            yield from self._here()

    def changes(self) -> tuple[Setting, ...]:
        """The gradients that were set."""
        return tuple((*key, text) for key, text in self.settings.items())

    def _changed(self, before: dict[tuple[str, int], str]) -> Generator[Line, None, bool]:
        """The passes anew; where that fails nothing has changed."""
        report = self.change(self.changes())
        problem = report if isinstance(report, str) else ""
        if not isinstance(report, str) and not self._is_alike(report):
            problem = "the program takes another way with this gradient: its steps are others"
        if problem or isinstance(report, str):
            self.settings = before
            yield (cell(problem, "error"),)
            return False
        self.report = report
        self._blocks()
        return True

    def _is_alike(self, report: StepsReport) -> bool:
        """Whether the same pass goes over the same steps."""
        if len(report.walks) != len(self.report.walks):
            return False
        return len(report.walks[self.place].steps) == len(self.walk.steps)

    # ---- breakpoints

    def _places(self, word: str) -> list[int] | None:
        return matching(self.walk, word) or None

    def _stopping(self) -> list[int]:
        return sorted(place for word in self.stops for place in matching(self.walk, word))

    def _break(self, rest: str) -> Iterator[Line]:
        if not rest:
            if not self.stops:
                yield (cell("no breakpoint is set", "dim"),)
            for word in self.stops:
                yield (cell(word), cell(f"   {self._steps(word)}", "dim"))
            return
        if self._places(rest) is None:
            yield from self._unknown(rest)
            return
        self.stops[rest] = None
        yield (cell(f"run stops at {rest}, "), cell(self._steps(rest), "dim"))

    def _clear(self, rest: str) -> Iterator[Line]:
        if rest and rest not in self.stops:
            yield (cell(f"{rest} is not a breakpoint", "dim"),)
            return
        if rest:
            del self.stops[rest]
        else:
            self.stops.clear()
        left = ", ".join(self.stops) or "nothing but the end"
        yield (cell(f"run stops at {left}"),)

    def _steps(self, word: str) -> str:
        places = matching(self.walk, word)
        shown = some([f"{place + 1:,}" for place in places], 6)
        return f"step{'s' * (len(places) != 1)} {shown}"

    def _unknown(self, word: str) -> Iterator[Line]:
        names = dict.fromkeys(self.walk.names)
        near = get_close_matches(word, names, 1, 0.5)
        listed = some(list(names), 6)
        said = f"did you mean {near[0]}?" if near else f"its steps are {listed}"
        yield (cell(f"no step of this pass is called {word}; {said}", "error"),)

    # ---- looking

    def _show(self, rest: str) -> Iterator[Line]:
        if not rest:
            yield from self._here()
            return
        text = self.show(self.walk.number, self.at, rest)
        failed = re.match(r"[A-Z]\w*(Error|Exception|Reached): ", text) is not None
        for row in text.split("\n"):
            yield (cell(row, "error" if failed else ""),)

    def _list(self, rest: str) -> Iterator[Line]:
        count = len(self.walk.steps)
        first, last = max(0, self.at - AROUND - 1), min(count, self.at + AROUND)
        if rest == "all":
            first, last = 0, count
        stopping = set(self._stopping())
        mark = "▶" if self.look.unicode else ">"
        dot = "●" if self.look.unicode else "*"
        room = max(16, self.look.width - 48)
        for place in range(first, last):
            step = self.walk.steps[place]
            here = mark if place == self.at - 1 else " "
            stop = dot if place in stopping else " "
            words = self.look.fit(cell(self.blocks.words(step)).text, room)
            line = "" if step.line is None else f"line {step.line}"
            yield (
                Cell(f"{here}{stop}", "result"),
                cell(f"{step.number:,}".rjust(self.blocks.digits) + "  ", "dim"),
                Cell(pad(words, room), "leaf" if step.is_leaf else ""), Cell("  "),
                cell(pad(self.look.fit(step.node_name, 24), 24), "node"), cell(f"  {line}", "dim"),
            )  # fmt: skip
        if last < count:
            more = f"{count - last:,} more; list all shows them"
            yield (cell(f"     {ellipsis(self.look)} {more}", "dim"),)

    def _help(self, rest: str) -> Iterator[Line]:
        for word, said in HELP:
            yield (cell(f"  {word:<14}", "name"), cell(said))

    def _quit(self, rest: str) -> Iterator[Line]:
        self.is_over = True
        yield from ()
