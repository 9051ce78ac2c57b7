"""language: a value as a notebook shows it: its repr, with long lists broken over lines.

A group of items (the inside of a list) is broken, at each of its commas, as soon as its line gets
longer than the page; the outermost group first. That is what IPython does.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from .formatting import quoted
from .session import session
from .sets import Set

WIDTH = 79
MOST = 1000  # items that are shown
DEEPEST = 200
# What Python shows of an object without a text of its own, and of a class; IPython says less.
PLAIN_OBJECT = re.compile(r"^<(\S+) object at (0x[0-9a-f]+)>$")
CLASS = re.compile(r"^<class '([\w.]+)'>$")


class Group:
    """What is in a bracket: whether its lines end at commas, and how many commas wait."""

    __slots__ = ("broken", "waiting")

    def __init__(self) -> None:
        self.broken = False
        self.waiting = 0


class Page:
    """Text on its way to lines: what may still be broken waits."""

    def __init__(self) -> None:
        self.done: list[str] = []
        # Texts, and places where a line may end: the group and its indentation.
        self.waiting: deque[Any] = deque()
        self.width = 0  # of what is done of the current line
        self.ahead = 0  # of what waits
        self.groups = [Group()]
        self.queue = [list(self.groups)]  # by depth, those not decided yet
        self.indentation = 0

    def text(self, text: str) -> None:
        if self.waiting:
            self.waiting.append(text)
            self.ahead += len(text)
            self._break_outer()
        else:
            self.done.append(text)
            self.width += len(text)

    def comma(self) -> None:
        """A place where the line may end, else a blank."""
        group = self.groups[-1]
        if group.broken:
            self._flush()
            self._line(self.indentation)
        else:
            self.waiting.append((group, self.indentation))
            group.waiting += 1
            self.ahead += 1
            self._break_outer()

    def line(self) -> None:
        """A line ends here in any case, and so at the commas around."""
        self._break_next()
        self._flush()
        self._line(self.indentation)

    def _line(self, indentation: int) -> None:
        self.done.append("\n" + " " * indentation)
        self.width = indentation

    def _break_outer(self) -> None:
        """The outermost group that waits is broken, until the line fits."""
        while self.width + self.ahead > WIDTH and self._break_next():
            pass

    def _break_next(self) -> bool:
        """Breaks the outermost group with a comma that waits, and those around it."""
        for level in self.queue:
            outer = next((group for group in reversed(level) if group.waiting), None)
            if outer is None:
                for group in level:
                    group.broken = True
                level.clear()
                continue
            level.remove(outer)
            outer.broken = True
            while outer.waiting:
                self._put()
            while self.waiting and type(self.waiting[0]) is str:
                self._put()
            return True
        return False

    def _put(self) -> None:
        item = self.waiting.popleft()
        if type(item) is str:
            self.done.append(item)
            self.width += len(item)
            self.ahead -= len(item)
            return
        group, indentation = item
        self.ahead -= 1
        group.waiting -= 1
        if group.broken:
            self._line(indentation)
        else:
            self.done.append(" ")
            self.width += 1

    def _flush(self) -> None:
        while self.waiting:
            self._put()

    def begin(self, opening: str) -> None:
        self.text(opening)
        while len(self.queue) <= len(self.groups):
            self.queue.append([])
        group = Group()
        self.queue[len(self.groups)].append(group)
        self.groups.append(group)
        self.indentation += len(opening)

    def end(self, closing: str, opening: str) -> None:
        group = self.groups.pop()
        if not group.waiting and group in (level := self.queue[len(self.groups)]):
            level.remove(group)
        self.indentation -= len(opening)
        self.text(closing)

    def whole(self) -> str:
        self._flush()
        return "".join(self.done)


def echo(value: Any) -> None:
    """Writes what a notebook shows of a cell's last value; nothing for None."""
    value = drawn(value)
    if value is None or _is_silent(value):
        return
    text = shown(value, quoted, session.budget.charge) + "\n"
    session.budget.charge_output(text)
    session.write(text)


def shown(value: Any, text_of: Callable[[Any], str], charge: Callable[[int], None]) -> str:
    """The same as text, where `text_of` has the texts of what is no container."""
    page = Page()
    _show(value, page, (), text_of, charge)
    return page.whole()


def drawn(value: Any) -> Any:
    """Of something of a module that draws, what a notebook says of it."""
    return value.shown if hasattr(type(value), "SILENT") else value


def _is_silent(value: Any) -> bool:
    """Something of a module that draws, which a person would see as a picture."""
    if type(value) is list or type(value) is tuple:
        return bool(value) and all(_is_silent(item) for item in value[:MOST])
    return hasattr(type(value), "SILENT")


def _show(
    value: Any, page: Page, around: tuple[int, ...], text_of: Callable[[Any], str],
    charge: Callable[[int], None],
) -> None:  # fmt: skip
    kind = type(value)
    inner = (*around, id(value))
    is_known = kind in BRACKETS or kind in CALLS
    if not is_known or id(value) in around or len(around) > DEEPEST or not len(value):
        text = text_of(value) if id(value) not in around else "..."
        _plain(CLASS.sub(r"\1", PLAIN_OBJECT.sub(r"<\1 at \2>", text)), page)
        return
    is_call = kind in CALLS
    opening, closing = (f"{kind.__name__}(", ")") if is_call else BRACKETS[kind]
    parts = CALLS[kind](value) if is_call else value.items() if kind is dict else value
    charge(len(value))
    page.begin(opening)
    for place, item in enumerate(parts):
        if place:
            page.text(",")
            page.comma()
        if place == MOST:
            page.text("...")
            break
        if kind is dict:
            _show(item[0], page, inner, text_of, charge)
            page.text(": ")
        _show(item[1] if kind is dict else item, page, inner, text_of, charge)
    if kind is tuple and len(value) == 1:
        page.text(",")
    page.end(closing, opening)


BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}"), Set: ("{", "}"), set: ("{", "}"),
}  # fmt: skip
# What is shown as a call, with the parts that it would be made of.
CALLS: dict[Any, Callable[[Any], list[Any]]] = {
    OrderedDict: lambda held: [list(held.items())],
    Counter: lambda held: [dict(held.most_common())],
    defaultdict: lambda held: [held.default_factory, dict(held)],
}


def _plain(text: str, page: Page) -> None:
    for place, line in enumerate(text.split("\n")):
        if place:
            page.line()
        page.text(line)
