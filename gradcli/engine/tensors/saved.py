"""Engine: what nodes save for backward: unpacking, version checks, hooks, `_saved_*`."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ..graph.leaf import edge_of
from ..graph.node import (
    FREED_MESSAGE,
    AccumulateGrad,
    DetachedVersion,
    Node,
    Packed,
    SavedOutput,
    SharedOutput,
    WrittenOutput,
)
from ..graph.reduced import HalfArray
from ..schema.carriers import RUNTIME
from ..schema.causes import Cause, Freed, because
from ..schema.errors import type_name
from ..schema.mode import state
from .tensor import Tensor, plain
from .tensor_type import TensorType, kind_of_array

DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)


def freed(node: Node, mark: Freed | None = None) -> NoReturn:
    """Raises for a node whose saved tensors a backward call has freed."""
    mark = node.saved if mark is None else mark  # type: ignore[assignment]
    cause = Cause("freed", getattr(mark, "origin", None), node, names=held_names(node))
    raise because(RuntimeError(FREED_MESSAGE), cause)


def held_names(node: Node) -> tuple[str, ...]:
    """The names of the tensors that a node saves, or saved while it had them.

    A formula's inputs without an edge ask for no gradient, so what only they need is not saved.
    """
    row = getattr(node, "row", None)
    if row is None:
        return ()
    tensors = {p.name for p in row.tensors} | set(row.signature.outputs)
    places = {}
    ordered = [p for p in row.tensors if p.name in row.differentiable]
    if len(ordered) == len(node.edges) and all(p.kind != "Tensor[]" for p in ordered):
        places = {p.name: place for place, p in enumerate(ordered)}
    asked = {
        key
        for formula in row.formulas
        if any(n not in places or node.edges[places[n]] is not None for n in formula.inputs)
        for key in formula.needs
    }
    shown = (*row.signature.names, *row.signature.outputs)
    return tuple(key for key in shown if key in tensors and key in asked)


def look_through(node: Node) -> None:
    """PyTorch's node unpacks what it saved before it finds that no gradient came to it."""
    if node.__class__ is Node:
        for name in held_names(node):
            unpack(node, node.row.saved_keys.index(name))


def _expected(node: Node, place: int) -> Any:
    return 0 if node.versions is None else node.versions[place]


def check_version(node: Node, place: int) -> None:
    """Raises if a saved tensor was changed in place since it was saved."""
    assert not isinstance(node.saved, Freed)
    _check_one(node, node.saved[place], _expected(node, place), place)


def is_outdated(node: Node) -> bool:
    """Whether a tensor that it saved was changed in place since."""
    return not isinstance(node.saved, Freed) and any(
        _version_of(value) != _expected(node, place) for place, value in enumerate(node.saved)
    )


def _version_of(value: Any) -> Any:
    storage = getattr(value, "_storage", None)
    return 0 if storage is None else storage.version


def _check_one(node: Node, value: Any, expected: int, place: int, in_graph: bool = True) -> None:
    version = _version_of(value)
    detached = version.__class__ is DetachedVersion
    if in_graph and detached and expected.__class__ is not DetachedVersion:
        _check_attached(node, value, place)
    if version != expected:
        name = node.row.saved_keys[place]
        raise _damaged(node, node.origin, name, value, version, expected)


def check_attached(node: Node) -> None:
    """Raises if an input that a node saved was detached in place since.

    PyTorch's node unpacks what it saved also where no gradient is asked of it.
    """
    if node.__class__ is not Node or not node.row.saves_tensors or isinstance(node.saved, Freed):
        return
    for place, value in enumerate(node.saved):
        storage = getattr(value, "_storage", None)
        detached = storage is not None and storage.version.__class__ is DetachedVersion
        if detached and node.row.saved_keys[place] in held_names(node):
            if _expected(node, place).__class__ is not DetachedVersion:
                _check_attached(node, value, place)


def _check_attached(node: Node, value: Any, place: int) -> None:
    """Raises if a saved input was a result then and is none now."""
    ordered = [p.name for p in node.row.tensors if p.name in node.row.differentiable]
    key = node.row.saved_keys[place]
    if value.__class__ is not Tensor or value._grad_fn is not None or key not in ordered:
        return
    edge = node.edges[ordered.index(key)] if len(ordered) == len(node.edges) else None
    if edge is not None and edge.__class__ is not AccumulateGrad:
        raise RuntimeError(DETACHED)


def _damaged(
    node: Node | None, origin: object, name: str | None, value: Any, version: int, expected: int
) -> RuntimeError:
    leaf = not isinstance(value, SavedOutput) and value.is_leaf and value.requires_grad
    changed_at = getattr(value._storage, "changed_at", None)
    return because(
        RuntimeError(_changed(node, value, version, expected)),
        Cause(
            "saved",
            origin,
            node,
            name=name,
            version=expected,
            leaf=leaf,
            tensor=None if isinstance(value, SavedOutput) else value,
        ),
        Cause("changed", changed_at, version=version, times=version - expected),
    )


def function_name(node: Node) -> str:
    """What PyTorch calls a node in its complaints: SumBackward1 is Sum1."""
    return re.sub(r"Backward(0$|(?=\d+$)|$)", "", node.name())


def _changed(node: Node | None, value: Any, version: int, expected: int) -> str:
    if isinstance(value, SavedOutput):
        kind, shape, owner = value.kind, value.data.shape, _made_by(node, value)
    else:
        kind, shape, owner = value._kind, value._data.shape, value.grad_fn
    number = value.output_nr
    clause = ""
    if owner is not None:
        clause = f", which is output {number} of {function_name(owner)},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind.old_name} {list(shape)}]{clause} is at version "
        f"{version}; expected version {expected} instead. Hint: "
        + (
            "the backtrace further above shows the operation that failed to compute its gradient. "
            "The variable in question was changed in there or anywhere later. Good luck!"
            if state.anomaly
            else "enable anomaly detection to find the operation that failed to compute its "
            "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    )


def check_unchanged(tensor: Any, expected: int) -> None:
    """Raises if a tensor that was saved for backward has been changed in place since."""
    version = tensor._version
    if version != expected:
        raise RuntimeError(_changed(None, tensor, version, expected))


def unpack(node: Node, place: int, as_tensor: bool = False, in_graph: bool = True) -> Any:
    """One saved value: as the array that formulas run on, or as a tensor with its history.

    `in_graph`: a tensor that detach_ took out of the graph since then is refused.
    """
    if isinstance(node.saved, Freed):
        freed(node)
    value, expected = node.saved[place], _expected(node, place)
    if value.__class__ is list:
        wanted = expected or [0] * len(value)
        pairs = zip(value, wanted, strict=True)
        return [_unpacked(node, v, e, as_tensor, place, in_graph) for v, e in pairs]
    return _unpacked(node, value, expected, as_tensor, place, in_graph)


def _unpacked(
    node: Node, value: Any, expected: int, as_tensor: bool, place: int, in_graph: bool = True
) -> Any:
    if value.__class__ is Packed:
        return _from_hook(node, value, as_tensor)
    if value.__class__ is Tensor or value.__class__ is RUNTIME.sparse:
        _check_one(node, value, expected, place, in_graph)
        return value if as_tensor else value._data
    if value.__class__ in RUNTIME.arrays and node.saves_output:
        kept = saved_output(node)
        if kept is not None and kept.data is value:
            value = kept
    if isinstance(value, SavedOutput):
        _check_one(node, value, expected, place)
        return _restored(node, value) if as_tensor else value.data
    return value


def _from_hook(node: Node | None, packed: Packed, as_tensor: bool) -> Any:
    found = packed.unpack(packed.value)
    if not isinstance(found, Tensor):
        raise TypeError(
            "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
            f"{type_name(found)}"
        )
    return _placed(node, found, packed) if as_tensor else found._data


def _placed(node: Node | None, found: Tensor, packed: Packed) -> Tensor:
    """What an unpack hook returned, at the place of the graph that the packed tensor had."""
    edge = node if packed.edge is True else packed.edge
    if not isinstance(edge, Node):
        return found
    if state.grad_enabled and not _fits(found, packed):  # its gradient would not fit at that place
        raise _unlike(found, packed, f"{'a call' if node is None else node.name()} saved")
    if edge.__class__ is AccumulateGrad and not found._kind.differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    out = _around(found._need_array(), found._kind)
    out._requires_grad = True
    if edge.__class__ is AccumulateGrad:
        out._need_meta().accumulator = weakref.ref(edge)
    else:
        out._grad_fn, out._output_nr = edge, packed.output_nr
    return out


def saved_output(node: Node) -> SavedOutput | None:
    """The output that an ordinary node keeps; an output kept as a bare array is recognised now."""
    if isinstance(node.saved, Freed):
        return None
    place = node.row.saved_keys.index(node.row.signature.outputs[0])
    value = node.saved[place]
    if value.__class__ in RUNTIME.arrays:
        kept = SavedOutput()
        kept.data, kept.kind = value, kind_of_array(value)
        node.saved = (*node.saved[:place], kept, *node.saved[place + 1 :])
        return kept
    return value if value.__class__ is SavedOutput else None


def kept_result(tensor: Tensor) -> SavedOutput | None:
    """A result as the node that made it keeps it, if that node does."""
    node = tensor._grad_fn
    if node is None or tensor._output_nr or not hasattr(node, "row") or not node.saves_output:
        return None
    return saved_output(node)


def _around(data: Any, kind: TensorType) -> Tensor:
    """A tensor around what was saved of one, of whatever layout."""
    make = plain if data.__class__ in RUNTIME.arrays else RUNTIME.around
    return make(data, kind)


def _restored(node: Node, value: SavedOutput) -> Tensor:
    """An output saved without its tensor, as a tensor at the same place of the graph."""
    out = _around(value.data, value.kind)
    out._storage = value._storage
    if value.kind.differentiable:
        out._requires_grad, out._grad_fn = True, _made_by(node, value)
        out._output_nr = value.output_nr
    return out


def _made_by(node: Node | None, value: SavedOutput) -> Node | None:
    """The node that a saved output hangs on: the one that saves it, or where its view does."""
    return (value.history() if value.__class__ is WrittenOutput else None) or node


def kept(node: Node) -> tuple[tuple[str, Any], ...]:
    """(name, array) for every tensor that is kept for backward; what hooks packed is not."""
    saved: Any = node.saved
    if not saved or saved.__class__ is Freed or not (row := node.row).saves_tensors:
        return ()
    if row.saves_output:
        saved_output(node)
        saved = node.saved
    found: list[tuple[str, Any]] = []
    value: Any
    for name, value in zip(row.saved_keys, saved):
        if value.__class__ is Tensor:
            if value._meta is None or value._meta.number is None:
                found.append((name, _measured(value._data, value._kind)))
        elif value.__class__ is RUNTIME.sparse and value is not None:
            found.append((name, value._data.values))
        elif value is not None:
            for item in value if value.__class__ is list else (value,):
                if item.__class__ is Tensor or isinstance(item, SavedOutput):
                    found.append((name, kept_array(item)))
    return tuple(found)


def _measured(data: Any, kind: TensorType) -> Any:
    """An array of which `nbytes` says what PyTorch's takes."""
    return HalfArray(data) if kind.is_reduced else data


def pack_node(node: Node, arguments: Sequence[Any]) -> None:
    """Passes every saved tensor of a new node through the innermost pack hook."""
    if node.row.saves_tensors and node.saves_output:
        saved_output(node)
    pack_operands(node, arguments)


def pack_operands(node: Node, arguments: Sequence[Any]) -> None:
    """The same of a node whose result is still to be made."""
    assert not isinstance(node.saved, Freed)
    saved = list(node.saved)
    for place, _ in node.row.unpacked_keys:
        saved[place] = pack_value(node, saved[place])
    node.saved = tuple(saved)
    given = dict(zip(node.row.signature.names, arguments))
    node.inputs = tuple(
        (t._data.shape, t._kind) if t.__class__ is Tensor else None
        for p in node.row.tensors
        if p.name in node.row.differentiable
        for t in (given[p.name] if p.kind == "Tensor[]" else (given[p.name],))
    )


def pack_value(node: Node | None, value: Any) -> Any:
    pack, unpack_hook = state.saved_hooks[-1]
    if value.__class__ is list:
        return [pack_value(node, item) for item in value]
    if value.__class__ is Tensor or value.__class__ is RUNTIME.sparse:
        return Packed(_unchanged(pack, value), unpack_hook, edge_of(value), value)
    if isinstance(value, SavedOutput):
        assert node is not None
        own = True if value.kind.differentiable else None
        given = _restored(node, value)
        result = _unchanged(pack, given)
        if result is given:  # else the node would hold itself
            result = _around(value.data, value.kind)
        return Packed(result, unpack_hook, own, given)
    return value


def _unchanged(pack: Callable[[Tensor], Any], given: Tensor) -> Any:
    """What a pack hook makes of a tensor, which it must leave as it is."""
    storage = given._need_storage()
    before, grad_enabled = storage.version, state.grad_enabled
    state.grad_enabled = False
    try:
        result = pack(given)
    finally:
        state.grad_enabled = grad_enabled
    if storage.version != before:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to pack hook cannot be modified by in-place operations as this can lead to unexpected "
            "side-effects. Please open an issue if you need to perform in-place operations on the "
            "input to a pack hook."
        )
    return result


def misfit(node: Node, found: Mapping[str, Any]) -> RuntimeError | None:
    """The error of a formula that failed for what an unpack hook returned, if one did."""
    assert not isinstance(node.saved, Freed)
    for name, saved in zip(node.row.saved_keys, node.saved):
        lists = saved.__class__ is list
        pairs = zip(saved, found[name], strict=True) if lists else ((saved, found[name]),)
        for packed, value in pairs:
            if packed.__class__ is Packed and not _fits(value, packed):
                return _unlike(value, packed, f"{node.name()} saved '{name}' as")
    return None


def _fits(found: Tensor, packed: Packed) -> bool:
    return (found._data.shape, found._kind) == packed.was


def _unlike(found: Tensor, packed: Packed, saved: str) -> RuntimeError:
    (shape, kind), got = packed.was, found._kind
    return RuntimeError(
        f"{saved} a {kind.dtype} tensor of shape {list(shape)}, and the unpack hook returned a "
        f"{got.dtype} tensor of shape {list(found._data.shape)}"
    )


# ---- what users' functions save


def keep(node: Node | None, tensor: Tensor) -> tuple[Any, int]:
    """A tensor that a user's function saves, or who has no node at all, and its version."""
    is_output = node is not None and tensor._grad_fn is node
    value: Any = SharedOutput(tensor, tensor._output_nr) if is_output else tensor
    if state.saved_hooks:
        return pack_value(node, value), 0
    return value, -1 if tensor.is_inference() else tensor._version


def taken(node: Node | None, value: Any, version: int, origin: object) -> Tensor:
    """It again, unless it was changed in place since."""
    if value.__class__ is Packed:
        return _from_hook(node, value, True)
    found = _version_of(value)
    if found != version:
        raise _damaged(node, origin, None, value, found, version)
    if isinstance(value, SavedOutput):
        assert node is not None
        return _restored(node, value)
    return value


def kept_array(value: Any) -> Any:
    """The array of what `keep` gave, where there is one."""
    if isinstance(value, SavedOutput):
        return _measured(value.data, value.kind)
    return _measured(value._data, value._kind) if isinstance(value, Tensor) else None
