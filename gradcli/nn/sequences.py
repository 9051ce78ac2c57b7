"""Library: recurrent networks over whole sequences: RNN, LSTM and GRU."""

from __future__ import annotations

import math
import numbers
from typing import Any

from ..engine.schema.mode import state
from ..operators import catalogue
from . import init
from .create import empty, zeros
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Layers of weights, one or two ways through the sequence."""

    PUBLIC = (
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
        "bidirectional", "proj_size", "all_weights", "flatten_parameters", "reset_parameters",
        "check_input", "check_hidden_size", "check_forward_args", "get_expected_hidden_size",
        "permute_hidden",
    )  # fmt: skip

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self.dropout = _checked_dropout(dropout, num_layers)
        self._check_settings()
        names = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._ways]:
                names.append(self._make(f"_l{layer}{suffix}", layer, device, dtype))
        self._names = names
        self.reset_parameters()

    def _check_settings(self) -> None:
        _check_kind("bias", self.bias, bool)
        _check_kind("batch_first", self.batch_first, bool)
        _check_kind("input_size", self.input_size, int)
        if self.input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        _check_kind("hidden_size", self.hidden_size, int)
        for name, count in (("hidden_size", self.hidden_size), ("num_layers", self.num_layers)):
            if count <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _make(self, suffix: str, layer: int, device: Any, dtype: Any) -> list[str]:
        """The parameters of one way through one layer, in PyTorch's order; their names."""
        rows = _GATES[self.mode] * self.hidden_size
        width = self.input_size if layer == 0 else self._state_size * self._ways
        sizes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, width), "weight_hh": (rows, self._state_size),
        }  # fmt: skip
        if self.bias:
            sizes.update(bias_ih=(rows,), bias_hh=(rows,))
        if self.proj_size:
            sizes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, size in sizes.items():
            self.register_parameter(name + suffix, Parameter(empty(size, device, dtype)))
        return [name + suffix for name in sizes]

    @property
    def _ways(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _state_size(self) -> int:
        return self.proj_size or self.hidden_size

    @property
    def _weights(self) -> list[Any]:
        return [weight for weights in self.all_weights for weight in weights]

    @property
    def all_weights(self) -> list[list[Any]]:
        return [[self._parameters[name] for name in names] for names in self._names]

    def flatten_parameters(self) -> None:
        """Of use on other devices only."""

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # ---- what forward may be given

    def check_input(self, input: Any, batch_sizes: Any = None) -> None:
        dtype = self._weights[0].dtype
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.shape[-1]:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any = None) -> tuple[int, int, int]:
        return self.num_layers * self._ways, self._batch(input, batch_sizes), self._state_size

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: Any, msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(_filled(msg, expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any = None) -> None:
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def _batch(self, input: Any, batch_sizes: Any = None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        size: int = input.shape[0 if self.batch_first else 1]
        return size

    def _batched(self, input: Any, kind: str, ending: str) -> tuple[Any, bool]:
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{kind}: Expected input to be 2D or 3D, got {input.dim()}D{ending} instead"
            )
        batched = input.dim() == 3
        return (input if batched else input.unsqueeze(self._batch_dim)), batched

    @property
    def _batch_dim(self) -> int:
        return 0 if self.batch_first else 1

    def _zeros(self, input: Any, size: int, batch_sizes: Any = None) -> Any:
        batch = self._batch(input, batch_sizes)
        return zeros((self.num_layers * self._ways, batch, size), input.device, input.dtype)

    def _run(self, function: str, input: Any, hx: Any) -> Any:
        return catalogue.functions[function](
            input, hx, self._weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional, self.batch_first,
        )  # fmt: skip

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The state in the order of packed sequences, and back."""
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(part.index_select(1, permutation) for part in hx)
        return hx.index_select(1, permutation)

    def _of_packed(self, function: str, packed: PackedSequence, hx: Any) -> tuple[Any, Any]:
        """The way of packed sequences; `hx` is None or in the order of the batch."""
        data, sizes, order, back = packed
        if hx is None:
            hx = self._zeros(data, self._state_size, sizes)
            if self.mode == "LSTM":
                hx = (hx, self._zeros(data, self.hidden_size, sizes))
        else:
            hx = self.permute_hidden(tuple(hx) if self.mode == "LSTM" else hx, order)
        self.check_forward_args(data, hx, sizes)
        output, *states = catalogue.functions[function](
            data, sizes, hx, self._weights, self.bias, self.num_layers, self.dropout,
            self.training, self.bidirectional,
        )  # fmt: skip
        end = tuple(states) if self.mode == "LSTM" else states[0]
        return packed.with_data(output), self.permute_hidden(end, back)

    def _one_state(self, input: Any, hx: Any, function: str) -> tuple[Any, Any]:
        """The way of RNN and GRU, whose state is one tensor."""
        if isinstance(input, PackedSequence):
            return self._of_packed(function, input, hx)
        kind = "GRU" if self.mode == "GRU" else "RNN"
        input, batched = self._batched(input, kind, " tensor" if kind == "RNN" else "")
        if hx is None:
            hx = self._zeros(input, self.hidden_size)
        elif hx.dim() != (3 if batched else 2):
            which = "batched 3-D input, hx should also be 3-D"
            which = which if batched else "unbatched 2-D input, hx should also be 2-D"
            raise RuntimeError(f"For {which} but got {hx.dim()}-D tensor")
        elif not batched:
            hx = hx.unsqueeze(1)
        self.check_forward_args(input, hx)
        output, hidden = self._run(function, input, hx)
        if batched:
            return output, hidden
        return output.squeeze(self._batch_dim), hidden.squeeze(1)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, value, plain in (
            ("proj_size", self.proj_size, 0), ("num_layers", self.num_layers, 1),
            ("bias", self.bias, True), ("batch_first", self.batch_first, False),
            ("dropout", self.dropout, 0), ("bidirectional", self.bidirectional, False),
        ):  # fmt: skip
            if value != plain:
                text += f", {name}={value}"
        return text


def _check_kind(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")


def _filled(message: str, *values: Any) -> str:
    """The values in the places of {}; `message` may be a program's, so it is no format string."""
    for value in values:
        message = message.replace("{}", str(value), 1)
    return message


def _checked_dropout(dropout: Any, num_layers: int) -> float:
    number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        state.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}"
        )
    return float(dropout)


def _refuse_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    PUBLIC = ("nonlinearity",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        if self.mode not in ("RNN_TANH", "RNN_RELU"):
            raise AssertionError(f"mode must be RNN_TANH or RNN_RELU, got {self.mode}")
        function = "rnn_tanh" if self.mode == "RNN_TANH" else "rnn_relu"
        return self._one_state(input, hx, function)


class GRU(RNNBase):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        return self._one_state(input, hx, "gru")


class LSTM(RNNBase):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any = None) -> None:
        self.check_input(input, batch_sizes)
        size = self.get_expected_hidden_size(input, batch_sizes)
        message = "Expected hidden[%d] size {}, got {}"
        self.check_hidden_size(hidden[0], size, message % 0)
        self.check_hidden_size(hidden[1], (*size[:2], self.hidden_size), message % 1)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, tuple[Any, Any]]:
        if isinstance(input, PackedSequence):
            return self._of_packed("lstm", input, hx)
        input, batched = self._batched(input, "LSTM", "")
        if hx is None:
            hx = (self._zeros(input, self._state_size), self._zeros(input, self.hidden_size))
        else:
            hx = self._checked_state(hx, batched)
        self.check_forward_args(input, hx)
        output, hidden, cell = self._run("lstm", input, hx)
        if batched:
            return output, (hidden, cell)
        return output.squeeze(self._batch_dim), (hidden.squeeze(1), cell.squeeze(1))

    def _checked_state(self, hx: Any, batched: bool) -> Any:
        wide = 3 if batched else 2
        if hx[0].dim() != wide or hx[1].dim() != wide:
            which = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {which} input, hx and cx should also be {wide}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return hx if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
