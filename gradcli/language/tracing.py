"""language: a compiler whose closures report every value, for runs that are explained.

The ordinary compiler reports nothing, so that ordinary runs pay nothing. Here every expression that
may compute a value reports it with its parts, by means of a stack: what is evaluated between the
beginning and the end of an expression belongs to it. A statement begins a new stack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor
from ..named import NamedTuple
from .attributes import set_attribute
from .compile.expressions import EXPRESSIONS
from .compile.flow import _with
from .compile.names import NOTHING, Store
from .compile.operators import OPERATORS, _is_long
from .compile.statements import STATEMENTS, StatementCompiler
from .compile.suspended import Suspended
from .names import Scope
from .operations import set_item
from .values import Closure

PLAIN = frozenset({range, list, tuple, dict, str})  # no code of the program runs for an item
QUIET = (
    ast.Constant, ast.Slice, ast.Lambda, ast.JoinedStr, ast.FormattedValue, ast.Starred, Suspended,
)  # fmt: skip


class Inner(NamedTuple):
    """An operation that code outside of the text did within an expression: its name, its line.

    Of an expression of another file, which reports itself, its words and its node are known, and
    the expression of the program that called it.
    """

    word: str
    place: str
    text: str = ""
    node: ast.AST | None = None
    call: ast.AST | None = None


class Listener:
    """The listener of a traced run. A base class whose other methods do nothing."""

    __slots__ = ("stack", "within")

    def __init__(self) -> None:
        self.within: Inner | None = None  # what another file computes, while that is reported
        # What is in progress: of expressions the parts that were left, None stands for a statement.
        self.stack: list[list[Any] | None] = []

    def enter(self) -> None:
        """An expression begins."""
        self.stack.append([])

    def leave(self, node: ast.AST, value: Any) -> None:
        """It has this value; what was left since its beginning stood inside of it."""

    def fail(self, node: ast.AST, error: BaseException) -> None:
        """It has none."""

    def drop(self) -> None:
        """What was begun last, an expression or a statement, was left by an error or a jump."""

    def begin(self) -> None:
        """A statement begins."""
        self.stack.append(None)

    def end(self) -> None:
        """A statement has ended, or a jump or an error has left it."""

    def loaded(self, node: ast.AST, name: str, scope: Scope, value: Any) -> None:
        """A name was read."""

    def stored(self, node: ast.AST, name: str, scope: Scope | None, value: Any) -> None:
        """A name was bound: a global one, without a scope, or one of a function."""

    def written(self, node: ast.AST, owner: Any, value: Any) -> None:
        """`owner[i] = value`, or `owner.name = value`."""

    def replaced(self, node: ast.AST, old: Any, operand: Any, new: Any) -> None:
        """`old += operand` made new."""

    def returned(self, node: ast.Return, value: Any) -> None:
        """A function of the program is about to return."""

    def drawn(self, node: ast.AST, value: Any) -> None:
        """A loop got this item of an expression's value; what was left or returned since it asked
        for it stood inside of it."""

    def entered(self, node: ast.AST, before: bool) -> None:
        """The body of a `with` begins; whether gradients were recorded before it."""

    def left(self) -> None:
        """It has ended."""

    def holds(self, name: str, value: Any) -> None:
        """What a name of a function holds, whose binding was not reported."""

    def made_before(self, node: ast.AST, value: Any) -> None:
        """A leaf that was there before the run was heard, and the expression that made it."""

    def given(self, value: Any) -> None:
        """An operand of the expression in progress, whose parts were not reported."""

    def lost(self, node: ast.AST, value: Any, inner: Inner) -> None:
        """The same as `leave`, of an operation that lost the graph, or goes on from one that did;
        it may be a part of what an expression calls."""

    def refused_pass(self, node: ast.AST, root: Any, *, shaped: bool) -> None:
        """A call could not begin its pass: its root requires no grad, or is no scalar."""


def tracing(listener: Listener) -> Callable[..., StatementCompiler]:
    """A maker of compilers that report to this listener."""

    def make(program: Any, store: Any, overrides: dict[int, Any]) -> StatementCompiler:
        return TracingCompiler(program, store, overrides, listener)

    return make


class TracingCompiler(StatementCompiler):
    """The compiler, with a listener told at every value."""

    def __init__(
        self, program: Any, store: Any, overrides: dict[int, Any], listener: Listener
    ) -> None:
        super().__init__(program, store, overrides)
        self.listener = listener
        self.table = {kind: _traced(make) for kind, make in EXPRESSIONS.items()}
        self.table[ast.BinOp] = TracingCompiler.binary
        self.table[ast.Name] = TracingCompiler.name
        for kind in QUIET:
            if kind in EXPRESSIONS:
                self.table[kind] = EXPRESSIONS[kind]

    def expression(self, node: Any, scope: Scope) -> Closure:
        closure = self.table[type(node)](self, node, scope)
        return closure if self.kept is None else self.kept.of(node, closure)

    def statement(self, node: Any, scope: Scope) -> Closure | None:
        closure = TRACED[type(node)](self, node, scope)
        if closure is None:
            return None
        run, push, end = closure, self.listener.stack.append, self.listener.end

        def told(frame: list[Any]) -> Any:
            push(None)  # as `begin` does
            try:
                return run(frame)
            finally:
                end()

        return told

    # ------------------------------------------------------------ expressions

    def binary(self, node: ast.BinOp, scope: Scope) -> Closure:
        """Both operands are expressions of their own."""
        if type(node.left) is ast.BinOp and type(node.left.left) is ast.BinOp:
            if _is_long(node.left):
                return _reporting(node, self.long_chain(node, scope), self.listener)
        left, right = self.expression(node.left, scope), self.expression(node.right, scope)
        light, kinds, guarded = OPERATORS[type(node.op)]
        listener = self.listener
        push, leave = listener.stack.append, listener.leave

        def run(frame: list[Any]) -> Any:
            push([])
            try:
                a = left(frame)
                b = right(frame)
                state.origin = node
                value = light(a, b) if type(a) in kinds else guarded(a, b)
            except BaseException as error:
                listener.fail(node, error)
                raise
            leave(node, value)
            return value

        return run

    def long_chain(self, root: ast.BinOp, scope: Scope) -> Closure:
        """Each step of the loop is reported as an operation of its own."""
        (first, steps), listener = self.chained(root, scope), self.listener

        def run(frame: list[Any]) -> Any:
            value = first(frame)
            for function, right, node in steps:
                other = right(frame)
                state.origin = node
                old, value = value, function(value, other)
                if node is not root:
                    listener.replaced(node, old, other, value)
            return value

        return run

    def name(self, node: ast.Name, scope: Scope) -> Closure:
        value = self.static(node, scope)
        if value is not NOTHING:
            return lambda frame: value
        read, loaded, name = self.load(node.id, scope, node), self.listener.loaded, node.id
        values = self.globals.values

        def run_global(frame: list[Any]) -> Any:
            try:
                found = values[name]
            except KeyError:
                found = read(frame)
            loaded(node, name, scope, found)
            return found

        if self.find(name, scope)[0] == "global":
            return run_global

        def run(frame: list[Any]) -> Any:
            found = read(frame)
            loaded(node, name, scope, found)
            return found

        return run

    # ------------------------------------------------------------ stores

    def store(self, name: str, scope: Scope, node: ast.AST) -> Store:
        put, stored = super().store(name, scope, node), self.listener.stored
        owner = None if self.find(name, scope)[0] == "global" else scope

        def told(frame: list[Any], value: Any) -> None:
            put(frame, value)
            stored(node, name, owner, value)

        return told

    def attribute_target(self, node: ast.Attribute, scope: Scope) -> Store:
        value_of, name, listener = self.expression(node.value, scope), node.attr, self.listener

        def store(frame: list[Any], new: Any) -> None:
            value = value_of(frame)
            state.origin = node
            set_attribute(value, name, new)
            listener.written(node, value, new)

        return store

    def subscript_target(self, node: ast.Subscript, scope: Scope) -> Store:
        value_of = self.expression(node.value, scope)
        index_of, listener = self.expression(node.slice, scope), self.listener

        def store(frame: list[Any], new: Any) -> None:
            value = value_of(frame)
            index = index_of(frame)
            state.origin = node
            set_item(value, index, new)
            listener.written(node, value, new)

        return store

    def assign(self, node: ast.Assign, scope: Scope) -> Closure:
        """Always by way of the stores above."""
        value_of = self.expression(node.value, scope)
        first, *others = [self.target(target, scope) for target in node.targets]

        def run(frame: list[Any]) -> None:
            value = value_of(frame)
            first(frame, value)
            for store in others:
                store(frame, value)

        return run

    def augmented(self, node: ast.AugAssign, scope: Scope) -> Closure:
        if type(node.target) is not ast.Name:
            return super().augmented(node, scope)
        function, listener = super().combining(node), self.listener
        value_of = self.expression(node.value, scope)
        read = self.load(node.target.id, scope, node.target)
        store = self.store(node.target.id, scope, node)

        def run(frame: list[Any]) -> None:
            old = read(frame)
            value = value_of(frame)
            state.origin = node
            new = function(old, value)
            listener.replaced(node, old, value, new)
            store(frame, new)

        return run

    def item_store(self, node: ast.Subscript) -> Callable[[Any, Any, Any], None]:
        """Of an array, whose rows are views: a tensor says itself that it was changed."""
        listener = self.listener

        def told(owner: Any, index: Any, new: Any) -> None:
            set_item(owner, index, new)
            if not isinstance(owner, (Tensor, list, dict)):
                listener.written(node, owner, new)

        return told

    def combining(self, node: ast.AugAssign) -> Callable[[Any, Any], Any]:
        """Of attributes and items too: of numbers, for a tensor is changed in place."""
        function, listener = super().combining(node), self.listener

        def told(old: Any, value: Any) -> Any:
            new = function(old, value)
            if not isinstance(new, Tensor):
                listener.replaced(node, old, value, new)
            return new

        return told

    # ------------------------------------------------------------ flow

    def return_(self, node: ast.Return, scope: Scope) -> Closure:
        value_of, listener = super().return_(node, scope), self.listener

        def run(frame: list[Any]) -> Any:
            answer = value_of(frame)
            listener.returned(node, answer[0])
            return answer

        return run

    def iterated(self, items: Any, place: ast.expr) -> Iterator[Any]:
        """What code of the program gave for an item is a part of it."""
        rest = super().iterated(items, place)
        return rest if type(items) in PLAIN else self._drawn(rest, place)

    def _drawn(self, rest: Iterator[Any], place: ast.expr) -> Iterator[Any]:
        listener = self.listener
        while True:
            listener.enter()
            try:
                item = next(rest)
            except BaseException as error:
                listener.drop()
                if isinstance(error, StopIteration):
                    return
                raise
            listener.drawn(place, item)
            yield item

    def with_(self, node: ast.With, scope: Scope) -> Closure:
        """What each manager switched, as its body begins."""
        body = self.block(node.body, scope)
        for item in reversed(node.items):
            manager_of = self.expression(item.context_expr, scope)
            store = None if item.optional_vars is None else self.target(item.optional_vars, scope)
            body = self._around(manager_of, store, body, item.context_expr)
        return body

    def _around(
        self, manager_of: Closure, store: Store | None, body: Closure, node: ast.AST
    ) -> Closure:
        listener, before = self.listener, [True]

        def manager(frame: list[Any]) -> Any:
            enabled = state.grad_enabled  # before: set_grad_enabled switches when it is made
            value = manager_of(frame)
            before[0] = enabled
            return value

        def inside(frame: list[Any]) -> Any:
            listener.entered(node, before[0])
            try:
                return body(frame)
            finally:
                listener.left()

        return _with(manager, store, inside, node)


def _traced(make: Callable[[Any, Any, Scope], Closure]) -> Any:
    """The maker of an expression's closure, with a listener around what it makes."""

    def traced(compiler: TracingCompiler, node: ast.AST, scope: Scope) -> Closure:
        closure = make(compiler, node, scope)
        if compiler.static(node, scope) is not NOTHING:
            return closure
        return _reporting(node, closure, compiler.listener)

    return traced


def _reporting(node: ast.AST, closure: Closure, listener: Listener) -> Closure:
    """A closure that reports when an expression begins, and its value."""
    push, leave = listener.stack.append, listener.leave

    def run(frame: list[Any]) -> Any:
        push([])  # as `enter` does
        try:
            value = closure(frame)
        except BaseException as error:
            listener.fail(node, error)
            raise
        leave(node, value)
        return value

    return run


TRACED: dict[type[ast.AST], Callable[[Any, Any, Scope], Closure | None]] = {
    **STATEMENTS,
    ast.Assign: TracingCompiler.assign,
    ast.AugAssign: TracingCompiler.augmented,
    ast.Return: TracingCompiler.return_,
    ast.With: TracingCompiler.with_,
}
