"""The fuzzer's shrinker: cuts a program down while what is asked of it stays true."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

Holds = Callable[[str], bool]
BLOCKS = ("body", "orelse", "finalbody")


def shrunk(text: str, holds: Holds, most: int = 1500) -> str:
    """The shortest program found, by statements and then by expressions, in that many attempts."""
    left = [most]

    def asked(tree: ast.Module) -> bool:
        left[0] -= 1
        if left[0] < 0:
            return False
        try:
            return holds(ast.unparse(ast.fix_missing_locations(tree)) + "\n")
        except (SyntaxError, ValueError, RecursionError):
            return False

    tree = ast.parse(text)
    if not asked(tree):  # unparsing alone loses it: a matter of text
        return _without_lines(text, holds)
    changed = True
    while changed and left[0] > 0:
        changed = False
        for smaller in (_without_statements, _unwrapped, _simpler):
            while (found := next(filter(asked, smaller(tree)), None)) is not None and left[0] > 0:
                tree, changed = found, True
    return ast.unparse(tree) + "\n"


def _without_lines(text: str, holds: Holds) -> str:
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        tried = lines[:place] + lines[place + 1 :]
        if holds("\n".join(tried) + "\n"):
            lines = tried
        else:
            place += 1
    return "\n".join(lines) + "\n"


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for part in BLOCKS:
            block = getattr(node, part, None)
            if isinstance(block, list) and block:
                yield block


def _without_statements(tree: ast.Module) -> Iterator[ast.Module]:
    """The program without one stretch of statements: long ones first, from the end."""
    for number, block in enumerate(_blocks(tree)):
        size = len(block)
        while size:
            for start in range(len(block) - size, -1, -size):
                smaller = copy.deepcopy(tree)
                target = list(_blocks(smaller))[number]
                del target[start : start + size]
                if not target:
                    if smaller.body is target:
                        continue
                    target.append(ast.Pass())
                if not (size == 1 and isinstance(block[start], ast.Pass)):
                    yield smaller
            size //= 2


def _unwrapped(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with one block in place of the statement that holds it."""
    for number, block in enumerate(_blocks(tree)):
        for place, statement in enumerate(block):
            inner = [getattr(statement, part, []) for part in BLOCKS]
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) or not any(inner):
                continue
            for part in BLOCKS:
                if getattr(statement, part, None):
                    smaller = copy.deepcopy(tree)
                    target = list(_blocks(smaller))[number]
                    target[place : place + 1] = getattr(target[place], part)
                    yield smaller


def _simpler(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with one expression replaced by a part of it, or a list cut short."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    for number, node in enumerate(nodes):
        for make in _parts(node):
            smaller = copy.deepcopy(tree)
            same = [other for other in ast.walk(smaller) if isinstance(other, ast.expr)][number]
            if _replace(smaller, same, make(same)):
                yield smaller


def _parts(node: ast.expr) -> Iterator[Callable[[Any], ast.expr]]:
    if isinstance(node, ast.BinOp):
        yield lambda same: same.left
        yield lambda same: same.right
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
            yield lambda same: same.func.value
        for place in range(len(node.args)):
            yield lambda same, place=place: same.args[place]
        for place in range(len(node.keywords)):
            yield lambda same, place=place: _cut(same, "keywords", place)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            yield lambda same: same.func.value
    if isinstance(node, ast.Lambda):
        yield lambda same: ast.Lambda(same.args, _inner(same.body))
    if isinstance(node, ast.UnaryOp):
        yield lambda same: same.operand
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
        for place in range(len(node.elts)):
            yield lambda same, place=place: _cut(same, "elts", place)
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value != 1.0:
        yield lambda same: ast.Constant(1.0)


def _inner(node: ast.expr) -> ast.expr:
    return next(
        iter(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)), node
    )


def _cut(node: Any, part: str, place: int) -> Any:
    smaller = copy.deepcopy(node)
    del getattr(smaller, part)[place]
    return smaller


def _replace(tree: ast.AST, old: ast.expr, new: ast.expr) -> bool:
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if value is old:
                setattr(node, field, new)
                return True
            if isinstance(value, list):
                for place, item in enumerate(value):
                    if item is old:
                        value[place] = new
                        return True
    return False
