"""Operators: linear and bilinear maps, and rows looked up in a table."""

from __future__ import annotations

from typing import Any

from ...engine.schema.carriers import TRANSFORMS
from ...engine.schema.mode import no_grad
from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import size_at
from ..index.adding import add_rows
from ..linalg.added_product import addmm
from ..shape.shape import view


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    if input.ndim == 0 or weight.ndim == 0:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{input.ndim}D and {weight.ndim}D"
        )
    if bias is None:
        return input.matmul(weight.t())
    if input.ndim == 2:
        return addmm(bias, input, weight.t(), 1, 1)
    if input.is_contiguous() and weight.ndim == 2:
        shape = tuple(input.shape)
        flat = view(input, (-1, shape[-1])) if input.numel() else input.reshape(
            [_product(shape[:-1]), shape[-1]]
        )  # fmt: skip
        out = addmm(bias, flat, weight.t(), 1, 1)
        return view(out, (*shape[:-1], out.shape[1]))
    return input.matmul(weight.t()).add_(bias)


def _product(sizes: Any) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


linear = composite(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    _linear,
    where="functional",
    doc="input @ weight.T + bias.",
    computes="input @ weight.T + bias",
    samples=("F.linear(x, a, v)", "F.linear(x, a)", "F.linear(c, a, v)", "F.linear(v, a)"),
    errors=("F.linear(x, torch.ones(2, 2))", "F.linear(d, a)"),
)

# ---- bilinear

_TRILINEAR = (
    "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, "
    "int[] sumdim, int unroll_dim=1) -> Tensor"
)


def _trilinear(
    xp: Any, i1: Any, i2: Any, i3: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any,
    unroll_dim: int,
) -> Any:  # fmt: skip
    wide = [
        xp.expand_dims(array, tuple(places))
        for array, places in ((i1, expand1), (i2, expand2), (i3, expand3))
    ]
    product = wide[0] * wide[1] * wide[2]
    return product.sum(axis=tuple(sumdim)) if sumdim else product


trilinear = operator(
    _TRILINEAR,
    node="TrilinearBackward0",
    where="hidden",
    layout="row-major",
    forward=_trilinear,
    cost=lambda i1, i2, i3, *rest: i1.shape[0] * i2.numel(),
    joint={
        ("i1", "i2", "i3"): lambda grad, i1, i2, i3, expand1, expand2, expand3, sumdim, needs: (
            trilinear(grad, i2, i3, sumdim, expand2, expand3, expand1, 1) if needs["i1"] else None,
            trilinear(i1, grad, i3, expand1, sumdim, expand3, expand2, 1) if needs["i2"] else None,
            trilinear(i1, i2, grad, expand1, expand2, sumdim, expand3, 1) if needs["i3"] else None,
        )
    },
    doc="The sum of products of three tensors, each expanded along its own dimensions.",
    samples=("F.bilinear(x, y, c[:, :3, :3].repeat(1, 1, 1))",),
)


def _check_bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> None:
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    kinds = {name: tensor.dtype for name, tensor in given.items() if tensor is not None}
    if len({*kinds.values()}) > 1:
        told = ", ".join(f"{name}: {kind.c_word}" for name, kind in kinds.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {told}")
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for place in range(input1.ndim - 1):
        if input1.shape[place] != input2.shape[place]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {place}: got "
                f"{input1.shape[place]} and {input2.shape[place]}"
            )
    for number, (given, place) in enumerate(((input1, 1), (input2, 2)), 1):
        if given.shape[-1] != size_at(weight, place):
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got "
                f"{given.shape[-1]} but expected {weight.shape[place]}"
            )
    if bias is not None and bias.shape[-1] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[-1]} but expected "
            f"{weight.shape[0]}"
        )


def _bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> Any:
    _check_bilinear(input1, input2, weight, bias)
    flat1 = input1.reshape([-1, input1.shape[-1]])
    flat2 = input2.reshape([-1, input2.shape[-1]])
    out = trilinear.run(flat1, weight, flat2, (1, 3), (0,), (1, 2), (2, 3), 1)
    out = out.reshape([*input1.shape[:-1], weight.shape[0]])
    return out if bias is None else out + bias


composite(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    _bilinear,
    where="torch functional",
    doc="input1 @ weight[k] @ input2 for each output k, plus bias.",
    samples=("F.bilinear(x, y, c[:, :3, :3])", "F.bilinear(x, y, c, v[:2])"),
    errors=("F.bilinear(x, x, torch.ones(1, 2, 2))",),
)

# ---- embedding


def check_indices(indices: Any, name: str) -> None:
    if indices.dtype.word not in ("Long", "Int"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {indices.dtype.type_word} instead (while checking arguments for "
            f"{name})"
        )


def _check_embedding(
    weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> None:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_indices(indices, "embedding")


def _embedding(
    xp: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Any:
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= weight.shape[0]):
        raise IndexError("index out of range in self")
    if weight.flags.c_contiguous:  # else it would be copied
        return weight.take(indices, 0)
    return weight[indices]


def _embedding_backward(
    xp: Any, grad: Any, indices: Any, num_weights: int, padding_idx: int, scale: bool
) -> Any:
    result = xp.zeros((num_weights, grad.shape[-1]), dtype=grad.dtype)
    places = indices.reshape(-1)
    rows = grad.reshape(-1, grad.shape[-1])
    if scale:
        counts = xp.bincount(places, minlength=num_weights)
        rows = rows / counts[places][:, None].astype(grad.dtype)
    if padding_idx >= 0:
        rows = xp.where((places == padding_idx)[:, None], 0, rows)
    add_rows(xp, result, places, rows)
    return result


def _embedding_double(grad: Any, indices: Any, padding_idx: int) -> Any:
    row = catalogue.row
    flat = row("view")(indices, (-1,))
    rows = row("index_select")(grad, 0, flat)
    if padding_idx >= 0:
        rows = row("masked_fill.Scalar")(rows, row("unsqueeze")(flat == padding_idx, 1), 0)
    return row("view")(rows, (*indices.shape, grad.shape[1]))


embedding_dense_backward = operator(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, "
    "int padding_idx, bool scale_grad_by_freq) -> Tensor",
    node="EmbeddingDenseBackwardBackward0",
    where="hidden",
    forward=_embedding_backward,
    grad_output=lambda grad, indices, padding_idx: _embedding_double(grad, indices, padding_idx),
    cost=lambda grad_output, indices, num_weights, *rest: num_weights * grad_output.shape[-1],
    doc="Adds the gradients of looked-up rows back to the table.",
    samples=("torch.autograd.grad(F.embedding(j, a), a, b, create_graph=True)[0]",),
)

embedding_table = operator(
    "embedding.table(Tensor weight, Tensor indices, int padding_idx=-1, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    node="EmbeddingBackward0",
    where="hidden",
    forward=_embedding,
    tangent="linear",
    weight=lambda grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq, sparse: (
        embedding_dense_backward(
            grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq
        )
    ),
    check=_check_embedding,
    cost=lambda weight, indices, *rest: indices.numel() * weight.shape[-1],
    zero="mask",
    jacobian="selection",
    acts="moves",
    doc="Embedding lookup: the rows of weight at these indices.",
    computes="weight[indices]",
    samples=("F.embedding(j, a)",),
)


def _functional_embedding(
    input: Any, weight: Any, padding_idx: int | None, max_norm: float | None, norm_type: float,
    scale_grad_by_freq: bool, sparse: bool,
) -> Any:  # fmt: skip
    place = -1
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        place = padding_idx % rows
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    return _looked_up(weight, input, place, scale_grad_by_freq, sparse)


def _looked_up(weight: Any, indices: Any, place: int, scales: bool, sparse: bool) -> Any:
    table = catalogue.row("embedding.table_sparse") if sparse else embedding_table
    return table.run(weight, indices, place, scales, sparse)


def renormalise(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are looked up down to the norm that is allowed, in place."""
    table = weight.detach()  # without a tangent: the norm is no part of the derivative
    if TRANSFORMS.change is not None:
        TRANSFORMS.change("embedding_renorm_", weight)
    with no_grad(), TRANSFORMS.unasked():
        for index in sorted({int(i) for i in input.reshape([-1]).tolist()}):
            norm = table[index].norm(norm_type).item()
            if norm > max_norm:
                table[index] *= max_norm / (norm + 1e-7)


composite(
    "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, "
    "float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    _functional_embedding,
    where="functional",
    doc="Embedding lookup: the rows of weight at these indices.",
    computes="weight[input]",
    corners=("F.embedding(tensor([0, 0, 1]), tensor([[1.], [2.]]), padding_idx=1)",),
    samples=("F.embedding(j, a)", "F.embedding(i % 3, a, padding_idx=0)"),
    errors=("F.embedding(torch.tensor([9]), a)", "F.embedding(x, a)"),
)

composite(
    "embedding.torch(Tensor weight, Tensor indices, int padding_idx=-1, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    _looked_up,
    where="torch",
    doc="Embedding lookup: the rows of weight at these indices.",
    samples=("torch.embedding(a, j)",),
)
