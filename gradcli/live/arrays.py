"""Live: PyTorch's tensors as arrays of the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

READABLE = "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"


class Arrays:
    """Whatever the tensors are: on a device, sparse, conjugated, of a type that NumPy lacks."""

    def __init__(
        self, torch: Any, hands_off: Callable[[], Any], bare: Callable[[Any], Any]
    ) -> None:
        self.torch, self.hands_off, self.bare = torch, hands_off, bare
        self.plain = torch.Tensor, torch.nn.Parameter
        self.to_dlpack, self.from_dlpack = torch.utils.dlpack.to_dlpack, torch._C._from_dlpack
        # Of some NumPy has no arrays; those of halves compute too roughly.
        self.wider = dict.fromkeys(_types(torch, "bfloat16", "float8_"), torch.float32)
        self.wider[torch.float16] = torch.float32
        self.wider[torch.complex32] = torch.complex64
        self.opaque = _types(torch, "bits", "uint", "int", "float4_") - _types(torch, *READABLE)

    def has_numbers(self, tensor: Any) -> bool:
        """Not on the device "meta", nor where its memory was given back, as FSDP does it; and
        nothing whose class computes operations itself: it stands for other tensors, and a look at
        its numbers would run its code."""
        if tensor.is_meta or tensor.dtype in self.opaque:
            return False
        kind = type(tensor)
        if kind in self.plain or tensor.is_nested:
            return tensor.layout is not self.torch.strided or not self._is_given_back(tensor)
        dispatched = type.__getattribute__(kind, "__torch_dispatch__")
        return dispatched is self.torch.Tensor.__torch_dispatch__

    def _is_given_back(self, tensor: Any) -> bool:
        try:
            return not tensor.data_ptr() and bool(tensor.numel()) and not tensor._is_zerotensor()
        except RuntimeError:  # it has no memory of its own, as in torch.func
            return False

    def array(self, value: Any) -> Any:
        """Its elements; of a nested tensor in one line."""
        with self.hands_off():
            tensor = self.in_line(value) if value.is_nested else self.bare(value)
            tensor = tensor.detach() if tensor.requires_grad else tensor
            if tensor.layout is not self.torch.strided:
                tensor = tensor.to_dense()
            if tensor.is_quantized:
                tensor = tensor.dequantize()
            tensor = tensor.to(self.wider.get(tensor.dtype, tensor.dtype))
            if self._is_given_back(tensor):
                raise RuntimeError("the memory of this tensor was given back")
            is_here = tensor.is_cpu and not tensor.is_conj() and not tensor.is_neg()
            if not (is_here and tensor.data_ptr()):  # on a device, or all zeros
                return tensor.clone().numpy(force=True)
            # Memory that numpy() was asked for can't be resized any more; DLPack has no such rule.
            return self.from_dlpack(self.to_dlpack(tensor)).numpy()

    def in_line(self, nested: Any) -> Any:
        """The parts of a nested tensor, which has no one shape, one behind the other."""
        with self.hands_off():
            return self.torch.cat([part.reshape(-1) for part in nested.detach().unbind()])


def _types(torch: Any, *begin: str) -> set[Any]:
    """The element types whose names begin so."""
    named = ((name, getattr(torch, name)) for name in dir(torch) if name.startswith(begin))
    return {kind for _, kind in named if isinstance(kind, torch.dtype)}
