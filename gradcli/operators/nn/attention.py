"""Operators: scaled dot product attention, as PyTorch's mathematical fallback composes it."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...engine.schema.dtypes import FLOATING
from ...engine.schema.operator import Reduced, catalogue, composite, operator
from ...engine.schema.run_state import run_state
from ...numerics.rounding import precise
from ...numerics.summation import largest_in_a_row, total_in_a_row
from ..conventions import native
from ..geometry import wrap_dim
from ..reduce.softmax import safe_softmax
from .dropout import _drop


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
    narrow = query.dtype
    if narrow.is_reduced:  # the scores in single precision
        query, key, value = query.float(), key.float(), value.float()
    if enable_gqa:
        for side in (query, key, value):
            wrap_dim(-3, side.ndim)
        if not key.shape[-3] or query.shape[-3] % key.shape[-3]:
            raise RuntimeError(
                "Number of heads in key and value must divide the number of heads in "
            )
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    mask = _mask(query, key, attn_mask, is_causal)
    width = max(query.shape[-1], 1)
    factor = math.sqrt(1.0 / math.sqrt(width) if scale is None else scale)
    scores = (query * factor).matmul(key.transpose(-2, -1) * factor)
    if mask is not None:
        scores = scores + mask
    weights = safe_softmax.run(scores, -1, None)
    if dropout_p > 0.0:
        weights = _drop(weights, dropout_p, True, False, False, False)
    result = weights.matmul(value)
    return result.to(narrow) if narrow.is_reduced else result


# ---- the kernel that PyTorch takes for batches of heads on the CPU


def _exact(xp: Any, query: Any, key: Any, settle: Any) -> Any:
    """What computes it to the last bit, if that is known; loaded late, for it needs the array
    library, and the catalogue is read without one."""
    from ...numerics import attention as found

    return found if settle is None and found.is_known(xp, query, key) else None


def _flash_scores(
    xp: Any, query: Any, key: Any, is_causal: bool, attn_mask: Any, scale: float | None
) -> Any:
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ _for_heads(xp, key, query).swapaxes(-2, -1)
    scores *= factor
    return _barred(xp, scores, is_causal, attn_mask)


def _barred(xp: Any, scores: Any, is_causal: bool, attn_mask: Any = None) -> Any:
    """Scores that are masked: minus infinity where attention is not allowed."""
    if attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        rows, columns = scores.shape[-2:]
        scores = xp.where(xp.tri(rows, columns, dtype=bool), scores, -xp.float32(math.inf))
    return scores


def _for_heads(xp: Any, shared: Any, query: Any) -> Any:
    """Keys or values for each head of the query: groups of heads may share them."""
    times = query.shape[1] // max(shared.shape[1], 1)
    return shared if times == 1 else xp.repeat(shared, times, axis=1)


def _of_groups(wide: Any, shared: Any) -> Any:
    """The gradient of what heads shared: the sum over each group."""
    if wide.shape[1] == shared.shape[1]:
        return wide
    batch, heads = shared.shape[:2]
    return wide.reshape((batch, heads, -1, *wide.shape[2:])).sum(2)


def _flash(
    xp: Any, query: Any, key: Any, value: Any, dropout_p: float, is_causal: bool, attn_mask: Any,
    scale: float | None, settle: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    if (exact := _exact(xp, query, key, settle)) is not None:
        factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
        keys, values = (_for_heads(xp, side, query) for side in (key, value))
        bar = partial(_barred, xp, is_causal=is_causal, attn_mask=attn_mask)
        return exact.attended(xp, query, keys, values, factor, bar)
    scores = _flash_scores(xp, query, key, is_causal, attn_mask, scale)
    top = largest_in_a_row(xp, scores)
    top = xp.where(xp.isneginf(top), 0, top)
    scores -= top
    weights = precise(xp.exp, scores)
    total = total_in_a_row(xp, weights)
    weights = weights if settle is None else settle(weights)
    product = weights @ _for_heads(xp, value, query)
    # In the query's order: where heads were split off a sequence no copy is needed to join them.
    output = xp.empty_like(query, shape=product.shape)
    xp.divide(product, xp.where(total == 0, 1, total), out=output)
    logsumexp = (top + precise(xp.log, total))[..., 0]
    return output, logsumexp.astype(query.dtype)


def _flash_backward(
    xp: Any, grad: Any, query: Any, key: Any, value: Any, out: Any, logsumexp: Any,
    dropout_p: float, is_causal: bool, attn_mask: Any, scale: float | None, settle: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    if (exact := _exact(xp, query, key, settle)) is not None:
        keys, values = (_for_heads(xp, side, query) for side in (key, value))
        bar = partial(_barred, xp, is_causal=is_causal, attn_mask=attn_mask)
        to_query, to_key, to_value = exact.returned(
            xp, grad, query, keys, values, out, logsumexp, factor, bar
        )
        return to_query, _of_groups(to_key, key), _of_groups(to_value, value)
    scores = _flash_scores(xp, query, key, is_causal, attn_mask, scale)
    weights = precise(xp.exp, scores - logsumexp[..., None])
    if not xp.isfinite(logsumexp).all():
        weights = xp.where(xp.isneginf(scores), 0, weights)
    inner = total_in_a_row(xp, grad * out)
    slope = grad @ _for_heads(xp, value, query).swapaxes(-2, -1)
    slope -= inner
    slope *= weights
    slope *= factor
    if settle is not None:
        slope, weights = settle(slope), settle(weights)
    to_key = _of_groups(slope.swapaxes(-2, -1) @ query, key)
    to_value = _of_groups(weights.swapaxes(-2, -1) @ grad, value)
    return slope @ _for_heads(xp, key, query), to_key, to_value


flash_backward = operator(
    "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, "
    "Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, "
    "Tensor? attn_mask, float? scale) -> (Tensor result0, Tensor result1, Tensor result2)",
    node="torch::autograd::NotImplemented",
    where="hidden",
    forward=_flash_backward,
    reduced=Reduced(lambda kind, *given: _flash_backward(kind.xp, *given, settle=kind.settle)),
    doc="The gradients of attention over heads.",
    samples=(
        "torch.autograd.grad(F.scaled_dot_product_attention(c[None], c[None], c[None]).sum(), c)",
    ),
)

flash = operator(
    "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
    "float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) "
    "-> (Tensor output, Tensor logsumexp)",
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    where="hidden",
    tangent="none",
    undifferentiable="logsumexp",
    forward=_flash,
    reduced=Reduced(
        lambda kind, *given: _flash(kind.xp, *given, settle=kind.settle), wide="logsumexp"
    ),
    joint={
        ("query", "key", "value"): (
            lambda grads, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask,
            scale: flash_backward(
                grads[0], query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask,
                scale,
            )
        )
    },
    doc="Attention over batches of heads, in one kernel.",
    samples=("F.scaled_dot_product_attention(c[None], c[None], c[None])",),
)  # fmt: skip


def _takes_flash(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, grouped: bool
) -> bool:
    """PyTorch's conditions for the kernel over heads."""
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4 or dropout_p > 0.0:
        return False
    if any(side.stride(-1) != 1 for side in (query, key, value)):
        return False
    if not query.shape[-1] == key.shape[-1] == value.shape[-1]:
        return False
    heads = query.shape[1]
    if not query.shape[0] == key.shape[0] == value.shape[0] or key.shape[1] != value.shape[1]:
        return False
    if heads != key.shape[1] and not (grouped and key.shape[1] and heads % key.shape[1] == 0):
        return False
    if 0 in (query.shape[-2], key.shape[-2]):
        return False
    if mask is None:
        return True
    return not mask.requires_grad and mask.ndim in (2, 4)


KERNELS = ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")


class _Kernels:
    """The ways of computing attention that a program allows; a CPU has the first two."""

    def __init__(self) -> None:
        self.allowed = set(KERNELS)


kernels = run_state(_Kernels())


def _check_attention(query: Any, key: Any, value: Any, mask: Any, dropout_p: float) -> None:
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype.c_word} key.dtype: {key.dtype.c_word} and value.dtype: "
            f"{value.dtype.c_word} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is not None and mask.dtype.word not in ("Bool", "Float", query.dtype.word):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {mask.dtype.c_word} and  query.dtype: {query.dtype.c_word} instead."
        )
    if query.dtype.category < FLOATING:
        if key.ndim == 2:
            other = f"to have the same dtype, but got: float != {query.dtype.c_word}"
            raise RuntimeError(f"expected m1 and m2 {other}")
        raise RuntimeError(f"expected scalar type Float but found {query.dtype.word}")
    if query.dtype.is_complex:
        word = query.dtype.word
        raise NotImplementedError(f"\"softmax_lastdim_kernel_impl\" not implemented for '{word}'")
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")


def _scaled_dot_product(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool,
    scale: float | None, enable_gqa: bool,
) -> Any:  # fmt: skip
    _check_attention(query, key, value, attn_mask, dropout_p)
    is_flash = _takes_flash(query, key, value, attn_mask, dropout_p, enable_gqa)
    if is_flash and "FLASH_ATTENTION" in kernels.allowed:
        mask = None if attn_mask is None else _mask(query, key, attn_mask, False)
        return flash.run(query, key, value, dropout_p, is_causal, mask, scale)[0]
    if "MATH" not in kernels.allowed:
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to "
            "turning off both the math kernel and the fused kernels."
        )
    return native(_attention)(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False) -> Tensor",
    _scaled_dot_product,
    where="functional",
    doc="Scaled dot-product attention: softmax(query @ key.T / sqrt(length)) @ value.",
    computes="softmax(query @ key.mT/sqrt(query.shape[-1]), -1) @ value",
    samples=(
        "F.scaled_dot_product_attention(x, x, y)",
        "F.scaled_dot_product_attention(x, x, y, is_causal=True)",
    ),
)
