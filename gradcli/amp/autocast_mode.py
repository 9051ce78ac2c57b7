"""Amp: torch.autocast: where there is no such device it is off, as in PyTorch.

On the CPU operations choose their types as `casting` says; on a GPU that is refused in words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.function_node import FunctionContext
from ..engine.memory.device import Device, cuda_available
from ..engine.schema.class_name import NamedInTorch, name_in_messages
from ..engine.schema.dtypes import DType, bfloat16, float16
from ..engine.schema.mode import state
from .casting import cast, casting, install

FAST = {"cuda": float16, "cpu": bfloat16}
OFF = "CUDA is not available or torch_xla is imported. Disabling autocast."
UNSUPPORTED = (
    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
    "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
)


class autocast(metaclass=NamedInTorch):
    """Chooses the types of operations on one device; a context manager and a decorator.

    NotImplementedError where it is entered for a GPU.
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
        self._cache_enabled = casting.keeps if cache_enabled is None else cache_enabled
        self._before: list[tuple[DType | None, bool]] = []
        if enabled and device_type == "cuda" and not cuda_available():
            state.warn(OFF)
            self._enabled = False
        elif enabled and device_type == "cpu" and self.fast_dtype not in (bfloat16, float16):
            state.warn(UNSUPPORTED)
            self._enabled = False

    def __enter__(self) -> autocast:
        if self._enabled and self.device == "cuda":
            raise NotImplementedError(
                f"autocast to {self.fast_dtype} on the {self.device} is not supported here: every "
                "operation computes in the types of its operands; enabled=False leaves it out"
            )
        self._before.append((casting.dtype, casting.keeps))
        casting.nesting += 1
        casting.keeps = self._cache_enabled
        if self.device == "cpu":
            casting.dtype = self.fast_dtype if self._enabled else None
            if self._enabled:
                install()
        return self

    def __exit__(self, *error: object) -> None:
        casting.dtype, casting.keeps = self._before.pop()
        casting.nesting -= 1
        if not casting.nesting:
            casting.copies.clear()

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
    """Of a Function's forward: with `cast_inputs` it runs on tensors of that type, autocast off."""
    if fwd is None:
        return lambda fwd: custom_fwd(fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def run(*args: Any, **kwargs: Any) -> Any:
        on = is_autocast_enabled(device_type)
        if isinstance(args[0], FunctionContext):
            args[0].autocast = on and cast_inputs is None, get_autocast_dtype(device_type)
        if cast_inputs is None or not on:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*cast(args, cast_inputs), **cast(kwargs, cast_inputs))

    return run


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Of its backward: autocast is on or off as it was in the forward."""
    if bwd is None:
        return lambda bwd: custom_bwd(bwd, device_type=device_type)

    @functools.wraps(bwd)
    def run(*args: Any, **kwargs: Any) -> Any:
        on, dtype = args[0].autocast if isinstance(args[0], FunctionContext) else (False, None)
        with autocast(device_type, dtype, on):
            return bwd(*args, **kwargs)

    return run


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has it for devices of this type; RuntimeError if there are none such."""
    return Device(device_type).type == device_type


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    return Device(device_type).type == "cpu" and casting.dtype is not None


def get_autocast_dtype(device_type: str) -> DType:
    """The type that it would choose; RuntimeError if there are no devices of this type."""
    kind = Device(device_type).type
    return (casting.dtype if kind == "cpu" else None) or FAST.get(kind, float16)


def clear_autocast_cache() -> None:
    casting.copies.clear()
