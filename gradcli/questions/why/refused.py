"""Questions: why a pass could not begin: what took its root out of the graph."""

from __future__ import annotations

from typing import Any

from ...diagnostics import Cure
from ...pipeline.request import Ran
from ..provenance import Provenance
from .case import Case
from .cut_findings import cut_finding
from .cuts import cut_behind
from .none import constant_finding
from .rebound import update_trial

MOST = 3  # places that are named


def is_cut(ran: Ran, provenance: Provenance) -> bool:
    """Whether something behind the root of the pass was in a graph before."""
    case = _case_of_root(ran, provenance)
    return case is not None and cut_behind(case, case.value) is not None


def causes_of_refusal(ran: Ran, provenance: Provenance) -> list[tuple[Any, str]]:
    """Places and what is said of them, where the error of a run is a root without a graph."""
    case = _case_of_root(ran, provenance)
    causes = [] if case is None else constant_finding(case).causes[:MOST]
    return [(one.node, one.text) for one in causes if case is not None and case.is_here(one.node)]


def cures_of_refusal(ran: Ran, provenance: Provenance) -> list[Cure]:
    """What would leave the root of the pass in the graph."""
    case = _case_of_root(ran, provenance)
    cut = None if case is None else cut_behind(case, case.value)
    if case is None or cut is None:
        return []
    finding = cut_finding(case, [cut], "")
    bare = finding.verdict == "no-grad"
    update = update_trial(case, case.statement(cut.node), bare=bare)
    trials = [one for one in (update, *finding.trials) if one is not None and one.edits]
    return [Cure(f"help: {one.advice}", one.edits) for one in trials[:1]]


def _case_of_root(ran: Ran, provenance: Provenance) -> Case | None:
    refusals, error = provenance.passes.refusals, ran.error
    if not refusals or error is None or "does not require grad" not in error.message:
        return None
    root = provenance.flow.alive(refusals[-1][1])
    if root is None or root.requires_grad:
        return None
    return Case(ran, provenance, "the root", root, None)
