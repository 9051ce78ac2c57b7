"""Recording: the facts of `gradcli trace --stats`: counts and sizes of a graph."""

from __future__ import annotations

from ...named import NamedTuple


class KindFact(NamedTuple):
    """All nodes of one kind: how many, what they had saved in bytes (memory that several share
    counts once, where it came first), on which lines they were made."""

    name: str
    nodes: int
    bytes: int
    lines: tuple[int, ...]


class HeldFact(NamedTuple):
    """A tensor that a node had saved."""

    source: str
    node: str
    name: str
    bytes: int
    line: int | None


class LargeFact(NamedTuple):
    """A result or a gradient with large numbers, or with bad ones: of which expression, the
    largest absolute value, its norm, how many of its elements are zero, NaN or infinite."""

    source: str
    node: str  # the name of the node; of a leaf "leaf"
    line: int | None
    largest: float
    norm: float
    zeros: int
    bad: int
    size: int


class StatsFact(NamedTuple):
    """Of the graph that is drawn. `depth` counts the nodes on the longest way from a root to a
    leaf; `bytes` are those of all saved tensors."""

    nodes: int
    leaves: int
    edges: int
    depth: int
    bytes: int
    elements: int  # of the leaves
    kinds: tuple[KindFact, ...] = ()
    saved: tuple[HeldFact, ...] = ()
    values: tuple[LargeFact, ...] = ()
    gradients: tuple[LargeFact, ...] = ()
