"""Recording: which words of an expression are the inputs of the node that it made."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .facts import NodeFact, Place

_COMMUTED = (ast.Add, ast.Mult)


def operands(text: str, count: int) -> tuple[str, ...]:
    """The texts of the `count` inputs; empty where the text does not tell."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    parts: list[ast.expr]
    if isinstance(tree, ast.BinOp):
        parts = [tree.left, tree.right]
        if isinstance(tree.left, ast.Constant) and isinstance(tree.op, _COMMUTED):
            parts.reverse()  # 2 * x is x.__rmul__(2): the tensor comes first
    elif isinstance(tree, ast.Call):
        parts = [argument for argument in tree.args if not isinstance(argument, ast.Starred)]
        if isinstance(tree.func, ast.Attribute) and len(parts) == count - 1:
            parts.insert(0, tree.func.value)
    else:
        return ()
    if len(parts) != count:
        return ()
    return tuple("" if isinstance(part, ast.Constant) else ast.unparse(part) for part in parts)


def reader(most: int = 512) -> Callable[[NodeFact], tuple[str, ...]]:
    """operands() for nodes, each place parsed once; long expressions are left alone."""
    known: dict[tuple[Place, int], tuple[str, ...]] = {}

    def of(node: NodeFact) -> tuple[str, ...]:
        place = node.place
        if place is None or len(place.text) > most:
            return ()
        key = (place, len(node.next))
        words = known.get(key)
        if words is None:
            words = known[key] = operands(place.text, len(node.next))
        return words

    return of
