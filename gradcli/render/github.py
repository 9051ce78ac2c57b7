"""Render: annotations as GitHub Actions reads them from a log: one line for each problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..recording.facts.check import FileCheck, Problem
from . import escape
from .check import annotated, is_reported, summary
from .escape import Terminal


def pieces(facts: Iterable[FileCheck]) -> Iterator[Terminal]:
    """Annotations, program by program, then the summary."""
    done: list[FileCheck] = []
    for fact in facts:
        done.append(fact)
        yield from lines([fact])
    if done:
        yield Terminal(summary(done) + "\n")


def lines(facts: Iterable[FileCheck]) -> Iterator[Terminal]:
    """One for each problem, and for each note that says more than the summary."""
    for fact in facts:
        for problem in annotated(fact):
            yield _annotation("error", fact, problem)
        for note in filter(is_reported, fact.notes):
            yield _annotation("notice", fact, Problem("note", note))


def _annotation(level: str, fact: FileCheck, problem: Problem) -> Terminal:
    properties = {
        "file": fact.file.removeprefix("./"),  # as a pull request lists it
        "line": problem.line,
        "endLine": problem.end_line,
        "col": problem.column if problem.end_line in (None, problem.line) else None,
        "endColumn": problem.end_column if problem.end_line in (None, problem.line) else None,
        "title": f"gradcli {problem.kind}",
    }
    listed = ",".join(f"{k}={_property(str(v))}" for k, v in properties.items() if v is not None)
    words = "\n".join(problem.words)
    return Terminal(f"::{level} {listed}::{_data(words)}\n")


def _data(words: str) -> str:
    """Line ends, and the sign that stands for them."""
    return escape.block(words).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words: str) -> str:
    escaped = escape.line(words).replace("%", "%25")
    return escaped.replace(":", "%3A").replace(",", "%2C")
