"""Render: the JSON document of `gradcli why`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...recording.facts.reasons import WhyReport
from ..escape import Terminal
from . import document, of_run
from .edges import numbers

WHY, REASONS = "gradcli.why/1", "gradcli.reasons/1"


def why(report: WhyReport) -> Iterator[Terminal]:
    """The document, in pieces. Without a verdict the program failed before its name was bound."""
    trial = report.trial
    yield from document(of_run(WHY, report, {
        "name": report.name,
        "element": None if report.element is None else list(report.element),
        "shape": list(report.shape),
        "dtype": report.dtype,
        "grad": numbers(report.grad, report.dtype),
        "verdict": report.verdict or None,
        "reason": report.sentence or None,
        "lines": list(report.lines),
        "labels": [label._asdict() for label in report.labels],
        "confirmed": None if trial is None else trial.helped,
        "cure": None if trial is None else trial.advice,
        "tried": None if trial is None or not trial.outcome else trial.outcome,
        "notes": list(report.facts),
    }))  # fmt: skip


def every(whole: WhyReport, reports: Sequence[WhyReport]) -> Iterator[Terminal]:
    """The document of all leaves: their verdicts, with what would help."""
    yield from document(of_run(REASONS, whole, {
        "answers": map(_answer, reports),
        "left_out": list(whole.facts),
    }))  # fmt: skip


def _answer(report: WhyReport) -> dict[str, Any]:
    return {
        "name": report.name, "shape": list(report.shape), "dtype": report.dtype,
        "verdict": report.verdict, "reason": report.sentence, "lines": list(report.lines),
        "cure": None if report.trial is None else report.trial.advice,
    }  # fmt: skip
