"""language: graphs that an iteration takes over from the one before: by a name, in an object."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from ...engine.schema.catalogue import catalogue
from ...engine.tensors.invented_names import kept_on
from ...engine.tensors.tensor import Tensor
from ...nn.module import Module
from ...recording.below import nodes_below
from ..classes import is_instance, kind_of
from ..explanation import Explanation, line_after, line_before, replaced
from ..places import Places
from ..values import Instance

CARRIED = ".detach() what a turn takes over from the turn before"
MOST_NAMES, MOST_NODES = 3, 10_000
Place = ast.Name | ast.Attribute | ast.Subscript


def has_graph(value: Any) -> bool:
    """Does a tensor, or one of a tuple or list of them, know how it was computed?"""
    if isinstance(value, (tuple, list)):
        return any(map(has_graph, value[:MOST_NAMES]))
    return isinstance(value, Tensor) and value.grad_fn is not None


def cut(text: str, value: Any) -> str:
    """`h = h.detach()`, and the same for a tuple of states."""
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        one = "part" if text.startswith("state[") else "state"
        return f"{text} = {kind}({one}.detach() for {one} in {text})"
    return f"{text} = {text}.detach()"


def carried_names(out: Explanation, loop: ast.For | ast.While) -> dict[str, Any]:
    """Names and attributes with a graph that a turn of the loop reads before it binds them."""
    read: set[str] = set()
    bound: dict[str, None] = {}
    for statement in loop.body:
        inside = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        read.update(n.id for n in inside if type(n.ctx) is ast.Load and n.id not in bound)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.add(statement.target.id)
        bound.update((n.id, None) for n in inside if type(n.ctx) is not ast.Load)
    held = {name: _held(out.places, ast.Name(name)) for name in bound if name in read}
    held |= {text: _held(out.places, part) for text, part in _kept_places(loop, bound).items()}
    return {name: value for name, value in held.items() if has_graph(value)}


def _kept_places(loop: ast.For | ast.While, bound: Container[str]) -> dict[str, Place]:
    """state.h and state["h"] that a turn reads before it writes them, of an object from outside."""
    read: set[str] = set()
    kept: dict[str, Place] = {}
    for part in _in_order(loop):
        text = ast.unparse(part)
        if type(part.ctx) is ast.Load:
            read.add(text)
        elif not isinstance(part, ast.Name) and text in read and _root(part) not in bound:
            kept.setdefault(text, part)
    return kept


def _root(part: ast.expr) -> str:
    while isinstance(part, (ast.Attribute, ast.Subscript)):
        part = part.value
    return part.id if isinstance(part, ast.Name) else ""


def _held(places: Places, part: ast.expr) -> Any:
    """What a name, an attribute or an item is now, where nothing has to run for it."""
    if isinstance(part, ast.Name):
        return next((t[part.id] for t in (places.local, places.values) if part.id in t), None)
    if isinstance(part, ast.Attribute):
        held = _held(places, part.value)
        return _attribute(held, part.attr) if isinstance(held, (Instance, Module)) else None
    if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
        return _item(_held(places, part.value), part.slice.value)
    return None


def by_name(out: Explanation) -> bool:
    """A turn's graph reaches back into the turn before: the names that carry it over."""
    loop = out.places.loop_around(out.place)
    names = {} if loop is None else carried_names(out, loop)
    if loop is None or not names or len(names) > MOST_NAMES:
        return False
    for name in names:
        if _is_optimised(out, loop, name):
            return True
    slopes = [part for part in ast.walk(loop) if isinstance(part, ast.Attribute)]
    asked = {ast.unparse(part.value) for part in slopes if part.attr == "grad"}
    text = "; ".join(
        cut(name, value) + ".requires_grad_()" * (name in asked) for name, value in names.items()
    )
    out.advise(f"{text} at the end of each turn", line_after(out.places, loop.body[-1], text))
    return True


def _is_optimised(out: Explanation, loop: ast.For | ast.While, name: str) -> bool:
    """`z = z.clamp(-1, 1)` of a leaf that an optimizer has, which the new tensor is not."""
    for statement in loop.body:
        change = in_place(statement, name)
        if change is not None and steps(loop):
            text = f"with torch.no_grad(): {change}"
            out.put(statement, f"{name} is another tensor from here on, not the optimizer's")
            edits = replaced(out.places, statement, text)
            out.advise(f"{text}, which leaves {name} a leaf", edits)
            return True
    return False


def in_place(statement: ast.AST, name: str) -> str | None:
    """`z.clamp_(-1, 1)` for z = z.clamp(-1, 1) and z = torch.clamp(z, -1, 1)"""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    value, function, given = statement.value, statement.value.func, statement.value.args
    if not isinstance(function, ast.Attribute) or ast.unparse(statement.targets[0]) != name:
        return None
    if ast.unparse(function.value) != name:
        if ast.unparse(function.value) != "torch" or not given or ast.unparse(given[0]) != name:
            return None
        given = given[1:]
    twin = f"{function.attr}_"
    if twin not in catalogue.methods:
        return None
    return f"{name}.{twin}{ast.unparse(ast.Call(ast.Name('f'), given, value.keywords))[1:]}"


def steps(loop: ast.For | ast.While) -> bool:
    calls = (part for part in ast.walk(loop) if isinstance(part, ast.Call))
    return any(isinstance(c.func, ast.Attribute) and c.func.attr == "step" for c in calls)


# ---------------------------------------------------------------- state that outlives a call


class State(NamedTuple):
    """What a function reads and later writes, and which outlives its calls."""

    text: str
    value: Any
    read: ast.AST
    written: ast.AST


def by_state(out: Explanation, node: Any) -> bool:
    """The state that carries a graph from one call of a function to the next; False for none."""
    functions = _functions(out, node)
    of_each = ([*filter(lambda state: comes_from(state.value, node), _states(out.places, one))]
               for one in functions)  # fmt: skip
    found = next(filter(None, of_each), [])
    if not found:
        return False
    places = out.places
    text = "; ".join(cut(state.text, state.value) for state in found)
    reading = min((_before_loops(places, s.read) for s in found), key=_line)
    writing = max((places.statement(s.written) for s in found), key=_line)
    for state in found:
        out.put(state.written, f"{state.text} keeps its graph for the next call")
    own = "so that each call has its own graph"
    guarded = f"if {found[0].text} is not None: {text}"
    ways = [guarded] if _begins_as_none(places, found[0]) else [text, guarded]
    for way, advise in zip(ways, (out.advise, out.or_else), strict=False):
        advise(f"{way} before line {_line(reading)}, {own}", line_before(places, reading, way))
    edits = line_after(places, writing, text)
    out.or_else(f"{text} after line {_line(writing)}, {own}", edits)
    return True


def _before_loops(places: Places, node: ast.AST) -> ast.stmt | None:
    """The statement, or the outermost loop of its function around it: the turns of one call belong
    together."""
    found = places.statement(node)
    for part in places.ancestors(node):
        if isinstance(part, ast.FunctionDef):
            break
        if isinstance(part, (ast.For, ast.While)):
            found = part
    return found


def _line(statement: ast.stmt | None) -> int:
    return 0 if statement is None else statement.lineno


def _functions(out: Explanation, node: Any) -> Iterator[ast.FunctionDef]:
    """The functions of the program that made the graph below a node, nearest first; then those
    that may have called them."""
    known: dict[int, ast.FunctionDef] = {}
    for one in nodes_below([node], MOST_NODES):
        inside = out.places.ancestors(one.origin) if isinstance(one.origin, ast.AST) else ()
        function = next((part for part in inside if isinstance(part, ast.FunctionDef)), None)
        if function is not None and id(function) not in known:
            known[id(function)] = function
            yield function
    others = (part for part in out.places.program.scopes if isinstance(part, ast.FunctionDef))
    yield from (one for one in others if id(one) not in known)


def comes_from(value: Any, node: Any) -> bool:
    """Whether a tensor, or one of a list of them, was computed by way of a node."""
    if isinstance(value, (tuple, list)):
        return any(comes_from(part, node) for part in value)
    made = value.grad_fn if isinstance(value, Tensor) else None
    return made is not None and any(one is node for one in nodes_below([made], MOST_NODES))


def _states(places: Places, function: ast.FunctionDef) -> list[State]:
    """self.hidden, a global name, or state["h"], that the function reads before it writes it."""
    names = _Names.of(function)
    read: dict[str, ast.AST] = {}
    written: dict[str, ast.AST] = {}
    for part in _in_order(function):
        if names.outlive(part):
            loads = type(part.ctx) is ast.Load
            (read if loads else written).setdefault(ast.unparse(part), part)
    found = []
    for text in [text for text in written if text in read][:MOST_NAMES]:
        value = next(filter(has_graph, values_of(places, function, written[text])), None)
        if value is not None:
            found.append(State(text, value, read[text], written[text]))
    return found


class _Names(NamedTuple):
    """The first parameter of a function, its global and nonlocal names, and its own names."""

    first: str | None
    shared: set[str]
    own: set[str]

    @classmethod
    def of(cls, function: ast.FunctionDef) -> _Names:
        parts = list(ast.walk(function))
        kept = [part for part in parts if isinstance(part, (ast.Global, ast.Nonlocal))]
        shared = {name for part in kept for name in part.names}
        stored = {n.id for n in parts if isinstance(n, ast.Name) and type(n.ctx) is not ast.Load}
        given = {part.arg for part in parts if isinstance(part, ast.arg)}
        first = function.args.args[0].arg if function.args.args else None
        return cls(first, shared, (stored | given) - shared)

    def outlive(self, part: Place) -> bool:
        """Whether the name, attribute or item is there when the function is called again."""
        if isinstance(part, ast.Subscript):
            base, constant = part.value, isinstance(part.slice, ast.Constant)
            if isinstance(base, ast.Name):
                return constant and base.id not in self.own
            return constant and isinstance(base, ast.Attribute) and self.outlive(base)
        if isinstance(part, ast.Name):
            return part.id in self.shared
        return isinstance(part.value, ast.Name) and part.value.id == self.first


def _in_order(block: ast.stmt) -> list[Place]:
    """Names, attributes, items by place; of one statement, the value comes before its target."""
    parts = [p for p in ast.walk(block) if isinstance(p, (ast.Name, ast.Attribute, ast.Subscript))]
    return sorted(parts, key=lambda part: (part.lineno, type(part.ctx) is not ast.Load))


def values_of(places: Places, function: ast.FunctionDef | None, part: ast.AST) -> Iterator[Any]:
    """What such a name, item, or attribute of the objects that global names hold, is now."""
    if isinstance(part, ast.Subscript):
        assert isinstance(part.slice, ast.Constant)
        for held in values_of(places, function, part.value):
            yield _item(held, part.slice.value)
        return
    if isinstance(part, ast.Name):
        yield places.values.get(part.id)
        return
    assert isinstance(part, ast.Attribute)
    owner = places.parents.get(id(function))
    word = owner.name if isinstance(owner, ast.ClassDef) else None
    if isinstance(part.value, ast.Name) and part.value.id in places.values:
        held = places.values[part.value.id]
        yield _attribute(held, part.attr) if isinstance(held, (Instance, Module)) else None
    for held in (*places.local.values(), *places.values.values()):
        for value in held.modules() if isinstance(held, Module) else (held,):
            if is_instance(value) and kind_of(value).name == word:
                yield _attribute(value, part.attr)


def _item(held: Any, key: Any) -> Any:
    """An item of a dict or list of the program."""
    if type(held) is dict:
        return held.get(key)
    inside = type(held) is list and type(key) is int and 0 <= key < len(held)
    return held[key] if inside else None


def _attribute(value: Any, name: str) -> Any:
    """What the program or the library keeps under a name, without running anything."""
    if isinstance(value, Instance):
        return value.table.get(name)
    own = value.__dict__
    return kept_on(value).get(name, (own.get("_buffers") or {}).get(name))


def _begins_as_none(places: Places, state: State) -> bool:
    """Is it None at first, so that there is nothing to detach?"""
    name, word = state.text.rpartition(".")[2], state.written
    key = getattr(word.slice, "value", None) if isinstance(word, ast.Subscript) else None
    for part in (part for statement in places.program.body for part in ast.walk(statement)):
        if isinstance(part, ast.Dict) and key is not None:
            if any(_is_none(v) and getattr(k, "value", None) == key for k, v in _items(part)):
                return True
        elif isinstance(part, ast.Assign) and _is_none(part.value):
            texts = [ast.unparse(target).rpartition(".")[2] for target in part.targets]
            if name in texts:
                return True
    return False


def _items(table: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(table.keys, table.values, strict=True)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
