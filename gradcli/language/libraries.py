"""language: whose tensors a program uses: gradcli's own, or PyTorch's.

The names of a program resolve through `libraries.current`. What the language knows by type (tables
of members, operators in place, text) it knows for every library that was made known, since their
types differ; so nothing is asked on the way of an ordinary program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..engine.schema.carriers import RUNTIME
from ..named import NamedTuple

TENSORS = RUNTIME.tensors
# Types that are neither Python's nor tensors: float(), int(), round() and format() take them.
NUMBERS: set[type] = set()
# Below these names the library makes tensors of other classes: samples, and duals.
CARRYING = ("func.", "autograd.forward_ad.", "autograd.functional.")
HOMES: list[str] = ["gradcli."]  # modules whose classes a library made
# What a class offers that does not say it itself, as our own do with PUBLIC.
PUBLISHED: dict[type, frozenset[str]] = {}
TWINS: dict[type, type] = {}  # classes of another library, and our own of the same name


def twin(kind: Any) -> Any:
    """Where what a class says of itself stands: FROM_CLASS, ASKED."""
    return TWINS.get(kind, kind)


class Library(NamedTuple):
    """A library with PyTorch's face: the object behind a dotted name below torch."""

    name: str
    resolve: Callable[[str], Any]


def _own(path: str) -> Any:
    from .. import namespace

    if path.startswith(CARRYING):
        from ..func.batched import Batched
        from ..func.dual import Dual

        TENSORS.update((Batched, Dual))
    if path.startswith("nn.Lazy"):
        from ..nn.uninitialized import Uninitialized

        TENSORS.add(Uninitialized)
    return namespace.resolve(path)


OWN = Library("gradcli", _own)


class _Libraries:
    """Holds the library that names resolve to."""

    __slots__ = ("current",)

    def __init__(self) -> None:
        self.current = OWN


libraries = _Libraries()


@contextmanager
def using(library: Library) -> Iterator[None]:
    """Within it programs are made with the names of another library."""
    before, libraries.current = libraries.current, library
    try:
        yield
    finally:
        libraries.current = before


def publishes(kind: type) -> bool:
    """Whether a class of a library lists what a program may use of it."""
    return hasattr(kind, "PUBLIC") or any(base in PUBLISHED for base in kind.__mro__)


def published(kind: type) -> set[str]:
    """The names that it lists."""
    names: set[str] = set()
    for base in kind.__mro__:
        names.update(base.__dict__.get("PUBLIC", ()), PUBLISHED.get(base, ()))
    return names
