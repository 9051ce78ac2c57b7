"""Render: a pass controlled by single keys: program, steps and the current step on one screen.

It shows what the session of `session` answers; rich draws it, in place.
"""

from __future__ import annotations

from rich.console import Group
from rich.layout import Layout
from rich.live import Live
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from ..escape import block
from ..terminal import CODE, STYLES, parts
from ..text import Look
from .session import Session

KEYS = {
    "n": "next", " ": "next", "\r": "next", "\n": "next", "\x1b[C": "next", "\x1b[B": "next",
    "b": "back", "\x7f": "back", "\x1b[D": "back", "\x1b[A": "back", "r": "run", "p": "pass",
    "h": "help", "?": "help", "q": "quit", "\x04": "quit",
}  # fmt: skip
HINT = " n next  b back  r run  p pass  h help  q quit  : a command, as show a.grad"
LEAST_ANSWER = 8  # lines of the present step that are always there


class Screen:
    """The screen of a session while it lasts."""

    def __init__(self, session: Session, source: str, look: Look) -> None:
        self.session, self.look = session, look
        self.source = block(source)
        self.answer = session.begin()
        self.typed: str | None = None  # a command in the making
        self.live = Live(screen=True, auto_refresh=False)

    def __enter__(self) -> Screen:
        self.live.__enter__()
        self._draw()
        return self

    def __exit__(self, *error: object) -> None:
        self.live.stop()

    def press(self, key: str) -> None:
        """A key, or what a terminal sends for one."""
        if self.typed is not None:
            self._type(key)
        elif key == ":":
            self.typed = ""
        elif key in KEYS:
            self._ask(KEYS[key])
        self._draw()

    def _type(self, key: str) -> None:
        assert self.typed is not None
        if key in ("\r", "\n"):
            line, self.typed = self.typed, None
            if line.strip():
                self._ask(line)
        elif key == "\x1b":
            self.typed = None
        elif key in ("\x7f", "\x08"):
            self.typed = self.typed[:-1]
        elif key.isprintable():
            self.typed += key

    def _ask(self, line: str) -> None:
        self.answer = self.session.answer(line)

    # ---- what stands where

    def _draw(self) -> None:
        width, height = self.live.console.size
        shown = Group(*parts(self.answer, self.look))
        room = max(LEAST_ANSWER, min(len(self.answer) + 1, height * 2 // 3))
        page, above = Layout(), Layout(name="above")
        left = max(1, height - room - 2)
        above.split_row(self._program(left, width // 2), self._steps(left))
        page.split_column(
            above,
            Layout(Rule(f"[bold]{self.session.prompt.removesuffix('> ')}[/]", style="dim"), size=1),
            Layout(shown, size=room),
            Layout(self._hint(), size=1),
        )
        self.live.update(page, refresh=True)

    def _hint(self) -> Text:
        if self.typed is None:
            return Text(HINT, "dim", no_wrap=True, overflow="crop")
        return Text(f": {block(self.typed)}▏", "bold")

    def _program(self, height: int, width: int) -> Layout:
        """The lines around the one that made the present node."""
        here = self._line()
        first = max(1, here - height // 2)
        code = Syntax(
            self.source, "python", theme=CODE, line_numbers=True, background_color="default",
            line_range=(first, first + height - 1), highlight_lines={here},
            code_width=max(20, width - 8),
        )  # fmt: skip
        return Layout(code, ratio=1)

    def _line(self) -> int:
        walk, at = self.session.walk, self.session.at
        line = walk.steps[at - 1].line if at else walk.line
        return line or 1

    def _steps(self, height: int) -> Layout:
        """The steps around the present one."""
        session = self.session
        steps, here = session.walk.steps, session.at - 1
        first = max(0, min(here - height // 2, len(steps) - height))
        rows = Text(no_wrap=True, overflow="ellipsis")
        for place, step in enumerate(steps[first : first + height], first):
            style = "bold" if place == here else STYLES["leaf"] if step.is_leaf else ""
            mark = "▶" if place == here else " "
            words = f"{mark} {step.number:>{session.blocks.digits}}  {session.blocks.title(step)}"
            rows.append(block(words).replace("\n", " ") + "\n", style)
        return Layout(rows, ratio=1)
