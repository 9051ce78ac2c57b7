"""Operators: recurrent networks: one step of each kind, and layers of steps over a sequence.

PyTorch writes these in C++ out of other operators, so the graph shows every step. Only an LSTM in
single precision goes another way on the CPU: see `recurrent_fused`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...engine.schema.operator import catalogue, composite, warn
from . import recurrent_fused
from .linear import linear
from .packed import sizes_of

Step = Callable[..., Any]


def _call(name: str, *args: Any) -> Any:
    return catalogue.functions[name](*args)


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    return linear.run(input, weight, bias)


class Weights:
    """The parameters of one direction of one layer."""

    __slots__ = ("ih", "hh", "bias_ih", "bias_hh", "hr")

    def __init__(self, ih: Any, hh: Any, bias_ih: Any, bias_hh: Any, hr: Any = None) -> None:
        self.ih, self.hh, self.bias_ih, self.bias_hh, self.hr = ih, hh, bias_ih, bias_hh, hr

    def of_input(self, input: Any) -> Any:
        return _linear(input, self.ih, self.bias_ih)

    def of_hidden(self, hidden: Any) -> Any:
        return _linear(hidden, self.hh, self.bias_hh)


# ---- one step: from the input's product with its weights, and what was before; a cell gives the
# hidden state's product too, where PyTorch's compiler computes that first


def _plain_step(nonlinearity: str) -> Step:
    def step(from_input: Any, hidden: Any, weights: Weights, from_hidden: Any = None) -> Any:
        if from_hidden is None:
            from_hidden = weights.of_hidden(hidden)
        return _call(nonlinearity, from_hidden + from_input)

    return step


def _lstm_step(from_input: Any, before: Any, weights: Weights, from_hidden: Any = None) -> Any:
    hidden, cell = before
    if from_hidden is None:
        from_hidden = weights.of_hidden(hidden)
    gates = from_hidden + from_input
    enter, forget, new, leave = gates.unsafe_chunk(4, 1)
    enter, forget = enter.sigmoid(), forget.sigmoid()
    new, leave = new.tanh(), leave.sigmoid()
    cell = forget * cell + enter * new
    hidden = leave * cell.tanh()
    if weights.hr is not None:
        hidden = _call("matmul", hidden, weights.hr.t())
    return hidden, cell


def _gru_step(from_input: Any, hidden: Any, weights: Weights) -> Any:
    reset_i, update_i, new_i = from_input.unsafe_chunk(3, 1)
    reset_h, update_h, new_h = weights.of_hidden(hidden).unsafe_chunk(3, 1)
    reset = (reset_h + reset_i).sigmoid()
    update = (update_h + update_i).sigmoid()
    new = (new_i + new_h * reset).tanh()
    return (hidden - new) * update + new


STEPS: dict[str, Step] = {
    "rnn_tanh": _plain_step("tanh"), "rnn_relu": _plain_step("relu"),
    "lstm": _lstm_step, "gru": _gru_step,
}  # fmt: skip


def _check_cell(input: Any, hidden: Any, hidden_size: int) -> None:
    if input.shape[0] != hidden.shape[0]:
        raise RuntimeError(
            f"Input batch size {input.shape[0]} doesn't match hidden0 batch size {hidden.shape[0]}"
        )
    if hidden.shape[1] != hidden_size:
        raise RuntimeError(
            f"hidden0 has inconsistent hidden_size: got {hidden.shape[1]}, expected {hidden_size}"
        )


def _cell(kind: str) -> Callable[..., Any]:
    step = STEPS[kind]

    def body(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        if input.shape[1] != w_ih.shape[1]:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[1]} expected {w_ih.shape[1]}"
            )
        for hidden in hx if kind == "lstm" else (hx,):
            _check_cell(input, hidden, w_hh.shape[1])
        weights = Weights(w_ih, w_hh, b_ih, b_hh)
        if kind == "gru":
            return step(weights.of_input(input), hx, weights)
        before = tuple(hx) if kind == "lstm" else hx
        from_hidden = weights.of_hidden(before[0] if kind == "lstm" else hx)
        return step(weights.of_input(input), before, weights, from_hidden)

    return body


_CELL = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"
for _kind, _chunks in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3), ("lstm", 4)):
    _lstm = _kind == "lstm"
    _hx = "(y[:, :2], y[:, 1:])" if _lstm else "y[:, :2]"
    _weights = (
        f"x.repeat({2 * _chunks}, 1)[::2] / 4, a[:2, :2].repeat({_chunks}, 1), "
        f"x.reshape(-1)[:2].repeat({_chunks})"
    )
    composite(
        f"{_kind}_cell(Tensor input, {'Tensor[]' if _lstm else 'Tensor'} hx, {_CELL}) -> "
        f"{'(Tensor, Tensor)' if _lstm else 'Tensor'}",
        _cell(_kind),
        where="torch",
        doc="One step of a recurrent network.",
        samples=(f"torch.{_kind}_cell(x, {_hx}, {_weights}, None){'[0]' if _lstm else ''}",),
        errors=(f"torch.{_kind}_cell(r, {_hx}, {_weights}, None)",),
    )


# ---- layers


def _directions(params: Sequence[Any], has_biases: bool, projected: bool) -> Iterator[Weights]:
    """The flat list of parameters, taken apart by layer and direction."""
    width = 2 + 2 * has_biases + projected
    for start in range(0, len(params), width):
        given = list(params[start : start + width])
        hr = given.pop() if projected else None
        bias_ih, bias_hh = given[2:4] if has_biases else (None, None)
        yield Weights(given[0], given[1], bias_ih, bias_hh, hr)


def _one_way(step: Step, input: Any, state: Any, weights: Weights, back: bool) -> tuple[Any, Any]:
    """All steps of one direction: the outputs stacked, and the state after the last step."""
    if not input.shape[0]:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    outputs = []
    from_input = weights.of_input(input).unbind(0)
    for inner in reversed(from_input) if back else from_input:
        state = step(inner, state, weights)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    if back:
        outputs.reverse()
    return _call("stack", outputs, 0), state


OneWay = Callable[[Step, Any, Any, Weights, bool], tuple[Any, Any]]


def _layers(
    step: Step, input: Any, states: Sequence[Any], weights: Sequence[Weights], ways: int,
    dropout: float, one_way: OneWay = _one_way,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Layer upon layer; with two ways their outputs side by side."""
    ends: list[Any] = []
    depth = len(weights) // ways
    for layer in range(depth):
        outputs = []
        for way in range(ways):
            place = layer * ways + way
            output, end = one_way(step, input, states[place], weights[place], way == 1)
            outputs.append(output)
            ends.append(end)
        input = outputs[0] if ways == 1 else _call("cat", outputs, outputs[0].ndim - 1)
        if dropout and layer < depth - 1:
            input = _call("dropout", input, dropout, True)
    return input, ends


def _network(kind: str) -> Callable[..., Any]:
    def body(
        input: Any, hx: Any, params: Any, has_biases: bool, num_layers: int, dropout: float,
        train: bool, bidirectional: bool, batch_first: bool,
    ) -> Any:  # fmt: skip
        weights = list(_directions(params, has_biases, False))
        sequence = input.transpose(0, 1) if batch_first else input
        output, ends = _layers(
            STEPS[kind], sequence, hx.unbind(0), weights, 1 + bidirectional,
            dropout if train else 0.0,
        )  # fmt: skip
        hidden = _call("stack", ends, 0)
        return output.transpose_(0, 1) if batch_first else output, hidden

    return body


def _lstm_network(
    input: Any, hx: Any, params: Any, has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: bool,
) -> Any:  # fmt: skip
    hidden, cell = hx
    ways = 1 + bidirectional
    projected = hidden.shape[2] != cell.shape[2]
    weights = list(_directions(params, has_biases, projected))
    sequence = input.transpose(0, 1) if batch_first else input
    if recurrent_fused.applies(input):
        if not projected:
            output, hidden, cell = recurrent_fused.network(
                sequence, hidden, cell, weights, ways, dropout, train, batch_first
            )
            return output.transpose(0, 1) if batch_first else output, hidden, cell
        warn("LSTM with projections is not supported with oneDNN. Using default implementation.")
    states = list(zip(hidden.unbind(0), cell.unbind(0), strict=True))
    output, ends = _layers(_lstm_step, sequence, states, weights, ways, dropout if train else 0.0)
    hidden, cell = (_call("stack", [end[part] for end in ends], 0) for part in (0, 1))
    return output.transpose(0, 1) if batch_first else output, hidden, cell


_NETWORK = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first"
)
for _kind, _chunks in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3)):
    composite(
        f"{_kind}.input(Tensor input, Tensor hx, {_NETWORK}) -> (Tensor, Tensor)",
        _network(_kind),
        where="torch",
        doc="A recurrent network over sequences: what each step gives, and the last states.",
        samples=(
            f"torch.{_kind}(c, c[:1, :, :2], [x.repeat({_chunks}, 1), "
            f"a[:2, :2].repeat({_chunks}, 1)], False, 1, 0.0, True, False, False)[0]",
        ),
    )
composite(
    f"lstm.input(Tensor input, Tensor[] hx, {_NETWORK}) -> (Tensor, Tensor, Tensor)",
    _lstm_network,
    where="torch",
    doc="An LSTM over sequences: what each step gives, the last states and the last cells.",
    samples=(
        "torch.lstm(c.double(), [c[:1, :, :2].double()] * 2, [x.repeat(4, 1).double(), "
        "a[:2, :2].repeat(4, 1).double()], False, 1, 0.0, True, False, False)[0]",
    ),
)


# ---- sequences of several lengths, packed: fewer rows from step to step


def _on_parts(state: Any, change: Callable[[Any], Any]) -> Any:
    """A change of a state, which is one tensor, or two in an LSTM."""
    return tuple(map(change, state)) if isinstance(state, tuple) else change(state)


def _rows(state: Any, start: int, end: int) -> Any:
    return _on_parts(state, lambda part: part.narrow(0, start, end - start))


def _joined(states: Sequence[Any]) -> Any:
    if isinstance(states[0], tuple):
        return tuple(_call("cat", list(parts), 0) for parts in zip(*states, strict=True))
    return _call("cat", states, 0)


def _packed_way(sizes: Sequence[int]) -> OneWay:
    """One direction through packed rows, of which each step has so many."""

    def forth(step: Step, inputs: Sequence[Any], state: Any, weights: Weights) -> Any:
        outputs, ends, before = [], [], sizes[0]
        for inner, size in zip(inputs, sizes, strict=True):
            if size < before:  # these sequences are at their end
                ends.append(_rows(state, size, before))
                state = _rows(state, 0, size)
            before = size
            state = step(inner, state, weights)
            outputs.append(state)
        return outputs, _joined([state, *reversed(ends)])

    def back(step: Step, inputs: Sequence[Any], start: Any, weights: Weights) -> Any:
        outputs, before, state = [], sizes[-1], _rows(start, 0, sizes[-1])
        for inner, size in zip(reversed(inputs), reversed(sizes), strict=True):
            if size > before:  # these sequences begin
                state = _joined([state, _rows(start, before, size)])
            before = size
            state = step(inner, state, weights)
            outputs.append(state)
        return outputs[::-1], state

    def run(step: Step, input: Any, state: Any, weights: Weights, reverse: bool) -> Any:
        from_input, inputs, start = weights.of_input(input), [], 0
        for size in sizes:
            inputs.append(from_input.narrow(0, start, size))
            start += size
        outputs, end = (back if reverse else forth)(step, inputs, state, weights)
        hidden = [output[0] if isinstance(output, tuple) else output for output in outputs]
        return _call("cat", hidden, 0), end

    return run


def _packed_network(kind: str) -> Callable[..., Any]:
    def body(
        data: Any, batch_sizes: Any, hx: Any, params: Any, has_biases: bool, num_layers: int,
        dropout: float, train: bool, bidirectional: bool,
    ) -> Any:  # fmt: skip
        projected = kind == "lstm" and hx[0].shape[2] != hx[1].shape[2]
        weights = list(_directions(params, has_biases, projected))
        sizes = sizes_of(batch_sizes)
        alike = kind == "lstm" and not projected and sizes[0] == sizes[-1]
        if alike and recurrent_fused.applies(data):  # one kernel: nothing of it is padding
            sequence = data.reshape(len(sizes), sizes[0], data.shape[1])
            output, *ends = recurrent_fused.network(
                sequence, hx[0], hx[1], weights, 1 + bidirectional, dropout, train, False
            )
            return output.reshape(-1, output.shape[2]), *ends
        if kind == "lstm":
            states = list(zip(*(part.unbind(0) for part in hx), strict=True))
        else:
            states = hx.unbind(0)
        output, ends = _layers(
            STEPS[kind], data, states, weights, 1 + bidirectional, dropout if train else 0.0,
            _packed_way(sizes),
        )  # fmt: skip
        if kind == "lstm":
            return output, *(_call("stack", list(part), 0) for part in zip(*ends, strict=True))
        return output, _call("stack", ends, 0)

    return body


_PACKED = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional"
)
for _kind, _chunks in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3), ("lstm", 4)):
    _lstm = _kind == "lstm"
    _hx = "[c[:1, :2, :2]] * 2" if _lstm else "c[:1, :2, :2]"
    composite(
        f"{_kind}.data(Tensor data, Tensor batch_sizes, {'Tensor[]' if _lstm else 'Tensor'} hx, "
        f"{_PACKED}) -> ({'Tensor, ' * (1 + _lstm)}Tensor)",
        _packed_network(_kind),
        where="torch",
        doc="A recurrent network over packed sequences.",
        samples=(
            f"torch.{_kind}(x.repeat(2, 1)[:3], torch.tensor([2, 1]), {_hx}, "
            f"[x.repeat({_chunks}, 1), a[:2, :2].repeat({_chunks}, 1)], False, 1, 0.0, True, "
            "False)[0]",
        ),
    )
