"""Operators: an LSTM's layer in one node, as PyTorch's CPU build runs it in single precision.

Products are the array library's (`@`): PyTorch has oneDNN multiply here, in orders of its own, and
following MKL's instead brings no digit nearer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.schema.carriers import ARRAYS
from ...engine.schema.operator import catalogue, operator
from ..conventions import Late
from ..reduce.sums import sum_dims
from ..shape.join import cat

transpose = Late("t")
sigmoid = Late("sigmoid")
tanh = Late("tanh")

_LSTM = 2  # what PyTorch passes as the mode of an LSTM


def applies(input: Any) -> bool:
    """Does PyTorch take the fused way for such an input?"""
    kind = input.dtype.name
    return kind == "float32" and input.device.type == "cpu" and input.numel() != 0


def _entered(input: Any, weights: Sequence[Any]) -> Any:
    """What the input and both biases bring to the gates of all steps, in one product."""
    steps, batch, size = input.shape
    bias = weights[2] + weights[3]
    total = input.reshape((steps * batch, size)) @ transpose(weights[0]) + bias
    return total.reshape((steps, batch, total.shape[1]))


def _gates(entered: Any, hidden: Any, of_hidden: Any) -> list[Any]:
    """The four gates of one step: enter, forget, new, leave."""
    total = entered + hidden @ transpose(of_hidden)
    size = of_hidden.shape[1]
    enter, forget, new, leave = (slice(place * size, (place + 1) * size) for place in range(4))
    early, late = _logistic(total[:, : 2 * size]), _logistic(total[:, leave])
    return [early[:, enter], early[:, forget], _tanh(total[:, new]), late]


# oneDNN has functions of its own; the array library's are as near to them as any.


def _logistic(x: Any) -> Any:
    xp = ARRAYS.get(x.__class__)
    return sigmoid(x) if xp is None else 1 / (1 + xp.exp(-x))


def _tanh(x: Any) -> Any:
    xp = ARRAYS.get(x.__class__)
    return tanh(x) if xp is None else xp.tanh(x)


def _order(input: Any, reverse: bool) -> Iterator[int]:
    places = range(input.shape[0])
    return iter(reversed(places) if reverse else places)


def _layer(
    xp: Any, input: Any, weight0: Any, weight1: Any, weight2: Any, weight3: Any, hx_: Any,
    cx_: Any, reverse: bool, *settings: Any,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """The last result is what PyTorch calls the workspace: of all steps the gates that enter,
    forget and leave, what is new, and the cell. It is written where it stays."""
    hidden, cell, (batch, size) = hx_, cx_, cx_.shape
    entered = _entered(input, (weight0, weight1, weight2, weight3))
    across = xp.ascontiguousarray(transpose(weight1))  # every step multiplies by it
    outputs = xp.empty((input.shape[0], batch, size), input.dtype)
    workspace = xp.empty((input.shape[0], 5, batch, size), input.dtype)
    for place in _order(input, reverse):
        total = hidden @ across
        total += entered[place]
        sums = total.reshape(batch, 4, size).swapaxes(0, 1)
        kept, output = workspace[place], outputs[place]
        enter, forget, leave, new, after = kept
        gates = kept[:3]
        xp.negative(sums[:2], gates[:2])
        xp.negative(sums[3], leave)
        xp.exp(gates, gates)
        gates += 1
        xp.divide(1, gates, gates)
        xp.tanh(sums[2], new)
        xp.multiply(forget, cell, after)
        after += enter * new
        xp.tanh(after, output)
        output *= leave
        hidden, cell = output, after
    return outputs, hidden.copy(), cell.copy(), workspace


def _slopes(gates: Sequence[Any], before: Any, cell: Any) -> tuple[Any, Any, Any]:
    """What gradients are multiplied by on their way back through a step, or through all at once:
    that of the state to the cell; those of the cell, three times, and of the state to the sums in
    the gates; that of the cell to the cell before."""
    enter, forget, new, leave = gates
    open_cell = _tanh(cell)
    to_gates = [
        new * enter * (1 - enter),
        before * forget * (1 - forget),
        enter * (1 - new * new),
        open_cell * leave * (1 - leave),
    ]
    return leave * (1 - open_cell * open_cell), cat(to_gates, -1), forget


def _recomputed(
    input: Any, weights: Sequence[Any], hidden: Any, cell: Any, reverse: bool
) -> Iterator[tuple[Any, ...]]:
    """Of each step its place, the state before it and its slopes."""
    entered = _entered(input, weights)
    for place in _order(input, reverse):
        gates = _gates(entered[place], hidden, weights[1])
        after = gates[1] * cell + gates[0] * gates[2]
        yield place, hidden, *_slopes(gates, cell, after)
        hidden, cell = gates[3] * _tanh(after), after


def _back(
    grads: Sequence[Any], trail: Iterator[tuple[Any, ...]], of_hidden: Any
) -> tuple[Any, Any, Any, Any]:
    """Back through time: the states before all steps, the gradients of the sums in all gates, and
    those of the state and the cell at the start."""
    steps = list(trail)
    start = steps[0][1]  # of the shape of a state
    grad_outputs, grad_hidden, grad_cell = grads[:3]
    grad_hidden = start * 0 if grad_hidden is None else grad_hidden
    grad_cell = start * 0 if grad_cell is None else grad_cell
    every: list[Any] = [None] * len(steps)
    befores: list[Any] = [None] * len(steps)
    for place, hidden, to_cell, to_gates, to_before in reversed(steps):
        if grad_outputs is not None:
            grad_hidden = grad_hidden + grad_outputs[place]
        grad_cell = grad_cell + grad_hidden * to_cell
        sums = cat([grad_cell, grad_cell, grad_cell, grad_hidden], 1) * to_gates
        every[place], befores[place] = sums, hidden
        grad_cell = grad_cell * to_before
        grad_hidden = sums @ of_hidden
    return cat(befores, 0), cat(every, 0), grad_hidden, grad_cell


def _back_in_place(
    grads: Sequence[Any], outputs: Any, workspace: Any, hidden: Any, cell: Any, of_hidden: Any,
    reverse: bool,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """The same of arrays, from what forward saved."""
    xp = ARRAYS[outputs.__class__]
    enter, forget, leave, new, cells = (workspace[:, place] for place in range(5))
    if reverse:
        hiddens, befores = cat([outputs[1:], hidden[None]], 0), cat([cells[1:], cell[None]], 0)
    else:
        hiddens, befores = cat([hidden[None], outputs[:-1]], 0), cat([cell[None], cells[:-1]], 0)
    slopes = _slopes((enter, forget, new, leave), befores, cells)
    steps, batch, size = outputs.shape
    every = slopes[1].reshape(steps, batch, 4 * size)  # its own memory, which the sums take over
    grad_outputs, grad_hidden, grad_cell = grads[:3]
    grad_hidden = xp.zeros_like(hidden) if grad_hidden is None else grad_hidden
    grad_cell = xp.zeros_like(cell) if grad_cell is None else grad_cell.copy()
    spread = xp.empty((batch, 4, size), outputs.dtype)  # the cell's three times, the state's once
    of_cell, of_state = spread[:, :3], spread[:, 3]
    flat = spread.reshape(batch, 4 * size)
    for place in reversed(list(_order(outputs, reverse))):
        to_cell, sums, to_before = slopes[0][place], every[place], slopes[2][place]
        if grad_outputs is not None:
            grad_hidden = grad_hidden + grad_outputs[place]
        grad_cell += grad_hidden * to_cell
        of_cell[...], of_state[...] = grad_cell[:, None], grad_hidden
        sums *= flat
        grad_cell *= to_before
        grad_hidden = sums @ of_hidden
    together = steps * batch
    return hiddens.reshape(together, size), every.reshape(together, -1), grad_hidden, grad_cell


def _through_time(
    grads: Any, input: Any, weight0: Any, weight1: Any, weight2: Any, weight3: Any, hx_: Any,
    cx_: Any, result0: Any, result1: Any, result2: Any, result3: Any, reverse: bool, mode: int,
    hidden_size: int, num_layers: int, has_biases: bool, train: bool, bidirectional: bool,
    batch_sizes: Any, batch_first: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Settings and some results are here because PyTorch saves them; nothing of them is needed."""
    weights = weight0, weight1, weight2, weight3
    if input.__class__ in ARRAYS:
        found = _back_in_place(grads, result0, result3, hx_, cx_, weight1, reverse)
    else:
        found = _back(grads, _recomputed(input, weights, hx_, cx_, reverse), weight1)
    befores, sums, grad_hidden, grad_cell = found
    # What the sums in the gates of all steps bring to a weight is one product, and so is what they
    # bring to the input.
    across = transpose(sums)
    of_input = across @ input.reshape((sums.shape[0], input.shape[2]))
    of_bias = sum_dims(sums, (0,), False)
    to_input = cat([(sums @ weight0).reshape(input.shape)], 0)  # a CatBackward0 in PyTorch
    return to_input, of_input, across @ befores, of_bias, of_bias, grad_hidden, grad_cell


layer = operator(
    "mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, "
    "Tensor weight3, Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, "
    "int hidden_size, int num_layers, bool has_biases, bool bidirectional, bool batch_first, "
    "bool train) -> (Tensor result0, Tensor result1, Tensor result2, Tensor result3)",
    node="MkldnnRnnLayerBackward0",
    undifferentiable="result3",
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
