"""language: compiles expressions to closures, one for each construct.

A closure that can fail keeps its syntax node in a free variable called `node`: the traceback of an
error then knows the place, and the way without errors pays nothing for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...engine.schema.mode import state
from ...engine.tensors.tensor import Tensor
from .. import arithmetic, operations
from ..attributes import get_attribute
from ..builtins.containers import as_mapping
from ..costs import charge_keys, joined
from ..formatting import converted, formatted
from ..members import TABLES
from ..names import Scope
from ..operations import check_key, get_item, iterate
from ..session import session
from ..sets import Set
from ..values import Closure, make_slice, stands_for
from .calls import StarredError
from .names import NOTHING
from .operand_values import OperandValues
from .operators import OperatorCompiler

INDEXED = frozenset({Tensor, list, tuple})


class ExpressionCompiler(OperatorCompiler):
    """One method for each expression node."""

    kept: OperandValues | None = None  # while a condition is compiled: the operands that are shown

    def expression(self, node: Any, scope: Scope) -> Closure:
        closure = EXPRESSIONS[type(node)](self, node, scope)
        return closure if self.kept is None else self.kept.of(node, closure)

    def constant(self, node: ast.Constant, scope: Scope) -> Closure:
        if self.overrides and id(node) in self.overrides:
            value = self.overrides[id(node)]
        else:
            value = node.value
        return lambda frame: value

    # ------------------------------------------------------------ operators

    def unary(self, node: ast.UnaryOp, scope: Scope) -> Closure:
        if self.overrides and id(node) in self.overrides:
            value = self.overrides[id(node)]
            return lambda frame: value
        operand = self.expression(node.operand, scope)
        if type(node.op) is ast.Not:

            def negate(frame: list[Any]) -> Any:
                value = operand(frame)
                state.origin = node
                return not value

            return negate
        if type(node.operand) is ast.Constant and type(node.operand.value) in (int, float):
            if type(node.op) is ast.USub and id(node.operand) not in self.overrides:
                constant = -node.operand.value  # type: ignore[operator]
                return lambda frame: constant
        function = arithmetic.UNARY[type(node.op).__name__]

        def run(frame: list[Any]) -> Any:
            value = operand(frame)
            state.origin = node
            return function(value)

        return run

    def boolean(self, node: ast.BoolOp, scope: Scope) -> Closure:
        parts = [self.expression(value, scope) for value in node.values]
        if len(parts) == 2:
            first, second = parts
            if type(node.op) is ast.And:

                def both(frame: list[Any]) -> Any:
                    value = first(frame)
                    return second(frame) if truth(value, node) else value

                return both

            def either(frame: list[Any]) -> Any:
                value = first(frame)
                return value if truth(value, node) else second(frame)

            return either
        stop = type(node.op) is ast.Or
        last = parts.pop()

        def run(frame: list[Any]) -> Any:
            for part in parts:
                value = part(frame)
                if truth(value, node) is stop:
                    return value
            return last(frame)

        return run

    def conditional(self, node: ast.IfExp, scope: Scope) -> Closure:
        test = self.expression(node.test, scope)
        then, otherwise = self.expression(node.body, scope), self.expression(node.orelse, scope)
        place = node.test

        def run(frame: list[Any]) -> Any:
            return then(frame) if truth(test(frame), place) else otherwise(frame)

        return run

    def named(self, node: ast.NamedExpr, scope: Scope) -> Closure:
        value_of = self.expression(node.value, scope)
        store = self.store(node.target.id, scope.host, node)

        def run(frame: list[Any]) -> Any:
            value = value_of(frame)
            store(frame, value)
            return value

        return run

    # ------------------------------------------------------------ attributes and subscripts

    def attribute(self, node: ast.Attribute, scope: Scope) -> Closure:
        known = self.static(node, scope)
        if known is not NOTHING:
            return lambda frame: known
        value_of = self.expression(node.value, scope)
        name = node.attr

        def run(frame: list[Any]) -> Any:
            value = value_of(frame)
            state.origin = node
            try:
                read = TABLES[type(value)].properties[name]
            except KeyError:
                return get_attribute(value, name)
            return read(value)

        return run

    def subscript(self, node: ast.Subscript, scope: Scope) -> Closure:
        value_of = self.expression(node.value, scope)
        index_of = self.expression(node.slice, scope)

        def run(frame: list[Any]) -> Any:
            value = value_of(frame)
            index = index_of(frame)
            state.origin = node
            if type(index) is int and type(value) in INDEXED:
                return value[index]
            return get_item(value, index)

        return run

    def slice(self, node: ast.Slice, scope: Scope) -> Closure:
        parts = [
            _nothing if part is None else self.expression(part, scope)
            for part in (node.lower, node.upper, node.step)
        ]
        lower, upper, step = parts
        if all(_is_written_out(part) for part in (node.lower, node.upper, node.step)):
            return lambda frame: slice(lower(frame), upper(frame), step(frame))

        def run(frame: list[Any]) -> slice:
            start, stop, stride = lower(frame), upper(frame), step(frame)
            if type(start) is slice or type(stop) is slice or type(stride) is slice:
                return make_slice(start, stop, stride)
            return slice(start, stop, stride)

        return run

    # ------------------------------------------------------------ displays

    def items(self, nodes: list[Any], scope: Scope) -> Callable[[list[Any]], list[Any]]:
        """The elements of a display or the arguments of a call, as a new list."""
        if any(type(item) is ast.Starred for item in nodes):
            return self.starred_items(nodes, scope)
        parts = [self.expression(item, scope) for item in nodes]
        if len(parts) == 1:
            (only,) = parts
            return lambda frame: [only(frame)]
        if len(parts) == 2:
            first, second = parts
            return lambda frame: [first(frame), second(frame)]
        return lambda frame: [part(frame) for part in parts]

    def starred_items(self, nodes: list[Any], scope: Scope) -> Callable[[list[Any]], list[Any]]:
        parts = [
            (True, self.expression(item.value, scope), item.value)
            if type(item) is ast.Starred
            else (False, self.expression(item, scope), item)
            for item in nodes
        ]

        def run(frame: list[Any]) -> list[Any]:
            out: list[Any] = []
            for starred, part, node in parts:
                value = part(frame)
                if not starred:
                    out.append(value)
                    continue
                state.origin = node
                try:
                    walked = iterate(value)
                except TypeError:
                    raise StarredError(operations.type_name(value)) from None
                for item in walked:
                    session.budget.charge(1)
                    out.append(item)
            return out

        return run

    def list(self, node: ast.List, scope: Scope) -> Closure:
        if self.overrides and id(node) in self.overrides:
            value = self.overrides[id(node)]
            return lambda frame: value
        if all(type(item) is ast.Constant for item in node.elts):
            constants = [item.value for item in node.elts]  # type: ignore[attr-defined]
            return lambda frame: constants.copy()
        return self.items(node.elts, scope)

    def tuple(self, node: ast.Tuple, scope: Scope) -> Closure:
        if all(type(item) is ast.Constant for item in node.elts) and not self.overrides:
            constants = tuple([item.value for item in node.elts])  # type: ignore[attr-defined]
            return lambda frame: constants
        items = self.items(node.elts, scope)
        return lambda frame: tuple(items(frame))

    def set(self, node: ast.Set, scope: Scope) -> Closure:
        items = self.items(node.elts, scope)

        def run(frame: list[Any]) -> Any:
            try:
                found = items(frame)
            except StarredError as error:
                raise TypeError(f"'{error.kind}' object is not iterable") from None
            for item in found:
                check_key(item)
            if node is None:
                return None
            return Set(found)

        return run

    def dict(self, node: ast.Dict, scope: Scope) -> Closure:
        pairs = [
            (None if key is None else self.expression(key, scope), self.expression(value, scope))
            for key, value in zip(node.keys, node.values, strict=True)
        ]

        def run(frame: list[Any]) -> Any:
            out: dict[Any, Any] = {}
            for key_of, value_of in pairs:
                if key_of is None:
                    _merge(out, value_of(frame), node)
                    continue
                key = key_of(frame)
                if isinstance(key, tuple):
                    check_key(key)
                out[key] = value_of(frame)
            if node is None:
                return None
            return out

        return run

    # ------------------------------------------------------------ f-strings

    def joined(self, node: ast.JoinedStr, scope: Scope) -> Closure:
        parts = [self.expression(value, scope) for value in node.values]

        def run(frame: list[Any]) -> str:
            return joined([part(frame) for part in parts])

        return run

    def formatted_value(self, node: ast.FormattedValue, scope: Scope) -> Closure:
        value_of = self.expression(node.value, scope)
        conversion = node.conversion
        spec_of = None if node.format_spec is None else self.expression(node.format_spec, scope)
        place = node.value  # Python before 3.12 knows no place of the field itself

        def run(frame: list[Any]) -> str:
            value = value_of(frame)
            node = place
            state.origin = node
            if conversion != -1:
                value = converted(value, conversion)
            return formatted(value, "" if spec_of is None else spec_of(frame))

        return run


def _is_written_out(part: ast.expr | None) -> bool:
    """Nothing or a number, with a sign or without."""
    number = part.operand if isinstance(part, ast.UnaryOp) else part
    return number is None or type(number) is ast.Constant


def _nothing(frame: list[Any]) -> None:
    return None


def truth(value: Any, node: ast.AST) -> bool:
    """bool(value); a tensor with several elements has none, and the error needs a place."""
    return bool(value)


def _merge(out: dict[Any, Any], value: Any, node: ast.AST) -> None:
    held = as_mapping(value)
    if held is None:
        raise TypeError(f"'{operations.type_name(stands_for(value))}' object is not a mapping")
    charge_keys(held)
    out.update(held)


EXPRESSIONS: dict[type[ast.AST], Callable[[Any, Any, Scope], Closure]] = {
    ast.Constant: ExpressionCompiler.constant,
    ast.Name: ExpressionCompiler.name,
    ast.Attribute: ExpressionCompiler.attribute,
    ast.Subscript: ExpressionCompiler.subscript,
    ast.Slice: ExpressionCompiler.slice,
    ast.Call: ExpressionCompiler.call,
    ast.BinOp: ExpressionCompiler.binary,
    ast.UnaryOp: ExpressionCompiler.unary,
    ast.BoolOp: ExpressionCompiler.boolean,
    ast.Compare: ExpressionCompiler.compare,
    ast.IfExp: ExpressionCompiler.conditional,
    ast.NamedExpr: ExpressionCompiler.named,
    ast.List: ExpressionCompiler.list,
    ast.Tuple: ExpressionCompiler.tuple,
    ast.Dict: ExpressionCompiler.dict,
    ast.Set: ExpressionCompiler.set,
    ast.JoinedStr: ExpressionCompiler.joined,
    ast.FormattedValue: ExpressionCompiler.formatted_value,
    ast.Lambda: ExpressionCompiler.lambda_,
    ast.ListComp: ExpressionCompiler.list_comprehension,
    ast.SetComp: ExpressionCompiler.set_comprehension,
    ast.DictComp: ExpressionCompiler.dict_comprehension,
    ast.GeneratorExp: ExpressionCompiler.generator,
}
ExpressionCompiler.table = EXPRESSIONS
