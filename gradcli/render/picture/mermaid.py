"""Render: a picture for Mermaid, which finds places of its own: GitHub and others draw it. Boxes
and wires are written in the order that they have in our picture, so theirs mostly has it too."""

from __future__ import annotations

from collections.abc import Iterator

from ..escape import Terminal
from . import style
from .geometry import Picture
from .scene import Box, Wire

MOST_EDGES, MOST_CHARACTERS = 500, 50_000  # beyond these Mermaid draws nothing
WRAPPING = 400  # pixels from which it would break the rows of a box
FRAMES = {
    "leaf": '(["', "again": '(["', "result": '[["', "fold": '{{"', "inner": '["',
}  # fmt: skip
ENDS = {'(["': '"])', '[["': '"]]', '{{"': '"}}', '["': '"]'}
ARROWS = {"": "-->", "zero": "-.->", "none": "-.->", "bad": "==>"}


def fits(picture: Picture) -> bool:
    """Whether Mermaid takes it."""
    characters = sum(map(len, mermaid(picture)))
    return len(picture.wires) < MOST_EDGES and characters < MOST_CHARACTERS


def mermaid(picture: Picture, theme: str = "auto") -> Iterator[Terminal]:
    """The file. Arrows are the gradient's way, so the graph is drawn from the bottom up."""
    scene, colours = picture.scene, style.DARK if theme == "dark" else style.LIGHT
    place = {one.box.key: (-one.x, one.y) if picture.sideways else (-one.y, one.x)
             for one in picture.boxes}  # fmt: skip
    yield Terminal(f"flowchart {'RL' if picture.sideways else 'BT'}\n")
    yield Terminal(f'  %%{{init: {{"flowchart": {{"wrappingWidth": {WRAPPING}}}}}}}%%\n')
    yield Terminal(f"  accTitle: {_escaped(scene.title)}\n")
    for box in sorted(scene.boxes, key=lambda box: place[box.key]):
        yield Terminal(_node(box))
    for wire in sorted(scene.wires, key=lambda w: (place[w.target], place[w.source][1])):
        yield Terminal(_edge(wire))
    for kind in ("leaf", "result", "inner", "fold"):
        edge = colours.get(f"{kind}-edge", colours["edge"])
        yield Terminal(
            f"  classDef {kind} fill:{colours[kind]},stroke:{edge},color:{colours['text']}\n"
        )
    yield Terminal(f"  classDef again fill:{colours['leaf']},stroke:{colours['leaf-edge']},"
                   f"color:{colours['text']},stroke-dasharray:3\n")  # fmt: skip
    for row in scene.notes:
        yield Terminal(f"  %% {_escaped(row.text)}\n")


def _node(box: Box) -> str:
    frame = FRAMES[box.kind]
    words = "<br>".join(_escaped(row.text) for row in box.rows)
    return f"  {_key(box.key)}{frame}{words}{ENDS[frame]}:::{box.kind}\n"


def _edge(wire: Wire) -> str:
    words = "<br>".join(map(_escaped, wire.rows))
    label = f'|"{words}"|' if words else ""
    return f"  {_key(wire.target)} {ARROWS[wire.kind]}{label} {_key(wire.source)}\n"


def _key(key: str) -> str:
    return key.replace("-", "_")


def _escaped(text: str) -> str:
    """Characters that mean something to Mermaid, Markdown or HTML become numbers."""
    return "".join(
        c if c.isalnum() or c in " .,=+-·∘…/⋯–" or ord(c) > 127 else f"#{ord(c)};" for c in text
    )
