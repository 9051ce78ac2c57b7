"""Render: a picture as SVG: one file with its colours, readable by machines and by screen readers.

Every drawn thing is a group: `data-node` is a node of the JSON, `data-ref` a leaf that is drawn
once more, `data-members` a fold of `data-times` turns. A wire's group says `data-from` (the input)
and `data-to` (the node that used it), by the ids of the boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape as _html

from ..escape import Terminal, line as harmless
from . import style
from .geometry import FOOT, LETTER as LETTER, LINE, PAD, TOP, Drawn, Picture, Strand, curve, number
from .scene import Row

STYLES = {"title": "t", "kind": "k", "value": "v", "grad": "g", "bad": "bad", "note": "n",
          "hint": "n hint", "constant": "c", "open": "o"}  # fmt: skip
THIN, THICK = 1.0, 3.0


def escaped(text: str) -> str:
    """Foreign text within XML: no character that XML lacks, no mark-up."""
    return _html(harmless(text).translate(_NONE), quote=True)


_NONE = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}


def svg(picture: Picture, theme: str = "auto") -> Iterator[Terminal]:
    """The file."""
    yield Terminal('<?xml version="1.0" encoding="UTF-8"?>\n')
    yield from drawing(picture, sheet=style.sheet(theme))
    yield Terminal("\n")


def drawing(
    picture: Picture, *, sheet: str = "", prefix: str = "", steps: Mapping[int, int] | None = None
) -> Iterator[Terminal]:
    """The `svg` element alone. In a page that has several, ids get a prefix, boxes can be reached
    by keyboard, and `steps` says at which step of the pass a node's turn was."""
    scene = picture.scene
    width, height = number(picture.width), number(picture.height)
    title, text = escaped(scene.title), escaped(scene.description)
    yield Terminal(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gradcli" role="img" '
        f'aria-labelledby="{prefix}title {prefix}desc" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">\n'
        f'<title id="{prefix}title">{title}</title>\n<desc id="{prefix}desc">{text}</desc>\n'
    )
    if sheet:
        yield Terminal(f"<style>{sheet}</style>\n")
    yield Terminal(_markers(prefix))
    yield Terminal(f'<rect class="page" width="{width}" height="{height}"/>\n')
    for strand in picture.wires:
        yield Terminal(wire_markup(strand, prefix, sideways=picture.sideways))
    for drawn in picture.boxes:
        yield Terminal(box_markup(drawn, prefix, steps))
    for x, y, row in picture.notes:
        yield Terminal(_text(x, y, row))
    yield Terminal("</svg>")


def _markers(prefix: str) -> str:
    heads = "".join(
        f'<marker id="{prefix}arrow-{kind}" class="a-{kind}" markerUnits="userSpaceOnUse" '
        'markerWidth="11" markerHeight="11" refX="10" refY="5.5" orient="auto-start-reverse">'
        '<path d="M0 .5L11 5.5L0 10.5z"/></marker>'
        for kind in ("plus", "minus", "zero", "bad")
    )
    return f"<defs>{heads}</defs>\n"


def wire_markup(strand: Strand, prefix: str, *, sideways: bool) -> str:
    """The group of a wire."""
    wire = strand.wire
    kind = {"": "minus" if wire.negative else "plus", "none": "nothing"}.get(wire.kind, wire.kind)
    head = "zero" if kind == "nothing" else kind
    width = number(THIN + (THICK - THIN) * wire.weight)
    words = "".join(
        f'<text x="{number(x)}" y="{number(y)}">{escaped(text)}</text>'
        for x, y, text in strand.words
    )
    title = f"<title>{escaped(wire.title)}</title>" if wire.title else ""
    return (
        f'<g class="wire {kind}" data-from="{prefix}{wire.source}" '
        f'data-to="{prefix}{wire.target}">{title}'
        f'<path d="{curve(strand, sideways=sideways)}" stroke-width="{width}" '
        f'marker-start="url(#{prefix}arrow-{head})"/>{words}</g>\n'
    )


def box_markup(drawn: Drawn, prefix: str, steps: Mapping[int, int] | None) -> str:
    """The group of a box."""
    box = drawn.box
    classes = ["box", box.kind, *(f"is{mark}" if mark == "bad" else mark for mark in box.marks)]
    lines = f' data-lines="{" ".join(map(int.__repr__, box.lines))}"' if box.lines else ""
    if box.kind == "fold":
        which = f'data-members="{" ".join(map(str, box.members))}" data-times="{box.times}"'
    else:
        which = f'data-{"ref" if box.kind == "again" else "node"}="{box.node}"'
    if steps is not None:
        last = max((steps.get(node, 0) for node in box.members or (box.node,)), default=0)
        which += f' data-step="{last}"'
        which += ' aria-expanded="false"' if box.kind == "fold" else ""
    body = "".join(_body(drawn))
    return (
        f'<g class="{" ".join(classes)}" id="{prefix}{box.key}" {which}{lines}>'
        f"<title>{escaped(box.title)}</title>{body}</g>\n"
    )


def _body(drawn: Drawn) -> Iterator[str]:
    box, x, y, width, height = drawn
    size = f'width="{number(width)}" height="{number(height)}"'
    round_ = {"leaf": min(16.0, height / 2), "again": min(16.0, height / 2), "fold": 3.0}.get(
        box.kind, 3.0)  # fmt: skip
    if box.kind == "fold":
        yield f'<rect x="{number(x - 4)}" y="{number(y - 4)}" {size} rx="3"/>'
    yield f'<rect class="shape" x="{number(x)}" y="{number(y)}" {size} rx="{number(round_)}"/>'
    for place, row in enumerate(box.rows):
        base = y + TOP + LINE * place - 2
        left = x + PAD
        if row.style == "constant":
            yield (f'<rect class="chip" x="{number(left - 4)}" y="{number(base - 12)}" '
                   f'width="{number(width - 2 * PAD + 8)}" height="15" rx="2"/>')  # fmt: skip
        button = ""
        if row.style == "open":
            button = (f' role="button" tabindex="0" aria-expanded="true" '
                      f'data-closes="{escaped(box.closes)}"')  # fmt: skip
        yield _text(left, base, row, "", button)


def _text(x: float, y: float, row: Row, end: str = "\n", button: str = "") -> str:
    style = f"{STYLES[row.style]} gr" if row.of_grad else STYLES[row.style]
    return (f'<text class="{style}"{button} x="{number(x)}" y="{number(y)}">'
            f"{escaped(row.text)}</text>{end}")  # fmt: skip


__all__ = ["FOOT", "box_markup", "drawing", "escaped", "svg", "wire_markup"]
