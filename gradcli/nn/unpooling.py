"""Library: pooling undone, and pooling over windows of random size."""

from __future__ import annotations

from typing import Any

from .configured import function, named_calls
from .module import Module
from .sizes import spread


class _MaxUnpool(Module):
    PUBLIC = ("kernel_size", "stride", "padding")
    DIMENSIONS = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = spread(kernel_size, type(self).DIMENSIONS)
        self.stride = spread(kernel_size if stride is None else stride, type(self).DIMENSIONS)
        self.padding = spread(padding, type(self).DIMENSIONS)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        undo = function(f"max_unpool{type(self).DIMENSIONS}d")
        return undo(
            input, indices, self.kernel_size, self.stride, self.padding, output_size=output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@named_calls
class MaxUnpool1d(_MaxUnpool):
    DIMENSIONS = 1


@named_calls
class MaxUnpool2d(_MaxUnpool):
    DIMENSIONS = 2


@named_calls
class MaxUnpool3d(_MaxUnpool):
    DIMENSIONS = 3


class _FractionalMaxPool(Module):
    PUBLIC = ("kernel_size", "output_size", "output_ratio", "return_indices")
    DIMENSIONS = 2

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name, count = type(self).__name__, type(self).DIMENSIONS
        self.kernel_size = spread(kernel_size, count)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else spread(output_size, count)
        self.output_ratio = None if output_ratio is None else spread(output_ratio, count)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Any) -> Any:
        pool = function(f"fractional_max_pool{type(self).DIMENSIONS}d")
        return pool(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


@named_calls
class FractionalMaxPool2d(_FractionalMaxPool):
    DIMENSIONS = 2


@named_calls
class FractionalMaxPool3d(_FractionalMaxPool):
    DIMENSIONS = 3
