"""Live: the values of a program's inputs as PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engine.device import to_numpy
from ..engine.tensor import Tensor
from ..opening import DeviceMissing, UsageError


def device_of(torch: Any, name: str) -> Any:
    """The device that --device names."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"--device {name}: expected cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DeviceMissing(f"--device {name}: PyTorch finds no CUDA device here")
    return device


def given_tensors(torch: Any, values: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """Tensors become PyTorch's; other values stay as they are."""
    return {name: _given(torch, value, device) for name, value in values.items()}


def _given(torch: Any, value: Any, device: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    dtype = getattr(torch, str(value.dtype).removeprefix("torch."))
    made = torch.tensor(to_numpy(value._data), dtype=dtype, device=device)
    return made.requires_grad_() if value.requires_grad else made
