"""Questions: where a number of unrecorded code goes, found in its text.

Only straight ways count: through names that one body of statements binds and reads, the binding
before the reading.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...named import NamedTuple
from .case import Case

FILLING = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
MOST = 10_000  # expressions that are looked through


class Binding(NamedTuple):
    """A name is given a value, or more of one: what it was before still counts then."""

    place: tuple[int, int]
    value: ast.AST
    adds: bool


def goes_into(case: Case, number: ast.AST, end: ast.AST) -> bool:
    """Whether the text says that a number is part of an expression."""
    body = _body(case, number)
    if body is not _body(case, end):
        return False
    bindings = _bindings(list(case.program.body) if body is None else body.body)
    pending, seen = [(end, _place(end))], {id(end)}
    for expression, place in pending:
        for part in ast.walk(expression):
            if part is number:
                return True
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                for binding in _before(bindings.get(part.id, []), place):
                    if id(binding.value) not in seen and len(pending) < MOST:
                        seen.add(id(binding.value))
                        pending.append((binding.value, binding.place))
    return False


def _body(case: Case, node: ast.AST) -> Any:
    """The function that a place is in; None for the module's own statements."""
    return next((part for part in case.ancestors(node) if isinstance(part, FUNCTIONS)), None)


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _before(bindings: list[Binding], place: tuple[int, int]) -> Iterator[Binding]:
    """What a name may stand for at a place: its last binding before, and what was added since."""
    for binding in reversed(bindings):
        if binding.place < place:
            yield binding
            if not binding.adds:
                return


def _bindings(statements: list[ast.stmt]) -> dict[str, list[Binding]]:
    """Of each name, in the order of the text."""
    found: dict[str, list[Binding]] = {}
    pending: list[ast.AST] = list(statements)
    for node in pending:
        if isinstance(node, FUNCTIONS):
            continue
        pending += ast.iter_child_nodes(node)
        for name, value, adds in _bound(node):
            found.setdefault(name, []).append(Binding(_place(node), value, adds))
    for bindings in found.values():
        bindings.sort(key=lambda binding: binding.place)
    return found


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.AST, bool]]:
    """What a statement, or a call that fills a list, gives to names."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            for name in _names(target):
                yield name, node.value, not isinstance(target, (ast.Name, ast.Tuple, ast.List))
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield from ((name, node.value, False) for name in _names(node.target))
    elif isinstance(node, ast.AugAssign):
        yield from ((name, node.value, True) for name in _names(node.target))
    elif isinstance(node, ast.For):
        yield from ((name, node.iter, True) for name in _names(node.target))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in FILLING and isinstance(node.func.value, ast.Name):
            yield from ((node.func.value.id, part, True) for part in node.args)


def _names(target: ast.AST) -> Iterator[str]:
    """The names in a target: of owner[0] = value and owner.name = value the owner."""
    for part in ast.walk(target):
        if isinstance(part, ast.Name):
            yield part.id
