"""Engine: devices, and the array library that works on each. The only module that knows CuPy."""

from __future__ import annotations

from typing import Any

import numpy

from ...process.memory import allow_driver
from ..schema.carriers import RUNTIME
from ..schema.class_name import NamedInC
from ..schema.dtypes import OF_ARRAY
from ..schema.errors import AcceleratorError, DeviceMissing as DeviceMissing
from ..schema.run_state import run_state
from ..schema.signature import COERCIONS

# PyTorch divides by zero without a word; so do we. NumPy keeps this switch per context.
numpy.seterr(all="ignore")


class Device(metaclass=NamedInC):
    """torch.device: a kind of device and, for one of several, its number."""

    __slots__ = ("type", "index")
    _torch_name = "torch.device"

    type: str
    index: int | None

    def __init__(self, type: Any = None, index: int | None = None, *, device: Any = None) -> None:
        type = device if type is None else type
        if isinstance(type, Device):
            type, index = type.type, type.index
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        kind, _, number = str(type).partition(":")
        if kind not in ("cpu", "cuda", "mps", "meta"):
            raise RuntimeError(
                "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, "
                "fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type "
                f"at start of device string: {kind}"
            )
        if number and not (number.isdecimal() and len(number) < 10):
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = kind
        self.index = int(number) if number else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __enter__(self) -> Device:
        """`with torch.device("cuda"):` new tensors go there."""
        _default.before.append(_default.device)
        set_default_device(self)
        return self

    def __exit__(self, *error: object) -> None:
        set_default_device(_default.before.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


cpu = Device("cpu")


class _Default:
    """torch.get_default_device, and what it was where `with torch.device(...)` was entered."""

    __slots__ = ("device", "before")

    def __init__(self) -> None:
        self.device = cpu
        self.before: list[Device] = []


_default = run_state(_Default())


def cuda_available() -> bool:
    """Is CuPy installed and a GPU usable? Importing CuPy succeeds without either."""
    try:
        return _usable()
    except Exception:  # a broken driver raises whatever it likes
        return False


def _usable() -> bool:
    import cupy

    allow_driver()
    return bool(cupy.cuda.is_available())


def cuda_count() -> int:
    if not cuda_available():
        return 0
    import cupy

    return int(cupy.cuda.runtime.getDeviceCount())


def as_device(value: Any) -> Device:
    """The device a program named; numbered like PyTorch's tensors number theirs."""
    if value is None:
        return cpu if _default.device is cpu else use_cuda(_default.device)
    device = value if isinstance(value, Device) else Device(value)
    if device.type == "cpu":
        return cpu
    if device.type == "cuda":
        array_module(device)
        return use_cuda(device)
    raise DeviceMissing(f"device {device} is not one that gradcli computes on: cpu, cuda")


def _as_argument(value: Any) -> tuple[bool, Any]:
    """(does it name a device, the device)"""
    fits = isinstance(value, str | Device) or value.__class__ is int
    return fits, as_device(value) if fits else value


COERCIONS["Device"] = _as_argument


def set_default_device(value: Any) -> None:
    _default.device = cpu if value is None else as_device(value)


def default_device() -> Device:
    return _default.device


def use_cuda(device: Device) -> Device:
    """The GPU by its number; what follows is computed on it."""
    import cupy

    number = cupy.cuda.runtime.getDevice() if device.index is None else device.index
    if number >= cuda_count():
        raise AcceleratorError(
            "CUDA error: invalid device ordinal\n"
            "GPU device may be out of range, do you have enough GPUs?"
        )
    if number != cupy.cuda.runtime.getDevice():
        cupy.cuda.Device(number).use()
    return device if device.index is not None else Device("cuda", int(number))


RUNTIME.double = numpy.dtype("float64")
RUNTIME.ones.update({a.dtype: a for a in (numpy.array(1, "f4"), numpy.array(1, "f8"))})
RUNTIME.arrays.update(
    dict.fromkeys((numpy.ndarray, *(numpy.dtype(d.numpy).type for d in OF_ARRAY.values())), numpy)
)
_cuda: list[Any] = []  # the array library of GPUs, once one was requested


def array_module(device: Device) -> Any:
    """The array library of a device; DeviceMissing says what to install."""
    if device.type == "cpu":
        return numpy
    return _cuda[0] if _cuda else _cuda_library()


def _cuda_library() -> Any:
    try:
        import cupy
    except ImportError:
        raise DeviceMissing(
            "CUDA needs CuPy, which is not installed: pip install 'gradcli[cuda]'"
        ) from None
    try:
        why = "" if _usable() else "; run with --device cpu"
    except Exception as error:  # a broken driver raises whatever it likes
        why = f" ({error}); run with --device cpu"
    if why:
        raise DeviceMissing(
            f"CuPy {cupy.__version__} is installed but no usable GPU was found{why}"
        )
    from .library import Library

    library = RUNTIME.arrays[cupy.ndarray] = Library(cupy, numpy, cupy)
    RUNTIME.ones.clear()  # NumPy's arrays of no dimension are no operands of CuPy's; numbers are
    _cuda.append(library)
    return library


def to_numpy(array: Any) -> numpy.ndarray[Any, Any]:
    """The values of an array of any device, on the CPU."""
    if isinstance(array, numpy.ndarray):
        return array
    return numpy.asarray(array) if isinstance(array, numpy.generic) else array.get()


def placed(array: Any, xp: Any) -> Any:
    """An array as an array library's own."""
    if module_of(array) is xp:
        return array
    return to_numpy(array) if xp is numpy else xp.asarray(array)


def module_of(array: Any) -> Any:
    """The array library that made an array (NumPy scalars count as NumPy's)."""
    return numpy if isinstance(array, numpy.ndarray | numpy.generic) else _cuda[0]


def memory_of(array: Any) -> Any:
    """What all arrays in the same memory have in common; None for a scalar.

    NumPy's arrays have the one that owns the memory, CuPy's the piece of memory itself: there an
    array under strides of its own does not tell what it is a view of.
    """
    if not hasattr(array, "__setitem__"):
        return None
    if not isinstance(array, numpy.ndarray):
        return getattr(getattr(array, "data", None), "mem", array)
    while getattr(array, "base", None) is not None:
        array = array.base
    return array
