"""Recording: the facts themselves. Only str, int, float, bool, None and tuples of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...named import NamedTuple
from .basic import (
    FEW as FEW,
    Edge as Edge,
    Elsewhere as Elsewhere,
    ErrorFact as ErrorFact,
    EventFact as EventFact,
    LabelFact as LabelFact,
    Nested as Nested,
    Number as Number,
    Place as Place,
    ShownPass as ShownPass,
    Spread as Spread,
    TensorFact as TensorFact,
)
from .profile import ProfileFact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .derivatives import DerivativesFact
    from .ledger import LedgerFact
    from .orders import DerivedFact, HolderFact
    from .picture import DetailFact
    from .seeds import SeedFact
    from .stats import StatsFact
    from .views import ViewsFact


class NodeFact(NamedTuple):
    """A backward node; `next` has one entry for each input, None where no gradient goes."""

    id: int
    name: str
    next: tuple[Edge, ...]
    place: Place | None = None


def nodes_below(nodes: Sequence[NodeFact], roots: Iterable[int]) -> list[int]:
    """The numbers of the nodes that these lead to, and of these themselves, each once."""
    found = dict.fromkeys(roots)
    pending = list(found)
    for number in pending:
        for edge in nodes[number].next:
            if edge is not None and edge[0] not in found:
                found[edge[0]] = None
                pending.append(edge[0])
    return pending


class RootFact(NamedTuple):
    """Where a tree begins: a node's output, by the name that it has or had; `tensor` is its
    number among the tensors."""

    node: int
    output_nr: int
    name: str
    tensor: int | None = None


class FlowFact(NamedTuple):
    """One output of a node in the pass that is drawn: the value that was computed, and the gradient
    that flowed into it. Of a leaf it is the value that the pass used; `later` is the one that it
    has at the end, where that is another one, since line `changed`."""

    node: int
    output_nr: int
    shape: tuple[int, ...]
    text: str | None
    grad_text: str | None
    range: Spread | None = None
    grad_range: Spread | None = None
    value: Nested | None = None
    grad: Nested | None = None
    later: str | None = None
    later_range: Spread | None = None
    changed: int | None = None
    module: str = ""
    name: str = ""  # of a leaf in the pass, of a result in a function
    line: int | None = None  # of a leaf, where it was made
    dtype: str = ""  # nothing where it goes without saying


class PassFact(NamedTuple):
    """A backward pass: which one it is, where it began, what was there and what flowed in it."""

    shown: ShownPass
    roots: tuple[RootFact, ...]
    flows: tuple[FlowFact, ...]
    seeds: tuple[Nested | None, ...] = ()


class SavedFact(NamedTuple):
    """A tensor that a node keeps for backward. `text` is None once it was freed, by the backward
    call on line `freed_by`, and where it was changed in place since."""

    node: int
    name: str
    shape: tuple[int, ...]
    text: str | None
    holder: str | None
    version: int | None
    bytes: int
    freed: bool
    freed_by: int | None = None
    changed: bool = False
    packed: bool = False  # a pack hook of the program holds it


class ConstantFact(NamedTuple):
    """An input of a node into which no gradient goes, by the words of the program."""

    node: int
    edge: int
    text: str
    value: str | None  # as it was when the node was made; None where it was not kept
    shape: tuple[int, ...] = ()
    range: Spread | None = None
    numbers: Nested | None = None
    dtype: str = ""


class BackwardFact(NamedTuple):
    """A backward call of the program."""

    line: int
    retained: bool
    created: bool = False


class EffectFact(NamedTuple):
    """What hooks changed of the gradient of a leaf: as it would be without any, and as it is; None
    where none came."""

    name: str
    without: EffectValue | None
    now: EffectValue | None


class EffectValue(NamedTuple):
    """A gradient: as PyTorch prints it, which of a very large one was not kept, and its range."""

    shape: tuple[int, ...]
    text: str
    range: Spread | None


class GradientFact(NamedTuple):
    """The gradient of the result with respect to one name; without a text where there is none."""

    name: str
    line: int | None
    shape: tuple[int, ...]
    dtype: str
    value: Nested | None
    text: str | None
    reason: str | None = None
    range: Spread | None = None


class Report(NamedTuple):
    """One run of one program."""

    file: str
    device: str
    tensors: tuple[TensorFact, ...] = ()
    nodes: tuple[NodeFact, ...] = ()
    roots: tuple[RootFact, ...] = ()
    flows: tuple[FlowFact, ...] = ()
    saved: tuple[SavedFact, ...] = ()
    saved_bytes: int = 0  # of all of them; memory that several share counts once
    constants: tuple[ConstantFact, ...] = ()
    freed: int = 0
    freeing: tuple[int, ...] = ()  # the lines that did it
    saving: int | None = None
    shown: ShownPass | None = None
    passes: tuple[PassFact, ...] = ()
    backwards: tuple[BackwardFact, ...] = ()
    events: tuple[EventFact, ...] = ()
    left_out: tuple[str, ...] = ()  # of what is listed, in words
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
    missing: tuple[str, ...] = ()
    profile: ProfileFact | None = None
    ledger: LedgerFact | None = None
    detail: DetailFact | None = None
    derived: tuple[DerivedFact, ...] = ()  # the nodes of gradients
    effects: tuple[EffectFact, ...] = ()  # of hooks on leaves
    views: ViewsFact | None = None
    stats: StatsFact | None = None
    holders: tuple[HolderFact, ...] = ()  # the .grad that keep them alive
    elsewhere: tuple[tuple[int, Elsewhere], ...] = ()  # nodes that other files made


class GradReport(NamedTuple):
    """What `gradcli grad` answers: one result, differentiated with respect to names."""

    file: str
    device: str
    of: TensorFact | None
    of_text: str
    gradients: tuple[GradientFact, ...] = ()
    events: tuple[EventFact, ...] = ()
    left_out: tuple[str, ...] = ()  # of what is listed, in words
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
    derivatives: DerivativesFact | None = None
    seeds: tuple[SeedFact, ...] = ()  # of the pass, one for each root
    more_roots: tuple[tuple[TensorFact, str], ...] = ()  # behind the first, which is `of`
    shown: ShownPass | None = None  # whose gradients they are, or behind which they were computed
