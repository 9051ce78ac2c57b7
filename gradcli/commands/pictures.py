"""commands: pictures of a run: `gradcli trace --format svg|html|dot|mermaid|latex`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..named import NamedTuple
from ..options import EVERY_FOLD, Option, choice, under
from ..process.ending import keep
from .environment import Environment

if TYPE_CHECKING:
    from ..pipeline.request import Ran, Request
    from ..questions.interventions import Interventions
    from ..recording.facts import Report
    from ..render.escape import Terminal

FORMATS = ("svg", "html", "dot", "mermaid", "latex")
OPTIONS: tuple[Option, ...] = under(
    "Pictures",
    choice("theme", "--theme", of=("auto", "light", "dark"), default="auto",
           help="Colours of a picture; auto follows the reader's system."),
    choice("direction", "--direction", of=("down", "right"), default="down",
           help="Direction of a picture, from its inputs to the result."),
)  # fmt: skip


class Wanted(NamedTuple):
    """How a picture is drawn."""

    fold: str | None
    expand: frozenset[int]
    depth: int | None
    theme: str
    direction: str
    hide: tuple[str, ...] = ()


def drawn(
    request: Request, env: Environment, interventions: Interventions, of: tuple[str, ...],
    number: int | None, wanted: Wanted, format: str, put: Callable[[Iterable[Terminal]], None],
) -> Ran:  # fmt: skip
    """Runs the program and puts out its picture, or its page."""
    from ..questions.picture import recorded

    number = number or None  # a page has several passes anyway, a picture the last one
    several = format == "html" and number is None and not of
    ran = env.explained(recorded(
        request, None, interventions, number=number, several=several, thorough=False,
    ))  # fmt: skip
    from ..render.hiding import without

    reports = _reports(ran, of, number, several=several)
    found = [without(report, wanted.hide)[0] for report in reports]
    keep((ran, found))
    put(_written(found, ran.text, format, wanted))
    return ran


def _reports(ran: Ran, of: tuple[str, ...], number: int | None, *, several: bool) -> list[Report]:
    """A report on each pass that was kept, the last one last; at least one."""
    from ..questions.trace import Options, trace_report

    kept = sorted(ran.recording.passes.kept)
    numbers: list[int | None] = [*kept[:-1], None] if several else [number]
    return [trace_report(ran, Options(of, number=one, detail=True)) for one in numbers]


def _written(
    reports: Sequence[Report], source: str, format: str, wanted: Wanted
) -> Iterable[Terminal]:
    """The picture of the last pass, or a page of all of them."""
    from ..render.picture.drawing import DrawOptions

    every = EVERY_FOLD in wanted.expand or wanted.fold == "none"
    unit = None if wanted.fold == "none" else wanted.fold
    options = DrawOptions(unit is not None, every, wanted.depth, unit, wanted.expand - {EVERY_FOLD})
    sideways = wanted.direction == "right"
    if format == "html":
        from ..render.picture.page import html

        return html(source, reports, options, wanted.theme, sideways=sideways)
    from ..render.picture import written

    return written(reports[-1], format, options, wanted.theme, sideways=sideways)
