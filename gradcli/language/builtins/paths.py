"""language: what dotted names of torch, math, numpy and their like mean."""

from __future__ import annotations

import functools
from typing import Any

from ..attributes import SPECIAL, missing
from ..libraries import Library, libraries
from ..names import known_paths
from ..values import Annotation, Namespace
from .mathematics import MATH, NUMPY
from .modules import COLLECTIONS, COPY
from .types import library_value


def resolve_path(path: str) -> Any:
    """The value behind a full dotted name: "torch.nn.Linear", "math.pi", "torch.nn"."""
    return _resolved(path, libraries.current)


@functools.cache
def _resolved(path: str, library: Library) -> Any:
    values, spaces = known_paths()
    if path in spaces:
        return Namespace(path)
    if path not in values:
        home, _, name = path.rpartition(".")
        raise AttributeError(f"module '{home}' has no attribute '{name}'")
    root, _, rest = path.partition(".")
    if root == "math":
        return MATH[rest]
    if root == "numpy":
        return NUMPY[rest]
    if root == "typing":
        return Annotation(path)
    if root in ("copy", "collections"):
        return COPY[rest] if root == "copy" else COLLECTIONS[rest]
    return library_value(rest, library.resolve(rest))


def _namespace_attribute(value: Namespace, name: str) -> Any:
    values, spaces = known_paths()
    path = f"{value.path}.{name}"
    if path in values or path in spaces:
        return resolve_path(path)
    if name == "__name__":
        return value.path
    raise missing(value, name)


SPECIAL[Namespace] = _namespace_attribute
