"""Render: SARIF 2.1.0, which code scanning reads: one result for each problem and each note."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ..recording.facts.check import FileCheck, Problem
from .check import annotated, is_reported
from .escape import Terminal, block, log_string

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    "assert": "An assert of the program failed.",
    "expect": "An expectation beside a line does not hold.",
    "output": "The output differs from the recorded answer.",
    "record": "The program has no recorded answer.",
    "gradient": "A gradient differs from difference quotients, or none was checked.",
    "kink": "A gradient was taken where there is no derivative.",
    "repeat": "The program gives other bits when it runs again.",
    "nan": "A gradient or a result is NaN.",
    "inf": "A gradient or a result is infinite.",
    "none": "A leaf has no gradient.",
    "zero": "All elements of a gradient are zero.",
    "stale": "A gradient was added to a stale one.",
    "against": "PyTorch gives another result.",
    "error": "The program has an error, or reached a limit.",
    "note": "A note about the check of a program.",
}


def text(facts: Sequence[FileCheck], version: str, status: int) -> Terminal:
    """The document."""
    results = [result for fact in facts for result in _results(fact)]
    rules = [{"id": kind, "shortDescription": {"text": words}} for kind, words in RULES.items()]
    run = {
        "tool": {"driver": {"name": "gradcli", "semanticVersion": version, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "exitCode": status}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return Terminal(log_string(json.dumps(document, indent=1)) + "\n")


def _results(fact: FileCheck) -> Iterator[dict[str, Any]]:
    for problem in annotated(fact):
        yield _result("error", fact, problem)
    for note in filter(is_reported, fact.notes):
        yield _result("note", fact, Problem("note", note))


def _result(level: str, fact: FileCheck, problem: Problem) -> dict[str, Any]:
    kind = problem.kind if problem.kind in RULES else "error"
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(fact.file)}}
    region = {
        "startLine": problem.line, "startColumn": problem.column,
        "endLine": problem.end_line, "endColumn": problem.end_column,
    }  # fmt: skip
    if problem.line is not None:
        place["region"] = {key: value for key, value in region.items() if value is not None}
    return {
        "ruleId": kind,
        "level": level,
        "message": {"text": block("\n".join(problem.words))},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    """A path as a reference: relative paths stay relative."""
    path = file.replace("\\", "/").removeprefix("./")
    quoted = quote(path.encode("utf-8", "surrogateescape"))
    return f"file://{quoted}" if quoted.startswith("/") else quoted
