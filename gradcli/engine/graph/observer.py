"""Engine: the notifications that an observer of a run receives (`state.observer`)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, TypeAlias

from ...named import NamedTuple

Arrived: TypeAlias = Callable[[Any, tuple[Any, ...]], None]
Ran: TypeAlias = Callable[[Any], None]
Applied: TypeAlias = Callable[[Any, tuple[Any, ...], Sequence[Any]], None]


class OfNodes(NamedTuple):
    """The observers that a pass reports its nodes to. Without `applied`, results are passed on
    as they are computed, which is quicker. With it, leaves are reported between the nodes, as
    PyTorch comes to them, unless `leaves_last` will do: the quick way back comes to them last."""

    arrived: list[Arrived]
    ran: list[Ran]
    applied: list[Applied]
    # Of a pass that another library went over by itself: once, of all its nodes; and whether they
    # listen to what a node passed on as well.
    swept: Sequence[Callable[[Any], None]] = ()
    hands: bool = False
    leaves_last: bool = False
    # By identity the nodes of one output that `arrived` is to observe; left out, of every node.
    heard: Container[int] | None = None

    @property
    def is_free(self) -> bool:
        """Whether leaves may be reported last."""
        return self.leaves_last or not self.applied


NOBODY = OfNodes([], [], [])


class Observer:
    """A base class whose methods do nothing: override those of interest.

    `node` is a node of the graph, `grads` and `results` hold one gradient (an array, or a tensor
    where the pass makes a graph) or None for each of its outputs or inputs. The kinds of hooks:
    "tensor", "node pre", "node", "post accumulate", "module pre", "module". What is reported in
    the middle of a pass may be overwritten soon after: look at it at once, or copy.
    """

    __slots__ = ()

    # ---- the program

    def made(self, tensor: Any) -> None:
        """A result that may have a grad_fn was made."""

    def met(self, node: Any, leaf: Any, module: Any) -> None:
        """An operation of PyTorch made this node on its way, in a module or in none: it transposed
        a leaf, or nobody saw what it made: None."""

    def made_within(self, node: Any, tensor: Any, module: Any) -> None:
        """An operation of PyTorch made this result of a node on its way, in a module or in none."""

    def unmet(self, nodes: Iterable[Any], tell: Callable[[], None]) -> None:
        """A pass is about to run these nodes of PyTorch's. `tell` reports those that operations
        made on their way, at any time before their values change."""

    def changing(self, tensor: Any) -> None:
        """A tensor of PyTorch's is about to be changed in place, or its memory given away."""

    def used(self, node: Any, inputs: Sequence[Any], changed: Any) -> None:
        """A node was made, and some of its inputs take no gradient: these are the arguments of its
        row, of another library's node the inputs in the order of its edges. `changed` is its
        result, which of an operation in place is an input with new values."""

    def reduced(self, inputs: Sequence[Any]) -> None:
        """An operation of PyTorch made one number of these, as a loss does."""

    def required(self, tensor: Any) -> None:
        """A leaf was made that requires grad, or a tensor was asked to."""

    def changed(self, tensor: Any) -> None:
        """A tensor was given new values in place."""

    def assigned(self, tensor: Any, value: Any) -> None:
        """`tensor.grad = value` is about to happen."""

    def registered(self, number: int, hook: Any) -> None:
        """A hook was registered under this number."""

    def parameter(self, tensor: Any) -> None:
        """A parameter of a module was made."""

    def entering(self, module: Any) -> None:
        """A module is called."""

    def leaving(self, module: Any) -> None:
        """The call has ended, or an error has left it."""

    def optimizing(self, optimizer: Any, parameters: Sequence[Any]) -> None:
        """An optimiser was given parameters."""

    def stepping(self, optimizer: Any) -> None:
        """An optimiser is about to change them."""

    # ---- a pass over the graph

    def started(
        self, roots: Sequence[Any], gradients: Sequence[Any], retain_graph: bool,
        create_graph: bool, inputs: Sequence[Any] | None, capture: bool,
    ) -> None:  # fmt: skip
        """A pass begins. With `capture` it answers gradients, else it stores them in `.grad`."""

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """A node is about to run with these gradients of its outputs: complete, hooks have run."""

    def ran(self, node: Any) -> None:
        """A node has run, its hooks too, and has not dropped yet what it saved."""

    def applied(self, node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
        """The same, with what it was given and what it gives its inputs."""

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor's .grad is about to be added to, or to be set where there is none."""

    def stored(self, variable: Any) -> None:
        """That was done."""

    def gathered(self, came: Sequence[tuple[Any, Any]]) -> None:
        """Another library went over a pass by itself: these leaves are about to be given these
        gradients, of which it shares none."""
        for variable, grad in came:
            self.accumulated(variable, grad)

    def filled(self, variables: Sequence[Any]) -> None:
        """That was done."""
        for variable in variables:
            self.stored(variable)

    def retaining(self, node: Any) -> None:
        """A result of this node is about to keep its gradient: it was asked to by retain_grad()."""

    def withheld(self, variable: Any, grad: Any) -> None:
        """A gradient came to a leaf that no longer requires grad: it is not stored."""

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """The gradient of the input with this number, for a pass that returns it."""

    def hooking(self, kind: str, node: Any, hook: Any, number: int, value: Any) -> None:
        """A hook is about to run on a gradient (or on several: a tuple)."""

    def hooked(self, kind: str, node: Any, hook: Any, number: int, before: Any, after: Any) -> None:
        """It has run. `after` is what goes on; None from a node's hook that changes nothing."""

    def walked(self, freed: list[Any], retain_graph: bool, create_graph: bool) -> None:
        """The pass has ended; `freed` are the nodes whose saved tensors it released."""

    def failed(self, freed: list[Any]) -> None:
        """The pass has ended in an error."""

    # ---- observers and what they listen to

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        """The receivers of the nodes of the pass that has just begun: these three methods, or what
        stands for them in this pass. With `at_once` one call for all nodes does as well: it is
        given a `recording.captured_pass.CapturedPass` when they have run."""
        told: Any = [[getattr(self, event)] if self.hears(event) else []
                     for event in ("arrived", "ran", "applied")]  # fmt: skip
        return OfNodes(*told)

    def hears(self, *events: str) -> bool:
        """Whether it does anything about one of these events."""
        return any(
            getattr(getattr(self, event), "__func__", None) is not getattr(Observer, event)
            for event in events
        )


EVENTS = tuple(
    name
    for name in vars(Observer)
    if not name.startswith("_") and name not in ("of_nodes", "hears")
)
