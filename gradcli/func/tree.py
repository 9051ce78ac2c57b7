"""Func: nested containers of tensors, taken apart and put together again, as PyTorch's pytrees."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..engine.schema.mode import state
from ..engine.schema.returns import Named
from ..engine.schema.size import Size


class Spec(NamedTuple):
    """The structure of nested containers: what kind, what it knows beside its items, the items'."""

    kind: Any
    context: Any
    children: tuple[Spec, ...]

    @property
    def leaves(self) -> int:
        """How many values are in it."""
        count, stack = 0, [self]
        while stack:
            spec = stack.pop()
            if spec.kind is None:
                count += 1
            stack.extend(spec.children)
        return count

    def __str__(self) -> str:
        return self.text(0)

    @property
    def pretty(self) -> str:
        """The containers themselves, a star for each leaf."""
        return repr(unflatten([_STAR] * self.leaves, self))

    def text(self, indent: int) -> str:
        """As PyTorch prints a TreeSpec, which breaks the line after every item of several."""
        if self.kind is None:
            return "*"
        inner = indent + 2
        lines = (",\n" + " " * inner).join(child.text(inner) for child in self.children)
        context = repr(self.context) if self.context is not None else "None"
        return f"TreeSpec({self.kind.__name__}, {context}, [{lines}])"


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()
LEAF = Spec(None, None, ())
_DICTS = (dict, OrderedDict)


def _items(value: Any) -> tuple[Any, Sequence[Any]] | None:
    """(context, items) of a container; None of a leaf."""
    kind = type(value)
    if kind in (tuple, list):
        return None, value
    if kind in _DICTS:
        return list(value), list(value.values())
    if kind is defaultdict:
        return [value.default_factory, list(value)], list(value.values())
    if kind is deque:
        return value.maxlen, list(value)
    if isinstance(value, Named) or (isinstance(value, tuple) and hasattr(kind, "_fields")):
        return kind, value
    if kind is Size:
        return None
    return None


def flatten(value: Any) -> tuple[list[Any], Spec]:
    """The leaves in order, and the structure that they were in."""
    leaves: list[Any] = []
    return leaves, _taken_apart(value, leaves)


def _taken_apart(value: Any, leaves: list[Any]) -> Spec:
    """A function of the module: one that called itself by a name of `flatten` would be a circle,
    and keep the leaves and their graph alive."""
    found = _items(value)
    if found is None:
        leaves.append(value)
        return LEAF
    context, items = found
    state.charge(len(items))  # one container may stand in many places
    return Spec(type(value), context, tuple([_taken_apart(item, leaves) for item in items]))


def unflatten(leaves: Sequence[Any], spec: Spec) -> Any:
    given = iter(leaves)
    return _built(given, spec)


def _built(given: Iterator[Any], spec: Spec) -> Any:
    if spec.kind is None:
        return next(given)
    items = [_built(given, child) for child in spec.children]
    kind = spec.kind
    if kind in _DICTS:
        return kind(zip(spec.context, items, strict=True))
    if kind is defaultdict:
        factory, keys = spec.context
        return defaultdict(factory, zip(keys, items, strict=True))
    if kind is deque:
        return deque(items, maxlen=spec.context)
    if issubclass(kind, Named):
        return kind(items)
    if hasattr(kind, "_fields"):
        return kind(*items)
    return kind(items)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same containers around what a function makes of each leaf."""
    leaves, spec = flatten(value)
    return unflatten([function(leaf) for leaf in leaves], spec)


def spread(value: Any, spec: Spec) -> list[Any] | None:
    """One value for each leaf of a structure, from one of fewer values; None where they differ."""
    found = _items(value)
    if spec.kind is None:
        return None if found is not None else [value]
    if found is None:
        return [value] * spec.leaves
    context, items = found
    if type(value) is not spec.kind or context != spec.context or len(items) != len(spec.children):
        return None
    out: list[Any] = []
    for item, child in zip(items, spec.children, strict=True):
        part = spread(item, child)
        if part is None:
            return None
        out.extend(part)
    return out
