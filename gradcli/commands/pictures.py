"""commands: pictures of a run: `gradcli trace --format svg|html|dot|mermaid|latex`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ending import keep
from ..options import Option, choice, flag
from .environment import Environment

if TYPE_CHECKING:
    from ..pipeline.request import Ran
    from ..recording.facts import Report
    from ..render.escape import Terminal

FORMATS = ("svg", "html", "dot", "mermaid", "latex")
OPTIONS: tuple[Option, ...] = (
    flag("fold", "--fold", help="In a picture, fold every loop, call and module."),
    choice("theme", "--theme", of=("auto", "light", "dark"), default="auto",
           help="Colours of a picture; auto follows the reader's system."),
    choice("direction", "--direction", of=("down", "right"), default="down",
           help="Where a picture goes from its inputs."),
)  # fmt: skip


class Wanted(NamedTuple):
    """How a picture is drawn."""

    fold: bool
    expand: bool
    depth: int | None
    theme: str
    direction: str


def written(report: Report, format: str, wanted: Wanted) -> Iterable[Terminal]:
    """The picture of a report in a format."""
    from ..render.picture import drawing, geometry, svg

    scene = drawing.scene(report, drawing.Wish(wanted.fold, wanted.expand, wanted.depth))
    picture = geometry.picture(scene, sideways=wanted.direction == "right")
    return svg.svg(picture, wanted.theme)


def draw(
    env: Environment, request: Any, wishes: Any, of: tuple[str, ...], number: int | None,
    wanted: Wanted,
) -> Ran:  # fmt: skip
    """Runs the program and writes its picture."""
    from ..questions.drawn import recorded
    from ..questions.trace import Options, trace_report

    ran = env.explained(recorded(request, None, wishes, number=number))
    report = trace_report(ran, Options(of, texts=True, number=number, detail=True))
    keep(report)
    env.answer(written(report, env.common.format, wanted))
    return ran
