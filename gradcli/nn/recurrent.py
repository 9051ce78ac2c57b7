"""Library: recurrent cells."""

from __future__ import annotations

import math
from typing import Any

from . import functional, init
from .create import empty
from .module import Module
from .parameter import Parameter


class _Cell(Module):
    PUBLIC = (
        "input_size", "hidden_size", "bias", "weight_ih", "weight_hh", "bias_ih", "bias_hh",
        "reset_parameters",
    )  # fmt: skip
    CHUNKS = 1

    def _settings(
        self, input_size: int, hidden_size: int, bias: bool, device: Any, dtype: Any
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.CHUNKS * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device, dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device, dtype))
        for name in ("bias_ih", "bias_hh"):
            value = Parameter(empty((rows,), device, dtype)) if bias else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _batched(self, input: Any) -> tuple[Any, bool]:
        if input.dim() not in (1, 2):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 1D or 2D, got {input.dim()}D instead"
            )
        batched = input.dim() == 2
        return (input if batched else input.unsqueeze(0)), batched

    def _zeros(self, input: Any) -> Any:
        return input.new_zeros((input.shape[0], self.hidden_size))

    def _gates(self, input: Any, hidden: Any) -> tuple[Any, Any]:
        return (
            functional.linear(input, self.weight_ih, self.bias_ih),
            functional.linear(hidden, self.weight_hh, self.bias_hh),
        )

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else text + f", bias={self.bias}"


class RNNCell(_Cell):
    PUBLIC = ("nonlinearity",)

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._settings(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        input, batched = self._batched(input)
        hidden = self._zeros(input) if hx is None else hx if batched else hx.unsqueeze(0)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        from_input, from_hidden = self._gates(input, hidden)
        total = from_input + from_hidden
        out = total.tanh() if self.nonlinearity == "tanh" else total.relu()
        return out if batched else out.squeeze(0)

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else text + f", nonlinearity={self.nonlinearity}"


class LSTMCell(_Cell):
    CHUNKS = 4

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self._settings(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        input, batched = self._batched(input)
        if hx is None:
            hidden = cell = self._zeros(input)
        else:
            hidden, cell = hx if batched else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        from_input, from_hidden = self._gates(input, hidden)
        enter, forget, new, leave = (from_hidden + from_input).unsafe_chunk(4, 1)
        enter, forget, leave = enter.sigmoid(), forget.sigmoid(), leave.sigmoid()
        cell = forget * cell + enter * new.tanh()
        hidden = leave * cell.tanh()
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))


class GRUCell(_Cell):
    CHUNKS = 3

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self._settings(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        input, batched = self._batched(input)
        hidden = self._zeros(input) if hx is None else hx if batched else hx.unsqueeze(0)
        from_input, from_hidden = self._gates(input, hidden)
        reset_i, update_i, new_i = from_input.unsafe_chunk(3, 1)
        reset_h, update_h, new_h = from_hidden.unsafe_chunk(3, 1)
        reset = (reset_h + reset_i).sigmoid()
        update = (update_h + update_i).sigmoid()
        new = (new_i + new_h * reset).tanh()
        out = (hidden - new) * update + new
        return out if batched else out.squeeze(0)
