"""Questions: which parts of the data flow a long run drops.

What is alive keeps what it came from, as far as that is near: the step that made it, those behind.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .flow import Flow
    from .passes import Pass

ROOM = 50_000  # steps that may lie between two looks
BEHIND = 10_000  # steps behind what is alive
OURS = 2  # references to a number that only the flow holds: its own, and the question's
GONE = (None, False, None)  # instead of a value's facts


def forget(flow: Flow, passes: Sequence[Pass], spans: Iterable[tuple[int, int]]) -> None:
    """Gives up all steps but those in these spans, and those behind values that are alive."""
    steps, values = flow.steps, flow.values
    kept = {place for span in spans for place in range(*span)}
    kept |= _behind(flow, kept)
    places = sorted(kept)
    for place, step in enumerate(steps):
        if place not in kept and values[step.out][2] == place:
            values[step.out] = GONE
    flow.steps = [steps[place] for place in places]
    for place, step in enumerate(flow.steps):
        tensor, required, before = values[step.out]
        if before == places[place]:
            values[step.out] = (tensor, required, place)

    def now(place: int) -> int:
        return bisect_left(places, place)

    flow.unset = {number: now(place) for number, place in flow.unset.items()
                  if values[number] is not GONE}  # fmt: skip
    flow.marks.all = [mark._replace(steps=now(mark.steps)) for mark in flow.marks.all]
    for one in passes:
        one.since, one.step = now(one.since), now(one.step)
    _sweep(flow)


def _behind(flow: Flow, kept: set[int]) -> set[int]:
    """The steps that made what is alive, and the nearest ones behind them."""
    found: dict[int, None] = {}
    met: set[int] = set()  # tensors
    for place, step in enumerate(flow.steps):
        tensor = flow.alive(step.out)
        if tensor is not None:
            if id(tensor) not in met or not _is_history(flow, step.out):
                found[place] = None
            met.add(id(tensor))
    for number in _numbers(flow):
        place_of = flow.values[number][2]
        if place_of is not None:
            found[place_of] = None
    pending = [place for place in found if place not in kept][::-1]  # the latest come first
    seen, most = set(pending), len(pending) + BEHIND
    for place in pending:
        step = flow.steps[place]
        for source in (*step.live, *step.dead):
            before = flow.values[source][2]
            if before is None or before in kept or before in seen or _is_history(flow, source):
                continue
            if len(seen) < most:
                seen.add(before)
                pending.append(before)
    return seen


def _numbers(flow: Flow) -> Iterator[int]:
    """The values behind the numbers that the program holds."""
    yield from (number for number in flow.shadow.values() if number is not None)
    for chosen in flow.chosen.values():
        yield from chosen.sources
    for held in (*flow.floats.values(), *flow.whole.lists.values()):
        if getrefcount(held[0]) > OURS:
            yield held[1]


def _is_history(flow: Flow, number: int) -> bool:
    """Whether something in place has replaced a value: what it came from leads nowhere any more."""
    tensor = flow.alive(number)
    known = None if tensor is None else flow.known.get(id(tensor))
    return known is not None and known[1] != number


def _sweep(flow: Flow) -> None:
    """What is dead, or nothing is known of any more, has no entry."""
    values = flow.values
    flow.known = {key: one for key, one in flow.known.items() if one[0]() is not None}
    flow.aliases = {key: one for key, one in flow.aliases.items() if one[0]() is not None}
    lists = flow.whole.lists
    flow.whole.lists = {key: one for key, one in lists.items() if values[one[1]] is not GONE}
    flow.floats = {key: one for key, one in flow.floats.items() if values[one[1]] is not GONE}
    shadow = {name: one for name, one in flow.shadow.items() if one is not None}
    flow.shadow = {name: one for name, one in shadow.items() if values[one] is not GONE}
    flow.nodes.drop(lambda number: values[number] is GONE)
