"""Library: torch.nn.attention and its kin in torch.backends.cuda: how attention is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..engine.mode import state
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
    PUBLIC = ("ERROR", *KERNELS, "OVERRIDEABLE")
    __slots__ = PUBLIC

    def __init__(self) -> None:
        for value, name in enumerate(self.PUBLIC, -1):
            setattr(self, name, Backend(name, value))


SDPBackend = Backends()


class sdpa_kernel:
    """Within it attention is computed in these ways only."""

    PUBLIC: tuple[str, ...] = ()

    def __init__(self, backends: Any, set_priority: bool = False) -> None:
        if not isinstance(backends, (list, Backend)):
            raise AssertionError(
                "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                f"{type(backends).__name__}"
            )
        given = backends if isinstance(backends, list) else [backends]
        self.allowed = {one.name for one in given if isinstance(one, Backend)}
        self.before = set(KERNELS)

    def __enter__(self) -> None:
        self.before, kernels.allowed = kernels.allowed, set(self.allowed)

    def __exit__(self, *error: object) -> None:
        kernels.allowed = self.before


class sdp_kernel(sdpa_kernel):
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
        super().__init__([getattr(SDPBackend, name) for name in _named(flags)])


def _named(flags: Iterable[bool]) -> list[str]:
    return [name for name, flag in zip(KERNELS, flags, strict=True) if flag]


def _asked(name: str) -> Callable[[], bool]:
    return lambda: name in kernels.allowed


def _switched(name: str) -> Callable[[bool], None]:
    def switch(enabled: bool) -> None:
        kernels.allowed = kernels.allowed | {name} if enabled else kernels.allowed - {name}

    return switch


math_sdp_enabled, flash_sdp_enabled, mem_efficient_sdp_enabled, cudnn_sdp_enabled = map(
    _asked, KERNELS
)
enable_math_sdp, enable_flash_sdp, enable_mem_efficient_sdp, enable_cudnn_sdp = map(
    _switched, KERNELS
)
