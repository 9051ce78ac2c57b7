"""Render: going through backward passes step by step: a line is read, lines are answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from ..recording.facts.steps import StepsReport, WalkFact
from .steps import closing, opening
from .steps_block import Blocks
from .text import BLANK, Cell, Line, Look, cell, ellipsis, pad

AROUND = 4  # steps before and behind this one that `list` shows
HELP: tuple[tuple[str, str], ...] = (
    ("next [N]", "the next step, or N steps on; an empty line does it too"),
    ("back [N]", "one step back, or N"),
    ("run [NAME]", "on to the step of a name or node, to step N, a breakpoint or the end"),
    ("break [NAME]", "stop there when running; without a name: where it stops"),
    ("clear [NAME]", "do not stop there any more; without a name: nowhere"),
    ("show [EXPR]", "a name or an expression, as it is at this moment; alone: this step"),
    ("list [all]", "the steps around this one"),
    ("pass [N]", "the next pass, or pass N"),
    ("help", "this"),
    ("quit", "leave"),
)
_SHORT = {"n": "next", "b": "back", "r": "run", "s": "show", "p": "show", "l": "list",
          "q": "quit", "h": "help", "?": "help", "c": "run", "continue": "run", "print": "show",
          "exit": "quit", "step": "next", "where": "show", "w": "show"}  # fmt: skip


def matching(walk: WalkFact, word: str) -> list[int]:
    """The places of the steps that a name, a node's name or a number means."""
    if word.isdigit():
        return [int(word) - 1] if 0 < int(word) <= len(walk.steps) else []
    found = [i for i, name in enumerate(walk.names) if word in (name, name.partition("#")[0])]
    return found or [i for i, name in enumerate(walk.node_names) if name == word]


class Session:
    """Where somebody is in the passes of a program.

    `show` gives the text of an expression behind a step of a pass.
    """

    def __init__(
        self, report: StepsReport, look: Look, show: Callable[[int, int, str], str]
    ) -> None:
        self.report, self.look, self.show = report, look, show
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
        words = "next, back, run, break, show, list, pass, help, quit"
        return [*opening(self.walk, self.report, self.look), (cell(f"  {words}", "dim"),)]

    def answer(self, line: str) -> list[Line]:
        """What a line is answered with."""
        word, _, rest = line.strip().partition(" ")
        command = _SHORT.get(word, word) or "next"
        acting: dict[str, Callable[[str], Iterator[Line]]] = {
            "next": self._next, "back": self._back, "run": self._run, "break": self._break,
            "clear": self._clear, "show": self._show, "list": self._list, "pass": self._pass,
            "help": self._help, "quit": self._quit,
        }  # fmt: skip
        action = acting.get(command)
        if action is None:
            near = get_close_matches(command, acting, 1, 0.6)
            said = f"did you mean {near[0]}?" if near else "help lists what there is"
            return [(cell(f"{word}: no such command; {said}", "error"),)]
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
            yield (cell(f"{rest} is no breakpoint", "dim"),)
            return
        if rest:
            del self.stops[rest]
        else:
            self.stops.clear()
        left = ", ".join(self.stops) or "nothing but the end"
        yield (cell(f"run stops at {left}"),)

    def _steps(self, word: str) -> str:
        places = matching(self.walk, word)
        shown = ", ".join(f"{place + 1:,}" for place in places[:6])
        more = f" and {len(places) - 6:,} more" if len(places) > 6 else ""
        return f"step {shown}" if len(places) == 1 else f"steps {shown}{more}"

    def _unknown(self, word: str) -> Iterator[Line]:
        names = dict.fromkeys(self.walk.names)
        near = get_close_matches(word, names, 1, 0.5)
        listed = ", ".join(list(names)[:6]) + (", ..." if len(names) > 6 else "")
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
