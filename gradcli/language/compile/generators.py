"""language: functions with `yield`: their statements as generators of the host."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator
from typing import Any

from ...engine.schema.mode import state
from ..adoption import adopt, is_library
from ..builtins.errors import Raised, matches, name_of, value_of
from ..names import Scope
from ..operations import iterate, type_handlers, type_name
from ..session import session
from ..suspension import is_async, is_generator, yields
from ..values import BREAK, CONTINUE, Closure, Lazy
from .expressions import truth
from .flow import _quietly, catchable
from .suspended import delegated, suspended, walked
from .waiting import Given, async_method, awaited, next_step

# A statement on its way: it yields what the program yields, and answers as a block does.
Steps = Callable[[list[Any]], Generator[Any, Any, Any]]


def generator_function(compiler: Any, body: list[ast.stmt], scope: Scope, name: str) -> Closure:
    """A call gives the generator; nothing of the body has run yet."""
    run = steps(compiler, body, scope)
    kind = "generator"
    if is_async(scope.node):
        kind = "async_generator" if is_generator(scope.node) else "coroutine"
    return lambda frame: (Lazy(kind, _values_of(run(frame), kind), name),)


def steps(compiler: Any, body: list[ast.stmt], scope: Scope) -> Steps:
    parts: list[tuple[Any, Any]] = []
    for node in body:
        if type(node) not in (ast.FunctionDef, ast.ClassDef) and yields(node):
            parts.append((STEPS[type(node)](compiler, node, scope), None))
        elif (closure := compiler.statement(node, scope)) is not None:
            parts.append((None, closure))

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        for several, once in parts:
            answer = once(frame) if several is None else (yield from several(frame))
            if answer is not None:
                return answer
        return None

    return run


def simple_steps(compiler: Any, node: Any, scope: Scope) -> Steps:
    """A statement of one expression or two: first what stops, then the statement itcompiler."""
    given: Any = getattr(node, "value", None)
    alone = type(node) in (ast.Expr, ast.Assign) and type(given) in (ast.Yield, ast.YieldFrom)
    if alone and not (given.value is not None and yields(given.value)):
        return yield_statement(compiler, node, scope)
    first, rest = suspended(compiler, node, scope)
    closure = compiler.statement(rest, scope)

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        yield from first(frame)
        return None if closure is None else closure(frame)

    return run


def yield_statement(compiler: Any, node: ast.Expr | ast.Assign, scope: Scope) -> Steps:
    """The usual one: `yield value`, and `received = yield value`."""
    given: Any = node.value
    value_of = compiler.expression(given.value, scope) if given.value is not None else None
    targets = node.targets if isinstance(node, ast.Assign) else []
    stores = [compiler.target(target, scope) for target in targets]
    whole, is_given = type(given) is ast.YieldFrom, is_async(scope.node)

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        value = None if value_of is None else value_of(frame)
        state.origin = node
        if whole:
            received = yield from delegated(walked(node.value, value))
        else:
            received = yield Given(value) if is_given else value
        session.budget.charge(1)
        for store in stores:
            store(frame, received)

    return run


def value_steps(compiler: Any, node: Any, scope: Scope) -> tuple[Any, Closure]:
    """Of a test or of what a loop walks: the steps before it, if any, and its value."""
    if not yields(node):
        return None, compiler.expression(node, scope)
    first, rest = suspended(compiler, node, scope)
    return first, compiler.expression(rest, scope)


def if_steps(compiler: Any, node: ast.If, scope: Scope) -> Steps:
    (first, test), place = value_steps(compiler, node.test, scope), node.test
    then, otherwise = steps(compiler, node.body, scope), steps(compiler, node.orelse, scope)

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        if first is not None:
            yield from first(frame)
        return (yield from (then if truth(test(frame), place) else otherwise)(frame))

    return run


def for_steps(compiler: Any, node: ast.For, scope: Scope) -> Steps:
    if is_async(node):
        return async_for_steps(compiler, node, scope)
    first, items_of = value_steps(compiler, node.iter, scope)
    store = compiler.target(node.target, scope)
    body, otherwise = steps(compiler, node.body, scope), steps(compiler, node.orelse, scope)

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        if first is not None:
            yield from first(frame)
        items = items_of(frame)
        state.origin = node.iter
        for item in iterate(items):
            session.budget.charge(1)
            store(frame, item)
            answer = yield from body(frame)
            if answer is BREAK:
                return None
            if answer is not None and answer is not CONTINUE:
                return answer
        return (yield from otherwise(frame))

    return run


def async_for_steps(compiler: Any, node: ast.For, scope: Scope) -> Steps:
    first, items_of = value_steps(compiler, node.iter, scope)
    store = compiler.target(node.target, scope)
    body, otherwise = steps(compiler, node.body, scope), steps(compiler, node.orelse, scope)

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        if first is not None:
            yield from first(frame)
        step = next_step(items_of(frame))
        while True:
            session.budget.charge(1)
            state.origin = node.iter
            try:
                item = yield from delegated(awaited(step()))
            except Exception as error:
                if name_of(error) != "StopAsyncIteration":
                    raise
                break
            store(frame, item)
            answer = yield from body(frame)
            if answer is BREAK:
                return None
            if answer is not None and answer is not CONTINUE:
                return answer
        return (yield from otherwise(frame))

    return run


def while_steps(compiler: Any, node: ast.While, scope: Scope) -> Steps:
    (first, test), place = value_steps(compiler, node.test, scope), node.test
    body, otherwise = steps(compiler, node.body, scope), steps(compiler, node.orelse, scope)

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        while True:
            if first is not None:
                yield from first(frame)
            if not truth(test(frame), place):
                break
            session.budget.charge(1)
            answer = yield from body(frame)
            if answer is BREAK:
                return None
            if answer is not None and answer is not CONTINUE:
                return answer
        return (yield from otherwise(frame))

    return run


def with_steps(compiler: Any, node: ast.With, scope: Scope) -> Steps:
    body = steps(compiler, node.body, scope)
    for item in reversed(node.items):
        manager_of = compiler.expression(item.context_expr, scope)
        store = None if item.optional_vars is None else compiler.target(item.optional_vars, scope)
        enclose = _async_with if is_async(node) else _with
        body = enclose(manager_of, store, body, item.context_expr)
    return body


def try_steps(compiler: Any, node: ast.Try, scope: Scope) -> Steps:
    body = steps(compiler, node.body, scope)
    otherwise, final = steps(compiler, node.orelse, scope), steps(compiler, node.finalbody, scope)
    handlers = [handler_steps(compiler, handler, scope) for handler in node.handlers]

    def attempt(frame: list[Any]) -> Generator[Any, Any, Any]:
        try:
            answer = yield from body(frame)
        except Exception as error:
            if not catchable(error):
                raise
            for kinds_of, handle in handlers:
                if kinds_of is None or matches(error, kinds_of(frame)):
                    return (yield from handle(frame, error))
            raise
        return answer if answer is not None else (yield from otherwise(frame))

    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        try:
            answer = yield from attempt(frame)
        except Exception as error:
            if not catchable(error):
                raise
            over = yield from final(frame)
            if over is not None:
                return over
            raise
        over = yield from final(frame)
        return answer if over is None else over

    return run


def handler_steps(compiler: Any, node: ast.ExceptHandler, scope: Scope) -> tuple[Any, Any]:
    kinds = None if node.type is None else compiler.expression(node.type, scope)
    body = steps(compiler, node.body, scope)
    store = compiler.store(node.name, scope, node) if node.name else None
    forget = compiler.forget(node.name, scope, node) if node.name else None

    def run(frame: list[Any], error: BaseException) -> Generator[Any, Any, Any]:
        if store is not None:
            store(frame, value_of(error))
        session.handle(error)
        try:
            return (yield from body(frame))
        finally:
            session.handling.remove(error)
            if forget is not None:
                _quietly(forget, frame)

    return kinds, run


def _values_of(steps: Generator[Any, Any, Any], kind: str) -> Generator[Any, Any, Any]:
    """Values alone: how the body answers is nothing to who walks. Each is asked for by a call.

    What close() throws in is an error of the program to its blocks, as all others are.
    """
    budget = session.budget
    budget.has_generators = True
    step: Callable[[Any], Any] = steps.send
    given, closing = None, False
    try:
        while True:
            budget.enter()
            try:
                item = step(given)
            finally:
                budget.depth -= 1
                given = None  # an error leads to its frames, and so to this one
            try:
                given = yield item
                step, closing = steps.send, False
            except GeneratorExit as closed:
                step, given, closing = steps.throw, Raised(value_of(closed)), True
            except BaseException as error:  # of the block that a context manager stands around
                step, given = steps.throw, error
    except StopIteration as end:
        return end.value[0] if type(end.value) is tuple else None
    except Raised as error:
        if error.value.kind.host is StopIteration:
            words = f"{kind.replace('_', ' ')} raised StopIteration"
            raise RuntimeError(words) from error
        if not closing or error.value.kind.host is not GeneratorExit:
            raise
        return None


def _with(manager_of: Closure, store: Any, body: Steps, node: ast.AST) -> Steps:
    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        manager = manager_of(frame)
        state.origin = node
        enter, leave = type_handlers.enter(manager), type_handlers.leave(manager)
        if enter is None:
            if not (is_library(manager) and hasattr(type(manager), "__enter__")):
                words = "object does not support the context manager protocol"
                raise TypeError(f"'{type_name(manager)}' {words}")
            with manager as value:
                if store is not None:
                    store(frame, adopt(value))
                return (yield from body(frame))
        value = enter(manager)
        if store is not None:
            store(frame, value)
        try:
            answer = yield from body(frame)
        except Exception as error:
            told = value_of(error)
            if catchable(error) and leave is not None and leave(manager, told.kind, told, None):
                return None
            raise
        if leave is not None:
            leave(manager, None, None, None)
        return answer

    return run


def _async_with(manager_of: Closure, store: Any, body: Steps, node: ast.AST) -> Steps:
    def run(frame: list[Any]) -> Generator[Any, Any, Any]:
        manager = manager_of(frame)
        state.origin = node
        enter, leave = (async_method(manager, word) for word in ("__aenter__", "__aexit__"))
        value = yield from delegated(awaited(enter()))
        if store is not None:
            store(frame, value)
        try:
            answer = yield from body(frame)
        except Exception as error:
            told = value_of(error)
            if catchable(error) and (yield from delegated(awaited(leave(told.kind, told, None)))):
                return None
            raise
        yield from delegated(awaited(leave(None, None, None)))
        return answer

    return run


STEPS: dict[type[ast.AST], Callable[[Any, Any, Scope], Steps]] = {
    **dict.fromkeys(
        (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert),
        simple_steps,
    ),
    ast.If: if_steps,
    ast.For: for_steps,
    ast.While: while_steps,
    ast.With: with_steps,
    ast.Try: try_steps,
}
