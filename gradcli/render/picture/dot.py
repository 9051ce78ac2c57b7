"""Render: a picture for Graphviz: the same boxes, wires and words; `dot` finds places of its own,
`neato -n2` takes ours."""

from __future__ import annotations

from collections.abc import Iterator

from ..escape import Terminal
from . import style
from .geometry import Drawn, Picture, number
from .scene import Box, Wire

SHAPES = {
    "leaf": ("leaf", 'shape=box, style="rounded,filled"'),
    "again": ("leaf", 'shape=box, style="rounded,filled,dashed"'),
    "result": ("result", 'shape=box, style="filled,bold"'),
    "fold": ("fold", 'shape=box3d, style="filled,dashed"'),
    "inner": ("inner", "shape=box, style=filled"),
}
LINES = {"zero": "dashed", "none": "dotted", "bad": "bold", "": "solid"}


def dot(picture: Picture, theme: str = "auto") -> Iterator[Terminal]:
    """The file."""
    scene, colours = picture.scene, style.DARK if theme == "dark" else style.LIGHT
    yield Terminal(
        f"digraph {_quoted(scene.title)} {{\n"
        f'  rankdir={"LR" if picture.sideways else "TB"}; bgcolor="{colours["page"]}";\n'
        f"  label={_quoted(_lines([scene.title, *(row.text for row in scene.notes)]))};\n"
        f'  fontname=monospace; fontsize=10; fontcolor="{colours["text"]}"; labelloc=t;\n'
        f'  node [fontname=monospace, fontsize=9, fontcolor="{colours["text"]}", fixedsize=true];\n'
        "  edge [fontname=monospace, fontsize=8, dir=back];\n"
    )
    for drawn in picture.boxes:
        yield Terminal(_node(drawn, picture.height, colours))
    for strand in picture.wires:
        yield Terminal(_edge(strand.wire, colours))
    yield Terminal("}\n")


def _node(drawn: Drawn, height: float, colours: dict[str, str]) -> str:
    box = drawn.box
    kind, shape = SHAPES[box.kind]
    edge = colours["bad"] if "bad" in box.marks else colours.get(f"{kind}-edge", colours["edge"])
    x, y = (drawn.x + drawn.width / 2) * 0.75, (height - drawn.y - drawn.height / 2) * 0.75
    label = _lines([row.text for row in box.rows])
    return (
        f"  {box.key.replace('-', '_')} [label={_quoted(label)}, {shape}, "
        f'fillcolor="{colours[kind]}", color="{edge}", tooltip={_quoted(_plain(box.title))}, '
        f'pos="{number(x)},{number(y)}", width={drawn.width / 96:.3f}, '
        f"height={drawn.height / 96:.3f}{_about(box)}];\n"
    )


def _about(box: Box) -> str:
    """What the box stands for, as a comment for programs."""
    if box.kind == "fold":
        return f', comment="{len(box.members)} nodes, {box.times} times"'
    return f', comment="node {box.node}"'


def _edge(wire: Wire, colours: dict[str, str]) -> str:
    colour = colours["minus" if wire.negative else "plus"]
    if wire.kind:
        colour = colours["bad" if wire.kind == "bad" else "zero"]
    label = _quoted(_lines(list(wire.rows))) if wire.rows else '""'
    width = number(1 + 2 * wire.weight)
    return (
        f"  {wire.source.replace('-', '_')} -> {wire.target.replace('-', '_')} [label={label}, "
        f'style={LINES[wire.kind]}, color="{colour}", fontcolor="{colour}", penwidth={width}];\n'
    )


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\")


def _lines(texts: list[str]) -> str:
    """Lines that begin at the left."""
    return "".join(f" {_plain(text)}\\l" for text in texts)


def _quoted(text: str) -> str:
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"'
