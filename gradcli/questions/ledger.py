"""Questions: the ledger of a run: gradients by name, stale ones, what passes freed or keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..pipeline.request import Ran
from ..recording.buffers import Heaps
from ..recording.collect import Collected
from ..recording.facts.ledger import BufferFact, LedgerFact, StaleFact
from ..recording.sides import data_of, kept_by, origin_of
from .graph import collected, leaves_of, module_tensors

Names = Callable[[Any], "tuple[str, int | None]"]
NAMELESS = "(a tensor without a name)"


def ledger(ran: Ran, found: Collected, *, full: bool = False) -> LedgerFact:
    """All facts about `.grad` and about buffers; `full` asks for numbers, not for texts.

    Tensors come in the order of the table, whatever the order in which a pass came to them.
    """
    book, passes = ran.recording.ledger, ran.recording.buffers.facts()
    names = tensor_names(ran, found)
    kept = ran.recording.ends.any_kept
    rows = {fact.name: place for place, fact in enumerate(found.tensors)}
    accounts = sorted(book.facts(names, full=full), key=lambda fact: rows.get(fact.name, len(rows)))
    return LedgerFact(tuple(accounts), book.stale(names), passes, _alive(found) if kept else ())


def stale_gradients(ran: Ran) -> tuple[StaleFact, ...]:
    """Gradients that grew although their tensor had changed since, in a run that was watched."""
    book = ran.recording.ledger
    if ran.outcome is None or not book.is_stale:
        return ()
    return book.stale(tensor_names(ran, collected(ran.outcome, texts=False)))


def tensor_names(ran: Ran, found: Collected) -> Names:
    """What a tensor is called at the end, else what it was called when a name was bound to it."""
    known = None

    def name_of(tensor: Any) -> tuple[str, int | None]:
        nonlocal known
        if known is None:  # in most runs nobody asks
            known = _called(ran, found)
        return known.get(id(tensor), (NAMELESS, None))

    return name_of


def _called(ran: Ran, found: Collected) -> dict[int, tuple[str, int | None]]:
    """The names and lines of all tensors, by their identity."""
    leaves = [] if ran.outcome is None else leaves_of(ran.outcome.program, ran.recording)
    known = {id(one.tensor): (one.name, one.line) for one in leaves}
    pairs = list(zip(found.tensors, found.held, strict=True))
    pairs.sort(key=lambda pair: "[" in pair[0].name)  # a name of its own wins
    for passing in (True, False):  # a loop's name loses against that of a parameter
        if not passing and ran.outcome is not None:
            reached = ran.recording.names.reached(ran.outcome.bindings)
            inner = module_tensors(reached, ran.recording)
            known.update((id(one.tensor), (one.name, one.line)) for one in reversed(inner))
        for fact, tensor in reversed(pairs):
            if fact.passing == passing:
                known[id(tensor)] = fact.name, fact.line
    return known


def kept_bytes(found: Collected) -> int:
    """What all nodes keep for backward."""
    heaps = Heaps()
    for node in found.alive:
        heaps.put(None, kept_by(node))
    return heaps.bytes


def _alive(found: Collected) -> tuple[BufferFact, ...]:
    """What the graph keeps beyond what the names hold anyway, line by line."""
    held = Heaps()
    for tensor in found.held:
        held.put(None, (("", data_of(tensor)),))
    heaps = Heaps()
    heaps.seen = held.seen
    for node in found.alive:
        kept = kept_by(node)
        if kept:
            heaps.put(origin_of(node), kept)
    return heaps.facts()
