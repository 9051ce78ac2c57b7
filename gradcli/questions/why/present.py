"""Questions: why a gradient has its values: zero, NaN, large, or fine."""

from __future__ import annotations

import ast
from typing import Any

from ...diagnostics import command
from ...recording.side import INF, NAN
from ...recording.sides import array_of, has_numbers, users_class, without_numbers
from ..declared import zero_of
from ..provenance.values import Step, name_of
from .case import Case, Finding, remark_once
from .cut_edits import is_elsewhere
from .cuts import cuts_beside, verdict_of
from .diverging import tell_divergence
from .gradients import Gradients
from .nonfinite import bad_finding, root_finding
from .not_stepped import at_rest, frozen_finding, given_back, not_stepped_finding
from .size import size_finding, size_jumps
from .stale import stale_finding
from .symmetric import symmetric_finding
from .zero import hook_words, is_changed, place_in, zero_finding

SHORT = 40  # characters of a gradient that the sentence says
MADE_IT = 4  # calls that are shown beside a gradient
MOST_HOOKS = 2
LITTLE = 1e-3  # of a gradient that one function passes on


def present_finding(case: Case) -> Finding:
    """The one thing that is remarkable about it."""
    gradient = case.gradient
    assert gradient is not None
    if not has_numbers(gradient):
        kind = without_numbers(gradient)
        said = f"{case.name}.grad is a tensor of {kind}, which have no numbers to look at."
        return Finding("unexplained", said)
    data: Any = array_of(gradient)
    if case.element is not None:
        data = data[case.element]
    finding = frozen_finding(case)
    if finding is not None:
        return finding
    if (data != data).any():
        finding = bad_finding(case, NAN) or _unexplained(case, "has NaN")
    elif (abs(data) == float("inf")).any():
        finding = bad_finding(case, INF) or _unexplained(case, "has infinities")
    else:
        finding = root_finding(case)
        if finding is None and not (data != 0).any() and data.size:
            finding = zero_finding(case) or _unexplained(case, "is zero")
        elif finding is None:
            finding = size_finding(case, data)
    if finding is not None and ("nan" in finding.verdict or finding.verdict == "inf-born"):
        tell_divergence(case, finding)
    if finding is None or finding.verdict in ("fine", "large", "tiny"):
        finding = (
            stale_finding(case) or not_stepped_finding(case) or symmetric_finding(case) or finding
        )
    elif (other := not_stepped_finding(case)) is not None:  # a 0 changes nothing at any rate
        if other.verdict != "not-updated" or "learning rate" in other.sentence:
            finding.facts.append(f"besides, {other.sentence.partition('but ')[2]}".rstrip("."))
    return finding if finding is not None else _fine(case)


def _unexplained(case: Case, what: str) -> Finding:
    """Better than a guess."""
    sentence = f"{case.name}.grad {what}, and what is known of the run does not say why."
    return Finding("unexplained", sentence)


def _fine(case: Case) -> Finding:
    """Nothing is wrong; the calls that brought the gradient."""
    gradient = case.gradient
    assert gradient is not None
    shown: Any = gradient.detach()
    shown = shown.cpu()  # its numbers, in the same words on every device
    for place in case.element or ():
        shown = shown[place]
    text = repr(shown)
    is_short = "\n" not in text and len(text) <= SHORT
    said = f"is {text}" if is_short else "looks correct"
    finding = Finding("fine", f"{case.grad_name} {said}: no problem found.")
    whole = array_of(gradient)
    if case.element is not None and not bool((abs(whole) < float("inf")).all()):
        finding.facts.append(f"other elements of {case.name}.grad are not finite")
    for entry in case.added:
        if case.is_here(entry.origin) and len(finding.others) < MADE_IT:
            word = "assigned here" if entry.kind == "assign" else "computed it"
            remark_once(finding.others, entry.origin, word)
    finding.facts += [
        *_hooked(case),
        *_own_backward(case),
        *_saturated(case),
        *_first_order(case),
        *_scaled(case),
        *given_back(case),
        *at_rest(case),
    ]
    hidden = _hidden(case)
    if hidden is not None:
        word = "NaN" if hidden.nonfinite & NAN else "infinities"
        finding.facts.append(
            f"{_on_line(case, hidden)} has {word}, which what comes after it hides"
        )
    if (calls := len(case.added)) > 1:
        finding.facts.append(
            f"{calls} backward calls added to it; zero_grad(), or .grad = None, starts anew"
        )
    return finding


def _hooked(case: Case) -> list[str]:
    """Hooks that changed the gradient on its way."""
    one = case.last_pass
    if one is None or not one.hooks or one.applied is None:
        return []
    gradients = Gradients(case, one)
    target = gradients.target()[0]
    ways = {target, *(above.node for above in gradients.upwards(target))}
    mine = (hooked for hooked in one.hooks if hooked.node in ways and case.is_here(hooked.origin))
    changed = {id(hooked.origin): hooked for hooked in mine if is_changed(hooked)}
    return [f"{hook_words(hooked)} on line {case.line(hooked.origin)} changed the gradient on its "
            "way" for hooked in list(changed.values())[:MOST_HOOKS]]  # fmt: skip


def _own_backward(case: Case) -> list[str]:
    """A derivative that nobody but the program vouches for."""
    one = case.last_pass
    if one is None or not one.may_have(users_class) or one.applied is None:
        return []
    gradients = Gradients(case, one)
    above = gradients.upwards(gradients.target()[0])
    names = dict.fromkeys(word for step in above if (word := users_class(step.node)))
    said = command("check", case.ran.request.name)
    return [f"{' and '.join(names)} has a backward of its own; {said} compares it with difference "
            "quotients"] if names else []  # fmt: skip


def _saturated(case: Case) -> list[str]:
    """A function that is so flat there that next to nothing comes through."""
    one = case.last_pass
    if one is None or not one.may_have(_saturates) or one.applied is None:
        return []
    jumps = size_jumps(Gradients(case, one), False)
    flat = [(factor, each) for factor, each in jumps[:1]
            if factor < LITTLE and _saturates(each.node)]  # fmt: skip
    return [f"{place_in(case, each)} is nearly flat there: the norm of "
            f"the gradient times {factor:.2g}" for factor, each in flat]  # fmt: skip


def _saturates(node: Any) -> bool:
    return zero_of(node) == "saturates"


def _scaled(case: Case) -> list[str]:
    """scaler.scale(loss).backward(), and nothing that divides by the scale again."""
    call = case.added[-1].origin if case.added else None
    root = (
        call.func.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        else None
    )
    words = {part.attr for part in case.provenance.attributes}
    if not isinstance(root, ast.Call) or name_of(root) != "scale" or "unscale_" in words:
        return []
    if "GradScaler" not in case.source.text or any(o.steps for o in case.passes.optimizers.all):
        return []
    return [f"{case.text(root)} has multiplied it: unscale_(optimizer) or step() of the scaler "
            "divides it again"]  # fmt: skip


def _first_order(case: Case) -> list[str]:
    """Another way into the result leads through a derivative that has no graph."""
    one = case.last_pass
    if one is None or not any(each.known.captures for each in case.passes.passes):
        return []
    lost = [step for step in cuts_beside(case, one) if verdict_of(step) == "grad-call"]
    return [f"the way through {_on_line(case, step)} is left out: "
            "it has a graph only with create_graph=True" for step in lost[:1]]  # fmt: skip


def _on_line(case: Case, step: Step) -> str:
    words = case.words(step)
    return words if is_elsewhere(step) else f"{words} on line {case.line(step.node)}"


def _hidden(case: Case) -> Step | None:
    """The first value on the way to what went back last that is not finite."""
    passes = case.passes.passes
    wrong = case.flow.wrong
    if not passes or not wrong:
        return None
    between = case.along([case.value], live_only=True) & case.behind(passes[-1].roots)
    here = (step for step in wrong if step.out in between and case.is_here(step.node))
    return next(here, None)
