"""Render: the formula of a gradient, with the numbers put in."""

from __future__ import annotations

from ..report.model.paths import PathsReport
from .text import Line, Look


def formula_lines(report: PathsReport, look: Look) -> list[Line]:
    return []
