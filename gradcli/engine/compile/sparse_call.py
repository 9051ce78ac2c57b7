"""Engine: calls with sparse tensors: which row runs, and the node that it makes.

What an overload does with a sparse operand is a row of its own, whose schema name has the word
`sparse` behind it: `mm.sparse` of `mm`, `sum.dim_IntList_sparse` of `sum.dim_IntList`. Its kernel
runs on payloads, its formulas on tensors (`SparseNode`), where each operator asks again whether an
operand is sparse. An operator without such a row is refused in PyTorch's words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..graph.leaf import edge_of, refuse_inference
from ..graph.node import Node, Several, SharedOutput, SparseNode, UnimplementedNode
from ..memory.layout import element_strides
from ..memory.sparse_array import NoArray, SparsePayload
from ..schema.carriers import RUNTIME
from ..schema.catalogue import catalogue
from ..schema.mode import next_sequence, state
from ..schema.row import SPARSE, Composite, Inplace, Row
from ..tensors import stand_ins
from ..tensors.promotion import meet
from ..tensors.sparse_tensor import SparseTensor, around
from ..tensors.tensor import Tensor, write_into
from ..tensors.tensor_type import LARGE, TensorType
from ..tensors.views import check_inplace, rebase
from .call import specialise as straight
from .node_source import DERIVED
from .results import finish, guard, infer, watch

NUMBERS = (float, int, bool, complex)


def _key(overload: Any) -> str:
    """What PyTorch calls it; overloads of compositions have names of ours."""
    variant = "" if isinstance(overload, Composite) else overload.signature.overload
    return f"{overload.name}.{variant}" if variant else str(overload.name)


def sparse_form(overload: Any) -> Any:
    """The row of an operator for sparse operands, or None."""
    key = sparse_key(overload)
    return catalogue.rows.get(key)


def sparse_key(overload: Any) -> str:
    """Under which schema name that row is declared."""
    variant = overload.signature.overload
    return f"{overload.name}.{f'{variant}_' if variant else ''}sparse"


def unsupported(overload: Any, values: Sequence[Any] = ()) -> NotImplementedError:
    """PyTorch's error for an operator that has no kernel for a layout."""
    payloads = [payload.word for payload in payloads_in(values)]
    backend = f"{payloads[0] if payloads else 'Sparse'}CPU"
    return NotImplementedError(
        f"Could not run 'aten::{_key(overload)}' with arguments from the '{backend}' backend."
    )


def payloads_in(values: Sequence[Any]) -> list[SparsePayload]:
    """What the sparse tensors among arguments hold, those in lists too."""
    found = []
    for value in values:
        for item in value if value.__class__ is list else (value,):
            if item.__class__ is SparseTensor:
                found.append(item._data)
    return found


def run(overload: Any, values: Sequence[Any]) -> Any:
    """Runs an overload with sparse tensors among its arguments."""
    if isinstance(overload, Inplace):
        return _run_in_place(overload, values)
    form = sparse_form(overload)
    if form is not None:
        return form.run(*values)
    if isinstance(overload, Composite):
        try:
            return overload.body(*values)
        except NoArray:
            raise unsupported(overload, values) from None
        except AttributeError as error:
            if isinstance(error.obj, SparsePayload):
                raise unsupported(overload, values) from None
            raise
    if isinstance(overload, Row) and overload.layout == SPARSE:
        return overload.run(*values)
    raise unsupported(overload, values)


def run_mixed(row: Row, args: Sequence[Any]) -> Any:
    """A row that a formula calls; its operands may be sparse."""
    return run(row, args) if payloads_in(args) else row.run(*args)


def specialise(row: Row) -> Callable[..., Any]:
    """The function that runs a row for sparse operands or results; arguments come bound."""

    def run_row(*values: Any) -> Any:
        if row.check is not None:
            row.check(*values)
        kind, arrays = _operands(row, values)
        if row.cost is not None:
            guard(row, kind, values)
        _reserve(values)
        data = row.forward(kind if row.kinded else kind.xp, *arrays)
        if row.output_count > 1:
            node = _node(row, values, kind) if _asks(row, kind, values) else None
            return finish(row, kind, data, node, values)
        if data.__class__ is tuple:
            return _results(row, kind, data, values)
        return _results(row, kind, (data,), values)[0]

    return run_row


def _reserve(values: Sequence[Any]) -> None:
    """Asks for as much memory as the sparse operands have: kernels work on copies."""
    room = sum(payload.nbytes for payload in payloads_in(values))
    if room > LARGE:
        state.reserve(2 * room)


def _operands(row: Row, values: Sequence[Any]) -> tuple[TensorType, list[Any]]:
    """The kind of the result, and the operands as kernels take them."""
    kind = next(t for v in values for t in (v if v.__class__ is list else (v,)) if _is_tensor(t))
    kind, arrays = kind._kind, [_payload(value) for value in values]
    policy = row.dtype
    if policy in ("promote", "promote_float", "scalar"):
        met, count = [_standing(value) for value in values], len(row.tensors)
        if policy == "scalar":
            met[count:] = [v for p, v in zip(row.signature.parameters, met) if p.kind == "Scalar"]
        else:
            del met[count:]
        kind = meet("promote" if policy == "scalar" else policy, met)[0]
        arrays[:count] = [_cast(array, kind) for array in arrays[:count]]
    elif policy != "same":
        kind = infer(row, kind, values)
    return kind, arrays


def _is_tensor(value: Any) -> bool:
    return value.__class__ is Tensor or value.__class__ is SparseTensor


def _is_sparse(value: Any) -> bool:
    return value.__class__ is SparseTensor


def _standing(value: Any) -> Any:
    if value.__class__ is list:
        return [_standing(item) for item in value]
    return value.stand_in() if value.__class__ is SparseTensor else value


def _payload(value: Any) -> Any:
    if value.__class__ is list:
        return [_payload(item) for item in value]
    if value.__class__ is Tensor:
        return value._need_array()
    return value._data if value.__class__ is SparseTensor else value


def _cast(array: Any, kind: TensorType) -> Any:
    if array.__class__ is list:
        return [_cast(each, kind) for each in array]
    if isinstance(array, SparsePayload):
        if array.dtype == kind.array_dtype:
            return array
        return array.with_values(array.values.astype(kind.array_dtype))
    return array.astype(kind.array_dtype, copy=False) if hasattr(array, "astype") else array


def _settled(data: Any, kind: TensorType) -> Any:
    if not isinstance(data, SparsePayload):
        return data
    if data.values.dtype is kind.settled:
        return data
    return data.with_values(kind.settle(data.values))


def _results(
    row: Row, kind: TensorType, datas: Sequence[Any], values: Sequence[Any]
) -> tuple[Tensor, ...]:
    outs = tuple([around(_settled(data, kind), kind) for data in datas])
    if _asks(row, kind, values):
        node = _node(row, values, kind)
        for number, out in enumerate(outs):
            out._requires_grad, out._grad_fn, out._output_nr = True, node, number
        if row.listed:
            node.buffer = Several()
            node.extra = [(out._data.shape, out._kind) for out in outs]
        _save_output(row, node, outs[0])
        if state.told:
            watch(node, outs, values)
    return outs


def _asks(row: Row, kind: TensorType, values: Sequence[Any]) -> bool:
    """Does an operand ask for a gradient, and is there one?"""
    if not (row.node and state.grad_enabled and kind.differentiable):
        return False
    return any(
        t._requires_grad
        for p, v in zip(row.signature.parameters, values, strict=True)
        if p.is_tensor and (p.name in row.differentiable or not row.formulas)
        for t in (v if v.__class__ is list else (v,))
        if _is_tensor(t)
    )


def _node(row: Row, values: Sequence[Any], kind: TensorType) -> Node:
    node: Node = UnimplementedNode(row.name) if row.underivable else SparseNode()
    state.on_tensors = True
    node.row, node.origin, node.rest, node.buffer = row, state.origin, None, None
    arguments = dict(zip(row.signature.names, values, strict=True))
    given: list[Any] = []
    for p in row.tensors:
        if p.name in row.differentiable or not row.formulas:
            value = arguments[p.name]
            given += value if value.__class__ is list else (value,)
    node.edges = tuple([edge_of(t) if _is_tensor(t) else None for t in given])
    numbers = [0 if edge is None else t._output_nr for edge, t in zip(node.edges, given)]
    if any(numbers):
        node.numbers = tuple(numbers)
    if row.dtype != "same" and any(_is_tensor(t) and t._kind is not kind for t in given):
        node.inputs = tuple([(t._data.shape, t._kind) if _is_tensor(t) else None for t in given])
    node.saved = tuple([_saved(row, key, arguments, node) for key in row.saved_keys])
    node.sequence = next_sequence()
    versions = tuple([_version(value) for value in node.saved])
    if any(versions):
        node.versions = versions
    return node


def _saved(row: Row, key: str, arguments: dict[str, Any], node: Node) -> Any:
    if key not in arguments:
        if key in row.signature.outputs:
            return None
        return _fact(key, arguments)
    value, served = arguments[key], row.served_by(key)
    if served is not None and _is_tensor(value):
        ordered = [p.name for p in row.tensors if p.name in row.differentiable]
        if node.edges[ordered.index(served)] is None:
            return None
    return value


def _fact(key: str, arguments: dict[str, Any]) -> Any:
    """What a formula asks of an argument beside its value: `self_sym_sizes`."""
    for suffix, source in DERIVED.items():
        value = arguments.get(key.removesuffix(suffix)) if key.endswith(suffix) else None
        if value.__class__ is list:
            return [_reader(source)(each) for each in value]
        if _is_tensor(value):
            return _reader(source)(value)
    return None


@cache
def _reader(source: str) -> Callable[[Any], Any]:
    names = {"element_strides": _strides}
    found: Callable[[Any], Any] = eval(f"lambda tensor: {source.format('tensor')}", names)
    return found


def _strides(data: Any) -> tuple[int, ...]:
    return (0,) * data.ndim if isinstance(data, SparsePayload) else element_strides(data)


def _version(value: Any) -> Any:
    if value.__class__ is list:
        return [_version(item) for item in value]
    storage = value._storage if _is_tensor(value) else None
    if storage is None:
        return 0
    refuse_inference(storage)
    return storage.version


def _save_output(row: Row, node: Node, out: Tensor) -> None:
    name = row.signature.outputs[0]
    if name in row.saved_keys:
        saved: list[Any] = list(node.saved)  # type: ignore[arg-type]
        saved[row.saved_keys.index(name)] = SharedOutput(out, out._output_nr)
        node.saved = tuple(saved)


# ---- in place


def _run_in_place(twin: Inplace, values: Sequence[Any]) -> Tensor:
    """The result of the row, in the place of what its first operand held."""
    tensor: Tensor = values[0]
    form = sparse_form(twin.row)
    if form is None:
        raise unsupported(twin, values)
    tracked = state.grad_enabled and any(t._requires_grad for t in values if _is_tensor(t))
    check_inplace(tensor, tracked)
    if tensor._base is not None and tracked:
        raise NotImplementedError(
            f"{twin.name} with a sparse tensor can't change a view of a dense one in place here"
        )
    before = tensor
    if tracked:  # the node saves what there was before the change
        before = around(tensor._data.copy(), tensor._kind)
        before._requires_grad, before._grad_fn = tensor._requires_grad, tensor._grad_fn
        before._output_nr = tensor._output_nr
    made = form.run(before, *values[1:])
    if isinstance(made._data, SparsePayload) and tensor.__class__ is Tensor:
        made_data = made._data.dense()
    elif tensor.__class__ is SparseTensor and made.__class__ is Tensor:
        raise unsupported(twin, values)
    else:
        made_data = made._data
    if tensor.__class__ is SparseTensor:
        tensor._data = _cast(made_data, tensor._kind)
    else:
        write_into(tensor, made_data)
    tensor._bump()
    if made._grad_fn is not None:
        rebase(tensor, made._grad_fn)
    return tensor


# ---- accumulation of gradients, see torch/csrc/autograd/functions/accumulate_grad.h


def accumulated(held: Tensor | None, new: Tensor, graph: bool, alone: bool) -> Tensor:
    """What `.grad` becomes where one of the two is sparse."""
    if held is None:
        if graph or not alone:
            return catalogue.functions["clone"](new)
        if not _is_sparse(new):
            return new
        held_as = new._data
        if not (held_as.values.flags.c_contiguous and held_as.is_packed):
            return catalogue.functions["clone"](new)
        return around(held_as.with_values(held_as.values, False), new._kind)
    if _is_sparse(held) and not _is_sparse(new):
        return new + held  # type: ignore[operator]
    if graph:
        return held + new  # type: ignore[operator]
    return catalogue.methods["add_"](held, new)


# ---- Python's operators


def _operator(name: str, key: str, augmented: bool) -> None:
    def takes(other: Any) -> bool:
        return isinstance(other, Tensor) or other.__class__ in NUMBERS

    def forward(self: Any, other: Any) -> Any:
        return catalogue.methods[key](self, other) if takes(other) else NotImplemented

    def backward(self: Any, other: Any) -> Any:
        if other.__class__ not in NUMBERS or key == "pow":
            return catalogue.functions[key](other, self) if takes(other) else NotImplemented
        if key == "sub":
            return catalogue.functions["rsub"](self, other)
        if key == "div":
            return catalogue.methods["reciprocal"](self) * other
        return catalogue.methods[key](self, other)

    def augment(self: Any, other: Any) -> Any:
        return catalogue.methods[f"{key}_"](self, other) if takes(other) else NotImplemented

    setattr(SparseTensor, f"__{name}__", forward)
    setattr(SparseTensor, f"__r{name}__", backward)
    if augmented:
        setattr(SparseTensor, f"__i{name}__", augment)


def _operators() -> None:
    for name, key in (
        ("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("pow", "pow"),
        ("floordiv", "floor_divide"), ("mod", "remainder"), ("and", "bitwise_and"),
        ("or", "bitwise_or"), ("xor", "bitwise_xor"),
    ):  # fmt: skip
        _operator(name, key, augmented=True)
    _operator("matmul", "matmul", augmented=False)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        _operator(name, name, augmented=False)
    setattr(SparseTensor, "__hash__", object.__hash__)  # noqa: B010


class _Guarded:
    """The function of a row that has a form for sparse operands: looks for one among its own."""

    __slots__ = ("overload", "found")

    def __init__(self, overload: Any) -> None:
        self.overload = overload
        self.found: Callable[..., Any] | None = overload.__dict__.get("run")

    @property
    def straight(self) -> Callable[..., Any]:
        if self.found is None:
            overload = self.overload
            self.found = (
                straight(overload) if isinstance(overload, Row) else Inplace(overload.row).run
            )
        return self.found

    def __call__(self, *values: Any) -> Any:
        if payloads_in(values):
            return run(self.overload, values)
        return (self.found or self.straight)(*values)


def _guard(row: Any) -> None:
    """Compositions call rows by themselves."""
    of = row.row if isinstance(row, Inplace) else row
    if isinstance(of, Row) and sparse_key(of) in catalogue.rows:
        row.__dict__["run"] = _Guarded(row)


_operators()
catalogue.rows.each(_guard)
SparseTensor.run_overload = staticmethod(run)
RUNTIME.call = stand_ins.call
RUNTIME.run_sparse = run_mixed
