"""Operators: bags of looked-up rows, added, averaged, or their largest taken."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import underivable
from ..index.adding import add_rows
from .linear import check_indices, renormalise

_MODES = {"sum": 0, "mean": 1, "max": 2}


def _bags(xp: Any, indices: Any, offsets: Any, last: bool) -> tuple[Any, int]:
    """For each index the bag that it lies in, and how many bags there are."""
    count = offsets.size - (1 if last else 0)
    starts = offsets[:count]
    return xp.searchsorted(starts, xp.arange(indices.size), side="right") - 1, count


def _embedding_bag(
    xp: Any, weight: Any, indices: Any, offsets: Any, scale: bool, mode: int, sparse: bool,
    per_sample_weights: Any, include_last_offset: bool, padding_idx: int,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    if bool(((indices < 0) | (indices >= weight.shape[0])).any()):
        raise RuntimeError(
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
            f"{int(indices[(indices < 0) | (indices >= weight.shape[0])][0])}"
        )
    bag, count = _bags(xp, indices, offsets, include_last_offset)
    kept = indices != padding_idx
    rows = weight[indices]
    sizes = xp.bincount(bag[kept], minlength=count).astype("int64")
    out = xp.zeros((count, weight.shape[1]), dtype=weight.dtype)
    if mode < 2:
        if per_sample_weights is not None:
            rows = rows * per_sample_weights[:, None]
        add_rows(xp, out, bag[kept], rows[kept])
        if mode == 1:
            out = out / xp.maximum(sizes, 1)[:, None].astype(weight.dtype)
        return out, bag, sizes, offsets
    largest = xp.full((count, weight.shape[1]), -1, dtype="int64")
    for place in range(indices.size):
        if kept[place]:
            row = bag[place]
            better = (largest[row] < 0) | (rows[place] > out[row])
            out[row] = xp.where(better, rows[place], out[row])
            largest[row] = xp.where(better, indices[place], largest[row])
    return out, bag, sizes, largest


def _embedding_bag_backward(
    xp: Any, grad: Any, indices: Any, offsets: Any, offset2bag: Any, bag_size: Any,
    maximum_indices: Any, num_weights: int, scale: bool, mode: int, per_sample_weights: Any,
    padding_idx: int,
) -> Any:  # fmt: skip
    out = xp.zeros((num_weights, grad.shape[1]), dtype=grad.dtype)
    if mode == 2:
        rows, columns = xp.nonzero(maximum_indices >= 0)
        xp.add.at(out, (maximum_indices[rows, columns], columns), grad[rows, columns])
        return out
    kept = indices != padding_idx
    values = bag_gradients(xp, grad, offset2bag, bag_size, mode, per_sample_weights)
    if scale:
        counts = xp.bincount(indices, minlength=num_weights)
        values = values / counts[indices][:, None].astype(grad.dtype)
    add_rows(xp, out, indices[kept], values[kept])
    return out


def bag_gradients(
    xp: Any, grad: Any, offset2bag: Any, bag_size: Any, mode: int, per_sample_weights: Any
) -> Any:
    """The gradient of each looked-up row, that of its bag."""
    values = grad[offset2bag]
    if per_sample_weights is not None:
        values = values * per_sample_weights[:, None]
    if mode == 1:
        values = values / xp.maximum(bag_size, 1)[offset2bag][:, None].astype(grad.dtype)
    return values


embedding_bag_backward = operator(
    "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, "
    "Tensor bag_size, Tensor maximum_indices, int num_weights, bool scale_grad_by_freq, int mode, "
    "Tensor? per_sample_weights, int padding_idx) -> Tensor",
    node="EmbeddingBagBackwardBackward0",
    where="hidden",
    forward=_embedding_bag_backward,
    joint={("grad", "per_sample_weights"): lambda: underivable("_embedding_bag_backward")},
    cost=lambda grad, *rest: rest[5] * grad.shape[1],
    doc="Adds the gradients of bags back to the table's rows.",
    samples=("torch.autograd.grad(F.embedding_bag(i, a).sum(), a)[0]",),
)


def _per_sample(xp: Any, grad: Any, weight: Any, indices: Any, offset2bag: Any, pad: int) -> Any:
    products = (grad[offset2bag] * weight[indices]).sum(axis=1)
    return xp.where(indices == pad, 0, products).astype(grad.dtype)


per_sample_weights_backward = operator(
    "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, "
    "Tensor offset2bag, int padding_idx) -> Tensor",
    node="torch::autograd::NotImplemented",
    where="hidden",
    forward=_per_sample,
    doc="What each looked-up row's weight contributes.",
    samples=(
        "torch.autograd.grad(F.embedding_bag(i, a, mode='sum', per_sample_weights=x).sum(), x)[0]",
    ),
)

embedding_bag = operator(
    "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) "
    "-> (Tensor result0, Tensor result1, Tensor result2, Tensor result3)",
    node="EmbeddingBagBackward0",
    where="hidden",
    forward=_embedding_bag,
    joint={
        ("weight", "per_sample_weights"): (
            lambda grads, weight, indices, offsets, result1, result2, result3,
            weight_sym_argsize_0, scale_grad_by_freq, mode, sparse, per_sample_weights,
            padding_idx, needs: (
                embedding_bag_backward(
                    grads[0], indices, offsets, result1, result2, result3, weight_sym_argsize_0,
                    scale_grad_by_freq, mode, per_sample_weights, padding_idx,
                )
                if needs["weight"]
                else None,
                per_sample_weights_backward(grads[0], weight, indices, result1, padding_idx)
                if needs["per_sample_weights"]
                else None,
            )
        )
    },
    doc="Rows of a table, looked up and reduced bag by bag.",
    samples=("F.embedding_bag(i, a)",),
)  # fmt: skip


def _functional(
    input: Any, weight: Any, offsets: Any, max_norm: float | None, norm_type: float,
    scale_grad_by_freq: bool, mode: str, sparse: bool, per_sample_weights: Any,
    include_last_offset: bool, padding_idx: int | None,
) -> Any:  # fmt: skip
    if per_sample_weights is not None and tuple(input.shape) != tuple(per_sample_weights.shape):
        raise ValueError(
            "embedding_bag: If per_sample_weights "
            f"({per_sample_weights.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        rows, width = input.shape
        offsets = _starts(input, rows, width)
        input = input.reshape([-1])
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape([-1])
    elif input.ndim != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    _check_bags(weight, input, offsets, per_sample_weights)
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
            f"got {padding_idx}"
        )
    place = -1 if padding_idx is None else padding_idx % rows
    bags = catalogue.row("_embedding_bag.sparse") if sparse else embedding_bag
    return bags.run(
        weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights,
        include_last_offset, place,
    )[0]  # fmt: skip


def _check_mode(mode: Any, scales: bool, sparse: bool, weights: Any) -> None:
    if mode not in tuple(_MODES):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scales:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )


def _check_bags(weight: Any, indices: Any, offsets: Any, weights: Any) -> None:
    check_indices(indices, "embedding_bag")
    if weight.dtype.word not in ("Half", "BFloat16", "Float", "Double"):
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {weight.dtype.type_word} instead (while "
            "checking arguments for embedding_bag)"
        )
    if weights is not None and weights.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {weight.dtype.type_word} does not equal "
            f"{weights.dtype.type_word} (while checking arguments for embedding_bag)"
        )
    starts = offsets._data
    if starts.size and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}\n[ torch.{offsets.dtype.word}Tensor{{}} ]"
        )
    if starts.size and starts[-1] > indices.shape[0]:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {indices.shape[0]} but got "
            f"offsets[-1] of {starts[-1]}"
        )
    wrong = (indices._data < 0) | (indices._data >= weight.shape[0])
    if wrong.any():
        place = int(wrong.argmax())
        raise RuntimeError(
            f"Index {place} of input takes value {indices._data[place]} which is not in the valid "
            f"range [0, {weight.shape[0]})"
        )


def _starts(input: Any, rows: int, width: int) -> Any:
    return catalogue.functions["arange"](0, rows * width, max(width, 1), dtype=input.dtype)


composite(
    "embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, "
    "float norm_type=2, bool scale_grad_by_freq=False, any mode='mean', bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) "
    "-> Tensor",
    _functional,
    where="functional",
    doc="Rows of a table, looked up and reduced bag by bag.",
    samples=(
        "F.embedding_bag(i, a)", "F.embedding_bag(i, a, mode='sum', per_sample_weights=x)",
        "F.embedding_bag(i, a, mode='max')",
    ),
    errors=("F.embedding_bag(i, a, mode='least')",),
)  # fmt: skip
