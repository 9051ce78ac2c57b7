"""Questions: what kind of matrix a local derivative is, told by the nodes between its two ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

from ...engine.saved import unpack
from ...recording.collect import short_name

# By a node's name without Backward and its number.
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
    "AsStrided": "selection", "Median": "selection", "Kthvalue": "selection", "Topk": "selection",
    "Cat": "placement", "Stack": "placement", "ConstantPadNd": "placement", "IndexPut": "placement",
    "CopySlices": "placement", "SliceScatter": "placement",
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
_BEGINNINGS = (("MaxPool", "selection"), ("AdaptiveMaxPool", "selection"), ("AvgPool", "mean"),
               ("AdaptiveAvgPool", "mean"), ("Upsample", "resampling"))  # fmt: skip
MOST = 3  # words for one edge
POINTWISE = frozenset({"diagonal", "identity", "minus identity"})


def structure(
    pairs: Sequence[tuple[Any, int]], before: tuple[int, ...], after: tuple[int, ...]
) -> str:
    """The words for one edge. `pairs` are the nodes on it, each with the input that leads on; the
    gradient's shape is `before`, then `after`."""
    words: list[str] = []
    for node, place in pairs:
        word = _word(node, place)
        if word == "identity" and words:
            continue
        if words and words[-1] == "identity":
            words.pop()
        if not words or words[-1] != word:
            words.append(word)
    counted = Counter(id(node) for node, _ in pairs)
    several = {number for number, count in counted.items() if count > 1}
    if several and POINTWISE.issuperset(words):
        words = ["diagonal"]
    elif several - {id(pairs[-1][0])}:  # they part before the last node, and meet again
        words = ["several ways"]
    if not words:
        words = ["identity"]
    if prod(after) < prod(before) and words[-1] in POINTWISE:
        words = ["broadcast sum"] if words == ["identity"] else [*words, "broadcast sum"]
    if len(words) > MOST:
        return f"{len(words)} operations"
    return " · ".join(words)


def _word(node: Any, place: int) -> str:
    name = short_name(node)
    known = _NAMES.get(name.rstrip("0123456789"))
    if known is not None:
        return known
    for beginning, word in _BEGINNINGS:
        if name.startswith(beginning):
            return word
    row = getattr(node, "row", None)
    if row is None:
        return "placement" if name == "CopySlices" else "user function"
    if row.name in ("add", "sub") and row.symbol:
        if place and "alpha" in row.saved_keys and _alpha(node, row) != 1:
            return "diagonal"
        return "minus identity" if place and row.name == "sub" else "identity"
    if name in ("NegBackward0", "RsubBackward1"):
        return "minus identity"
    if row.broadcasts or row.dtype in ("same", "promote_float"):
        if len(row.signature.outputs) == 1 and not row.view:
            return "diagonal"
    return "view" if row.view else "dense"


def _alpha(node: Any, row: Any) -> Any:
    """The factor of the second operand."""
    return unpack(node, row.saved_keys.index("alpha"))
