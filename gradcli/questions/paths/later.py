"""Questions: names that leaves got after the pass that `paths` follows.

A second run stops behind that pass, where the name that a function's result gets is not bound yet.
Both runs have the same graph.
"""

from __future__ import annotations

from typing import Any

from ...pipeline.request import Ran
from ...recording.below import leaves_below
from ...recording.passes import Pass
from ..shown_pass import root_nodes
from .labels import Labels
from .names import Naming


def later_names(ran: Ran, one: Pass) -> tuple[tuple[str, int], ...]:
    """The global names that leaves of a pass have at the end, and the how many-th leaf it was."""
    places = {id(leaf): place for place, leaf in enumerate(_leaves(one))}
    return tuple(
        (spot.name, places[id(spot.tensor)])
        for spot in Labels(ran).spots
        if spot.scope is None and id(spot.tensor) in places
    )


def give(ran: Ran, one: Pass, names: tuple[tuple[str, int], ...]) -> None:
    """Gives the leaves of the same pass of another run these names."""
    naming, leaves = ran.recording.find(Naming), _leaves(one)
    if naming is None:
        return
    known = set(naming.histories)
    for name, place in names:
        if (None, name) not in known and place < len(leaves):
            naming.bound(name, leaves[place])


def _leaves(one: Pass) -> list[Any]:
    """The leaves below the roots of a pass, in the order of its edges."""
    return leaves_below(node for node, _ in root_nodes(one))
