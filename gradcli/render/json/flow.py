"""Render: the JSON document of `gradcli flow`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...recording.facts.flow import FlowPass, FlowReport
from ..escape import Terminal
from . import document, of_run

FLOW = "gradcli.flow/1"


def flow(report: FlowReport) -> Iterator[Terminal]:
    """The document, in pieces."""
    yield from document(of_run(FLOW, report, {
        "total": report.total,
        "pass": None if report.one is None else _pass(report.one),
        "passes": map(_pass, report.passes),
        "leaves": (leaf._asdict() for leaf in report.leaves),
        "others": report.others,
        "gradients": [gradient._asdict() for gradient in report.gradients],
        "verdicts": [verdict._asdict() for verdict in report.verdicts],
    }))  # fmt: skip


def _pass(fact: FlowPass) -> dict[str, Any]:
    return fact._asdict()
