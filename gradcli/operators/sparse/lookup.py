"""Operators: lookups in a table whose gradient is sparse: embedding with sparse=True."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import operator
from ...engine.schema.row import SPARSE
from ..nn.embedding_bag import bag_gradients, embedding_bag, per_sample_weights_backward
from ..nn.linear import embedding_table
from .forms import coordinates, sparse_form


def _rows(xp: Any, grad: Any, indices: Any, num_weights: int, padding_idx: int, scale: bool) -> Any:
    if scale:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    places, rows = indices.reshape(-1), grad.reshape((-1, grad.shape[-1]))
    if padding_idx >= 0:
        kept = places != padding_idx
        places, rows = places[kept], rows[kept]
    return coordinates(places.reshape((1, -1)).astype("int64"), rows, (num_weights, rows.shape[1]))


embedding_sparse_backward = operator(
    "embedding_sparse_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, "
    "bool scale_grad_by_freq) -> Tensor",
    layout=SPARSE,
    where="hidden",
    forward=_rows,
    doc="The gradients of looked-up rows, as a sparse gradient of the table.",
    samples=("torch.autograd.grad(F.embedding(j, a, sparse=True).sum(), a)[0].to_dense()",),
)

sparse_form(
    embedding_table,
    embedding_table.forward,
    formulas={
        "weight": lambda grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq,
        sparse: embedding_sparse_backward(
            grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq
        ),
    },
    check=embedding_table.check,
    cost=embedding_table.cost,
    samples=("F.embedding(j, a, sparse=True)",),
)  # fmt: skip


def _bag_rows(
    xp: Any, grad: Any, indices: Any, offset2bag: Any, bag_size: Any, num_weights: int,
    scale: bool, mode: int, per_sample_weights: Any, padding_idx: int,
) -> Any:  # fmt: skip
    values = bag_gradients(xp, grad, offset2bag, bag_size, mode, per_sample_weights)
    return _rows(xp, values, indices, num_weights, padding_idx, scale)


bag_sparse_backward = operator(
    "_embedding_bag_sparse_backward(Tensor grad, Tensor indices, Tensor offset2bag, "
    "Tensor bag_size, int num_weights, bool scale_grad_by_freq, int mode, "
    "Tensor? per_sample_weights, int padding_idx) -> Tensor",
    layout=SPARSE,
    where="hidden",
    forward=_bag_rows,
    doc="The gradients of bags, as a sparse gradient of the table.",
    samples=("torch.autograd.grad(F.embedding_bag(i, a, sparse=True).sum(), a)[0].to_dense()",),
)

sparse_form(
    embedding_bag,
    embedding_bag.forward,
    samples=("F.embedding_bag(i, a, sparse=True)",),
    joint={
        ("weight", "per_sample_weights"): (
            lambda grads, weight, indices, offsets, result1, result2, result3,
            weight_sym_argsize_0, scale_grad_by_freq, mode, sparse, per_sample_weights,
            padding_idx, needs: (
                bag_sparse_backward(
                    grads[0], indices, result1, result2, weight_sym_argsize_0, scale_grad_by_freq,
                    mode, per_sample_weights, padding_idx,
                )
                if needs["weight"]
                else None,
                per_sample_weights_backward(grads[0], weight, indices, result1, padding_idx)
                if needs["per_sample_weights"]
                else None,
            )
        )
    },
)  # fmt: skip
