"""language: where a `yield` may stand within a statement, and the order in which parts run.

`async def` and `await` are functions that stop, too: the tree of a program has a function in the
place of the one, and `yield from` in that of the other, both marked. So are `async for` and
`async with`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

# Of each kind of node, the fields that surely run, in the order in which they do.
PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Expr: ("value",), ast.Assign: ("value",), ast.AnnAssign: ("value",),
    ast.AugAssign: ("value",), ast.Return: ("value",), ast.Raise: ("exc", "cause"),
    ast.Assert: ("test",), ast.If: ("test",), ast.While: ("test",), ast.For: ("iter",),
    ast.Yield: ("value",), ast.YieldFrom: ("value",), ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",), ast.Call: ("func", "args", "keywords"), ast.keyword: ("value",),
    ast.Attribute: ("value",), ast.Subscript: ("value", "slice"),
    ast.Slice: ("lower", "upper", "step"), ast.Tuple: ("elts",), ast.List: ("elts",),
    ast.Set: ("elts",), ast.Starred: ("value",), ast.JoinedStr: ("values",),
    ast.FormattedValue: ("value", "format_spec"), ast.NamedExpr: ("value",),
    ast.Compare: ("left", "comparators"), ast.BoolOp: ("values",),
    ast.IfExp: ("test", "body", "orelse"), ast.Dict: ("keys", "values"),
}  # fmt: skip
BLOCKS = ("body", "orelse", "finalbody", "handlers")
# Statements whose blocks are walked; a `match` and a class body are none of them.
NESTING = (ast.If, ast.While, ast.For, ast.With, ast.Try, ast.ExceptHandler)
OTHER_FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.ClassDef)


def parts(node: ast.AST) -> list[Any]:
    """What is evaluated for a node, in order; of a chain of comparisons only what surely is."""
    kind = type(node)
    if kind is ast.Compare and len(node.comparators) > 1:  # type: ignore[attr-defined]
        return [node.left, node.comparators[0]]  # type: ignore[attr-defined]
    if kind is ast.Dict:
        pairs = zip(node.keys, node.values, strict=True)  # type: ignore[attr-defined]
        return [part for pair in pairs for part in pair if part is not None]
    found: list[Any] = []
    for field in PARTS.get(kind, ()):
        part = getattr(node, field)
        found.extend(part if type(part) is list else [] if part is None else [part])
    return found


def yields(node: ast.AST) -> bool:
    """Whether a node yields, itself or in what is in it."""
    return any(True for _ in _all(node))


def _stops(node: ast.AST) -> bool:
    return isinstance(node, ast.Yield | ast.YieldFrom) or is_async(node)


def _all(node: ast.AST) -> Iterator[ast.AST]:
    return (part for part in _own(node) if _stops(part))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without the bodies of other functions."""
    pending = [node]
    for part in pending:
        yield part
        if not isinstance(part, OTHER_FUNCTIONS) or part is node:
            pending.extend(ast.iter_child_nodes(part))


def misplaced(body: list[ast.stmt]) -> ast.AST | None:
    """The first `yield` of a function that stands where a function can't stop."""
    reached: set[ast.AST] = set()
    pending: list[Any] = list(body)
    for node in pending:
        if _stops(node):
            reached.add(node)
        pending.extend(parts(node))
        if isinstance(node, NESTING):
            for field in BLOCKS:
                pending.extend(getattr(node, field, ()))
    every = (found for statement in body if not isinstance(statement, OTHER_FUNCTIONS)
             for found in _all(statement))  # fmt: skip
    return next((found for found in every if found not in reached), None)


# ---------------------------------------------------------------- async


def as_functions(body: list[ast.stmt]) -> None:
    """Puts functions and `yield from` in the place of `async def` and `await`."""
    pending: list[Any] = [body]
    for part in pending:  # which grows
        if isinstance(part, list):
            part[:] = [_plain(item) for item in part]
            pending.extend(item for item in part if isinstance(item, ast.AST))
            continue
        for field, value in ast.iter_fields(part):
            if isinstance(value, list):
                pending.append(value)
            elif isinstance(value, ast.AST):
                setattr(part, field, plain := _plain(value))
                pending.append(plain)


def _plain(node: Any) -> Any:
    plain = PLAIN.get(type(node))
    if plain is not None:
        made: Any = plain(**dict(ast.iter_fields(node)))
        made.is_async = True
    elif type(node) is ast.Await:
        made = ast.YieldFrom(value=node.value)
        made.awaits = True
    else:
        return node
    return ast.copy_location(made, node)


# What stands in the place of what is written with `async`.
PLAIN: dict[type, type] = {
    ast.AsyncFunctionDef: ast.FunctionDef, ast.AsyncFor: ast.For, ast.AsyncWith: ast.With,
}  # fmt: skip


def is_async(node: Any) -> bool:
    """Was it written with `async`?"""
    return getattr(node, "is_async", False)


def is_generator(function: Any) -> bool:
    """Of what was written with `async`: does it yield to who walks through it?"""
    return any(not awaits(part) for part in _all(function) if isinstance(part, ast.Yield))


def returned(function: Any) -> ast.Return | None:
    """The first `return` with a value of what was written with `async` and yields to who walks."""
    if not is_generator(function):
        return None
    own = (part for part in _own(function) if isinstance(part, ast.Return))
    return next((part for part in own if part.value is not None), None)


def awaits(node: ast.AST) -> bool:
    """Was it written as `await`?"""
    return getattr(node, "awaits", False)
