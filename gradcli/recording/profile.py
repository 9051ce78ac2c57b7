"""Recording: a stopwatch that moves from line to line of a running program.

The interpreter says when a line is entered and left; the engine tells as to its observer
what is made and which node works. The time of reporting is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from ..engine.graph.observer import EVENTS, Observer
from ..engine.schema.origin import line_of
from .facts.profile import LineFact, ProfileFact
from .sides import origin_of
from .spectator import Spectator

FORWARD, BACKWARD = 0, 1
SCALAR = 4  # bytes of a gradient that the engine holds as a number


class Account:
    """What one line cost in one direction."""

    __slots__ = ("times", "nanoseconds", "bytes", "first")

    def __init__(self) -> None:
        self.times = self.nanoseconds = self.bytes = 0
        self.first = 0  # the moment at which it was opened or ran first


class Stopwatch:
    """One account runs at a time."""

    __slots__ = ("accounts", "calls", "current", "since")

    def __init__(self) -> None:
        self.accounts: dict[tuple[int, int], Account] = {}
        self.calls: list[Account] = []  # the accounts that passes in progress interrupted
        self.current = Account()  # what belongs to no line: reading, checking, compiling
        self.since = perf_counter_ns()

    def account(self, line: int, way: int) -> Account:
        """The account of a line, opened at first use."""
        key = (line, way)
        found = self.accounts.get(key)
        if found is None:
            found = self.accounts[key] = Account()
            found.first = self.since if way is BACKWARD else 0
        return found

    def switch(self, account: Account) -> Account:
        """From now on this account runs; the one that ran is answered."""
        before, now = self.current, perf_counter_ns()
        before.nanoseconds += now - self.since
        self.current, self.since = account, now
        return before

    def pause(self) -> None:
        """What has passed so far belongs to the account that runs."""
        now = perf_counter_ns()
        self.current.nanoseconds += now - self.since
        self.since = now

    def timed(self, line: int, part: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A piece of a program that runs on its line's account; what it calls has others."""
        account, switch = self.account(line, FORWARD), self.switch

        def run(frame: Any) -> Any:
            before = switch(account)
            if not account.times:
                account.first = self.since
            account.times += 1
            try:
                return part(frame)
            finally:
                switch(before)

        return run

    def facts(self, text_of: Callable[[int], str]) -> ProfileFact:
        """What each line cost, in the order in which lines ran first."""
        rows = []
        for line in {line for line, _ in self.accounts}:
            forward, backward = (self.accounts.get((line, way), Account()) for way in (0, 1))
            if forward.times or backward.nanoseconds:
                fact = LineFact(
                    line, text_of(line), forward.times, forward.nanoseconds / 1e9, forward.bytes,
                    backward.nanoseconds / 1e9, backward.bytes,
                )  # fmt: skip
                rows.append((forward.first or backward.first, line, fact))
        return ProfileFact(tuple(fact for _, _, fact in sorted(rows, key=lambda row: row[:2])))


class Timing(Observer):
    """Adds time and bytes to the accounts of lines, without the time of an inner observer."""

    def __init__(self, watch: Stopwatch, inner: Observer) -> None:
        self.watch = watch
        own: dict[str, Callable[..., None]] = {
            "made": self._count_bytes, "started": self._started, "arrived": self._arrived,
            "applied": self._applied, "walked": self._ended, "failed": self._ended,
        }  # fmt: skip
        for event in EVENTS:
            setattr(self, event, self._timed(own.get(event), getattr(inner, event)))

    def _timed(
        self, own: Callable[..., None] | None, inner: Callable[..., None]
    ) -> Callable[..., None]:
        watch = self.watch

        def tell(*facts: Any) -> None:
            if own is not None:
                own(*facts)
            watch.pause()
            inner(*facts)
            watch.since = perf_counter_ns()

        return tell

    def _count_bytes(self, tensor: Any) -> None:
        """A result: its bytes are the line's, unless they are another tensor's."""
        if tensor is not None and tensor._base is None and not tensor._version:
            self.watch.current.bytes += tensor.numel() * tensor.element_size()

    def _started(self, *facts: Any) -> None:
        """A pass begins: the line that asked for it is interrupted by the nodes' lines."""
        self.watch.calls.append(self.watch.current)

    def _arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """A node is about to run: on the account of the line that made it."""
        line = line_of(origin_of(node))
        if line is not None:
            self.watch.switch(self.watch.account(line, BACKWARD))

    def _applied(self, node: Any, grads: tuple[Any, ...], results: Any) -> None:
        """A node has run: what it passes on are its line's bytes."""
        for value in results:
            if value is not None:
                self.watch.current.bytes += int(getattr(value, "nbytes", SCALAR))

    def _ended(self, *facts: Any) -> None:
        """The pass has ended."""
        self.watch.switch(self.watch.calls.pop())


class Profile(Spectator):
    """Watches while a program is timed."""

    def __init__(self) -> None:
        self.watch = Stopwatch()

    def around(self, observer: Observer) -> Observer:
        return Timing(self.watch, observer)
