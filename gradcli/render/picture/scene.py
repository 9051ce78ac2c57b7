"""Render: what a picture shows: boxes, wires and words, before they have positions."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A line of words in a box; `style` is title, kind, value, grad, bad, note, constant or open,
    and `of_grad` is the text once the pass has reached it."""

    text: str
    style: str
    of_grad: bool = False


class Box(NamedTuple):
    """A thing that is drawn. `kind` is result, inner, leaf, again (a shared leaf once more) or
    fold; `key` is what wires call it.

    `node` is its number in the graph (of a fold -1), `members` are the nodes of a fold, which
    stands for `times` turns of them. `title` says everything in full, `lines` are those of the
    program that made it, `closes` is the fold that its row of the style open closes again.
    """

    key: str
    kind: str
    rows: tuple[Row, ...]
    title: str
    node: int = -1
    members: tuple[int, ...] = ()
    times: int = 1
    lines: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()  # none, zero, bad, changed, freed
    closes: str = ""


class Wire(NamedTuple):
    """The way of a gradient from the node that used a value (`target`) to the value (`source`).

    `rows` say incoming · local = passed on, `kind` is "", zero, bad or none (nothing goes here),
    `weight` lies between 0 and 1 and says how large it is. `place` is that of the input among the
    inputs of the node.
    """

    source: str
    target: str
    rows: tuple[str, ...]
    kind: str = ""
    weight: float = 0.3
    negative: bool = False
    title: str = ""
    place: int = 0


class Scene(NamedTuple):
    """A whole picture; boxes stand behind those that they use."""

    title: str
    description: str
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    notes: tuple[Row, ...] = ()
