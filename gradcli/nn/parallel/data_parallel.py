"""Library: torch.nn.DataParallel, which calls its module directly on one device."""

from __future__ import annotations

from typing import Any

from ..module import Module


class DataParallel(Module):
    PUBLIC = ("module", "device_ids")

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
