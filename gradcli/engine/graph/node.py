"""Engine: the nodes of the backward graph."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from ..schema.causes import Freed
from ..schema.mode import next_sequence, state
from .hooks import add

if TYPE_CHECKING:
    from ..schema.row import Row
    from ..tensors.tensor import Tensor

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)


class Storage:
    """The version counter that a tensor and its views share.

    `changed_at`, there once the version was raised, is the origin of the operation that did it
    last. `born`, of memory that a transformed function made, is the number of that run.
    """

    __slots__ = ("version", "changed_at", "born")

    changed_at: object
    born: int

    def __init__(self) -> None:
        self.version = 0


class DetachedVersion(int):
    """The version of a tensor that detach_ took out of the graph.

    It counts as raised, so that every node that saved the tensor looks at it once more.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        return True

    def __add__(self, writes: int) -> DetachedVersion:
        return DetachedVersion(int(self) + writes)


class SavedOutput(Storage):
    """A node's only output, saved without the tensor, which holds the node: no reference cycle.

    It is the version counter of that tensor as well.
    """

    __slots__ = ("data", "kind")

    data: Any
    kind: Any
    output_nr = 0

    @property
    def storage(self) -> Storage:
        return self

    _storage = storage


class SharedOutput(SavedOutput):
    """The same of a tensor that has a version counter already, or is one of several outputs."""

    __slots__ = ("output_nr", "_counter")

    def __init__(self, tensor: Tensor, output_nr: int) -> None:
        self.data, self.kind, self.output_nr = tensor._data, tensor._kind, output_nr
        self._counter = tensor._need_storage()

    @property
    def storage(self) -> Storage:
        return self._counter

    _storage = storage


class WrittenOutput(SharedOutput):
    """The same of a view that was changed in place, whose history is read off its base."""

    __slots__ = ("history",)

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor, 0)
        assert tensor._grad_fn is not None
        self.history = weakref.ref(tensor._grad_fn)  # the node that holds this is below it


class Packed:
    """What a pack hook of saved_tensors_hooks returned, how to unpack it, where the tensor was in
    the graph (the node of its gradient, True: the one that saves it, and the number), and what it
    was: its shape and kind."""

    __slots__ = ("value", "unpack", "edge", "output_nr", "was", "_storage")

    def __init__(
        self, value: Any, unpack: Callable[..., Any], edge: Node | bool | None, tensor: Tensor
    ) -> None:
        self.value, self.unpack, self._storage = value, unpack, None
        self.edge, self.output_nr = edge, tensor._output_nr
        self.was = (tensor._data.shape, tensor._kind)


class NodeHooks:
    """The hooks of one node, each kind in the order of registration."""

    __slots__ = ("tensor", "pre", "post", "retain")

    def __init__(self) -> None:
        self.tensor: dict[int, tuple[int, Callable[..., Any]]] = {}
        self.pre: dict[int, Callable[..., Any]] = {}
        self.post: dict[int, Callable[..., Any]] = {}
        self.retain: dict[int, Any] = {}  # output number -> weak reference to its tensor


class Several:
    """The gradients that wait at a node with several outputs, or at one that computes by itself."""

    __slots__ = ("grads",)

    def __init__(self) -> None:
        self.grads: list[Any] = []

    def add(self, number: int, value: Any) -> None:
        grads = self.grads
        while len(grads) <= number:
            grads.append(None)
        if value is not None:
            grads[number] = value if grads[number] is None else grads[number] + value

    def taken(self, count: int) -> tuple[Any, ...]:
        """One gradient or None for each output; nothing waits any more."""
        grads, self.grads = self.grads, []
        return (*grads, *(None,) * (count - len(grads)))

    def emptied(self) -> Several:
        self.grads = []
        return self


class NodeExtras:
    """What most nodes do not have. `numbers` are the input numbers of the edges (None while all are
    0), `versions` those of the saved tensors (None while all are 0), `inputs` the (shape, kind) of
    inputs whose gradient must be summed or cast back, `extra` facts about several outputs, or the
    shape that a leaf had when its graph began."""

    __slots__ = ("numbers", "versions", "inputs", "hooks", "extra", "metadata")

    numbers: tuple[int, ...] | None
    versions: tuple[Any, ...] | None
    inputs: tuple[Any, ...] | None
    hooks: NodeHooks | None
    extra: Any
    metadata: dict[Any, Any] | None

    def __init__(self, inputs: tuple[Any, ...] | None = None) -> None:
        self.numbers = self.versions = self.hooks = self.extra = self.metadata = None
        self.inputs = inputs


class SharedExtras(NodeExtras):
    """The `inputs` of many nodes, all of one kind. One that needs more gets a rest of its own."""

    __slots__ = ()


def inputs_of(rest: NodeExtras | None, inputs: tuple[Any, ...]) -> NodeExtras:
    """The rest of a node with its `inputs`."""
    if rest is None:
        return NodeExtras(inputs)
    rest.inputs = inputs
    return rest


def _rare(name: str) -> Any:
    """A property of a node that lives in its `rest`."""

    def read(node: Node) -> Any:
        return None if node.rest is None else getattr(node.rest, name)

    def write(node: Node, value: Any) -> None:
        setattr(_own_rest(node), name, value)

    return property(read, write)


def _own_rest(node: Node) -> NodeExtras:
    """What a node has for itself, so that it can be written to."""
    rest = node.rest
    if rest.__class__ is not NodeExtras:
        rest = node.rest = NodeExtras(None if rest is None else rest.inputs)
    return rest


class Node:
    """One step of the backward graph: where gradients go, and what their computation needs.

    Few slots, because graphs are made of these: what is rare is in `rest`. In `buffer` a gradient
    waits while a backward pass is under way: see `fast_backward`.
    """

    __slots__ = ("row", "edges", "saved", "sequence", "origin", "rest", "buffer", "__weakref__")

    _torch_name = "torch.autograd.graph.Node"
    _torch_home = ""  # of its type, as Python prints it
    is_users = False  # a user's Function: runs where no gradient came, answers all or nothing

    row: Row
    edges: tuple[Node | None, ...]
    saved: tuple[Any, ...] | Freed
    sequence: int
    origin: object
    rest: NodeExtras | None
    buffer: Any

    # See `assembly`: what it keeps, and its work. `_saved_*`: see `saved_attributes`.
    __call__: Callable[..., Any]  # outside of a pass
    kept: Callable[[], tuple[tuple[str, Any], ...]]
    apply: Callable[[tuple[Any, ...], bool], tuple[Any, ...]]

    numbers = _rare("numbers")
    versions = _rare("versions")
    inputs = _rare("inputs")
    hooks = _rare("hooks")
    extra = _rare("extra")

    def name(self) -> str:
        return self.row.node

    @property
    def type_name(self) -> str:
        """As errors of arguments name its type."""
        return self.name().split("::")[-1]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{self.type_name}' object")  # nor copied

    def __repr__(self) -> str:
        return f"<{self._torch_home}{self.name().split('::')[-1]} object at {hex(id(self))}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        rest = self.rest
        if rest is None or rest.numbers is None:
            return tuple([(node, 0) for node in self.edges])
        return tuple(
            (node, 0 if node is None else number)
            for node, number in zip(self.edges, rest.numbers, strict=True)
        )

    @property
    def metadata(self) -> dict[Any, Any]:
        rest = _own_rest(self)
        if rest.metadata is None:
            rest.metadata = {}
        return rest.metadata

    def _need_hooks(self) -> NodeHooks:
        if self.hooks is None:
            self.hooks = NodeHooks()
        hooks: NodeHooks = self.hooks
        return hooks

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """hook(grad_inputs, grad_outputs) runs after the node and may replace grad_inputs."""
        return add(self._need_hooks().post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """hook(grad_outputs) runs before the node and may replace them."""
        return add(self._need_hooks().pre, hook)

    def saved_names(self) -> tuple[str, ...]:
        """The names of the `_saved_*` attributes, as PyTorch has them."""
        return self.row.saved_names

    def __dir__(self) -> list[str]:
        kind: Any = type(self)
        saved = (f"_saved_{name}" for name in self.saved_names())
        return sorted({*_plain_names(kind), *getattr(self, "__dict__", ()), *saved})

    @property
    def freed(self) -> bool:
        return self.saved.__class__ is Freed

    @property
    def saves_output(self) -> bool:
        """Does it keep its only output?"""
        return self.row.saves_output

    def release(self, mark: Freed) -> None:
        """Frees what was saved; a row that saves no tensor has nothing to free."""
        if self.row.frees(self.saved):
            self.saved = mark

    @property
    def held(self) -> Any:
        """What `release` gives up; it can be given back."""
        return self.saved

    @held.setter
    def held(self, held: Any) -> None:
        self.saved = held

    @property
    def outputs(self) -> int:
        return self.row.output_count


@cache
def _plain_names(kind: type[Node]) -> tuple[str, ...]:
    """What every node of a class has; hundreds of `_saved_*` are of some rows only."""
    return tuple(name for name in dir(kind) if not name.startswith(("_saved_", "_raw_")))


class SparseNode(Node):
    """A node with a sparse operand or result: its formulas run on tensors, which know which."""

    __slots__ = ()


class UnimplementedNode(Node):
    """Of an operation that has no derivative: it fails, and before all other nodes run."""

    __slots__ = ("called",)

    def __init__(self, called: str) -> None:
        self.called = called  # the operation's name, also of one in place
        state.hooked = True  # the ordinary pass has no other order than that of making

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """It lists what it was given."""
        return tuple(pair for pair in super().next_functions if pair[0] is not None)


_next_leaf = itertools.count(-1, -1).__next__


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds what arrives to the leaf's .grad."""

    __slots__ = ("variable",)

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable
        self.edges, self.saved, self.rest, self.buffer = (), (), None, None
        self.sequence = _next_leaf()  # below zero: it is no step of its own
        self.origin = state.origin

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def saved_names(self) -> tuple[str, ...]:
        return ()

    def release(self, mark: Freed) -> None:
        """Nothing is saved here."""

    @property
    def outputs(self) -> int:
        return 1


class CustomNode(Node):
    """A node that computes by itself rather than from a row: CopySlices, user functions."""

    __slots__ = ("_name",)

    def __init__(
        self, name: str, edges: tuple[Node | None, ...], numbers: tuple[int, ...] | None
    ) -> None:
        self._name = name
        self.edges, self.saved, self.rest, self.buffer = edges, (), None, Several()
        if numbers is not None:
            self.numbers = numbers
        self.sequence = next_sequence()
        self.origin = state.origin

    def name(self) -> str:
        return self._name

    def saved_names(self) -> tuple[str, ...]:
        return ()

    def kept(self) -> tuple[tuple[str, Any], ...]:
        return ()

    def release(self, mark: Freed) -> None:
        """Subclasses that save something free it here."""

    @property
    def outputs(self) -> int:
        return 1
