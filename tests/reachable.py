"""All that a program can get hold of: a walk from every public name, by every way that it has.

The ways are attributes, items, iteration, calls with arguments of many kinds, what a call's error
says, what a program's function is handed when the library calls it, and what a `with` gives.
The walk asks the language's own doors, so whatever it holds, a program could hold.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from gradcli.defects import Defect
from gradcli.language import interpreter  # noqa: F401 - the doors are complete once this is loaded
from gradcli.language.adoption import adopt
from gradcli.language.attributes import MISSING, get_attribute
from gradcli.language.budget import Budget, LimitReached
from gradcli.language.builtins.errors import value_of
from gradcli.language.builtins.prelude import PRELUDE
from gradcli.language.builtins.types import resolve_path
from gradcli.language.calls import call, is_callable
from gradcli.language.members import members_of
from gradcli.language.names import known_paths
from gradcli.language.operations import get_item, iterate, type_name
from gradcli.language.session import session
from gradcli.language.values import Builtin, ErrorValue, Namespace, Type

DEEPEST = 5
FIRST = 4  # of a long sequence
# Names that are in no table and are asked for all the same.
ALWAYS = ("__class__", "__doc__", "__name__", "__qualname__", "__dict__", "__self__", "__func__",
          "__module__", "__wrapped__", "__globals__", "__code__", "__init__", "__call__",
          "_parameters", "_modules", "_data", "_kind", "_kept", "_program_class", "saved_tensors",
          "args", "__cause__", "__traceback__", "__context__", "table", "function", "host",
          "construct", "owner", "code", "array", "items", "native", "row", "variable",
          "weight", "bias", "hidden", "scale")  # fmt: skip


class Walk:
    """What was found, by how it was reached; `seen` counts objects by the name of their type."""

    def __init__(self, arguments: list[tuple[Any, ...]], allowed: Callable[[type], bool]) -> None:
        self.arguments = arguments
        self.allowed = allowed
        self.seen: Counter[str] = Counter()
        self.strangers: dict[str, str] = {}
        self.done: set[Any] = set()
        self.handed: list[Any] = []
        self.called = 0
        self.path = ""

    def start(self, bindings: dict[str, Any]) -> None:
        session.reset(Budget(max_memory=1 << 30, timeout=1e6), lambda text: None)
        session.budget.start()
        for name, value in bindings.items():
            self.look(value, name, DEEPEST)
        values, spaces = known_paths()
        for path in sorted({*spaces}):
            self.look(Namespace(path), path, DEEPEST)
        for path in sorted({*values}):
            self.look(resolve_path(path), path, DEEPEST)
        for name, value in sorted(PRELUDE.items()):
            self.look(value, name, DEEPEST)

    def look(self, value: Any, path: str, depth: int) -> None:
        """One object: is it a value, and what does it lead to?"""
        self.seen[type(value).__name__] += 1
        if not self.allowed(type(value)):
            self.strangers.setdefault(type(value).__name__, path)
            return
        mark = self.mark(value, path)
        if depth == 0 or mark in self.done:
            return
        self.done.add(mark)
        self.path = path
        for step, found in itertools.chain(
            self.attributes(value), self.inside(value), self.calls(value)
        ):
            self.look(found, path + step, depth - 1)
        handed, self.handed = self.handed, []
        for found in handed:
            self.look(found, path + " hands", depth - 1)

    def mark(self, value: Any, path: str) -> Any:
        """Objects that lead to the same are gone through once."""
        if isinstance(value, (Builtin, Type, Namespace)):
            return (type(value), type_name(value), getattr(value, "name", path), path.count("("))
        if isinstance(value, (list, tuple, dict)):
            return (type(value), *sorted({type(item).__name__ for item in value}))
        return (type(value), type_name(value))

    def attributes(self, value: Any) -> Iterator[tuple[str, Any]]:
        members = members_of(value)
        names = {*members.methods, *members.properties, *ALWAYS}
        if isinstance(value, Type):
            names |= {name for kind in _hosts(value) for name in members_of(kind).methods}
        for name in sorted(names):
            found = self.attempt(lambda name=name: get_attribute(value, name))
            if found is not MISSING:
                yield f".{name}", found

    def inside(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, str):
            return
        found = self.attempt(lambda: list(itertools.islice(iterate(value), FIRST)))
        if found is not MISSING:
            yield from ((f"[iter {place}]", item) for place, item in enumerate(found))
        for index in (0, "weight", slice(0, 1)):
            found = self.attempt(lambda index=index: get_item(value, index))
            if found is not MISSING:
                yield f"[{index!r}]", found
        enter = getattr(type(value), "__enter__", None)
        if enter is not None:
            found = self.attempt(lambda: adopt(enter(value)))
            if found is not MISSING:
                yield " as", found

    def calls(self, value: Any) -> Iterator[tuple[str, Any]]:
        if not is_callable(value):
            return
        for place, arguments in enumerate(self.arguments):
            found = self.attempt(lambda arguments=arguments: call(value, fresh(arguments), {}))
            self.called += 1
            if found is not MISSING:
                yield f"(#{place})", found

    def attempt(self, ask: Callable[[], Any]) -> Any:
        """What a question gives, or the error as the program would catch it."""
        session.budget.start()
        try:
            return ask()
        except LimitReached:
            return MISSING
        except Defect as error:
            self.strangers.setdefault(str(error), self.path)
            return MISSING
        except Exception as error:
            caught = value_of(error)
            for item in (caught, *caught.args):
                if not self.allowed(type(item)):
                    self.strangers.setdefault(type(item).__name__, f"error {error!r}")
            return MISSING

    def handing(self, name: str) -> Builtin:
        """A function of the program: keeps what it is handed."""

        def run(*args: Any, **kwargs: Any) -> Any:
            self.handed += [*args[:FIRST], *list(kwargs.values())[:FIRST]]
            return args[0] if args else None

        return Builtin(name, run)


def fresh(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments that a call may change are made anew for it."""
    return tuple([item() if isinstance(item, Made) else item for item in arguments])


class Made:
    """An argument that is made for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self) -> Any:
        return self.make()


def _hosts(value: Type) -> tuple[type, ...]:
    return value.host if isinstance(value.host, tuple) else (value.host,)


__all__ = ["ErrorValue", "Made", "Walk"]
