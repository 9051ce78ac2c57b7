"""Engine: a tensor's printed text: the properties that the printer reads."""

from __future__ import annotations

from ..memory.device import to_numpy
from ..memory.repr import number_text, print_options, sparse_text, tensor_text
from ..schema.carriers import TRANSFORMS
from ..schema.dtypes import BY_NAME, default_dtype
from .tensor import Tensor


def text_of(tensor: Tensor) -> str:
    """The text that print(tensor) shows."""
    if TRANSFORMS.text is not None and (inside := TRANSFORMS.text(tensor)) is not None:
        return str(inside)
    data, kind = tensor._data, tensor._kind
    bare = tensor._grad_fn is None and tensor._meta is None and not tensor._requires_grad
    if bare and not data.ndim and kind.dtype is default_dtype() and kind.device.type == "cpu":
        if print_options.edgeitems:
            return number_text(float(data))  # most that a graph of numbers prints
    device = str(tensor.device)
    return tensor_text(
        to_numpy(tensor._data),
        dtype=tensor.dtype,
        device=device,
        requires_grad=tensor.requires_grad,
        grad_fn=_name_of_history(tensor),
        parameter=tensor.is_parameter,
    )


def sparse_text_of(tensor: Tensor) -> str:
    """The same of a sparse tensor, which prints its parts."""
    held, kind = tensor._data, tensor._kind
    parts = [(name, to_numpy(array), BY_NAME["int64"]) for name, array in held.parts()]
    return sparse_text(
        [*parts, ("values", to_numpy(held.values), kind.dtype)],
        held.layout,
        shape=held.shape,
        device=str(tensor.device),
        requires_grad=tensor.requires_grad,
        grad_fn=_name_of_history(tensor),
    )


def _name_of_history(tensor: Tensor) -> str | None:
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view that must not be used any more: see views.forbidden
        return "Invalid"
    return None if node is None else node.name().split("::")[-1]
