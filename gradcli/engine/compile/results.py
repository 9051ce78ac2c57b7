"""Engine: what follows an unusual kernel: types, memory, views, several outputs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..graph.blocks import MANY
from ..graph.leaf import mark_inference, refuse_inference
from ..graph.node import Node, SavedOutput, Several, SharedOutput
from ..memory.layout import LAYOUTS
from ..schema import dtypes
from ..schema.carriers import RUNTIME
from ..schema.catalogue import catalogue
from ..schema.causes import Freed
from ..schema.mode import state
from ..schema.row import OF, Row
from ..tensors.autograd_meta import AutogradMeta, mark_of_base
from ..tensors.promotion import shape_error
from ..tensors.tensor import Tensor, plain
from ..tensors.tensor_type import LARGE, TensorType, kind_of


def infer(row: Row, kind: TensorType, arguments: Sequence[Any]) -> TensorType:
    """The result's kind where the policy looks at the arguments."""
    policy = row.dtype
    if policy == "given":
        given = arguments[row.signature.names.index("dtype")]
        return kind if given is None else kind.of(given)
    if policy == "sum":
        given = (
            arguments[row.signature.names.index("dtype")]
            if "dtype" in row.signature.names
            else None
        )
        if given is not None:
            asked = state.grad_enabled and arguments[0]._requires_grad
            if asked and given.category <= dtypes.INTEGER:
                raise RuntimeError(f"Autograd not support dtype: {given.word}")
            return kind.of(given)
        return kind if kind.dtype.category > dtypes.INTEGER else kind.of(dtypes.int64)
    if isinstance(policy, str) and policy.startswith(OF):
        return kind.of(arguments[row.signature.names.index(policy[len(OF) :])].dtype)
    if policy == "complex":
        return kind.of(dtypes.complex_of(kind.dtype))
    if policy == "real":
        return kind.of(dtypes.real_of(kind.dtype))
    if isinstance(policy, str):
        return kind.of(dtypes.BY_NAME[policy])
    answer = policy(*arguments)
    return kind_of(*answer) if answer.__class__ is tuple else kind.of(answer)


def refused(row: Row, kind: TensorType, arrays: Sequence[Any] = ()) -> None:
    """Raises what PyTorch raises for an element type that the operator does not take.

    A kernel is asked for after operands that meet have been broadcast: their shapes come first.
    """
    message = row.refuse[kind.dtype.word]
    error, text = (NotImplementedError, message) if isinstance(message, str) else message
    refusal = error(text)
    raise shape_error(arrays, refusal) if error is NotImplementedError else refusal


COUNTED = LARGE // 256  # elements from which the memory of a result counts


def guard(row: Row, kind: TensorType, arguments: Sequence[Any]) -> None:
    """Asks for the result's memory before it is made."""
    if row.cost is not None:
        elements = int(row.cost(*arguments))
    else:
        arrays = [
            t._data
            for v in arguments
            for t in (v if v.__class__ is list else (v,))
            if t.__class__ is Tensor
        ]
        sizes = [array.size for array in arrays]
        if not row.broadcasts:
            elements = sum(sizes)
        elif prod(sizes) < COUNTED:
            return
        else:
            elements = _broadcast_numel([array.shape for array in arrays])
    if elements > MANY and not RUNTIME.many:
        RUNTIME.many = True
        catalogue.forget_formulas()  # those written until now do not ask how many
    if elements >= COUNTED:
        state.reserve(elements * kind.array_dtype.itemsize)


def _broadcast_numel(shapes: Sequence[Sequence[int]]) -> int:
    width = max(len(s) for s in shapes)
    padded = [(1,) * (width - len(s)) + tuple(s) for s in shapes]
    return prod([max(sizes) for sizes in zip(*padded, strict=True)])


def version_of(value: Any) -> Any:
    """The version of a saved value now; 0 for what has none."""
    if value.__class__ is list:
        return [version_of(tensor) for tensor in value]
    if value.__class__ is not Tensor and not isinstance(value, SavedOutput):
        return 0
    storage = value._storage
    if storage is None:
        return 0
    refuse_inference(storage)
    return storage.version


def versions_of(saved: Sequence[Any]) -> tuple[Any, ...]:
    """The version of each saved tensor when it was saved."""
    return tuple([version_of(value) for value in saved])


def watch(node: Node, outs: Sequence[Any], arguments: Sequence[Any], before: Any = None) -> None:
    """Tells of a new node whoever asks for it: saved_tensors_hooks, observer, recorder.

    `before` is what an operation in place found in its tensor.
    """
    if state.saved_hooks:
        from ..tensors.saved import pack_node

        for out in outs:
            if out is not None:
                out._need_array()  # what is packed shares its memory
        pack_node(node, arguments)
    if None in node.edges and (observer := state.observer) is not None:
        observer.used(node, arguments, outs[0])
    if (on_made := state.on_made) is not None:
        for out in outs:
            on_made(out)
    if state.recorder is not None:
        state.recorder.operation(node, outs, arguments, before)


def make_view(out: Tensor, source: Tensor, creation: str = "") -> None:
    """Ties a result to the tensor whose memory it shares."""
    given, base = source._meta, source
    if given is not None:
        if given.inference:
            mark_inference(out)
            return
        base = source if given.base is None else given.base
        creation = creation or given.creation
    storage = out._storage = source._storage or source._need_storage()
    out._meta = meta = AutogradMeta(base, storage.version)
    if not state.grad_enabled:
        meta.creation = "inference" if state.inference else "no_grad"
    elif creation:
        meta.creation = creation


def share(out: Tensor, source: Tensor) -> None:
    """Gives a result the version counter of the tensor whose memory it has; numbers of reduced
    precision are carried in arrays of their own."""
    if not (out._kind.is_reduced or source._kind.is_reduced or source.is_inference()):
        out._storage = source._need_storage()


def finish(
    row: Row, kind: TensorType, datas: Any, node: Node | None, arguments: Sequence[Any]
) -> Any:
    """Wraps several outputs; those of a floating type are outputs 0, 1, ... of the node."""
    outs: list[Tensor] = []
    multi_view = row.view == "multi"
    for place, data in enumerate(datas):
        if data is None:
            outs.append(None)  # type: ignore[arg-type]
            continue
        data = kind.xp.asarray(data)
        result = _kind_of_output(row, kind, data, place, arguments)
        if not row.view and data.dtype is not result.settled:
            data = result.settle(data)
        if row.layout and data.ndim > 1:
            data = LAYOUTS[row.layout](data, getattr(arguments[0], "_data", None))
        out = plain(data, result)
        if multi_view:
            out._requires_grad, out._storage, out._meta = False, None, None
            make_view(out, arguments[0], "multi")
            out._requires_grad = mark_of_base(out)
        constant = row.undifferentiable and row.signature.outputs[place] in row.undifferentiable
        if node is not None and result.differentiable and not constant:
            out._requires_grad, out._grad_fn, out._output_nr = True, node, place
        outs.append(out)
    if node is not None:
        assert not isinstance(node.saved, Freed)  # the node is new
        saved = list(node.saved or ())
        for place, (out, (at, size_at)) in enumerate(zip(outs, row.keeps)):
            if at >= 0 and out is not None:
                saved[at] = SharedOutput(out, place) if out._grad_fn is node else out
            if size_at >= 0 and out is not None:
                saved[size_at] = out._data.shape[-1]
        node.saved = tuple(saved)
        versions = versions_of(saved)
        if any(versions):
            node.versions = versions
        node.buffer = Several()
        node.extra = [None if out is None else (out._data.shape, out._kind) for out in outs]
        if state.told:
            watch(node, outs, arguments)
    if row.outputs_named:
        from ..schema.returns import named

        return named(row.outputs_named, row.signature.outputs, outs)
    return tuple(outs)


def widened(kind: TensorType, arguments: Sequence[Any]) -> TensorType:
    """Single precision where one of the tensors has it beside those of reduced precision."""
    single = any(a.__class__ is Tensor and a._kind.dtype is dtypes.float32 for a in arguments)
    return kind.of(dtypes.float32) if single and kind.is_reduced else kind


def _kind_of_output(
    row: Row, kind: TensorType, data: Any, place: int, arguments: Sequence[Any]
) -> TensorType:
    if row.listed:
        return kind
    if kind.is_reduced and row.signature.outputs[place] in row.reduced.mixed:
        return widened(kind, arguments)
    if kind.is_reduced and row.signature.outputs[place] in row.reduced.wide:
        return kind.of(dtypes.float32)
    if data.dtype == kind.array_dtype:
        return kind
    if data.dtype.kind in "iub" or kind.dtype.category < dtypes.FLOATING:
        return kind_of(dtypes.OF_ARRAY[data.dtype.name], kind.device)
    if data.dtype.kind == "c" or kind.dtype.is_complex:  # singular values of complex matrices
        return kind_of(dtypes.OF_ARRAY[data.dtype.name], kind.device)
    return kind
