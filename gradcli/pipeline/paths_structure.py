"""pipeline: what kind of matrix a local derivative is, told by the nodes between its two ends."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from ..report.collect import short_name

# By the beginning of a node's name; the longest one that fits speaks.
_WORDS = {
    "Mm": "matmul", "Bmm": "batched matmul", "Baddbmm": "batched matmul", "Addmm": "matmul",
    "Addbmm": "batched matmul", "Mv": "matrix-vector product", "Addmv": "matrix-vector product",
    "Dot": "dot product", "Vdot": "dot product", "Addr": "outer product", "Linear": "matmul",
    "Convolution": "convolution", "Sum": "sum", "Mean": "mean", "Prod": "product",
    "Var": "variance", "Std": "standard deviation", "LinalgVectorNorm": "norm", "Norm": "norm",
    "Softmax": "softmax", "LogSoftmax": "log-softmax", "Logsumexp": "log-sum-exp",
    "NllLoss": "selection", "MseLoss": "mean", "L1Loss": "mean", "SmoothL1Loss": "mean",
    "HuberLoss": "mean", "BinaryCrossEntropy": "mean", "Cumsum": "triangle of ones",
    "Cumprod": "triangle", "Max": "selection", "Min": "selection", "Amax": "selection",
    "Amin": "selection", "Sort": "permutation", "Gather": "selection", "Index": "selection",
    "IndexSelect": "selection", "Take": "selection", "MaskedSelect": "selection",
    "Select": "selection", "Slice": "selection", "Narrow": "selection", "Split": "selection",
    "Unbind": "selection", "Chunk": "selection", "Diagonal": "selection", "Embedding": "selection",
    "Median": "selection", "Kthvalue": "selection", "Topk": "selection", "MaxPool": "selection",
    "AvgPool": "mean", "Cat": "placement", "Stack": "placement", "ConstantPadNd": "placement",
    "IndexPut": "placement", "CopySlices": "placement", "SliceScatter": "placement",
    "Scatter": "placement", "T": "transposition", "Transpose": "transposition",
    "Permute": "permutation", "Flip": "permutation", "Roll": "permutation", "View": "reshape",
    "UnsafeView": "reshape", "ReshapeAlias": "reshape", "Squeeze": "reshape",
    "Unsqueeze": "reshape", "Expand": "broadcast sum", "Repeat": "broadcast sum",
    "Clone": "identity", "Alias": "identity", "ToCopy": "identity", "Detach": "identity",
    "NativeLayerNorm": "normalisation", "NativeBatchNorm": "normalisation",
    "NativeGroupNorm": "normalisation", "LinalgSolve": "linear solve", "LinalgInv": "inverse",
    "LinalgCholesky": "triangular", "Cholesky": "triangular", "Trace": "selection and sum",
}  # fmt: skip
_NAMES = {f"{name}Backward": word for name, word in _WORDS.items()}
MOST = 3  # words for one edge


def structure(nodes: Iterable[Any], before: tuple[int, ...], after: tuple[int, ...]) -> str:
    """The words for one edge: `nodes` lie on it, the gradient's shape is `before`, then `after`."""
    words: list[str] = []
    for node in nodes:
        word = _word(node)
        if word == "identity" and words:
            continue
        if words and words[-1] == "identity":
            words.pop()
        if not words or words[-1] != word:
            words.append(word)
    if not words:
        words = ["identity"]
    grown = prod(after) < prod(before) and words[-1] in ("diagonal", "identity", "minus identity")
    if grown:
        spread = "broadcast sum"
        words = [spread] if words == ["identity"] else [*words, spread]
    if len(words) > MOST:
        return f"{len(words)} operations"
    return " · ".join(words)


def _word(node: Any) -> str:
    name = short_name(node)
    stem = name.rstrip("0123456789")
    known = _NAMES.get(stem)
    if known is not None:
        return known
    row = getattr(node, "row", None)
    if row is not None and name in ("AddBackward0", "SubBackward0", "AddBackward1", "SubBackward1"):
        return "identity"
    if name in ("NegBackward0", "RsubBackward1"):
        return "minus identity"
    if row is not None and (row.broadcasts or row.dtype in ("same", "promote_float")):
        return "diagonal" if len(row.signature.outputs) == 1 and not row.view else "dense"
    return "view" if row is not None and row.view else "user function" if row is None else "dense"
