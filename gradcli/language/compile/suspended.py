"""language: compiles expressions that contain a `yield`: what ran before it is kept in the frame.

A closure can't stop half way. So the parts of an expression that run before its last `yield` are
steps of their own, which leave their values in slots, and the rest is compiled with those slots in
their places.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator
from typing import Any

from ...engine.schema.mode import state
from ..builtins.errors import Raised
from ..names import Scope
from ..operations import iterate
from ..session import session
from ..suspension import awaits, is_async, parts, yields
from ..values import Closure
from .expressions import EXPRESSIONS, truth
from .waiting import Given, awaited

# A step on its way: it yields what the program yields.
Step = Callable[[list[Any]], Generator[Any, Any, None]]
Pair = tuple["Step | None", "Closure | None"]  # a step that may yield, or one that never does


class Suspended(ast.expr):
    """A value that waits in the frame."""

    _fields = ()
    slot: int


# What is in an expression without being one: its own parts are looked at.
INSIDE = (ast.keyword, ast.Starred, ast.Slice, ast.FormattedValue)


def _compile_held(compiler: Any, node: Suspended, scope: Scope) -> Closure:
    slot = node.slot
    return lambda frame: frame[slot]


EXPRESSIONS[Suspended] = _compile_held


def delegated(items: Iterator[Any]) -> Generator[Any, Any, Any]:
    """`yield from`: what is sent or thrown goes to the inner generator; its answer is the value."""
    send: Any = getattr(items, "send", None)
    throw: Any = getattr(items, "throw", None)
    step: Callable[..., Any] = items.__next__
    given: tuple[Any, ...] = ()
    budget = session.budget
    while True:
        budget.charge(1)
        try:
            item = step(*given)
        except StopIteration as end:
            return end.value
        finally:
            given = ()  # an error leads to its frames, and so to this one
        try:
            received = yield item
        except Exception as error:
            closing = isinstance(error, Raised) and error.value.kind.host is GeneratorExit
            if closing and isinstance(items, Generator):
                items.close()  # the inner one first
            if closing or throw is None:
                raise
            step, given = throw, (error,)
        except BaseException:
            if isinstance(items, Generator):
                items.close()
            raise
        else:
            plain = received is None or send is None
            step, given = (items.__next__, ()) if plain else (send, (received,))


def walked(node: ast.AST, value: Any) -> Iterator[Any]:
    """What `yield from` or `await` goes through."""
    return awaited(value) if awaits(node) else iterate(value)


def suspended(compiler: Any, node: Any, scope: Scope) -> tuple[Step, Any]:
    """Steps to take first, and the node to compile after them."""
    pairs: list[Pair] = []
    rest = _rest(compiler, node, scope, pairs)

    def run(frame: list[Any]) -> Generator[Any, Any, None]:
        for several, once in pairs:
            if several is not None:
                yield from several(frame)
            elif once is not None:
                once(frame)

    return run, rest


def _rest(compiler: Any, node: Any, scope: Scope, pairs: list[Pair]) -> Any:
    """The node with slots where something runs before a `yield`; what runs goes to `pairs`."""
    kind = type(node)
    if kind is ast.BoolOp or kind is ast.IfExp:
        return _chosen(compiler, node, scope, pairs)
    ordered = parts(node)
    last = max((at for at, part in enumerate(ordered) if yields(part)), default=-1)
    new = {}
    for at, part in enumerate(ordered[: last + 1]):
        rest = _rest(compiler, part, scope, pairs) if yields(part) else part
        if at < last:
            rest = _before(compiler, rest, scope, pairs, part is getattr(node, "func", None))
        new[id(part)] = rest
    made = _replaced(node, new)
    if kind is ast.Yield or kind is ast.YieldFrom:
        return _received(compiler, made, scope, pairs)
    return made


def _before(compiler: Any, node: Any, scope: Scope, pairs: list[Pair], is_called: bool) -> Any:
    """A part that runs before a `yield`; the name of what is called is looked up later."""
    if type(node) in (ast.Constant, Suspended) or (is_called and type(node) is ast.Name):
        return node
    if isinstance(node, INSIDE) or (is_called and type(node) is ast.Attribute):
        return _replaced(node, {id(part): _before(compiler, part, scope, pairs, False)
                                for part in parts(node)})  # fmt: skip
    closure = compiler.expression(node, scope)
    held = _slot(compiler, node, scope)
    slot = held.slot

    def keep(frame: list[Any]) -> None:
        frame[slot] = closure(frame)

    pairs.append((None, keep))
    return held


def _slot(compiler: Any, node: ast.AST, scope: Scope) -> Suspended:
    held = ast.copy_location(Suspended(), node)
    held.slot = compiler.new_slot(scope)
    return held


def _received(compiler: Any, node: Any, scope: Scope, pairs: list[Pair]) -> Suspended:
    value_of = None if node.value is None else compiler.expression(node.value, scope)
    held = _slot(compiler, node, scope)
    slot, whole, is_given = held.slot, type(node) is ast.YieldFrom, is_async(scope.node)

    def run(frame: list[Any]) -> Generator[Any, Any, None]:
        value = None if value_of is None else value_of(frame)
        state.origin = node
        session.budget.charge(1)
        if whole:
            frame[slot] = yield from delegated(walked(node, value))
        else:
            frame[slot] = yield Given(value) if is_given else value

    pairs.append((run, None))
    return held


def _chosen(compiler: Any, node: Any, scope: Scope, pairs: list[Pair]) -> Suspended:
    """and, or, if: which part runs is seen on the way."""
    values = node.values if type(node) is ast.BoolOp else [node.test, node.body, node.orelse]
    ways = []
    for value in values:
        step, rest = suspended(compiler, value, scope)
        ways.append((step, compiler.expression(rest, scope), value))
    held = _slot(compiler, node, scope)
    slot = held.slot
    stops = type(node) is ast.BoolOp and type(node.op) is ast.Or

    def run_all(frame: list[Any]) -> Generator[Any, Any, None]:
        for left, (step, value_of, place) in zip(range(len(ways), 0, -1), ways, strict=True):
            yield from step(frame)
            frame[slot] = value_of(frame)
            if left > 1 and bool(truth(frame[slot], place)) is stops:
                return

    def run_one(frame: list[Any]) -> Generator[Any, Any, None]:
        step, value_of, place = ways[0]
        yield from step(frame)
        step, value_of, _ = ways[1 if truth(value_of(frame), place) else 2]
        yield from step(frame)
        frame[slot] = value_of(frame)

    pairs.append((run_all if type(node) is ast.BoolOp else run_one, None))
    return held


def _replaced(node: Any, new: dict[int, Any]) -> Any:
    """A copy of a node with other parts."""
    from copy import copy  # which few programs need

    made = copy(node)
    for field in node._fields:
        part = getattr(node, field, None)
        if type(part) is list:
            setattr(made, field, [new.get(id(item), item) for item in part])
        elif id(part) in new:
            setattr(made, field, new[id(part)])
    return made
