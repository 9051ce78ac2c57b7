"""Questions: a name that was bound again after the last pass: its tensor in that pass."""

from __future__ import annotations

from typing import Any

from ...diagnostics import command
from ...pipeline.request import Ran
from ...recording.sides import AnyTensor, is_leaf
from ..asked_names import AskedNames
from ..graph import leaves_of, module_tensors
from ..provenance import Provenance
from ..provenance.passes import Pass
from ..question import Question, question_of
from .case import Case, Finding


def in_last_pass(ran: Ran, provenance: Provenance, asked: Question) -> Question:
    """The same question of the tensor that the name stood for in the last pass, where that came to
    it and a program without an error gives the name another one later.

    One that is no leaf is asked about itself, unless passes came to several tensors of this name:
    a single update that binds the name again is the mistake to be told.
    """
    passes, now = provenance.passes.passes, asked.value
    if ran.error is not None or not passes or "#" in asked.name:
        return asked
    then = _in_pass(ran, asked.name, now) if isinstance(now, AnyTensor) else None
    if then is None or then is now or not _reached(ran, provenance, then, passes[-1]):
        return asked
    history = ran.recording.find(AskedNames)
    if history is not None and not history.may_be(asked.name, then):
        return asked
    before = [] if history is None else history.tensors(asked.name)
    if (is_leaf(now) and now.requires_grad) or any(
        _reached(ran, provenance, one, each)
        for one in before
        if one is not then
        for each in passes[:-1]
    ):
        return asked._replace(value=then, former=True)
    return asked


def lost(ran: Ran, text: str) -> Question | None:
    """The question of a leaf of the last pass by the name that it had there, and that leads
    nowhere at the end; by the words that made it where it never had one."""
    assert ran.program is not None and ran.outcome is not None
    names = ran.recording.names
    inner = module_tensors(names.reached(ran.outcome.bindings), ran.recording)
    stood = [(names.of_leaf(leaf), leaf) for leaf in ran.recording.leaf_names.last]
    every = [*leaves_of(ran.program, ran.recording), *inner]
    stood += [(one.name, one.tensor) for one in every]
    for name, leaf in stood:
        rest = text.removeprefix(name)
        if name and rest != text and not rest.removeprefix(".grad").strip("[]0123456789,- "):
            return question_of(f"x{rest}", {"x": leaf}, {})._replace(name=name)
    return None


def _in_pass(ran: Ran, name: str, now: AnyTensor) -> AnyTensor | None:
    """What a name stood for when the last pass ended; of several it may still stand for one."""
    names = ran.recording.names
    leaves = [one for one in ran.recording.leaf_names.last if names.of_leaf(one) == name]
    if leaves:
        return next((one for one in leaves if one is now), leaves[0])
    asked = ran.recording.find(AskedNames)
    return None if asked is None else asked.in_pass.get(name)


def _reached(ran: Ran, provenance: Provenance, tensor: AnyTensor, one: Pass) -> bool:
    return Case(ran, provenance, "", tensor, None).reached(one)


def tell(finding: Finding, case: Case, now: AnyTensor) -> None:
    """Says that the name means another tensor at the end."""
    name = case.name
    bindings = reversed(case.flow.bindings.get(name, []))
    node = next((node for _, node, tensor in bindings if tensor is now), None) or _maker(case, now)
    where = f"line {case.line(node)} bound {name}" if case.is_here(node) else f"{name} is bound"
    passes = case.passes.passes
    reached = bool(passes) and Case(case.ran, case.provenance, name, now, None).reached(passes[-1])
    behind = "" if reached else ", to which the last pass did not come"
    finding.facts.append(f"{where} to another tensor{behind}")
    history = case.ran.recording.find(AskedNames)
    numbered = "" if history is None else history.numbered(name, now)
    if numbered:
        file = case.ran.request.name
        said = command("why", *(() if file == "<stdin>" else (file,)), numbered)
        finding.facts.append(f"{said} tells about that one")


def _maker(case: Case, tensor: AnyTensor) -> Any:
    step = case.step_of(case.flow.value_of(tensor))
    return None if step is None else step.node
