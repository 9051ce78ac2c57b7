"""Render: what the signs and words of `gradcli trace` mean. docs/trace.md has the same list."""

from __future__ import annotations

from .. import columns
from .text import Line, Look, cell, pad, width_of, wrap

SIGNS = (
    ("├─ └─", "an input of the node above"),
    ("●", "the next node of a long chain; its other inputs hang below it"),
    ("⋮ 3", "something is folded, and the row says what; --expand 3 shows it"),
    ("see above, see #1", "the node is drawn there; #1 marks the row"),
    ("in ⋮ 3", "the node is drawn there, within the fold"),
    ("NAME = EXPRESSION", "an assignment of the program"),
    ("NAME: EXPRESSION", "the value of the expression, which a name holds in another way"),
    ("EXPRESSION, in net.1", "the node was made in this module, in the call of the expression"),
    ("NAME (also NAME)", "names of one tensor"),
    ("leaf", "a tensor that no operation made: the graph ends there"),
    ("constant", "an input that needs no gradient"),
    ("least…greatest", "the range of more than six elements; one number where all are equal"),
    ("44 % True", "how many elements of a mask are True"),
    ("≈0.1", "all elements are near it, and both ends have no room"),
    ("abs least…greatest", "the range of the magnitudes of complex numbers"),
    ("nan, least…greatest", "some elements are NaN; the range of the others"),
    ("mean, norm", "of all elements of such a value, or of such a gradient; norm is Euclidean"),
    ("2. → -1.", "the value in the pass, and what the name has at the end if there is room"),
    ("an empty grad", "no gradient flowed there in this pass"),
    ("None", "the tensor requires grad, and nothing was stored in its .grad"),
    ("order: forward", "the program itself made the node"),
    ("order: 2, line 6", "a node of a second derivative; the call on line 6 made it"),
    ("?", "the value depends on an input without a value"),
)
LEAST = 20  # columns of a meaning
ASCII = str.maketrans(columns.SIGNS)


def lines(look: Look) -> list[Line]:
    """The list, in two columns; on a screen what means much goes on in its own column."""
    wide = max(width_of(sign) for sign, _ in SIGNS) + 2
    room = max(LEAST, look.width - wide)
    found: list[Line] = []
    for sign, meaning in SIGNS:
        shown = sign if look.unicode else sign.translate(ASCII)
        parts = [meaning] if look.whole else wrap(meaning, room)
        for part in parts:
            found.append((cell(pad(shown, wide), "name"), cell(part)))
            shown = ""
    return found
