"""Recording: the values of results, and the gradients of the passes that are kept.

It holds on to the first and the last so many results, because a report draws the two ends of a
long chain and folds what lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from numpy import generic

from ..engine.graph.node import Node
from ..engine.graph.observer import NOBODY, OfNodes
from ..engine.tensors.tensor import Tensor
from ..named import NamedTuple
from .captured_pass import CapturedPass
from .collect import leaves_behind
from .lines import Modules
from .measures import address_of, bytes_of
from .passes import Pass, Passes
from .sides import has_numbers, side_of_node, sides
from .snapshot import Number, snapshot
from .spectator import Spectator

ENDS = 1000  # results that are held at each end
MANY = 4 * ENDS  # more of the last ones are cut back
UNREAD = 256 * 2**20  # bytes of PyTorch's results that are held as they are


class Entry(NamedTuple):
    """A result that entered the graph: as it was then, and the module that made it."""

    node: Any
    output_nr: int
    value: Any
    module: Any


class Fresh(NamedTuple):
    """A result of PyTorch's, or a leaf that a library transposes: not read so far."""

    node: Any
    tensor: Any
    version: int
    module: Any
    is_leaf: bool = False


Entries: TypeAlias = dict[tuple[int, int], Entry]  # by a node's identity and the output
# An entry in the making: with a type the value is a bare number, else it is as the entry has it.
Newest: TypeAlias = tuple[Any, int, Any, Any, Any]


class Values(Spectator):
    """Results by node and output; roots, flows and leaves of passes (`passes.Pass`)."""

    def __init__(self, passes: Passes, modules: Modules) -> None:
        self.passes, self.modules = passes, modules
        # What is kept of gradients.
        self.of_flow: Callable[[Any], Any] = snapshot
        self.of_leaf: Callable[[Any], Any] = snapshot
        self._first: Entries = {}
        self._recent: Entries = {}  # and some before them: each cut costs
        self._newest: list[Newest] = []  # behind these; most are dropped unread
        self._room = MANY  # how many they may be
        self._fresh: dict[int, Fresh] = {}  # by their numbers; most are dropped unread
        self._count = 0  # of those that there were
        self._bytes = self._weighed = 0  # of those up to this number
        self._sorted = 0  # how many of them are in the table of memory
        self._over: Pass | None = None  # a pass that PyTorch went over by itself,
        self._ran: Mapping[Any, Any] = {}  # and the nodes that ran in it for good
        self._lying: dict[int, list[int]] = {}  # by the address of their memory
        self._gone: Entries = {}  # of nodes that an operation of PyTorch's made on its way
        self._unmet: list[tuple[Pass, Callable[[], None]]] = []  # what tells of them

    def made(self, tensor: Any) -> None:
        """A result that has a grad_fn was made."""
        if tensor is None:
            return
        if tensor.__class__ is Tensor and tensor._meta is None:  # what most results are
            node, output_nr = tensor._grad_fn, tensor._output_nr
            data = tensor._data
            if isinstance(data, generic) and node is not None and len(self._first) >= ENDS:
                running, newest = self.modules.running, self._newest
                newest.append(
                    (node, output_nr, data, tensor._kind, running[-1] if running else None)
                )
                if len(newest) > self._room:
                    self._forget()
                return
        elif (live := sides.live) is not None and isinstance(tensor, live.tensor):
            if (node := tensor.grad_fn) is not None:
                running = self.modules.running
                self._put(node, tensor, running[-1] if running else None, False)
            return
        else:
            node, output_nr = tensor.grad_fn, tensor.output_nr
        if node is not None:
            self._keep(node, output_nr, tensor, self.modules.innermost)

    def met(self, node: Any, leaf: Any, module: Any) -> None:
        """A node whose results are gone."""
        if leaf is None:
            for number in range(side_of_node(node).outputs(node)):
                self._gone[id(node), number] = tuple.__new__(Entry, (node, number, None, module))
            if len(self._gone) > MANY:
                self._gone = dict(islice(self._gone.items(), MANY - ENDS, None))
        else:
            self._put(node, leaf, module, True)

    def made_within(self, node: Any, tensor: Any, module: Any) -> None:
        """A result that only another node of its operation has."""
        self._put(node, tensor, module, False)

    def unmet(self, nodes: Iterable[Any], tell: Callable[[], None]) -> None:
        """Nodes and results of these kinds. Most are dropped with their pass, unasked."""
        now = self.passes.now
        self._drop_over(nodes)
        self.meet()
        if now is None or now.keep:
            tell()
        else:
            self._unmet.append((now, tell))

    def meet(self) -> None:
        """Hears of them now."""
        unmet, self._unmet = self._unmet, []
        for _, tell in unmet:
            tell()

    # ---- results that have not been read

    def _put(self, node: Any, tensor: Any, module: Any, is_leaf: bool) -> None:
        """Holds it as it is; it is copied on demand, or before it changes."""
        count = self._count = self._count + 1
        self._fresh[count] = tuple.__new__(Fresh, (node, tensor, tensor._version, module, is_leaf))
        if count & 127 == 0:
            self._trim()

    def _trim(self) -> None:
        """Of many only the last ones are held."""
        fresh = self._fresh
        while fresh and len(self._first) < ENDS < len(fresh):
            self._read(next(iter(fresh)))
        if len(fresh) > 2 * ENDS:
            for number in list(islice(fresh, len(fresh) - ENDS)):
                del fresh[number]
            self._lying.clear()
            self._sorted = self._weighed = self._bytes = 0
        for number in reversed(fresh):
            if number <= self._weighed:
                break
            self._bytes += bytes_of(fresh[number].tensor)
        self._weighed = self._count
        if self._bytes > UNREAD:
            self._read_all()

    def _read_all(self) -> None:
        self.meet()
        for number in list(self._fresh):
            self._read(number)
        self._sorted = self._weighed = self._count
        self._bytes = 0
        self._lying.clear()

    def _read(self, number: int) -> None:
        found = self._fresh.pop(number, None)
        if found is None:
            return
        node, tensor, version, module, is_leaf = found
        if tensor._version != version or (is_leaf and not has_numbers(tensor)):
            self._keep(node, 0 if is_leaf else tensor.output_nr, None, module)
        elif is_leaf:
            self._keep(node, 0, tensor.detach().t(), module)
        else:
            self._keep(node, tensor.output_nr, tensor, module)

    def changing(self, tensor: Any) -> None:
        """What lies in the same memory is looked at before."""
        self.meet()
        if not self._fresh:
            return
        for number in reversed(self._fresh):
            if number <= self._sorted:
                break
            address = address_of(self._fresh[number].tensor)
            self._lying.setdefault(address, []).append(number)
        self._sorted = self._count
        for number in self._lying.pop(address_of(tensor), ()):
            self._read(number)

    def _keep(self, node: Any, output_nr: int, value: Any, module: Any) -> None:
        held = None if value is None else snapshot(value)
        if len(self._first) < ENDS:
            key = id(node), output_nr
            if key not in self._first:
                self._first[key] = tuple.__new__(Entry, (node, output_nr, held, module))
            return
        self._newest.append((node, output_nr, held, None, module))
        if len(self._newest) > self._room:
            self._forget()

    def _forget(self) -> None:
        """What the newest ones have pushed out."""
        if len(self._newest) < ENDS:
            self._settle()
            return
        del self._newest[:-ENDS]
        self._recent.clear()
        self._room = MANY

    def _settle(self) -> Entries:
        """The newest ones join the last ones; of one result the first report counts."""
        first, recent = self._first, self._recent
        for node, output_nr, held, kind, module in self._newest:
            key = id(node), output_nr
            if key not in first and key not in recent:
                if kind is not None:
                    held = tuple.__new__(Number, (held, kind))
                recent[key] = tuple.__new__(Entry, (node, output_nr, held, module))
        self._newest.clear()
        if len(recent) > MANY:
            self._cut()
        self._room = MANY - len(self._recent)
        return self._recent

    def _cut(self) -> None:
        """Only the last ones are held."""
        recent = self._recent
        if len(recent) > ENDS:
            self._recent = dict(islice(recent.items(), len(recent) - ENDS, None))
            self._room = MANY - ENDS

    @property
    def first(self) -> Entries:
        """The first results."""
        self._read_all()
        return self._first

    @property
    def last(self) -> Entries:
        """The last results behind the first ones."""
        self._read_all()
        self._settle()
        self._cut()
        return {**self._gone, **self._recent}

    def find(self, node: Any, output_nr: int) -> Entry | None:
        """What is held of an output."""
        key = id(node), output_nr
        if self._fresh or self._unmet:
            self._read_all()
        recent = self._settle() if self._newest else self._recent
        return self._first.get(key) or recent.get(key) or self._gone.get(key)

    def _drop_over(self, nodes: Iterable[Any]) -> None:
        """What led to a pass that is no longer kept, and is no part of one over these nodes."""
        over, ran = self._over, self._ran
        if over is None or over.is_kept or not ran.keys().isdisjoint(nodes):
            return
        self._over, self._ran = None, {}
        self._unmet = [one for one in self._unmet if one[0] is not over]
        kept = {number: one for number, one in self._fresh.items() if one.node not in ran}
        if len(kept) < len(self._fresh):
            self._fresh = kept
            self._bytes = self._weighed = 0
        self._newest = [one for one in self._newest if one[0] not in ran]
        self._gone = {key: one for key, one in self._gone.items() if one.node not in ran}
        for held in (self._first, self._recent):
            for key in [key for key, one in held.items() if not key[1] and one.node in ran]:
                del held[key]

    def began(self, one: Pass) -> None:
        """A pass begins."""
        if len(self._settle()) > 2 * ENDS:
            self._cut()
        if one.is_kept:
            one.began = {id(root): snapshot(root) for root in one.roots}
            one.seeds = tuple(self.of_flow(seed) for seed in one.gradients)
            if one.inputs is not None:  # what it leaves out may have other values at the end
                one.beside = {
                    id(leaf): (leaf, snapshot(leaf)) for leaf in leaves_behind(one.roots, ENDS)
                }

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """The gradients of a node's outputs are complete."""
        now = self.passes.now
        if now is None:
            return
        untold = not isinstance(node, Node) and len(now.flows) < 2 * ENDS
        for output_nr, grad in enumerate(grads):
            if grad is not None and (untold or self.find(node, output_nr) is not None):
                now.flows[id(node), output_nr] = self.of_flow(grad)

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        """What flows is kept of a pass that is kept."""
        if self.passes.now is None:
            return NOBODY
        if at_once:
            return OfNodes([], [], [], [self._read_captured])
        held = {
            key[0] for key in (*self._first, *self._settle())
        }  # the nodes that may run are made

        def arrived(node: Any, grads: tuple[Any, ...]) -> None:
            if id(node) in held or len(grads) > 1 or not isinstance(node, Node):
                self.arrived(node, grads)

        return OfNodes([arrived], [], [], heard=held)

    def _read_captured(self, captured: CapturedPass) -> None:
        """Most passes are forgotten before anybody asks what flowed in them."""
        now = self.passes.now
        if now is not None:
            now.captured_pass, now.of_flow = captured, self.of_flow
            if not now.keep:
                self._over, self._ran = now, captured.graph.seen
            if captured.is_heavy:
                assert now.flows is not None

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor is about to be given a gradient."""
        now = self.passes.now
        if now is not None:
            now.keep_leaf(variable, snapshot(variable), self.of_leaf(grad))

    def gathered(self, came: Sequence[tuple[Any, Any]]) -> None:
        """Many tensors are; nobody else has these gradients."""
        now = self.passes.now
        if now is not None:
            now.of_leaf = self.of_leaf
            for variable, grad in came:
                now.unread[id(variable)] = grad
                now.keep_leaf(variable, snapshot(variable), None)

    def withheld(self, variable: Any, grad: Any) -> None:
        """A gradient that came to a tensor which keeps none."""
        self.accumulated(variable, grad)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A gradient that the pass returns."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            self.accumulated(variable, grad)
        elif (now := self.passes.now) is not None and grad is not None:
            now.returned.append((node, self.of_flow(grad), str(grad.dtype)))
