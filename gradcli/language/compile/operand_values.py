"""language: records the operands of a condition, so that a failed assert can show them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from ..values import Closure

Operands = list[tuple[ast.expr, Any]]


def operands_of(test: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition whose values show why it does not hold."""
    if isinstance(test, ast.Compare):
        yield from (part for part in (test.left, *test.comparators) if _is_computed(part))
    elif isinstance(test, ast.UnaryOp):
        yield from operands_of(test.operand)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from operands_of(part)
    elif isinstance(test, ast.Call):
        if isinstance(test.func, ast.Attribute):
            owner = test.func.value
            if isinstance(owner, (ast.Attribute, ast.Subscript)):
                yield owner
            yield from operands_of(owner)
        yield from (part for part in test.args if _is_computed(part))


def _is_computed(node: ast.expr) -> bool:
    """Whether the text alone does not say the value."""
    if isinstance(node, ast.UnaryOp):
        return _is_computed(node.operand)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(map(_is_computed, node.elts))
    return not isinstance(
        node, (ast.Constant, ast.Lambda, ast.GeneratorExp, ast.Starred, ast.NamedExpr)
    )


class OperandValues:
    """The values of some operands, from when they are computed until the condition is known."""

    def __init__(self, operands: Iterable[ast.expr]) -> None:
        self.operands = {id(node): node for node in operands}
        self.values: dict[int, Any] = {}

    def of(self, node: Any, closure: Closure) -> Closure:
        """The same closure; what an operand computes is kept."""
        if id(node) not in self.operands:
            return closure
        values, key = self.values, id(node)

        def run(frame: list[Any]) -> Any:
            values[key] = value = closure(frame)
            return value

        return run

    def taken(self) -> Operands:
        """What was kept, in the order of the text; nothing of it stays."""
        held = [(node, self.values[key]) for key, node in self.operands.items()
                if key in self.values]  # fmt: skip
        self.values.clear()
        return held
