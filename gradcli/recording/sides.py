"""Recording: whose tensors and nodes a run has: the engine's own, or PyTorch's.

Questions read tensors and nodes through PyTorch's public face, which both have. What that face
does not tell (where a node was made, what it keeps) is asked here, of the side that it is of.
PyTorch's side is there once a live run has begun; until then nothing is asked about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from ..engine.graph.node import Node
from ..engine.schema.carriers import ARRAYS, RUNTIME
from ..engine.tensors.tensor import Tensor
from .facts.basic import Elsewhere
from .side import INF, NAN, Live, Side

if TYPE_CHECKING:
    AnyTensor = Tensor
else:

    class _Kinds(type):
        """Asks the type of a value, and so never the value itself."""

        def __instancecheck__(cls, value: object) -> bool:
            return issubclass(type(value), cls.kinds)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, cls.kinds)

    class AnyTensor(metaclass=_Kinds):
        """A tensor of a side that is there: ask with isinstance."""

        kinds: ClassVar[tuple[type, ...]] = (Tensor,)


FLOATS: frozenset[Any] = frozenset({numpy.float32, numpy.float64})

OWN = Side()


class _Sides:
    """PyTorch's side, once it is registered."""

    __slots__ = ("live",)

    def __init__(self) -> None:
        self.live: Live | None = None


sides = _Sides()


def make_known(side: Live) -> None:
    """From here on this library's tensors count as tensors."""
    sides.live = side
    if not TYPE_CHECKING:
        AnyTensor.kinds = Tensor, side.tensor


# What is asked of every value in a run asks the engine's own tensors and nodes without a detour.


def side_of(tensor: Any) -> Side:
    """The side of a tensor (or of an array)."""
    live = sides.live
    return live if live is not None and isinstance(tensor, live.tensor) else OWN


def side_of_node(node: Any) -> Side:
    """The side of a node."""
    live = sides.live
    return OWN if live is None or isinstance(node, Node) else live


def has_method(module: Any, word: str) -> bool:
    """Whether a module's class has a method; of an interpreted class that is taken for granted."""
    live = None if sides.live is None else sides.live.objects
    return live is None or not live.is_made(module) or live.has_method(module, word)


def is_live(tensor: Any) -> bool:
    """Whether it is PyTorch's."""
    return side_of(tensor) is not OWN


def origin_of(node: Any) -> Any:
    """Where in the program a node was made."""
    return node.origin if sides.live is None else side_of_node(node).origin(node)


def elsewhere_of(node: Any) -> Elsewhere | None:
    """The expression of another file that made a node."""
    return None if sides.live is None else side_of_node(node).elsewhere(node)


def sequence_of(node: Any) -> int:
    """Orders nodes by their making."""
    return node.sequence if sides.live is None else side_of_node(node).sequence(node)


def mark_of(node: Any) -> Any:
    """What lives as long as a node and can be held weakly."""
    return node if sides.live is None else side_of_node(node).mark(node)


def edge_of(tensor: Any) -> Any:
    """The node that a gradient for this tensor goes to."""
    return side_of(tensor).edge(tensor)


def node_of(tensor: Any) -> Any:
    """The node that made a tensor, as it was when it was used."""
    return tensor._grad_fn if tensor.__class__ is Tensor else side_of(tensor).node(tensor)


def data_of(tensor: Any) -> Any:
    """What has the memory of a tensor."""
    return side_of(tensor).data(tensor)


def gradient_of(tensor: Any) -> Any:
    """The .grad of a tensor, without the warning of one that is no leaf; None has none."""
    return None if tensor is None else side_of(tensor).gradient(tensor)


def kept_by(node: Any) -> tuple[tuple[str, Any], ...]:
    """What a node keeps for its backward."""
    return node.kept() if sides.live is None else side_of_node(node).kept(node)


def edges_of(node: Any) -> tuple[Any, ...]:
    """The nodes that a node's gradients go to."""
    return node.edges if sides.live is None else side_of_node(node).edges(node)


def numbers_of(node: Any) -> tuple[int, ...] | None:
    """Of which outputs of theirs; None while all are the first."""
    if node.__class__ is Node and node.rest is None:
        return None
    return side_of_node(node).numbers(node)


def following(node: Any) -> Iterable[tuple[Any, int, Any]]:
    """The nodes that a node's gradients go to, of which outputs of theirs, and their marks."""
    return side_of_node(node).following(node)


def outputs_of(node: Any) -> int:
    """How many outputs a node has."""
    return side_of_node(node).outputs(node)


def row_of(node: Any) -> Any:
    """The declaration that a node comes from, if there is one."""
    return node.row if node.__class__ is Node else side_of_node(node).row(node)


def users_class(node: Any) -> str:
    """The name of the Function of the program whose backward a node runs; else nothing."""
    return "" if node.__class__ is Node else side_of_node(node).users_class(node)


def saved_by(node: Any) -> Any:
    """What a node had saved, to be held until it is read."""
    return node.saved if node.__class__ is Node else side_of_node(node).saved(node)


def probed(node: Any, *grads: Any) -> Sequence[Any]:
    """What a node that is about to run makes of gradients, as arrays; nothing is dropped."""
    if node.__class__ is Node:
        return node.row.backward(node, *grads)
    return side_of_node(node).probed(node, *grads)


def is_packed(node: Any) -> bool:
    """Whether hooks of the program hold what a node saved: they must not run twice."""
    return side_of_node(node).is_packed(node)


def is_number(value: Any) -> bool:
    """Whether a node of PyTorch's keeps a number of Python as this tensor: x * 3."""
    assert sides.live is not None
    return sides.live.is_number(value)


def is_end(node: Any) -> bool:
    """Whether the graph ends in this node: at a leaf."""
    return node.__class__ is not Node and getattr(node, "variable", None) is not None


def saved_under(node: Any, saved: Any, key: str) -> Any:
    """Of what a node had saved, what is under a name: an array, a number, None."""
    return side_of_node(node).saved_under(node, saved, key)


def run_again(node: Any, saved: Any, grads: Sequence[Any], other: Any) -> Any:
    """What a node makes of another gradient, as arrays; None where it can't be run once more."""
    return side_of_node(node).run_again(node, saved, grads, other)


def array_of(value: Any) -> Any:
    """A tensor, or a gradient on its way, as an array of the host."""
    return value if value.__class__ in FLOATS else side_of(value).array(value)


def has_numbers(tensor: Any) -> bool:
    """Whether it has elements to look at: PyTorch's tensors of the device "meta" have a shape."""
    live = sides.live
    return live is None or not isinstance(tensor, live.tensor) or live.has_numbers(tensor)


def without_numbers(tensor: Any) -> str:
    """Whose tensors have none, of one without them: a device's, those of a class that computes its
    operations itself, or of a type that PyTorch only stores."""
    if tensor.is_meta:
        return "the device meta"
    kind = type(tensor)
    if kind.__module__.startswith("torch"):
        return "released memory" if tensor.is_floating_point() else f"the type {tensor.dtype}"
    return f"the class {kind.__name__}"


def with_one_shape(tensor: Any) -> Any:
    """A tensor; of a nested one of PyTorch's, whose parts have shapes of their own, a tensor of its
    elements, one behind the other; of one of torch.func what it stands for."""
    live = sides.live
    if live is None or not isinstance(tensor, live.tensor):
        return tensor
    return live.in_line(tensor) if tensor.is_nested else live.bare(tensor)


def shape_of(tensor: Any) -> tuple[int, ...]:
    """Its shape; of a nested tensor the shape of that line."""
    return tuple(with_one_shape(tensor).shape)


def word_of(tensor: Any) -> str:
    """What a tensor's elements are to a gradient: tensor, integer or bool."""
    if tensor.__class__ is Tensor and tensor._kind.differentiable:
        return "tensor"
    return side_of(tensor).word(tensor)


def is_parameter(tensor: Any) -> bool:
    """Whether it was made as a parameter of a module."""
    return side_of(tensor).is_parameter(tensor)


def is_differentiable(tensor: Any) -> bool:
    """Whether there are gradients of its type."""
    return word_of(tensor) == "tensor"


def nonfinite(tensor: Any) -> int:
    """NAN if there is one, INF if there is an infinity, NAN | INF for both, else 0."""
    data: Any = tensor._data if tensor.__class__ is Tensor else None
    kind: Any = data.__class__
    if kind in FLOATS:
        return 0 if isfinite(data) else NAN if data != data else INF
    return side_of(tensor).nonfinite(tensor)


def changed_at(tensor: Any) -> Any:
    """The place that changed a tensor in place last, where that is known."""
    return side_of(tensor).changed_at(tensor)


def is_leaf(tensor: Any) -> bool:
    """Whether a graph begins at it; not so of a view that PyTorch no longer lets anyone use."""
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:
        return False


def is_tensor(value: Any) -> bool:
    """A tensor, and none that stands for others within a transformation."""
    kind, live = type(value), sides.live
    if kind is Tensor or live is None:
        return kind is Tensor or kind is RUNTIME.sparse
    return kind is live.tensor or issubclass(kind, live.tensor)


def alone(gradient: Any) -> Any:
    """A gradient that stays as it is: a copy, where it is shared."""
    return gradient if is_alone(gradient) else gradient.detach().clone()


def apart(gradient: Any) -> Any:
    """What flows in a pass of our engine, as an object of its own: the array itself may become the
    .grad of a leaf, as long as nothing else holds it, and change there."""
    kind = gradient.__class__
    if kind not in ARRAYS:
        return gradient
    return +gradient if issubclass(kind, numpy.generic) else gradient.copy()


def is_alone(gradient: Any) -> bool:
    """Whether no other tensor has a gradient to report now."""
    live = sides.live
    return live is not None and live.is_alone and isinstance(gradient, live.tensor)


def standing(tensor: Any) -> int | None:
    """A number that changes when its elements do; None where it might not."""
    return side_of(tensor).standing(tensor)
