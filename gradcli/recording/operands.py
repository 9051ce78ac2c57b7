"""Recording: which parts of an expression are the inputs of its node."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .facts import NodeFact, Place

_COMMUTED = (ast.Add, ast.Mult)
_MODULES = frozenset({"torch", "F", "nn", "functional"})  # torch.cat is no method of a tensor


def operands(text: str, count: int, name: str = "") -> tuple[str, ...]:
    """The texts of the `count` inputs; empty where the text does not show it.

    With the name of a node only a function of that name tells: `F.linear(x, W, b)` makes an
    AddmmBackward0, whose inputs are in another order.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    parts: list[ast.expr]
    if isinstance(tree, ast.BinOp):
        parts = [tree.left, tree.right]
        if isinstance(tree.left, ast.Constant) and isinstance(tree.op, _COMMUTED):
            parts.reverse()  # 2 * x is x.__rmul__(2): the tensor comes first
    elif isinstance(tree, ast.Call) and (not name or _is_of(name, tree.func)):
        parts = [argument for argument in tree.args if not isinstance(argument, ast.Starred)]
        if len(parts) == 1 and isinstance(parts[0], ast.List | ast.Tuple):
            parts = parts[0].elts  # torch.cat([x, y])
        if isinstance(tree.func, ast.Attribute) and len(parts) == count - 1:
            owner = tree.func.value
            if isinstance(owner, ast.Name) and owner.id in _MODULES:
                return ()
            parts.insert(0, owner)
    else:
        return ()
    if len(parts) != count:
        return ()
    return tuple("" if isinstance(part, ast.Constant) else ast.unparse(part) for part in parts)


def _is_of(name: str, function: ast.expr) -> bool:
    """Whether a function makes nodes of a name: mse_loss MseLossBackward0."""
    called = getattr(function, "attr", getattr(function, "id", ""))
    return name.partition("Backward")[0].lower() == called.replace("_", "").lower()


def reader(most: int = 512) -> Callable[[NodeFact], tuple[str, ...]]:
    """operands() for nodes, each place parsed once; long expressions are left alone."""
    known: dict[tuple[Place, int, str], tuple[str, ...]] = {}

    def of(node: NodeFact) -> tuple[str, ...]:
        place = node.place
        if place is None or len(place.text) > most:
            return ()
        key = (place, len(node.next), node.name)
        words = known.get(key)
        if words is None:
            words = known[key] = operands(place.text, len(node.next), node.name)
        return words

    return of
