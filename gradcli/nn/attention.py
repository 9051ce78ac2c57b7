"""Library: torch.nn.attention and its kin in torch.backends.cuda: how attention is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.schema.mode import state
from ..operators.nn.attention import KERNELS, kernels


class Backend:
    """A member of SDPBackend."""

    _torch_name = "torch.nn.attention._SDPBackend"
    PUBLIC = ("name", "value")
    __slots__ = PUBLIC

    def __init__(self, name: str, value: int) -> None:
        self.name, self.value = name, value

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"


class Backends:
    """What the name SDPBackend stands for: the members by their names."""

    _torch_name = "torch.nn.attention._SDPBackend"
    PUBLIC = (
        "ERROR", "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION",
        "OVERRIDEABLE",
    )  # fmt: skip
    __slots__ = PUBLIC

    def __init__(self) -> None:
        self.ERROR, self.OVERRIDEABLE = Backend("ERROR", -1), Backend("OVERRIDEABLE", 4)
        (
            self.MATH, self.FLASH_ATTENTION, self.EFFICIENT_ATTENTION, self.CUDNN_ATTENTION,
        ) = (Backend(name, value) for value, name in enumerate(KERNELS))  # fmt: skip


SDPBackend = Backends()


class _Choice:
    """Within it attention is computed in these ways only."""

    PUBLIC: tuple[str, ...] = ()

    def __init__(self, allowed: set[str]) -> None:
        self.allowed, self.before = allowed, allowed

    def __enter__(self) -> None:
        self.before, kernels.allowed = kernels.allowed, self.allowed

    def __exit__(self, *error: object) -> None:
        kernels.allowed = self.before


class sdpa_kernel(_Choice):
    def __init__(self, backends: Any, set_priority: bool = False) -> None:
        given = backends if isinstance(backends, list) else [backends]
        if not all(isinstance(one, Backend) for one in given):
            raise AssertionError(
                "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                f"{type(backends).__name__}"
            )
        super().__init__({one.name for one in given})


class sdp_kernel(_Choice):
    """The same by one flag for each way, as it was written before."""

    def __init__(
        self, enable_flash: bool = True, enable_math: bool = True,
        enable_mem_efficient: bool = True, enable_cudnn: bool = True,
    ) -> None:  # fmt: skip
        state.warn(
            "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
            "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
            "manager, with updated signature.",
            FutureWarning,
        )
        flags = enable_math, enable_flash, enable_mem_efficient, enable_cudnn
        super().__init__({name for name, flag in zip(KERNELS, flags, strict=True) if flag})


def _flag_getter(word: str, name: str) -> Callable[[], bool]:
    def enabled() -> bool:
        return name in kernels.allowed

    enabled.__qualname__ = enabled.__name__ = f"{word}_sdp_enabled"
    return enabled


def _flag_setter(word: str, name: str) -> Callable[[bool], None]:
    def switch(enabled: bool) -> None:
        kernels.allowed = kernels.allowed | {name} if enabled else kernels.allowed - {name}

    switch.__qualname__ = switch.__name__ = f"enable_{word}_sdp"
    return switch


_WORDS = ("math", "flash", "mem_efficient", "cudnn")
math_sdp_enabled, flash_sdp_enabled, mem_efficient_sdp_enabled, cudnn_sdp_enabled = map(
    _flag_getter, _WORDS, KERNELS
)
enable_math_sdp, enable_flash_sdp, enable_mem_efficient_sdp, enable_cudnn_sdp = map(
    _flag_setter, _WORDS, KERNELS
)
