"""Questions: a number that left the graph where nobody could follow it: said, never guessed."""

from __future__ import annotations

from .case import Case, Finding, Remark

GUESSED = frozenset({"unused", "not-requires-grad"})


def escaped(case: Case, finding: Finding) -> Finding:
    """The finding of a run whose expressions were not told; where a number may have come back as
    a constant, another one that says so."""
    if finding.verdict not in GUESSED:
        return finding
    came = case.along([case.value], live_only=False)
    left = [
        step for step in case.flow.steps
        if step.kind == "number" and step.out in came and not case.users.get(step.out)
    ]  # fmt: skip
    if not left or not case.is_here(left[-1].node):
        return finding
    places = [step.node for step in left if case.is_here(step.node)]
    line = case.line(places[-1])
    sentence = case.none(
        f"a number left the graph on line {line}, and what Python computed with it can't be seen "
        "in code that was already running; gradcli why FILE --engine torch sees it."
    )
    told = Finding("unexplained", sentence)
    told.causes += [Remark(place, "leaves the graph here") for place in places[-3:]]
    return told
