"""Render: pictures of a backward pass: one scene, laid out once, written in several formats."""

from __future__ import annotations

from collections.abc import Iterator

from ...recording.facts import Report
from ..escape import Terminal
from .drawing import Drawing, DrawOptions
from .geometry import picture


def written(
    report: Report,
    format: str,
    options: DrawOptions,
    theme: str = "auto",
    *,
    sideways: bool = False,
) -> Iterator[Terminal]:
    """The picture of a report: svg, dot, mermaid or latex."""
    drawing = Drawing(report)
    placed = picture(drawing.scene(options), sideways=sideways)
    if format == "mermaid":
        from .mermaid import fits, mermaid

        if not fits(placed):
            folded = options._replace(fold=True, expand=False)
            placed = picture(drawing.scene(folded), sideways=sideways)
        return mermaid(placed, theme)
    if format == "dot":
        from .dot import dot

        return dot(placed, theme)
    if format == "latex":
        from .latex import latex

        return latex(placed, theme)
    from .svg import svg

    return svg(placed, theme)
