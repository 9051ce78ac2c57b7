"""Questions: why a pass could not begin: what took its root out of the graph."""

from __future__ import annotations

from typing import Any

from ...pipeline.request import Ran
from ..provenance import Provenance
from .case import Case
from .none import constant_finding

MOST = 3  # places that are named


def causes_of_refusal(ran: Ran, provenance: Provenance) -> list[tuple[Any, str]]:
    """Places and what is said of them, where the error of a run is a root without a graph."""
    refusals, error = provenance.passes.refusals, ran.error
    if not refusals or error is None or "does not require grad" not in error.message:
        return []
    root = provenance.flow.alive(refusals[-1][1])
    if root is None or root.requires_grad:
        return []
    case = Case(ran, provenance, "the root", root, None)
    return [(one.node, one.text) for one in constant_finding(case).causes[:MOST]
            if case.is_here(one.node)]  # fmt: skip
