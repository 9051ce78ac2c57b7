"""Amp: torch.autocast: where there is no such device it is off, as in PyTorch.

Where it would be on, operations would have to choose their types; that is refused in words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ..engine.class_name import NamedInTorch, name_in_messages
from ..engine.device import Device, cuda_available
from ..engine.dtypes import DType, bfloat16, float16
from ..engine.mode import state

FAST = {"cuda": float16, "cpu": bfloat16}
OFF = "CUDA is not available or torch_xla is imported. Disabling autocast."
UNSUPPORTED = (
    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
    "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
)


class autocast(metaclass=NamedInTorch):
    """Chooses the types of operations on one device; a context manager and a decorator.

    NotImplementedError where it is entered for a device that tensors can be on.
    """

    PUBLIC = ("device", "fast_dtype")

    def __init__(
        self,
        device_type: str,
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            kind = f"<class '{name_in_messages(type(device_type))}'>"
            raise ValueError(f"Expected `device_type` of type `str`, got: `{kind}`")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = enabled
        if enabled and device_type == "cuda" and not cuda_available():
            state.warn(OFF)
            self._enabled = False
        elif enabled and device_type == "cpu" and self.fast_dtype not in (bfloat16, float16):
            state.warn(UNSUPPORTED)
            self._enabled = False

    def __enter__(self) -> autocast:
        if self._enabled and self.device in FAST:
            raise NotImplementedError(
                f"autocast to {self.fast_dtype} on the {self.device} is not supported here: every "
                "operation computes in the types of its operands; enabled=False leaves it out"
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What was off stays off."""

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return run


def deprecated(old: str, new: str) -> None:
    """The warning of an older name."""
    state.warn(f"`torch.{old}` is deprecated. Please use `torch.{new}` instead.", FutureWarning)


class older_autocast(autocast):
    """Of torch.cuda.amp and torch.cpu.amp: for the device in its name."""

    kind: str

    def __init__(
        self, enabled: bool = True, dtype: DType | None = None, cache_enabled: bool = True
    ) -> None:
        kind = self.kind
        deprecated(f"{kind}.amp.autocast(args...)", f"amp.autocast('{kind}', args...)")
        super().__init__(kind, dtype, enabled, cache_enabled)


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Any:
    """Of a Function's forward: where autocast is off, it runs as it is."""
    return (lambda function: function) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """The same of its backward."""
    return (lambda function: function) if bwd is None else bwd


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has it for devices of this type; RuntimeError if there are none such."""
    return Device(device_type).type == device_type


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """It is never on."""
    return False


def get_autocast_dtype(device_type: str) -> DType:
    """The type that it would choose; RuntimeError if there are no devices of this type."""
    return FAST.get(Device(device_type).type, float16)


def clear_autocast_cache() -> None:
    """There is none."""
