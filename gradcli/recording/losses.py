"""Recording: losses that are computed without an error, and that nobody means.

A pass begins at a loss, and the few nodes before it tell what it compares: shapes that were made
equal by broadcasting, scores that were normalised once before. They are looked at in the first pass
of each call that begins passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary, ref

import numpy

from ..engine.schema.origin import current_origin
from .lines import Modules
from .passes import Pass
from .sides import array_of, edges_of, mark_of, origin_of, row_of, saved_by, saved_under
from .spectator import Spectator

CALLS = 64  # that begin passes: the first pass of each is looked into
BEFORE_LOG = 3  # operations between a softmax and the loss: a small number is added, log
NEAR = 64  # nodes before the root of a pass
# How the nodes between a loss and the last layer act on elements. Anything else is the network.
FOLLOWED = frozenset({"pointwise", "along", "moves"})
ROUNDING = 1e-3  # above 0, where no logarithm of a probability is
# Modules that do something else in training.
SWITCHING = ("Dropout", "BatchNorm", "AlphaDropout", "FeatureAlphaDropout")  # their names begin


class Doubt(NamedTuple):
    """A loss that is not what it seems to be, and the call that went back from it.

    `kind` is "broadcast": `place` compares tensors of these `shapes`, and the second one, or the
    one with this number, is the target; "twice": what `place` normalises by the function `word` was
    normalised at `inner`; "not-log": `place` needs logarithms of probabilities and is given
    `inner`, which is a softmax where `word` says so; "dimension": `place` takes classes along
    dimension 1, and `inner` normalises along that of this `number`; "resting": since the pass
    `number` a network is trained that is in eval mode.
    """

    kind: str
    call: Any
    place: Any
    inner: Any = None
    word: str = ""
    shapes: tuple[tuple[int, ...], ...] = ()
    number: int = 0


Crossed: TypeAlias = tuple[tuple[tuple[int, ...], ...], int]  # shapes, which of them the target has


class Losses(Spectator):
    """The doubts about a run, in the order in which they came up."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.doubts: list[Doubt] = []
        self.crossed: WeakKeyDictionary[Any, Crossed] = WeakKeyDictionary()
        self.within: dict[int, tuple[Any, Crossed]] = {}  # in the operation at this place
        self.known: dict[int, Any] = {}  # calls whose first pass was looked into
        self.switched: dict[int, tuple[Any, Any]] = {}  # what training switches, what it is in
        self.trained: set[int] = set()  # calls that went back through them in training
        self.rested: dict[int, Doubt] = {}  # and did so after eval(), before an optimizer stepped
        self.last: Any = None

    # ---- shapes

    def used(self, node: Any, inputs: Sequence[Any], changed: Any) -> None:
        """One operand of a difference takes no gradient: the target."""
        if len(inputs) < 2 or (row := row_of(node)) is None or row.role != "compares":
            return
        if (crossed := _crossed(inputs)) is not None:
            self.crossed[mark_of(node)] = crossed

    def reduced(self, inputs: Sequence[Any]) -> None:
        """An operation of PyTorch's made one number of these; its difference is made within it."""
        crossed = _crossed(inputs) if len(self.within) < CALLS else None
        if crossed is not None:
            place = current_origin()
            self.within[id(place)] = place, crossed

    # ---- modes

    def entering(self, module: Any) -> None:
        if type(module).__name__.startswith(SWITCHING):
            outer = self.modules.running[0] if self.modules.running else module
            self.switched[id(module)] = ref(module), ref(outer)

    def stepping(self, optimizer: Any) -> None:
        doubt = self.rested.pop(id(self.last), None)
        if doubt is not None and all(doubt.call is not one.call or one.kind != "resting"
                                     for one in self.doubts):  # fmt: skip
            self.doubts.append(doubt)

    # ---- passes

    def began(self, one: Pass) -> None:
        call = self.last = one.origin
        if self.switched:
            modules = [known() for pair in self.switched.values() for known in pair]
            if any(module is not None and module.training for module in modules):
                self.trained.add(id(call))
            elif id(call) in self.trained and not one.captures:
                self.rested.setdefault(id(call), Doubt("resting", call, call, number=one.number))
        if id(call) not in self.known and len(self.known) < CALLS:
            self.known[id(call)] = call
            for root in one.roots:
                if root.grad_fn is not None and root.numel() == 1:
                    self._look(call, root.grad_fn)

    def _look(self, call: Any, root: Any) -> None:
        """The nodes between a loss and the network. What an operation of PyTorch made on its way
        stands where the operation does."""
        pending, places = [root], {id(root): origin_of(root)}
        for node in pending:
            row, place = row_of(node), places[id(node)]
            if row is None:
                continue
            if row.role:
                self._compared(call, node, row, place)
            if row.role not in ("", "normalises") or row.acts in FOLLOWED:
                for edge in edges_of(node):
                    if edge is not None and id(edge) not in places and len(pending) < NEAR:
                        places[id(edge)] = origin_of(edge) or place
                        pending.append(edge)

    def _compared(self, call: Any, node: Any, row: Any, place: Any) -> None:
        edges = edges_of(node)
        if row.role == "compares":
            within = self.within.get(id(place), (None, ((), 1)))[1]
            shapes, target = self.crossed.get(mark_of(node), within)
            if shapes or any(_acts(edge) == "spreads" and origin_of(edge) in (None, place)
                             for edge in edges):  # fmt: skip
                self.doubts.append(Doubt("broadcast", call, place, shapes=shapes, number=target))
            return
        inner = _unshaped(edges[0])
        if row.role == "of scores" and _is_normalised(inner):
            word = "softmax" if row.acts == "along" else "sigmoid"
            self.doubts.append(Doubt("twice", call, place, origin_of(inner), word))
        elif row.role == "of logarithms" and inner is not None:
            given = array_of(saved_under(node, saved_by(node), "self"))
            if given is not None and numpy.max(given, initial=0) > ROUNDING:
                word = "softmax" if _is_normalised(inner) else ""
                self.doubts.append(Doubt("not-log", call, place, origin_of(inner), word))
            elif given is not None and given.ndim > 1:
                self._along(call, place, edges[0], given.ndim)

    def _along(self, call: Any, place: Any, node: Any, dimensions: int) -> None:
        """The loss reads classes along dimension 1: is that what was normalised?"""
        for _ in range(BEFORE_LOG):  # log(p + eps)
            if _acts(node) == "pointwise" and not _is_normalised(node):
                node = next((edge for edge in edges_of(node) if edge is not None), None)
        if not _is_normalised(node) or row_of(node).acts != "along":
            return
        dim = saved_under(node, saved_by(node), "dim")
        if isinstance(dim, int) and dim % dimensions != 1:
            origin, number = origin_of(node), dim % dimensions
            self.doubts.append(Doubt("dimension", call, place, origin, number=number))


def _crossed(inputs: Sequence[Any]) -> Crossed | None:
    """The shapes of two tensors where each element of one meets all of the other."""
    one, other = (tuple(getattr(value, "shape", ())) for value in inputs[:2])
    if len(one) != len(other) and squeezed(one) == squeezed(other) != ():
        if prod(together(one, other)) > prod(one) == prod(other):
            return (one, other), 0 if inputs[1].requires_grad else 1
    return None


def _acts(node: Any) -> str:
    row = None if node is None else row_of(node)
    return "" if row is None else str(row.acts)


def _is_normalised(node: Any) -> bool:
    row = None if node is None else row_of(node)
    return row is not None and row.role == "normalises"


def _unshaped(node: Any) -> Any:
    """The node that made what others only gave another shape."""
    while _acts(node) == "moves" and len(edges_of(node)) == 1:
        node = edges_of(node)[0]
    return node


def together(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """What two shapes broadcast to."""
    most = max(len(one), len(other))
    padded = ((1,) * (most - len(shape)) + shape for shape in (one, other))
    return tuple(map(max, zip(*padded, strict=True)))


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the dimensions of one element."""
    return tuple(size for size in shape if size != 1)
