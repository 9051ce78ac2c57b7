"""Operators: scaled dot product attention, as PyTorch's mathematical fallback composes it."""

from __future__ import annotations

import math
from typing import Any

from ..engine.operator import catalogue, composite
from .conventions import native
from .dropout import _drop
from .softmax import safe_softmax


def _mask(query: Any, key: Any, attn_mask: Any, is_causal: bool) -> Any:
    """The mask as numbers to add: minus infinity where attention is not allowed."""
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        rows, columns = query.shape[-2], key.shape[-2]
        attn_mask = catalogue.functions["ones"]((rows, columns)).tril().bool()
    if attn_mask is not None and attn_mask.dtype.name == "bool":
        zeros = query.new_zeros(tuple(attn_mask.shape))
        return zeros.masked_fill(attn_mask.logical_not(), -math.inf)
    return attn_mask


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool,
    scale: float | None, enable_gqa: bool,
) -> Any:  # fmt: skip
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    mask = _mask(query, key, attn_mask, is_causal)
    factor = math.sqrt(1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = (query * factor).matmul(key.transpose(-2, -1) * factor)
    if mask is not None:
        scores = scores + mask
    weights = safe_softmax.run(scores, -1, None)
    if dropout_p > 0.0:
        weights = _drop(weights, dropout_p, True, False, False, False)
    return weights.matmul(value)


composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False) -> Tensor",
    native(_attention),
    where="functional",
    doc="softmax(query @ key.T / sqrt(length)) @ value.",
    samples=(
        "F.scaled_dot_product_attention(x, x, y)",
        "F.scaled_dot_product_attention(x, x, y, is_causal=True)",
    ),
)
