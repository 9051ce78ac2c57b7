"""language: what the program's annotations say, evaluated when the program asks for it.

An annotation that can't be evaluated by then is its text, as with `from __future__ import
annotations`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from .attributes import get_attribute
from .builtins.paths import resolve_path
from .builtins.prelude import meaning
from .operations import get_item
from .session import session
from .values import Function

LATE = "__future__.annotations"


def noted(text: str) -> Any:
    """int, list[int], Net | None, "a text"."""
    if LATE in session.aliases.values():
        return text
    try:
        return _value(ast.parse(text, mode="eval").body)
    except Exception:
        return text


def hint(text: str) -> Any:
    """The same where a text stands for what it says."""
    try:
        found = _value(ast.parse(text, mode="eval").body)
        return _value(ast.parse(found, mode="eval").body) if type(found) is str else found
    except Exception:
        raise NameError(f"name '{text}' is not defined") from None


def _value(node: ast.expr) -> Any:
    session.budget.charge(1)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id in session.names:
            return session.names[node.id]
        path = session.aliases.get(node.id)
        return meaning(node.id) if path is None else resolve_path(path)
    if isinstance(node, ast.Attribute):
        return get_attribute(_value(node.value), node.attr)
    if isinstance(node, ast.Subscript):
        return get_item(_value(node.value), _value(node.slice))
    if isinstance(node, (ast.Tuple, ast.List)):
        kind = tuple if isinstance(node, ast.Tuple) else list
        return kind(map(_value, node.elts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _value(node.left) | _value(node.right)
    raise TypeError


def all_noted(texts: dict[str, str]) -> dict[str, Any]:
    """The __annotations__ of a class or a function."""
    return {name: noted(text) for name, text in texts.items()}


def of_function(function: Function) -> dict[str, str]:
    """The texts of a function's annotations."""
    node = None if function.code.scope is None else function.code.scope.node
    if not isinstance(node, ast.FunctionDef):
        return {}
    given = node.args
    every: Iterable[ast.arg | None] = (
        *given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg,
    )  # fmt: skip
    texts = {
        one.arg: ast.unparse(one.annotation)
        for one in every
        if one is not None and one.annotation is not None
    }
    return texts | ({"return": ast.unparse(node.returns)} if node.returns is not None else {})
