"""language: the abstract classes of collections.abc, as isinstance asks them."""

from __future__ import annotations

import collections.abc
from typing import Any

from ..annotations import Annotation
from ..calls import is_callable
from ..operations import type_handlers
from ..sets import FrozenSet, Set
from ..values import Lazy, stands_for

# Those that a class belongs to by its methods alone.
_BY_METHODS = {
    "Iterable": ("__iter__",), "Sized": ("__len__",), "Container": ("__contains__",),
    "Iterator": ("__iter__", "__next__"), "Reversible": ("__iter__", "__reversed__"),
    "Collection": ("__iter__", "__len__", "__contains__"),
}  # fmt: skip
_BY_NAME = frozenset(
    "Sequence MutableSequence Mapping MutableMapping Set MutableSet Generator Hashable Callable "
    "KeysView ItemsView ValuesView".split()
)
# What Python's own types are whose place a type of the language takes.
_INSTEAD: dict[type, Any] = {Set: set(), FrozenSet: frozenset()}
_ITERATOR = iter(())


def belongs(value: Any, kind: Annotation) -> bool | None:
    """isinstance(value, collections.abc.Sequence); None where it is no class to be asked."""
    home, _, name = kind.text.rpartition(".")
    if home not in ("collections.abc", "typing") or (home, name) == ("typing", "Set"):
        return None
    methods = _BY_METHODS.get(name)
    if methods is None and name not in _BY_NAME:
        return None
    if name == "Callable":
        return is_callable(value)
    if methods and all(type_handlers.special(value, method) for method in methods):
        return True
    if type(value) is Lazy:
        return (name == "Generator" and value.kind == "generator") or _is(_ITERATOR, name)
    value = stands_for(value)
    return _is(_INSTEAD.get(type(value), value), name)


def _is(value: Any, name: str) -> bool:
    return isinstance(value, getattr(collections.abc, name))
