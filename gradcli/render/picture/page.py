"""Render: the page: a program beside its pictures, in one file that loads nothing from a network.

Everything is computed before: the pictures with folds closed and open, the steps of each pass and
what they say. The script shows one picture at a time and marks things; without it the first picture
stands there with its program. All but that picture is compressed, in one block that the script
reads.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from ...diagnostics import CELL_MARK, some
from ...recording.facts import FEW, Report
from ...recording.facts.steps import WalkFact
from ..escape import Terminal, block
from ..steps.block import Blocks
from ..text import Look, counted, paint
from . import style
from .drawing import Drawing, DrawOptions
from .geometry import Picture, Rooms, common_rooms, picture
from .scene import Scene
from .svg import drawing as drawn_svg, escaped
from .unfolding import MARK, unfolded

HERE = Path(__file__).parent
TOLD_AT_EACH_END = 30  # steps of a long pass
MOST_TOLD = 120
LOOK = Look(False, True, 44, whole=True)
NUMBERS = 700  # characters of a tensor
ALL_NUMBERS = 20_000  # of all of them in the pass that is shown first; half in all other passes
MOST_BESIDE = 50  # boxes of a picture of another pass
PAPER, TALL = 700, 1.3  # the width of a sheet in pixels, and its height as a multiple of it
MOST_SOURCE = 5000  # lines of a program
MOST_OUTPUT = 8000  # characters that it printed
EMPTY = "Choose a box to read all its numbers."
# docs/pictures.md describes them, too.
SIGNS = (
    ("round, green", "a leaf"),
    ("thick frame, yellow", "a result: the pass starts here"),
    ("dashed round frame", "a leaf that is drawn above already"),
    ("two sheets, ⋯", "a fold: turns of a loop, a call, a module, or operations in between"),
    ("dashed row in a box", "a constant: no gradient goes there"),
    ("incoming · local = passed on", "on a wire; ∘ multiplies element by element"),
    ("width of a wire", "the order of magnitude of the gradient"),
    ("blue, brown", "positive (or of both signs), negative"),
    ("dashed wire", "the gradient is zero"),
    ("dotted wire, no gradient", "nothing was passed on"),
    ("red and thick", "NaN or infinity"),
    ("→ in a value", "the value in the pass and the one at the end"),
    ("▾, underlined", "the first box of a fold that is open; this row closes it"),
)


class _Views(NamedTuple):
    """Pictures of a pass from the most folded to the most open, and which is shown first."""

    pictures: list[Picture]
    first: int
    opens: list[dict[str, Any]]  # for each, the same with one fold open, by the fold's key


def html(
    source: str, reports: Sequence[Report], options: DrawOptions, theme: str = "auto", *,
    sideways: bool = False,
) -> Iterator[Terminal]:  # fmt: skip
    """The file: a report for each pass that can be chosen, the one that is shown first last."""
    script = (HERE / "page.js").read_text("utf-8")
    newest = list(reversed(reports))
    drafts = [_draft(report, options, alone=report is newest[0]) for report in newest]
    rooms = common_rooms([[scene for _, scene in draft.scenes] for draft in drafts])
    passes = [
        _views(draft, rooms[at], alone=not at, sideways=sideways) for at, draft in enumerate(drafts)
    ]
    first = passes[0].pictures[passes[0].first]
    title = first.scene.title
    sheet = style.sheet(theme) + (HERE / "page.css").read_text("utf-8") + _paper(first)
    yield Terminal(
        f'<!doctype html>\n<html lang="en" data-theme="{theme}">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"script-src '{_digest(script)}'; style-src '{_digest(sheet)}'; base-uri 'none'; "
        "form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{sheet}</style>\n</head>\n<body>\n"
    )
    yield Terminal(_header(title, newest, passes))
    yield Terminal(_aside(source, newest[0]))
    tall = " tall" if _is_tall(first) else ""
    yield Terminal(f'<section class="pictures{tall}" aria-label="pictures">\n')
    yield from _figure(0, passes[0].first, newest[0], passes[0], shown=True)
    figures = [
        "".join(_figure(number, at, report, views))
        for number, (report, views) in enumerate(zip(newest, passes, strict=True))
        for at in range(len(views.pictures))
        if (number, at) != (0, passes[0].first)
    ]
    most = [ALL_NUMBERS, *[ALL_NUMBERS // (2 * len(newest) - 2) for _ in newest[1:]]]
    size, packed = _packed({
        "passes": list(map(_data, newest, passes, most)),
        "steps": _woven(list(map(_steps, newest, passes))),
        "figures": _woven([figure.splitlines(keepends=True) for figure in figures]),
    })  # fmt: skip
    yield Terminal(
        f'</section>\n</main>\n<script type="text/plain" id="data" data-size="{size}">{packed}'
        f"</script>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _woven(columns: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The first of each, the second of each: what passes have in common stands together, near
    enough for the compression to find it."""
    return list(zip_longest(*columns))


def _packed(data: dict[str, Any]) -> tuple[int, str]:
    """How many bytes of JSON there are, and these compressed, in letters: the steps and pictures of
    a pass repeat each other, and of one pass those of the next."""
    whole = json.dumps(data, separators=(",", ":")).encode()
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return len(whole), base64.b64encode(deflate.compress(whole) + deflate.flush()).decode()


def _figure(
    number: int, at: int, report: Report, views: _Views, *, shown: bool = False
) -> Iterator[Terminal]:
    """One picture of a pass. All but the one that is shown first wait for the script."""
    prefix = f"p{number}v{at}-" if number else f"v{at}-"
    hidden = "" if shown else " hidden"
    which = f'data-pass="{number}" data-view="{at}" data-prefix="{prefix}"'
    yield Terminal(f"<figure {which}{hidden}>\n")
    ids = prefix if shown else MARK
    yield from drawn_svg(views.pictures[at], prefix=ids, steps=_numbers_of_steps(report))
    yield Terminal("\n</figure>\n")


def _paper(shown: Picture) -> str:
    """The last rule of the sheet: a picture that is too tall for a sheet of paper has a page of its
    size, so that no box is cut in two. The script writes it anew for each picture."""
    return f"@page picture{{size:{int(shown.width) + 8}px {int(shown.height) + 8}px;margin:0}}"


def _is_tall(shown: Picture) -> bool:
    return shown.height > TALL * max(shown.width, PAPER)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class _Draft(NamedTuple):
    """The scenes of a pass, from the most folded to the most open, and which was requested."""

    drawing: Drawing
    scenes: list[tuple[DrawOptions, Scene]]
    first: int


def _draft(report: Report, options: DrawOptions, *, alone: bool) -> _Draft:
    """The scenes that differ; of passes that are not `alone`, those that are not too much for a
    page of several passes."""
    variants = [
        options._replace(fold=fold, expand=expand)
        for fold, expand in ((True, False), (False, False), (False, True))
    ]
    drawing = Drawing(report, live=True)
    found: dict[tuple[object, ...], tuple[DrawOptions, Scene]] = {}
    asked: tuple[object, ...] = ()
    for one in variants:
        scene = drawing.scene(one)
        is_asked = (one.fold, one.expand) == (options.fold, options.expand and not options.fold)
        if not (alone or is_asked) and len(scene.boxes) > MOST_BESIDE:
            continue
        key = tuple((box.key, box.members) for box in scene.boxes)
        found.setdefault(key, (one, scene))
        asked = key if is_asked else asked
    order = sorted(found, key=len)
    return _Draft(drawing, [found[key] for key in order], order.index(asked))


def _views(draft: _Draft, rooms: Rooms, *, alone: bool, sideways: bool) -> _Views:
    """The pictures of a pass. `alone`: each fold opens by itself, as in the pass that is shown
    first; others open all folds at once."""
    views = [picture(scene, sideways=sideways, rooms=rooms) for _, scene in draft.scenes]
    opens = [dict[str, Any]() for _ in views]
    if alone:
        drawing, asked = draft.drawing, [options for options, _ in draft.scenes]
        steps = _numbers_of_steps(drawing.report)
        opens = unfolded(drawing, asked, views, steps, rooms, sideways=sideways)
    return _Views(views, draft.first, opens)


# ---------------------------------------------------------------- the parts of the page


def _header(title: str, reports: list[Report], passes: list[_Views]) -> str:
    options = "".join(
        f'<option value="{at}"{"" if at else " selected"}>{escaped(_pass_name(report))}</option>'
        for at, report in reversed(list(enumerate(reports)))
    )
    choice = f"<label>pass <select>{options}</select></label>" if len(reports) > 1 else ""
    most = max(len(views.pictures) for views in passes)
    buttons = "".join(
        f'<button type="button" data-view="{at}" aria-pressed="false">{name}</button>'
        for at, name in enumerate(_view_names(most))
    )
    folds = f'<span role="group" aria-label="folds">{buttons}</span>' if most > 1 else ""
    return (
        f"<header>\n<h1>{escaped(title)}</h1>\n<form hidden>{choice}"
        '<label>backward <input type="range" min="0" max="0" value="0" step="1"></label>'
        f'<output id="place"></output>{folds}<label>search <input type="search"></label>'
        '<output id="found" aria-live="polite"></output></form>\n</header>\n<main>\n'
    )


def _view_names(count: int) -> list[str]:
    return {1: ["all"], 2: ["folded", "open"]}.get(count, ["folded", "partly open", "open"])


def _pass_name(report: Report) -> str:
    one = report.shown
    if one is None:
        return "the graph"
    at = "" if one.line is None else f", line {one.line}"
    return f"{one.number:,} of {one.of:,}{at}"


def _aside(source: str, report: Report) -> str:
    wrong = report.error.line if report.error is not None else None
    rows = source.split("\n")
    if rows and not rows[-1]:
        rows.pop()
    lines = ""
    for number, row in enumerate(rows[:MOST_SOURCE], 1):
        if row.startswith(CELL_MARK):  # boxes count the lines of a notebook within its cells
            style = ' class=cell value="0"'
        else:
            style = " class=wrong" if number == wrong else ""
        lines += f'<li data-line="{number}" tabindex="-1"{style}>{escaped(row)}</li>\n'
    left = len(rows) - MOST_SOURCE
    more = f"<p>{counted(left, 'more line')}</p>\n" if left > 0 else ""
    error = ""
    if report.error is not None:
        message = escaped_block(f"{report.error.type}: {report.error.message}")
        error = f'<h2>error</h2>\n<pre class="error">{message}</pre>\n'
    signs = "".join(f"<dt>{sign}<dd>{meaning}" for sign, meaning in SIGNS)
    printed = ""
    if report.output:
        printed = f"<h2>printed</h2>\n<pre>{escaped_block(report.output[:MOST_OUTPUT])}</pre>\n"
        if (rest := len(report.output) - MOST_OUTPUT) > 0:
            printed += f"<p>{counted(rest, 'more character')}</p>\n"
    return (
        f'<aside><div class="side">\n<h2>program</h2>\n<ol class="program">\n{lines}</ol>\n{more}'
        f"{error}"
        '<div class="scripted" hidden><h2 class="step">step</h2>\n'
        '<pre class="told" id="told" aria-live="polite"></pre>\n'
        f'<h2>numbers</h2>\n<pre id="numbers" data-empty="{EMPTY}" aria-live="polite">{EMPTY}</pre>'
        f"</div>\n{printed}<details><summary>signs</summary>\n<dl>{signs}</dl></details>\n"
        "</div></aside>\n"
    )


def escaped_block(text: str) -> str:
    """Foreign text of several lines."""
    return "\n".join(escaped(line) for line in block(text).split("\n"))


# ---------------------------------------------------------------- what the script reads


def _numbers_of_steps(report: Report) -> Mapping[int, int]:
    """The step of each node; without a pass nothing waits."""
    walk = _walk(report)
    return {} if walk is None else {node: place + 1 for node, place in walk.places().items()}


def _walk(report: Report) -> WalkFact | None:
    return None if report.detail is None else report.detail.walk


def _data(report: Report, views: _Views, room: int) -> dict[str, Any]:
    """What the script reads of a pass; `room` are the characters of all its tensors."""
    walk = _walk(report)
    return {
        "title": views.pictures[0].scene.title,
        "views": _view_names(len(views.pictures)),
        "view": views.first,
        "opens": views.opens,
        "count": 0 if walk is None else len(walk.steps),
        "start": _start(walk, report),
        "line": None if walk is None else walk.line,
        "numbers": dict(_numbers(report, _nodes(views), room)),
    }


def _nodes(views: _Views) -> set[int]:
    return {box.node for view in views.pictures for box in view.scene.boxes if box.node >= 0}


def _start(walk: WalkFact | None, report: Report) -> str:
    if walk is None:
        if report.shown is None:
            return "No backward pass was recorded."
        return "The steps of the pass were not recorded: inspect.record(steps=True) keeps them."
    roots = some([f"{root.name} with the gradient {(root.value.text or '').strip()}"
                  for root in walk.roots], 3)  # fmt: skip
    at = "" if walk.line is None else f" on line {walk.line}"
    return block(f"{walk.text or 'The pass'}{at} begins at {roots}.")


def _steps(report: Report, views: _Views) -> list[tuple[int, int | None, int | None, str]]:
    """Number, node, line, and what each step says; of a long pass both ends, and the boxes between
    them."""
    walk = _walk(report)
    if walk is None:
        return []
    count = len(walk.steps)
    places = set(range(count))
    if count > MOST_TOLD:
        ends = {*range(TOLD_AT_EACH_END), *range(count - TOLD_AT_EACH_END, count)}
        drawn = [place for node, place in walk.places().items() if node in _nodes(views)]
        places = ends | set(sorted(drawn)[: MOST_TOLD - 2 * TOLD_AT_EACH_END])
    blocks = Blocks(walk, LOOK, most=FEW)
    found, before = [], -1
    for place in sorted(places):
        step = walk.steps[place]
        head, _, rest = dedent(paint(blocks.lines(step), LOOK)).strip().partition("\n")
        text = "\n".join((" · ".join(re.split(" {2,}", head)), rest)).strip()
        if place > before + 1:
            text = f"{counted(place - before - 1, 'step')} not shown\n\n{text}"
        before = place
        found.append((step.number, step.id, step.line, text))
    return found


def _numbers(
    report: Report, shown: set[int], most: int
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Values and gradients in full, as PyTorch prints them."""
    found: dict[int, list[tuple[str, str]]] = {}
    room = min(NUMBERS, max(NUMBERS // 10, most // max(2 * len(shown), 1)))
    for flow in report.flows:
        if flow.node not in shown or flow.shape == ():
            continue
        for name, text in (("value", flow.text), ("grad", flow.grad_text)):
            if text:
                whole = _bounded(block(text), room)
                found.setdefault(flow.node, []).append((name, whole))
    for node, texts in found.items():
        yield str(node), texts


def _bounded(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]} ..."
