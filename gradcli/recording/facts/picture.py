"""Recording: the facts of a picture: how nodes were made, and the steps of the pass."""

from __future__ import annotations

from typing import NamedTuple

from .steps import WalkFact


class FrameFact(NamedTuple):
    """A call that was in progress: of a function of the program or of a module, on `line`.

    `name` is the function's, or the path of the module (its class where no name leads to it),
    `kind` the class of the module, empty for functions; `parent` is the number of the call around.
    """

    name: str
    kind: str
    line: int | None
    parent: int | None


class MakingFact(NamedTuple):
    """How a node came about: its place in the order of making, the number of the innermost call
    that made it; leaves have neither. `freed` is the line of the backward call that freed what it
    had saved."""

    order: int | None = None
    frame: int | None = None
    freed: int | None = None


class DetailFact(NamedTuple):
    """What a picture needs beyond the graph: a making for each node, the calls, and of the pass
    that is drawn the steps, whose ids are the nodes' numbers."""

    makings: tuple[MakingFact, ...] = ()
    frames: tuple[FrameFact, ...] = ()
    walk: WalkFact | None = None
