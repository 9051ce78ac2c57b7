"""Questions: `gradcli why FILE` without a name: one verdict for each leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...recording.facts.reasons import WhyReport
from ...recording.holding import named_tensors, parameters
from ...recording.sides import AnyTensor, is_leaf, is_parameter
from ..errors import error_fact
from ..graph import collected
from ..provenance import Provenance
from ..question import Question
from ..tried_advice import in_own_words
from . import reported
from .case import Case
from .rebound import rebound_finding
from .rebound_later import in_last_pass

MOST = 1000  # leaves that are judged


def why_reports(request: Request) -> tuple[Ran, WhyReport, list[WhyReport]]:
    """Runs the program; what holds for all of it, and the verdict on every parameter and every
    leaf that requires grad, each by one name; where none does, on every tensor of floats that a
    name holds."""
    provenance = Provenance()
    ran = execute(request, None, provenance.recording)
    ran = ran if request.engine == "own" else in_own_words(ran, tries=False)
    whole = WhyReport(request.name, request.device, "", output=ran.output, warnings=ran.warnings,
                      error=error_fact(ran.error))  # fmt: skip
    leaves = every_leaf(ran, provenance)
    left = len(leaves) - MOST
    if left > 0:
        words = (
            f"{left:,} more lea{'ves have' if left > 1 else 'f has'} no row: gradcli why FILE NAME"
        )
        whole = whole._replace(facts=(f"{words} asks for one",))
    return ran, whole, [reported(ran, provenance, one) for one in leaves[:MOST]]


def every_leaf(ran: Ran, provenance: Provenance) -> list[Question]:
    """The leaves of a run, each once, by the name that it had in the last pass."""
    asked: dict[int, Question] = {}
    for one in _leaves(ran, provenance):
        asked.setdefault(id(in_last_pass(ran, provenance, one).value), one)
    return list(asked.values())


def _leaves(ran: Ran, provenance: Provenance) -> Iterator[Question]:
    """The requested tensors and frozen parameters, in the order of a table of tensors, then names
    that stood for a leaf once and what only functions name; a loop's name is no name."""
    if ran.outcome is None:
        return
    found = collected(ran.outcome, texts=False, recording=ran.recording)
    pairs = list(zip(found.tensors, found.held, strict=True))
    leaves = [pair for pair in pairs if pair[0].is_leaf
              and (pair[0].requires_grad or pair[0].kind == "parameter")]  # fmt: skip
    others = list(_inside(ran, provenance))
    if not others and all(fact.kind == "leaf" for fact, _ in leaves):
        leaves = [pair for pair in pairs if pair[0].is_leaf and pair[0].dtype.startswith("float")
                  and pair[0].kind != "buffer"]  # fmt: skip
    seen: set[int] = set()
    for fact, tensor in sorted(leaves, key=lambda pair: pair[0].passing):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield Question(fact.name, tensor, None)
    for name, tensor in others:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield Question(name, tensor, None)


def _inside(ran: Ran, provenance: Provenance) -> Iterator[tuple[str, AnyTensor]]:
    """What names of a leaf were bound again to, w = w - lr * w.grad, and the leaves behind the
    names that functions had last; an object is `self` where it has no other name."""
    assert ran.outcome is not None
    bindings = ran.outcome.bindings
    held = {name: one for name, one in provenance.flow.inside().items() if name not in bindings}
    inner = sorted(_all_tensors(held), key=lambda pair: pair[0].startswith("self"))
    for name, tensor in [*_all_tensors(bindings), *inner]:
        if not tensor.requires_grad or is_leaf(tensor):
            continue
        if rebound_finding(Case(ran, provenance, name, tensor, None)) is not None:
            yield name, tensor
    for name, tensor in inner:
        if is_leaf(tensor) and (tensor.requires_grad or is_parameter(tensor)):
            yield name, tensor


def _all_tensors(bindings: dict[str, Any]) -> list[tuple[str, AnyTensor]]:
    """The tensors of these names, in containers and objects too."""
    return [*named_tensors(bindings, AnyTensor), *parameters(bindings, AnyTensor)]
