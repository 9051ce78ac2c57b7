"""Amp: torch.cuda.amp: the older names of torch.amp, for CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.schema.dtypes import DType
from . import autocast_mode
from .autocast_mode import deprecated, older_autocast
from .grad_scaler import OlderScaler


class autocast(older_autocast):
    """torch.amp.autocast("cuda")"""

    _torch_name = "torch.cuda.amp.autocast_mode.autocast"
    kind = "cuda"


class GradScaler(OlderScaler):
    """torch.amp.GradScaler("cuda")"""

    _torch_name = "torch.cuda.amp.grad_scaler.GradScaler"
    kind = "cuda"


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: DType | None = None) -> Any:
    """torch.amp.custom_fwd(device_type="cuda")"""
    deprecated("cuda.amp.custom_fwd(args...)", "amp.custom_fwd(args..., device_type='cuda')")
    return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """torch.amp.custom_bwd(device_type="cuda")"""
    deprecated("cuda.amp.custom_bwd(args...)", "amp.custom_bwd(args..., device_type='cuda')")
    return autocast_mode.custom_bwd(bwd, device_type="cuda")
