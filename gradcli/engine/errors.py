"""Engine: exceptions that PyTorch has of its own."""

from __future__ import annotations


class _LinAlgError(RuntimeError):
    """torch.linalg.LinAlgError: a matrix that cannot be factored or inverted."""

    torch_name = "torch._C._LinAlgError"


class DeviceMissing(RuntimeError):
    """The device that was asked for is not there."""


class AcceleratorError(DeviceMissing):
    """torch.AcceleratorError: what a driver complains of."""

    torch_name = "torch.AcceleratorError"
