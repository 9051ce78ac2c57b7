"""Recording: whose tensors and nodes a run holds: the engine's own, or PyTorch's.

Questions read tensors and nodes through PyTorch's public face, which both have. What that face
does not tell (where a node was made, what it keeps) stands here, with an answer for each side.
PyTorch's side is there once a live run has begun; until then nothing is asked about it.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..engine.leaf import edge_of as own_edge
from ..engine.leaf import gradient_of as own_gradient
from ..engine.mode import state
from ..engine.node import Node
from ..engine.observer import memory_of
from ..engine.tensor import Tensor

if TYPE_CHECKING:
    AnyTensor = Tensor
else:

    class AnyTensor(metaclass=ABCMeta):  # noqa: B024
        """A tensor of a side that is there: ask with isinstance."""

    AnyTensor.register(Tensor)


class Side:
    """What is asked of a library's tensors and nodes; here of the engine's own."""

    def origin(self, node: Any) -> Any:
        """Where in the program a node was made."""
        return node.origin

    def mark(self, node: Any) -> Any:
        """What lives as long as a node and can be held weakly."""
        return node

    def edge(self, tensor: Any) -> Any:
        """The node that a gradient for this tensor goes to."""
        return own_edge(tensor)

    def sequence(self, node: Any) -> int:
        """Orders nodes by their making."""
        number: int = node.sequence
        return number

    def node(self, tensor: Any) -> Any:
        """The node that made it, as it was when it was used: a view's is not made anew."""
        return tensor._grad_fn

    def data(self, tensor: Any) -> Any:
        """What has the memory of a tensor."""
        return tensor._data

    def gradient(self, tensor: Any) -> Any:
        """Its .grad, without the warning that a tensor in the middle of a graph gives."""
        return own_gradient(tensor)

    def kept(self, node: Any) -> tuple[tuple[str, Any], ...]:
        """What a node keeps for its backward: names, and what has memory."""
        found: tuple[tuple[str, Any], ...] = node.kept()
        return found

    def freed(self, node: Any) -> bool | None:
        """Whether a pass gave that up; None where only reading it tells."""
        flag: bool | None = getattr(node, "freed", None)
        return flag

    def memory(self, value: Any) -> Any:
        """Whose memory a tensor or an array shares; None for a number on its own."""
        return memory_of(value._data if isinstance(value, Tensor) else value)

    def grad_enabled(self) -> bool:
        """Whether operations enter the graph just now."""
        return state.grad_enabled


class Live(Side):
    """What PyTorch's side tells besides. `live.side` has the answers."""

    tensor: Any
    snapshot: Callable[[Any, float], Any]
    attributes: Callable[[Any], Mapping[str, Any]]
    is_of_program: Callable[[Any], bool]


OWN = Side()


class _Sides:
    """PyTorch's side, once somebody has made it known."""

    __slots__ = ("live",)

    def __init__(self) -> None:
        self.live: Live | None = None


sides = _Sides()


def make_known(side: Live) -> None:
    """From here on this library's tensors count as tensors."""
    sides.live = side
    if not TYPE_CHECKING:
        AnyTensor.register(side.tensor)


def side_of(tensor: Any) -> Side:
    """The side of a tensor (or of an array)."""
    live = sides.live
    return live if live is not None and isinstance(tensor, live.tensor) else OWN


def side_of_node(node: Any) -> Side:
    """The side of a node."""
    live = sides.live
    return OWN if live is None or isinstance(node, Node) else live


def is_live(tensor: Any) -> bool:
    """Whether it is PyTorch's."""
    return side_of(tensor) is not OWN


def origin_of(node: Any) -> Any:
    """Where in the program a node was made."""
    return side_of_node(node).origin(node)


def sequence_of(node: Any) -> int:
    """Orders nodes by their making."""
    return side_of_node(node).sequence(node)


def mark_of(node: Any) -> Any:
    """What lives as long as a node and can be held weakly."""
    return side_of_node(node).mark(node)


def edge_of(tensor: Any) -> Any:
    """The node that a gradient for this tensor goes to."""
    return side_of(tensor).edge(tensor)


def node_of(tensor: Any) -> Any:
    """The node that made a tensor, as it was when it was used."""
    return side_of(tensor).node(tensor)


def data_of(tensor: Any) -> Any:
    """What has the memory of a tensor."""
    return side_of(tensor).data(tensor)


def gradient_of(tensor: Any) -> Any:
    """The .grad of a tensor, without the warning of one that is no leaf; None has none."""
    return None if tensor is None else side_of(tensor).gradient(tensor)


def kept_by(node: Any) -> tuple[tuple[str, Any], ...]:
    """What a node keeps for its backward."""
    return side_of_node(node).kept(node)


def memory(value: Any) -> Any:
    """Whose memory a tensor or an array shares; None for a number on its own."""
    return side_of(value).memory(value)


def key_of(memory: Any) -> int:
    """What tells a piece of memory from others that are alive; PyTorch wraps the same one anew."""
    return int(getattr(memory, "_cdata", 0)) or id(memory)


def size_of(memory: Any, holder: Any) -> int:
    """How many bytes it has."""
    size = getattr(memory, "nbytes", None)
    return int(size() if callable(size) else holder.nbytes if size is None else size)
