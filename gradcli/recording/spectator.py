"""Recording: who observes a run: one protocol for the engine and the program."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

from ..engine.graph.observer import EVENTS, Observer, OfNodes

if TYPE_CHECKING:
    from .passes import Pass


class Spectator(Observer):
    """Derive from it and override what is of interest, of the engine's events too.

    A run needs nothing else of a spectator, and pays for no event without a listener.
    """

    __slots__ = ()

    # The only global names that it wants to hear of; None where that may be any.
    wished: Container[str] | None = None
    # Whether it has to hear of nodes at once: of those that an operation makes on its way when they
    # are made, of each before it runs. Else PyTorch's engine captures what it computes in a pass.
    is_prompt = False

    def begin(self, machine: Any) -> None:
        """The program is about to run; its inputs are bound, and its compiler may be replaced."""

    def bound(self, name: str, value: Any) -> None:
        """A global name was bound."""

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A name of a function was bound."""

    def began(self, one: Pass) -> None:
        """A pass began, and `recording.passes` has noted how."""

    def over(self, one: Pass, freed: list[Any]) -> None:
        """It has ended; `freed` are the nodes whose saved tensors it released."""

    def around(self, observer: Observer) -> Observer:
        """The observer of the engine, in place of the one that notifies all spectators."""
        return observer

    def text_of(self, file: str) -> str | None:
        """The text of an option that an error is in, by the name that the error gives it."""
        return None


ONE_OF = {"gathered": "accumulated", "filled": "stored"}


class Several(Observer):
    """An observer of the engine that notifies several spectators."""

    def __init__(self, spectators: tuple[Spectator, ...]) -> None:
        self.spectators = spectators
        for event in EVENTS:
            told = listeners(spectators, event)
            if told:
                setattr(self, event, together(told, event))

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        each = [one.of_nodes(at_once=at_once) for one in self.spectators]
        hearing = [told for told in each if told.arrived]
        return OfNodes(
            [tell for told in each for tell in told.arrived],
            [tell for told in each for tell in told.ran],
            [tell for told in each for tell in told.applied],
            [tell for told in each for tell in told.swept],
            any(told.hands for told in each),
            all(told.is_free for told in each),
            hearing[0].heard if len(hearing) == 1 else None,
        )


def listeners(spectators: tuple[Spectator, ...], event: str) -> list[Callable[..., Any]]:
    """The methods of those that override an event, or the one that it tells of many times."""
    plain = [(name, getattr(Spectator, name)) for name in (event, ONE_OF.get(event, event))]
    return [getattr(one, event) for one in spectators
            if any(getattr(type(one), name) is not method for name, method in plain)]  # fmt: skip


def observer_of(spectators: tuple[Spectator, ...]) -> Observer | None:
    """The observer for the engine: none, one spectator, or several."""
    watching = tuple(one for one in spectators if any(listeners((one,), name) for name in EVENTS))
    if len(watching) < 2:
        return watching[0] if watching else None
    return Several(watching)


def together(told: list[Callable[..., Any]], event: str) -> Callable[..., Any] | None:
    """One call for all who are told of an event; None where there is no observer."""
    if len(told) < 2:
        return told[0] if told else None
    count = getattr(Spectator, event).__code__.co_argcount - 1  # of the facts behind `self`

    def tell_one(fact: Any) -> None:
        for one in told:
            one(fact)

    def tell_two(fact: Any, other: Any) -> None:
        for one in told:
            one(fact, other)

    def tell(*facts: Any) -> None:
        for one in told:
            one(*facts)

    return {1: tell_one, 2: tell_two}.get(count, tell)
