"""language: compiles statements to closures. A block returns None, BREAK, CONTINUE or (value,)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.schema.mode import state
from .. import arithmetic
from ..attributes import delete_attribute, get_attribute, set_attribute
from ..builtins.paths import imported
from ..calls import call
from ..grammar import is_foreign
from ..names import Scope, members
from ..operations import delete_item, get_item, iterate, set_item, type_handlers, type_name
from ..session import session
from ..values import BREAK, CONTINUE, Closure
from .classes import ClassCompiler
from .flow import FlowCompiler, empty
from .names import Store

if TYPE_CHECKING:
    from ..expectations import Log

# Where a value goes, its module, the name in it, and whether that is bound, or the module's root.
Imported = tuple[Store, str, str | None, bool]


class StatementCompiler(ClassCompiler, FlowCompiler):
    """One method for each statement node."""

    def __init__(self, program: Any, store: Any, overrides: dict[int, Any]) -> None:
        super().__init__(program, store)
        self.overrides = overrides
        self.log: Log | None = None  # of expectations, where they are checked

    def statement(self, node: Any, scope: Scope) -> Closure | None:
        """The closure of a statement; None where there is nothing to run."""
        return STATEMENTS[type(node)](self, node, scope)

    def block(self, body: list[ast.stmt], scope: Scope) -> Closure:
        parts = [part for node in body if (part := self.statement(node, scope)) is not None]
        if not parts:
            return empty
        if len(parts) == 1:
            return parts[0]
        if len(parts) == 2:
            first, second = parts
            return lambda frame: first(frame) or second(frame)
        if len(parts) == 3:
            one, two, three = parts
            return lambda frame: one(frame) or two(frame) or three(frame)

        def run(frame: list[Any]) -> Any:
            for part in parts:
                answer = part(frame)
                if answer is not None:
                    return answer
            return None

        return run

    # ------------------------------------------------------------ targets

    def target(self, node: Any, scope: Scope) -> Store:
        """How a value goes into the left side of an assignment."""
        kind = type(node)
        if kind is ast.Name:
            return self.store(node.id, scope, node)
        if kind is ast.Attribute:
            return self.attribute_target(node, scope)
        if kind is ast.Subscript:
            return self.subscript_target(node, scope)
        return self.unpacking(node, scope)

    def attribute_target(self, node: ast.Attribute, scope: Scope) -> Store:
        value_of, name = self.expression(node.value, scope), node.attr
        if is_foreign(name):
            return _refused_target(name, node)

        def store(frame: list[Any], new: Any) -> None:
            value = value_of(frame)
            state.origin = node
            set_attribute(value, name, new)

        return store

    def subscript_target(self, node: ast.Subscript, scope: Scope) -> Store:
        value_of = self.expression(node.value, scope)
        index_of = self.expression(node.slice, scope)

        def store(frame: list[Any], new: Any) -> None:
            value = value_of(frame)
            index = index_of(frame)
            state.origin = node
            set_item(value, index, new)

        return store

    def unpacking(self, node: Any, scope: Scope) -> Store:
        star = next((i for i, item in enumerate(node.elts) if type(item) is ast.Starred), -1)
        stores = [
            self.target(item.value if type(item) is ast.Starred else item, scope)
            for item in node.elts
        ]
        count = len(stores)

        def store(frame: list[Any], value: Any) -> None:
            state.origin = node
            items = _unpacked(value, count, star, node)
            for put, item in zip(stores, items, strict=True):
                put(frame, item)

        return store

    # ------------------------------------------------------------ assignment

    def assign(self, node: ast.Assign, scope: Scope) -> Closure:
        value_of = self.table[type(node.value)](self, node.value, scope)
        target = node.targets[0]
        if scope is self.module and type(target) is ast.Name and len(node.targets) == 1:
            if self.globals.on_bind_of is None:
                return self.assign_global(target, value_of)
        stores = [self.target(target, scope) for target in node.targets]
        if len(stores) == 1:
            (store,) = stores
            return lambda frame: store(frame, value_of(frame))

        def run(frame: list[Any]) -> None:
            value = value_of(frame)
            for store in stores:
                store(frame, value)

        return run

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> Closure | None:
        if node.value is None:
            return None
        value_of, store = self.expression(node.value, scope), self.target(node.target, scope)
        return lambda frame: store(frame, value_of(frame))

    def augmented(self, node: ast.AugAssign, scope: Scope) -> Closure:
        function = self.combining(node)
        value_of = self.expression(node.value, scope)
        target: Any = node.target
        if type(target) is ast.Name:
            read = self.load(target.id, scope, target)
            store = self.store(target.id, scope, node)

            def run_name(frame: list[Any]) -> None:
                old = read(frame)
                value = value_of(frame)
                state.origin = node
                store(frame, function(old, value))

            return run_name
        owner_of = self.expression(target.value, scope)
        if type(target) is ast.Attribute:
            name = target.attr

            def run_attribute(frame: list[Any]) -> None:
                owner = owner_of(frame)
                state.origin = node
                old = get_attribute(owner, name)
                value = value_of(frame)
                state.origin = node
                set_attribute(owner, name, function(old, value))

            return run_attribute
        index_of = self.expression(target.slice, scope)
        put = self.item_store(target)

        def run_item(frame: list[Any]) -> None:
            owner = owner_of(frame)
            index = index_of(frame)
            state.origin = node
            old = get_item(owner, index)
            value = value_of(frame)
            state.origin = node
            new = function(old, value)
            state.origin = target  # as Python: what stores it is the element, not the statement
            put(owner, index, new)

        return run_item

    def item_store(self, node: ast.Subscript) -> Callable[[Any, Any, Any], None]:
        """What puts the new value of `x[i] += 1` back."""
        return set_item

    def combining(self, node: ast.AugAssign) -> Callable[[Any, Any], Any]:
        """What `+=` and its kin make of the old value and the operand."""
        return arithmetic.IN_PLACE[type(node.op).__name__]

    def delete(self, node: ast.Delete, scope: Scope) -> Closure:
        parts: list[Closure] = []
        for target in node.targets:
            for item in _flat(target):
                parts.append(self.delete_one(item, scope))

        def run(frame: list[Any]) -> None:
            for part in parts:
                part(frame)

        return run

    def delete_one(self, node: Any, scope: Scope) -> Closure:
        if type(node) is ast.Name:
            return self.forget(node.id, scope, node)
        value_of = self.expression(node.value, scope)
        if type(node) is ast.Attribute:

            def run_attribute(frame: list[Any]) -> None:
                value = value_of(frame)
                state.origin = node
                delete_attribute(value, node.attr)

            return run_attribute
        index_of = self.expression(node.slice, scope)

        def run_item(frame: list[Any]) -> None:
            value, index = value_of(frame), index_of(frame)
            state.origin = node
            delete_item(value, index)

        return run_item

    # ------------------------------------------------------------ definitions

    def expression_statement(self, node: ast.Expr, scope: Scope) -> Closure | None:
        if hasattr(node, "echo"):
            return self.echoed(node, scope)
        if hasattr(node, "expectation_step"):
            return None if self.log is None else self.expectation(node, self.log, scope)
        if type(node.value) is ast.Constant:
            return None
        value_of = self.expression(node.value, scope)

        def run(frame: list[Any]) -> None:
            value_of(frame)

        return run

    def expectation(self, node: Any, log: Log, scope: Scope) -> Closure:
        """What is expected beside a line."""
        from . import expectations

        what, expectation = node.expectation_step
        if what == "holds":
            test, kept = self.condition(node.value, scope)
            return expectations.holds(test, kept, log, expectation)
        if what == "missed":
            return expectations.missed(log, expectation)
        return expectations.met(log, expectation)

    def echoed(self, node: ast.Expr, scope: Scope) -> Closure:
        """The last value of a cell."""
        from ..echo import echo

        value_of = self.expression(node.value, scope)

        def run(frame: list[Any]) -> None:
            value = value_of(frame)
            state.origin = node
            echo(value)

        return run

    def function_statement(self, node: ast.FunctionDef, scope: Scope) -> Closure:
        make = self.function(node, scope, node.name, ast.get_docstring(node, clean=False))
        store = self.store(node.name, scope, node)
        decorators = [(self.expression(item, scope), item) for item in node.decorator_list]

        def run(frame: list[Any]) -> None:
            found = [(decorator(frame), item) for decorator, item in decorators]
            value: Any = make(frame)
            for decorator, item in reversed(found):
                value = _decorated(decorator, value, item)
            store(frame, value)

        return run

    def generator_function(self, body: list[ast.stmt], scope: Scope, name: str) -> Closure:
        from .generators import generator_function  # which few programs need, as the next one

        return generator_function(self, body, scope, name)

    def match(self, node: ast.Match, scope: Scope) -> Closure:
        from .matching import match

        return match(self, node, scope)

    def import_(self, node: ast.Import, scope: Scope) -> Closure:
        stores: list[Imported] = []
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            stores.append((self.store(name, scope, node), alias.name, None, bool(alias.asname)))
        return _imports(stores, node)

    def import_from(self, node: ast.ImportFrom, scope: Scope) -> Closure | None:
        if node.module == "__future__":
            return None
        if not node.names:
            return None  # nothing used them
        home = node.module or ""
        stores: list[Imported] = [
            (self.store(alias.asname or alias.name, scope, node), home, alias.name, True)
            for alias in node.names
            if alias.name != "*"
        ]
        if not stores and home != "torch":
            # The names of a star are known without it, but for those that something else binds too.
            stores = [
                (self.store(name, scope, node), home, name, True)
                for name in members(home)
                if name in scope.bound and name not in self.program.aliases
            ]
        if not stores:
            stores.append((lambda frame, value: None, home, None, True))
        return _imports(stores, node)


def _refused_target(name: str, node: ast.AST) -> Store:
    def store(frame: list[Any], new: Any) -> None:
        state.origin = node
        raise AttributeError(f"the attribute {name!r} is not part of the language")

    return store


def _flat(node: Any) -> list[Any]:
    if type(node) is ast.Tuple or type(node) is ast.List:
        return [part for item in node.elts for part in _flat(item)]
    return [node]


def _unpacked(value: Any, count: int, star: int, node: ast.AST) -> list[Any]:
    """The parts of a value for `count` targets, of which the one at `star` takes a list."""
    try:
        walked = iterate(value)
    except TypeError as error:
        if "not iterable" in str(error):
            raise TypeError(f"cannot unpack non-iterable {type_name(value)} object") from None
        raise
    endless = type_handlers.endless(value)
    if endless is not None:
        return [endless] * count
    items: list[Any] = []
    for item in walked:
        session.budget.charge(1)
        items.append(item)
        if star < 0 and len(items) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
    if star < 0:
        if len(items) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
        return items
    if len(items) < count - 1:
        raise ValueError(
            f"not enough values to unpack (expected at least {count - 1}, got {len(items)})"
        )
    after = count - star - 1
    end = len(items) - after
    return [*items[:star], items[star:end], *items[end:]]


def _decorated(decorator: Any, value: Any, node: ast.AST) -> Any:
    state.origin = node
    return call(decorator, (value,), {})


def _imports(stores: list[Imported], node: ast.AST) -> Closure:
    def run(frame: list[Any]) -> None:
        state.origin = node
        for store, home, name, whole in stores:
            value = imported(home, name)
            store(frame, value if whole else imported(home.partition(".")[0], None))

    return run


STATEMENTS: dict[type[ast.AST], Callable[[Any, Any, Scope], Closure | None]] = {
    ast.Assign: StatementCompiler.assign,
    ast.AnnAssign: StatementCompiler.annotated,
    ast.AugAssign: StatementCompiler.augmented,
    ast.Expr: StatementCompiler.expression_statement,
    ast.If: StatementCompiler.if_,
    ast.For: StatementCompiler.for_,
    ast.While: StatementCompiler.while_,
    ast.Break: lambda compiler, node, scope: lambda frame: BREAK,
    ast.Continue: lambda compiler, node, scope: lambda frame: CONTINUE,
    ast.Pass: lambda compiler, node, scope: None,
    ast.FunctionDef: StatementCompiler.function_statement,
    ast.ClassDef: StatementCompiler.class_statement,
    ast.Return: StatementCompiler.return_,
    ast.With: StatementCompiler.with_,
    ast.Assert: StatementCompiler.assert_,
    ast.Try: StatementCompiler.try_,
    ast.Match: StatementCompiler.match,
    ast.Raise: StatementCompiler.raise_,
    ast.Delete: StatementCompiler.delete,
    ast.Global: lambda compiler, node, scope: None,
    ast.Nonlocal: lambda compiler, node, scope: None,
    ast.Import: StatementCompiler.import_,
    ast.ImportFrom: StatementCompiler.import_from,
}
