"""Questions: `gradcli flow`: a training run at a glance: its passes, its leaves, what is wrong."""

from __future__ import annotations

from collections.abc import Callable

from ...opening import UsageError
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...recording.facts.flow import FlowGradient, FlowLeaf, FlowPass, FlowReport, VerdictFact
from ...recording.flow_tracks import Row, Track
from ...recording.gradient_flow import GradientFlow
from ...recording.recording import Recording
from ..errors import error_fact
from ..shown_pass import passes_there
from .training import Leaf, Training
from .verdicts import verdicts


def recorded(
    request: Request, write: Callable[[str], None] | None, number: int | None = None
) -> Ran:
    """The run whose passes are listed; the pass with this number is kept whole."""
    recording = Recording()
    attach_flow(recording).wanted = number
    return execute(request, write, recording)


def attach_flow(recording: Recording) -> GradientFlow:
    """The part that records a training run, attached."""
    flow = GradientFlow(recording)
    recording.attach(recording.names, recording.leaf_names, recording.modules, recording.lines,
                    recording.passes, recording.optimizers, flow,
                    recording.losses)  # fmt: skip
    return flow


def flow_report(ran: Ran, number: int | None = None) -> FlowReport:
    """All passes and leaves, or with a number the gradients of that pass."""
    request = ran.request
    report = FlowReport(request.name, request.device, output=ran.output, warnings=ran.warnings,
                        error=error_fact(ran.error))  # fmt: skip
    flow = ran.recording.find(GradientFlow)
    if flow is None or ran.outcome is None:
        return report
    flow.finished()
    training = Training(ran, flow)
    if number is not None:
        return _one_pass(training, report, number)
    found = verdicts(training)
    return report._replace(
        total=ran.recording.passes.count,
        passes=tuple(_pass(row, training) for row in (*flow.first, *flow.last)),
        leaves=tuple(_leaf(leaf, found) for leaf in training.leaves),
        others=training.others,
        verdicts=tuple(found),
    )


def _one_pass(training: Training, report: FlowReport, number: int) -> FlowReport:
    flow = training.flow
    count = training.ran.recording.passes.count
    if not 1 <= number <= count:
        raise UsageError(f"--pass {number}: {passes_there(count)}")
    rows = (*flow.first, *flow.last)
    row = flow.one_row or next((row for row in rows if row.one.number == number), None)
    gradients = []
    for leaf in training.leaves:
        entry = None if leaf.track is None else flow.one.get(id(leaf.track))
        if entry is not None:
            measure, weight = entry
            share = measure.zeros / measure.size if measure.size else 0.0
            gradients.append(FlowGradient(
                leaf.name, leaf.line, leaf.shape, measure.norm, measure.largest, share,
                measure.bad, weight, flow.one_changes.get(id(leaf.track)),
                id(leaf.track) in flow.one_changes,
            ))  # fmt: skip
    return report._replace(
        total=count, one=None if row is None else _pass(row, training),
        gradients=tuple(gradients), others=training.others,
    )  # fmt: skip


def _pass(row: Row, training: Training) -> FlowPass:
    def name(track: Track | None) -> str | None:
        return None if track is None else training.name_of(track)

    place, one = training.place(row.root), row.one
    return FlowPass(
        one.number, one.line, "grad" if one.captures else "backward",
        "" if place is None else place.target or place.text, row.loss, row.norm,
        name(row.largest), None if row.largest is None else row.largest_norm,
        name(row.changed), None if row.changed is None else row.change, one.failed,
    )  # fmt: skip


def _leaf(leaf: Leaf, found: list[VerdictFact]) -> FlowLeaf:
    words = tuple(dict.fromkeys(fact.verdict for fact in found if leaf.name in fact.names))
    track = leaf.track
    fact = FlowLeaf(leaf.name, leaf.line, leaf.shape, leaf.optimiser is not None, verdicts=words)
    if track is None:
        return fact
    return fact._replace(
        passes=track.passes, first=track.first, last=track.last, largest=track.peak,
        curve=tuple(track.curve.groups),
        zeros=track.zeros / track.elements if track.elements else None,
        bad=track.bad, first_bad=track.first_bad, unchanged=track.unchanged,
        updates=track.updates if track.was_known else None,
        update=_update(track),
    )  # fmt: skip


def _update(track: Track) -> float | None:
    """The mean change; None where it is unknown, because nothing of it is a number."""
    if not track.was_known or (track.updates and not track.measured):
        return None
    return track.ratios / track.measured if track.measured else 0.0
