"""language: what the checker does with functions and classes, and with what a scope declares."""

from __future__ import annotations

import ast
from typing import Any

from .. import grammar, names
from ..names import Scope
from ..suspension import is_async, misplaced, returned
from .checker import Checker, Handler


def arguments(checker: Checker, node: ast.arguments, scope: Scope, depth: int) -> None:
    """Defaults belong to the block around the function."""
    for default in (*node.defaults, *node.kw_defaults):
        if default is not None:
            checker.visit(default, scope, depth)


def parameters(checker: Checker, node: ast.arguments, scope: Scope) -> None:
    every = [*node.posonlyargs, *node.args, *node.kwonlyargs]
    if node.vararg is not None:
        every.append(node.vararg)
    if node.kwarg is not None:
        every.append(node.kwarg)
    for argument in every:
        if argument.arg in scope.bound:
            raise checker.refuse(
                argument, f"duplicate argument '{argument.arg}' in function definition"
            )
        checker.bind(argument.arg, argument, scope)


def refuse_repeated(checker: Checker, keywords: list[ast.keyword]) -> None:
    given: set[str] = set()
    for keyword in keywords:
        if keyword.arg in given:
            raise checker.refuse(keyword, f"keyword argument repeated: {keyword.arg}")
        if keyword.arg is not None:
            given.add(keyword.arg)


def function_scope(checker: Checker, node: Any, scope: Scope) -> Scope:
    inner = Scope("function", node, scope)
    checker.scopes[node] = inner
    return inner


def lambda_(checker: Checker, node: ast.Lambda, scope: Scope, depth: int) -> None:
    arguments(checker, node.args, scope, depth)
    inner = function_scope(checker, node, scope)
    parameters(checker, node.args, inner)
    checker.visit(node.body, inner, depth)


def function(checker: Checker, node: ast.FunctionDef, scope: Scope, depth: int) -> None:
    if getattr(node, "type_params", None):
        raise checker.refuse(node, "a type parameter is not part of the language",
                          "help: leave it out; annotations are not evaluated")  # fmt: skip
    for decorator in node.decorator_list:
        checker.visit(decorator, scope, depth)
    arguments(checker, node.args, scope, depth)
    node.name = grammar.mangled(node.name, checker.owner)
    checker.bind(node.name, node, scope)
    inner = function_scope(checker, node, scope)
    parameters(checker, node.args, inner)
    own = frozenset(inner.bound)
    declarations(checker, node.body, inner)
    refuse_declared(checker, node.body, own, inner)
    loops, checker.loops = checker.loops, 0
    inner.yields = is_async(node)
    checker.block(node.body, inner, depth)
    checker.loops = loops
    if is_async(node) and (end := returned(node)) is not None:
        raise checker.refuse(end, "'return' with value in async generator")
    if inner.yields and (place := misplaced(node.body)) is not None:
        raise checker.refuse(
            place, "'yield' in this place is not part of the language",
            "help: give it a line of its own: received = yield value",
        )  # fmt: skip


def declarations(checker: Checker, body: list[ast.stmt], scope: Scope) -> None:
    """global and nonlocal hold for the whole function, so they are read first."""
    pending: list[Any] = list(body)
    for statement in pending:
        kind = type(statement)
        if kind is ast.Global:
            scope.global_names.update(statement.names)
        elif kind is ast.Nonlocal:
            scope.nonlocal_names.update(statement.names)
        elif kind is not ast.FunctionDef and kind is not ast.ClassDef:
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                pending.extend(getattr(statement, field, ()))


def refuse_declared(
    checker: Checker, body: list[ast.stmt], own: frozenset[str], scope: Scope
) -> None:
    """A parameter is neither global nor of the function around."""
    wrong = own & (scope.global_names | scope.nonlocal_names)
    if not wrong:
        return
    for statement in (part for item in body for part in ast.walk(item)):
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            word = "global" if isinstance(statement, ast.Global) else "nonlocal"
            for name in statement.names:
                if name in wrong:
                    raise checker.refuse(statement, f"name '{name}' is parameter and {word}")


def class_(checker: Checker, node: ast.ClassDef, scope: Scope, depth: int) -> None:
    if getattr(node, "type_params", None):
        raise checker.refuse(node, "a type parameter is not part of the language")
    for decorator in node.decorator_list:
        checker.visit(decorator, scope, depth)
    refuse_repeated(checker, node.keywords)
    for part in (*node.bases, *(keyword.value for keyword in node.keywords)):
        checker.visit(part, scope, depth)
    checker.bind(node.name, node, scope)
    inner = Scope("class", node, scope)
    checker.scopes[node] = inner
    before, checker.loops, checker.owner = (checker.loops, checker.owner), 0, node.name
    checker.block(node.body, inner, depth)
    checker.loops, checker.owner = before


def declared(checker: Checker, node: Any, scope: Scope, depth: int) -> None:
    word = "global" if type(node) is ast.Global else "nonlocal"
    for name in node.names:
        if name in scope.uses or name in scope.calls:
            raise checker.refuse(node, f"name '{name}' is used prior to {word} declaration")
        if name in scope.global_names and name in scope.nonlocal_names:
            raise checker.refuse(node, f"name '{name}' is nonlocal and global")
        if name in scope.early or (scope.kind == "module" and name in scope.bound):
            raise checker.refuse(node, f"name '{name}' is assigned to before {word} declaration")
    if type(node) is ast.Nonlocal and scope.kind == "module":
        raise checker.refuse(node, "nonlocal declaration not allowed at module level")
    if type(node) is ast.Nonlocal:
        checker.nonlocals.append((node, scope))


def unbound_nonlocals(checker: Checker) -> None:
    """The function around may bind a name behind the one that declares it."""
    for node, scope in checker.nonlocals:
        for name in node.names:
            if not names.nonlocal_is_bound(scope, name):
                raise checker.refuse(node, f"no binding for nonlocal '{name}' found")


HANDLERS: dict[type[ast.AST], Handler] = {
    ast.Lambda: lambda_,
    ast.FunctionDef: function,
    ast.ClassDef: class_,
    ast.Global: declared,
    ast.Nonlocal: declared,
}
