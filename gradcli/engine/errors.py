"""Engine: exceptions that PyTorch has of its own."""

from __future__ import annotations


class _LinAlgError(RuntimeError):
    """torch.linalg.LinAlgError: a matrix that cannot be factored or inverted."""

    torch_name = "torch._C._LinAlgError"
