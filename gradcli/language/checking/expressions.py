"""language: what the checker does with expressions."""

from __future__ import annotations

import ast
from typing import Any

from .. import grammar
from ..names import CLASS, Scope
from ..syntax_warnings import is_doubtful
from .checker import Checker, Handler
from .definitions import function_scope, refuse_repeated

# What changes a dictionary.
CHANGES = frozenset("update setdefault pop popitem clear __setitem__ __delitem__".split())
FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Slice: ("lower", "upper", "step"),
    ast.UnaryOp: ("operand",),
    ast.BoolOp: ("values",),
    ast.IfExp: ("test", "body", "orelse"),
    ast.Dict: ("keys", "values"),
    ast.JoinedStr: ("values",),
    ast.FormattedValue: ("value", "format_spec"),
    ast.Subscript: ("value", "slice"),
    ast.Compare: ("left", "comparators"),
    # Statements that are nothing but their parts.
    ast.Assert: ("test", "msg"),
    ast.Raise: ("exc", "cause"),
    ast.Pass: (),
}


def generic(checker: Checker, node: Any, scope: Scope, depth: int) -> None:
    for field in FIELDS[type(node)]:
        child = getattr(node, field)
        if type(child) is list:
            for item in child:
                if item is not None:
                    checker.visit(item, scope, depth)
        elif child is not None:
            checker.visit(child, scope, depth)


def doubted(checker: Checker, node: Any, scope: Scope, depth: int) -> None:
    generic(checker, node, scope, depth)
    if is_doubtful(node):
        checker.doubtful.append(node)


def constant(checker: Checker, node: ast.Constant, scope: Scope, depth: int) -> None:
    problem = grammar.constant_refusal(node.value)
    if problem is not None:
        raise checker.refuse(node, problem)


def read_name(checker: Checker, node: ast.Name, scope: Scope, depth: int) -> None:
    uses = scope.uses
    if checker.owner is not None and node.id.startswith("__"):
        node.id = grammar.mangled(node.id, checker.owner)
    if node.id not in uses:
        uses[node.id] = node


def attribute(checker: Checker, node: ast.Attribute, scope: Scope, depth: int) -> None:
    base: Any = node
    steps = 0
    while type(base) is ast.Attribute:
        if base.attr.startswith("__"):
            special_attribute(checker, base, scope)
        steps += 1
        base = base.value
    if type(base) is ast.Name:
        read_name(checker, base, scope, depth)
        return
    checker.visit(base, scope, depth + steps)


def special_attribute(checker: Checker, node: ast.Attribute, scope: Scope) -> None:
    """`__x__` where it has no meaning fails where it runs; where it surely runs, at once."""
    node.attr = grammar.mangled(node.attr, checker.owner)
    if grammar.is_foreign(node.attr) and checker.is_certain(scope):
        words = f"the attribute {node.attr!r} is not part of the language"
        raise checker.refuse(node, words, type="AttributeError")


def call(checker: Checker, node: ast.Call, scope: Scope, depth: int) -> None:
    function = node.func
    if type(function) is ast.Name:
        scope.calls.setdefault(function.id, function)
        if function.id == "super" and checker.owner is not None:
            scope.uses.setdefault(CLASS, function)
    else:
        checker.visit(function, scope, depth)
        if is_doubtful(node):
            checker.doubtful.append(node)
        if type(function) is ast.Attribute and function.attr in CHANGES:
            checker.refuse_change_of_names(function.value, scope)
    for argument in node.args:
        checker.visit(argument.value if type(argument) is ast.Starred else argument, scope, depth)
    for keyword in node.keywords:
        checker.visit(keyword.value, scope, depth)
    refuse_repeated(checker, node.keywords)


def display(checker: Checker, node: Any, scope: Scope, depth: int) -> None:
    """[...], (...), {...}: the only places, with calls, where a star may stand."""
    for item in node.elts:
        checker.visit(item.value if type(item) is ast.Starred else item, scope, depth)


def starred(checker: Checker, node: ast.Starred, scope: Scope, depth: int) -> None:
    raise checker.refuse(node, "can't use starred expression here")


def binary(checker: Checker, node: ast.BinOp, scope: Scope, depth: int) -> None:
    """Most operands are names and numbers, which need no call each."""
    left: Any = node.left
    kind = type(left)
    if depth > checker.max_nesting or (kind is ast.BinOp and type(left.left) is ast.BinOp):
        spine(checker, node, scope, depth)
        return
    uses = scope.uses
    if kind is ast.Name:
        if left.id not in uses:
            uses[left.id] = left
    elif kind is ast.BinOp:
        binary(checker, left, scope, depth)
    elif kind is not ast.Constant or type(left.value) is not float:
        checker.visit(left, scope, depth)
    right: Any = node.right
    kind = type(right)
    if kind is ast.Name:
        if right.id not in uses:
            uses[right.id] = right
    elif kind is ast.BinOp:
        binary(checker, right, scope, depth + 1)
    elif kind is not ast.Constant or type(right.value) is not float:
        checker.visit(right, scope, depth)


def spine(checker: Checker, node: ast.BinOp, scope: Scope, depth: int) -> None:
    """A long sum is a deep tree but no deep nesting: its left side is walked in a loop."""
    operands: list[Any] = []
    left: Any = node
    while type(left) is ast.BinOp:
        operands.append(left.right)
        left = left.left
    checker.visit(left, scope, depth)
    for operand in reversed(operands):
        checker.visit(operand, scope, depth)


def named_expression(checker: Checker, node: ast.NamedExpr, scope: Scope, depth: int) -> None:
    checker.visit(node.value, scope, depth)
    name, binder = node.target.id, scope.binder()
    if checker.iterables:
        words = "assignment expression cannot be used in a comprehension iterable expression"
        raise checker.refuse(node, words)
    if binder.kind == "class" and binder is not scope:
        words = "assignment expression within a comprehension cannot be used in a class body"
        raise checker.refuse(node, words)
    current = scope
    while current is not binder:  # generator expressions have frames of their own
        if name in current.bound:
            words = f"assignment expression cannot rebind comprehension iteration variable '{name}'"
            raise checker.refuse(node, words)
        is_global = binder.kind == "module" or name in binder.global_names
        (current.global_names if is_global else current.nonlocal_names).add(name)
        assert current.parent is not None
        current = current.parent
    checker.bind(name, node.target, binder)


def iterable(checker: Checker, node: ast.expr, scope: Scope, depth: int) -> None:
    """What a comprehension walks: no name is bound there."""
    checker.iterables += 1
    checker.visit(node, scope, depth)
    checker.iterables -= 1


def comprehension(checker: Checker, node: Any, scope: Scope, depth: int) -> None:
    first = node.generators[0]
    iterable(checker, first.iter, scope, depth)
    if type(node) is ast.GeneratorExp:
        inner = function_scope(checker, node, scope)
    else:
        inner = Scope("comprehension", node, scope)
        checker.scopes[node] = inner
    for generator in node.generators:
        if generator.is_async:
            words = "'async for' in a comprehension is not part of the language"
            raise checker.refuse(generator.target, words, "help: write it as a loop")
        if generator is not first:
            iterable(checker, generator.iter, inner, depth)
        checker.target(generator.target, inner, depth)
        for condition in generator.ifs:
            checker.visit(condition, inner, depth)
    if type(node) is ast.DictComp:
        checker.visit(node.key, inner, depth)
        checker.visit(node.value, inner, depth)
    else:
        checker.visit(node.elt, inner, depth)


HANDLERS: dict[type[ast.AST], Handler] = {
    **dict.fromkeys(FIELDS, generic),
    ast.Constant: constant,
    ast.Name: read_name,
    ast.Attribute: attribute,
    ast.Call: call,
    ast.Subscript: doubted,
    ast.Compare: doubted,
    ast.Assert: doubted,
    ast.BinOp: binary,
    ast.NamedExpr: named_expression,
    ast.List: display,
    ast.Tuple: display,
    ast.Set: display,
    ast.Starred: starred,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.DictComp: comprehension,
    ast.GeneratorExp: comprehension,
}
