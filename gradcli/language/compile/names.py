"""language: compiles names to closures: where a name lives, how it is read, bound and deleted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..builtins.paths import MissingModule, MissingPart, resolve_path
from ..builtins.prelude import meaning
from ..names import NOT_AVAILABLE, Scope
from ..operations import unbound
from ..program import Program, is_global
from ..session import session
from ..values import UNBOUND, Closure, Namespace

Store = Callable[[list[Any], Any], None]
NOTHING = object()


class Globals:
    """The module's names and what a report needs about them."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.nodes: dict[str, ast.AST] = {}  # the last statement that bound a name
        # Who is told when a name is bound, by the name; None where nobody is told of any.
        self.on_bind_of: Callable[[str], Callable[[str, Any], None] | None] | None = None
        self.on_local: Callable[[Scope, str, Any], None] | None = None  # names inside functions


class NameCompiler:
    """Reading and binding names. A frame is a list; boxes hold what inner blocks use."""

    def __init__(self, program: Program, store: Globals) -> None:
        self.program = program
        self.module = program.module
        self.globals = store
        self.dynamic = set(program.module.bound) | set(program.inputs)
        self.dynamic.difference_update(program.aliases)
        self.static_names: dict[str, Any] = {}
        self.sizes: dict[Scope, int] = {program.module: 0}
        self.frame: list[Any] = []  # the module's own: slots of its comprehensions

    # ------------------------------------------------------------ what is known before it runs

    def static(self, node: ast.AST, scope: Scope) -> Any:
        """The value of a name or dotted name that no statement can change, else NOTHING."""
        if type(node) is ast.Name:
            if scope.kind != "module" and not is_global(scope, node.id):
                return NOTHING
            found = self.static_names.get(node.id, self)
            if found is self:
                found = self.static_names[node.id] = self._static_name(node.id)
            return found
        if type(node) is ast.Attribute:
            base = self.static(node.value, scope)
            if type(base) is Namespace:
                try:
                    return resolve_path(f"{base.path}.{node.attr}")
                except (AttributeError, ImportError):
                    return NOTHING  # said when the line runs, with its place
        return NOTHING

    def _static_name(self, name: str) -> Any:
        if name in self.dynamic:
            return NOTHING
        try:
            alias = self.program.aliases.get(name)
            return meaning(name) if alias is None else resolve_path(alias)
        except (KeyError, AttributeError, ImportError):
            return NOTHING

    # ------------------------------------------------------------ slots

    def new_slot(self, scope: Scope) -> int:
        """A slot in the frame of the block that hosts this scope."""
        host = scope.host
        slot = self.sizes[host]
        self.sizes[host] = slot + 1
        if host is self.module:
            self.frame.append(UNBOUND)
        return slot

    def find(self, name: str, scope: Scope) -> tuple[str, Any]:
        """("slot", i), ("box", i), ("class", scope) or ("global", None)."""
        current: Scope | None = scope
        inner = scope
        while current is not None and current.kind != "module":
            if name in current.global_names:
                break
            if name in current.bound:
                if current.kind == "class":
                    if current is inner:
                        return "class", current
                else:
                    return ("box" if name in current.cells else "slot"), current.slots[name]
            if name in current.free or (current.kind == "class" and name in current.cells):
                return "box", current.slots[name]
            if current.kind == "function":
                break
            current = current.parent
        return "global", None

    # ------------------------------------------------------------ reading

    def name(self, node: ast.Name, scope: Scope) -> Closure:
        value = self.static(node, scope)
        if value is not NOTHING:
            return lambda frame: value
        return self.load(node.id, scope, node)

    def load(self, name: str, scope: Scope, node: ast.AST) -> Closure:
        place, slot = self.find(name, scope)
        if place == "slot":

            def read_slot(frame: list[Any]) -> Any:
                value = frame[slot]
                if value is UNBOUND:
                    raise _unbound(name, node)
                return value

            return read_slot
        if place == "box":

            def read_box(frame: list[Any]) -> Any:
                value = frame[slot][0]
                if value is UNBOUND:
                    raise _unbound_free(name, node)
                return value

            return read_box
        values = self.globals.values

        def read_global(frame: list[Any]) -> Any:
            try:
                return values[name]
            except KeyError:
                return not_bound(name, node)

        if place == "class":
            return self.class_load(name, slot, read_global)
        return read_global

    def class_load(self, name: str, scope: Scope, read_global: Closure) -> Closure:
        """Inside a class body: its own table first, then what the block around knows."""
        parent = scope.parent
        assert parent is not None
        outer = self.load(name, parent, scope.node) if parent.kind != "module" else read_global

        def read_class(frame: list[Any]) -> Any:
            table = frame[0]
            return table[name] if name in table else outer(frame)

        return read_class

    def is_global(self, name: str, scope: Scope) -> bool:
        """Whether a name is one that statements bind, and lives in the module."""
        return name in self.dynamic and (
            scope is self.module or self.find(name, scope)[0] == "global"
        )

    # ------------------------------------------------------------ binding

    def store(self, name: str, scope: Scope, node: ast.AST) -> Store:
        place, slot = self.find(name, scope)
        on_local = self.globals.on_local
        if on_local is not None and place in ("slot", "box"):
            return _telling(
                self._store(place, slot, name, node), on_local, owner(name, scope), name
            )
        return self._store(place, slot, name, node)

    def _store(self, place: str, slot: Any, name: str, node: ast.AST) -> Store:
        if place == "slot":

            def write_slot(frame: list[Any], value: Any) -> None:
                frame[slot] = value

            return write_slot
        if place == "box":

            def write_box(frame: list[Any], value: Any) -> None:
                frame[slot][0] = value

            return write_box
        if place == "class":

            def write_class(frame: list[Any], value: Any) -> None:
                frame[0][name] = value

            return write_class
        return self.store_global(name, node)

    def store_global(self, name: str, node: ast.AST) -> Store:
        values, nodes, of = self.globals.values, self.globals.nodes, self.globals.on_bind_of
        on_bind = None if of is None else of(name)

        def write_global(frame: list[Any], value: Any) -> None:
            values[name] = value
            nodes[name] = node
            if on_bind is not None:
                on_bind(name, value)

        return write_global

    def assign_global(self, target: ast.Name, value_of: Closure) -> Closure:
        """name = value, as one closure: what most lines of straight programs are."""

        # Defaults and not cells: half the time to make, and a top-level statement runs once.
        def run(
            frame: list[Any], value_of: Closure = value_of, name: str = target.id,
            target: ast.Name = target, store: Globals = self.globals,
        ) -> None:  # fmt: skip
            store.values[name] = value_of(frame)
            store.nodes[name] = target

        return run

    def forget(self, name: str, scope: Scope, node: ast.AST) -> Closure:
        """del name"""
        place, slot = self.find(name, scope)
        read = self.load(name, scope, node)
        values = self.globals.values

        def run(frame: list[Any]) -> None:
            if place == "global":
                if name not in values:
                    raise NameError(f"name '{name}' is not defined")
                del values[name]
                return
            read(frame)
            if place == "slot":
                frame[slot] = UNBOUND
            elif place == "box":
                frame[slot][0] = UNBOUND
            else:
                del frame[0][name]

        return _placed(run, node)


def owner(name: str, scope: Scope) -> Scope:
    """The scope that a name of a function belongs to: of a nonlocal one that around it."""
    while name not in scope.bound and scope.parent is not None:
        scope = scope.parent
    return scope


def _telling(
    write: Store, on_local: Callable[[Scope, str, Any], None], scope: Scope, name: str
) -> Store:
    """Binds a name inside a function, and says so."""

    def write_and_tell(frame: list[Any], value: Any) -> None:
        write(frame, value)
        on_local(scope, name, value)

    return write_and_tell


def _placed(run: Closure, node: ast.AST) -> Closure:
    """A closure whose frame in a traceback knows its place in the text."""

    def placed(frame: list[Any]) -> Any:
        if node is None:
            return None
        return run(frame)

    return placed


def load_name(table: Any, key: Any, node: ast.AST) -> Any:
    """What is in a place, with the error of a name that is not bound."""
    try:
        return table[key]
    except KeyError:
        return not_bound(key, node)


def not_bound(name: str, node: ast.AST) -> Any:
    """A global name before its assignment: what it means without the program, or Python's error."""
    failing = session.failing.get(name)
    if failing is not None:
        kind = MissingPart if failing.type == "ImportError" else MissingModule
        raise kind(failing.message, *failing.notes)
    try:
        return meaning(name)
    except KeyError:
        raise MissingName(name) from None


class MissingName(NameError):
    """A name that nothing has bound; the diagnostic looks for the nearest one."""

    def __init__(self, word: str) -> None:
        own = f"the Python function '{word}' is not part of the language"
        super().__init__(own if word in NOT_AVAILABLE else f"name '{word}' is not defined")
        self.word = word


def _unbound(name: str, node: ast.AST) -> UnboundLocalError:
    return unbound(name)


def _unbound_free(name: str, node: ast.AST) -> NameError:
    return NameError(
        f"cannot access free variable '{name}' where it is not associated with a value in "
        "enclosing scope"
    )
