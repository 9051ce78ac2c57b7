"""Questions: a training run whose steps are too long: numbers grow until they overflow."""

from __future__ import annotations

import ast
from typing import Any

import numpy

from ...recording.optimizers import Optimizer
from ...recording.sides import array_of
from ...recording.snapshot import restored
from .case import Case, Finding, Trial
from .edits import advised, replace

HUGE = 1e15  # what no gradient of a run is that goes well
SHORTER = (10, 100, 10_000)  # times: what is tried


def tell_divergence(case: Case, finding: Finding) -> None:
    """Adds to a NaN or an infinity of a later pass that numbers had grown up to it, and tries a
    smaller learning rate."""
    bad = case.passes.first_bad
    one = next((o for o in case.passes.optimizers.all if o.steps and o.has(case.tensor)), None)
    if bad is None or bad.number < 2 or one is None or not case.is_here(one.origin):
        return
    within = [grad for applied in (bad.applied or {}).values()
              for grad in (*applied.grads, *applied.results)]  # fmt: skip
    account = case.ran.recording.ledger.accounts.get(id(case.tensor))
    entries = () if account is None else (*account.first, *account.last)
    before = [restored(entry.amount) for entry in entries]  # one long step is enough
    largest = max((_largest(x) for x in (*within, *before) if x is not None), default=0.0)
    if largest < HUGE:
        return
    finding.facts.append(
        f"the run diverges: by backward {bad.number} numbers had grown to {largest:.2g}, and the "
        "next are infinite"
    )
    finding.trials = [*_shorter(case, one), *finding.trials]
    finding.advice = f"shorter steps of the optimizer on line {case.line(one.origin)}"


def _largest(value: Any) -> float:
    array = array_of(value)
    if array is None or array.dtype.kind not in "fc":
        return 0.0
    size = numpy.abs(array)
    return float(numpy.max(size, where=numpy.isfinite(size), initial=0.0))


def _shorter(case: Case, one: Optimizer) -> list[Trial]:
    """Smaller numbers for lr, where the call says it."""
    call = one.origin
    rates = [keyword.value for keyword in getattr(call, "keywords", ()) if keyword.arg == "lr"]
    if len(rates) != 1 or not isinstance(rates[0], ast.Constant):
        return []
    rate, trials = rates[0], []
    if not isinstance(rate.value, (int, float)):
        return []
    for times in SHORTER:
        edits = [replace(case, rate, f"{rate.value / times:g}")]
        trials.append(Trial(advised(case, call, edits), tuple(edits), "finite", shown=False))
    return trials
