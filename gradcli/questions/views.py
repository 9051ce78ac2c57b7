"""Questions: `gradcli trace --views`: bases, offsets, strides, versions, and what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..pipeline.request import Ran
from ..recording.collect import Collected
from ..recording.facts.views import ViewFact, ViewsFact, WriteFact
from ..recording.memory import common_of, counter_of, key_of
from ..recording.writes import Writes
from .graph import place_reader
from .ledger import NAMELESS, Names, tensor_names


def views(ran: Ran, found: Collected) -> ViewsFact | None:
    """What was asked to be heard."""
    writes = ran.recording.find(Writes)
    if writes is None:
        return None
    names = tensor_names(ran, found)
    memory: dict[int, int] = {}
    told = tuple(_views(found, names, memory))
    counters = {names(tensor)[0]: key_of(counter_of(tensor)) for tensor in found.held}
    changes = tuple(_writes(ran, writes, told, memory, names, counters))
    return ViewsFact(told, changes, writes.count, len(writes.entries) - len(changes))


def _views(found: Collected, names: Names, memory: dict[int, int]) -> Iterator[ViewFact]:
    """Each tensor once."""
    called: dict[int, list[str]] = {}
    for fact, tensor in zip(found.tensors, found.held, strict=True):
        called.setdefault(id(tensor), []).append(fact.name)
    seen: set[int] = set()
    for tensor in found.held:
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        first = names(tensor)[0]
        others = tuple(name for name in called[id(tensor)] if name != first)
        base = tensor._base
        number = memory.setdefault(key_of(common_of(tensor)), len(memory))
        version = None if tensor.is_inference() else tensor._version
        yield ViewFact(
            first, others, tuple(tensor.shape), "" if base is None else names(base)[0],
            tensor.storage_offset(), tuple(tensor.stride()), version, number,
        )  # fmt: skip


def _writes(
    ran: Ran, writes: Writes, told: tuple[ViewFact, ...], memory: dict[int, int], names: Names,
    counters: dict[str, int],
) -> Iterator[WriteFact]:  # fmt: skip
    place_of: Any = (lambda origin: None) if ran.program is None else place_reader(ran.program)
    sharing: dict[int, list[str]] = {}
    for fact in sorted(told, key=lambda fact: bool(fact.base)):  # those that are no views first
        sharing.setdefault(fact.memory, []).append(fact.name)
    for entry in writes.entries:
        place = place_of(entry.origin)
        tensor = entry.tensor()
        name = NAMELESS if tensor is None else names(tensor)[0]
        seen = sharing.get(memory.get(entry.memory, -1), [])
        if name == NAMELESS and not seen:
            continue
        if name == NAMELESS:  # x[0] = 5 changes a part of x that has no name
            name = seen[0]
        counted = counters.get(name, entry.counter) == entry.counter
        yield WriteFact(
            name, entry.line, "" if place is None else place.text,
            entry.before if counted else None, entry.after if counted else None,
            tuple(other for other in seen if other != name),
        )  # fmt: skip
