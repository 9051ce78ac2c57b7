"""Engine: exceptions that PyTorch has of its own, and what messages call a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .class_name import name_in_messages


class OutOfMemoryError(RuntimeError):
    """torch.OutOfMemoryError: what a GPU raises when its memory is full."""

    _torch_name = "torch.OutOfMemoryError"


class _LinAlgError(RuntimeError):
    """torch.linalg.LinAlgError: a matrix that cannot be factored or inverted."""

    _torch_name = "torch._C._LinAlgError"


class DeviceMissing(RuntimeError):
    """The requested device is not there."""


class AcceleratorError(DeviceMissing):
    """torch.AcceleratorError: what a driver complains of."""

    _torch_name = "torch.AcceleratorError"


def type_name(value: Any) -> str:
    """What messages call a value's type; values of the language have names of their own."""
    return declared(value, "type_name") or name_in_messages(type(value))


def declared(value: Any, name: str, default: Any = None) -> Any:
    """An attribute that the class of an object has; never what a program keeps on the object under
    such a name, as a buffer or on the context of a Function."""
    return getattr(value, name) if hasattr(type(value), name) else default


def check_gradient(by: str, place: int, have: Sequence[int], shape: Sequence[int]) -> None:
    """Raises where a gradient of one shape can't be summed to that of its input.

    `by` names what returned it, as PyTorch's message begins: "Function SumBackward0 returned an ".
    """
    behind = zip(reversed(shape), reversed(have))
    if len(shape) > len(have) or any(size not in (1, found) for size, found in behind):
        raise RuntimeError(
            f"{by}invalid gradient at index {place} - got {list(have)} but expected shape "
            f"compatible with {list(shape)}"
        )


def unbound(name: str, value: Any) -> str:
    """Python's words for a method of tensors, taken from their class, that gets something else."""
    return (
        f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a "
        f"'{type_name(value)}' object"
    )
