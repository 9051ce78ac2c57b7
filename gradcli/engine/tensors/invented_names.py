"""Engine: attributes that a program adds to objects, kept where no code of the library looks.

PyTorch's tensors, modules and optimisers take every attribute, `model.hidden = 64`. The library
reads its own state through `self`, so such a name never enters the dictionary that `self` reads.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from .tensor import Tensor

KEPT = "_kept"  # its place in an object's dictionary, so that copies of the object have it too
# Tensors have no dictionary. By identity, since they compare element by element.
_ON_TENSORS: dict[int, tuple[ref[Tensor], dict[str, Any]]] = {}
_NOTHING: dict[str, Any] = {}


def kept_on(value: Any) -> dict[str, Any]:
    """What a program keeps on an object, to be read only."""
    if isinstance(value, Tensor):
        found = _ON_TENSORS.get(id(value))
        return _NOTHING if found is None else found[1]
    return value.__dict__.get(KEPT, _NOTHING)


def kept(value: Any) -> dict[str, Any]:
    """The same to be written to."""
    if not isinstance(value, Tensor):
        return value.__dict__.setdefault(KEPT, {})
    number = id(value)
    if number not in _ON_TENSORS:
        _ON_TENSORS[number] = (ref(value, lambda _: _ON_TENSORS.pop(number, None)), {})
    return _ON_TENSORS[number][1]


def keep(value: Any, name: str, new: Any) -> None:
    """value.name = new, for a name that the object's class does not know."""
    kept(value)[name] = new


def keep_apart(copy: Any) -> None:
    """A shallow copy of an object keeps what the first one kept, in a dictionary of its own."""
    if KEPT in copy.__dict__:
        copy.__dict__[KEPT] = dict(copy.__dict__[KEPT])
