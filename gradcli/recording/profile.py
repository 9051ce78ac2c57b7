"""Recording: a stopwatch that goes from line to line of a running program, forward and backward.

Whoever runs the program says when a line is entered and left; the engine tells as to its observer
what is made and which node works. Time that telling takes is nobody's.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

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

    __slots__ = ("accounts", "current", "since")

    def __init__(self) -> None:
        self.accounts: dict[tuple[int, int], Account] = {}
        self.current = Account()  # what belongs to no line: reading, checking, compiling
        self.since = perf_counter_ns()

    def account(self, line: int, way: int) -> Account:
        """The account of a line, opened when it is asked for first."""
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


class Profile(Spectator):
    """Watches while a program is timed; another spectator may listen behind it."""

    __slots__ = ("watch", "inner", "calls")

    def __init__(self, inner: Spectator | None) -> None:
        self.watch = Stopwatch()
        self.inner = Spectator() if inner is None else inner
        self.calls: list[Account] = []  # the accounts that passes in progress interrupted

    def _told(self, name: str, *facts: Any) -> None:
        """Hands on what the engine told, on nobody's time."""
        self.watch.pause()
        getattr(self.inner, name)(*facts)
        self.watch.since = perf_counter_ns()

    # ---- the program

    def made(self, tensor: Any) -> None:
        """A result: its bytes are the line's, unless they are another tensor's."""
        if tensor is not None and tensor._base is None and not tensor._version:
            self.watch.current.bytes += tensor.numel() * tensor.element_size()
        self._told("made", tensor)

    def changed(self, tensor: Any) -> None:
        """A tensor was given new values in place."""
        self._told("changed", tensor)

    def assigned(self, tensor: Any, value: Any) -> None:
        """A .grad was assigned."""
        self._told("assigned", tensor, value)

    def registered(self, number: int, hook: Any) -> None:
        """A hook was registered."""
        self._told("registered", number, hook)

    def parameter(self, tensor: Any) -> None:
        """A parameter was made."""
        self._told("parameter", tensor)

    def entering(self, module: Any) -> None:
        """A module is called."""
        self._told("entering", module)

    def leaving(self, module: Any) -> None:
        """The call has ended."""
        self._told("leaving", module)

    # ---- a pass over the graph

    def started(self, *facts: Any) -> None:
        """A pass begins: the line that asked for it is interrupted by the nodes' lines."""
        self.calls.append(self.watch.current)
        self._told("started", *facts)

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """A node is about to run: on the account of the line that made it."""
        line = getattr(origin_of(node), "lineno", None)
        if line is not None:
            self.watch.switch(self.watch.account(line, BACKWARD))
        self._told("arrived", node, grads)

    def applied(self, node: Any, grads: tuple[Any, ...], results: Any) -> None:
        """A node has run: what it hands on are its line's bytes."""
        for value in results:
            if value is not None:
                self.watch.current.bytes += int(getattr(value, "nbytes", SCALAR))
        self._told("applied", node, grads, results)

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A gradient is about to be stored."""
        self._told("accumulated", variable, grad)

    def stored(self, variable: Any) -> None:
        """It was stored."""
        self._told("stored", variable)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A gradient that was asked for."""
        self._told("captured", node, place, grad)

    def hooking(self, *facts: Any) -> None:
        """A hook is about to run."""
        self._told("hooking", *facts)

    def hooked(self, *facts: Any) -> None:
        """A hook has run."""
        self._told("hooked", *facts)

    def walked(self, freed: list[Any], keep: bool, create_graph: bool) -> None:
        """The pass has ended."""
        self.watch.switch(self.calls.pop())
        self._told("walked", freed, keep, create_graph)

    def failed(self, freed: list[Any]) -> None:
        """The pass has ended in an error."""
        self.watch.switch(self.calls.pop())
        self._told("failed", freed)
