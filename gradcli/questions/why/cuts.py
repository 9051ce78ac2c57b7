"""Questions: where the way from one value to another leaves the graph, and by what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from ...recording.sides import is_parameter
from ..provenance.passes import Pass
from ..provenance.values import Step, name_of
from .case import Case
from .cut_edits import is_elsewhere
from .rebound import CASTS

COPIES = frozenset(
    "tensor as_tensor Tensor FloatTensor DoubleTensor HalfTensor asarray new_tensor Parameter "
    "from_numpy deepcopy scalar_tensor array".split()
)
SAMPLES = frozenset({"sample", "sample_n"})
DERIVATIVES = frozenset("grad jacobian hessian vjp jvp hvp vhp jacrev jacfwd".split())
WEAK = ("comparison", "integer")
CHOICES = ("bool", "integer")
MOST = 6  # cuts that are followed


def verdict_of(step: Step) -> str:
    """What a dead way is called, by the expression that it leads through."""
    node, word = step.node, word_of(step)
    if name_of(node) in SAMPLES:  # under PyTorch the operations inside are seen too
        return "sampled"
    if name_of(node) == "checkpoint":  # runs without gradients, and makes no node of its own then
        return "detached"
    if word in ("detach", "detach_"):
        return "detached"
    if word == "data" and (isinstance(node, ast.Attribute) or is_elsewhere(step)):
        return "data"
    if step.kind == "number":
        return "comparison" if isinstance(node, (ast.Compare, ast.BoolOp)) else "item"
    if step.kind == "bool":
        return "integer" if word == "bool" or word in CASTS else "comparison"
    if step.kind == "integer":
        return "integer"
    if word in COPIES:
        return "copied"
    if word in DERIVATIVES:
        return "grad-call"
    made = None if step.tensor is None else step.tensor()
    if made is not None and is_parameter(made):  # of a module that another file copies
        return "copied"
    return "detached" if step.enabled else "no-grad"


def word_of(step: Step) -> str:
    """What lost the graph: the operation, where another file does it in what is called."""
    return step.inner.word.strip("_") if step.inner and step.inner.place else name_of(step.node)


def cuts(case: Case, start: Iterable[int], ends: list[int]) -> list[Step]:
    """The steps on the ways from some values to others where the graph ends, in their order."""
    alive = case.along(start, live_only=True)
    behind = case.behind(ends)
    met = map(case.step_of, alive & behind)
    if not any(step.live or step.dead for step in met if step is not None):
        return _ends_of_graph(case, alive, behind)
    # A way that joins the graph again, as the condition of a where does, cuts nothing off.
    leading, pending = set(ends), [end for end in ends if end not in alive]
    for value in pending:
        step = case.step_of(value)
        for source in () if step is None else (*step.live, *step.dead):
            if source not in leading and source not in alive:
                leading.add(source)
                pending.append(source)
    return _ends_of_graph(case, alive, leading)


def cuts_beside(case: Case, one: Pass) -> list[Step]:
    """Those of other ways from the tensor into what a pass that reached it went back from; a
    comparison or an integer only chooses."""
    alive = case.along([case.value], live_only=True)
    found = _ends_of_graph(case, alive, case.behind(one.roots))
    return [
        step for step in found if step.out >= one.since and verdict_of(step) not in WEAK
        and not _in_forward(case, step.node)
    ]  # fmt: skip


def _in_forward(case: Case, node: ast.AST) -> bool:
    """Whether a place is in the forward of a Function, which never records gradients."""
    return any(
        isinstance(part, ast.ClassDef) and any(name_of(base) == "Function" for base in part.bases)
        for part in case.ancestors(node)
    )


def _ends_of_graph(case: Case, alive: set[int], leading: Set[int]) -> list[Step]:
    using = {step.out: step for value in alive for step in case.users.get(value, ())}
    return [
        step
        for _, step in sorted(using.items())
        if step.out in leading
        and step.out not in alive
        and any(source in alive for source in step.dead)
        and not (step.tracked and verdict_of(step) == "grad-call")  # its graph leads elsewhere
    ]


def trained(case: Case, found: list[Step]) -> list[Step]:
    """Of several copies of a module those that gradients came to, if there are such: a target
    network beside them is meant to have none."""
    copies = {step.out for step in found if name_of(step.node) == "deepcopy"}
    reached = {
        out for out in copies
        if (tensor := case.flow.alive(out)) is not None and case.passes.entries_of(tensor)
    }  # fmt: skip
    return [step for step in found if step.out not in copies - reached] if reached else found


def cut_behind(case: Case, value: int) -> Step | None:
    """The nearest step behind a value at which something that required grad lost it."""
    seen, pending = {value}, [value]
    for current in pending:
        step = case.step_of(current)
        if step is None or step.tracked:
            continue
        for source in step.dead:
            if case.flow.value(source).tracked and not case.turned_off(source, step.out):
                return step
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return None


def further(
    case: Case, found: list[Step], start: Iterable[int], ends: list[int],
    weak: Set[int] = frozenset(),
) -> list[Step]:  # fmt: skip
    """The cuts that come behind these: x.item() makes a number, and tensor() copies it; none of
    `weak` values that belong to others."""
    alive = case.along(start, live_only=True) | {step.out for step in found}
    leading = case.behind(ends) - (weak - alive)
    behind: list[Step] = []
    first = min(step.out for step in found)
    for step in case.steps:
        sources = (*step.live, *step.dead)
        if step.out > first and step.out in leading and not alive.isdisjoint(sources):
            alive.add(step.out)
            known = any(step is other for other in found)
            drawn = step.kind == "integer" and verdict_of(step) == "sampled"  # which has no slope
            if not known and not drawn and not any(source in alive for source in step.live):
                if verdict_of(step) != "detached" or name_of(step.node).startswith("detach"):
                    behind.append(step)
    return behind[:MOST]


def by_strength(found: list[Step], last: int = 0, weak: Set[int] = frozenset()) -> list[list[Step]]:
    """Cuts of one kind each: the deliberate ones first. A copy of a module is meant to be one, and
    a comparison may only choose a branch, as may what only `weak` values lead on. What was computed
    for the last pass, from the value `last` on, goes before older values: a rollout of a policy may
    well have no graph."""
    groups: dict[tuple[str, bool], list[Step]] = {}
    for step in found:
        kind = verdict_of(step), name_of(step.node) == "deepcopy"
        groups.setdefault(kind, []).append(step)

    def rank(kind: tuple[str, bool]) -> tuple[bool, bool, bool]:
        only_chooses = kind[0] in WEAK or all(step.out in weak for step in groups[kind])
        return only_chooses, kind[1], all(step.out < last for step in groups[kind])

    return [groups[kind] for kind in sorted(groups, key=rank)]


def choosing(case: Case, found: list[Step], ends: list[int]) -> set[int]:
    """The values of cuts whose every way into the results leads through an integer or a mask."""
    leading, weak = case.behind(ends), set[int]()
    for step in found:
        seen, pending = {step.out}, [step.out]
        for value in pending:
            for user in case.users.get(value, ()):
                if user.out in leading and user.out not in seen and user.kind not in CHOICES:
                    seen.add(user.out)
                    pending.append(user.out)
        if seen.isdisjoint(ends):
            weak.add(step.out)
    return weak
