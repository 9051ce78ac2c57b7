"""Engine: in-place twins: the row's own kernel, its result written into the tensor's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy

from ..graph.leaf import edge_of
from ..graph.node import Node, SharedOutput, UnimplementedNode, WrittenOutput, inputs_of
from ..schema import dtypes
from ..schema.carriers import UPDATED
from ..schema.catalogue import catalogue
from ..schema.causes import Freed, mismatch
from ..schema.mode import next_sequence, state
from ..schema.row import Inplace, Row
from ..tensors.overlap import check_overlap, write_changed
from ..tensors.promotion import broadcast_message, meet, one_device, shape_error, two_devices
from ..tensors.saved import pack_operands
from ..tensors.tensor import Tensor, formed, write_into
from ..tensors.tensor_type import LARGE, TensorType, spreads
from ..tensors.views import check_inplace, rebase, view_inplace
from .call import compiled, facts_of, with_defaults
from .results import guard, infer, refused, versions_of, watch

MOST = 1 << 24  # whole numbers below it are exact in single precision


def run_of(twin: Inplace) -> Callable[..., Any]:
    """The function that an in-place twin runs."""
    return view_inplace(twin.row) if twin.row.view else specialise(twin.row)


def specialise(row: Row) -> Callable[..., Any]:
    """The function behind `x.mul_(y)`: all arguments given in order, self first.

    Updates that nothing records (of parameters, gradients, running sums) are most of them, and get
    a lane of their own in front of the general way.
    """
    general = _general(row)
    if row.view or row.output_count > 1:
        return general
    if row.symbol and row.dtype != "compare" and row.check is None:
        lines = _by_symbol(row)
    elif (row.acts, len(row.signature.names)) == ("pointwise", 1) and not row.refuse:
        lines = _by_kernel(row)
    elif row.dtype in ("promote", "same") and len(row.tensors) > 1 and _is_plain(row):
        lines = _of_several(row)
    else:
        return general
    first = row.signature.names[0]
    head = [
        f"def run({with_defaults(row)}):",
        f"    if {first}._form is None: formed({first})",
        f"    form = {first}._form",
    ]
    bump = [
        f"    storage = {first}._storage or {first}._need_storage()",
        "    storage.version += 1; storage.changed_at = state.origin",
        *([f"    if node is not None: rebase({first}, node)"] if row.symbol else []),
        f"    return {first}",
    ]
    names = {
        "Tensor": Tensor, "state": state, "general": general, "forward": row.forward,
        "check": row.check, "are_apart": are_apart,
        "write_into": write_into, "formed": formed, "add_scaled": add_scaled, "rebase": rebase,
        "ndarray": numpy.ndarray, "spreads": spreads, "linked": partial(_linked, row.inplace_row),
    }  # fmt: skip
    return compiled(row, "run", [*head, *lines, *bump], names)


def _by_symbol(row: Row) -> list[str]:
    """`x += y`: what Python's operator does on arrays."""
    given = ", ".join(row.signature.names)
    first, y, *others = row.signature.names
    scaled = "".join(f"{name} != 1 or " for name in others)
    number = (
        f"{y}.__class__ is float or {y}.__class__ is int and data.dtype.char in 'fd' "
        f"and {-MOST} < {y} < {MOST}"
    )
    linked = "None"
    if {*others}.issuperset(row.saved_keys):  # no tensor is saved
        saved = "".join(f"{key}, " for key in row.saved_keys)
        unscaled = "".join(f" if {name} == 1 else None" for name in others)
        linked = f"linked({first}, {y}, ({saved})){unscaled}"
    return [
        f"    if state.watched: return general({given})",
        f"    data, kind, node = {first}._data, {first}._kind, None",
        *[
            f"    if ({name}.__class__ is not int or {name} != 1) and ("
            f"{name}.__class__ is not float or {y}.__class__ is not Tensor "
            f"or data.dtype.char not in 'fd'): return general({given})"
            for name in others
        ],
        f"    if {y}.__class__ is Tensor:",
        f"        operand = {y}._data",
        f"        if not form or {y}._form is not form:",
        f"            if {y}._kind is not kind or not kind.is_plain or 0 in data.strides: "
        f"return general({given})",
        f"            if data.shape != operand.shape and ({scaled}not spreads(operand.shape, "
        f"data.shape)): return general({given})",
        f"        if not ({_APART.format('operand')}): return general({given})",
        f"        if state.grad_enabled and ({first}._requires_grad or {y}._requires_grad):",
        f"            node = {linked}",
        f"            if node is None: return general({given})",
        f"    elif not (form or kind.is_plain and 0 not in data.strides) or not ({number}) "
        f"or state.grad_enabled and {first}._requires_grad:",
        f"        return general({given})",
        f"    else: operand = {y} if form and form.few else kind.number({y})",
        *[
            line
            for name in others
            for line in (
                f"    if {name} != 1 and data.ndim: add_scaled(data, operand, {row.symbol}{name})",
                f"    elif {name} != 1: "
                f"write_into({first}, forward(kind.xp, data, operand, {name}))",
                "    else:",
            )
        ],
        # An array changes in place, a scalar is replaced.
        f"    {'    ' * len(others)}data {row.symbol}= operand",
        f"    {'    ' * len(others)}{first}._data = data",
    ]


def _linked(row: Row, tensor: Tensor, other: Tensor, saved: tuple[Any, ...]) -> Node | None:
    """The node of `x += y` for two tensors of one kind, neither of which it saves; None where x is
    a leaf or a view, or has anything else to be asked for."""
    leaf = tensor._requires_grad and tensor._grad_fn is None
    if leaf or tensor._meta is not None or tensor._output_nr or other._output_nr:
        return None
    node = Node()
    node.row, node.origin, node.rest, node.buffer = row, state.origin, None, None
    node.edges = tensor._grad_fn, edge_of(other)
    node.saved, node.sequence = saved, next_sequence()
    shapes = tensor._data.shape, other._data.shape
    if shapes[0] != shapes[1]:
        node.rest = inputs_of(None, tuple([(shape, tensor._kind) for shape in shapes]))
    return node


def add_scaled(data: Any, operand: Any, factor: float) -> None:
    """data += operand * factor. Of singles the sum alone is rounded, as `multiply_add` does it."""
    factor, single = data.dtype.type(factor), data.dtype.char == "f"
    for part, given in tiles(data, operand) if operand.size > TILE else ((data, operand),):
        if single and operand.size <= UPDATED:
            wide = given.astype("d")
            wide *= factor
            wide += part
            part[...] = wide
        else:
            part += given * factor


TILE = 1 << 15  # numbers of a piece: what is made of it is still near when it is added


def tiles(data: Any, operand: Any) -> Iterator[tuple[Any, Any]]:
    """Two arrays of one shape in pieces, where they lie alike."""
    rows = isinstance(data, numpy.ndarray) and data.flags.c_contiguous
    if not (rows and operand.flags.c_contiguous):
        yield data, operand
        return
    line, other = data.reshape(-1), operand.reshape(-1)
    for start in range(0, line.size, TILE):
        yield line[start : start + TILE], other[start : start + TILE]


# Of two arrays one may lie in the other, or both in a third: see `refuse_shared`.
_APART = "({0}.base is None or are_apart(data, {0})) and data.base is not {0}"


def are_apart(data: Any, operand: Any) -> bool:
    """Does an array, which is a view, surely lie in other memory? Its owner is its base."""
    base, owner = data.base, operand.base
    if base is None:
        return owner is not data
    return base is not owner and base.__class__ is owner.__class__ is numpy.ndarray


def _is_plain(row: Row) -> bool:
    """Are all arguments tensors or numbers, and singles and doubles taken, at no more cost than
    their elements?"""
    parameters = row.signature.parameters
    return (
        {p.kind for p in parameters} <= {"Tensor", "Scalar", "bool"}
        and not any(p.optional for p in parameters) and not {"Float", "Double"} & row.refuse.keys()
        and not row.kinded and row.cost is None
    )  # fmt: skip


def _of_several(row: Row) -> list[str]:
    """`x.addcmul_(y, z)` of tensors of one type and shape: what the operator computes, written
    over its first input."""
    given = ", ".join(row.signature.names)
    first, *others = (p.name for p in row.tensors)
    numbers = [name for name in row.signature.names if name not in (first, *others)]
    tests = ["state.watched", "data.dtype.char not in 'fd'", f"data.size > {LARGE}"]
    tests += [f"{name}.__class__ not in (float, int, bool)" for name in numbers]
    asks = " or ".join(f"{name}._requires_grad" for name in (first, *others))
    arrays = ", ".join(
        "data" if n == first else f"a_{n}" if n in others else n for n in row.signature.names
    )
    return [
        f"    data, kind = {first}._data, {first}._kind",
        f"    if not (form or kind.is_plain and 0 not in data.strides) or {' or '.join(tests)}: "
        f"return general({given})",
        *[
            line
            for name in others
            for line in (
                f"    if {name}.__class__ is not Tensor or {name}._kind is not kind: "
                f"return general({given})",
                f"    a_{name} = {name}._data",
                f"    if a_{name}.shape != data.shape or not ({_APART.format(f'a_{name}')}): "
                f"return general({given})",
            )
        ],
        f"    if state.grad_enabled and ({asks}): return general({given})",
        *([f"    check({given})"] if row.check is not None else []),
        f"    found = forward(kind.xp, {arrays})",
        "    if data.__class__ is ndarray: data[...] = found",
        f"    else: write_into({first}, found)",
    ]


def _by_kernel(row: Row) -> list[str]:
    """`x.exp_()`: what the operator computes, written over its input."""
    first = row.signature.names[0]
    return [
        "    if not form or state.watched or state.grad_enabled and "
        f"{first}._requires_grad: return general({first})",
        f"    data = forward(form.kind.xp, {first}._data)",
        f"    if form.kind.is_plain and {first}._data.__class__ is ndarray: "
        f"{first}._data[...] = data",
        f"    else: write_into({first}, data)",
    ]


def _general(row: Row) -> Callable[..., Any]:
    """Every case, by looking at the arguments."""
    node_row = row.inplace_row
    asked = [p.name for p in row.tensors if p.name in row.differentiable or p is row.tensors[0]]
    if not row.inplace_node and row.dtype in ("compare", "bool"):
        asked = []  # PyTorch's autograd knows nothing of logic: x.logical_not_() of a leaf too

    def run(*values: Any) -> Tensor:
        tensor: Tensor = values[0]
        arguments = dict(zip(row.signature.names, values, strict=True))
        tracked = state.grad_enabled and any(
            t.requires_grad for name in asked for t in _each(arguments[name])
        )
        check_inplace(tensor, tracked)
        if row.refuse and not row.broadcasts and tensor._kind.dtype.word in row.refuse:
            refused(row, tensor._kind)
        for check in (row.check, row.check_mixed):
            if check is not None:
                check(*values)
        if row.broadcasts:
            _check_shapes(row, tensor, [arguments[p.name] for p in row.tensors])
        expanded = check_overlap(row, *values)
        data = _result(row, tensor, arguments, values)
        node = None
        if tracked and tensor._kind.differentiable:
            node = _record(row, node_row, tensor, arguments)
            if state.saved_hooks:
                pack_operands(node, values)  # as they are before the write
        before = tensor._data.copy() if state.recorder is not None else None
        write = write_changed if expanded else write_into
        write(tensor, data)
        tensor._bump()
        if node is not None:
            rebase(tensor, node)
            _save_output(row, node, tensor)
            if state.told:
                watch(node, (tensor,), values, before)
        return tensor

    return run


def _check_shapes(row: Row, tensor: Tensor, operands: Sequence[Any]) -> None:
    """PyTorch looks at shapes before it looks at types and scales."""
    own = whole = tensor._data.shape
    shapes = [t._data.shape for t in operands if t.__class__ is Tensor]
    for shape in shapes:
        if shape != whole:
            if (message := broadcast_message(whole, shape)) is not None:
                raise mismatch(RuntimeError(message), whole, shape)
            whole = numpy.broadcast_shapes(whole, shape)
    if whole != own:
        raise _unfit(row, own, whole, shapes)


def _unfit(
    row: Row, own: Sequence[int], shape: Sequence[int], shapes: Sequence[Any]
) -> RuntimeError:
    """What is computed has a shape that the tensor has not."""
    if row.exact:
        return RuntimeError(
            f"Bad in-place call: input tensor size {list(own)} and output tensor size "
            f"{list(shape)} should match"
        )
    words = f"output with shape {list(own)} doesn't match the broadcast shape {list(shape)}"
    return mismatch(RuntimeError(words), *shapes)


def _each(value: Any) -> Sequence[Tensor]:
    if value.__class__ is list:
        return [t for t in value if t.__class__ is Tensor]
    return [value] if value.__class__ is Tensor else []


def _result(row: Row, tensor: Tensor, arguments: dict[str, Any], values: Sequence[Any]) -> Any:
    """The kernel's array, checked to fit into the tensor."""
    operands = [arguments[p.name] for p in row.tensors]
    kind = tensor._kind
    if row.dtype == "scalar":
        assert row.scalar is not None
        kind, arrays = meet("promote", [*operands, arguments[row.scalar]], row.reduced.wide_numbers)
        arrays.pop()
    elif row.broadcasts:
        kind, arrays = meet(row.dtype, operands, row.reduced.wide_numbers)
    else:
        arrays = [_array(v) for v in operands]
        one_device(row, kind, operands)
    if kind.device is not tensor._kind.device and kind.device != tensor._kind.device:
        two_devices(kind.device, tensor._kind.device)
    result_kind = kind.of(dtypes.bool_) if row.dtype in ("compare", "bool") else kind
    if row.dtype not in ("promote", "promote_float", "compare", "same", "bool", "int64", "scalar"):
        result_kind = infer(row, kind, values)
    if row.dtype == "real" and tensor._kind.dtype.is_complex:
        raise RuntimeError(f"In-place {row.name} is not supported for complex tensors.")
    if row.dtype in ("promote", "promote_float", "scalar") or callable(row.dtype):
        _check_cast(row, result_kind, tensor._kind)
    if row.broadcasts and kind.dtype.word in row.refuse:
        refused(row, kind, arrays)
    guard(row, kind, values)
    given = dict(zip((p.name for p in row.tensors), arrays, strict=True))
    try:
        forward, library = row.forward, kind if row.kinded else kind.xp
        if kind.is_reduced and row.reduced.forward is not None:
            forward, library = row.reduced.forward, kind
        data = forward(library, *(given.get(n, arguments[n]) for n in row.signature.names))
    except ValueError as error:
        raise shape_error(arrays, error) from None
    shape = getattr(data, "shape", ())
    if shape != tensor._data.shape and broadcast_message(shape, tensor._data.shape) is None:
        if len(shape) > tensor._data.ndim or any(
            a != b for a, b in zip(shape[::-1], tensor._data.shape[::-1], strict=False) if a != 1
        ):
            raise _unfit(row, tensor._data.shape, shape, [getattr(a, "shape", ()) for a in arrays])
    return data


def _array(value: Any) -> Any:
    if value.__class__ is Tensor:
        return value._data
    return [_array(item) for item in value] if value.__class__ is list else value


def _check_cast(row: Row, source: TensorType, target: TensorType) -> None:
    if not dtypes.can_cast(source.dtype, target.dtype):
        given = target.dtype
        words = {"result": source.dtype.word, "given": given.word, "c_given": given.c_word}
        raise RuntimeError(row.cast_words.format(**words))


def _record(row: Row, node_row: Row, tensor: Tensor, arguments: dict[str, Any]) -> Node:
    """The node of the in-place operation; what it saves of self is saved as a copy, whose node is
    younger."""
    made = UnimplementedNode(f"{row.name}_") if row.underivable else tensor._kind.node()
    node: Node = made
    node.row, node.origin = node_row, state.origin
    node.rest = node.buffer = None
    given: list[Any] = []
    for p in row.tensors:
        if p.name in row.differentiable or not row.formulas:
            value = arguments[p.name]
            given += value if value.__class__ is list else (value,)
    node.edges = edges = tuple([edge_of(t) if t.__class__ is Tensor else None for t in given])
    numbers = [0 if edge is None else t._output_nr for edge, t in zip(edges, given)]
    if any(numbers):
        node.numbers = tuple(numbers)
    if row.broadcasts:
        inputs = [(t._data.shape, t._kind) if t.__class__ is Tensor else None for t in given]
        node.rest = inputs_of(node.rest, tuple(inputs))
    node.sequence = next_sequence()
    node.saved = saved = _saved(row, arguments)
    versions = versions_of(saved)
    if any(versions):
        node.versions = versions
    return node


def _needs_gradient(row: Row, key: str, arguments: dict[str, Any]) -> bool:
    """Does an input whose derivative needs this value ask for a gradient?"""
    return any(
        tensor.requires_grad
        for formula in row.formulas
        if key in formula.needs
        for name in formula.inputs
        for tensor in _each(arguments[name])
    )


def _saved(row: Row, arguments: dict[str, Any]) -> tuple[Any, ...]:
    """What the formulas need; the output's place stays None until the write is done."""
    saved: list[Any] = []
    for key, fact in zip(row.saved_keys, facts_of(row)(*arguments.values()), strict=True):
        value = arguments.get(key, fact)
        if value.__class__ is Tensor and not _needs_gradient(row, key, arguments):
            value = None
        elif value.__class__ is Tensor and key == row.tensors[0].name:
            # What is about to be overwritten is saved as a copy, which leaves a node of its own.
            value = catalogue.functions["clone"](value)
        saved.append(value)
    return tuple(saved)


def _save_output(row: Row, node: Node, tensor: Tensor) -> None:
    """The result is saved after the write, with the version that the write made."""
    output = row.signature.outputs[0]
    if output in row.saved_keys:
        assert not isinstance(node.saved, Freed)  # the node is new
        saved = list(node.saved)
        is_view = tensor._meta is not None and tensor._meta.base is not None
        kept = WrittenOutput(tensor) if is_view else SharedOutput(tensor, 0)
        saved[row.saved_keys.index(output)] = kept
        node.saved = tuple(saved)
        versions = versions_of(node.saved)
        node.versions = versions if any(versions) else None
