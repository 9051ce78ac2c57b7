"""Questions: why a gradient is zero: the node where it vanished, and the reason."""

from __future__ import annotations

import ast
from typing import Any

import numpy

from ...recording.hook_log import name_of_hook
from ...recording.sides import (
    array_of,
    changed_at,
    edges_of,
    elsewhere_of,
    origin_of,
    row_of,
    users_class,
)
from ..declared import acts_of, zero_of
from ..graph import module_names
from ..provenance.passes import Applied, Hooked, Pass
from ..provenance.values import Step, name_of
from .case import Case, Finding, Remark, remark_once
from .cut_findings import WORDS, cut_finding
from .cuts import cuts_beside, verdict_of
from .gradients import (
    Gradients,
    Share,
    chosen_before,
    is_zero,
    kind_of,
    node_name,
    returned_of,
)
from .recurrent import first_state
from .zero_causes import (
    VERDICTS,
    always_zero,
    compares_equals,
    factor_of,
    is_at_bound,
    is_given_zeros,
    is_slope,
    looked_up,
    overwriting,
    rests_at_zero,
    verdict_at,
    zero_leaf,
    zeros_made,
)
from .zero_trials import read_before, without_share, zero_trials

LABELS = {
    "alone": "the same for all inputs: its slope is 0",
    "constant": "its slope is the same around here",
    "flat": "flat here: its slope is 0",
    "dead-relu": "blocks the gradient where its input is negative",
    "at-bound": "blocks the gradient where its input is 0",
    "masked": "does not take it from here",
    "overwritten": "overwrites it",
    "factor": "the mask is 0 here",
    "padding": "gives the row of padding_idx no gradient",
    "rows": "looks up other rows",
    "zero-factor": "the gradient is multiplied by 0 here",
    "at-zero": "its input is all 0: the slope is 0 there",
    "lowest": "its input is all 0: the slope is 0 there",
    "equal": "what it compares is equal: the slope is 0 there",
    "drawn": "no gradient leads through a draw",
    "cancelled": "contributions that add up to 0",
    "whole": "the same sum for all inputs",
    "tiny": "too small for a number from here on",
    "hook": "a hook of this module gives zeros on",
}
ZEROS = "{name}, which {place} multiplies by, is all 0"
ZEROS_THEN = "{name}, which {place} multiplies by, was all 0 when backward came"
REASONS = {
    "alone": "{place} has one element along its dimension, and is the same for all inputs",
    "constant": "the slope of {place} is constant there, so its second derivative is 0",
    "flat": "{place} has the slope 0 there",
    "dead-relu": "{place} blocks the gradient where its input is negative",
    "at-bound": "{place} blocks the gradient where its input is 0",
    "masked": "{place} takes its numbers from elsewhere",
    "overwritten": "{place} overwrites what was computed from {name}",
    "factor": "{place} multiplies the gradient by a mask that is 0",
    "padding": "it is the row of padding_idx, to which {place} gives no gradient",
    "rows": "{place} looks up other rows",
    "zero-factor": "{place} multiplies the gradient by 0",
    "at-zero": "the input of {place} is all 0, where PyTorch takes the slope 0",
    "lowest": "the input of {place} is all 0, where its slope is 0",
    "equal": "what {place} compares is equal already, and its slope is 0 there",
    "drawn": "{place} draws numbers, and the gradient through a draw is 0",
    "cancelled": "its contributions add up to 0",
    "whole": "what {place} gives adds up to 1, whatever its input is",
    "tiny": "{place} makes a tiny gradient smaller than numbers can be",
    "hook": "a hook of the module in {place} made zeros of it",
}

ADVICE = {
    "alone": "for one output: a sigmoid, or binary_cross_entropy_with_logits as the loss",
    "constant": "an activation that has a second derivative, such as softplus or tanh",
    "tiny": "a larger scale, normalisation, or a function that does not saturate",
    "whole": "a loss of some of its outputs, or of each against a target",
}
MOST_BESIDE = 2  # ways out of the graph that are told beside a zero


def zero_finding(case: Case) -> Finding | None:
    """The verdict on a gradient whose numbers (or the one asked for) are all 0."""
    added = case.added
    if _was_there(case, added):
        return _zeroed(case, added)
    if len(added) > 1 and any(
        e.grad is not None and not is_zero(e.grad, case.element) for e in added
    ):
        finding = Finding(
            "cancelled", _sentence(case, "the gradients of the backward calls cancel")
        )
        for entry in added:
            if case.is_here(entry.origin) and not is_zero(entry.grad, case.element):
                remark_once(finding.causes, entry.origin, "adds its share")
        if finding.causes:
            finding.trials += zero_trials(case, "hook", finding.causes[-1].node, None)
        return finding
    one = case.pass_of(added[-1].number) if added else None
    if one is None or one.applied is None:
        return None
    return _with_ways_out(case, one, _died(case, Gradients(case, one)))


def _with_ways_out(case: Case, one: Pass, finding: Finding | None) -> Finding | None:
    """The same, with what took other ways from the tensor out of the graph, and its cure where that
    helps."""
    beside = [] if finding is None else cuts_beside(case, one)[:MOST_BESIDE]
    if finding is None or not beside:
        return finding
    for step in beside:
        if _is_saved_and_changed(case, step, finding):
            return _changed_behind(case, step, finding)
        text = f"another way from {case.name}: {WORDS[verdict_of(step)].remark}"
        finding.others.append(Remark(step.node, text))
    within = cut_finding(case, beside, "").trials
    finding.trials += [trial._replace(goal="proof") for trial in within]
    return finding


def _is_saved_and_changed(case: Case, step: Step, finding: Finding) -> bool:
    """Whether .data of what the dead node had made, and kept for backward, is written to."""
    if verdict_of(step) != "data" or not finding.causes:
        return False
    origins = {id(remark.node) for remark in finding.causes}
    made = (case.step_of(value) for value in (*step.live, *step.dead))
    above = case.parents.get(id(step.node))
    writes = isinstance(above, ast.Attribute) and above.attr.endswith("_")
    writes = writes or isinstance(getattr(above, "ctx", None), ast.Store)
    return writes and any(one is not None and id(one.node) in origins for one in made)


def _changed_behind(case: Case, step: Step, finding: Finding) -> Finding:
    """tanh(w) keeps its result for its slope, and h.data.fill_(1.) wrote over it unnoticed."""
    call = case.statement(step.node) or step.node
    place = finding.causes[0]
    why = f"{case.text(call)} overwrote what {case.text(place.node)} had kept for backward"
    told = Finding("zero-factor", _sentence(case, why), [Remark(call, "overwrites it unnoticed")])
    told.others.append(Remark(place.node, "keeps its result for backward"))
    told.trials += zero_trials(case, "cleared", step.node, None)
    return told


def _sentence(case: Case, why: str) -> str:
    return f"{case.grad_name} is zero: {why}."


def _was_there(case: Case, added: list[Any]) -> bool:
    """Whether what was added makes a gradient other than the 0 that is there now."""
    total: Any = None
    if any(entry.grad is None for entry in added):
        alive = any(entry.alive for entry in added)
        return alive and case.element is None and _changed_by(case, added) is not None
    for entry in added:
        value = array_of(entry.grad)
        if entry.kind == "assign" and is_zero(value, case.element):
            continue  # x.grad *= 0 and its like
        total = value if total is None or entry.kind == "assign" else total + value
    return total is not None and not is_zero(total, case.element)


def _changed_by(case: Case, added: list[Any]) -> Any:
    """What has changed the gradient since it was stored; None where no change was reported."""
    gradient = case.gradient
    assert gradient is not None
    if added[-1].kind == "assign":
        return added[-1].origin
    origin = changed_at(gradient)
    if origin is None or name_of(origin) == "backward":
        made = case.step_of(case.flow.value_of(gradient))
        return None if made is None else made.node
    return origin


def _zeroed(case: Case, added: list[Any]) -> Finding:
    """x.grad.zero_(), zero_grad(set_to_none=False), a hook after the gradient was stored."""
    late = next(
        (hooked for one in case.passes.passes for hooked in reversed(one.hooks)
         if hooked.before is case.tensor and case.is_here(hooked.origin)), None,
    )  # fmt: skip
    if late is not None:
        return _hook_finding(case, late)
    origin = _changed_by(case, added)
    if not case.is_here(origin):
        origin = added[-1].origin
    finding = Finding("cleared", _sentence(case, f"line {case.line(origin)} set it to 0"))
    finding.causes.append(Remark(origin, "sets it to 0"))
    in_a_loop = len(case.passes.passes) > 1
    finding.trials += (
        read_before(case, origin, added[-1].origin, "nonzero") if in_a_loop
        else zero_trials(case, "cleared", origin, None)
    )  # fmt: skip
    return finding


# ---------------------------------------------------------------- where it died


def _died(case: Case, gradients: Gradients) -> Finding | None:
    element: Any = case.element
    for hooked in gradients.leaf_hooks():
        if _killed(hooked, element):
            return _hook_finding(case, hooked)
    shares = gradients.to_target()
    if not shares:
        return None
    alive = [share for share in shares if not is_zero(share.value, element)]
    if alive:
        return _cancelled(case, alive)
    if element is not None:
        element = numpy.zeros(tuple(case.tensor.shape), dtype=bool)
        element[case.element] = True
    pending = [(share, element) for share in shares]
    seen = {(id(share.applied.node), share.place) for share in shares}
    found: list[tuple[str, Share]] = []
    dropped: list[tuple[str, Share]] = []
    for share, inside in pending:
        node = share.applied.node
        incoming = [g for g in share.applied.grads if g is not None]
        above = _carried(share, inside)
        if above is not None and above.size and not above.any():
            dropped.append(("masked", share))  # takes other elements; perhaps nothing takes these
            continue
        hook = next((h for h in gradients.hooks_of(node) if _killed(h, above)), None)
        if hook is not None:
            return _hook_finding(case, hook)
        if incoming and all(array_of(g).size == 0 for g in incoming):
            found.append(("masked", share))  # nothing was chosen
            continue
        if any(not is_zero(g, above) for g in incoming):
            found.append((verdict_at(case, share, inside), share))
            continue
        came = gradients.to_node(node)
        living = [one for one in came if not is_zero(one.value, above)]
        if living:
            return _cancelled(case, living)
        for one in came:
            key = (id(one.applied.node), one.place)
            if key not in seen:
                seen.add(key)
                pending.append((one, above))
        if not came and gradients.is_root(node):
            finding = Finding("zero-factor", _sentence(case, "backward was given zeros"))
            finding.causes.append(Remark(gradients.one.origin, "goes back with a gradient of 0"))
            return finding
    return _death_finding(case, gradients, found or dropped)


def _carried(share: Share, chosen: Any) -> Any:
    """The chosen elements in what came to a node; None for all of them."""
    grads = [array_of(g) for g in share.applied.grads if g is not None]
    if len(grads) != 1:
        return None
    acts = acts_of(share.applied.node)
    if acts == "moves":
        return chosen_before(share, grads[0], chosen)
    if acts in ("along", "product", "selects") or grads[0].shape != share.value.shape:
        return None
    return chosen


def _pairs(hooked: Hooked) -> list[tuple[Any, Any]]:
    """Each gradient that a hook was given, with the one that it returned."""
    before, after = hooked.before, hooked.after
    if after is None or before is after:
        return []
    if not (isinstance(before, tuple) and isinstance(after, tuple)):
        before, after = (before,), (after,)
    return [(a, b) for a, b in zip(before, after, strict=False)
            if hasattr(a, "shape") and hasattr(b, "shape")]  # fmt: skip


def _killed(hooked: Hooked, element: Any) -> bool:
    """Whether a hook made zeros of something."""
    return any(not is_zero(a, element) and is_zero(b, element) for a, b in _pairs(hooked))


def is_changed(hooked: Hooked) -> bool:
    """Whether a hook returned other numbers than it was given."""
    return any(not numpy.array_equal(array_of(a), array_of(b), equal_nan=True)
               for a, b in _pairs(hooked))  # fmt: skip


def hook_words(hooked: Hooked) -> str:
    """the hook clip, for a function with a name"""
    words = name_of_hook(hooked.hook)
    return "a hook" if words in ("<lambda>", "a hook") else f"the hook {words}"


def _hook_finding(case: Case, hooked: Hooked) -> Finding:
    words = name_of_hook(hooked.hook)
    finding = Finding("hook", _sentence(case, f"{hook_words(hooked)} made zeros of it"))
    if case.is_here(hooked.origin):
        finding.causes.append(Remark(hooked.origin, "registered here"))
    definition = _definition(case, words, getattr(hooked.hook, "__code__", None))
    if definition is not None:
        finding.causes.append(Remark(definition, "gives zeros on"))
    finding.trials += zero_trials(case, "hook", hooked.origin, None)
    return finding


def _definition(case: Case, name: str, code: Any) -> ast.AST | None:
    """The return of a function of the program, by its name; a lambda by its line."""
    line = None if name != "<lambda>" else getattr(code, "co_firstlineno", None)
    for part in ast.walk(case.program.tree):
        if isinstance(part, ast.Lambda) and part.lineno == line:
            return part.body
        if isinstance(part, ast.FunctionDef) and part.name == name:
            returns = [s for s in ast.walk(part) if isinstance(s, ast.Return)]
            return returns[-1] if returns else part.body[-1]
    return None


def _cancelled(case: Case, shares: list[Share]) -> Finding:
    finding = Finding("cancelled", _sentence(case, REASONS["cancelled"]))
    told: list[str] = []
    for share in shares:
        origin = origin_of(share.applied.node)
        told.append(f"{share.value.item():g}" if share.value.size == 1 else "")
        if case.is_here(origin):
            remark_once(finding.causes, origin, "a contribution comes from here")
    if all(told) and len(told) <= 6:
        finding.sentence = _sentence(case, "its contributions cancel, " + " + ".join(told))
    if finding.causes:
        finding.trials += zero_trials(case, "cancelled", finding.causes[0].node, None)
        if len(finding.causes) == 2:  # such as a ratio of what is computed twice
            for one in sorted(finding.causes, key=lambda one: case.line(one.node), reverse=True):
                finding.trials += without_share(case, one.node)
    return finding


def _constant_slope(case: Case, gradients: Gradients) -> Finding | None:
    """A factor that is 0 as the second derivative of what is straight on both sides, as relu is."""
    for one in (gradients.one.applied or {}).values():
        origin = origin_of(one.node)
        if not is_slope(one.node) or zero_of(one.node) != "rectifies" or not case.is_here(origin):
            continue
        place = case.text(origin)
        if "relu" not in name_of(origin):
            place = f"relu in {place}"
        finding = Finding("flat", _sentence(case, REASONS["constant"].format(place=place)))
        finding.causes.append(Remark(origin, LABELS["constant"]))
        finding.trials += zero_trials(case, "constant", origin, None)
        finding.advice = ADVICE["constant"]
        return finding
    return None


def _behind(gradients: Gradients, share: Share) -> Share:
    """The softmax of one element that a loss was given, whose 1 it takes for certain."""
    edge = edges_of(share.applied.node)[share.place]
    applied = next((a for a in (gradients.one.applied or {}).values() if a.node is edge), None)
    if applied is None or not applied.results:
        return share
    value = array_of(applied.results[0])
    behind = share if value is None else Share(applied, 0, value)
    return behind if always_zero(behind) == "alone" else share


def _death_finding(
    case: Case, gradients: Gradients, found: list[tuple[str, Share]]
) -> Finding | None:
    if not found:
        return None
    verdict = found[0][0]
    same = [_behind(gradients, share) for word, share in found if word == verdict]
    if verdict == "zero-factor" and (bent := _constant_slope(case, gradients)) is not None:
        return bent
    if verdict == "zero-factor" and (resting := first_state(case, same)) is not None:
        return resting
    origin = origin_of(same[0].applied.node)
    reason = always_zero(same[0]) or verdict
    verdict = "flat" if reason != verdict else verdict
    place = case.text(origin) if reason == "constant" else place_in(case, same[0].applied)
    words = "factor" if reason == "masked" and factor_of(same[0]) is not None else reason
    if reason == "masked":
        words = looked_up(same[0], case.element) or words
    if (statement := overwriting(case, same[0], words)) is not None:
        words, place = "overwritten", case.text(statement)
    if reason == "dead-relu" and is_at_bound(case, same[0]):
        words = "at-bound"
    row = row_of(same[0].applied.node)
    if reason == "cancelled" and row is not None and row.role == "normalises":
        words = "whole"
    if reason == "zero-factor" and row is not None and row.acts == "random" and row.smooth:
        reason = words = "drawn"
    if reason == "zero-factor" and rests_at_zero(same[0]):
        words = "at-zero"
    if reason == words == "zero-factor" and is_given_zeros(same[0]):
        words = "lowest" if kind_of(same[0].applied.node) == "Pow" else "at-zero"
    if reason == "zero-factor" and compares_equals(same[0]):
        words = "equal"
    why = REASONS[words].format(place=place, name=case.name)
    finding = Finding(verdict, _sentence(case, why))
    zeros = [leaf for share in same if (leaf := zero_leaf(case, share)) is not None]
    if verdict == "zero-factor" and place and len(zeros) == len(same):
        named = " and ".join(dict.fromkeys(case.names[id(leaf)] for leaf in zeros))
        moved = all(array_of(leaf).any() for leaf in zeros)
        said = (ZEROS_THEN if moved else ZEROS).format(name=named, place=place)
        finding.sentence = _sentence(case, said)
        finding.advice = f"start {named} with other numbers, such as nn.init.xavier_uniform_"
        if moved:
            finding.advice = f"{named} changed since: the next backward goes through it"
    for share in same[:6]:
        node = share.applied.node
        if verdict == "zero-factor" and users_class(node) and _returned(case, finding, share):
            continue
        if case.is_here(origin_of(node)):
            label = f"{LABELS[words]} ({node_name(node)})"
            remark_once(finding.causes, origin_of(node), label)
        made = zeros_made(case, share) if verdict == "zero-factor" else None
        if made is not None and case.is_here(made):
            remark_once(finding.others, made, "all 0 from here on")
    if words != "whole":
        finding.trials += zero_trials(case, reason, origin, same[0])
    if words in ADVICE and not finding.trials:
        finding.advice = ADVICE[words]
    return finding


def _returned(case: Case, finding: Finding, share: Share) -> bool:
    """Says that the backward of a user's function gave zeros; whether its text is known."""
    node = share.applied.node
    returned, value = returned_of(case, share.applied, share.place)
    if returned is None:
        return False
    finding.sentence = _sentence(case, f"{users_class(node)}.backward returned zeros for it")
    finding.causes.append(Remark(value or returned, "zeros are returned here"))
    if case.is_here(origin_of(node)):
        finding.others.append(Remark(origin_of(node), f"{case.name} goes through here"))
    return True


def place_in(case: Case, applied: Applied) -> str:
    """The expression, with the operation in it where a call of a module hides that."""
    node = applied.node
    text, kind, zero = case.words_at(node), kind_of(node), zero_of(node)
    if text and (module := case.provenance.layers.drops(node)):
        return f"{module} in {text}"
    if elsewhere_of(node) is not None:
        return text
    if text and isinstance(origin_of(node), ast.Call) and zero in VERDICTS and zero != "mask":
        if not set(kind.lower().split()) & {name_of(origin_of(node)).lower().rstrip("_")}:
            layer, identity = case.provenance.layers.of(node)
            outcome = case.ran.outcome
            path = module_names(outcome.bindings).get(identity) if outcome is not None else None
            return f"{layer} {path} in {text}" if path else f"{kind} in {text}"
    return text or node_name(node)
