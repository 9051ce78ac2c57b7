"""language: graphs that outlive a turn in a list, in a gradient, in what a constructor computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...engine.graph.leaf import gradient_of
from ...engine.tensors.tensor import Tensor
from ..explanation import Explanation, line_after, replaced
from ..places import Places
from .carried import comes_from, values_of

FILLING = frozenset({"append", "extend", "add", "appendleft"})
MOST_PARTS = 100


def by_collection(out: Explanation, node: Any) -> bool:
    """A list that every turn fills and none empties, with what was computed by way of a node."""
    places = out.places
    calls = {id(part): part for part in places.parents.values() if isinstance(part, ast.Call)}
    for call in calls.values():
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in FILLING:
            continue
        owner = call.func.value
        if any(_holds(value, node) for value in _possible_values(places, owner)):
            text = ast.unparse(owner)
            out.put(call, f"{text} keeps the graphs of all turns")
            statement = places.statement(out.place)
            loop = places.loop_around(out.place)
            behind = statement if loop is None or statement in loop.body else loop.body[-1]
            is_seen = _is_seen(places, owner, out.place)
            edits = line_after(places, behind, f"{text}.clear()") if is_seen else None
            out.advise(f"{text}.clear() after each backward, or a new list in each turn", edits)
            return True
    return _by_table(out, node)


def _by_table(out: Explanation, node: Any) -> bool:
    """A dict that keeps what was computed once, under keys that come again."""
    places = out.places
    parts = {id(part): part for part in places.parents.values() if isinstance(part, ast.Assign)}
    for part in parts.values():
        target = part.targets[0]
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Constant):
            continue
        for value in _possible_values(places, target.value):
            if isinstance(value, dict) and _holds([*islice(value.values(), MOST_PARTS)], node):
                text = ast.unparse(target.value)
                out.put(target, f"{text} keeps its graph for the next turn")
                seen = _is_seen(places, target.value, out.place)
                statement = places.statement(out.place)
                edits = line_after(places, statement, f"{text}.clear()") if seen else None
                out.advise(f"{text}.clear() after each backward: what it keeps has a graph", edits)
                return True
    return False


def by_gradient(out: Explanation, node: Any) -> bool:
    """A .grad of create_graph=True that the next turn adds to."""
    places = out.places
    for name, value in {**places.values, **places.local}.items():
        if isinstance(value, Tensor) and comes_from(gradient_of(value), node):
            loop = places.loop_around(out.place)
            edits = (
                None if loop is None else line_after(places, loop.body[-1], f"{name}.grad = None")
            )
            out.advise(f"{name}.grad = None at the end of each turn: it keeps its graph", edits)
            return True
    return False


def by_constructor(out: Explanation, node: Any) -> bool:
    """What __init__ computed of parameters is computed once, and used in each turn."""
    places = out.places
    origin = node.origin if isinstance(node.origin, ast.AST) else None
    inside = [] if origin is None else list(places.ancestors(origin))
    method = next((part for part in inside if isinstance(part, ast.FunctionDef)), None)
    owner = None if method is None else places.parents.get(id(method))
    loop = places.loop_around(out.place)
    if method is None or method.name != "__init__" or not isinstance(owner, ast.ClassDef):
        return False
    if loop is not None and owner.name in {
        part.id for part in ast.walk(loop) if isinstance(part, ast.Name)
    }:
        return False
    statement = places.statement(origin)
    out.put(origin, f"computed once, when the {owner.name} is made")
    advice = f"compute line {places.line(origin)} in forward, where each call does it anew"
    edits = _inlined(places, owner, method, statement)
    out.advise(advice, edits)
    return True


def _inlined(
    places: Places, owner: ast.ClassDef, method: ast.FunctionDef, statement: ast.stmt | None
) -> list[Any] | None:
    """The expression in the place of the attribute that kept its result."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign):
        return None
    given = {argument.arg for argument in method.args.args[1:]}
    stored = {
        n.id for n in ast.walk(method) if isinstance(n, ast.Name) and type(n.ctx) is ast.Store
    }
    read = {part.id for part in ast.walk(statement.value) if isinstance(part, ast.Name)}
    text, word = places.text(statement.value, 80), ast.unparse(target)
    if text is None or not read.isdisjoint(given | stored):
        return None
    found: list[Any] = []
    for part in ast.walk(owner):
        if isinstance(part, ast.Attribute) and type(part.ctx) is ast.Load:
            if ast.unparse(part) == word:
                found += replaced(places, part, f"({text})") or []
    return found or None


def _possible_values(places: Places, owner: ast.expr) -> Iterator[Any]:
    """What a name or an attribute may hold."""
    if isinstance(owner, ast.Name):
        yield places.value_of(owner)
    elif isinstance(owner, ast.Attribute):
        function = next(
            (p for p in places.ancestors(owner) if isinstance(p, ast.FunctionDef)), None
        )
        yield from values_of(places, function, owner)


def _is_seen(places: Places, owner: ast.expr, place: ast.AST) -> bool:
    """Whether the place of an error knows the same object by the same words."""
    root = owner.value if isinstance(owner, ast.Attribute) else owner
    if not isinstance(root, ast.Name):
        return False
    around = [p for p in places.ancestors(place) if isinstance(p, (ast.FunctionDef, ast.ClassDef))]
    if any(isinstance(part, ast.ClassDef) and part in places.ancestors(owner) for part in around):
        return True
    return root.id in places.values and root.id not in places.local


def _holds(value: Any, node: Any) -> bool:
    if not isinstance(value, (list, tuple, set)):
        return False
    return any(comes_from(part, node) or _holds(part, node) for part in [*value][:MOST_PARTS])
