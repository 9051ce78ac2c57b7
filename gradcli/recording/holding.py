"""Recording: the tensors that a program holds, by names that a reader could write.

They are looked for in global names, containers, objects and modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ..named import NamedTuple
from .looking import is_a, pairs
from .modules import (
    attributes,
    beside,
    is_module,
    named_buffers,
    named_modules,
    named_parameters,
    other_names,
)
from .sides import AnyTensor

CONTAINERS = (list, tuple, dict)
NUMBERS = frozenset({int, float, bool, str})  # what most of a long list is
NESTING = 4  # lists within lists within lists: deeper ones are not looked into
OWNED = 2 * NESTING  # an object's attribute, and what is in its list
KEYS = frozenset({str, int, float, bool, type(None)})  # others have a repr of the program's own
LOOKED = 10_000  # containers and objects that are looked into
ITEMS = 1000  # of one container that is looked through for modules


class Named(NamedTuple):
    """A tensor that no global name holds: its name, the line that made it, what it is."""

    name: str
    line: int | None
    tensor: Any
    kind: str = "tensor"  # "leaf" where no global name holds it; "parameter", "buffer"


def first_name(path: str) -> str:
    """The name that a path begins with: net of net.0.weight, params of params['w']."""
    return path.partition(".")[0].partition("[")[0]


def tensors_in(name: str, value: Any, kind: type, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The tensors that a value holds, named as a reader would reach them."""
    if is_a(value, kind):
        yield name, value
    elif is_a(value, CONTAINERS):
        yield from _tensors_within(name, value, kind, depth, [LOOKED])


def asked_tensors(question: Any) -> list[tuple[Any, str]]:
    """A tensor, the parameters of a module, what a container holds, each with what it is called;
    TypeError for another thing."""
    if hasattr(question, "named_parameters"):
        return [(tensor, name) for name, tensor in question.named_parameters()]
    if isinstance(question, CONTAINERS):
        return [(tensor, name) for name, tensor in tensors_in("it", question, AnyTensor)]
    if not isinstance(question, (AnyTensor, int, float)):
        raise TypeError(f"why: expected a tensor, its name or a module, not {type(question)}")
    return [(question, "the tensor")]


def _tensors_within(
    name: str, value: Any, kind: type, depth: int, left: list[int]
) -> Iterator[tuple[str, Any]]:
    """The same of a container; in `left` stands how many more are looked into."""
    keyed = is_a(value, dict)
    for key, item in pairs(value):
        if type(item) in NUMBERS:
            continue
        if is_a(item, kind):
            if not keyed or type(key) in KEYS:
                yield f"{name}[{key!r}]", item
        elif left[0] and depth < NESTING - 1 and is_a(item, CONTAINERS):
            left[0] -= 1
            if not keyed or type(key) in KEYS:
                yield from _tensors_within(f"{name}[{key!r}]", item, kind, depth + 1, left)


def named_tensors(bindings: Mapping[str, Any], kind: type) -> Iterator[tuple[str, Any]]:
    """All of them, in the order of first binding; names that start with _ are private."""
    for name, value in bindings.items():
        if not name.startswith("_"):
            yield from tensors_in(name, value, kind)


def parameters(bindings: Mapping[str, Any], kind: type) -> Iterator[tuple[str, Any]]:
    """Tensors inside of modules and of other objects: `net.0.weight`, `trainer.model.weight`."""
    for name, tensor, what in inside(bindings, kind):
        if what != "buffer":
            yield name, tensor


def inside(bindings: Mapping[str, Any], kind: type) -> Iterator[tuple[str, Any, str]]:
    """The same with buffers, and with what each of them is."""
    looked = 0
    for name, value in modules_first(bindings):
        if name.startswith("_") or is_a(value, kind):
            continue
        inner = Inside(kind, LOOKED - looked)
        yield from inner.of(name, value, 0, owned=False)
        looked += len(inner.seen)


def modules_first(bindings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Names and what they hold: a network before the list that its layers were collected in."""
    return sorted(bindings.items(), key=lambda pair: type(pair[1]) in CONTAINERS)


class Inside:
    """Looks into what one name holds: into each object once, and into so many of them."""

    def __init__(self, kind: type, most: int) -> None:
        self.kind, self.most = kind, most
        self.seen: set[int] = set()

    def of(
        self, name: str, value: Any, depth: int, *, owned: bool
    ) -> Iterator[tuple[str, Any, str]]:
        """Tensors of modules and objects; of containers only where an object owns them."""
        if is_a(value, self.kind):
            if owned:
                yield name, value, "tensor"
            return
        if id(value) in self.seen or len(self.seen) >= self.most:
            return
        if is_module(value):
            self.seen.add(id(value))
            yield from self._of_module(name, value, depth)
        elif depth < OWNED:
            for path, item, within in self._items(name, value):
                yield from self.of(path, item, depth + 1, owned=owned or within)

    def _of_module(self, name: str, value: Any, depth: int) -> Iterator[tuple[str, Any, str]]:
        """Its parameters and buffers, then what it holds beside them: in plain lists, as tensors
        that are no parameters; at the end other names of its parameters."""
        told = set()
        for inner, tensor, what in (
            *((inner, parameter, "parameter") for inner, parameter in named_parameters(value)),
            *((inner, buffer, "buffer") for inner, buffer in named_buffers(value)),
        ):
            told.add(id(tensor))
            yield f"{name}.{inner}", tensor, what
        for path, item in self._beside(name, value):
            for inner, tensor, what in self.of(path, item, depth + 1, owned=True):
                if id(tensor) not in told:
                    told.add(id(tensor))
                    yield inner, tensor, what
        for inner, parameter in other_names(value):
            yield f"{name}.{inner}", parameter, "alias"

    def _beside(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        """The attributes of a module, and of those in it, that are in none of its tables."""
        for path, module in named_modules(value):
            for attribute, item in islice(beside(module).items(), ITEMS):
                if not attribute.startswith("_"):
                    yield ".".join(filter(None, (name, path, attribute))), item

    def modules(self, name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
        """Modules with their names: those in modules, in objects, in containers."""
        if is_a(value, self.kind) or id(value) in self.seen or len(self.seen) >= self.most:
            return
        if is_module(value):
            self.seen.add(id(value))
            for path, module in named_modules(value):
                yield (f"{name}.{path}" if path else name), module
            for path, item in self._beside(name, value):
                yield from self.modules(path, item, depth + 1)
        elif depth < OWNED:
            for path, item, _ in self._items(name, value):
                yield from self.modules(path, item, depth + 1)

    def _items(self, name: str, value: Any) -> Iterator[tuple[str, Any, bool]]:
        """What a container or an object holds; whether it is an object."""
        if type(value) in (list, tuple):
            self.seen.add(id(value))
            for i, item in enumerate(islice(value, ITEMS)):
                if type(item) not in NUMBERS:
                    yield f"{name}[{i}]", item, False
        elif type(value) is dict:
            self.seen.add(id(value))
            for key, item in islice(value.items(), ITEMS):
                if type(key) in KEYS and type(item) not in NUMBERS:
                    yield f"{name}[{key!r}]", item, False
        elif held := attributes(value):
            self.seen.add(id(value))
            for attribute, item in islice(held.items(), ITEMS):
                yield f"{name}.{attribute}", item, True
