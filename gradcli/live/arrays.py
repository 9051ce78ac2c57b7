"""Live: PyTorch's tensors as arrays of the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Arrays:
    """Whatever the tensors are: on a device, sparse, conjugated, of a type that NumPy lacks."""

    def __init__(
        self, torch: Any, hands_off: Callable[[], Any], bare: Callable[[Any], Any]
    ) -> None:
        self.torch, self.hands_off, self.bare = torch, hands_off, bare
        self.halves = torch.bfloat16, torch.float16  # an array of them computes too roughly
        self.plain = torch.Tensor, torch.nn.Parameter

    def has_numbers(self, tensor: Any) -> bool:
        """Not on the device "meta", and nothing whose class computes operations itself: it stands
        for other tensors, and a look at its numbers would run its code."""
        if tensor.is_meta:
            return False
        kind = type(tensor)
        if kind in self.plain or tensor.is_nested:
            return True
        dispatched = type.__getattribute__(kind, "__torch_dispatch__")
        return dispatched is self.torch.Tensor.__torch_dispatch__

    def array(self, value: Any) -> Any:
        """Its elements; of a nested tensor in one line."""
        with self.hands_off():
            tensor = self.in_line(value) if value.is_nested else self.bare(value)
            tensor = tensor.detach() if tensor.requires_grad else tensor
            if tensor.layout is not self.torch.strided:
                tensor = tensor.to_dense()
            if tensor.dtype in self.halves:
                tensor = tensor.float()
            return tensor.numpy(force=True)  # on a device, conjugated, negated, all zeros too

    def in_line(self, nested: Any) -> Any:
        """The parts of a nested tensor, which has no one shape, one behind the other."""
        with self.hands_off():
            return self.torch.cat([part.reshape(-1) for part in nested.detach().unbind()])
