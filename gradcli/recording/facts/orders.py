"""Recording: the facts of second order: what passes with create_graph made, and who holds it."""

from __future__ import annotations

from ...named import NamedTuple


class DerivedFact(NamedTuple):
    """A node in the graph of a gradient: of which order the derivative is, and the call that made
    it: "grad" or "backward", the number of its pass, its line."""

    node: int
    order: int
    call: str
    number: int
    line: int | None


class HolderFact(NamedTuple):
    """A `.grad` that holds the graph of a gradient alive.

    `call` on `line` made the graph. `circle` are the names on the way back to it where there is
    one, such as `x.grad`, `w`, `w.grad`, `x`: memory that nothing frees while they stand.
    """

    name: str
    call: str
    line: int | None
    nodes: int
    circle: tuple[str, ...] = ()
