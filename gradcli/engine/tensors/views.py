"""Engine: views: tensors that share memory, and their history when that memory changes in place."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from math import prod
from typing import Any

from ..graph.leaf import edge_of, note_shape
from ..graph.node import CustomNode, Node
from ..memory.device import module_of
from ..memory.layout import element_strides
from ..schema.catalogue import catalogue
from ..schema.causes import Cause, Freed, because
from ..schema.mode import state
from ..schema.row import Row
from .autograd_meta import set_mark
from .overlap import WRITTEN_TWICE, is_expanded
from .saved import freed, function_name
from .tensor import Tensor, from_array, plain
from .tensor_type import offset_in


class Geometry:
    """Where a view lies in its base: shape, strides and offset, in elements."""

    __slots__ = ("shape", "strides", "offset", "base_shape", "base_strides")

    def __init__(self, base: Tensor, view: Tensor) -> None:
        item = base._data.itemsize
        self.shape = view._data.shape
        self.strides = tuple([step // item for step in view._data.strides])
        self.offset = offset_in(base._data, view._data)
        self.base_shape = base._data.shape
        self.base_strides = tuple([step // item for step in base._data.strides])

    def window(self, array: Any) -> Any:
        """The view's place in an array laid out like the base; shares its memory."""
        item = array.itemsize
        xp = module_of(array)
        steps = tuple([step * item for step in self.strides])
        if array.size and array.flags.c_contiguous and xp.__name__ == "numpy":
            return xp.ndarray(self.shape, array.dtype, array, self.offset * item, steps)
        flat = (
            xp.lib.stride_tricks.as_strided(array, (array.size,), (item,)) if array.size else array
        )
        return xp.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, steps)

    def laid_out(self, array: Any) -> Any:
        """A copy of an array of the base's shape, dense and in the order of the base's strides."""
        xp = module_of(array)
        if array.flags.c_contiguous and element_strides(array) == self.base_strides:
            return xp.array(array)  # of a number too
        order = sorted(range(array.ndim), key=lambda axis: -self.base_strides[axis])
        dense = xp.empty([array.shape[axis] for axis in order], dtype=array.dtype)
        back = sorted(range(array.ndim), key=lambda axis: order[axis])
        result = dense.transpose(back)
        result[...] = array
        return result

    def overlaps(self) -> bool:
        """May two elements of the view share memory? Steps must clear all that lies below them."""
        reach = 0
        for step, size in sorted(zip(self.strides, self.shape, strict=True)):
            if size != 1 and step <= reach:
                return True
            reach += step * (size - 1)
        return False

    def dense(self) -> Geometry:
        """Without the dimensions that hold no memory of their own: of size 1, or expanded."""
        from copy import copy  # which few programs need

        own = copy(self)
        steps = zip(self.shape, self.strides, strict=True)
        kept = [(size, step) for size, step in steps if size != 1 and step]
        own.shape = tuple([size for size, _ in kept])
        own.strides = tuple([step for _, step in kept])
        return own

    def positions(self, xp: Any) -> Any:
        """Flat position in the base's memory of every element of the view."""
        index = xp.asarray(self.offset)
        for axis, (size, step) in enumerate(zip(self.shape, self.strides, strict=True)):
            along = xp.arange(size) * step
            index = index + along.reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
        return xp.broadcast_to(index, self.shape)


class AsStrided(CustomNode):
    """The history of a view read off its base: scatters the gradient to where the view lies."""

    __slots__ = ("geometry",)

    def __init__(self, base: Tensor, geometry: Geometry) -> None:
        edge = edge_of(base)
        number = base._output_nr
        super().__init__("AsStridedBackward0", (edge,), (number,) if number else None)
        self.geometry = geometry

    def saved_names(self) -> tuple[str, ...]:
        return ("size", "storage_offset", "stride")

    @property
    def _saved_size(self) -> tuple[int, ...]:
        return tuple(self.geometry.shape)

    @property
    def _saved_stride(self) -> tuple[int, ...]:
        return tuple(self.geometry.strides)

    @property
    def _saved_storage_offset(self) -> int:
        return int(self.geometry.offset)

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        (grad,) = grads
        geometry = self.geometry
        if tensors:
            return (_scattered(grad, geometry),)
        xp = module_of(grad)
        count = 1
        for size in geometry.base_shape:
            count *= size
        flat = xp.zeros(count, dtype=grad.dtype)
        positions = geometry.positions(xp).reshape(-1)
        xp.add.at(flat, positions, grad.reshape(-1))
        return (_from_memory(flat, geometry, xp),)


def _from_memory(flat: Any, geometry: Geometry, xp: Any) -> Any:
    item = flat.itemsize
    steps = tuple(step * item for step in geometry.base_strides)
    return xp.ascontiguousarray(
        xp.lib.stride_tricks.as_strided(flat, geometry.base_shape, steps)
    ).reshape(geometry.base_shape)


def _scattered(grad: Tensor, geometry: Geometry) -> Tensor:
    """The same with operators that record: PyTorch takes out what holds no memory of its own."""
    functions, methods = catalogue.functions, catalogue.methods
    if 0 in geometry.base_shape or 0 in geometry.shape:
        return functions["zeros"](geometry.base_shape, dtype=grad.dtype)
    flat = functions["zeros"]((prod(geometry.base_shape),), dtype=grad.dtype)
    for dim in range(len(geometry.shape) - 1, -1, -1):
        if geometry.shape[dim] == 1:
            grad = methods["squeeze"](grad, dim)
        elif geometry.strides[dim] == 0:
            grad = methods["sum"](grad, dim)
    geometry = geometry.dense()
    if geometry.overlaps():
        positions = from_array(geometry.positions(grad._kind.xp).reshape(-1).copy())
        flat = methods["index_add"](flat, 0, positions, methods["reshape"](grad, (-1,)))
    else:
        place = methods["as_strided"](flat, geometry.shape, geometry.strides, geometry.offset)
        methods["copy_"](place, grad)
    return methods["as_strided"](flat, geometry.base_shape, geometry.base_strides, 0)


class CopySlices(CustomNode):
    """A base whose view was changed in place: the view's part of the gradient goes through the
    in-place operation's node, the rest passes."""

    __slots__ = ("geometry", "node")

    def __init__(self, base: Tensor, geometry: Geometry, node: Node) -> None:
        edge = edge_of(base) if base._requires_grad else None
        numbers = (base._output_nr, *(node.numbers or (0,) * len(node.edges))[1:])
        super().__init__(
            "torch::autograd::CopySlices",
            (edge, *node.edges[1:]),
            numbers if any(numbers) else None,
        )
        self.sequence = max(self.sequence, node.sequence)
        self.geometry, self.node = geometry, node
        # The operation itself must work out its first input's gradient, which the base needs.
        if edge is not None and node.edges and node.edges[0] is None:
            node.edges = (edge, *node.edges[1:])

    def kept(self) -> tuple[tuple[str, Any], ...]:
        return self.node.kept()

    def release(self, mark: Freed) -> None:
        """Lets go of the operation's node too, whatever that saved: it runs once."""
        self.node.release(mark)
        self.saved = mark

    @property
    def held(self) -> Any:
        return self.saved, self.node.held

    @held.setter
    def held(self, held: Any) -> None:
        self.saved, self.node.held = held

    def saved_names(self) -> tuple[str, ...]:
        return ()

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        (grad,) = grads
        if self.freed:
            freed(self)
        if tensors:
            return self._apply_tensors(grad)
        result = self.geometry.laid_out(grad)
        window = self.geometry.window(result)
        inner = self.node.apply((window.copy(),), False)
        if 0 in window.strides and is_expanded(window):
            raise RuntimeError(WRITTEN_TWICE)
        if inner[0] is None:
            window[...] = 0
        else:
            window[...] = inner[0]
        first = result if self.edges[0] is not None else None
        return (first, *inner[1:])

    def _apply_tensors(self, grad: Tensor) -> tuple[Any, ...]:
        functions, methods = catalogue.functions, catalogue.methods
        geometry = self.geometry
        kind = grad._kind
        zeros = kind.xp.zeros(geometry.base_shape, dtype=kind.array_dtype)
        result = methods["copy_"](plain(geometry.laid_out(zeros), kind), grad)
        part = methods["as_strided"](result, geometry.shape, geometry.strides, geometry.offset)
        inner = self.node.apply((functions["clone"](part),), True)
        part = methods["as_strided"](result, geometry.shape, geometry.strides, geometry.offset)
        methods["copy_"](part, functions["zeros_like"](part) if inner[0] is None else inner[0])
        first = result if self.edges[0] is not None else None
        return (first, *inner[1:])


def refresh(view: Tensor, geometry: Geometry | None = None) -> None:
    """Gives a view whose base was changed in place since its history anew."""
    meta, storage = view._meta, view._storage
    assert meta is not None and storage is not None and meta.base is not None
    if meta.view_version == storage.version:
        return
    base, before = meta.base, view._grad_fn
    if before is None and not base._requires_grad:
        return
    if meta.creation:
        cause = Cause("view", storage.changed_at, before, tensor=view, creation=meta.creation)
        what = "its base or another view of its base has been"
        raise because(RuntimeError(forbidden(view, what)), cause)
    meta.view_version = storage.version
    view._grad_fn = AsStrided(base, geometry or Geometry(base, view))
    view._output_nr = 0
    view._requires_grad = True
    if meta.retains_grad:
        move_retained(view, before)
    if state.observer is not None:
        state.observer.made(view)


def move_retained(tensor: Tensor, before: Node | None) -> None:
    """A gradient is retained where the tensor's history begins now."""
    if before is not None and before.hooks is not None:
        before.hooks.retain = {
            place: kept for place, kept in before.hooks.retain.items() if kept() is not tensor
        }
    if tensor._grad_fn is not None:
        tensor._grad_fn._need_hooks().retain[tensor._output_nr] = weakref.ref(tensor)


_MULTIPLE = (
    " This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)
_AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {0} block (if you don't "
    "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_IN_FUNCTION = (
    " This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
_WHY = {
    "multi": _MULTIPLE,
    "no_grad": _AMBIGUOUS.format("no_grad"),
    "inference": _AMBIGUOUS.format("inference_mode"),
    "function": _IN_FUNCTION,
}


def forbidden(view: Tensor, modified: str) -> str:
    """Why a view that was made in such a way must not change in place, in PyTorch's words."""
    assert view._meta is not None
    creation, node = view._meta.creation, view._grad_fn
    name = "" if node is None else function_name(node)
    if node is not None and creation in ("multi", "function"):
        said = f"Output {view._output_nr} of {name} is a view and {modified} modified inplace."
        return said + _WHY[creation]
    if node is None:
        where = "A view was created in"
    else:
        where = f"Output {view._output_nr} of {name} is a view of a view which was created in"
    if creation == "inference":
        said = f"{where} inference mode and {modified} modified inplace in normal mode."
    else:
        said = f"{where} no_grad mode and {modified} modified inplace with grad mode enabled."
    return said + _WHY[creation]


def check_inplace(tensor: Tensor, tracked: bool) -> None:
    """Raises where PyTorch forbids changing a tensor in place."""
    meta = tensor._meta
    if not state.grad_enabled or not tracked:
        return
    base = None if meta is None else meta.base
    if base is not None:
        assert meta is not None
        if meta.creation:
            cause = Cause("view", None, tensor._grad_fn, tensor=tensor, creation=meta.creation)
            raise because(RuntimeError(forbidden(tensor, "is being")), cause)
        if tensor._requires_grad and base._grad_fn is None:
            message = (
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation."
            )
            raise because(RuntimeError(message), Cause("leaf", tensor=base, view=True))
    if tensor._requires_grad and tensor._grad_fn is None:
        message = "a leaf Variable that requires grad is being used in an in-place operation."
        raise because(RuntimeError(message), Cause("leaf", tensor=tensor, view=False))


def rebase(tensor: Tensor, node: Node) -> None:
    """After an in-place operation: the tensor's history is that operation's node."""
    meta = tensor._meta
    base = None if meta is None else meta.base
    before = tensor._grad_fn
    if base is None:
        tensor._grad_fn, tensor._output_nr, tensor._requires_grad = node, 0, True
        if meta is not None:
            set_mark(tensor, True)
            if meta.retains_grad:
                move_retained(tensor, before)
        return
    geometry = Geometry(base, tensor)
    slices = CopySlices(base, geometry, node)
    before = base._grad_fn
    base._grad_fn, base._output_nr, base._requires_grad = slices, 0, True
    set_mark(base, True)
    if base._meta is not None and base._meta.retains_grad:
        move_retained(base, before)
    if state.observer is not None:
        state.observer.made(base)
    refresh(tensor, geometry)


def view_inplace(row: Row) -> Callable[..., Any]:
    """t_, unsqueeze_ and their like: the tensor itself takes on the view's shape."""

    def run(*values: Any) -> Any:
        tensor = values[0]
        tracked = tensor.requires_grad
        check_inplace(tensor, tracked)
        out = row.run(*values)
        if out._grad_fn is None and tensor._requires_grad:
            note_shape(tensor, tensor._data.shape)
        tensor._data, tensor._form = out._data, None
        tensor._bump()
        if out._grad_fn is not None:
            node = out._grad_fn
            node.row = row.inplace_row
            tensor._grad_fn, tensor._output_nr, tensor._requires_grad = node, 0, True
            if tensor._meta is not None and tensor._meta.base is not None:
                tensor._meta.view_version = tensor._version  # elsewhere it is read off its base
        return tensor

    return run
