"""Recording: facts of the ledger: what was added to gradients, saved tensors that were freed."""

from __future__ import annotations

from ...named import NamedTuple
from .basic import Nested, Spread


class EntryFact(NamedTuple):
    """Something that happened to a `.grad`.

    The kinds: "added" by a backward call, "zeroed", "cleared" (set to None), "assigned",
    "changed" (in place, and not to zeros). `amount` is what was added or assigned, `after` what
    `.grad` is from then on, as PyTorch prints them; None where it is too large to be kept. Their
    ranges are known of several numbers.
    """

    kind: str
    line: int | None
    amount: str | None = None
    after: str | None = None
    amount_value: Nested | None = None
    after_value: Nested | None = None
    amount_range: Spread | None = None
    after_range: Spread | None = None


class MarkFact(NamedTuple):
    """What happened to a `.grad` (the kind of an entry), and on which line."""

    kind: str
    line: int | None


class StaleFact(NamedTuple):
    """A gradient that was added to after the tensor had changed, without a reset in between.

    `first` is the line of the backward call before the change, `update` the line of the change,
    `again` the line of the backward call behind it; all that happened `times` times.
    """

    name: str
    first: int | None
    update: int | None
    again: int | None
    times: int = 1


class AccountFact(NamedTuple):
    """The history of one tensor's `.grad`; of very many entries the first and the last.

    `marks` are of all entries, in their order, unless there are too many.
    """

    name: str
    line: int | None
    is_leaf: bool
    entries: tuple[EntryFact, ...]
    total: int
    left_out: int = 0
    marks: tuple[MarkFact, ...] = ()

    @property
    def is_eventful(self) -> bool:
        """Whether more happened than that one backward call set it."""
        return self.total > 1


class BufferFact(NamedTuple):
    """What the nodes of one line had saved: how many nodes, which names, how many bytes."""

    line: int | None
    nodes: int
    names: tuple[str, ...]
    bytes: int


class PassFact(NamedTuple):
    """A pass over the graph: what it freed or, where it retained the graph, keeps alive.

    `captured` tells autograd.grad, which answers gradients, from backward, which stores them.
    `nodes` ran, `freed` of them released saved tensors; `bytes` is what all of them had saved.
    """

    line: int | None
    retained: bool
    created: bool
    captured: bool
    failed: bool
    nodes: int
    freed: int
    bytes: int
    buffers: tuple[BufferFact, ...] = ()


class LedgerFact(NamedTuple):
    """All of it: gradients, stale ones, passes; `alive` are the buffers at the end, by line."""

    accounts: tuple[AccountFact, ...] = ()
    stale: tuple[StaleFact, ...] = ()
    passes: tuple[PassFact, ...] = ()
    alive: tuple[BufferFact, ...] = ()
