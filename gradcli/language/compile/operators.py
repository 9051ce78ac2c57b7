"""language: compiles binary operators to closures, one for each operation and pair of scopes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ...engine.schema.mode import state
from ...engine.tensors.tensor import Tensor
from .. import arithmetic, operations
from ..arithmetic import LIGHT
from ..costs import SMALL
from ..names import Scope
from ..values import Closure
from .comprehensions import ComprehensionCompiler
from .names import load_name

LONG_CHAIN = 24  # operators in a row above which a loop replaces nested closures
COMPARED = frozenset({float, int, bool, Tensor, type(None)})
Operation = Callable[[Any, Any], Any]
Kinds = frozenset[type]


class OperatorCompiler(ComprehensionCompiler):
    """Arithmetic and comparison."""

    overrides: dict[int, Any]
    table: dict[type[ast.AST], Callable[[Any, Any, Scope], Closure]]  # one for each expression

    def binary(self, node: ast.BinOp, scope: Scope) -> Closure:
        """One closure finds operands that are global names or constants, and computes."""
        left, right = node.left, node.right
        kind, other = type(left), type(right)
        a_table: Any = None
        b_table: Any = None
        if kind is ast.Name:
            a_key: Any = left.id  # type: ignore[attr-defined]
            if a_key in self.dynamic and (scope is self.module or self.is_global(a_key, scope)):
                a_table = self.globals.values
        elif kind is ast.Constant and not self.overrides:
            a_table, a_key = (left.value,), 0  # type: ignore[attr-defined]
        elif kind is ast.BinOp and type(left.left) is ast.BinOp and _is_long(left):  # type: ignore[attr-defined]
            return self.long_chain(node, scope)
        if other is ast.Name:
            b_key: Any = right.id  # type: ignore[attr-defined]
            if b_key in self.dynamic and (scope is self.module or self.is_global(b_key, scope)):
                b_table = self.globals.values
        elif other is ast.Constant and not self.overrides:
            b_table, b_key = (right.value,), 0  # type: ignore[attr-defined]
        light, kinds, guarded = OPERATORS[type(node.op)]
        if a_table is None:
            first = self.table[kind](self, left, scope)
            if b_table is not None:
                return _right_found(light, kinds, guarded, first, b_table, b_key, node)
            second = self.table[other](self, right, scope)
            return _computed(light, kinds, guarded, first, second, node)
        if b_table is None:
            second = self.table[other](self, right, scope)
            return _left_found(light, kinds, guarded, a_table, a_key, second, node)

        # Defaults and not cells: half the time to make, and a top-level statement runs once.
        def run(
            frame: list[Any], a_table: Any = a_table, a_key: Any = a_key, b_table: Any = b_table,
            b_key: Any = b_key, node: ast.BinOp = node, light: Operation = light,
            kinds: frozenset[type] = kinds, guarded: Operation = guarded,
        ) -> Any:  # fmt: skip
            try:
                a = a_table[a_key]
                b = b_table[b_key]
            except KeyError:
                a = load_name(a_table, a_key, node.left)
                b = load_name(b_table, b_key, node.right)
            state.origin = node
            if type(a) in kinds:
                return light(a, b)
            return guarded(a, b)

        return run

    def chained(
        self, root: ast.BinOp, scope: Scope
    ) -> tuple[Closure, list[tuple[Operation, Closure, ast.BinOp]]]:
        """The first operand of a + b + c + ..., and each further one with its operation."""
        steps: list[tuple[Operation, Closure, ast.BinOp]] = []
        left: Any = root
        while type(left) is ast.BinOp:
            function = arithmetic.BINARY[type(left.op).__name__]
            steps.append((function, self.expression(left.right, scope), left))
            left = left.left
        steps.reverse()
        return self.expression(left, scope), steps

    def long_chain(self, root: ast.BinOp, scope: Scope) -> Closure:
        """a + b + c + ... of many operands: a loop, since closures inside closures have an end."""
        first, steps = self.chained(root, scope)

        def run(frame: list[Any]) -> Any:
            value = first(frame)
            for function, right, node in steps:
                other = right(frame)
                state.origin = node
                value = function(value, other)
            return value

        return run

    def compare(self, node: ast.Compare, scope: Scope) -> Closure:
        left = self.expression(node.left, scope)
        rights = [self.expression(value, scope) for value in node.comparators]
        names = [type(op).__name__ for op in node.ops]
        if len(rights) == 1:
            return _comparison(names[0], left, rights[0], node)
        steps = list(zip([operations.COMPARE[name] for name in names], rights, strict=True))
        last = len(steps) - 1

        def run(frame: list[Any]) -> Any:
            value = left(frame)
            for place, (function, right) in enumerate(steps):
                other = right(frame)
                state.origin = node
                answer = function(value, other)
                if place == last or not answer:
                    return answer
                value = other
            return None

        return run


# ---------------------------------------------------------------- arithmetic


def _computed(
    light: Operation, kinds: Kinds, guarded: Operation, left: Closure, right: Closure,
    node: ast.BinOp,
) -> Closure:  # fmt: skip
    def run(
        frame: list[Any], left: Closure = left, right: Closure = right, node: ast.BinOp = node,
        light: Operation = light, kinds: Kinds = kinds, guarded: Operation = guarded,
    ) -> Any:  # fmt: skip
        a = left(frame)
        b = right(frame)
        state.origin = node
        if type(a) in kinds:
            return light(a, b)
        return guarded(a, b)

    return run


def _left_found(
    light: Operation, kinds: Kinds, guarded: Operation,
    a_table: Any, a_key: Any, right: Closure, node: ast.BinOp,
) -> Closure:  # fmt: skip
    def run(
        frame: list[Any], a_table: Any = a_table, a_key: Any = a_key, right: Closure = right,
        node: ast.BinOp = node, light: Operation = light, kinds: Kinds = kinds,
        guarded: Operation = guarded,
    ) -> Any:  # fmt: skip
        try:
            a = a_table[a_key]
        except KeyError:
            a = load_name(a_table, a_key, node.left)
        b = right(frame)
        state.origin = node
        if type(a) in kinds:
            return light(a, b)
        return guarded(a, b)

    return run


def _right_found(
    light: Operation, kinds: Kinds, guarded: Operation,
    left: Closure, b_table: Any, b_key: Any, node: ast.BinOp,
) -> Closure:  # fmt: skip
    def run(
        frame: list[Any], left: Closure = left, b_table: Any = b_table, b_key: Any = b_key,
        node: ast.BinOp = node, light: Operation = light, kinds: Kinds = kinds,
        guarded: Operation = guarded,
    ) -> Any:  # fmt: skip
        a = left(frame)
        try:
            b = b_table[b_key]
        except KeyError:
            b = load_name(b_table, b_key, node.right)
        state.origin = node
        if type(a) in kinds:
            return light(a, b)
        return guarded(a, b)

    return run


def _is_long(left: Any) -> bool:
    depth = 1
    while type(left := left.left) is ast.BinOp:
        depth += 1
    return depth > LONG_CHAIN


# Python's own operator, the types on the left for which nothing is charged first, and the operator
# that charges.
OPERATORS: dict[type[ast.operator], tuple[Operation, Kinds, Operation]] = {
    ast.Add: (operator.add, LIGHT | {int}, arithmetic.add),
    ast.Sub: (operator.sub, LIGHT | {int}, arithmetic.BINARY["Sub"]),
    ast.Mult: (operator.mul, frozenset({Tensor, float}), arithmetic.multiply),
    ast.Div: (operator.truediv, LIGHT, operator.truediv),
    ast.Pow: (operator.pow, LIGHT, arithmetic.power),
}
for _type in (
    ast.FloorDiv, ast.Mod, ast.MatMult, ast.LShift, ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd,
):  # fmt: skip
    _guarded = arithmetic.BINARY[_type.__name__]
    OPERATORS[_type] = (_guarded, frozenset(), _guarded)


# ---------------------------------------------------------------- comparison


LIGHT_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip


def _comparison(name: str, left: Closure, right: Closure, node: ast.AST) -> Closure:
    guarded = operations.COMPARE[name]
    light = LIGHT_COMPARE.get(name)
    if light is None:

        def run_guarded(frame: list[Any]) -> Any:
            a = left(frame)
            b = right(frame)
            state.origin = node
            return guarded(a, b)

        return run_guarded

    def run(frame: list[Any]) -> Any:
        a = left(frame)
        b = right(frame)
        state.origin = node
        kind = type(a)
        if kind in COMPARED or (kind is str and len(a) < SMALL):
            return light(a, b)
        return guarded(a, b)

    return run
