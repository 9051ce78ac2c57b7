"""language: graphs that one turn takes over from the turn before: by a name, or in an object."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...engine.kept import kept_on
from ...engine.tensor import Tensor
from ...nn.module import Module
from ..classes import is_instance, kind_of
from ..explained import Edit, Explanation, line_after, line_before
from ..places import Places
from ..values import Instance

CARRIED = ".detach() what a turn takes over from the turn before"
MOST_NAMES, MOST_NODES = 3, 10_000


def has_graph(value: Any) -> bool:
    """Does a tensor, or one of a tuple or list of them, know how it was computed?"""
    if isinstance(value, (tuple, list)):
        return any(map(has_graph, value[:MOST_NAMES]))
    return isinstance(value, Tensor) and value.grad_fn is not None


def cut(text: str, value: Any) -> str:
    """`h = h.detach()`, and the same for a tuple of states."""
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return f"{text} = {kind}(state.detach() for state in {text})"
    return f"{text} = {text}.detach()"


def carried_names(out: Explanation, loop: ast.For | ast.While) -> dict[str, Any]:
    """Names that a turn of the loop reads before it binds them, and that hold a graph."""
    read: set[str] = set()
    bound: dict[str, None] = {}
    for statement in loop.body:
        inside = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        read.update(n.id for n in inside if type(n.ctx) is ast.Load and n.id not in bound)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.add(statement.target.id)
        bound.update((n.id, None) for n in inside if type(n.ctx) is not ast.Load)
    tables = (out.places.local, out.places.values)
    held = {n: next((t[n] for t in tables if n in t), None) for n in bound if n in read}
    return {name: value for name, value in held.items() if has_graph(value)}


def by_name(out: Explanation) -> None:
    """A turn's graph reaches back into the turn before: the names that carry it over."""
    loop = out.places.loop_around(out.place)
    names = {} if loop is None else carried_names(out, loop)
    if loop is None or not names or len(names) > MOST_NAMES:
        out.advise(CARRIED)
        return
    text = "; ".join(cut(name, value) for name, value in names.items())
    out.advise(f"{text} at the end of each turn", line_after(out.places, loop.body[-1], text))


# ---------------------------------------------------------------- state that outlives a call


class State(NamedTuple):
    """What a function reads and later writes, and which outlives its calls."""

    text: str
    value: Any
    read: ast.AST
    written: ast.AST


def by_state(out: Explanation, node: Any) -> bool:
    """The state that carries a graph from one call of a function to the next; False for none."""
    of_each = (_states(out.places, function) for function in _functions(out, node))
    found = next(filter(None, of_each), [])
    if not found:
        return False
    places = out.places
    text = "; ".join(cut(state.text, state.value) for state in found)
    reading = min((places.statement(s.read) for s in found), key=_line)
    writing = max((places.statement(s.written) for s in found), key=_line)
    for state in found:
        out.put(state.written, f"{state.text} keeps its graph for the next call")
    ways: list[tuple[str, list[Edit] | None]] = [
        (f"{text} before line {_line(reading)}", line_before(places, reading, text)),
        (f"{text} after line {_line(writing)}", line_after(places, writing, text)),
    ]
    if _begins_as_none(places, found[0]):
        ways.reverse()
    (first, edits), (second, others) = ways
    out.advise(f"{first}, so that each call has its own graph", edits)
    out.or_else(f"{second}, so that each call has its own graph", others)
    return True


def _line(statement: ast.stmt | None) -> int:
    return 0 if statement is None else statement.lineno


def _functions(out: Explanation, node: Any) -> Iterator[ast.FunctionDef]:
    """The functions of the program that made the graph below a node, nearest first."""
    seen, pending, known = {id(node)}, [node], set()
    for one in pending:
        origin = one.origin
        inside = out.places.ancestors(origin) if isinstance(origin, ast.AST) else ()
        function = next((part for part in inside if isinstance(part, ast.FunctionDef)), None)
        if function is not None and id(function) not in known:
            known.add(id(function))
            yield function
        for edge in one.edges:
            if edge is not None and id(edge) not in seen and len(seen) < MOST_NODES:
                seen.add(id(edge))
                pending.append(edge)


def _states(places: Places, function: ast.FunctionDef) -> list[State]:
    """self.hidden, or a global name, that the function reads before it writes it."""
    own = function.args.args[0].arg if function.args.args else None
    shared = {
        name
        for part in ast.walk(function)
        if isinstance(part, (ast.Global, ast.Nonlocal))
        for name in part.names
    }
    read: dict[str, ast.AST] = {}
    written: dict[str, ast.AST] = {}
    for part in _in_order(function):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            text = f"{own}.{part.attr}" if part.value.id == own else None
        else:
            text = part.id if isinstance(part, ast.Name) and part.id in shared else None
        if text is not None:
            loads = type(part.ctx) is ast.Load
            (read if loads else written).setdefault(text, part)
    found = []
    for text in [text for text in written if text in read][:MOST_NAMES]:
        value = next(filter(has_graph, _values(places, function, text)), None)
        if value is not None:
            found.append(State(text, value, read[text], written[text]))
    return found


def _in_order(function: ast.FunctionDef) -> list[ast.Name | ast.Attribute]:
    """Names and attributes by their place; of one statement, the value comes before its target."""
    parts = [part for part in ast.walk(function) if isinstance(part, (ast.Name, ast.Attribute))]
    return sorted(parts, key=lambda part: (part.lineno, type(part.ctx) is not ast.Load))


def _values(places: Places, function: ast.FunctionDef, text: str) -> Iterator[Any]:
    """What such a name, or such an attribute of the objects that global names hold, is now."""
    name = text.rpartition(".")[2]
    if name == text:
        yield places.values.get(name)
        return
    owner = places.parents.get(id(function))
    word = owner.name if isinstance(owner, ast.ClassDef) else None
    for held in (*places.local.values(), *places.values.values()):
        for value in held.modules() if isinstance(held, Module) else (held,):
            if is_instance(value) and kind_of(value).name == word:
                yield _attribute(value, name)


def _attribute(value: Any, name: str) -> Any:
    """What the program or the library keeps under a name, without running anything."""
    if isinstance(value, Instance):
        return value.table.get(name)
    own = value.__dict__
    return kept_on(value).get(name, (own.get("_buffers") or {}).get(name))


def _begins_as_none(places: Places, state: State) -> bool:
    """Is it None at first, so that there is nothing to detach?"""
    name = state.text.rpartition(".")[2]
    return any(
        isinstance(part.value, ast.Constant) and part.value.value is None
        for statement in places.program.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Assign)
        for target in part.targets
        if name in (getattr(target, "attr", None), getattr(target, "id", None))
    )
