"""Questions: what hooks changed: the gradients of the leaves with them and without, in one pass.

The program runs once more, and no hook on a gradient is registered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ..engine.graph.hooks import muted
from ..engine.schema.run_state import as_new
from ..pipeline.request import Ran
from ..pipeline.run import execute
from ..recording import holding
from ..recording.facts import EffectFact, EffectValue
from ..recording.measures import array_of
from ..recording.numbers import range_of, text_of
from ..recording.passes import Pass
from ..recording.recording import Recording
from ..recording.sides import AnyTensor
from ..recording.snapshot import Summary, restored
from .graph import module_tensors
from .interventions import Binder, Interventions, watching
from .shown_pass import chosen, keep


def effects(ran: Ran, one: Pass | None) -> tuple[EffectFact, ...]:
    """Every leaf whose gradient is another one because of hooks."""
    request = ran.request
    script = request.engine == "torch" and not (request.path or "").endswith(".expr")
    changed = ran.recording.hooks.has_changes
    if one is None or not changed or ran.error is not None or script:  # that may write files
        return ()
    binder = ran.recording.find(Binder)
    leaves = () if binder is None else tuple(binder.wrt)
    recording = watching(Interventions(leaves=leaves), values=True)
    keep(recording.passes, one.number)
    with as_new():
        muted.on = True
        if request.engine == "torch":
            from ..live.library import seed_torch

            seed_torch()
        again = execute(request, None, recording)
        if again.error is not None or one.number > recording.passes.count:
            return ()
        without = dict(_gradients(again, chosen(recording.passes, one.number)))
    told = dict(_gradients(ran, one))
    return tuple(
        EffectFact(name, _fact(without.get(name)), _fact(told.get(name)))
        for name in {**told, **without}
        if not _is_same(without.get(name), told.get(name))
    )


def _is_same(one: Any, other: Any) -> bool:
    if one is None or other is None or isinstance(one, Summary) or isinstance(other, Summary):
        return repr(one) == repr(other)  # NaN is NaN here
    return numpy.array_equal(array_of(one), array_of(other), equal_nan=True)


def _fact(value: Any) -> EffectValue | None:
    if value is None or isinstance(value, Summary):
        return value and EffectValue(value.shape, "", value.range)
    return EffectValue(tuple(value.shape), text_of(value), range_of(value))


def _gradients(ran: Ran, one: Pass | None) -> Iterator[tuple[str, Any]]:
    """The gradient that came to each named leaf in a pass; of a large one the summary."""
    if one is None or ran.outcome is None:
        return
    names = _names(ran, ran.recording)
    for identity, (tensor, _, gradient) in one.leaves.items():
        value = restored(gradient)
        if tensor.is_leaf and identity in names and value is not None:
            yield names[identity], value


def _names(ran: Ran, recording: Recording) -> dict[int, str]:
    """Leaves by their identity: a name of its own before an element of a list."""
    assert ran.outcome is not None
    bindings = ran.outcome.bindings
    named = [(name, tensor) for name, tensor in holding.named_tensors(bindings, AnyTensor)]
    named.sort(key=lambda pair: "[" in pair[0])
    inner = module_tensors(recording.names.reached(bindings), recording)
    found: dict[int, str] = {}
    for name, tensor in (*named, *((each.name, each.tensor) for each in inner)):
        found.setdefault(id(tensor), name)
    for each in recording.names.leaves:
        found.setdefault(id(each.tensor), each.name)
    return found
