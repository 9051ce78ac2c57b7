"""Render: the JSON document of `gradcli check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...recording.facts.check import CheckReport, FileCheck, LeafCheck, Problem
from ..escape import Terminal
from . import document, error_row

CHECK = "gradcli.check/1"


def check(report: CheckReport) -> Iterator[Terminal]:
    """The document, in pieces: one row for each program."""
    count = {
        word: sum(fact.status == word for fact in report.files)
        for word in ("passed", "failed", "error", "limit")
    }
    yield from document({
        "schema": CHECK,
        "device": report.device,
        "exit_code": report.exit_code,
        "count": count,
        "files": map(_file, report.files),
    })  # fmt: skip


def _problem(problem: Problem) -> dict[str, Any]:
    fields = problem._asdict()
    label = fields.pop("label")
    return {**fields, "shown": (label, *problem.shown)} if label else fields


def _file(fact: FileCheck) -> dict[str, Any]:
    return {
        "file": fact.file,
        "status": fact.status,
        "exit_code": fact.exit_code,
        "checked": fact.is_checked,
        "recorded": fact.recorded,
        "recorded_file": fact.recorded_file,
        "change": fact.change,
        "asserts": fact.asserts,
        "expectations": fact.expectations,
        "against": fact.against,
        "problems": list(map(_problem, fact.problems)),
        "notes": fact.notes,
        "gradients": [_leaf(leaf) for leaf in fact.leaves],
        "kinks": [edge._asdict() for edge in fact.kinks],
        "output": fact.output,
        "warnings": fact.warnings,
        "error": error_row(fact.error),
    }


def _leaf(leaf: LeafCheck) -> dict[str, Any]:
    row = leaf._asdict()
    row["edges"] = [edge._asdict() for edge in leaf.edges]
    return row
