"""Engine: the forward path: from a row to the straight-line function that a call runs.

A call of an ordinary operator costs about a microsecond, so nothing may be looked up, bound or
looped over that the row already decides. The function is therefore written out as source from the
row, once, at first use. Everything that is rare (mixed types, numbers as operands, views, limits)
goes to ordinary functions below.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import dtypes
from .device import cpu
from .dtypes import DType
from .mode import next_sequence, state
from .node import Node, SavedOutput
from .operator import Row
from .tensor import Kind, Tensor, edge_of, kind_of, mark_inference, plain, refuse_inference

LARGE = 1 << 16  # elements from which memory is asked for before the kernel runs


def _names(row: Row) -> dict[str, Any]:
    """What generated source may refer to."""
    return {
        "Tensor": Tensor, "Node": Node, "new": object.__new__, "state": state, "row": row,
        "forward": row.forward, "numpy": numpy, "ndarray": numpy.ndarray, "edge_of": edge_of,
        "SavedOutput": SavedOutput, "next_sequence": next_sequence, "plain": plain,
        "meet": meet, "shape_error": shape_error, "versions_of": versions_of, "finish": finish,
        "refused": refused, "guard": guard, "infer": infer, "one_device": one_device,
        "default_kind": default_kind, "bool_": dtypes.bool_, "int64": dtypes.int64,
        "inputs_of": inputs_of, "watch": watch, "make_view": make_view, "mark_inference": mark_inference,
        "check": row.check, "check_mixed": row.check_mixed,
    }  # fmt: skip


def specialise(row: Row) -> Callable[..., Any]:
    """Writes and compiles the function that runs one overload; arguments come bound, in order."""
    names = _names(row)
    lines: list[str] = []
    if _has_ordinary_lane(row):
        _write_lane(row, "general", False, lines.append)
        _write_lane(row, "run", True, lines.append)
    else:
        _write_lane(row, "run", False, lines.append)
    return compiled(f"{row.signature.name}.{row.signature.overload or 'default'}", "run", lines, names)


def python_operator(row: Row, constants: dict[str, Any], otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The row's ordinary lane as the function behind `x + y`; any other operand goes to `otherwise`."""
    names = _names(row) | constants | {"otherwise": otherwise}
    lines: list[str] = []
    x, y = (p.name for p in row.tensors)
    _write_lane(row, "run", True, lines.append, f"otherwise({x}, {y})", f"{x}, {y}")
    return compiled(f"{row.signature.name}.operator", "run", lines, names)


def _has_ordinary_lane(row: Row) -> bool:
    """Two tensors of one kind are what most calls have: they get a lane without questions."""
    return (
        row.broadcasts
        and [p.kind for p in row.tensors] == ["Tensor", "Tensor"]
        and not any(p.optional for p in row.tensors)
        and not row.tensors[0].number
        and row.output_count == 1
    )


def _write_lane(
    row: Row, name: str, ordinary: bool, write: Callable[[str], None], otherwise: str = "", parameters: str = ""
) -> None:
    given = ", ".join(row.signature.names)
    first = row.tensors[0].name
    write(f"def {name}({parameters or given}):")
    if ordinary:
        x, y = (p.name for p in row.tensors)
        floating = " or not kind.differentiable" if row.dtype == "promote_float" else ""
        write(f"    kind = {x}._kind")
        write(f"    if {y}.__class__ is not Tensor or {y}._kind is not kind{floating}: return {otherwise or f'general({given})'}")
        write(f"    a_{x} = {x}._data; a_{y} = {y}._data")
    if row.refuse and not row.broadcasts:
        write(f"    if {first}._kind.dtype.word in row.refuse: refused(row, {first}._kind)")
    if row.check is not None:
        write(f"    check({given})")
    if row.check_mixed is not None and not ordinary:
        write(f"    check_mixed({given})")
    if not ordinary:
        _write_operands(row, write)
    if row.refuse and row.broadcasts:  # what counts is the type that the operands meet in
        write("    if kind.dtype.word in row.refuse: refused(row, kind)")
    write(f"    result_kind = {_result_kind(row)}")
    _write_kernel(row, ordinary, write)
    _write_record(row, ordinary, write)


def _result_kind(row: Row) -> str:
    """Source for the kind of the result where the row's policy fixes it."""
    fixed = {"compare": "kind.of(bool_)", "bool": "kind.of(bool_)", "int64": "kind.of(int64)",
             "same": "kind", "promote": "kind", "promote_float": "kind", "scalar": "kind"}  # fmt: skip
    if isinstance(row.dtype, str) and row.dtype in fixed:
        return fixed[row.dtype]
    return f"infer(row, kind, ({', '.join(row.signature.names)},))"


def compiled(label: str, function: str, lines: Sequence[str], names: dict[str, Any]) -> Callable[..., Any]:
    """Compiles generated source; tracebacks show it under <gradcli label>."""
    text = "\n".join(lines) + "\n"
    file = f"<gradcli {label} {function}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)  # noqa: S102 - text made from our own rows
    result: Callable[..., Any] = names[function]
    return result


def _write_operands(row: Row, write: Callable[[str], None]) -> None:
    """Arrays `a_<name>` of the tensor arguments, and `kind`, the result's kind."""
    plain_tensors = [p for p in row.tensors if p.kind == "Tensor" and not p.optional]
    if row.broadcasts and len(row.tensors) == 1 and len(plain_tensors) == 1:
        x = plain_tensors[0].name
        write(f"    kind = {x}._kind; a_{x} = {x}._data")
        if row.dtype == "promote_float":
            write(f"    if not kind.differentiable: kind, (a_{x},) = meet(row.dtype, ({x},))")
        elif row.dtype == "scalar":
            write(f"    if not kind.differentiable: kind, (a_{x}, _) = meet('promote', ({x}, {row.scalar}))")
    elif row.broadcasts:
        given = "".join(f"{p.name}, " for p in row.tensors)
        arrays = "".join(f"a_{p.name}, " for p in row.tensors)
        write(f"    kind, ({arrays}) = meet(row.dtype, ({given}))")
    else:
        first = row.tensors[0]
        write(f"    kind = {first.name}{'[0]' if first.kind == 'Tensor[]' else ''}._kind")
        for p in row.tensors:
            if p.kind == "Tensor[]":
                write(f"    a_{p.name} = [t._data if t is not None else None for t in {p.name}]")
            elif p.number:
                write(f"    a_{p.name} = {p.name}._data if {p.name}.__class__ is Tensor else {p.name}")
            elif row.view:
                write(f"    a_{p.name} = {p.name}._need_array()")
            elif p.optional:
                write(f"    a_{p.name} = None if {p.name} is None else {p.name}._data")
            else:
                write(f"    a_{p.name} = {p.name}._data")
        if len(row.tensors) > 1 or first.kind == "Tensor[]":
            given = "".join(f"{'*' if p.kind == 'Tensor[]' else ''}{p.name}, " for p in row.tensors)
            write(f"    one_device(kind, ({given}))")


def _write_kernel(row: Row, ordinary: bool, write: Callable[[str], None]) -> None:
    tensor_names = {p.name for p in row.tensors}
    arguments = ", ".join(f"a_{n}" if n in tensor_names else n for n in row.signature.names)
    given = ", ".join(row.signature.names)
    sized = [p for p in row.tensors if p.kind == "Tensor" and not p.number and not p.optional]
    if row.cost is not None:
        write(f"    guard(row, kind, ({given},))")
    elif not row.view and sized:
        tests = [f"a_{p.name}.size > {LARGE // 256}" for p in (row.tensors if ordinary else sized)]
        if not ordinary:
            tests += [
                f"({p.name}.__class__ is Tensor and a_{p.name}.size > {LARGE // 256})"
                for p in row.tensors
                if p.kind == "Tensor" and p not in sized
            ]
        write(f"    if {' or '.join(tests)}: guard(row, kind, ({given},))")
    if row.broadcasts and len(row.tensors) > 1:
        write("    try:")
        write(f"        data = forward(kind.xp, {arguments})")
        write("    except ValueError as error:")
        arrays = "".join(f"a_{p.name}, " for p in row.tensors)
        write(f"        raise shape_error(({arrays}), error) from None")
    else:
        write(f"    data = forward(kind.xp, {arguments})")
    if row.output_count > 1 or row.view == "multi":
        return
    write("    if data.dtype is not result_kind.array_dtype: data = data.astype(result_kind.array_dtype, copy=False)")
    write("    out = new(Tensor)")
    write("    out._data = data; out._kind = result_kind; out._output_nr = 0")
    write("    out._storage = out._meta = None")
    if row.view:
        write(f"    make_view(out, {row.tensors[0].name})")


def _write_record(row: Row, ordinary: bool, write: Callable[[str], None]) -> None:
    """Makes the node when an input asks for gradients; returns the result."""
    multiple = row.output_count > 1 or row.view == "multi"
    given = ", ".join(row.signature.names)
    if not row.formulas and not row.node:
        if multiple:
            write(f"    return finish(row, kind, data, None, ({given},))")
        else:
            write(f"    out._requires_grad = {_unrecorded(row)}; out._grad_fn = None")
            write("    if state.inference: mark_inference(out)")
            write("    return out")
        return
    asks = " or ".join(f"{p.name}._requires_grad" if ordinary else _asks(row, p) for p in row.tensors)
    write(f"    if state.grad_enabled and ({asks}):")
    if not multiple and not ordinary:
        write("      if result_kind.differentiable:")
    indent = "        "
    edges = _write_edges(row, ordinary, lambda text: write(indent + text))
    write(indent + "node = new(Node)")
    write(indent + "node.row = row; node.hooks = None; node.origin = state.origin; node.extra = None")
    write(indent + f"node.edges = {edges}")
    write(indent + f"node.sequence = next_sequence()")
    _write_saved(row, ordinary, lambda text: write(indent + text))
    if row.broadcasts:
        _write_inputs(row, ordinary, lambda text: write(indent + text))
    else:
        write(indent + "node.inputs = None")
    if multiple:
        write(indent + f"return finish(row, kind, data, node, ({given},))")
        write(f"    return finish(row, kind, data, None, ({given},))")
        return
    write(indent + "out._requires_grad = True; out._grad_fn = node")
    if any(name in row.saved_keys for name in row.signature.outputs):
        _write_output_saved(row, lambda text: write(indent + text))
    write(indent + "if state.watched: watch(node, (out,))")
    write(indent + "return out")
    write(f"    out._requires_grad = {_unrecorded(row)}; out._grad_fn = None")
    write("    if state.inference: mark_inference(out)")
    write("    return out")


def _unrecorded(row: Row) -> str:
    """Without a node a result requires no gradient; a view still says what its base does."""
    return "out._meta.base._requires_grad" if row.view else "False"


def _asks(row: Row, p: Any) -> str:
    """Does this argument require a gradient? A view's flag may be stale until its base is asked."""
    if p.kind == "Tensor[]":
        return f"any(t is not None and t._requires_grad for t in {p.name})"
    test = f"{p.name}._requires_grad"
    if p.number:
        return f"({p.name}.__class__ is Tensor and {test})"
    return f"({p.name} is not None and {test})" if p.optional else test


def _write_edges(row: Row, ordinary: bool, write: Callable[[str], None]) -> str:
    """Edges in the order of the tensor arguments that have a derivative (PyTorch's order)."""
    listed = any(p.kind == "Tensor[]" for p in row.tensors)
    parts, numbers, inline = [], [], True
    for p in row.tensors:
        name = p.name
        if name not in row.differentiable and row.formulas:
            continue
        if p.kind == "Tensor[]":
            write(f"e_{name} = tuple([edge_of(t) for t in {name}])")
            parts.append(f"*e_{name}")
            numbers.append(f"*[t._output_nr for t in {name}]")
            inline = False
            continue
        guarded = (p.number or p.optional) and not ordinary
        known = f"{name}.__class__ is Tensor" if guarded else ""
        if guarded:
            write(f"if {known}:")
        pad = "    " if guarded else ""
        write(pad + f"e_{name} = {name}._grad_fn")
        write(pad + f"if e_{name} is None or {name}._meta is not None: e_{name} = edge_of({name})")
        if guarded:
            write(f"else: e_{name} = None")
        parts.append(f"e_{name}")
        numbers.append(f"({name}._output_nr if e_{name} is not None else 0)" if guarded else f"{name}._output_nr")
    if inline and not listed and numbers:
        write(f"node_numbers = ({', '.join(numbers)},)" if len(numbers) > 2 else "node_numbers = None")
        if len(numbers) <= 2:
            write(f"if {' or '.join(numbers)}: node_numbers = ({', '.join(numbers)},)")
        else:
            write("if not any(node_numbers): node_numbers = None")
    elif numbers:
        write(f"node_numbers = ({', '.join(numbers)},)")
        write("if not any(node_numbers): node_numbers = None")
    else:
        write("node_numbers = None")
    return f"({', '.join(parts)},)" if parts else "()"


def _write_saved(row: Row, ordinary: bool, write: Callable[[str], None]) -> None:
    """What the formulas of the inputs that ask for gradients need; the rest stays None."""
    write("node.numbers = node_numbers")
    outputs = row.signature.outputs
    values, tracked = [], []
    tensor_parameters = {p.name: p for p in row.tensors}
    for key in row.saved_keys:
        if key in outputs:
            values.append("None")
            continue
        serves = _serves(row, key)
        if key in tensor_parameters:
            p = tensor_parameters[key]
            value = f"list({key})" if p.kind == "Tensor[]" else key
            tracked.append(p)
        elif key in row.signature.names:
            value = key
        else:
            value = _derived(row, key)
        values.append(f"{value} if {serves} else None" if serves and key in tensor_parameters else value)
    write(f"node.saved = saved = ({', '.join(values)}{',' if values else ''})")
    if not tracked:
        write("node.versions = None")
        return
    tests = []
    for p in tracked:
        if p.kind == "Tensor[]":
            tests.append("True")
        elif p.number and not ordinary:
            tests.append(f"({p.name}.__class__ is Tensor and {p.name}._storage is not None)")
        elif p.optional:
            tests.append(f"({p.name} is not None and {p.name}._storage is not None)")
        else:
            tests.append(f"{p.name}._storage is not None")
    write(f"node.versions = versions_of(saved) if {' or '.join(tests)} else None")


def _serves(row: Row, key: str) -> str:
    """The condition under which a saved value is needed: some input it serves asks for a gradient."""
    edges = []
    for formula in row.formulas:
        if key in formula.needs:
            for name in formula.inputs:
                p = next(p for p in row.tensors if p.name == name)
                if p.kind == "Tensor[]":
                    return ""
                edges.append(f"e_{name} is not None")
    differentiable = [p for p in row.tensors if p.name in row.differentiable]
    return "" if len(differentiable) < 2 or len(edges) >= len(differentiable) else " or ".join(edges)


def _derived(row: Row, key: str) -> str:
    """`self_sym_sizes` and its like: facts about an argument, worked out when the call is made."""
    for suffix, text in DERIVED.items():
        name = key.removesuffix(suffix)
        if name != key and name in row.signature.names:
            p = next(p for p in row.signature.parameters if p.name == name)
            if p.kind == "Tensor[]":
                return f"[{text.format('t')} for t in {name}]"
            if p.number:
                return f"({text.format(name)} if {name}.__class__ is Tensor else None)"
            return f"(None if {name} is None else {text.format(name)})" if p.optional else text.format(name)
    raise ValueError(f"{row!r}: a formula asks for {key!r}, which is neither an argument nor an output")


DERIVED = {
    "_sym_sizes": "{}._data.shape",
    "_sym_sizes_opt": "{}._data.shape",
    "_shape": "{}._data.shape",
    "_sym_numel": "{}._data.size",
    "_sym_strides": "{}.stride()",
    "_sym_argsize_0": "{}._data.shape[0]",
    "_sym_argsize_1": "{}._data.shape[1]",
    "_sym_argsize_2": "{}._data.shape[2]",
    "_sym_argsize_minus_1": "{}._data.shape[-1]",
    "_sym_argsize_minus_2": "{}._data.shape[-2]",
    "_strides": "{}.stride()",
    "_start": "{}.storage_offset()",
    "_dim": "{}._data.ndim",
    "_dtype": "{}._kind.dtype",
    "_kind": "{}._kind",
    "_options": "{}._kind.dtype",
}


def _write_inputs(row: Row, ordinary: bool, write: Callable[[str], None]) -> None:
    """Where a gradient must be summed or cast back: shapes and kinds of the inputs, else None."""
    if ordinary:
        given = [p.name for p in row.tensors if p.name in row.differentiable]
        values = ", ".join(f"(a_{name}.shape, kind)" for name in given)
        tests = " or ".join(f"a_{name}.shape != shape" for name in given)
        write("shape = data.shape")
        write(f"node.inputs = ({values},) if {tests} else None" if given else "node.inputs = None")
        return
    tests, values = [], []
    for p in row.tensors:
        if p.name not in row.differentiable and row.formulas:
            continue
        if p.kind == "Tensor[]":
            write(f"node.inputs = tuple([(t._data.shape, t._kind) for t in {p.name}])")
            return
        if p.number or p.optional:
            tests.append(f"({p.name}.__class__ is Tensor and ({p.name}._data.shape != shape or {p.name}._kind is not kind))")
            values.append(f"({p.name}._data.shape, {p.name}._kind) if {p.name}.__class__ is Tensor else None")
        else:
            tests.append(f"{p.name}._data.shape != shape or {p.name}._kind is not kind")
            values.append(f"({p.name}._data.shape, {p.name}._kind)")
    if not values:
        write("node.inputs = None")
        return
    if row.output_count > 1:
        write(f"node.inputs = ({', '.join(values)},)")
        return
    write("shape = data.shape")
    write(f"node.inputs = ({', '.join(values)},) if {' or '.join(tests)} else None")


def _write_output_saved(row: Row, write: Callable[[str], None]) -> None:
    place = row.saved_keys.index(row.signature.outputs[0])
    if len(row.saved_keys) == 1:
        write("node.saved = (SavedOutput(out),)")
        return
    write(f"saved = list(saved); saved[{place}] = SavedOutput(out); node.saved = tuple(saved)")
    write("if node.versions is not None: node.versions = versions_of(node.saved)")


# ---- what generated functions call when things are not ordinary


def default_kind(device: Any) -> Kind:
    return kind_of(dtypes.default_dtype(), device)


def meet(policy: str, operands: Sequence[Any]) -> tuple[Kind, list[Any]]:
    """PyTorch's promotion: the common kind, and the operands' arrays cast to it.

    Python numbers stay Python numbers: NumPy treats them as weakly as PyTorch does.
    """
    flat: list[Any] = []
    for value in operands:
        flat.extend(value) if value.__class__ is list else flat.append(value)
    tensors = [t for t in flat if t.__class__ is Tensor]
    dimensioned = [t._kind.dtype for t in tensors if t._data.ndim]
    zero_dim = [t._kind.dtype for t in tensors if not t._data.ndim]
    numbers = [dtypes.of_number(v) for v in flat if v.__class__ is not Tensor and v is not None]
    dtype = dtypes.result_type(dimensioned, zero_dim, numbers)
    if policy == "promote_float" and dtype.category < dtypes.FLOATING:
        dtype = dtypes.default_dtype()
    device = _common_device(tensors)
    kind = kind_of(dtype, device)
    return kind, [_cast(value, kind) for value in operands]


def _cast(value: Any, kind: Kind) -> Any:
    if value.__class__ is Tensor:
        data = value._data
        if value._kind.device is not kind.device and value._kind.device != kind.device:
            data = kind.xp.asarray(data)
        return data if data.dtype == kind.array_dtype else data.astype(kind.array_dtype)
    if value.__class__ is list:
        return [_cast(item, kind) for item in value]
    if value is None:
        return None
    if kind.dtype.category == dtypes.INTEGER and value.__class__ is int:
        return kind.array_dtype.type(value) if -(2**63) <= value < 2**63 and _fits(value, kind) else _wrapped(value, kind)
    return value


def _fits(value: int, kind: Kind) -> bool:
    limits = numpy.iinfo(kind.array_dtype)
    return bool(limits.min <= value <= limits.max)


def _wrapped(value: int, kind: Kind) -> Any:
    """An integer that the element type can't hold: wraps around, or overflows in PyTorch's words."""
    if not -(2**63) <= value < 2**64:
        raise RuntimeError("Overflow when unpacking long long")
    return numpy.array(value & (2**64 - 1), dtype="uint64").astype(kind.array_dtype)[()]


def _common_device(tensors: Sequence[Tensor]) -> Any:
    device = tensors[0]._kind.device
    for tensor in tensors:
        other = tensor._kind.device
        if other is device or other == device:
            continue
        if tensor._data.ndim == 0 and other is cpu:
            continue
        if device is cpu and all(t._data.ndim == 0 for t in tensors if t._kind.device is cpu):
            device = other
            continue
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{device} and {other}!"
        )
    return device


def one_device(kind: Kind, operands: Sequence[Any]) -> None:
    device = kind.device
    for operand in operands:
        if operand.__class__ is Tensor and operand._kind.device is not device:
            _common_device([t for t in operands if t.__class__ is Tensor])
            return


def infer(row: Row, kind: Kind, arguments: Sequence[Any]) -> Kind:
    """The result's kind where the policy looks at the arguments."""
    policy = row.dtype
    if policy == "sum":
        given = arguments[row.signature.names.index("dtype")] if "dtype" in row.signature.names else None
        if given is not None:
            return kind.of(given)
        return kind if kind.dtype.category > dtypes.INTEGER else kind.of(dtypes.int64)
    if isinstance(policy, str):
        return kind.of(dtypes.BY_NAME[policy])
    answer = policy(*arguments)
    return kind_of(*answer) if answer.__class__ is tuple else kind.of(answer)


def shape_error(arrays: Sequence[Any], error: ValueError) -> Exception:
    """PyTorch's words for operands that do not broadcast; the kernel's own error otherwise."""
    flat = [a for v in arrays for a in (v if isinstance(v, list) else [v])]
    shapes = [a.shape for a in flat if hasattr(a, "shape")]
    for left, right in zip(shapes, shapes[1:], strict=False):
        message = broadcast_message(left, right)
        if message:
            return RuntimeError(message)
    return error


def broadcast_message(left: Sequence[int], right: Sequence[int]) -> str | None:
    """The mismatch of two shapes, or None when they broadcast."""
    width = max(len(left), len(right))
    for place in range(width - 1, -1, -1):
        i, j = place - width + len(left), place - width + len(right)
        a, b = (left[i] if i >= 0 else 1), (right[j] if j >= 0 else 1)
        if a != b and a != 1 and b != 1:
            return (
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {place}"
            )
    return None


def refused(row: Row, kind: Kind) -> None:
    """Raises what PyTorch raises for an element type that the operator does not take."""
    message = row.refuse[kind.dtype.word]
    kind, text = (NotImplementedError, message) if isinstance(message, str) else message
    raise kind(text)


def guard(row: Row, kind: Kind, arguments: Sequence[Any]) -> None:
    """Asks for the result's memory before it is made."""
    if row.cost is not None:
        elements = int(row.cost(*arguments))
    else:
        shapes = [
            t._data.shape
            for v in arguments
            for t in (v if isinstance(v, list) else [v])
            if t.__class__ is Tensor
        ]
        elements = _broadcast_numel(shapes) if row.broadcasts else sum(_numel(s) for s in shapes)
    if elements >= LARGE // 256:
        state.reserve(elements * kind.array_dtype.itemsize)


def _numel(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _broadcast_numel(shapes: Sequence[Sequence[int]]) -> int:
    width = max(len(s) for s in shapes)
    padded = [(1,) * (width - len(s)) + tuple(s) for s in shapes]
    return _numel([max(sizes) for sizes in zip(*padded, strict=True)])


def versions_of(saved: Sequence[Any]) -> tuple[Any, ...]:
    """The version of each saved tensor when it was saved."""
    return tuple(
        [_version(t) for t in value] if value.__class__ is list else _version(value)
        for value in saved
    )


def _version(value: Any) -> int:
    storage = getattr(value, "_storage", None)
    if storage is None:
        return 0
    refuse_inference(storage)
    version: int = storage.version
    return version


def inputs_of(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple((t._data.shape, t._kind) for t in tensors)


def watch(node: Node, outs: Sequence[Any]) -> None:
    """What follows a new node while somebody watches: saved_tensors_hooks, the pipeline's observer."""
    if state.saved_hooks:
        from .saved import pack_node

        pack_node(node)
    if state.observer is not None:
        for out in outs:
            state.observer.made(out)


def make_view(out: Tensor, source: Tensor, creation: str = "") -> None:
    """Ties a result to the tensor whose memory it shares."""
    meta = out._need_meta()
    base = source._base
    meta.base = source if base is None else base
    out._storage = source._need_storage()
    meta.view_version = out._storage.version
    if creation:
        meta.creation = creation
    elif source._meta is not None and source._meta.creation:
        meta.creation = source._meta.creation
    elif not state.grad_enabled:
        meta.creation = "no_grad"


def finish(row: Row, kind: Kind, datas: Any, node: Node | None, arguments: Sequence[Any]) -> Any:
    """Wraps several outputs; those of a floating type are outputs 0, 1, ... of the node."""
    outs: list[Tensor] = []
    multi_view = row.view == "multi"
    for place, data in enumerate(datas):
        if data is None:
            outs.append(None)  # type: ignore[arg-type]
            continue
        data = kind.xp.asarray(data)
        result = _kind_of_output(row, kind, data, place)
        out = plain(data if data.dtype == result.array_dtype else data.astype(result.array_dtype), result)
        if multi_view:
            make_view(out, arguments[0], "multi")
            out._requires_grad = arguments[0]._requires_grad
        constant = row.undifferentiable and row.signature.outputs[place] in row.undifferentiable
        if node is not None and result.differentiable and not constant:
            out._requires_grad, out._grad_fn, out._output_nr = True, node, place
        outs.append(out)
    if node is not None:
        saved = list(node.saved or ())
        changed = False
        for place, name in enumerate(row.signature.outputs):
            if name in row.saved_keys and outs[place] is not None:
                at = row.saved_keys.index(name)
                out = outs[place]
                saved[at] = SavedOutput(out, place) if out._grad_fn is node else out
                changed = True
        if changed:
            node.saved = tuple(saved)
            node.versions = versions_of(node.saved)
        node.extra = [None if out is None else (out._data.shape, out._kind) for out in outs]
        if state.watched:
            watch(node, outs)
    if row.outputs_named:
        from .returns import named

        return named(row.outputs_named, row.signature.outputs, outs)
    return tuple(outs)


def _kind_of_output(row: Row, kind: Kind, data: Any, place: int) -> Kind:
    if row.view == "multi":
        return kind
    if data.dtype == kind.array_dtype:
        return kind
    if data.dtype.kind in "iub" or kind.dtype.category < dtypes.FLOATING:
        return kind_of(dtypes.OF_ARRAY[data.dtype.name], kind.device)
    return kind if data.dtype.kind != "c" else kind_of(dtypes.OF_ARRAY[data.dtype.name], kind.device)


def result_dtype(*tensors: Any) -> DType:
    """torch.result_type of tensors and numbers."""
    return meet("promote", tensors)[0].dtype
