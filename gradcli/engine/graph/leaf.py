"""Engine: leaves: the edge of a tensor, what .grad may be, and which tensors have none."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..schema.carriers import RUNTIME, TRANSFORMS
from ..schema.errors import type_name
from ..schema.mode import state
from .node import AccumulateGrad, Node, Storage

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)


def gradient_of(tensor: Tensor) -> Any:
    """Its .grad, without the warning that a tensor in the middle of a graph gives.

    A program may have put something else among the parameters of an optimizer.
    """
    try:
        meta = tensor._meta
    except AttributeError:
        raise AttributeError(f"'{type_name(tensor)}' object has no attribute 'grad'") from None
    return None if meta is None else meta.grad


def reset_gradient(tensor: Tensor, set_to_none: bool) -> None:
    """What zero_grad does to each parameter."""
    grad = gradient_of(tensor)
    if grad is None:
        return
    if set_to_none:
        tensor.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


class _InferenceStorage(Storage):
    """Takes the place of a version counter: saving the tensor for backward runs it."""

    __slots__ = ()

    def __init__(self) -> None:
        """It counts nothing."""

    @property
    def version(self) -> int:
        return -1

    @version.setter
    def version(self, value: int) -> None:
        """A change in place has been made, as in PyTorch, when it turns out to be forbidden."""
        if not state.inference:
            raise RuntimeError(INFERENCE_CHANGED)


def mark_inference(tensor: Tensor) -> None:
    """Made in inference mode: no version counter, and no way into a graph."""
    tensor._need_meta().inference = True
    tensor._storage = _InferenceStorage()


type(state).mark_inference = staticmethod(mark_inference)


def refuse_inference(storage: Storage) -> None:
    """Where torch.func differentiates, wrappers are saved, which are not of inference mode."""
    if isinstance(storage, _InferenceStorage) and TRANSFORMS.change is None:
        raise RuntimeError(INFERENCE_SAVED)


INFERENCE_CHANGED = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)


def edge_of(tensor: Tensor) -> Node | None:
    """The node that a gradient for this tensor goes to."""
    meta = tensor._meta
    if meta is not None and meta.base is not None:
        storage = tensor._storage
        if storage is None or meta.view_version != storage.version:
            tensor._refresh()
    if tensor._grad_fn is not None:
        return tensor._grad_fn
    if tensor._requires_grad is not True:  # of a view: neither itself nor by its history
        return None
    if meta is None:
        meta = tensor._need_meta()
    node = None if meta.accumulator is None else meta.accumulator()
    if node is None:
        node = AccumulateGrad(tensor)
        meta.accumulator = weakref.ref(node)
    return node


def ends_a_graph(tensor: Tensor) -> bool:
    """Whether a graph leads to this leaf, though it may have stopped requiring grad since."""
    meta = tensor._meta
    return meta is not None and meta.accumulator is not None and meta.accumulator() is not None


@contextmanager
def asked_for(leaf: Tensor) -> Iterator[None]:
    """Within it a leaf that a graph leads to requires grad again, so that a pass answers it."""
    frozen = not leaf.requires_grad and ends_a_graph(leaf)
    if frozen:
        leaf._requires_grad = True
    try:
        yield
    finally:
        if frozen:
            leaf._requires_grad = False


def check_leaf(tensor: Tensor) -> None:
    """A leaf that a gradient came to may have become a result since."""
    if tensor._grad_fn is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior")


_C_WORDS = {
    "long": "long int", "byte": "unsigned char", "char": "signed char", "short": "short int",
    "half": "c10::Half", "bfloat16": "c10::BFloat16", "complexfloat": "c10::complex<float>",
    "complexdouble": "c10::complex<double>",
}  # fmt: skip


def check_new_grad(tensor: Tensor, value: Any) -> None:
    """What may be assigned to .grad, in PyTorch's words."""
    if value.__class__ is not tensor.__class__ and value.__class__ is not RUNTIME.sparse:
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type_name(value)}"
        )
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.device != tensor.device:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device.type}' to a tensor "
            f"with device type '{tensor.device.type}'. Please ensure that the gradient and the "
            "tensor are on the same device"
        )
    if value.dtype is not tensor.dtype:
        given = value.dtype.word.lower()
        raise RuntimeError(
            "attempting to assign a gradient with dtype "
            f"'{_C_WORDS.get(given, given)}' to a tensor with grad_dtype '{tensor.dtype.word}'. "
            "The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
            "You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
            "allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
            "its gradient may break downstream systems that assume they match."
        )
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )


def note_shape(leaf: Tensor, shape: tuple[int, ...]) -> None:
    """The shape that a leaf had until now; only passes that look at each edge check it."""
    meta = leaf._meta
    node = None if meta is None or meta.accumulator is None else meta.accumulator()
    if node is not None and node.extra is None:
        node.extra = shape
        state.reshaped = state.hooked = True
