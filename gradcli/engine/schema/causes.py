"""Engine: what an error knows beside its words: which node, which operation, which shapes.

An exception may carry `causes`, a tuple of these records. They hold origins, the opaque marks that
nodes carry, so the code that set the marks can show the places; the engine itself knows no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


class Cause:
    """One fact behind an error. The kinds, and what `detail` has:

    freed      `origin` is the backward call that freed what `node` had saved; names
    saved      `node`, made at `origin`, saved a tensor; name, version, leaf (of a leaf?),
               tensor (None for the node's own result). A user's function saves at `origin` itself,
               without a node or a name
    changed    `origin` is the operation that changed that tensor last; version, times
    constant   a tensor that does not require grad and would have to; tensor
    unused     a tensor that the graph does not reach; tensor, index
    leaf       a leaf that requires grad, changed in place; tensor, view (through a view of it?)
    view       a view that may not change in place, made by `node`; tensor, creation (multi,
               no_grad, inference, function). Where it is met later, `origin` changed its memory
    root       the root of a backward pass without a gradient of its own, and not a scalar; tensor
    nan        anomaly mode: `node`, made at `origin`, passed on a NaN; result (that one gradient)
               and its place, grads (of the node's outputs), saved (what it had saved)
    underived  `node`, made at `origin`, has no derivative
    shapes     operands that do not fit together, in the order of the call; shapes
    """

    __slots__ = ("kind", "origin", "node", "detail")

    def __init__(self, kind: str, origin: object = None, node: Any = None, **detail: Any) -> None:
        self.kind, self.origin, self.node, self.detail = kind, origin, node, detail

    def __repr__(self) -> str:
        return f"Cause({self.kind!r}, {self.detail})"


def because(error: E, *causes: Cause) -> E:
    """The same error, which now knows its causes."""
    error.causes = causes  # type: ignore[attr-defined]
    return error


def mismatch(error: E, *shapes: Sequence[int]) -> E:
    """The error of operands whose shapes do not fit together."""
    return because(error, Cause("shapes", shapes=tuple(tuple(shape) for shape in shapes)))


class Freed:
    """Stands where a node's saved tensors were; `origin` is the backward call that freed them.

    One object serves all nodes of a pass.
    """

    __slots__ = ("origin",)

    def __init__(self, origin: object) -> None:
        self.origin = origin
