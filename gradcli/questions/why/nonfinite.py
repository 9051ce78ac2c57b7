"""Questions: where a NaN or an infinity first appeared, in the forward or the backward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import numpy

from ...diagnostics import Edit
from ...recording.side import INF, NAN
from ...recording.sides import (
    array_of,
    edges_of,
    elsewhere_of,
    is_leaf,
    origin_of,
    run_again,
    sequence_of,
)
from ..declared import zero_of
from ..provenance.passes import Applied, Pass
from ..provenance.values import Step, name_of
from .case import Case, Finding, Remark, Trial
from .cut_edits import is_elsewhere
from .edits import advised
from .gradients import Gradients, kind_of, node_name, saved_value
from .nonfinite_trials import bounded, double_where

MASKS = ("mask", "clamps", "rectifies")  # what can put zeros where values are bad


def bad_finding(case: Case, wanted: int) -> Finding | None:
    """The verdict on a gradient that holds NaN (1) or infinities (2)."""
    number = next((entry.number for entry in case.added if entry.nonfinite & wanted), None)
    own = None if number is None else case.pass_of(number)
    if own is not None:
        found = _spread(case, own, wanted) or _in_pass(case, own, wanted)
        if found is not None:
            return found
    first = case.passes.first_bad
    is_before = first is not None and number is not None and first.number <= number
    return _in_pass(case, first, wanted) if first is not None and is_before else None


def root_finding(case: Case) -> Finding | None:
    """The result itself is NaN or infinite, although the gradient is not."""
    one = case.last_pass
    if one is None:
        return None
    for wanted in (NAN, INF):
        steps = [case.step_of(root) for root in one.roots]
        if any(step is not None and step.nonfinite & wanted for step in steps):
            finding = _of_root(case, one, wanted)
            if finding is not None:
                root = case.called(one.roots[0])
                word = "nan" if wanted == NAN else "infinite"
                start = f"{case.name}.grad looks correct, but {root} is {word}: "
                finding.sentence = start + finding.sentence.partition(": ")[2]
                finding.about = root
                return finding
    return None


def _of_root(case: Case, one: Pass, wanted: int) -> Finding | None:
    """Where a bad result came up: in an earlier pass, if an update wrote it into a leaf."""
    finding = _spread(case, one, wanted)
    if finding is not None:
        return finding
    births = _births(case, one, wanted)
    return _forward(case, births, wanted) if births else None


def _spread(case: Case, one: Pass, wanted: int) -> Finding | None:
    """What made the first bad gradient of the run, where an update has spread it to a leaf that
    this pass went back from."""
    first = case.passes.first_bad
    if first is None or first.number >= one.number:
        return None
    alive = map(case.flow.alive, case.behind(one.roots))
    leaves = [leaf for leaf in alive if leaf is not None and is_leaf(leaf)
              and leaf.requires_grad and _is_bad(array_of(leaf), wanted)]  # fmt: skip
    found = _in_pass(case, first, wanted) if leaves else None
    for leaf in () if found is not None else leaves:
        kinds = [
            entry.nonfinite
            for entry in case.passes.entries_of(leaf)
            if entry.number == first.number
        ]
        for kind in (NAN, INF):
            if found is None and any(bad & kind for bad in kinds):
                found = _in_pass(Case(case.ran, case.provenance, "it", leaf, None), first, kind)
    if found is not None:
        why = found.sentence.partition(": ")[2].removesuffix(".")
        found.sentence = _sentence(case, wanted, why)
        found.facts.append(
            f"that was in backward {first.number}; the update after it spread it to all others"
        )
    return found


def _in_pass(case: Case, one: Pass, wanted: int) -> Finding | None:
    births = _births(case, one, wanted)
    roots = [case.step_of(root) for root in one.roots]
    root_bad = any(step is not None and step.nonfinite & wanted for step in roots)
    if wanted == NAN and root_bad and births:
        return _forward(case, births, wanted)
    if one.applied is not None:
        found = _backward(case, Gradients(case, one), wanted)
        if found is not None and found.verdict == "masked-nan":
            infinite = any(step is not None and step.nonfinite & INF for step in roots)
            if infinite and (first := _births(case, one, INF)):  # nothing hides it
                return _forward(case, first, INF, then=NAN)
        if found is not None:
            return found
    if births:
        return _forward(case, births, wanted)
    if any(_is_bad(array_of(given), wanted) for given in one.gradients):
        verdict = "nan-born-backward" if wanted == NAN else "inf-born"
        finding = Finding(verdict, _sentence(case, wanted, "backward was given it"))
        finding.causes.append(Remark(one.origin, "goes back with it"))
        return finding
    return None


def _sentence(case: Case, wanted: int, why: str) -> str:
    gradient = case.gradient
    whole = gradient is not None and (case.element is not None or gradient.numel() == 1)
    kind = "NaN" if wanted == NAN else "an infinity"
    is_it = f"is {'nan' if wanted == NAN else 'infinite'}" if whole else f"has {kind}"
    return f"{case.grad_name} {is_it}: {why}."


def _is_bad(array: Any, wanted: int) -> bool:
    if array is None or getattr(array, "dtype", None) is None or array.dtype.kind not in "fc":
        return False
    test = numpy.isnan if wanted == NAN else numpy.isinf
    return bool(test(array).any()) if isinstance(array, (numpy.ndarray, numpy.generic)) else False


# ---------------------------------------------------------------- forward


def _births(case: Case, one: Pass, wanted: int, values: Iterable[int] | None = None) -> list[Step]:
    """The steps behind a pass's roots, or these values, that made it of values that had none."""
    leading = case.behind(one.roots if values is None else values)
    found = []
    for step in case.steps:
        if step.out >= one.step or step.out not in leading or not step.nonfinite & wanted:
            continue
        sources = [case.step_of(source) for source in (*step.live, *step.dead)]
        if not any(source is not None and source.nonfinite & wanted for source in sources):
            found.append(step)
    return found


def _forward(case: Case, births: list[Step], wanted: int, then: int = 0) -> Finding:
    """The first of these steps made it, or what became a NaN `then`."""
    birth = births[0]
    place = case.words(birth)
    kind = "nan" if wanted == NAN else "infinite"
    verdict = "nan-born-forward" if wanted == NAN else "inf-born"
    made = not birth.live and not birth.dead
    what = "an infinity" if then else "it"
    why = f"{place} {'holds' if made else 'makes'} {what}"
    finding = Finding(verdict, _sentence(case, then or wanted, why))
    words, advice = _no_weight(case, birth)
    words = words or _operands(case, birth)
    finding.causes.append(Remark(birth.node, f"{kind} from here on{words}"))
    finding.advice = advice or _wider(case, birth, wanted)
    if is_elsewhere(birth):
        return finding
    if wanted == NAN:
        before = _infinite_before(case, birth)
        finding.others += [Remark(step.node, "an infinity before it") for step in before]
        cured = [_first_infinite(case, step).node for step in before]
        if (both := _at_once(case, cured)) is not None:  # infinity / infinity, infinity - infinity
            finding.trials.append(both)
        finding.trials += [trial for node in cured for trial in bounded(case, node)]
        every = [_first_infinite(case, step).node for one in births
                 for step in _infinite_before(case, one)]  # fmt: skip
        if len(births) > 1 and (all_at_once := _at_once(case, every)) is not None:
            finding.trials.insert(1, all_at_once)
    finding.trials += bounded(case, birth.node)
    return _everywhere(case, finding, births)


def _wider(case: Case, birth: Step, wanted: int) -> str:
    """What to do where a number is too large for float16, and would not be for float32."""
    alive = [case.flow.alive(value) for value in (birth.out, *birth.live)]
    types = {str(one.dtype).rpartition(".")[2] for one in alive if one is not None}
    halves = wanted == INF and types == {"float16"}
    return "float16 has no number above 65504: compute it in float32" if halves else ""


def _everywhere(case: Case, finding: Finding, births: list[Step]) -> Finding:
    """Where the same expression stands several times, such as the exp(x) of a softmax, all are
    changed at once."""
    here = {id(step.node): step.node for step in births if not is_elsewhere(step)}
    first, *more = [node for node in here.values() if case.is_here(node)] or [None]
    alike = [first, *(node for node in more if case.whole(node) == case.whole(first))]
    if (trial := _at_once(case, alike)) is not None:
        finding.trials.insert(0, trial)
    return finding


def _at_once(case: Case, nodes: Iterable[Any]) -> Trial | None:
    """The first trial of each of several expressions, as one."""
    changed: dict[Any, list[Edit]] = {}  # by their statements
    distinct = {id(node): node for node in nodes if case.is_here(node)}.values()
    found = [(node, trial) for node in distinct for trial in bounded(case, node)[:1]]
    for node, trial in found:
        changed.setdefault(case.statement(node), []).extend(trial.edits)
    if len(found) < 2:
        return None
    told = "; ".join(advised(case, one, edits) for one, edits in changed.items())
    return Trial(told, tuple(edit for edits in changed.values() for edit in edits), "finite")


def _no_weight(case: Case, birth: Step) -> tuple[str, str]:
    """A mean over targets that all count for nothing: what is divided by, and what to do."""
    for one in case.passes.passes:
        for applied in (one.applied or {}).values():
            weight = saved_value(applied, "total_weight")
            if origin_of(applied.node) is not birth.node or weight is None or weight:
                continue
            target, ignored = (saved_value(applied, key) for key in ("target", "ignore_index"))
            if hasattr(target, "shape") and bool((target == ignored).all()):
                return f": each target is ignore_index, {ignored}", "leave out such a batch"
            return ": the weights of the targets add up to 0", "a weight above 0 for each class"
    return "", ""


def _infinite_before(case: Case, step: Step) -> list[Step]:
    """What made the infinite operands of a step."""
    made = map(case.step_of, (*step.live, *step.dead))
    return [one for one in made if one is not None and one.nonfinite & INF]


def _first_infinite(case: Case, step: Step) -> Step:
    """Where the infinity that a step goes on with came up."""
    before: Step | None = step
    while before is not None:
        step = before
        sources = map(case.step_of, (*step.live, *step.dead))
        before = next((one for one in sources if one is not None and one.nonfinite & INF), None)
    return step


def _operands(case: Case, step: Step) -> str:
    """`, with x = -1` for a single number."""
    for source in (*step.live, *step.dead):
        reference = case.flow.value(source).tensor
        tensor = None if reference is None else reference()
        if tensor is not None and tensor.numel() == 1 and case.called(source).isidentifier():
            return f", with {case.called(source)} = {float(tensor.detach().item()):g}"
    return ""


# ---------------------------------------------------------------- backward


def _backward(case: Case, gradients: Gradients, wanted: int) -> Finding | None:
    """The node that was given good numbers and made bad ones."""
    applied = list((gradients.one.applied or {}).values())
    ways = _leading(gradients, applied)
    birth = _birth(applied, ways, wanted)
    if birth is None:
        return _opposed(case, gradients.one, _birth(applied, ways, INF)) if wanted == NAN else None
    node, origin = birth.node, origin_of(birth.node)
    place = case.words_at(node) or node_name(node)
    if wanted == INF:
        if births := _infinite_operands(case, gradients.one, origin):
            return _forward(case, births, INF)
        kind = _overflows(birth)
        why = f"the slope of {place} is infinite there"
        if kind:
            why = f"at {place} the gradient grows beyond the largest number of {kind}"
        finding = Finding("inf-born", _sentence(case, wanted, why))
        finding.causes.append(Remark(origin, f"{node_name(node)} makes it on the way back"))
        _against(case, finding, birth)
        return finding
    infinite = any(_is_bad(array_of(one), INF) for one in birth.results)
    mask = None if infinite else _mask(gradients, birth)
    if mask is not None:
        return _masked(case, birth, mask)
    infinities = list(_born(applied, ways, INF))
    before = infinities[0] if infinities else None
    if before is not None:
        if births := _infinite_operands(case, gradients.one, origin_of(before.node)):
            return _forward(case, births, INF, then=NAN)
    why = f"{place} makes it on the way back"
    finding = Finding("nan-born-backward", _sentence(case, wanted, why))
    if before is not None and before is not birth and sequence_of(before.node) >= sequence_of(node):
        finding.causes.append(Remark(origin_of(before.node), "an infinite slope on the way back"))
        how = "adds infinities of both signs" if _of_both_signs(birth) else "multiplies it by 0"
        finding.causes.append(Remark(origin, f"{node_name(node)} {how}"))
        _against(case, finding, before)
        origins = [origin_of(one.node) for one in infinities if elsewhere_of(one.node) is None]
        if more := _at_once(case, dict.fromkeys(origins)):
            finding.trials.insert(len(finding.trials[:1]), more)
    else:
        equal = name_of(origin) in ("eigh", "svd")
        divides = ": it divides by the differences of values that are equal" if equal else ""
        said = f"{node_name(node)} makes NaN on the way back{divides}"
        if infinite:
            said = "an infinite slope on the way back"
            why = f"the slope of {place} is infinite there, and 0 times infinity is no number"
            finding.sentence = _sentence(case, NAN, why)
        finding.causes.append(Remark(origin, said))
        finding.trials += _bounded_at(case, node)
    finding.causes = [remark for remark in finding.causes if case.is_here(remark.node)]
    return finding


def _overflows(birth: Applied) -> str:
    """The type that is too small for a product of finite numbers; empty where the slope itself is
    infinite."""
    grads = [array_of(grad) for grad in birth.grads if grad is not None]
    if len(grads) != 1 or not (largest := abs(grads[0]).max()) < numpy.inf:
        return ""
    scaled = numpy.asarray(grads[0] / largest, "float64")
    found = run_again(birth.node, birth.saved, birth.grads, scaled)
    if found is None or any(one is not None and _is_bad(one, INF) for one in found):
        return ""
    bad = next(one for one in birth.results if one is not None and _is_bad(array_of(one), INF))
    return str(bad.dtype).rpartition(".")[2]


def _of_both_signs(birth: Applied) -> bool:
    """Whether what came to a node is infinite both ways, and it sums: as a matrix product does."""
    given = [array for array in map(array_of, birth.grads) if array is not None]
    shapes = {array.shape for array in map(array_of, birth.results) if array is not None}
    return any(
        array.shape not in shapes and (array == numpy.inf).any() and (array == -numpy.inf).any()
        for array in given
    )


def _against(case: Case, finding: Finding, birth: Applied) -> None:
    """What helps against an infinity on the way back; float16 is too small for its number."""
    halves = [
        one for one in birth.results if one is not None and str(one.dtype).endswith(".float16")
    ]
    if any(_is_bad(array_of(one), INF) for one in halves):
        finding.facts.append("float16 has no number above 65504: scale the loss less")
    else:
        finding.trials += _bounded_at(case, birth.node)


def _bounded_at(case: Case, node: Any) -> list[Trial]:
    """The same for a node of the graph; only the text in question is changed."""
    return bounded(case, origin_of(node)) if elsewhere_of(node) is None else []


def _infinite_operands(case: Case, one: Pass, origin: Any) -> list[Step]:
    """What made the infinity that an operation of the forward pass was given."""
    given = [value for step in case.steps if step.node is origin
             for value in (*step.live, *step.dead)
             if (made := case.step_of(value)) is not None and made.nonfinite & INF]  # fmt: skip
    return _births(case, one, INF, given) if given else []


def _opposed(case: Case, one: Pass, birth: Applied | None) -> Finding | None:
    """No node made the NaN: infinite gradients of two paths were added up."""
    if birth is None or not case.is_here(origin := origin_of(birth.node)):
        return None
    if births := _infinite_operands(case, one, origin):
        return _forward(case, births, INF, then=NAN)
    place = case.words_at(birth.node)
    why = f"the slope of {place} is infinite, and infinity - infinity is no number"
    finding = Finding("nan-born-backward", _sentence(case, NAN, why))
    finding.causes.append(Remark(origin, "an infinite slope on the way back"))
    finding.trials += _bounded_at(case, birth.node)
    return finding


def _leading(gradients: Gradients, applied: list[Applied]) -> set[Any]:
    """The nodes of the pass that the tensor's gradient came through."""
    target = gradients.target()[0]
    found = {target}
    for one in reversed(applied):
        if any(edge is not None and edge in found for edge in edges_of(one.node)):
            found.add(one.node)
    return found


def _birth(applied: list[Applied], ways: set[Any], wanted: int) -> Applied | None:
    return next(_born(applied, ways, wanted), None)


def _born(applied: list[Applied], ways: set[Any], wanted: int) -> Iterator[Applied]:
    """The nodes on these ways that were given good numbers and made bad ones."""
    for one in applied:
        if one.node not in ways:
            continue
        if any(_is_bad(array_of(grad), wanted) for grad in one.grads):
            continue
        for place, edge in enumerate(edges_of(one.node)):
            if edge is not None and edge in ways and place < len(one.results):
                if _is_bad(array_of(one.results[place]), wanted):
                    yield one
                    break


def _mask(gradients: Gradients, birth: Applied) -> Applied | None:
    """The mask that had put zeros where the NaN came up: 0 times infinity."""
    grads = [array_of(g) for g in birth.grads if g is not None]
    zeros = False
    for result in birth.results:
        array = array_of(result)
        if array is None or array.dtype.kind != "f":
            continue
        wrong = numpy.isnan(array)
        for grad in grads:
            if wrong.any() and grad.shape == array.shape:
                zeros = zeros or bool((grad[wrong] == 0).all())
            elif wrong.any():
                zeros = zeros or bool((grad == 0).any())
    if not zeros:
        return None
    return next((one for one in gradients.upwards(birth.node) if zero_of(one.node) in MASKS), None)


def _masked(case: Case, birth: Applied, mask: Applied) -> Finding:
    origin, where = origin_of(birth.node), origin_of(mask.node)
    place = case.words_at(birth.node) or node_name(birth.node)
    word = name_of(where) or "the mask"
    if origin is where:  # a call that hides both
        word = kind_of(mask.node).lower()
        place = place if elsewhere_of(birth.node) else f"{kind_of(birth.node)} in {place}"
    why = f"{word} drops values of {place}, but their slope comes back as 0 times infinity"
    finding = Finding("masked-nan", _sentence(case, NAN, why))
    inner = _inside(case, origin, where)
    finding.causes.append(Remark(origin, "its slope is not finite where the mask drops it"))
    if not inner:
        finding.causes.append(Remark(where, "drops the values, not the slope"))
    if elsewhere_of(birth.node) is None:
        finding.trials += [*double_where(case, origin, where), *bounded(case, origin)]
    return finding


def _inside(case: Case, node: Any, outer: Any) -> bool:
    return isinstance(node, ast.AST) and any(part is outer for part in case.ancestors(node))
