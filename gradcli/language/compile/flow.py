"""language: compiles control flow to closures: if, loops, with, try, raise, assert."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.schema.mode import state
from ..adoption import adopt, is_library
from ..builtins.errors import Raised, matches, to_raise, value_of
from ..names import Scope
from ..operations import iterate, type_handlers, type_name
from ..session import session
from ..values import BREAK, CONTINUE, Closure
from .expressions import ExpressionCompiler, truth
from .names import Store
from .operand_values import Operands, OperandValues, operands_of


class FlowCompiler(ExpressionCompiler):
    """Statements that decide which statements run."""

    block: Callable[[list[ast.stmt], Scope], Closure]

    def if_(self, node: ast.If, scope: Scope) -> Closure:
        branches: list[tuple[Closure, Closure, ast.AST]] = []
        current: Any = node
        while True:
            test = self.expression(current.test, scope)
            branches.append((test, self.block(current.body, scope), current.test))
            if len(current.orelse) == 1 and type(current.orelse[0]) is ast.If:
                current = current.orelse[0]
                continue
            otherwise = self.block(current.orelse, scope) if current.orelse else empty
            break
        if len(branches) == 1:
            test, then, place = branches[0]
            return lambda frame: then(frame) if truth(test(frame), place) else otherwise(frame)

        def run(frame: list[Any]) -> Any:
            for test, then, place in branches:
                if truth(test(frame), place):
                    return then(frame)
            return otherwise(frame)

        return run

    def for_(self, node: ast.For, scope: Scope) -> Closure:
        items_of, store = self.expression(node.iter, scope), self.target(node.target, scope)
        body = self.block(node.body, scope)
        otherwise = self.block(node.orelse, scope) if node.orelse else empty
        cost, iterated = 1 + len(node.body), self.iterated

        def run(frame: list[Any]) -> Any:
            budget = session.budget
            items = items_of(frame)
            state.origin = node.iter
            for item in iterated(items, node.iter):
                budget.fuel -= cost
                if budget.fuel < 0:
                    budget.refill()
                store(frame, item)
                answer = body(frame)
                if answer is not None:
                    if answer is BREAK:
                        return None
                    if answer is not CONTINUE:
                        return answer
            return otherwise(frame)

        return run

    def iterated(self, items: Any, place: ast.expr) -> Iterator[Any]:
        """What a loop gets, item by item, of what stands at a place."""
        return iterate(items)

    def while_(self, node: ast.While, scope: Scope) -> Closure:
        test, place = self.expression(node.test, scope), node.test
        body = self.block(node.body, scope)
        otherwise = self.block(node.orelse, scope) if node.orelse else empty
        cost = 1 + len(node.body)

        def run(frame: list[Any]) -> Any:
            budget = session.budget
            while truth(test(frame), place):
                budget.fuel -= cost
                if budget.fuel < 0:
                    state.origin = node
                    budget.refill()
                answer = body(frame)
                if answer is not None:
                    if answer is BREAK:
                        return None
                    if answer is not CONTINUE:
                        return answer
            return otherwise(frame)

        return run

    def return_(self, node: ast.Return, scope: Scope) -> Closure:
        if node.value is None:
            return lambda frame: (None,)
        value_of = self.expression(node.value, scope)
        return lambda frame: (value_of(frame),)

    # ------------------------------------------------------------ with, try, raise, assert

    def with_(self, node: ast.With, scope: Scope) -> Closure:
        body = self.block(node.body, scope)
        for item in reversed(node.items):
            manager_of = self.expression(item.context_expr, scope)
            store = None if item.optional_vars is None else self.target(item.optional_vars, scope)
            body = _with(manager_of, store, body, item.context_expr)
        return body

    def try_(self, node: ast.Try, scope: Scope) -> Closure:
        body = self.block(node.body, scope)
        otherwise = self.block(node.orelse, scope) if node.orelse else None
        handlers = [self.handler(handler, scope) for handler in node.handlers]
        attempt = body
        if handlers:
            attempt = _attempt(body, handlers, otherwise)
        elif otherwise is not None:
            after = otherwise
            attempt = lambda frame: body(frame) or after(frame)  # noqa: E731
        if not node.finalbody:
            return attempt
        return _finally(attempt, self.block(node.finalbody, scope))

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> tuple[Closure | None, Any]:
        kinds = None if node.type is None else self.expression(node.type, scope)
        body = self.block(node.body, scope)
        name = node.name
        store = self.store(name, scope, node) if name else None
        forget = self.forget(name, scope, node) if name else None

        def run(frame: list[Any], error: BaseException) -> Any:
            if store is not None:
                store(frame, value_of(error))
            session.handle(error)
            try:
                return body(frame)
            finally:
                session.handling.pop()
                if forget is not None:
                    _quietly(forget, frame)

        return kinds, run

    def raise_(self, node: ast.Raise, scope: Scope) -> Closure:
        if node.exc is None:

            def run_again(frame: list[Any]) -> None:
                state.origin = node
                if not session.handling:
                    raise RuntimeError("No active exception to reraise")
                raise session.handling[-1]

            return run_again
        value_of_error = self.expression(node.exc, scope)
        cause_of = None if node.cause is None else self.expression(node.cause, scope)

        def run(frame: list[Any]) -> None:
            value = value_of_error(frame)
            state.origin = node
            error = to_raise(value)
            if cause_of is not None:
                cause = cause_of(frame)
                if isinstance(error, Raised) and cause is not None:
                    error.value.cause = to_raise(cause, "exception causes").value  # type: ignore[attr-defined]
            raise error from None

        return run

    def assert_(self, node: ast.Assert, scope: Scope) -> Closure:
        test, kept = self.condition(node.test, scope)
        message_of = None if node.msg is None else self.expression(node.msg, scope)
        place = node.test

        def run(frame: list[Any]) -> None:
            try:
                if truth(test(frame), place):
                    return
                operands = kept.taken()
            finally:
                kept.values.clear()
            message = () if message_of is None else (message_of(frame),)
            _fail(message, operands, place)

        return run

    def condition(self, test: ast.expr, scope: Scope) -> tuple[Closure, OperandValues]:
        """A condition, and what its operands held when it was computed last."""
        around, self.kept = self.kept, OperandValues(operands_of(test))
        try:
            return self.expression(test, scope), self.kept
        finally:
            self.kept = around


def empty(frame: list[Any]) -> None:
    return None


def _with(manager_of: Closure, store: Store | None, body: Closure, node: ast.AST) -> Closure:
    def run(frame: list[Any]) -> Any:
        manager = manager_of(frame)
        state.origin = node
        enter = type_handlers.enter(manager)
        if enter is not None:
            return _with_instance(manager, enter, store, body, frame)
        if not (is_library(manager) and hasattr(type(manager), "__enter__")):
            raise TypeError(
                f"'{type_name(manager)}' object does not support the context manager protocol"
            )
        answer = None
        with manager as value:
            if store is not None:
                store(frame, adopt(value))
            answer = body(frame)
        return answer

    return run


def _with_instance(
    manager: Any, enter: Any, store: Store | None, body: Closure, frame: list[Any]
) -> Any:
    """The protocol for an object of the program's own class."""
    leave = type_handlers.leave(manager)
    if leave is None:
        raise TypeError(
            f"'{type_name(manager)}' object does not support the context manager protocol "
            "(missed __exit__ method)"
        )
    value = enter(manager)
    if store is not None:
        store(frame, value)
    try:
        answer = body(frame)
    except Exception as error:
        told = value_of(error)
        if catchable(error) and leave(manager, told.kind, told, None):
            return None
        raise
    leave(manager, None, None, None)
    return answer


def _attempt(body: Closure, handlers: list[Any], otherwise: Closure | None) -> Closure:
    def run(frame: list[Any]) -> Any:
        try:
            answer = body(frame)
        except Exception as error:
            if not catchable(error):
                raise
            for kinds_of, handle in handlers:
                if kinds_of is None or matches(error, kinds_of(frame)):
                    return handle(frame, error)
            raise
        if answer is None and otherwise is not None:
            return otherwise(frame)
        return answer

    return run


def catchable(error: Exception) -> bool:
    """The host's own exhaustion is a limit; what the program or the engine raises is not."""
    return isinstance(error, Raised) or not isinstance(error, (RecursionError, MemoryError))


def _finally(attempt: Closure, final: Closure) -> Closure:
    def run(frame: list[Any]) -> Any:
        try:
            answer = attempt(frame)
        except Exception as error:
            if not catchable(error):
                raise
            over = final(frame)
            if over is not None:
                return over
            raise
        over = final(frame)
        return answer if over is None else over

    return run


def _quietly(forget: Closure, frame: list[Any]) -> None:
    """The name of `except ... as name` is gone after the block, even when the block deleted it."""
    try:
        forget(frame)
    except NameError:
        pass


def _fail(message: tuple[Any, ...], operands: Operands, node: ast.AST) -> None:
    error = AssertionError(*message)
    error.operands = operands  # type: ignore[attr-defined]
    raise error
