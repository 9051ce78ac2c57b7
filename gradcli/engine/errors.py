"""Engine: exceptions that PyTorch has of its own, and what messages call a type."""

from __future__ import annotations

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
    return getattr(value, "type_name", None) or name_in_messages(type(value))
