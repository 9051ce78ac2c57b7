"""Engine: what a node shows of what it saved: `_saved_self`, and `_raw_saved_self` for hooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..graph.node import FREED_MESSAGE, Node, Packed
from ..schema.causes import Freed
from ..schema.dtypes import bool_, float64, int64
from ..schema.mode import state
from .saved import freed, held_names, pack_value, saved_output, unpack
from .tensor import Tensor, plain
from .tensor_type import kind_of


def show_saved(names: Sequence[str]) -> None:
    """Gives nodes the attributes `_saved_*` and `_raw_saved_*` of these names.

    As properties, and not by `__getattr__`: CPython reads no slot of a class that has one as fast.
    """
    for name in names:
        if not hasattr(Node, f"_saved_{name}"):
            setattr(Node, f"_saved_{name}", property(partial(attribute, name=name)))
            setattr(Node, f"_raw_saved_{name}", property(partial(raw, name=name)))


def attribute(node: Node, name: str) -> Any:
    """`node._saved_<name>`, as Python values and tensors."""
    row = getattr(node, "row", None)
    if row is None or name not in row.saved_names:
        raise AttributeError(f"'{node.name()}' object has no attribute '_saved_{name}'")
    tensors = {p.name for p in row.tensors}
    if node.freed:
        if name in tensors and name not in held_names(node):
            return None  # never saved, so not freed
        freed(node)
    value = unpack(node, row.saved_keys.index(name), as_tensor=True, in_graph=False)
    if value.__class__ is list:
        return tuple(value)
    if value.__class__ is Tensor and value._meta is not None and value._meta.number is not None:
        value = value._meta.number
    if name in tensors and value.__class__ in (int, float, bool):
        kind = kind_of({int: int64, float: float64, bool: bool_}[value.__class__])
        return plain(kind.xp.asarray(value, dtype=kind.array_dtype), kind)
    declared = next((p.kind for p in row.signature.parameters if p.name == name), "")
    if declared == "int" and value.__class__ is int:
        return _unsigned(value)
    if value is None and name.endswith("_sym_sizes_opt"):
        return (0,)  # of a tensor that was not given
    if declared == "int[]" and value.__class__ is tuple:
        return tuple(_unsigned(item) for item in value)
    return value


def _unsigned(value: int) -> int:
    """PyTorch's accessors read a saved integer as an unsigned one: softmax(-1) saves 2**64 - 1."""
    return value + 2**64 if value < 0 else value


class SavedTensor:
    """`node._raw_saved_<name>`: the place where a node keeps one tensor; takes hooks of its own."""

    __slots__ = ("_node", "_place")
    PUBLIC = ("register_hooks",)
    _torch_name = "torch._C._autograd.SavedTensor"
    _torch_home = "torch._C._autograd."

    def __init__(self, node: Node, place: int) -> None:
        self._node, self._place = node, place

    def register_hooks(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        saved = self._node.saved
        if isinstance(saved, Freed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. "
                + FREED_MESSAGE.partition("freed). ")[2].replace("saved tensors", "saved variables")
            )
        if self._node.saves_output:
            saved_output(self._node)
            saved = self._node.saved
        assert not isinstance(saved, Freed)
        value = saved[self._place]
        if value.__class__ is Packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        state.push_saved_hooks((pack_hook, unpack_hook))
        try:
            packed = pack_value(self._node, value)
        finally:
            state.pop_saved_hooks()
        self._node.saved = (*saved[: self._place], packed, *saved[self._place + 1 :])


def raw(node: Node, name: str) -> Any:
    """`node._raw_saved_<name>`"""
    row = getattr(node, "row", None)
    held = {p.name for p in row.tensors} | set(row.signature.outputs) if row is not None else ()
    if row is None or name not in row.saved_names or name not in held:
        raise AttributeError(f"'{node.name()}' object has no attribute '_raw_saved_{name}'")
    return SavedTensor(node, row.saved_keys.index(name))
