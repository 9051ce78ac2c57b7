"""language: objects of a program's classes: a record, and beneath it an empty class of its name."""

from __future__ import annotations

import types
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from ...nn.module import Module
from ..calls import call, called_back
from ..grammar import BINARY_METHODS
from ..operations import DICTS
from ..session import session
from ..sets import Set
from ..values import Instance, Type

# Types of Python that a class may build on; the class of each named tuple comes to them.
BUILT_ON: set[Any] = {int, float, str, tuple, list, Set, *DICTS}
HOST_BYTES = 4096  # what a class of the host weighs, about
# Special methods that Python's own operations look for: a host gets a bridge for each that the
# program's class has, so that operands are asked in Python's order and errors have its words.
# How objects are walked, called, shown and searched is asked by the interpreter itself.
BRIDGED = (
    frozenset(
        "__len__ __bool__ __hash__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__ "
        "__invert__ __abs__ __float__ __int__ __index__ __call__ __getitem__".split()
    )
    | BINARY_METHODS
)

# Of these an object of the library has its own, or the interpreter asks for them.
OPERATORS = BRIDGED - {"__call__", "__len__", "__getitem__"}


def _bridge(name: str, owner: str = "kind") -> Callable[..., Any]:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(getattr(self, owner).find(name), (self, *args), kwargs)

    return ask


def make_host(name: str, order: list[Any], slots: tuple[str, ...] = ()) -> type[Instance]:
    """The class beneath the instances of a program's class; nothing of the program is in it."""
    session.budget.charge_bytes(HOST_BYTES)
    beneath = [base for base in order[1:] if base.host is not None]
    covered = next((base for base in beneath if base.content is not None), *beneath[:1] or [None])
    above = Instance if covered is None else covered.host
    inherited = frozenset(covered.special) if covered is not None else frozenset()
    builtin = bool(slots) or (covered is not None and covered.content is not None)
    bridged = BRIDGED - {"__getitem__"} if builtin else BRIDGED  # what such a one holds is asked
    body: dict[str, Any] = {"__slots__": slots, "__module__": "__main__"}
    for place, base in enumerate(order):
        for word in base.table:
            if word in bridged and word not in body and (place == 0 or word not in inherited):
                body[word] = _bridge(word)
    return type(name, (above,), body | _unhashable(order))


def _unhashable(order: list[Any]) -> dict[str, None]:
    """Equal objects, and no word on their hash."""
    nearest = next((base for base in order if {"__eq__", "__hash__"} & base.table.keys()), None)
    missing = nearest is not None and nearest.table.get("__hash__") is None
    return {"__hash__": None} if missing else {}


def linear(own: Any, known: list[Any], orders: list[list[Any]]) -> list[Any]:
    """Python's order of bases: each class before its own bases, in the order written."""
    session.budget.charge(sum(map(len, orders)))
    if len(known) < 2:
        return [own, *(kind for order in orders for kind in order)]
    rows = [deque(row) for row in (*orders, known)]
    behind = Counter(id(kind) for row in rows for kind in list(row)[1:])
    order = [own]
    while rows:
        session.budget.charge(len(rows))
        head = next((row[0] for row in rows if not behind[id(row[0])]), None)
        if head is None:
            raise TypeError("Cannot create a consistent method resolution order (MRO)")
        order.append(head)
        for row in rows:
            if row[0] is head:
                row.popleft()
                if row:
                    behind[id(row[0])] -= 1
        rows = [row for row in rows if row]
    return order


# The classes of the library that a program's own may build on, and everything made of them.
BASES: list[type] = [Module]


def is_base(kind: Any) -> bool:
    """May a program's class build on it? Classes outside nn say so themselves."""
    return isinstance(kind, type) and (
        issubclass(kind, tuple(BASES)) or getattr(kind, "EXTENSIBLE", False)
    )


def refusal_of(base: Type) -> str:
    """Why no class builds on a type: in Python's words, where PyTorch refuses it too."""
    whole = f"{base.module}.{base.name}"
    typed = base.name.endswith("Tensor") and base.name != "Tensor"  # torch.FloatTensor
    if base.module.startswith("torch") and not typed and whole not in FINAL:
        return f"a class can't build on {whole} here; --engine torch runs the file by real Python"
    return f"type '{whole if typed else base.in_messages}' is not an acceptable base type"


FINAL = frozenset(
    f"torch.{name}" for name in "Size device dtype finfo iinfo layout memory_format".split()
)


def _override(name: str) -> Callable[..., Any]:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        return called_back(self.__dict__["_program_class"].find(name), (self, *args), kwargs)

    return ask


def around(value: Any, name: str) -> Callable[..., Any] | None:
    """A method that the library put around the program's own: a step with its hooks."""
    found = value.__dict__.get(name) or type(value).__dict__.get(name)
    is_own = getattr(found, "__code__", _BRIDGE) is _BRIDGE
    return None if is_own else getattr(value, name)


_BRIDGE = _override("").__code__


def make_library_host(
    name: str, answers: type, native: type, order: list[Any], overridden: Iterable[str]
) -> type[Any]:
    """The same for a class that builds on one of the library.

    What the program overrides is bridged, so that the library calls it too: `net.train()` reaches
    the `train` of a module inside, and `net + other` its `__add__`.
    """
    session.budget.charge_bytes(HOST_BYTES)
    body: dict[str, Any] = {"__module__": "__main__"}
    body.update((word, _override(word)) for word in overridden)
    body |= _unhashable(order)
    return types.new_class(name, (answers, native), {}, lambda space: space.update(body))


def shown(entry: Any) -> Any:
    """What the library reads of an entry of a program's class: FROM_CLASS of its own class."""
    if type(entry) is not Property:
        return entry
    return property(lambda value: call(entry.getter, (value,), {}))


def make_meta_host(name: str, order: list[Any], kind: type) -> type:
    """What the classes of a metaclass are beneath; it answers to the operators of the metaclass."""
    words = special_names(order) - {"__call__", "__len__", "__getitem__"}
    if not words:
        return kind
    session.budget.charge_bytes(HOST_BYTES)
    body: dict[str, Any] = {word: _bridge(word, "meta") for word in words}
    return type(name, (kind,), {"__slots__": (), **body} | _unhashable(order))


class StaticMethod:
    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function


class ClassMethod:
    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function


class Property:
    """property(getter), with .setter and .deleter as decorators."""

    __slots__ = ("deleter", "getter", "writer")

    def __init__(
        self, fget: Any = None, fset: Any = None, fdel: Any = None, doc: Any = None
    ) -> None:
        self.getter, self.writer, self.deleter = fget, fset, fdel


def not_made(kind: Any) -> str:
    """Why a class with abstract methods makes no objects, in Python's words."""
    plural = "s" if len(kind.abstract) > 1 else ""
    return (
        f"Can't instantiate abstract class {kind.name} with abstract method{plural} "
        f"{', '.join(kind.abstract)}"
    )


def slots_of(order: list[Any]) -> frozenset[str] | None:
    """What __slots__ of a class and of all above it name."""
    names: set[str] = set()
    for kind in order:
        own = kind.table.get("__slots__")
        if own is None or kind.native is not None:
            return None
        names.update((own,) if type(own) is str else own)
    return None if "__dict__" in names else frozenset(names)


def special_names(order: list[Any]) -> frozenset[str]:
    return frozenset(word for base in order for word in base.table if word in BRIDGED)


def add_special(kind: Any, name: str) -> None:
    """A special method that is given to a class after it was made."""
    if kind.host is not None and issubclass(kind.host, Instance) and name in BRIDGED:
        setattr(kind.host, name, _bridge(name))
