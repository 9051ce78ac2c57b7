"""Questions: which parts of the data flow a long run drops.

What is alive keeps what it came from, as far as that is near: the step that made it, those behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import getrefcount
from typing import TYPE_CHECKING

from .values import Step

if TYPE_CHECKING:
    from .flow import Flow

ROOM = 50_000  # steps that may lie between two looks
BEHIND = 10_000  # steps behind what is alive
OURS = 2  # references to a number that only the flow holds: its own, and the question's
GONE = Step(None, None, -1, (), (), "", False, None, True, 0, None, None)  # instead of a value


def forget(flow: Flow, spans: Iterable[tuple[int, int]]) -> None:
    """Gives up all steps but those in these spans, and those behind values that are alive."""
    values = flow.values
    kept = {number for span in spans for number in range(*span)}
    kept |= _behind(flow, kept)
    for number in flow.numbers():
        if number not in kept:
            values[number] = GONE
    flow.unset = {number for number in flow.unset if values[number] is not GONE}
    flow.look()
    _sweep(flow)


def _behind(flow: Flow, kept: set[int]) -> set[int]:
    """The steps that made what is alive, and the nearest ones behind them."""
    found: dict[int, None] = {}
    met: set[int] = set()  # tensors
    for number in flow.numbers():
        tensor = flow.alive(number)
        if tensor is not None:
            if id(tensor) not in met or not _is_history(flow, number):
                found[number] = None
            met.add(id(tensor))
    found.update((number, None) for number in _numbers(flow) if flow.step(number) is not None)
    pending = [number for number in found if number not in kept][::-1]  # the latest come first
    seen, most = set(pending), len(pending) + BEHIND
    for number in pending:
        step = flow.value(number)
        for source in (*step.live, *step.dead):
            if source in kept or source in seen or flow.step(source) is None:
                continue
            if len(seen) < most and not _is_history(flow, source):
                seen.add(source)
                pending.append(source)
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
    return known is not None and known != number


def _sweep(flow: Flow) -> None:
    """What is dead, or nothing is known of any more, has no entry."""
    values = flow.values
    flow.known = {key: one for key, one in flow.known.items() if flow.alive(one) is not None}
    flow.aliases = {key: one for key, one in flow.aliases.items() if one[0]() is not None}
    lists = flow.whole.lists
    flow.whole.lists = {key: one for key, one in lists.items() if values[one[1]] is not GONE}
    flow.floats = {key: one for key, one in flow.floats.items() if values[one[1]] is not GONE}
    shadow = {name: one for name, one in flow.shadow.items() if one is not None}
    flow.shadow = {name: one for name, one in shadow.items() if values[one] is not GONE}
    flow.nodes.drop(lambda number: values[number] is GONE)
