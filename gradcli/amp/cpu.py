"""Amp: torch.cpu.amp: the older names of torch.amp, for the CPU."""

from __future__ import annotations

from .autocast_mode import older_autocast
from .grad_scaler import OlderScaler


class autocast(older_autocast):
    """torch.amp.autocast("cpu")"""

    _torch_name = "torch.cpu.amp.autocast_mode.autocast"
    kind = "cpu"


class GradScaler(OlderScaler):
    """torch.amp.GradScaler("cpu")"""

    _torch_name = "torch.cpu.amp.grad_scaler.GradScaler"
    kind = "cpu"
