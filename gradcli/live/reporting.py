"""Live: the functions that a rewritten program calls: they report the values of its expressions.

Whose children a value is, the frame tells: an expression that a function evaluates belongs to
that function. Frames of comprehensions stand for the ones behind them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any

from ..diagnostics import Enough
from ..language.tracing import Listener
from ..recording.looking import is_a, size, table_of
from .side import TorchSide

WITHIN = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
BARRIER = 0  # stands between the expressions of two frames


def _frame() -> Any:
    """The frame of the program that called one of the functions below, safely."""
    frame = sys._getframe(3)
    while frame.f_code.co_name in WITHIN and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _is_behind(outer: Any, frame: Any) -> bool:
    """Whether a frame is this one, or one that it was called from."""
    while frame is not None:
        if frame is outer:
            return True
        frame = frame.f_back
    return False


class Reporter:
    """Passes the reports of the program to a listener; `nodes` are the expressions by number."""

    def __init__(
        self, nodes: list[ast.AST], listener: Listener, side: TorchSide, defects: list[Exception]
    ) -> None:
        self.nodes, self.listener, self.off = nodes, listener, side.hands_off
        self.defects = defects
        self.thread = get_ident()
        self.side = side
        self.on_handle: Callable[[Any, Any, Any], None] = lambda place, handle, node: None
        self.graph_node: Any = None  # of the graph, that the program read last
        self.open: list[tuple[Any, int]] = []  # (frame, number) of what has begun
        self.telling = False
        self.kept: dict[int, Any] = {}
        self.old: dict[int, Any] = {}

    @property
    def table(self) -> dict[str, Callable[..., Any]]:
        """The functions, by the texts that stand for them in the code."""
        found = {}
        for name in ("enter", "leave", "loaded", "keep", "written", "operand", "added", "before",
                     "replaced", "returned", "managing", "entered", "left"):  # fmt: skip
            found[f"gradcli: {name}"] = self._safe(getattr(self, name))
        return found

    def forget(self) -> None:
        """Nothing is reported any more; frames hold their code, which holds this."""
        for held in (self.open, self.kept, self.old):
            held.clear()

    def _safe(self, tell: Callable[..., Any]) -> Callable[..., Any]:
        """What goes wrong in telling is our defect: the program goes on with its value, which is
        told last. What runs in between, such as a trace function, tells nothing itself."""
        defects = self.defects

        def safe(*facts: Any) -> Any:
            if self.telling or get_ident() != self.thread:
                return facts[-1] if len(facts) > 1 else None
            self.telling = True
            try:
                return tell(*facts)
            except Enough:
                raise
            except Exception as error:
                defects.append(error)
                return facts[-1] if len(facts) > 1 else None
            finally:
                self.telling = False

        return safe

    def _is_elsewhere(self) -> bool:
        side = self.side
        return get_ident() != self.thread or side.transform() is not None or side.is_traced()

    # ------------------------------------------------------------ expressions

    def enter(self, number: int) -> None:
        """An expression begins."""
        if self._is_elsewhere():
            return
        frame = _frame()
        self._stand(frame)
        self.open.append((frame, number))
        self.listener.enter()

    def _stand(self, frame: Any) -> None:
        """Expressions of this frame come now; what frames that are over left open is closed."""
        opened = self.open
        if opened and opened[-1][0] is frame:
            return
        while opened and not _is_behind(opened[-1][0], frame):
            opened.pop()
            self.listener.drop()
        if not opened or opened[-1][0] is not frame:
            opened.append((frame, BARRIER))
            self.listener.begin()

    def leave(self, number: int, value: Any) -> Any:
        """It has this value."""
        if not self._is_elsewhere():
            mine = (_frame(), number)
            with self.off():
                if self._closed(mine):
                    if type(value).__name__ == "RemovableHandle":
                        self.on_handle(self.nodes[number], value, self.graph_node)
                    elif hasattr(type(value), "register_prehook"):
                        self.graph_node = value
                    # What super() gives says that it is of the class of the object.
                    told = None if type(value) is super else value
                    self.listener.leave(self.nodes[number], told)
        return value

    def _closed(self, mine: tuple[Any, int]) -> bool:
        """What errors and jumps have left open inside of it is closed first."""
        opened = self.open
        for place in range(len(opened) - 1, -1, -1):
            if opened[place][1] == mine[1] and opened[place][0] is mine[0]:
                for _ in range(len(opened) - 1 - place):
                    opened.pop()
                    self.listener.drop()
                opened.pop()
                return True
        return False

    def loaded(self, number: int, value: Any) -> Any:
        """A name was read."""
        if not self._is_elsewhere():
            node: Any = self.nodes[number]
            frame = _frame()
            with self.off():
                self._stand(frame)
                self.listener.loaded(node, node.id, None, value)  # type: ignore[arg-type]
        return value

    # ------------------------------------------------------------ stores

    def keep(self, number: int, value: Any) -> Any:
        """A part of a store, reported when the store is done."""
        self.kept[number] = value
        return value

    def written(self, number: int, owner: int, value: int) -> None:
        """`owner[i] = value`, or `owner.name = value`, by the numbers of what was kept."""
        held, given = self.kept.pop(owner, None), self.kept.pop(value, None)
        if not self._is_elsewhere():
            with self.off():
                self.listener.written(self.nodes[number], held, given)

    def operand(self, number: int, owner: int, item: Any, value: Any) -> Any:
        """The operand of `owner[item] += value`; what was there is about to be replaced."""
        self.kept[number] = value
        self.old[number] = self._there(self.kept.get(owner), item)
        return value

    def _there(self, owner: Any, item: Any) -> Any:
        """What an attribute (by its name), or an item (by the number of what was kept) is, where
        no code of the program runs for it."""
        if isinstance(item, str):
            return table_of(owner).get(item)
        place = self.kept.get(item)
        if is_a(owner, dict):
            return dict.get(owner, place) if type(place) in (str, int) else None
        if is_a(owner, list) and type(place) is int and -size(owner) <= place < size(owner):
            return list.__getitem__(owner, place)
        return None

    def added(self, place: int, number: int, owner: int, operand: int, item: Any) -> None:
        """It is done: a number was replaced, or a tensor was changed in place."""
        held = self.kept.get(owner)
        new = self._there(held, item)
        old = self.old.pop(operand, None)
        if is_a(new, self.side.tensor) or new is None:
            self.written(place, owner, operand)
        else:
            given = self.kept.pop(operand, None)
            if not self._is_elsewhere():
                with self.off():
                    self.listener.replaced(self.nodes[number], old, given, new)
        self.kept.pop(item, None)
        self.kept.pop(owner, None)

    def before(self, number: int, value: Any) -> None:
        """What a name meant before `name += operand`."""
        self.old[number] = value

    def replaced(self, number: int, operand: int, new: Any) -> None:
        """What it means now."""
        old, given = self.old.pop(number, None), self.kept.pop(operand, None)
        if not self._is_elsewhere():
            with self.off():
                self.listener.replaced(self.nodes[number], old, given, new)

    def stored(self, node: ast.AST, name: str, value: Any, *, inside: bool) -> None:
        """A name was bound."""
        if not self._is_elsewhere():
            with self.off():
                scope: Any = self if inside else None
                self.listener.stored(node, name, scope, value)

    # ------------------------------------------------------------ flow

    def returned(self, number: int, value: Any) -> Any:
        """A function is about to return."""
        if not self._is_elsewhere():
            with self.off():
                self.listener.returned(self.nodes[number], value)  # type: ignore[arg-type]
        return value

    def managing(self, number: int) -> None:
        """The manager of a `with` is about to be made."""
        self.kept[-number] = self.side.grad_enabled()

    def entered(self, number: int) -> None:
        """The body of a `with` begins."""
        if not self._is_elsewhere():
            self.listener.entered(self.nodes[number], self.kept.pop(-number, True))

    def left(self) -> None:
        """It has ended."""
        if not self._is_elsewhere():
            self.listener.left()
