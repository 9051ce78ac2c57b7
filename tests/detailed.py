"""Tests: all that runs show of the operators, found out once for the files that ask."""

from __future__ import annotations

from functools import cache

from gradcli.questions.ops.detail import detail
from gradcli.questions.ops.rows import operators
from gradcli.recording.facts.operators import CatalogueFact


@cache
def everything() -> CatalogueFact:
    """All operators with derivatives and examples."""
    return detail(CatalogueFact(operators(), True), examples=True)


def without_examples() -> CatalogueFact:
    """What programs can call, as the reference shows it."""
    facts = everything()
    shown = (fact for fact in facts.operators if fact.face != "hidden")
    return facts._replace(
        operators=tuple(
            fact._replace(overloads=tuple(o._replace(example=None) for o in fact.overloads))
            for fact in shown
        )
    )
