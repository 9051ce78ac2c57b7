"""Library: modules that learn the size of their input from the first one they get."""

from __future__ import annotations

from typing import Any

from ..engine.schema.mode import no_grad
from ..engine.tensors.construct import tensor
from . import uninitialized
from .convolution import Conv1d, Conv2d, Conv3d
from .linear import Linear
from .module import Module
from .normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .uninitialized import Uninitialized


class LazyModuleMixin(Module):
    """A module of the class BECOMES whose parameters get their size at the first call."""

    PUBLIC: tuple[str, ...] = ("has_uninitialized_params", "initialize_parameters")
    BECOMES: type[Module]

    def _wait(self) -> None:
        self._forward_pre_hooks[-1] = (_infer, True)

    def has_uninitialized_params(self) -> bool:
        held = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(value, Uninitialized) for value in held)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self._size() != 0:
            type(self).BECOMES.reset_parameters(self)  # type: ignore[attr-defined]

    def initialize_parameters(self, input: Any) -> None:
        if not self.has_uninitialized_params():
            return
        with no_grad():
            shapes = self._shapes(input)
            for name, value in (*self._parameters.items(), *self._buffers.items()):
                if isinstance(value, Uninitialized):
                    value.materialize(shapes[name])
            self.reset_parameters()

    def _shapes(self, input: Any) -> dict[str, tuple[int, ...]]:
        """Sizes by name, after the input; notes what the input told."""
        raise NotImplementedError

    def _size(self) -> int:
        """What the input told; 0 before."""
        raise NotImplementedError

    def _read_size(self) -> None:
        """Takes it from a state that was loaded before the first call."""
        raise NotImplementedError

    def _leave_open(self, names: tuple[str, ...], device: Any, dtype: Any) -> None:
        for name in names:
            self.register_parameter(name, uninitialized.parameter(device, dtype))


def _infer(module: LazyModuleMixin, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    kind = next(base for base in type(module).__mro__ if "BECOMES" in base.__dict__)
    module.initialize_parameters(*args, **kwargs)
    if not module._size():
        module._read_size()
    del module._forward_pre_hooks[-1]
    if type(module) is kind:
        object.__setattr__(module, "__class__", kind.BECOMES)


class LazyLinear(LazyModuleMixin, Linear):
    BECOMES = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        Linear.__init__(self, 0, 0, False)
        self.out_features = out_features
        self._leave_open(("weight", "bias") if bias else ("weight",), device, dtype)
        self._wait()

    def _size(self) -> int:
        return int(self.in_features)

    def _read_size(self) -> None:
        self.in_features = self.weight.shape[-1]

    def _shapes(self, input: Any) -> dict[str, tuple[int, ...]]:
        self.in_features = input.shape[-1]
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}


class _LazyConvXdMixin(LazyModuleMixin):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        type(self).BECOMES.__init__(
            self, 0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode
        )
        self.out_channels = out_channels
        self._leave_open(("weight", "bias") if bias else ("weight",), device, dtype)
        self._wait()

    def _size(self) -> int:
        return int(self.in_channels)

    def _read_size(self) -> None:
        self.in_channels = self.weight.shape[1] * self.groups

    def _shapes(self, input: Any) -> dict[str, tuple[int, ...]]:
        rank = len(self.kernel_size)
        if input.ndim not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-rank - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        weight = (self.out_channels, self.in_channels // self.groups, *self.kernel_size)
        return {"weight": weight, "bias": (self.out_channels,)}


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    BECOMES = Conv1d


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    BECOMES = Conv2d


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    BECOMES = Conv3d


class _LazyNormBase(LazyModuleMixin):
    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        type(self).BECOMES.__init__(self, 0, eps, momentum, False, False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self._leave_open(("weight", "bias") if bias else ("weight",), device, dtype)
        if track_running_stats:
            self.running_mean = uninitialized.buffer(device, dtype)
            self.running_var = uninitialized.buffer(device, dtype)
            self.num_batches_tracked = tensor(0, device=device)
        self._wait()

    def _size(self) -> int:
        return int(self.num_features)

    def _read_size(self) -> None:
        held = self.weight if self.weight is not None else self.running_mean
        self.num_features = 0 if held is None else held.shape[0]

    def _shapes(self, input: Any) -> dict[str, tuple[int, ...]]:
        self.num_features = input.shape[1]
        return dict.fromkeys(
            ("weight", "bias", "running_mean", "running_var"), (self.num_features,)
        )


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    BECOMES = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    BECOMES = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    BECOMES = BatchNorm3d
