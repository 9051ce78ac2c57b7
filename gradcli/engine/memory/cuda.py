"""Engine: torch.cuda and torch.accelerator: queries about a GPU; nothing here computes."""

from __future__ import annotations

from typing import Any

from .device import Device, array_module, as_device, cuda_available


def _cupy() -> Any:
    """The array library of GPUs; the complaint is PyTorch's where no GPU is."""
    if not cuda_available():
        raise AssertionError("Torch not compiled with CUDA enabled")
    return array_module(Device("cuda"))


def current_device() -> int:
    return int(_cupy().cuda.runtime.getDevice())


def set_device(device: Any) -> None:
    """New tensors on "cuda" go to this one."""
    if not cuda_available():
        raise AttributeError("module 'torch._C' has no attribute '_cuda_setDevice'")
    as_device(device if isinstance(device, int | Device) else Device(device))


def synchronize(device: Any = None) -> None:
    """Waits until the GPU has finished all queued work."""
    _cupy().cuda.runtime.deviceSynchronize()


def get_device_name(device: Any = None) -> str:
    cupy = _cupy()
    number = cupy.cuda.runtime.getDevice() if device is None else as_device(device).index
    name: bytes = cupy.cuda.runtime.getDeviceProperties(number)["name"]
    return name.decode()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    cupy = _cupy()
    number = cupy.cuda.runtime.getDevice() if device is None else as_device(device).index
    digits: str = cupy.cuda.Device(number).compute_capability
    return int(digits[:-1]), int(digits[-1])


def memory_allocated(device: Any = None) -> int:
    """Bytes that arrays on the GPU hold; 0 where no GPU is."""
    return int(_cupy().get_default_memory_pool().used_bytes()) if cuda_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Bytes that the pool of the GPU holds, in arrays or ready for them."""
    return int(_cupy().get_default_memory_pool().total_bytes()) if cuda_available() else 0


# The pool keeps no peaks: what it holds now is what it was seen to hold.
max_memory_allocated, max_memory_reserved = memory_allocated, memory_reserved


def empty_cache() -> None:
    """Gives memory back that no array holds."""
    if cuda_available():
        _cupy().get_default_memory_pool().free_all_blocks()


def manual_seed(seed: int) -> None:
    """Random numbers come from one stream on every device: only torch.manual_seed decides it."""


def current_accelerator() -> Device | None:
    return Device("cuda") if cuda_available() else None
