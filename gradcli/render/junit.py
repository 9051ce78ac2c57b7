"""Render: JUnit's XML, which every CI server reads: one test case for each program."""

from __future__ import annotations

from collections.abc import Sequence

from ..recording.facts.check import FileCheck, Problem
from . import escape
from .check import annotated, diagnostic_of
from .error import text as error_text
from .escape import Terminal
from .text import Look

PLAIN = Look(color=False, unicode=True, width=80)


def text(facts: Sequence[FileCheck], timed: bool = False) -> Terminal:
    """The document; with the times it is another one in each run."""
    failures = sum(fact.status == "failed" for fact in facts)
    errors = sum(fact.status in ("error", "limit") for fact in facts)
    counts = f'tests="{len(facts)}" failures="{failures}" errors="{errors}"'
    cases = "".join(_case(fact, timed) for fact in facts)
    if timed:
        counts += f' time="{sum(fact.seconds for fact in facts):.3f}"'
    return Terminal(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="gradcli" {counts}>\n'
        f'  <testsuite name="gradcli check" {counts} skipped="0">\n'
        f"{cases}"
        "  </testsuite>\n</testsuites>\n"
    )


def _case(fact: FileCheck, timed: bool) -> str:
    folder, _, name = fact.file.replace("\\", "/").rpartition("/")
    place = folder.strip("./").replace("/", ".") or "programs"
    head = f'    <testcase classname="{_attribute(place)}" name="{_attribute(name)}"'
    head += f' file="{_attribute(fact.file)}"'
    line = next((problem.line for problem in annotated(fact) if problem.line is not None), None)
    head += "" if line is None else f' line="{line}"'
    head += f' time="{fact.seconds:.3f}"' if timed else ""
    parts = []
    if fact.problems:
        first = fact.problems[0]
        tag = "failure" if fact.status == "failed" else "error"
        words = "\n".join(_problem_text(fact, problem) for problem in fact.problems)
        parts.append(
            f'      <{tag} type="{_attribute(first.kind)}" message="{_attribute(first.message)}">'
            f"{_words(words)}</{tag}>\n"
        )
    if fact.notes:
        parts.append(f"      <system-out>{_words(chr(10).join(fact.notes))}</system-out>\n")
    return f"{head}>\n{''.join(parts)}    </testcase>\n" if parts else f"{head}/>\n"


def _problem_text(fact: FileCheck, problem: Problem) -> str:
    return "".join(f"{line}\n" for line in problem.shown) + error_text(
        diagnostic_of(fact, problem), fact.text or None, PLAIN
    )


def _words(words: str) -> str:
    """Text between tags. Control characters, which XML can't hold, were made visible before."""
    made: str = escape.block(words)
    made = made.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escape.log_xml(made)


def _attribute(words: str) -> str:
    return _words(escape.line(words)).replace('"', "&quot;")
