"""Render: the JSON document of `gradcli diff`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...recording.facts.diff import DifferenceFact, DiffReport, SideFact
from ..escape import Terminal
from . import document, error_row

DIFF = "gradcli.diff/1"


def diff(report: DiffReport) -> Iterator[Terminal]:
    """The document, in pieces: one row for each difference."""
    yield from document({
        "schema": DIFF,
        "a": _side(report.a),
        "b": _side(report.b),
        "equal": report.equal,
        "first": None if report.first is None else _difference(report.first),
        "differences": map(_difference, report.differences),
        "same": report.same._asdict(),
        "digits": [fact._asdict() for fact in report.digits],
    })  # fmt: skip


def _side(side: SideFact) -> dict[str, Any]:
    row = side._asdict()
    del row["text"]
    row["error"] = error_row(side.error)
    return row


def _difference(difference: DifferenceFact) -> dict[str, Any]:
    return difference._asdict()
