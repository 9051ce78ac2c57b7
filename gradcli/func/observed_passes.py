"""Func: what the observer of a run is told of the passes of transformations.

PyTorch goes back once where the engine goes several times or not at all, with gradients that stand
for all samples at once, and with a graph of them that nobody may ask for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..engine.graph.observer import EVENTS, Observer, OfNodes
from ..engine.schema.mode import state
from .carrier import Carrier


class _Results(Observer):
    """Of a pass that belongs to an operation only what it makes is told."""

    def __init__(self, observer: Observer) -> None:
        self.made, self.used = observer.made, observer.used  # type: ignore[method-assign]


class _Other(Observer):
    """Tells everything, and some of it in another way."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        for event in EVENTS:
            if event not in vars(type(self)):
                setattr(self, event, getattr(observer, event))

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        return self.observer.of_nodes(at_once=at_once)


class _Making(_Other):
    """Passes that make a graph of the gradients."""

    def started(
        self,
        roots: Any,
        gradients: Any,
        retain_graph: bool,
        create_graph: bool,
        inputs: Any,
        capture: bool,
    ) -> None:
        self.observer.started(roots, gradients, retain_graph, True, inputs, capture)

    def walked(self, freed: list[Any], retain_graph: bool, create_graph: bool) -> None:
        self.observer.walked(freed, retain_graph, True)


class _Bare(_Other):
    """Passes over gradients that stand for many: all of these, the samples in front."""

    def started(self, roots: Sequence[Any], gradients: Sequence[Any], *how: Any) -> None:
        self.observer.started(roots, _bare(gradients), *how)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        self.observer.captured(node, place, *_bare([grad]))

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        told = self.observer.of_nodes()
        arrived, applied = map(_of_bare, told.arrived), map(_of_bare, told.applied)
        return told._replace(arrived=list(arrived), applied=list(applied))


def _of_bare(tell: Any) -> Any:
    return lambda node, *several: tell(node, *map(_bare, several))


def _bare(gradients: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([one.bare() if isinstance(one, Carrier) else one for one in gradients])


@contextmanager
def _observed(kind: type[Observer]) -> Iterator[None]:
    before = state.observer
    if before is not None:
        state.observer = kind(before)  # type: ignore[call-arg]
    try:
        yield
    finally:
        state.observer = before


def unheard() -> Any:
    """Within it passes are no passes of the program."""
    return _observed(_Results)


def making_graphs() -> Any:
    """Within it PyTorch's passes make a graph."""
    return _observed(_Making)


def with_all_samples() -> Any:
    """Within it passes go over batched gradients."""
    return _observed(_Bare)
