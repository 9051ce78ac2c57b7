"""Func: how rows push the tangents of duals forward.

The forward derivative of a row is not declared: it is the transpose of the declared backward. Where
a row works element by element its formula is its own transpose, and is given the tangent in place
of the gradient; where a result is a view, so is its tangent; everywhere else the formula runs on a
gradient that is not chosen yet, and the pass back through it is the derivative forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.compile.call import facts_of
from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.catalogue import catalogue
from ..engine.schema.dtypes import FLOATING
from ..engine.schema.mode import state
from ..engine.schema.operator import Factory, Row
from ..engine.schema.returns import Named
from ..engine.schema.row import Inplace
from ..engine.tensors.autograd_meta import AutogradMeta
from ..engine.tensors.tensor import Tensor, plain
from .carrier import run, same, standing
from .composed import COMPOSED
from .dual import (
    Dual,
    DualMeta,
    dual,
    forward,
    is_dual,
    is_view_of,
    mirror,
    primal_of,
    tangent_of,
    unwrapped,
)
from .observed_passes import unheard
from .release import asks
from .reverse import gradient, unchosen


def operate(overload: Any, values: Sequence[Any], level: int) -> Any:
    """Runs a row, or its in-place twin, on duals."""
    if isinstance(overload, Inplace):
        with TRANSFORMS.unasked():  # the dual was asked whose it is, its primal is the caller's
            return _in_place(overload, values, level)
    return _push_forward(overload, values, level)


def manufacture(factory: Factory, values: Sequence[Any], level: int) -> Any:
    """What is made after a dual has no tangent."""
    return run(factory, [primal_of(value, level) for value in values])


def _push_forward(row: Row, values: Sequence[Any], level: int) -> Any:
    """Runs a row on the primals, and gives its results their tangents."""
    primals = [primal_of(value, level) for value in values]
    out = run(row, primals)
    tangents = {
        name: tangent
        for name, value in zip(row.signature.names, values, strict=True)
        if name in row.differentiable and (tangent := tangent_of(value, level)) is not None
    }
    if row.underivable and any(tangent_of(value, level) is not None for value in values):
        raise NotImplementedError(
            f"Trying to use forward AD with aten::{row.name} that does not support it."
        )
    if not tangents or state.inference:  # inference mode turns forward mode off
        return out
    if row.tangent == "none":
        raise NotImplementedError(_no_forward(row))
    outs = list(out) if isinstance(out, tuple) else [out]
    try:
        if row.name in COMPOSED:
            composed = tangent_of(COMPOSED[row.name](*values), level)
            pushed: Sequence[Any] = [composed, *[None] * (len(outs) - 1)]
        else:
            pushed = _pushed(row, primals, tangents, outs)
    except (RuntimeError, NotImplementedError) as error:
        if "is not implemented" not in str(error):
            raise
        raise NotImplementedError(_no_forward(row)) from None
    results = [
        item if tangent is None else dual(item, tangent, level)
        for item, tangent in zip(outs, pushed, strict=True)
    ]
    if row.view:
        is_view_of(results, values[0])
    if not isinstance(out, tuple):
        return results[0]
    return type(out)(results) if isinstance(out, Named) else tuple(results)


def _no_forward(row: Row) -> str:
    return (
        f"Trying to use forward AD with {row.name} that does not support it because it has not "
        "been implemented yet.\nPlease file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can "
        "prioritize its implementation or submit a PR adding the implementation to derivatives.yaml"
    )


def _pushed(
    row: Row, primals: list[Any], tangents: dict[str, Any], outs: list[Any]
) -> Sequence[Any]:
    names = row.signature.names
    if row.view:
        if row.name == "as_strided":  # it counts in memory: the tangent has to lie as the primal
            tangents = {"self": catalogue.functions["zeros_like"](primals[0]) + tangents["self"]}
        viewed = run(row, [tangents.get(n, p) for n, p in zip(names, primals, strict=True)])
        return list(viewed) if isinstance(viewed, tuple) else [viewed]
    if row.tangent == "linear":
        return [run(row, [_direction(n, p, row, tangents) for n, p in zip(names, primals)])]
    floating = [o is not None and o._kind.dtype.category >= FLOATING for o in outs]
    if not any(floating):
        return [None] * len(outs)
    values = _formula_values(row, primals, outs)
    real = _is_real([*tangents.values(), *outs, *primals])
    if row.acts == "pointwise" and (real or row.holomorphic):
        return [_pointwise(row, values, tangents, outs[0]), *[None] * (len(outs) - 1)]
    return _transposed(row, values, tangents, outs, floating)


def _direction(name: str, primal: Any, row: Row, tangents: dict[str, Any]) -> Any:
    """What stands in a linear row's call for an argument: its tangent, 0 for one that has none."""
    if name not in row.differentiable or primal is None:
        return primal
    tangent = tangents.get(name)
    return catalogue.functions["zeros_like"](primal) if tangent is None else tangent


def _is_real(tensors: Sequence[Any]) -> bool:
    return all(
        tensor._kind.dtype.category <= FLOATING for tensor in tensors if isinstance(tensor, Tensor)
    )


def _formula_values(row: Row, primals: list[Any], outs: list[Any]) -> dict[str, Any]:
    """What a formula may ask for, by name: arguments, results, facts about them."""
    values: dict[str, Any] = dict(
        zip(row.saved_keys, facts_of(row)(*map(standing, primals)), strict=True)
    )
    tensors = {p.name for p in row.tensors}
    kind = next(o._kind for o in outs if o is not None)
    for name, value in zip(row.signature.names, primals, strict=True):
        if name in tensors and value.__class__ in (int, float, bool, complex):
            value = plain(kind.xp.asarray(value, dtype=kind.array_dtype), kind)
        values[name] = value
    for name, out in zip(row.signature.outputs, outs, strict=False):
        values[name] = out
        if out is not None:
            values[name + "_sym_argsize_minus_1"] = out._data.shape[-1] if out._data.ndim else 1
    return values


def _pointwise(row: Row, values: dict[str, Any], tangents: dict[str, Any], out: Any) -> Any:
    """Each formula with the tangent of its own operand where the gradient would stand."""
    total: Any = None
    before, state.formula = state.formula, True
    try:
        for formula in row.formulas:
            for name in formula.inputs:
                tangent = tangents.get(name)
                if tangent is None:
                    continue
                if tangent._kind is not out._kind:
                    tangent = catalogue.methods["to"](tangent, out.dtype)
                values["needs"] = {other: other == name for other in row.differentiable}
                values["grad"], values["grads"] = tangent, (tangent,)
                part = formula.gradients(values)[name]
                if part is not None:
                    total = part if total is None else total + part
    finally:
        state.formula = before
    if total is None:
        return catalogue.functions["zeros_like"](out)
    if total._data.shape != out._data.shape:
        total = run(catalogue.rows["expand"], (total, tuple(out._data.shape), False))
        total = catalogue.functions["clone"](total)
    return total if total._kind is out._kind else catalogue.methods["to"](total, out.dtype)


def _transposed(
    row: Row, values: dict[str, Any], tangents: dict[str, Any], outs: list[Any],
    floating: Sequence[bool],
) -> Sequence[Any]:  # fmt: skip
    """The formulas on unchosen gradients, and the pass back through them from the tangents."""
    recording = state.grad_enabled and asks([list(values.values()), tangents])
    chosen = [unchosen(o) if f else None for o, f in zip(outs, floating, strict=True)]
    undifferentiable = row.undifferentiable
    for place, name in enumerate(row.signature.outputs):
        if name in undifferentiable and place < len(chosen):
            chosen[place] = None
    several = row.output_count > 1 or row.listed
    if row.holomorphic and not _is_real(outs):
        values = {key: _conjugated(value) for key, value in values.items()}
    values["grads" if several else "grad"] = tuple(chosen) if several else chosen[0]
    values["needs"] = {name: name in tangents for name in row.differentiable}
    backs: list[Any] = []
    given: list[Any] = []
    before = state.formula, state.grad_enabled
    state.formula, state.grad_enabled = True, True
    try:
        for name, back in row.gradients(values, values["needs"]).items():
            _paired(values[name], back, tangents.get(name), backs, given)
        wanted = [u for u in chosen if u is not None]
        with unheard():
            pushed = gradient(backs, wanted, given, recording)
    finally:
        state.formula, state.grad_enabled = before
    found = iter(pushed)
    zeros = catalogue.functions["zeros_like"]
    results = []
    for out, u in zip(outs, chosen, strict=True):
        tangent = None if u is None else next(found)
        if u is not None and tangent is None:
            tangent = zeros(out)
        results.append(tangent)
    return results


def _conjugated(value: Any) -> Any:
    """The formula of a holomorphic function, written for real numbers, takes conjugates back."""
    if isinstance(value, complex):
        return value.conjugate()
    if isinstance(value, Tensor) and value._kind.dtype.is_complex:
        return catalogue.functions["conj"](value)
    return value


def _paired(value: Any, back: Any, tangent: Any, backs: list[Any], given: list[Any]) -> None:
    """An input's backward and its tangent, converted to one shape and type."""
    if back is None or tangent is None:
        return
    if value.__class__ is list:
        for one, part, along in zip(value, back, tangent, strict=True):
            _paired(one, part, along, backs, given)
        return
    if back._data.shape != tangent._data.shape:
        back = catalogue.methods["sum_to_size"](back, tuple(tangent._data.shape))
    if back._kind.dtype.is_complex and not tangent._kind.dtype.is_complex:
        back = catalogue.functions["real"](back)
    if back._kind is not tangent._kind:
        tangent = catalogue.methods["to"](tangent, back.dtype)
    backs.append(back)
    given.append(tangent)


# ---- changed in place


def _in_place(twin: Inplace, values: Sequence[Any], level: int) -> Any:
    """x.mul_(y) and its like: the tangent changes in place as well, so that views of it follow."""
    row, target = twin.row, values[0]
    if row.view:
        primal = run(twin, [primal_of(value, level) for value in values])
        moved = run(row, [target._meta.tangent, *values[1:]])
        target._meta.primal, target._meta.tangent = primal, moved
        mirror(target)
        return target
    if state.inference:
        run(twin, [primal_of(value, level) for value in values])
        if is_dual(target, level):
            mirror(target)
        return target
    clone, zeros = catalogue.functions["clone"], catalogue.functions["zeros_like"]
    fresh = not is_dual(target, level)
    primal = clone(primal_of(target, level))  # it is about to be overwritten
    direction = zeros(primal) if fresh else clone(target._meta.tangent)
    pushed = _push_forward(row, [dual(primal, direction, level), *values[1:]], level)
    tangent = tangent_of(pushed, level)
    if fresh:
        _turn(target, tangent, level)
    run(twin, [primal_of(value, level) for value in values])
    if tangent is None:
        tangent = zeros(target._meta.tangent)
    catalogue.methods["copy_"](target._meta.tangent, tangent)
    mirror(target)
    return target


def _turn(tensor: Any, tangent: Any, level: int) -> None:
    """An ordinary tensor gets a tangent by what is written into it; its base too. The zeros that
    it begins with have samples where the tangent has them."""
    zeros = catalogue.functions["zeros_like"]
    none: Any = 0 if tangent is None else catalogue.methods["sum"](zeros(tangent))
    base, around = unwrapped(tensor, level)
    if base is None:
        _turned(tensor, zeros(tensor.detach()) + none, level)
        return
    if not is_dual(base, level):
        _turned(base, zeros(base.detach()) + none, level)
        for outer in around:
            mirror(outer)
    place = (tuple(tensor._data.shape), tensor.stride(), tensor.storage_offset())
    viewed = run(catalogue.rows["as_strided"], (base._meta.tangent, *place))
    ordinary = tensor.__class__ is Tensor
    version = tensor._meta.view_version if ordinary else 0
    _turned(tensor, viewed, level)
    tensor._meta.origin = base
    if ordinary:
        tensor._meta.primal._meta = AutogradMeta(base._meta.primal, version)


def _turned(tensor: Any, tangent: Any, level: int) -> None:
    """The tensor itself becomes a dual, for all its holders."""
    primal = same(tensor)
    tensor.__class__ = Dual
    tensor._meta = DualMeta(primal, tangent, level)
    mirror(tensor)
    if level == 0:
        forward.alive.add(tensor)
