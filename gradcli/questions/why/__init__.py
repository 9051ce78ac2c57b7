"""Questions: `gradcli why`: records a run, finds a verdict, tries its advice."""

from __future__ import annotations

from typing import Any

import numpy

from ...diagnostics import Diagnostic, Label, Span, some
from ...opening import UsageError
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...recording.facts import LabelFact
from ...recording.facts.basic import grad_name
from ...recording.facts.reasons import TrialFact, WhyReport
from ...recording.holding import first_name
from ...recording.numbers import numbers
from ...recording.sides import (
    AnyTensor,
    array_of,
    gradient_of,
    has_numbers,
    shape_of,
    with_one_shape,
)
from ..asked_names import AskedNames
from ..cure import Room, attempt, find
from ..errors import error_fact
from ..provenance import Provenance
from ..question import Computed, Question, names_in, question_of
from ..tried_advice import in_own_words
from .case import Case, Finding, Remark, Trial
from .doubtful import doubtful
from .escaped import compiled, escaped
from .none import none_finding
from .nonfinite import root_finding
from .number import number_finding
from .present import present_finding
from .rebound_later import in_last_pass, lost, tell

MOST_TRIALS = 3
LONGEST = 60  # characters of a gradient in the outcome of a trial


def why_report(request: Request, question: str, *, trials: bool = True) -> tuple[Ran, WhyReport]:
    """Runs the program, says why a gradient is what it is, and tries the advice."""
    provenance = Provenance()
    provenance.recording.attach(AskedNames((question,)))
    ran = execute(request, None, provenance.recording)
    ran = ran if request.engine == "own" else in_own_words(ran, tries=False)
    return ran, reported(ran, provenance, question, trials=trials)


def reported(
    ran: Ran, provenance: Provenance, question: str | Question, *, trials: bool = False,
    is_whole: bool = True,
) -> WhyReport:  # fmt: skip
    """Why a gradient of a run is what it is; advice is tried where the run has a beginning.

    Of code that was running already not the whole is known: numbers get out of sight.
    """
    request = ran.request
    name = question if isinstance(question, str) else question.name
    report = WhyReport(request.name, request.device, name, output=ran.output,
                       warnings=ran.warnings, error=error_fact(ran.error))  # fmt: skip
    if ran.outcome is None:
        return report
    named = _resolve(ran, provenance, question) if isinstance(question, str) else question
    if named is None:
        return report
    asked = in_last_pass(ran, provenance, named)
    report = report._replace(name=asked.name, element=asked.element)
    if not isinstance(asked.value, AnyTensor):
        finding = number_finding(ran, provenance, asked)
    else:
        case = Case(ran, provenance, asked.name, asked.value, asked.element)
        finding = none_finding(case) if case.gradient is None else present_finding(case)
        finding = doubtful(case, finding)
        report = _with_gradient(report, case)
        finding = compiled(case, finding)
        finding = finding if is_whole else escaped(case, finding)
        if asked.former:
            tell(finding, case, named.value)
    if trials:
        finding, trial = _proven_in_process(ran, asked, finding, Room(ran))
        advised = ran.error is not None and ran.error.notes
        if finding.verdict != "backward-not-called" or not advised:
            _untried(finding, trial)  # else the error below has the advice
    else:
        shown = (one.advice for one in finding.trials if one.goal != "proof" and one.shown)
        advice = next(shown, finding.advice)
        trial = TrialFact(advice, None) if advice else None
    return _as_facts(report, ran, finding, trial)


def _resolve(ran: Ran, provenance: Provenance, question: str) -> Question | None:
    """The requested tensor; None where the program failed before the name was bound."""
    assert ran.outcome is not None and ran.program is not None
    bindings = ran.outcome.bindings
    others = provenance.flow.inside()
    former = ran.recording.find(AskedNames)
    try:
        asked = question_of(question, bindings, others, former)
    except Computed:
        raise  # though a leaf of that name was there before
    except UsageError:
        first = first_name(question).strip()
        if ran.error is not None and first in (*ran.program.bindings, *ran.program.inputs):
            return None
        if (gone := lost(ran, question.strip())) is None:
            raise
        asked = gone
    value = asked.value
    if isinstance(value, AnyTensor) or type(value) in (int, float, bool):
        return asked
    if (gone := lost(ran, question.strip())) is not None:
        return gone
    inner = [name for name in names_in(bindings, others) if name.startswith(asked.name)]
    kind = "a list" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"
    advice = f"the tensors in it are {some(inner, 8)}" if inner else ""
    raise UsageError(f"{question}: {asked.name} is {kind}, not a tensor", advice)


def _with_gradient(report: WhyReport, case: Case) -> WhyReport:
    """The requested gradient, as numbers and as PyTorch prints it."""
    tensor, gradient = case.tensor, case.gradient
    report = report._replace(shape=shape_of(tensor), dtype=str(tensor.dtype).removeprefix("torch."))
    if gradient is None or not has_numbers(gradient):
        return report
    held: Any = with_one_shape(gradient).detach()
    for place in case.element or ():
        held = held[place]
    return report._replace(grad=numbers(held), grad_text=repr(held))


# ---------------------------------------------------------------- trials

# Why nothing was tried, by verdict. These need no cure, or say themselves what is missing.
WELL = frozenset({"fine", "large", "tiny", "unexplained"})
UNTRIED = {
    "unused": "no fix was tried: only you know which part of the result should use it",
    "masked": "no fix was tried: which elements are taken is what the program is about",
    "not-stepped": "no fix was tried: only you know which optimizer should have it",
    "symmetric": "no fix was tried: only you know which numbers to begin with",
    "not-updated": "no fix was tried: the tensor would change, and not its gradient",
    "not-registered": "no fix was tried: an optimizer would step on it, and its numbers change",
    "comparison": "no fix was tried: which branch is taken has no slope",
    "integer": "no fix was tried: an index has no slope",
    "eval-mode": "no fix was tried: only you know which iterations train",
    "function-returned-none": "no fix was tried: the derivative is the function's own",
}
UNKNOWN = "no automatic fix is known for this"
NO_ROOM = "no fix was tried: the limits leave no room for another run"


def _untried(finding: Finding, trial: TrialFact | None) -> None:
    """Says in one sentence why an advice stands there without a proof."""
    if finding.verdict in WELL or (
        trial is not None and (trial.helped is not None or trial.outcome)
    ):
        return
    untold = UNTRIED.get(finding.verdict, UNKNOWN)
    if any(trial.goal != "proof" for trial in finding.trials):
        untold = finding.failed or NO_ROOM
    finding.facts.append(untold)


def _proven_in_process(
    ran: Ran, asked: Question, finding: Finding, room: Room
) -> tuple[Finding, TrialFact | None]:
    """Trials; those of a program that Python runs in a process of their own."""
    if ran.request.engine == "own":
        return _proven(ran, asked, finding, room)
    from ...live.child_process import answered

    every = [finding, *finding.instead]

    def work() -> tuple[int, TrialFact | None]:
        found, trial = _proven(ran, asked, finding, room)
        return next(at for at, one in enumerate(every) if one is found), trial

    at, trial = answered(work, ran.request.limits.timeout) or (0, None)
    return every[at], trial


def _proven(
    ran: Ran, asked: Question, finding: Finding, room: Room
) -> tuple[Finding, TrialFact | None]:
    """Of several possible causes the first whose cure helps; else the first."""
    trial = _tried(ran, asked, finding, room)
    if trial is None or not trial.helped:
        for other in finding.instead[:MOST_TRIALS]:
            told = _tried(ran, asked, other, room)
            if told is not None and told.helped:
                return other, told
    return finding, trial


def _tried(ran: Ran, asked: Question, finding: Finding, room: Room) -> TrialFact | None:
    """The first advice that helps; then one with which the program fails later on; else the result
    of the first one."""
    failed: TrialFact | None = None
    broken: TrialFact | None = None
    for trial in finding.trials[:MOST_TRIALS]:
        told, fails = _try(ran, asked, trial, finding, room)
        if told.helped and not fails:
            return told
        if told.helped:
            broken = broken or told
        elif trial.goal != "proof":
            failed = failed or told
    if broken is not None:
        return broken
    if finding.advice and (failed is None or not failed.outcome):
        return TrialFact(finding.advice, None)
    return failed


def _try(
    ran: Ran, asked: Question, trial: Trial, finding: Finding, room: Room
) -> tuple[TrialFact, bool]:
    """What comes of a trial, and whether the program fails with it as it did not before."""
    assert ran.outcome is not None
    local = first_name(asked.name) not in ran.outcome.bindings
    # It knows the names in functions, and what names stood for.
    provenance = Provenance() if local or asked.former else None
    if provenance is not None:
        provenance.recording.attach(AskedNames((asked.name,)))
    again = attempt(ran, trial.edits, room, provenance)
    if again is None or again.outcome is None:
        return TrialFact(trial.advice, None), False
    if again.error is not None and trial.goal != "proof":
        finding.failed = finding.failed or _failed(trial, again.error)
    if finding.about:
        return _of_result(ran, asked, trial, finding, room), False
    fails = again.error is not None and ran.error is None
    value = _value(again, provenance, asked)
    gradient = gradient_of(value) if isinstance(value, AnyTensor) else None
    helped = _holds(gradient, asked.element, trial.goal)
    if gradient is None:
        if again.error is not None:
            return TrialFact(trial.advice, None), fails
        return _stays(ran, asked, trial, finding, room), fails
    shown: Any = gradient.detach()
    for place in asked.element or ():
        shown = shown[place]
    word = "becomes" if helped else "is then"
    outcome = f"{grad_name(asked.name, asked.element)} {word} {_gradient_text(shown)}"
    if not helped and trial.goal == "finite":
        outcome += _reason_left(_case_of_trial(ran, asked, trial, room)[1], finding)
    return TrialFact(trial.advice, helped, outcome), fails


def _failed(trial: Trial, error: Diagnostic) -> str:
    """That the program fails with an advice, and where."""
    where = f" on line {error.line}" if error.line else ""
    return f"{trial.advice} was tried: the program then fails{where} with {error.type}"


def _of_result(ran: Ran, asked: Question, trial: Trial, finding: Finding, room: Room) -> TrialFact:
    """What a trial makes of the result, where the gradient itself was fine."""
    again, case = _case_of_trial(ran, asked, trial, room)
    if again is None or again.outcome is None or case is None or case.last_pass is None:
        return TrialFact(trial.advice, None)
    helped = root_finding(case) is None
    value = find(again.outcome.bindings, finding.about)
    shown = "finite" if helped else "not finite"
    if value is not None:
        shown = _gradient_text(value.detach())
    outcome = f"{finding.about} {'becomes' if helped else 'is then'} {shown}"
    return TrialFact(trial.advice, helped, outcome)


def _value(again: Ran, provenance: Provenance | None, asked: Question) -> Any:
    """What the name means in a trial."""
    assert again.outcome is not None
    others = {} if provenance is None else provenance.flow.inside()
    try:
        former = again.recording.find(AskedNames)
        found = question_of(asked.name, again.outcome.bindings, others, former)
        if asked.former and provenance is not None:
            found = in_last_pass(again, provenance, found)
        return found.value
    except UsageError:
        return None


def _stays(ran: Ran, asked: Question, trial: Trial, finding: Finding, room: Room) -> TrialFact:
    """The gradient is not there yet: for the same reason, or for another one behind it."""
    outcome = f"{asked.name}.grad stays None"
    again, case = _case_of_trial(ran, asked, trial, room)
    if again is None or again.outcome is None:
        return TrialFact(trial.advice, None)
    if case is not None and case.gradient is None:
        other = none_finding(case)
        if other.verdict == "cleared":  # it came, and the program itself set it back
            outcome = f"{asked.name}.grad comes, until the program sets it to None"
            return TrialFact(trial.advice, True, outcome)
        if other.verdict != finding.verdict:
            return TrialFact(trial.advice, None, outcome + _another(other))
    return TrialFact(trial.advice, False, outcome)


def _another(other: Finding) -> str:
    return f", for another reason: {other.sentence.partition(': ')[2].rstrip('.')}"


def _reason_left(case: Case | None, finding: Finding) -> str:
    """Why numbers are bad after a trial, if that is another reason than before."""
    if case is None or case.gradient is None:
        return ""
    other = present_finding(case)
    known = other.verdict not in WELL and other.sentence != finding.sentence
    return _another(other) if known else ""


def _case_of_trial(
    ran: Ran, asked: Question, trial: Trial, room: Room
) -> tuple[Ran | None, Case | None]:
    """A trial that is recorded, and what it knows of the tensor."""
    provenance = Provenance()
    provenance.recording.attach(AskedNames((asked.name,)))
    again = attempt(ran, trial.edits, room, provenance)
    value = None if again is None or again.outcome is None else _value(again, provenance, asked)
    if again is None or not isinstance(value, AnyTensor):
        return again, None
    return again, Case(again, provenance, asked.name, value, asked.element)


def _gradient_text(tensor: AnyTensor) -> str:
    """A gradient as PyTorch prints it, or its shape and norm where that would fill the page."""
    text = " ".join(repr(tensor).split())
    if len(text) <= LONGEST:
        return text
    norm = float((array_of(tensor).astype("float64") ** 2).sum()) ** 0.5
    return f"a tensor of shape {list(tensor.shape)} with norm {norm:.4g}"


def _holds(gradient: AnyTensor | None, element: tuple[int, ...] | None, goal: str) -> bool:
    """Whether a trial's gradient is what its advice promises."""
    if gradient is None:
        return False
    data = array_of(gradient)
    data = data[element] if element else data
    if goal == "there":
        return True
    if goal in ("nonzero", "proof"):
        return bool(numpy.isfinite(data).all()) and bool((data != 0).any())
    return bool(numpy.isfinite(data).all())


# ---------------------------------------------------------------- words


def _as_facts(report: WhyReport, ran: Ran, finding: Finding, trial: TrialFact | None) -> WhyReport:
    """The finding with its places as plain facts."""
    assert ran.program is not None
    labels: list[LabelFact] = []
    lines: list[int] = []
    for place, remark in enumerate((*finding.causes, *finding.others)):
        span = _span(ran, remark)
        if span is None:
            continue
        cause = place < len(finding.causes)
        if cause and span.line not in lines:
            lines.append(span.line)
        label = Label(span, remark.text, primary=cause and not labels)
        labels.append(
            LabelFact(span.line, span.column, span.end_line, span.end_column, label.text,
                      label.primary)
        )  # fmt: skip
    return report._replace(
        verdict=finding.verdict, sentence=finding.sentence, labels=tuple(labels),
        lines=tuple(sorted(lines)), facts=tuple(finding.facts), trial=trial,
    )  # fmt: skip


def _span(ran: Ran, remark: Remark) -> Span | None:
    assert ran.program is not None
    node = remark.node
    if isinstance(node, Span):
        return node
    if not hasattr(node, "lineno") or hasattr(node, "of_option"):
        return None
    return ran.program.source.place_of(node)
