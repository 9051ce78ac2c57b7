"""Questions: whole numbers in lists, as tolist() gives them: Python shares their objects, so which
of them came from where is known by the list, and by the names that go through it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from ...recording.names import parts_of
from .values import FLATTENED, Sources, name_of

MOST = 10_000  # lists that are held
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


class WholeNumbers:
    """The numbers of the values behind such lists, and behind what names in loops stand for."""

    __slots__ = ("lists", "names", "turns", "is_any")

    def __init__(self) -> None:
        self.lists: dict[int, tuple[list[Any], int]] = {}  # by identity, held
        # By what a loop goes through, or what an assignment takes apart: the names it gives out.
        self.names: dict[int, tuple[ast.Name, ...]] = {}
        self.turns: dict[int, int] = {}  # by such a name
        self.is_any = False  # whether there was such a list

    def read(self, body: Iterable[ast.AST]) -> None:
        """Finds the loops and assignments of a program."""
        for node in parts_of(body):
            if isinstance(node, LOOPS):
                self.names[id(node.iter)] = tuple(_item_names(node.iter, node.target))
            elif isinstance(node, ast.Assign) and isinstance(
                node.targets[0], (ast.Tuple, ast.List)
            ):
                self.names[id(node.value)] = tuple(_names(node.targets[0]))

    def of(self, value: Any) -> int | None:
        """The number of a list's value, if it is such a list."""
        held = self.lists.get(id(value))
        return held[1] if held is not None and held[0] is value else None

    def is_new(self, node: ast.AST, value: Any, parts: Iterable[Any]) -> bool:
        """Whether an expression made such a list: by tolist(), or of another one of them."""
        if type(value) is not list or not value or self.of(value) is not None:
            return False
        first: Any = value
        while type(first) is list and first:
            first = first[0]
        if type(first) not in (int, bool):
            return False
        return name_of(node) == "tolist" or any(self.of(part) is not None for part in parts)

    def put(self, value: list[Any], number: int) -> None:
        """From here on a list stands for this value, and so do the lists in it."""
        self.is_any = True
        if len(self.lists) >= MOST:
            self.lists.clear()
        self.lists[id(value)] = value, number
        for part in value[:FLATTENED]:
            if type(part) is list:
                self.put(part, number)

    def given_out(self, node: ast.Tuple, children: list[Any]) -> None:
        """i, j = int(x[0]), int(x[1]): what each of the names stands for."""
        names = self.names[id(node)]
        if len(names) == len(node.elts) == len(children):
            for name, child in zip(names, children, strict=True):
                self.turns.pop(id(name), None)
                if type(child) is int:
                    self.turns[id(name)] = child

    def gone_through(self, node: ast.AST, child: Any) -> Iterator[tuple[str, int | None]]:
        """An expression was evaluated: what the names of its loop stand for from here on."""
        number = self.of(child)
        if type(child) is Sources:
            known = {one for _, one in self.lists.values()}
            number = next((one for one in child if one in known), None)
        for name in self.names[id(node)]:
            if number is None:
                self.turns.pop(id(name), None)
            else:
                self.turns[id(name)] = number
                yield name.id, number


def _item_names(source: ast.expr, target: ast.expr) -> Iterator[ast.Name]:
    """The names of a loop that are given items: the count of enumerate() is none."""
    if name_of(source) == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    yield from _names(target)


def _names(target: ast.expr) -> Iterator[ast.Name]:
    return (part for part in ast.walk(target) if isinstance(part, ast.Name))
