"""language: what the checker does with statements."""

from __future__ import annotations

import ast
from typing import Any

from ..names import Scope
from ..suspension import awaits, is_async
from .checker import Checker, Handler
from .expressions import binary
from .patterns import match_


def expression_statement(checker: Checker, node: ast.Expr, scope: Scope, depth: int) -> None:
    checker.visit(node.value, scope, depth)


COMPREHENSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "list comprehension", ast.SetComp: "set comprehension",
    ast.DictComp: "dict comprehension", ast.GeneratorExp: "generator expression",
}  # fmt: skip


def _in_generator(scope: Scope) -> bool:
    """Does it stand in a generator expression of an async function?"""
    return type(scope.node) is ast.GeneratorExp and is_async(scope.binder().node)


def yield_(checker: Checker, node: ast.Yield | ast.YieldFrom, scope: Scope, depth: int) -> None:
    if awaits(node) and not is_async(scope.node):
        if is_async(scope.host.node) or _in_generator(scope):
            words = "'await' inside a comprehension is not part of the language"
            raise checker.refuse(node, words, "help: await in a loop, and add to a list there")
        where = "function" if scope.kind == "module" else "async function"
        raise checker.refuse(node, f"'await' outside {where}")
    if is_async(scope.node) and type(node) is ast.YieldFrom and not awaits(node):
        raise checker.refuse(node, "'yield from' inside async function")
    if type(scope.node) in COMPREHENSIONS:
        raise checker.refuse(node, f"'yield' inside {COMPREHENSIONS[type(scope.node)]}")
    if type(scope.node) is ast.Lambda:
        words = "'yield' inside a lambda is not part of the language"
        raise checker.refuse(node, words, "help: write a function with def")
    if scope.kind != "function" or type(scope.node) is not ast.FunctionDef:
        raise checker.refuse(node, "'yield' outside function")
    scope.yields = True
    if node.value is not None:
        checker.visit(node.value, scope, depth)


def assign(checker: Checker, node: ast.Assign, scope: Scope, depth: int) -> None:
    value = node.value
    if type(value) is ast.BinOp and depth <= checker.max_nesting:
        binary(checker, value, scope, depth + 1)
    else:
        checker.visit(value, scope, depth)
    for target in node.targets:
        checker.target(target, scope, depth)


def annotated(checker: Checker, node: ast.AnnAssign, scope: Scope, depth: int) -> None:
    if type(node.target) is ast.Name and scope.kind != "module":
        name = node.target.id
        for word, declared in (("global", scope.global_names), ("nonlocal", scope.nonlocal_names)):
            if name in declared:
                raise checker.refuse(node, f"annotated name '{name}' can't be {word}")
    if node.value is not None:
        checker.visit(node.value, scope, depth)
        checker.target(node.target, scope, depth)
    elif scope.kind == "function" and type(node.target) is ast.Name:
        scope.bind(node.target.id, node.target)


def augmented(checker: Checker, node: ast.AugAssign, scope: Scope, depth: int) -> None:
    checker.visit(node.value, scope, depth)
    if type(node.target) is ast.Name:
        name = node.target.id
        new = scope.kind == "module" and name not in scope.bound
        checker.bind(name, node.target, scope)
        if new:  # `w += 1` reads w first: where nothing else binds it, w is an input
            checker.augmented_only.add(name)
    else:
        checker.target(node.target, scope, depth)


def if_(checker: Checker, node: ast.If, scope: Scope, depth: int) -> None:
    current: Any = node
    while True:  # a chain of elif is a list of branches, not nesting
        checker.visit(current.test, scope, depth)
        with checker.perhaps(scope):
            checker.block(current.body, scope, depth)
        if len(current.orelse) == 1 and type(current.orelse[0]) is ast.If:
            current = current.orelse[0]
            continue
        with checker.perhaps(scope):
            checker.block(current.orelse, scope, depth)
        return


def _check_async(checker: Checker, node: ast.For | ast.With, scope: Scope) -> None:
    if is_async(node) and not is_async(scope.node):
        word = "for" if type(node) is ast.For else "with"
        raise checker.refuse(node, f"'async {word}' outside async function")


def for_(checker: Checker, node: ast.For, scope: Scope, depth: int) -> None:
    _check_async(checker, node, scope)
    checker.visit(node.iter, scope, depth)
    checker.target(node.target, scope, depth)
    loop_body(checker, node.body, scope, depth)
    checker.block(node.orelse, scope, depth)


def while_(checker: Checker, node: ast.While, scope: Scope, depth: int) -> None:
    checker.visit(node.test, scope, depth)
    with checker.perhaps(scope):
        loop_body(checker, node.body, scope, depth)
    checker.block(node.orelse, scope, depth)


def loop_body(checker: Checker, body: list[ast.stmt], scope: Scope, depth: int) -> None:
    checker.loops += 1
    checker.block(body, scope, depth)
    checker.loops -= 1


def jump(checker: Checker, node: Any, scope: Scope, depth: int) -> None:
    if not checker.loops:
        if type(node) is ast.Break:
            raise checker.refuse(node, "'break' outside loop")
        raise checker.refuse(node, "'continue' not properly in loop")


def return_(checker: Checker, node: ast.Return, scope: Scope, depth: int) -> None:
    if scope.kind != "function":
        raise checker.refuse(node, "'return' outside function")
    if node.value is not None:
        checker.visit(node.value, scope, depth)


def with_(checker: Checker, node: ast.With, scope: Scope, depth: int) -> None:
    _check_async(checker, node, scope)
    for item in node.items:
        checker.visit(item.context_expr, scope, depth)
        if item.optional_vars is not None:
            checker.target(item.optional_vars, scope, depth)
    checker.block(node.body, scope, depth)


def delete(checker: Checker, node: ast.Delete, scope: Scope, depth: int) -> None:
    for target in node.targets:
        if type(target) is ast.Name:
            scope.bind(target.id, target)
            if scope.kind == "module":
                checker.assigned.add(target.id)
        else:
            checker.target(target, scope, depth)


def try_(checker: Checker, node: ast.Try, scope: Scope, depth: int) -> None:
    with checker.perhaps(scope):
        tried(checker, node, scope, depth)


def tried(checker: Checker, node: ast.Try, scope: Scope, depth: int) -> None:
    checker.block(node.body, scope, depth)
    for handler in node.handlers[:-1]:
        if handler.type is None:
            raise checker.refuse(handler, "default 'except:' must be last")
    for handler in node.handlers:
        if handler.type is not None:
            checker.visit(handler.type, scope, depth)
        if handler.name is not None:
            checker.bind(handler.name, handler, scope)
        checker.block(handler.body, scope, depth)
    checker.block(node.orelse, scope, depth)
    checker.block(node.finalbody, scope, depth)


HANDLERS: dict[type[ast.AST], Handler] = {
    ast.Assign: assign,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.If: if_,
    ast.For: for_,
    ast.While: while_,
    ast.Break: jump,
    ast.Continue: jump,
    ast.Return: return_,
    ast.With: with_,
    ast.Delete: delete,
    ast.Try: try_,
    ast.Match: match_,
    ast.Expr: expression_statement,
    ast.Yield: yield_,
    ast.YieldFrom: yield_,
}
