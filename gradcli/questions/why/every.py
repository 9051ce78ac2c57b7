"""Questions: `gradcli why FILE` without a name: one verdict for each leaf of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...recording.facts.reasons import WhyReport
from ..errors import error_fact
from ..graph import collected
from . import reported
from .chronicle import Chronicle
from .names import Asked

MOST = 1000  # leaves that are judged


def why_reports(
    request: Request, write: Callable[[str], None] | None
) -> tuple[Ran, WhyReport, list[WhyReport]]:
    """Runs the program; what holds for all of it, and the verdict on every leaf that requires grad,
    each by one name; where none does, on every tensor of floats that a name holds."""
    chronicle = Chronicle()
    ran = execute(request, write, chronicle.recording)
    whole = WhyReport(request.name, request.device, "", output=ran.output, warnings=ran.warnings,
                      error=error_fact(ran.error))  # fmt: skip
    asked = list(_leaves(ran))
    return ran, whole, [reported(ran, chronicle, one) for one in asked[:MOST]]


def _leaves(ran: Ran) -> Iterator[Asked]:
    """What is asked for, as a table of tensors has it; a loop's name is no name."""
    if ran.outcome is None:
        return
    found = collected(ran.outcome, texts=False, recording=ran.recording)
    pairs = list(zip(found.tensors, found.held, strict=True))
    leaves = [pair for pair in pairs if pair[0].is_leaf and pair[0].requires_grad]
    if not leaves:
        leaves = [pair for pair in pairs if pair[0].is_leaf and pair[0].dtype.startswith("float")
                  and pair[0].kind != "buffer"]  # fmt: skip
    seen: set[int] = set()
    for fact, tensor in sorted(leaves, key=lambda pair: pair[0].passing):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield Asked(fact.name, tensor, None)
