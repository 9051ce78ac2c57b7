"""Live: how PyTorch prints a tensor, by our own printer where the two agree.

It writes the same text five times as fast, and a trace of a network shows hundreds of tensors.
What a program has set of the printing, and what is no plain array on the CPU, stays PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.memory.repr import prints
from ..engine.tensors.construct import from_numpy
from ..engine.tensors.text import text_of

PLAIN = ("float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")


def settle_printing(torch: Any) -> None:
    """The program is over: what it set of the printing counts in reports if it can print."""
    if not prints(torch._tensor_str.PRINT_OPTS):
        torch.set_printoptions(profile="default")


class Printer:
    """Texts of tensors that require no gradient."""

    def __init__(self, torch: Any, bare: Callable[[Any], Any], array: Callable[[Any], Any]) -> None:
        self.torch, self.bare, self.array = torch, bare, array
        self.kinds = {getattr(torch, name) for name in PLAIN}
        self.usual = type(torch._tensor_str.PRINT_OPTS)()

    def text(self, tensor: Any) -> str:
        tensor = self.bare(tensor)
        if self._is_plain(tensor):
            return text_of(from_numpy(self.array(tensor)))
        return repr(tensor)

    def _is_plain(self, tensor: Any) -> bool:
        torch = self.torch
        return bool(
            type(tensor) is torch.Tensor
            and tensor.dtype in self.kinds
            and tensor.device.type == "cpu"
            and tensor.layout is torch.strided
            and not tensor.is_nested
            and not tensor.is_neg()
            and not tensor.requires_grad
            and torch.get_default_dtype() is torch.float32
            and self.usual == torch._tensor_str.PRINT_OPTS
        )
