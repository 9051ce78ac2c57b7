"""Questions: gradients that are too large or small: the node at which the norm jumps."""

from __future__ import annotations

from math import log
from typing import Any, TypeAlias

import numpy

from ...recording.sides import array_of, changed_at, edges_of, origin_of
from ..declared import acts_of
from ..provenance.passes import Applied
from .case import Case, Finding, Remark
from .gradients import Gradients, Share, kind_of, node_name, saved_value

LARGE, TINY = 1e6, 1e-6
ROUNDING = 1e-6
VANISHING = 1e-30
DIGITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}  # what an array of them is told as is wider
LEAST = 4.0  # a factor that is worth a mark, of one node or of all at one place
MARKED = 3
PART = 4  # of the largest change: places that have less of it are not named
Jump: TypeAlias = tuple[float, Applied]


def size_finding(case: Case, data: Any) -> Finding | None:
    """Large or tiny, measured against the gradient that the pass began with."""
    most = float(numpy.abs(data).max()) if getattr(data, "size", 0) else 0.0
    one = case.last_pass
    if not TINY > most > 0 and most < LARGE:
        if data.ndim != 1 or not most or one is None or one.applied is None:
            return None
        return _added_away(case, Gradients(case, one), narrow=True)
    verdict = "large" if most >= LARGE else "tiny"
    if one is None or one.applied is None:
        return Finding(verdict, f"{case.grad_name} is {verdict}: at most {most:.3g}.")
    began = max((_norm(gradient) for gradient in one.gradients), default=1.0)
    if (verdict == "large" and most < LARGE * began) or (verdict == "tiny" and most > TINY * began):
        return None
    if (scaled := _scaled_since(case, data, verdict, most)) is not None:
        return scaled
    gradients = Gradients(case, one)
    jumps = size_jumps(gradients, verdict == "large")
    if verdict == "tiny":
        rest = _rest(case, gradients, jumps) or _added_away(case, gradients)
        if rest is not None:
            return rest
    finding = Finding(verdict, f"{case.grad_name} is {verdict}: at most {most:.3g}.")
    places = _by_place(jumps)
    if places:
        (_, applied), *more = places[0]
        place = case.words_at(applied.node) or node_name(applied.node)
        finding.sentence = (
            f"{case.grad_name} is {verdict}, at most {most:.3g}: it "
            f"{'grows' if verdict == 'large' else 'shrinks'} most"
            f"{f' in the {len(more) + 1} steps' if more else ''} at {place}."
        )
    for (factor, applied), *more in places[:MARKED]:
        origin = origin_of(applied.node)
        if case.is_here(origin):
            sizes = sorted((factor, *(each for each, _ in more)))
            times = dict.fromkeys((f"{sizes[0]:.3g}", f"{sizes[-1]:.3g}"))
            often = f", in {len(more) + 1} steps" if more else ","
            said = f"the norm times {' to '.join(times)}{often} on the way back"
            finding.causes.append(Remark(origin, said))
    small = _divisor(places[0][0][1]) if places and verdict == "large" else None
    if small is not None:
        finding.facts.append(f"{place} divides by numbers as small as {small:.3g}")
        finding.advice = "a larger eps, or no division where the divisor is 0"
        return finding
    finding.advice = (
        "torch.nn.utils.clip_grad_norm_, a smaller scale, or log space"
        if verdict == "large"
        else "a larger scale, normalisation, or a function that does not saturate"
    )
    return finding


def _scaled_since(case: Case, data: Any, verdict: str, most: float) -> Finding | None:
    """A gradient that came with another size, and was changed in place since."""
    grads = [array_of(entry.grad) for entry in case.added]
    if not grads or any(grad is None for grad in grads) or case.element is not None:
        return None
    came, origin = float(numpy.abs(sum(grads)).max()), changed_at(case.gradient)
    if came == 0 or LEAST**-1 < came / most < LEAST:
        return None
    known = case.is_here(origin)
    said = f"{f'line {case.line(origin)}' if known else 'the program'} changed it from {came:.3g}"
    finding = Finding(verdict, f"{case.grad_name} is {verdict}, at most {most:.3g}: {said}.")
    if known:
        finding.causes.append(Remark(origin, "changes it"))
    return finding


def _divisor(applied: Applied) -> float | None:
    """The least divisor of a division that is close to 0."""
    divisor = saved_value(applied, "other") if kind_of(applied.node) == "Div" else None
    if divisor is None or not numpy.size(divisor):
        return None
    least = float(numpy.abs(divisor).min())
    return least if 0 < least < 1 / LARGE else None


def _by_place(jumps: list[Jump]) -> list[list[Jump]]:
    """The jumps of each expression, which a loop computes many times; what changes most first."""
    places: dict[Any, list[Jump]] = {}
    for jump in jumps:
        places.setdefault(origin_of(jump[1].node), []).append(jump)
    size = {key: sum(abs(log(factor)) for factor, _ in found) for key, found in places.items()}
    most = max(size.values(), default=0.0)
    return [places[key] for key in sorted(size, key=size.__getitem__, reverse=True)
            if size[key] >= max(log(LEAST), most / PART)]  # fmt: skip


NORMS = ("NativeBatchNorm", "NativeLayerNorm", "NativeGroupNorm")


def _same_sum(case: Case, place: Any) -> Finding:
    """A loss that adds up what a normalisation gives."""
    said = f"what {case.text(place)} gives has the same sum, whatever its input is"
    finding = Finding("cancelled", f"{case.grad_name} is zero but for rounding: {said}.")
    finding.advice = "a loss of some of its outputs, or of each against a target"
    if case.is_here(place):
        finding.causes.append(Remark(place, "the same sum for all inputs"))
    return finding


def _rest(case: Case, gradients: Gradients, jumps: list[Jump]) -> Finding | None:
    """What rounding leaves of contributions that add up to 0."""
    shares = gradients.to_target()
    total = sum((share.value.astype("float64") for share in shares), numpy.zeros(()))
    sizes = [float(numpy.abs(share.value).max()) for share in shares if share.value.size]
    places = [origin_of(share.applied.node) for share in shares]
    if len(shares) < 2 or float(numpy.abs(total).max()) > ROUNDING * max(sizes, default=0.0):
        applied = jumps[0][1] if jumps and jumps[0][0] * LEAST <= 1 else None
        if applied is None:
            return None
        kind = kind_of(applied.node)
        if kind not in ("Softmax", "LogSoftmax") and kind not in NORMS:
            return None
        came = array_of(applied.grads[0])
        if came is None or float(numpy.ptp(came)) > ROUNDING * float(numpy.abs(came).max()):
            return None
        places = [origin_of(applied.node)]
        if kind in NORMS:
            return _same_sum(case, places[0])
    finding = Finding("cancelled", f"{case.name}.grad is zero but for rounding: shares cancel out.")
    for place in dict.fromkeys(places):
        if case.is_here(place):
            finding.causes.append(Remark(place, "contributions that add up to 0"))
    return finding


def _added_away(case: Case, gradients: Gradients, *, narrow: bool = False) -> Finding | None:
    """A bias whose constant a normalisation subtracts again, or a softmax does not see; `narrow`
    looks only at what stands next to it, and knows how few digits its type has."""
    for share in gradients.to_target():
        most = float(numpy.abs(share.value).max())
        while _is_copy(share.applied.node):  # as autocast copies a bias
            ways = gradients.to_node(share.applied.node)
            if len(ways) != 1:
                return None
            share = ways[0]
        came = next((array for grad in share.applied.grads
                     if (array := array_of(grad)) is not None), None)  # fmt: skip
        if came is None or came.size <= share.value.size:
            return None
        rounding = max(ROUNDING, 2 * _last_digit(share.applied)) if narrow else ROUNDING
        if most > rounding * float(numpy.abs(came).sum()) / share.value.size:
            return None
        above = _indifferent(gradients, share.applied.node, narrow=narrow)
        if above is None:
            return None
        place = case.text(origin_of(above)) or node_name(above)
        if "Norm" in kind_of(above):
            why = f"the normalisation in {place} subtracts the mean, and with it every constant"
            said, advice = "subtracts the mean", "the normalisation has a bias of its own"
        else:
            why = f"the softmax in {place} gives the same when a constant is added to all of a row"
            said, advice = "a constant changes nothing here", "the softmax does not see this bias"
        finding = Finding("tiny", f"{case.name}.grad is zero but for rounding: {why}.")
        if case.is_here(origin_of(above)):
            finding.causes.append(Remark(origin_of(above), f"{node_name(above)}: {said}"))
        finding.advice = f"bias=False in the layer before: {advice}"
        return finding
    return None


def _is_copy(node: Any) -> bool:
    """Whether it gives the same numbers in another shape or type."""
    return acts_of(node) == "moves" or kind_of(node) == "ToCopy"


def _last_digit(applied: Applied) -> float:
    """Of a number near 1, as a node was given its gradients: the difference to the next."""
    types = (str(grad.dtype).rpartition(".")[2] for grad in applied.grads if grad is not None)
    return max((DIGITS.get(name, 0.0) for name in types), default=0.0)


def _indifferent(gradients: Gradients, node: Any, *, narrow: bool) -> Any:
    """The normalisation or softmax that the only way up from a node leads to."""
    while len(ways := gradients.to_node(node)) == 1:
        node = ways[0].applied.node
        if any(word in kind_of(node) for word in ("Norm", "Softmax", "Attention")):
            return node
        if narrow and not _is_copy(node):
            return None
    return None


def _norm(value: Any) -> float:
    if value.__class__ is numpy.float32:  # whose square is exact in double precision
        return abs(float(value))
    array = array_of(value)
    if array is None or getattr(array, "size", 0) == 0 or array.dtype.kind not in "fc":
        return 0.0
    return float(numpy.sqrt((numpy.abs(array.astype("float64")) ** 2).sum()))


def size_jumps(gradients: Gradients, upwards: bool) -> list[Jump]:
    """(factor between what came and what went on, node), the largest change first; only those
    that make it larger, or smaller."""
    found: list[Jump] = []
    ways = {gradients.target()[0]}
    for one in reversed(list((gradients.one.applied or {}).values())):
        leading = [place for place, edge in enumerate(edges_of(one.node))
                   if edge is not None and edge in ways]  # fmt: skip
        if not leading:
            continue
        ways.add(one.node)
        came = max((_norm(grad) for grad in one.grads), default=0.0)
        went = max(_norm(one.results[p]) for p in leading if p < len(one.results))
        if came > 0 and went > 0:
            factor = went / came
            if factor > 1 if upwards else factor < 1:
                found.append((factor, one))
    found.sort(key=lambda item: -item[0] if upwards else item[0])
    return found


def _largest(share: Share) -> float:
    """What came to its node."""
    grads = [numpy.abs(array_of(g)) for g in share.applied.grads if g is not None]
    return max((float(g.max()) for g in grads if g.size), default=0)


def vanishes(share: Share) -> bool:
    """Whether what came is too small to be a number after a few more factors."""
    return 0 < _largest(share) < VANISHING


def underflows(share: Share, factor: Any) -> bool:
    """Whether numbers came that are too small for their type once they are multiplied."""
    if vanishes(share):
        return True
    kind = str(share.applied.results[share.place].dtype).rpartition(".")[2]
    least = float(numpy.finfo(kind if kind in ("float16", "float64") else "float32").tiny)
    if factor is not None:
        return 0 < _largest(share) * float(numpy.abs(factor).max()) < least
    saved = (saved_value(share.applied, name) for name in ("self", "other"))
    operands = [numpy.abs(one) for one in saved if one is not None]
    if acts_of(share.applied.node) != "pointwise":
        return False
    if not all((o > 0).all() and numpy.isfinite(o).all() for o in operands):
        return False
    return any(o.min() < least**0.5 or o.max() > least**-0.5 for o in operands)
