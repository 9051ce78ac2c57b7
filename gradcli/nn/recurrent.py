"""Library: recurrent cells."""

from __future__ import annotations

import math
from typing import Any

from ..operators import catalogue
from . import init
from .create import empty
from .module import Module
from .parameter import Parameter


class RNNCellBase(Module):
    """What the cells share; a program's own cell may build on it."""

    PUBLIC = (
        "input_size", "hidden_size", "bias", "weight_ih", "weight_hh", "bias_ih", "bias_hh",
        "reset_parameters",
    )  # fmt: skip

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
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

    def _weights(self) -> tuple[Any, Any, Any, Any]:
        own = self._parameters  # asked at once: as attributes the four would take 1.5 µs a step
        try:
            return own["weight_ih"], own["weight_hh"], own["bias_ih"], own["bias_hh"]
        except KeyError:  # a program has put something else in the place of one
            return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _one_state(self, input: Any, hx: Any) -> tuple[Any, Any, bool]:
        input, batched = self._batched(input)
        if hx is None:
            return input, self._zeros(input), batched
        if hx.dim() not in (1, 2):
            raise ValueError(
                f"{self._get_name()}: Expected hidden to be 1D or 2D, got {hx.dim()}D instead"
            )
        return input, hx if batched else hx.unsqueeze(0), batched

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else text + f", bias={self.bias}"


class RNNCell(RNNCellBase):
    PUBLIC = ("nonlinearity",)

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        input, hidden, batched = self._one_state(input, hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = catalogue.functions[f"rnn_{self.nonlinearity}_cell"]
        out = cell(input, hidden, *self._weights())
        return out if batched else out.squeeze(0)

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else text + f", nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        input, batched = self._batched(input)
        for place, value in enumerate(() if hx is None else hx):
            if value.dim() not in (1, 2):
                raise ValueError(
                    f"LSTMCell: Expected hx[{place}] to be 1D or 2D, got {value.dim()}D instead"
                )
        state = hx
        if hx is None:
            state = (self._zeros(input),) * 2
        elif not batched:
            state = hx[0].unsqueeze(0), hx[1].unsqueeze(0)
        hidden, cell = catalogue.functions["lstm_cell"](input, state, *self._weights())
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))


class GRUCell(RNNCellBase):
    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        input, hidden, batched = self._one_state(input, hx)
        out = catalogue.functions["gru_cell"](input, hidden, *self._weights())
        return out if batched else out.squeeze(0)
