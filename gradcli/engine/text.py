"""Engine: a tensor's printed text: what the printer needs to know of the tensor."""

from __future__ import annotations

from .device import to_numpy
from .repr import tensor_text
from .row import CARRIERS
from .tensor import Tensor


def text_of(tensor: Tensor) -> str:
    """The text that print(tensor) shows."""
    if CARRIERS.text is not None and (inside := CARRIERS.text(tensor)) is not None:
        return str(inside)
    node = tensor.grad_fn
    device = str(tensor.device)
    return tensor_text(
        to_numpy(tensor._data),
        dtype=tensor.dtype,
        device=device,
        requires_grad=tensor.requires_grad,
        grad_fn=None if node is None else node.name().split("::")[-1],
        parameter=tensor.is_parameter,
    )
