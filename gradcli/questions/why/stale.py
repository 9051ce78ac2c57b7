"""Questions: a gradient that sums several updates, for nothing cleared it in between."""

from __future__ import annotations

from .case import Case, Finding, Remark, Trial
from .edits import first


def stale_finding(case: Case) -> Finding | None:
    """Backward calls added to it on both sides of a change of the tensor."""
    account = case.ran.recording.ledger.accounts.get(id(case.tensor))
    if account is None or not account.stale or account.tensor is not case.tensor:
        return None
    since = [entry for entry in case.added if entry.kind == "add"]
    if len(since) < 2 or not case.is_here(since[-1].origin):
        return None
    again = since[-1].origin
    finding = Finding(
        "stale",
        f"{case.name}.grad is the sum of {len(since)} backward calls: nothing cleared it between "
        f"them, although {case.name} was updated.",
        [Remark(again, "adds to what earlier calls left there")],
    )
    update = next(reversed(account.stale)).update
    if update is not None:
        finding.facts.append(f"line {update} updated {case.name} in between")
    advice = f"{case.code}.grad = None, or zero_grad() of the optimizer, before line "
    finding.advice = f"{advice}{case.line(again)}"
    edits = first(case, case.statement(again), f"{case.code}.grad = None")
    if edits:
        finding.trials.append(Trial(finding.advice, tuple(edits)))
    return finding
