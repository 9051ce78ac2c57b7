"""Operators: an LSTM's layer in one node, as PyTorch's CPU build runs it in single precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.operator import catalogue, operator
from ..conventions import Late
from ..linalg.product import mm
from ..reduce.sums import sum_dims
from ..shape.join import cat

select = Late("select.int")
narrow = Late("narrow")
transpose = Late("t")
sigmoid = Late("sigmoid")
tanh = Late("tanh")
unsqueeze = Late("unsqueeze")

_LSTM = 2  # what PyTorch passes as the mode of an LSTM


def applies(input: Any) -> bool:
    """Does PyTorch take the fused way for such an input?"""
    kind = input.dtype.name
    return kind == "float32" and input.device.type == "cpu" and input.numel() != 0


def _gates(x: Any, hidden: Any, weights: Sequence[Any]) -> list[Any]:
    """The four gates of one step: enter, forget, new, leave."""
    of_input, of_hidden, bias_input, bias_hidden = weights
    total = mm(x, transpose(of_input)) + bias_input
    total = total + (mm(hidden, transpose(of_hidden)) + bias_hidden)
    size = of_hidden.shape[1]
    parts = [narrow(total, 1, place * size, size) for place in range(4)]
    return [(tanh if place == 2 else sigmoid)(part) for place, part in enumerate(parts)]


def _order(input: Any, reverse: bool) -> Iterator[int]:
    places = range(input.shape[0])
    return iter(reversed(places) if reverse else places)


def _layer(
    xp: Any, input: Any, weight0: Any, weight1: Any, weight2: Any, weight3: Any, hx_: Any,
    cx_: Any, reverse: bool, *settings: Any,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    hidden, cell = hx_, cx_
    outputs: list[Any] = [None] * input.shape[0]
    for place in _order(input, reverse):
        enter, forget, new, leave = _gates(
            input[place], hidden, (weight0, weight1, weight2, weight3)
        )
        cell = forget * cell + enter * new
        hidden = leave * xp.tanh(cell)
        outputs[place] = hidden
    return xp.stack(outputs), hidden.copy(), cell, xp.zeros(0, input.dtype)


def _slopes(grad_hidden: Any, grad_cell: Any, gates: Any, before: Any, cell: Any) -> Any:
    """Back through one step: to the sums in the four gates, and to the cell before."""
    enter, forget, new, leave = gates
    open_cell = tanh(cell)
    grad_cell = grad_cell + grad_hidden * leave * (1 - open_cell * open_cell)
    slopes = [
        grad_cell * new * enter * (1 - enter),
        grad_cell * before * forget * (1 - forget),
        grad_cell * enter * (1 - new * new),
        grad_hidden * open_cell * leave * (1 - leave),
    ]
    return cat(slopes, 1), grad_cell * forget


def _backward(
    grads: Sequence[Any], input: Any, weights: Sequence[Any], hidden: Any, cell: Any, reverse: bool
) -> tuple[Any, ...]:
    """Back through time; the gates are computed again from what was saved."""
    trail = []
    start = hidden
    for place in _order(input, reverse):
        x = select(input, 0, place)
        gates = _gates(x, hidden, weights)
        after = gates[1] * cell + gates[0] * gates[2]
        trail.append((place, x, hidden, gates, cell, after))
        hidden, cell = gates[3] * tanh(after), after
    grad_outputs, grad_hidden, grad_cell = grads[:3]
    grad_hidden = start * 0 if grad_hidden is None else grad_hidden
    grad_cell = start * 0 if grad_cell is None else grad_cell
    to_weights: list[Any] = [0, 0, 0]
    to_input: list[Any] = [None] * len(trail)
    for place, x, hidden, gates, before, after in reversed(trail):
        if grad_outputs is not None:
            grad_hidden = grad_hidden + select(grad_outputs, 0, place)
        slopes, grad_cell = _slopes(grad_hidden, grad_cell, gates, before, after)
        across = transpose(slopes)
        added = (mm(across, x), mm(across, hidden), sum_dims(slopes, (0,), False))
        to_weights = [total + more for total, more in zip(to_weights, added, strict=True)]
        to_input[place] = unsqueeze(mm(slopes, weights[0]), 0)
        grad_hidden = mm(slopes, weights[1])
    of_input, of_hidden, of_bias = to_weights
    return cat(to_input, 0), of_input, of_hidden, of_bias, of_bias, grad_hidden, grad_cell


def _through_time(
    grads: Any, input: Any, weight0: Any, weight1: Any, weight2: Any, weight3: Any, hx_: Any,
    cx_: Any, result0: Any, result1: Any, result2: Any, result3: Any, reverse: bool, mode: int,
    hidden_size: int, num_layers: int, has_biases: bool, train: bool, bidirectional: bool,
    batch_sizes: Any, batch_first: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Settings and results are here because PyTorch saves them; nothing of them is needed."""
    weights = weight0, weight1, weight2, weight3
    return _backward(grads, input, weights, hx_, cx_, reverse)


layer = operator(
    "mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, "
    "Tensor weight3, Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, "
    "int hidden_size, int num_layers, bool has_biases, bool bidirectional, bool batch_first, "
    "bool train) -> (Tensor result0, Tensor result1, Tensor result2, Tensor result3)",
    node="MkldnnRnnLayerBackward0",
    where="torch",
    forward=_layer,
    joint={("input", "weight0", "weight1", "weight2", "weight3", "hx_", "cx_"): _through_time},
    doc="A layer of an LSTM, one way through the sequence.",
    samples=(
        "torch.lstm(c, [c[:1, :, :2] / 2] * 2, [x.repeat(4, 1), a[:2, :2].repeat(4, 1)], "
        "False, 1, 0.0, True, False, False)[0]",
        "torch.lstm(c, [x[None, :, :2].repeat(1, 2, 1)[:, :3]] * 2, [x.repeat(4, 1), "
        "a[:2, :2].repeat(4, 1)], False, 1, 0.0, True, False, False)[2]",
    ),
)


def network(
    input: Any, hidden: Any, cell: Any, weights: Sequence[Any], ways: int, dropout: float,
    train: bool, batch_first: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """All layers of the LSTM, each way of each a node."""
    functions = catalogue.functions
    input = input.contiguous()
    depth, size = len(weights) // ways, weights[0].hh.shape[1]
    hidden_ends, cell_ends = [], []
    for level in range(depth):
        outputs = []
        for way in range(ways):
            place = level * ways + way
            given = weights[place]
            biased = given.bias_ih is not None
            biases = (
                (given.bias_ih, given.bias_hh)
                if biased
                else [functions["zeros"](tuple(given.ih.shape[:1]), dtype=input.dtype)] * 2
            )
            output, hidden_end, cell_end, _ = layer(
                input, given.ih, given.hh, *biases, hidden[place], cell[place], way == 1, (),
                _LSTM, size, depth, biased, ways == 2, batch_first, train,
            )  # fmt: skip
            outputs.append(output)
            hidden_ends.append(hidden_end)
            cell_ends.append(cell_end)
        input = outputs[0] if ways == 1 else functions["cat"](outputs, -1)
        if dropout and train and level < depth - 1:
            input = functions["dropout"](input, dropout, True)
    stacked = functions["stack"]
    return input, stacked(hidden_ends, 0), stacked(cell_ends, 0)
