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
    if format == "mermaid":
        from .mermaid import fits, mermaid

        shown = drawing.scene(options)
        if not fits(shown):
            shown = drawing.scene(options._replace(fold=True, expand=False))
        return mermaid(shown, theme, sideways=sideways)
    placed = picture(drawing.scene(options), sideways=sideways)
    if format == "dot":
        from .dot import dot

        return dot(placed, theme)
    if format == "latex":
        from .latex import latex

        return latex(placed, theme)
    from .svg import svg

    return svg(placed, theme)
