"""Recording: what is asked of tensors and nodes beyond PyTorch's public face, and our answers.

`live.side` has those of PyTorch; `sides` asks whichever side a tensor or a node is of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy

from ..engine.graph.leaf import edge_of as own_edge, gradient_of as own_gradient
from ..engine.graph.node import Packed, SavedOutput
from ..engine.memory.device import memory_of, module_of, placed, to_numpy
from ..engine.memory.layout import once
from ..engine.schema.carriers import RUNTIME
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor
from ..engine.tensors.views import CopySlices
from .facts.basic import Elsewhere

NAN, INF = 1, 2  # what `nonfinite` tells, together or alone
PER_STEP = 7  # a step of the budget stands for so many elements that are looked at: 2 ** 7


def looked_at(data: Any) -> Any:
    """An array of which all elements are about to be looked at: each that is repeated once, and
    charged, since views that overlap have more than memory has."""
    some = once(data)
    state.charge(some.size >> PER_STEP)
    return some


def array_in(value: Any) -> Any:
    """What a tensor, a gradient on its way or a saved value has as an array."""
    if type(value) is RUNTIME.sparse:
        return value._data.get()
    data = value._data if isinstance(value, Tensor) else value
    return data.get() if isinstance(data, RUNTIME.payload) else data


class Side:
    """What is asked of a library's tensors and nodes; here of the engine's own."""

    def origin(self, node: Any) -> Any:
        """Where in the program a node was made."""
        return node.origin

    def elsewhere(self, node: Any) -> Elsewhere | None:
        """Where in another file, which the program called there."""
        return None

    def standing(self, tensor: Any) -> int | None:
        """A number that changes when its elements do; None where it might not."""
        return None

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
        return tensor._data if type(tensor) is not RUNTIME.sparse else tensor._data.values

    def gradient(self, tensor: Any) -> Any:
        """Its .grad, without the warning that a tensor in the middle of a graph gives."""
        return own_gradient(tensor)

    def text(self, tensor: Any) -> str:
        """What the library prints for a tensor that requires no gradient."""
        return repr(tensor)

    def kept(self, node: Any) -> tuple[tuple[str, Any], ...]:
        """What a node keeps for its backward: names, and what has memory."""
        found: tuple[tuple[str, Any], ...] = node.kept()
        return found

    def freed(self, node: Any) -> bool | None:
        """Whether a pass freed that; None where only reading it shows."""
        inner = node.node if node.__class__ is CopySlices else node
        flag: bool | None = getattr(inner, "freed", None)
        return flag

    def edges(self, node: Any) -> tuple[Any, ...]:
        """The nodes that its gradients go to, in the order of its inputs."""
        found: tuple[Any, ...] = node.edges
        return found

    def numbers(self, node: Any) -> tuple[int, ...] | None:
        """Of which outputs of theirs; None while all are the first."""
        found: tuple[int, ...] | None = node.numbers
        return found

    def following(self, node: Any) -> Iterable[tuple[Any, int, Any]]:
        """The nodes that its gradients go to, of which outputs, and marks: a leaf's is its node."""
        numbers = node.numbers
        for place, edge in enumerate(node.edges):
            if edge is not None:
                yield edge, 0 if numbers is None else numbers[place], edge

    def outputs(self, node: Any) -> int:
        """How many outputs it has, as far as that is known."""
        return max(int(node.outputs), len(node.extra) if isinstance(node.extra, list) else 1)

    def row(self, node: Any) -> Any:
        """The declaration that a node comes from, if there is one."""
        return getattr(node, "row", None)

    def users_class(self, node: Any) -> str:
        """The name of the Function of the program whose backward it runs; empty for all others."""
        return str(getattr(getattr(node, "owner", None), "__name__", ""))

    def saved(self, node: Any) -> Any:
        """What it had saved, to be held until it is read."""
        return node.saved

    def saved_under(self, node: Any, saved: Any, key: str) -> Any:
        """Of that, what is under a name: an array, a number, None."""
        row = self.row(node)
        if row is None or not isinstance(saved, tuple) or key not in row.saved_keys:
            return None
        place = row.saved_keys.index(key)
        value = saved[place] if place < len(saved) else None
        if isinstance(value, SavedOutput):
            value = value.data
        return array_in(value)

    def run_again(self, node: Any, saved: Any, grads: Sequence[Any], other: Any) -> Any:
        """What it makes of another gradient, as arrays; None where it can't be run once more."""
        held = node.saved
        came = next((grad for grad in grads if grad is not None), other)
        placed_like = module_of(array_in(came))
        node.saved = saved  # a pass gives it up
        try:
            found = node.apply((placed(other, placed_like),), False)
            return [None if one is None else to_numpy(one) for one in found]
        except Exception:
            return None
        finally:
            node.saved = held

    def probed(self, node: Any, *grads: Any) -> Sequence[Any]:
        """What a node that is about to run makes of gradients, as arrays; nothing is dropped."""
        found: Sequence[Any] = node.row.backward(node, *grads)
        return found

    def is_packed(self, node: Any) -> bool:
        """Whether hooks of the program hold what it saved: they must not run twice."""
        saved = getattr(node, "saved", None)  # a Function of the program has none
        return isinstance(saved, tuple) and any(value.__class__ is Packed for value in saved)

    def array(self, value: Any) -> Any:
        """A tensor, or a gradient on its way, as an array of the host."""
        data = value._data if isinstance(value, Tensor) else value
        if data is None or isinstance(data, (numpy.ndarray, numpy.generic)):
            return data
        return to_numpy(data) if hasattr(data, "dtype") else data

    def is_parameter(self, tensor: Any) -> bool:
        """Whether it was made as a parameter of a module."""
        return bool(tensor.is_parameter)

    def word(self, tensor: Any) -> str:
        """What its elements are to a gradient: tensor, integer or bool."""
        if tensor._kind.differentiable:
            return "tensor"
        return "bool" if tensor._kind.dtype.category == 0 else "integer"

    def nonfinite(self, tensor: Any) -> int:
        """NAN if there is one, INF if there is an infinity, NAN | INF for both, else 0."""
        if not tensor._kind.differentiable:
            return 0
        data: Any = self.data(tensor)
        if not data.size:
            return 0
        if not isinstance(data, numpy.ndarray):
            data = to_numpy(data)
        data = looked_at(data)
        if numpy.isfinite(data.sum()):
            return 0
        return NAN * bool(numpy.isnan(data).any()) | INF * bool(numpy.isinf(data).any())

    def found_finite(self, tensor: Any) -> None:
        """All its elements were just examined: `nonfinite` need not."""

    def changed_at(self, tensor: Any) -> Any:
        """The place that changed a tensor in place last, where that is kept with it."""
        return getattr(tensor._storage, "changed_at", None)

    def memory(self, value: Any) -> Any:
        """Whose memory a tensor or an array shares; None for a number on its own."""
        return memory_of(value._data if isinstance(value, Tensor) else value)

    def common(self, tensor: Any) -> Any:
        """What tensors that share memory have in common, numbers on their own too."""
        memory = self.memory(tensor)
        return tensor._need_storage() if memory is None else memory

    def counter(self, tensor: Any) -> Any:
        """What counts the versions of a tensor."""
        return tensor._need_storage()

    def grad_enabled(self) -> bool:
        """Whether operations enter the graph now."""
        return state.grad_enabled


class LiveObjects(Protocol):
    """What is asked of the objects of a program that Python runs."""

    def attributes(self, value: Any) -> Mapping[str, Any]: ...
    def beside(self, module: Any) -> Mapping[str, Any]: ...
    def has_method(self, module: Any, word: str) -> bool: ...
    def is_made(self, value: Any) -> bool: ...
    def is_of_program(self, module: Any) -> bool: ...
    def member(self, value: Any, name: str) -> Any: ...


class Live(Side):
    """What PyTorch's side answers besides. `live.side` has the answers."""

    is_alone = False  # whether who is given a gradient now is the only one who has it
    tensor: Any
    hands_off: Callable[[], Any]
    snapshot: Callable[[Any, float], Any]
    in_line: Callable[[Any], Any]
    bare: Callable[[Any], Any]
    levels: Callable[[Any], Iterable[Any]]
    has_numbers: Callable[[Any], bool]
    packed: Callable[[Sequence[Any]], Sequence[Any]]
    all_finite: Callable[[Sequence[Any]], set[int]]
    passed_again: Callable[[Any, Sequence[Any]], Sequence[Any]]
    differentiated: Callable[..., Sequence[Any]]
    backward: Callable[..., None]
    made_again: Callable[[Any, int, Callable[[Any, int], Any], Callable[[Any, int], Any]], Any]
    is_number: Callable[[Any], bool]
    clock: Callable[[], int]
    given_shapes: Callable[[Any], Sequence[tuple[int, ...] | None]]
    objects: LiveObjects
