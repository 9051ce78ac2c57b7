"""Engine: the backward path: from a row's formulas to the function that a node runs.

Ordinary backward runs the formulas on arrays, through a function written from the row once, like
the forward path. With create_graph they run on tensors, recording; that is rarer and needs no code
of its own per row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..graph.blocks import MANY, in_blocks
from ..graph.gradient_buffers import Ready, hand_on, receive, step_lines
from ..graph.node import (
    AccumulateGrad,
    Node,
    Packed,
    SavedOutput,
    Several,
    SharedExtras,
    SparseNode,
)
from ..memory.device import module_of, placed
from ..schema.carriers import NOTICED, RUNTIME
from ..schema.catalogue import catalogue
from ..schema.causes import Cause, Freed, because
from ..schema.errors import check_gradient
from ..schema.mode import no_grad, state
from ..schema.row import Row
from ..tensors.saved import check_version, freed, misfit, unpack
from ..tensors.tensor import Tensor, plain, wrap
from ..tensors.tensor_type import TensorType, kind_of_array
from .arrays import STEPS, on_arrays, one_step, plain_expression
from .call import compiled


def specialise(row: Row) -> Callable[..., Any]:
    """Writes (node, grad) -> gradients on arrays; grad of several outputs is a tuple with Nones."""
    if row.underivable:
        return lambda node, grad: underivable(node)
    several = row.output_count > 1 or row.listed
    lines = [f"def backward(node, {'grads' if several else 'grad'}):"]
    if row.broadcasts:
        lines.append("    inputs = None if node.rest is None else node.rest.inputs")
    given = "grads" if several else "(grad,)"
    lines += _unpacking(row, f"on_tensors(node, {given})")
    if RUNTIME.complex and row.holomorphic and row.saved_keys:
        lines += _conjugation(row, several)
    arrays = _array_keys(row)
    if row.broadcasts and arrays and not several:
        lines.append("    if inputs is not None:")
        lines += [f"        {key} = alike({key}, grad)" for key in arrays]
    edges = {name: f"node.edges[{place}]" for name, place in edge_places(row).items()}
    body, parts = _gradients(row, edges)
    result = f"({', '.join(parts)}{',' if parts else ''})"
    if row.broadcasts:
        body.append(f"    if inputs is not None: return fit(node, {result})")
    return compiled(row, "backward", [*lines, *body, f"    return {result}"], _names(row))


def specialise_step(row: Row) -> Callable[..., Any]:
    """Writes (node, grad, ready, frees) for `fast_backward`: each gradient is passed on at once.

    What is rare (edges to second outputs, lists of tensors, what hooks unpack) goes through
    `backward`.
    """

    def otherwise(node: Node, grad: Any, ready: Ready, frees: Freed | None) -> None:
        hand_on(node, row.backward(node, grad), ready)
        if frees is not None:
            node.release(frees)

    listed = any(p.kind == "Tensor[]" for p in row.tensors)
    if row.underivable or row.output_count > 1 or row.listed or listed:
        return otherwise
    edges = {name: f"e_{name}" for name in edge_places(row)}
    slow = "otherwise(node, grad, ready, frees)"
    mixed = " or runtime.mixed" if row.broadcasts else ""
    lines = [
        "def step(node, grad, ready, frees):",
        "    rest = node.rest",
        f"    if rest is not None and (rest.numbers is not None{mixed}): return {slow}",
    ]
    if edges:
        lines.append(f"    {', '.join(edges.values())}, = node.edges")
    lines += _unpacking(row, slow)
    if RUNTIME.complex and row.holomorphic and row.saved_keys:
        lines += _conjugation(row, False)
    body, parts = _gradients(row, edges, inline=True)
    end = []
    if row.freeing:
        tests = [f"saved[{place}] is not None" for place in row.freeing if place >= 0]
        holds = f" and ({' or '.join(tests)})" if tests else ""
        end.append(f"    if frees is not None{holds}: node.saved = frees")
    lines += _fitting(row, body, parts, edges, end)
    if RUNTIME.many and row.acts == "pointwise" and not body and "(grad)" not in parts:
        lines += _in_blocks(row, parts, edges, end)
    lines += body
    lines += step_lines(list(zip(edges.values(), parts, strict=True))) + end
    names = _names(row) | {"hand_on": hand_on, "receive": receive, "Several": Several}
    names |= {"fitted": fitted, "SharedExtras": SharedExtras, "in_blocks": in_blocks}
    names |= STEPS
    return compiled(row, "step", lines, names | {"otherwise": otherwise, "runtime": RUNTIME})


def _fitting(
    row: Row, body: Sequence[str], parts: Sequence[str], edges: Mapping[str, str],
    end: Sequence[str],
) -> list[str]:  # fmt: skip
    """Lines for a node whose inputs differ from its result."""
    if not row.broadcasts or not parts:
        return []
    fits = [
        (e, f"fitted({part}, rest.inputs[{i}])")
        for i, (e, part) in enumerate(zip(edges.values(), parts))
    ]
    keys = _array_keys(row)
    cast = "; ".join(f"{key} = alike({key}, grad)" for key in keys)
    lines = [
        *([f"    if rest.__class__ is not SharedExtras: {cast}"] if keys else []),
        *body, *step_lines(fits), *end, "    return",
    ]  # fmt: skip
    test = "    if rest is not None and rest.inputs is not None:"
    return [test, *[f"    {line}" for line in lines]]


def _in_blocks(
    row: Row, parts: Sequence[str], edges: Mapping[str, str], end: Sequence[str]
) -> list[str]:
    """Lines for a node of so many elements that they are taken in blocks."""
    keys = "".join(f"{key}, " for _, key in row.unpacked_keys)
    places = "".join(f"{edge}, " for edge in edges.values())
    wanted, direct = "", []
    for number, (part, edge) in enumerate(zip(parts, edges.values())):
        step = one_step(part)
        direct.append(step is not None)
        wanted += (
            f"{f'{step}, outs[{number}])' if step else part} if {edge} is not None else None, "
        )
    return [
        f"    if rest is None and grad.size > {MANY}:",
        f"        def formulas(grad, {keys}outs): return ({wanted})",
        f"        if in_blocks(formulas, {direct!r}, grad, ({keys}), ({places}), ready):",
        *[f"        {line}" for line in end],
        "            return",
    ]


def _array_keys(row: Row) -> list[str]:
    """What its nodes save that may be arrays."""
    arrays = {*row.signature.outputs, *(p.name for p in row.tensors)}
    return sorted(arrays.intersection(row.saved_keys))


def _names(row: Row) -> dict[str, Any]:
    """What generated source may refer to."""
    formulas = {f"formula{number}": on_arrays(f) for number, f in enumerate(row.formulas)}
    return formulas | {
        "Tensor": Tensor, "SavedOutput": SavedOutput, "Freed": Freed, "freed": freed,
        "Packed": Packed, "on_tensors": on_tensors, "unpack": unpack,
        "check_version": check_version, "fit": fit, "alike": alike,
        "ARRAYS": RUNTIME.arrays, "is_complex": _is_complex, "conjugate": _conjugate,
    }  # fmt: skip


def _conjugation(row: Row, several: bool) -> list[str]:
    """Formulas of a holomorphic function are written for real numbers: grad * f'(self). For complex
    ones grad is multiplied by the conjugate of f'(self), which is f' of the conjugate.
    """
    test = "is_complex(*grads)" if several else "grad.dtype.kind == 'c'"
    keys = [key for key in row.saved_keys if key in row.signature.outputs or _a_value(row, key)]
    lines = [f"        {key} = conjugate({key})" for key in keys]
    return [f"    if {test}:", *lines] if lines else []


def _a_value(row: Row, key: str) -> bool:
    """Is it an argument that is a number, or made of them?"""
    kinds = ("Tensor", "Tensor[]", "Scalar")
    return any(p.name == key and p.kind in kinds for p in row.signature.parameters)


def _is_complex(*grads: Any) -> bool:
    return any(grad is not None and grad.dtype.kind == "c" for grad in grads)


def _conjugate(value: Any) -> Any:
    if value.__class__ is complex:
        return value.conjugate()
    if value.__class__ is list:
        return [_conjugate(item) for item in value]
    if value.__class__ is Tensor:
        return catalogue.functions["conj"](value) if value.dtype.is_complex else value
    return value.conj() if getattr(getattr(value, "dtype", None), "kind", "") == "c" else value


def _unpacking(row: Row, with_packed: str) -> list[str]:
    """Lines that bind the names of a row's formulas to what a node saved, versions checked.

    `with_packed` is source for the gradients of a node whose values a hook unpacks.
    """
    lines = ["    saved = node.saved"] if row.saved_keys else []
    if row.saves_tensors:  # else nothing is ever freed
        lines.append("    if saved.__class__ is Freed: freed(node)")
    tensors = {p.name: p for p in row.tensors}
    for place, key in row.unpacked_keys:
        unpacked = f"{key} = unpack(node, {place})"
        lines.append(f"    {key} = saved[{place}]")
        if key in tensors and tensors[key].kind == "Tensor[]":
            lines += [
                f"    if Packed in map(type, {key} or ()): return {with_packed}",
                f"    {unpacked}",
            ]
        elif key in row.signature.outputs:
            lines += [
                f"    if {key}.__class__ is SavedOutput:",
                f"        if {key}.version: check_version(node, {place})",
                f"        {key} = {key}.data",
                f"    elif {key}.__class__ is Packed: return {with_packed}",
                f"    elif {key}.__class__ not in ARRAYS and {key} is not None: {unpacked}",
            ]
        elif key in tensors:
            changed = f"{key}._storage is not None and {key}._storage.version"
            lines += [
                f"    if {key}.__class__ is Tensor:",
                f"        if {changed}: check_version(node, {place})",
                f"        {key} = {key}._data",
                f"    elif {key}.__class__ is Packed: return {with_packed}",
                f"    elif {key} is not None: {unpacked}",
            ]
    return lines


def _gradients(
    row: Row, edges: dict[str, str], inline: bool = False
) -> tuple[list[str], list[str]]:
    """Lines that run the formulas of the inputs that ask; the gradients, in the order of edges.

    `edges` is source for each differentiable argument's edge. `inline`: a gradient is only looked
    at where its edge is there, so a formula that serves one input is left to that place.
    """
    wanted = {name: _wanted(edge) for name, edge in edges.items()}
    lines: list[str] = []
    if any("needs" in formula.needs for formula in row.formulas):
        needs = ", ".join(f"{name!r}: {test}" for name, test in wanted.items())
        lines.append(f"    needs = {{{needs}}}")
    results: dict[str, str] = {}
    for number, formula in enumerate(row.formulas):
        call = plain_expression(formula) or f"formula{number}({', '.join(formula.needs)})"
        asked = " or ".join(wanted[name] for name in formula.inputs)
        if formula.joint:
            nothing = (None,) * len(formula.inputs)
            lines.append(f"    joint{number} = {call} if {asked} else {nothing!r}")
            results |= {name: f"joint{number}[{i}]" for i, name in enumerate(formula.inputs)}
        elif inline:
            results[formula.inputs[0]] = call
        else:
            (name,) = formula.inputs
            lines.append(f"    g_{name} = {call} if {asked} else None")
            results[name] = f"g_{name}"
    parts = []
    for p in row.tensors:
        if p.name in row.differentiable:
            part = results[p.name]
            if p.kind == "Tensor[]":
                part = f"*({part} or (None,) * len({edges[p.name]}))"
            parts.append(part)
    return lines, parts


def underivable(node: Any) -> Any:
    """PyTorch's error for a derivative that it does not have."""
    error = RuntimeError(f"derivative for aten::{node.called} is not implemented")
    raise because(error, Cause("underived", node.origin, node))


def _wanted(edge: str) -> str:
    return f"any(e is not None for e in {edge})" if ":" in edge else f"{edge} is not None"


def edge_places(row: Row) -> dict[str, str]:
    """Where each differentiable argument's edges stand among the node's."""
    ordered = [p for p in row.tensors if p.name in row.differentiable]
    places: dict[str, str] = {}
    for place, p in enumerate(ordered):
        after = len(ordered) - place - 1
        if p.kind == "Tensor[]":
            places[p.name] = f"{place}:{-after if after else ''}"
        elif any(q.kind == "Tensor[]" for q in ordered[:place]):
            places[p.name] = str(-1 - after)
        else:
            places[p.name] = str(place)
    return places


def alike(value: Any, grad: Any) -> Any:
    """A saved operand of another type takes part as in the forward pass: cast to the result's."""
    kind = getattr(value, "dtype", None)
    if RUNTIME.mixed and kind is not None and not value.ndim:
        value = placed(value, module_of(grad))
    if kind is None or kind == grad.dtype or kind.char == "?":
        return value
    return value.astype(grad.dtype)


SINGLE = ((), (1,), (1, 1))


def fit(node: Node, grads: Sequence[Any]) -> tuple[Any, ...]:
    """Sums broadcast dimensions away and casts back, for inputs that differ from the result."""
    assert node.rest is not None and node.rest.inputs is not None
    inputs = node.rest.inputs
    if RUNTIME.mixed:
        grads = [
            grad if grad is None or given is None else _homed(grad, *given)
            for grad, given in zip(grads, inputs)
        ]
    return tuple([fitted(grad, given) for grad, given in zip(grads, inputs)])


def fitted(grad: Any, given: tuple[Any, Any] | None) -> Any:
    """A gradient for an input of this shape and kind, where all memory is of one device."""
    if grad is not None and given is not None:
        shape, kind = given
        if grad.shape != shape or grad.dtype is not kind.array_dtype:
            return reduce_to(grad, shape, kind)
    return grad


def _homed(grad: Any, shape: tuple[int, ...], kind: TensorType) -> Any:
    """The gradient for a number of the CPU goes back to it."""
    if module_of(grad) is kind.xp:
        return grad
    return placed(reduce_to(grad, shape, kind_of_array(grad)), kind.xp)


def reduce_to(grad: Any, shape: tuple[int, ...], kind: TensorType) -> Any:
    """Sums over the dimensions that were broadcast; casts to the input's type."""
    if grad.shape != shape:
        axes = _broadcast_axes(grad.shape, shape)
        if grad.size > NOTICED or grad.dtype.kind != "f":
            axes = None if shape in SINGLE else axes
            grad = kind.xp.add.reduce(grad, axes, grad.dtype)
        elif axes is None:  # digit by digit as PyTorch adds
            grad = catalogue.rows["sum"].forward(kind.xp, grad, None)
        else:
            grad = catalogue.rows["sum.dim_IntList"].forward(kind.xp, grad, axes, False, None)
        grad = grad.reshape(shape)
    if grad.dtype != kind.array_dtype:
        grad = grad.real if grad.dtype.kind == "c" and kind.array_dtype.kind != "c" else grad
        grad = grad.astype(kind.array_dtype)
    return grad


@lru_cache(maxsize=1024)
def _broadcast_axes(given: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The dimensions that one shape was spread over to become another, longer one; None for all."""
    lead = len(given) - len(shape)
    spread = (lead + i for i, size in enumerate(shape) if size == 1 and given[lead + i] != 1)
    axes = (*range(lead), *spread)
    return None if len(axes) == len(given) else axes


# ---- the same formulas on tensors: with create_graph, and where hooks unpack what is saved


def on_tensors(node: Node, grads: Sequence[Any]) -> tuple[Any, ...]:
    """Arrays from arrays: a hook may unpack anything, and operators look at what they are given."""
    given = [None if grad is None else wrap(grad, kind_of_array(grad)) for grad in grads]
    with no_grad():
        found = apply_tensors(node, given)
    return tuple(None if grad is None else grad._data for grad in found)


def apply(node: Node, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """Gradients of the inputs from those of the outputs: arrays, or tensors that record."""
    if tensors:
        return apply_tensors(node, grads)
    one = len(grads) == 1 and not node.row.listed
    return node.row.backward(node, grads[0] if one else grads)


def apply_reduced(node: Node, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """Where PyTorch has one kernel for the whole formula, its result alone is rounded."""
    if not node.row.reduced.fused or not tensors or state.grad_enabled:
        return apply(node, grads, tensors)
    kind = next(grad._kind for grad in grads if grad is not None)
    arrays = tuple(None if grad is None else grad._data for grad in grads)
    found = apply(node, arrays, False)
    kinds = [to.variable._kind if type(to) is AccumulateGrad else kind for to in node.edges]
    return tuple(
        None if grad is None else wrap(grad, own) for grad, own in zip(found, kinds, strict=True)
    )


def apply_sparse(node: Node, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """On tensors always: an array does not tell which of the others are sparse."""
    return apply_tensors(node, grads) if tensors else on_tensors(node, grads)


def apply_tensors(node: Node, grads: Sequence[Any]) -> tuple[Any, ...]:
    """Runs a node's formulas on tensors, so that what they do becomes graph itself."""
    row = node.row
    if row.underivable:
        underivable(node)
    if node.freed:
        freed(node)
    several = row.output_count > 1 or row.listed
    values: dict[str, Any] = {"grads": tuple(grads)} if several else {"grad": grads[0]}
    tensors = {p.name for p in row.tensors} | set(row.signature.outputs)
    shown = next(g for g in grads if g is not None)
    for place, key in row.unpacked_keys:
        value = unpack(node, place, as_tensor=True)
        if key in tensors and value.__class__ in (int, float, bool, complex):
            number, kind = value, shown._kind
            value = plain(kind.xp.asarray(number, dtype=kind.array_dtype), kind)
            value._need_meta().number = number
        if RUNTIME.complex and row.holomorphic and (key in tensors or _a_value(row, key)):
            if any(g is not None and g._kind.dtype.is_complex for g in grads):
                value = _conjugate(value)
        values[key] = value
    places = edge_places(row)
    wanted = {name: needs_gradient(node, place) for name, place in places.items()}
    values["needs"] = wanted
    before, state.formula = state.formula, True
    try:
        results = row.gradients(values, wanted)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise misfit(node, values) or error from None
    except AttributeError as error:  # a kernel for one layout met another
        if node.__class__ is not SparseNode:
            raise
        raise misfit(node, values) or RuntimeError(str(error)) from None
    finally:
        state.formula = before
    out = by_edges(node, row, results)
    if node.inputs is None:
        return tuple(out)
    return tuple(
        grad if grad is None or given is None else fit_tensor(grad, node, place, *given)
        for place, (grad, given) in enumerate(zip(out, node.inputs, strict=True))
    )


def by_edges(node: Node, row: Row, results: Mapping[str, Any]) -> list[Any]:
    """The gradients of a row's inputs in the order of a node's edges."""
    places = edge_places(row)
    out: list[Any] = []
    for p in row.tensors:
        if p.name in row.differentiable:
            grad = results.get(p.name)
            if p.kind == "Tensor[]":
                count = len(_slice(node.edges, places[p.name]))
                out.extend(grad if grad is not None else [None] * count)
            else:
                out.append(grad)
    return out


def _slice(edges: Sequence[Any], place: str) -> Sequence[Any]:
    if ":" not in place:
        return [edges[int(place)]]
    start, _, stop = place.partition(":")
    return edges[int(start) : int(stop) if stop else None]


def needs_gradient(node: Node, place: str) -> bool:
    return any(edge is not None for edge in _slice(node.edges, place))


def fit_tensor(
    grad: Tensor, node: Node, place: int, shape: tuple[int, ...], kind: TensorType
) -> Tensor:
    """What a node gives one of its inputs, of that input's shape and type."""
    if grad._data.shape != shape:
        check_gradient(f"Function {node.name()} returned an ", place, grad._data.shape, shape)
        grad = catalogue.methods["sum_to_size"](grad, tuple(shape))
    if grad._kind.dtype.is_complex and not kind.dtype.is_complex:
        grad = catalogue.functions["real"](grad)
    if grad._kind is not kind:
        elsewhere = grad._kind.device is not kind.device and grad._kind.device != kind.device
        where = (kind.device,) if elsewhere else ()
        grad = catalogue.methods["to"](grad, *where, kind.dtype)
    return grad
