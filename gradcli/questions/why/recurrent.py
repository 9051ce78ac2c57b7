"""Questions: the weight by which a recurrent layer multiplies a state that is 0."""

from __future__ import annotations

import ast
from typing import Any

from ...recording.holding import modules_first
from ...recording.modules import named_modules, named_parameters
from ...recording.sides import origin_of
from ..provenance.values import name_of
from .case import Case, Finding, Remark, Trial
from .edits import with_keyword
from .gradients import Share, saved_value

OF_STATE = "weight_hh"  # what PyTorch calls the weights of the state, in layers and in cells
RECURRENT = frozenset("RNN LSTM GRU RNNCell LSTMCell GRUCell".split())


def first_state(case: Case, shares: list[Share]) -> Finding | None:
    """The first step has no state to multiply: without a second one the weight takes no part."""
    owner, given = _owner(case), saved_value(shares[0].applied, "input")
    steps = given.shape[0] if hasattr(given, "shape") and given.ndim == 3 else len(shares)
    origin = origin_of(shares[0].applied.node)
    if owner is None or steps != 1 or not case.is_here(origin):
        return None
    place = case.text(origin)
    finding = Finding(
        "zero-factor",
        f"{case.grad_name} is zero: {place} takes one step, and the state that {case.name} "
        "multiplies is still 0 there.",
        [Remark(origin, "takes one step, from a state of zeros")],
    )
    made = case.made.node if case.made is not None else None
    if isinstance(made, ast.Call) and case.is_here(made) and name_of(made) == type(owner).__name__:
        if getattr(owner, "batch_first", None) is False:
            finding.others.append(Remark(made, "the first dimension is that of the steps"))
            edits = with_keyword(case, made, "batch_first", "True")
            advice = "batch_first=True, if the first dimension is that of the samples"
            finding.trials.append(Trial(advice, tuple(edits), "nonzero"))
    finding.advice = "a sequence of more steps, or a state other than 0"
    return finding


def _owner(case: Case) -> Any:
    """The recurrent layer whose weight of the state it is."""
    if not case.name.rpartition(".")[2].startswith(OF_STATE) or case.ran.outcome is None:
        return None
    for _, root in modules_first(case.ran.outcome.bindings):
        for _, module in named_modules(root):
            if any(one is case.tensor for _, one in named_parameters(module)):
                if {kind.__name__ for kind in type(module).__mro__} & RECURRENT:
                    return module
    return None
