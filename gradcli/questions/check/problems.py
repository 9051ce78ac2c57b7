"""Questions: the problems of a checked program, and what makes a gradient one."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from ...diagnostics import ExitStatus, most_urgent
from ...recording.facts.check import EdgeCheck, FileCheck, LeafCheck, Problem
from .numeric.operation import NOTHING_TIMES
from .numeric.survey import EQUAL, Survey

HIDDEN = "note: another wrong derivative cancels it, or none of it reaches a leaf"
MOST = 50  # problems of one program, and notes
_NAME = re.compile(r"[\w.]+(\[[^\]]*\])*")


def with_problem(fact: FileCheck, problem: Problem, status: int) -> FileCheck:
    """One more problem; of two exit codes the more urgent."""
    code = most_urgent((fact.exit_code, status))
    return fact._replace(problems=(*fact.problems, problem), exit_code=code, status=word_of(code))


def noted_on(fact: FileCheck, note: str) -> FileCheck:
    """One more remark, which fails nothing."""
    return fact._replace(notes=(*fact.notes, note))


def readable(fact: FileCheck) -> FileCheck:
    """The same with as much as somebody reads; what more there is, is counted."""
    problems, notes = fact.problems, fact.notes
    left = len(problems) - MOST
    if left > 1:
        last = Problem(problems[MOST].kind, f"... and {left:,} more problems")
        problems = (*problems[:MOST], last)
    left = len(notes) - MOST
    if left > 1:
        notes = (*notes[:MOST], f"... and {left:,} more notes")
    return fact._replace(problems=problems, notes=notes)


def word_of(status: int) -> str:
    """The status of a program that ends with this code."""
    if status == ExitStatus.LIMIT_REACHED:
        return "limit"
    return "passed" if status == 0 else "failed" if status == 1 else "error"


def judged(fact: FileCheck, leaf: LeafCheck, allow: Collection[str]) -> FileCheck:
    """A gradient that is wrong fails; what is merely worth knowing is noted."""
    told = f"d{_of(leaf.result)}/d{_of(leaf.leaf)}"
    kind = "" if _finite(leaf) else "nan"
    if leaf.status == "different" and kind not in allow:
        return with_problem(fact, gradient_problem(leaf, told), ExitStatus.CHECK_FAILED)
    if not leaf.cause or (leaf.status in ("kink", "unclear") and fact.kinks):
        return fact
    return noted_on(fact, f"{told}: {leaf.cause}")


def surveyed(fact: FileCheck, found: Survey, is_kink_wrong: bool) -> FileCheck:
    """Kinks are noted, and fail only on request. Wrong derivatives that no gradient of a leaf
    shows fail: of the program's own functions each, of the library only two that cancel."""
    fact = fact._replace(kinks=found.kinks)
    for edge in found.kinks:
        name = edge.text or edge.node
        if is_kink_wrong:
            problem = _placed("kink", f"{name} has no derivative here", edge, _sides(edge))
            fact = with_problem(fact, problem, ExitStatus.CHECK_FAILED)
        else:
            line = "" if edge.line is None else f"line {edge.line}: "
            fact = noted_on(fact, f"{line}{name} has no derivative here: {_sides(edge)}")
    if any(leaf.status == "different" for leaf in fact.leaves):
        return fact
    if len(found.wrong) == 1 and found.wrong[0].cause.startswith("the derivative of"):
        return fact
    for edge in found.wrong:
        message = f"{edge.node} is wrong by itself, although the gradients agree"
        problem = _placed("gradient", message, edge, handed(edge), (f"cause: {edge.cause}", HIDDEN))
        fact = with_problem(fact, problem, ExitStatus.CHECK_FAILED)
    return fact


def _sides(edge: EdgeCheck) -> str:
    """The slopes of an element on the two sides, and what the gradient uses."""
    said = edge.cause.removeprefix("kink: ")
    taken = "" if said == EQUAL else f"; the gradient uses {edge.analytic:.6g}"
    return f"at {edge.argument}{list(edge.element) if edge.element else ''} {said}{taken}"


def _placed(
    kind: str, message: str, edge: EdgeCheck, shown: str, advice: tuple[str, ...] = ()
) -> Problem:
    return Problem(kind, message, edge.line, edge.column, edge.end_line, edge.end_column,
                   advice=advice, label=shown)  # fmt: skip


def _of(name: str) -> str:
    """The name after a d: whole expressions in brackets."""
    return name if _NAME.fullmatch(name) else f"({name})"


def _slope(edge: EdgeCheck) -> str:
    if math.isfinite(edge.numeric):
        return f"the slope is {edge.numeric:.6g}"
    return "the slope has no bound"


def _finite(leaf: LeafCheck) -> bool:
    return leaf.analytic is None or math.isfinite(leaf.analytic)


def handed(edge: EdgeCheck) -> str:
    """What an operation passes back, and what it should."""
    if edge.cause.endswith(NOTHING_TIMES):  # the first of several elements, perhaps not the leaf's
        return f"passes nan to {edge.argument}"
    element = list(edge.element) if edge.element else ""
    return f"{edge.node} passes {edge.analytic:.6g} to {edge.argument}{element}, {_slope(edge)}"


def gradient_problem(leaf: LeafCheck, told: str) -> Problem:
    """A gradient that is not what difference quotients give."""
    assert leaf.analytic is not None and leaf.numeric is not None
    element = "" if not leaf.element else f"[{', '.join(map(str, leaf.element))}]"
    along = " along a direction of all elements" if leaf.element is None else ""
    numeric = f"difference quotients give {leaf.numeric:.6g}"
    if leaf.status == "kink":
        numeric = "there is no derivative"
    of = f" (of a weighted sum of {leaf.result})" if leaf.weighted else ""
    message = f"{told}{element}{along} is {leaf.analytic:.6g}, {numeric}{of}"
    advice: tuple[str, ...] = (f"cause: {leaf.cause}",)
    if "is not its slope" in leaf.cause:
        advice += ("note: --against torch says whether PyTorch's derivative is the same",)
    if not leaf.edges:
        return Problem("gradient", message, leaf.result_line, advice=advice)
    edge = leaf.edges[0]
    return Problem("gradient", message, edge.line, edge.column, edge.end_line, edge.end_column,
                   tuple(map(handed, leaf.edges[1:])), advice, handed(edge))  # fmt: skip
