"""Live: where a running frame made its modules and parameters, found in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ..recording.modules import attributes, is_module, named_modules

TABLES = ("_parameters", "_modules")


def makers(tree: ast.Module, names: Mapping[str, Any], line: int) -> Iterator[tuple[Any, ast.expr]]:
    """Leaves and other values that were there before this line, with the expressions that made
    them: in `__init__` of a class of the text, else where the name was bound last."""
    assigned = _assigned(tree)
    classes = {node.name: _members(node) for node in ast.walk(tree)
               if isinstance(node, ast.ClassDef)}  # fmt: skip
    pending = [
        (value, next((node for at, node in reversed(assigned.get(name, [])) if at < line), None))
        for name, value in names.items()
    ]
    seen: set[int] = set()
    for value, place in pending:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_module(value):
            yield from _of_module(value, place, classes)
        elif held := attributes(value):
            written = classes.get(type(value).__name__, {})
            pending += [(part, written.get(name, place)) for name, part in held.items()]
        elif place is not None:
            yield value, place


def _of_module(
    root: Any, place: ast.expr | None, classes: Mapping[str, Mapping[str, ast.expr]]
) -> Iterator[tuple[Any, ast.expr]]:
    """Of each parameter the innermost place that the text has."""
    held = {id(root): place}
    for _, module in named_modules(root):
        made = held.get(id(module))
        written = classes.get(type(module).__name__, {})
        for table in TABLES:
            for name, part in vars(module)[table].items():
                where = written.get(name, made)
                if table == "_modules":
                    held.setdefault(id(part), where)
                elif part is not None and where is not None:
                    yield part, where


def _assigned(tree: ast.Module) -> dict[str, list[tuple[int, ast.expr]]]:
    found: dict[str, list[tuple[int, ast.expr]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append((node.lineno, node.value))
    for places in found.values():
        places.sort(key=lambda place: place[0])
    return found


def _members(owner: ast.ClassDef) -> dict[str, ast.expr]:
    """What methods set on self, by the name of the attribute: the first of each."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(owner):
        if isinstance(node, ast.Assign):
            for target, value in _pairs(node):
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    if target.value.id == "self":
                        found.setdefault(target.attr, value)
    return found


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """self.a, self.b = one, other"""
    for target in node.targets:
        inner = getattr(target, "elts", None)
        values = getattr(node.value, "elts", None)
        if inner is not None and values is not None and len(inner) == len(values):
            yield from zip(inner, values, strict=True)
        else:
            yield target, node.value
