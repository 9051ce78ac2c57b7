"""Render: the JSON document of `gradcli flow`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...recording.facts.flow import FlowPass, FlowReport
from ..escape import Terminal
from . import document, error_row

FLOW = "gradcli.flow/1"


def flow(report: FlowReport) -> Iterator[Terminal]:
    """The document, in pieces."""
    yield from document({
        "schema": FLOW,
        "file": report.file,
        "device": report.device,
        "total": report.total,
        "pass": None if report.one is None else _pass(report.one),
        "passes": map(_pass, report.passes),
        "leaves": (leaf._asdict() for leaf in report.leaves),
        "others": report.others,
        "gradients": [gradient._asdict() for gradient in report.gradients],
        "verdicts": [verdict._asdict() for verdict in report.verdicts],
        "output": report.output,
        "warnings": list(report.warnings),
        "error": error_row(report.error),
    })  # fmt: skip


def _pass(fact: FlowPass) -> dict[str, Any]:
    return fact._asdict()
