"""Library: normalisation modules."""

from __future__ import annotations

from typing import Any

from ..engine.schema.mode import no_grad, state
from ..engine.tensors.construct import tensor
from . import functional, init
from .configured import REQUIRED, Configured, named_calls
from .create import empty, ones, zeros
from .module import Module
from .parameter import Parameter


class LayerNorm(Module):
    PUBLIC = ("normalized_shape", "eps", "elementwise_affine", "weight", "bias", "reset_parameters")

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _affine(self, self.normalized_shape, elementwise_affine, elementwise_affine and bias,
                device, dtype)  # fmt: skip
        self.reset_parameters()

    def reset_parameters(self) -> None:
        _reset_affine(self)

    def forward(self, input: Any) -> Any:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    PUBLIC = ("normalized_shape", "eps", "elementwise_affine", "weight", "reset_parameters")

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(empty(self.normalized_shape, device, dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    PUBLIC = ("num_groups", "num_channels", "eps", "affine", "weight", "bias", "reset_parameters")

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        device: Any = None, dtype: Any = None, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        _affine(self, (num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        _reset_affine(self)

    def forward(self, input: Any) -> Any:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


def _affine(
    module: Module, size: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any
) -> None:
    for name, wanted in (("weight", weight), ("bias", bias)):
        value = Parameter(empty(size, device, dtype)) if wanted else None
        module.register_parameter(name, value)


def _reset_affine(module: Module) -> None:
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


class _NormBase(Module):
    """Batch and instance norms: statistics of the data, kept while training."""

    PUBLIC: tuple[str, ...] = (
        "num_features", "eps", "momentum", "affine", "track_running_stats", "weight", "bias",
        "running_mean", "running_var", "num_batches_tracked", "reset_parameters",
        "reset_running_stats", "_check_input_dim",
    )  # fmt: skip

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _affine(self, (num_features,), affine, affine and bias, device, dtype)
        for name, make in (("running_mean", zeros), ("running_var", ones)):
            kept = make((num_features,), device, dtype) if track_running_stats else None
            self.register_buffer(name, kept)
        self.register_buffer("num_batches_tracked", tensor(0) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        if self.affine:
            _reset_affine(self)

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in type(self).EXPECTED:
            words = " or ".join(f"{ndim}D" for ndim in type(self).EXPECTED)
            raise ValueError(f"expected {words} input (got {input.ndim}D input)")

    EXPECTED: tuple[int, ...] = ()

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked.item())
        batch = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        return functional.batch_norm(
            input, self.running_mean if keep else None, self.running_var if keep else None,
            self.weight, self.bias, batch, factor, self.eps,
        )  # fmt: skip


class BatchNorm1d(_BatchNorm):
    EXPECTED = (2, 3)


class BatchNorm2d(_BatchNorm):
    EXPECTED = (4,)


class BatchNorm3d(_BatchNorm):
    EXPECTED = (5,)


@named_calls
class SyncBatchNorm(_BatchNorm):
    """Batch norm over all processes of a group: here there is one."""

    PUBLIC = ("process_group", "convert_sync_batchnorm")

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, process_group: Any = None,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with each of its batch norms replaced by one of this class."""
        made = module
        if isinstance(module, _BatchNorm):
            made = SyncBatchNorm(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group, bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_NormBase):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        batched = input.ndim == max(type(self).EXPECTED)
        dim = input.ndim - min(type(self).EXPECTED)
        if (size := input.shape[dim]) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features "
                    f"({self.num_features}), but got: {size}."
                )
            state.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False"
            )
        given = input if batched else input.unsqueeze(0)
        out = functional.instance_norm(
            given, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats,
            self.momentum, self.eps,  # type: ignore[arg-type]  # None is refused by the operator
        )  # fmt: skip
        return out if batched else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    EXPECTED = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    EXPECTED = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    EXPECTED = (4, 5)


class LocalResponseNorm(Configured):
    PUBLIC = ("size", "alpha", "beta", "k")
    SETTINGS = (("size", REQUIRED), ("alpha", 1e-4), ("beta", 0.75), ("k", 1.0))
    PASSED = ("size", "alpha", "beta", "k")
    FUNCTION = "local_response_norm"

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
