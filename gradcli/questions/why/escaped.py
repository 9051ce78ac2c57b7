"""Questions: a number that left the graph unobserved: reported, never guessed."""

from __future__ import annotations

import ast

from ...recording.holding import LOOKED, Inside, modules_first
from ...recording.modules import is_compiled, named_parameters
from ...recording.sides import AnyTensor, is_parameter
from ..provenance.values import name_of
from .case import Case, Finding, Remark
from .cut_findings import cut_finding
from .cuts import COPIES, by_strength, cuts
from .leaf import goal
from .reading import goes_into

GUESSED = frozenset({"unused", "not-requires-grad"})
SWITCHES = frozenset({"requires_grad", "requires_grad_"})


def escaped(case: Case, finding: Finding) -> Finding:
    """The finding of a run whose expressions were not all told; where that is not enough, another
    one that says so."""
    if finding.verdict not in GUESSED:
        return finding
    return _number(case) or _switched_off(case) or _frozen(case) or _older(case) or finding


def compiled(case: Case, finding: Finding) -> Finding:
    """The same; `unexplained` where a compiled module has the tensor, and its text uses the parts
    that lead there: what compiled code does with them is not seen."""
    if finding.verdict != "unused" or case.ran.outcome is None:
        return finding
    bindings = case.ran.recording.names.reached(case.ran.outcome.bindings)
    for name, value in modules_first(bindings):
        for path, module in Inside(AnyTensor, LOOKED).modules(name, value):
            if not is_compiled(module):
                continue
            inner = next((n for n, p in named_parameters(module) if p is case.tensor), "")
            parts = [part for part in inner.split(".") if not part.isdigit()][:-1]
            read = {one.attr for one in case.provenance.attributes if type(one.ctx) is ast.Load}
            if inner and read.issuperset({*parts} - {"_orig_mod"}):
                sentence = (
                    f"what becomes of {case.name} in the compiled code of {path} can't be seen; "
                    "it is seen without torch.compile."
                )
                return Finding("unexplained", case.none(sentence), finding.causes[-1:])
    return finding


def _number(case: Case) -> Finding | None:
    """A number that may have come back as a constant."""
    came = case.along([case.value], live_only=False)
    left = [
        step for step in case.steps
        if step.kind == "number" and step.out in came and not case.users.get(step.out)
        and name_of(step.node) != "step"  # what an optimizer computes stays with it
    ]  # fmt: skip
    if not left or not case.is_here(left[-1].node):
        return None
    ends = [one.origin for one in case.passes.passes if case.is_here(one.origin)]
    seen = [step.out for step in left if case.is_here(step.node)
            and any(goes_into(case, step.node, end) for end in ends)]  # fmt: skip
    found = [step._replace(kind="tensor") if name_of(step.node) in COPIES else step
             for step in cuts(case, [case.value], seen)]  # fmt: skip
    if found:
        begin = case.none(f"on the way into {goal(case)}, ")
        return cut_finding(case, by_strength(found)[0], begin)
    places = list({id(step.node): step.node for step in left if case.is_here(step.node)}.values())
    line = case.line(places[-1])
    sentence = case.none(
        f"a number left the graph on line {line}, and what Python computed with it can't be seen "
        "in code that was already running; gradcli why FILE --engine torch sees it."
    )
    told = Finding("unexplained", sentence)
    told.causes += [Remark(place, "leaves the graph here") for place in places[-3:]]
    return told


def _switched_off(case: Case) -> Finding | None:
    """A parameter requires grad when it is made: it was turned off since."""
    if case.tensor.requires_grad or not is_parameter(case.tensor):
        return None
    if case.made is not None and not case.made.tracked:
        return None  # it was made so
    assert case.ran.outcome is not None
    statement = case.statement(case.ran.outcome.nodes.get(case.name))
    if statement is not None and "requires_grad" in case.whole(statement):
        return None
    sentence = case.none("its requires_grad was turned off before the recording began.")
    finding = Finding("turned-off", sentence)
    places = [node for node in ast.walk(case.program.tree) if _switches(node)]
    if len(places) == 1:
        finding.causes.append(Remark(places[0], "turns it off"))
    finding.advice = f"{case.code}.requires_grad_() before it is used"
    return finding


def _frozen(case: Case) -> Finding | None:
    """A result without grad beside layers that were frozen: which of them it used is not told."""
    off = [mark.node for mark in case.flow.marks.all if mark.kind == "requires_grad_"
           and not mark.on and case.is_here(mark.node)]  # fmt: skip
    if not off or case.tensor.requires_grad or case.made is None or not case.made.dead:
        return None
    sentence = case.none(
        f"{case.name} does not require grad, and which of the tensors it used were turned off "
        f"can't be seen in code that was already running; gradcli why FILE --engine torch sees it."
    )
    told = Finding("unexplained", sentence)
    told.causes += [Remark(node, "turns requires_grad off") for node in dict.fromkeys(off)]
    return told


def _switches(node: ast.AST) -> bool:
    """p.requires_grad = False, and requires_grad_(False)"""
    if isinstance(node, ast.Assign):
        return name_of(node.targets[0]) in SWITCHES
    return isinstance(node, ast.Call) and name_of(node) in SWITCHES and bool(node.args)


def _older(case: Case) -> Finding | None:
    """What was gone back from is older than the recording."""
    passes = case.passes.passes
    roots = passes[-1].roots if passes else ()
    if not roots or any(case.step_of(root) is not None for root in roots):
        return None
    sentence = case.none(
        f"{case.called(roots[0])} was computed before the recording began: its inputs are unknown."
    )
    told = Finding("unexplained", sentence)
    if case.is_here(passes[-1].origin):
        told.causes.append(Remark(passes[-1].origin, "goes back over what was not recorded"))
    return told
