"""Operators: attention with several heads, its projections included."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from ...engine.schema.operator import catalogue, composite, warn
from ..shape.shape import view
from ..shape.transposed import transpose
from .linear import linear


def _call(name: str, *args: Any, **options: Any) -> Any:
    return catalogue.functions[name](*args, **options)


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    return linear.run(input, weight, bias)


def _unpacked(packed: Any, count: int, width: int) -> Any:
    """One product for several projections, taken apart."""
    parts = packed.unflatten(-1, (count, width)).unsqueeze(0).transpose(0, -2).squeeze(-2)
    return parts.contiguous()


def _projected_packed(q: Any, k: Any, v: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    width = q.shape[-1]
    if k is not v:
        weights = weight.chunk(3)
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        q, k, v = (_linear(*given) for given in zip((q, k, v), weights, biases, strict=True))
        return q, k, v
    if q is k:
        parts = _unpacked(_linear(q, weight, bias), 3, width)
        return parts[0], parts[1], parts[2]
    first, rest = weight.split([width, width * 2])
    first_bias, rest_bias = (None, None) if bias is None else bias.split([width, width * 2])
    query = _linear(q, first, first_bias)
    parts = _unpacked(_linear(k, rest, rest_bias), 2, width)
    return query, parts[0], parts[1]


def _projected(given: Any, weights: Any, bias: Any) -> tuple[Any, Any, Any]:
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    width = given[0].shape[-1]
    for word, tensor, weight in zip(("query", "key", "value"), given, weights, strict=True):
        expected = (width, tensor.shape[-1])
        if tuple(weight.shape) != expected:
            raise AssertionError(
                f"expecting {word} weights shape of {expected}, but got {weight.shape}"
            )
    q, k, v = (_linear(*one) for one in zip(given, weights, biases, strict=True))
    return q, k, v


def _additive(mask: Any, name: str, dtype: Any) -> Any:
    """A mask as numbers that are added: -inf where a bool says no."""
    if mask is None:
        return None
    if mask.dtype.name == "bool":
        return _call("zeros_like", mask, dtype=dtype).masked_fill_(mask, -float("inf"))
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask


def additive_masks(padding: Any, attention: Any, dtype: Any) -> tuple[Any, Any]:
    """Both masks as numbers that are added."""
    added = _additive(padding, "key_padding_mask", dtype)
    if padding is not None and attention is not None and padding.dtype is not attention.dtype:
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead."
        )
    return added, _additive(attention, "attn_mask", dtype)


def _batched_mask(mask: Any, sizes: Any, heads: int) -> Any:
    target, batch, source = sizes
    if mask is None:
        return None
    expected = (target, source) if mask.ndim == 2 else (batch * heads, target, source)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


class Masks(NamedTuple):
    """What must not be attended to, for all and for each sequence."""

    attention: Any
    padding: Any

    def widened(self) -> Masks:
        """Room for one key more."""
        pad = catalogue.functions["nn.functional.pad"]
        return Masks(*(None if mask is None else pad(mask, (0, 1)) for mask in self))

    def joined(self, batch: int, heads: int, source: int) -> Any:
        if self.padding is None:
            return self.attention
        for place, expected in enumerate((batch, source)):
            if (found := self.padding.shape[place]) != expected:
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{place}] to be {expected}, but got {found}"
                )
        mask = self.padding.view(batch, 1, 1, source).expand(-1, heads, -1, -1)
        mask = mask.reshape(batch * heads, 1, source)
        return mask if self.attention is None else self.attention + mask


def _with_biases(k: Any, v: Any, bias_k: Any, bias_v: Any, masks: Masks) -> tuple[Any, Any, Masks]:
    if (bias_k is None) != (bias_v is None):
        given, missing = ("bias_v", "bias_k") if bias_k is None else ("bias_k", "bias_v")
        raise AssertionError(f"{given} is set but {missing} is None")
    if bias_k is None:
        return k, v, masks
    batch = k.shape[1]
    k = _call("cat", [k, bias_k.repeat(1, batch, 1)])
    v = _call("cat", [v, bias_v.repeat(1, batch, 1)])
    return k, v, masks.widened()


def _per_head(tensor: Any, static: Any, batch: int, heads: int, width: int, name: str) -> Any:
    if static is None:
        return transpose(view(tensor, (tensor.shape[0], batch * heads, width)), 0, 1)
    for place, expected in ((0, batch * heads), (2, width)):
        if static.shape[place] != expected:
            raise AssertionError(
                f"expecting {name}.size({place}) of {expected}, but got {static.shape[place]}"
            )
    return static


def _with_zeros(k: Any, v: Any, masks: Masks) -> tuple[Any, Any, Masks]:
    """One key and value of zeros more."""
    zeros = [_call("zeros", (t.shape[0], 1, t.shape[2]), dtype=t.dtype, device=t.device)
             for t in (k, v)]  # fmt: skip
    return _call("cat", [k, zeros[0]], dim=1), _call("cat", [v, zeros[1]], dim=1), masks.widened()


def _weighed(q: Any, k: Any, v: Any, mask: Any, dropout: float) -> tuple[Any, Any]:
    """The attention itself, with its weights."""
    scaled = q * sqrt(1.0 / float(q.shape[2]))
    keys = k.transpose(-2, -1)
    if mask is None:
        weights = _call("bmm", scaled, keys)
    else:
        weights = _call("baddbmm", mask, scaled, keys)
    weights = _call("nn.functional.softmax", weights, -1)
    if dropout > 0.0:
        weights = _call("nn.functional.dropout", weights, dropout)
    return _call("bmm", weights, v), weights


def _check_shapes(
    query: Any, key: Any, value: Any, padding: Any, attention: Any, heads: int
) -> bool:
    """Is there a batch?"""
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query "
            "tensor"
        )
    batched = query.ndim == 3
    which = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"For {which} `query`, expected `key` and `value` to be {query.ndim}-D but found "
            f"{key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != query.ndim - 1:
        raise AssertionError(
            f"For {which} `query`, expected `key_padding_mask` to be `None` or {query.ndim - 1}-D "
            f"but found {padding.ndim}-D tensor instead"
        )
    if attention is not None and attention.ndim not in (2, 3):
        raise AssertionError(
            f"For {which} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attention.ndim}-D tensor instead"
        )
    expected = (heads, query.shape[0], key.shape[0])
    if not batched and attention is not None and attention.ndim == 3:
        if tuple(attention.shape) != expected:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {expected} but got {attention.shape}"
            )
    return batched


class Settings(NamedTuple):
    """The arguments of the call that stay what they are."""

    embed_dim_to_check: int
    num_heads: int
    in_proj_weight: Any
    in_proj_bias: Any
    bias_k: Any
    bias_v: Any
    add_zero_attn: bool
    dropout_p: float
    out_proj_weight: Any
    out_proj_bias: Any
    training: bool
    need_weights: bool
    use_separate_proj_weight: bool
    weights: tuple[Any, Any, Any]
    static_k: Any
    static_v: Any
    average_attn_weights: bool
    is_causal: bool


def _projections(query: Any, key: Any, value: Any, given: Settings) -> tuple[Any, Any, Any]:
    if not given.use_separate_proj_weight:
        if tuple(key.shape) != tuple(value.shape):
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        return _projected_packed(query, key, value, given.in_proj_weight, given.in_proj_bias)
    if tuple(key.shape[:2]) != tuple(value.shape[:2]):
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    for word, weight in zip("qkv", given.weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {word}_proj_weight is None")
    return _projected((query, key, value), given.weights, given.in_proj_bias)


def _head_width(width: int, given: Settings) -> int:
    if width != given.embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {given.embed_dim_to_check}, but got {width}"
        )
    if width % given.num_heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {given.num_heads}")
    return width // given.num_heads


def _masks(query: Any, padding: Any, attention: Any, given: Settings) -> Masks:
    if given.is_causal and attention is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if given.is_causal and padding is None and not given.need_weights:
        return Masks(None, None)  # the kernel makes the causal mask itself
    padding, attention = additive_masks(padding, attention, query.dtype)
    return Masks(attention, padding)


def _attention(
    query: Any, key: Any, value: Any, padding: Any, attention: Any, given: Settings
) -> tuple[Any, Any]:
    target, batch, width = query.shape
    masks = _masks(query, padding, attention, given)
    heads, inner = given.num_heads, _head_width(width, given)
    q, k, v = _projections(query, key, value, given)
    sizes = target, batch, key.shape[0]
    masks = masks._replace(attention=_batched_mask(masks.attention, sizes, heads))
    k, v, masks = _with_biases(k, v, given.bias_k, given.bias_v, masks)
    q = _per_head(q, None, batch, heads, inner, "")
    k = _per_head(k, given.static_k, batch, heads, inner, "static_k")
    v = _per_head(v, given.static_v, batch, heads, inner, "static_v")
    if given.add_zero_attn:
        k, v, masks = _with_zeros(k, v, masks)
    source = k.shape[1]
    mask = masks.joined(batch, heads, source)
    dropout = given.dropout_p if given.training else 0.0
    if given.need_weights:
        out, weights = _weighed(q, k, v, mask, dropout)
        out = out.transpose(0, 1).reshape(target * batch, width)
    else:
        weights = None
        if mask is not None:
            single = mask.shape[0] == 1 and mask.ndim == 3
            mask = mask.unsqueeze(0) if single else mask.view(batch, heads, -1, source)
        q, k, v = (view(t, (batch, heads, t.shape[1], inner)) for t in (q, k, v))
        causal = given.is_causal and masks.padding is None
        out = _call("nn.functional.scaled_dot_product_attention", q, k, v, mask, dropout, causal)
        out = out.permute(2, 0, 1, 3).reshape(batch * target, width)
    out = _linear(out, given.out_proj_weight, given.out_proj_bias)
    out = view(out, (target, batch, out.shape[1]))
    if weights is not None:
        weights = weights.view(batch, heads, target, source)
        if given.average_attn_weights:
            weights = weights.mean(dim=1)
    return out, weights


def _multi_head(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Any, in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: bool,
    dropout_p: float, out_proj_weight: Any, out_proj_bias: Any, training: bool,
    key_padding_mask: Any, need_weights: bool, attn_mask: Any, use_separate_proj_weight: bool,
    q_proj_weight: Any, k_proj_weight: Any, v_proj_weight: Any, static_k: Any, static_v: Any,
    average_attn_weights: bool, is_causal: bool,
) -> tuple[Any, Any]:  # fmt: skip
    given = Settings(
        embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training, need_weights,
        use_separate_proj_weight, (q_proj_weight, k_proj_weight, v_proj_weight), static_k,
        static_v, average_attn_weights, is_causal,
    )  # fmt: skip
    if _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
        return _attention(query, key, value, key_padding_mask, attn_mask, given)
    query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask.unsqueeze(0)
    out, weights = _attention(query, key, value, key_padding_mask, attn_mask, given)
    return out.squeeze(1), None if weights is None else weights.squeeze(0)


_SAMPLE = (
    "F.multi_head_attention_forward(c, {}, c, 3, {}, torch.cat([a, b, a]), torch.cat([v, w, v]), "
    "None, None, {}, 0.0, b / 32, w{})"
)

composite(
    "multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, "
    "int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, "
    "bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, "
    "bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, "
    "Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, "
    "Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, "
    "Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False) -> "
    "(Tensor, Tensor)",
    _multi_head,
    where="functional",
    doc="Attention with several heads: projections in, scaled products, projection out.",
    samples=(
        _SAMPLE.format("c", 3, "False", "")[:-1] + ")[0]",
        _SAMPLE.format("c", 1, "True", ", need_weights=False") + "[0]",
        _SAMPLE.format("a[:, None].expand(3, 3, 3)[:2]", 1, "False", ", attn_mask=k[:, :2]")
        + "[1]",
        _SAMPLE.format("c", 3, "False", ", average_attn_weights=False") + "[1]",
    ),
    errors=(_SAMPLE.format("c", 2, "False", ""), _SAMPLE.format("v", 1, "False", "")),
)
