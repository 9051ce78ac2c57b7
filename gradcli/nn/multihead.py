"""Library: attention with several heads as a module."""

from __future__ import annotations

from typing import Any

from ..operators.nn.multi_head import additive_masks
from . import functional, init
from .create import empty
from .linear import Linear
from .module import Module
from .parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear under the name by which PyTorch prints the projection of an attention."""


class MultiheadAttention(Module):
    PUBLIC = (
        "embed_dim", "kdim", "vdim", "num_heads", "dropout", "batch_first", "head_dim",
        "in_proj_weight", "in_proj_bias", "q_proj_weight", "k_proj_weight", "v_proj_weight",
        "bias_k", "bias_v", "out_proj", "add_zero_attn",
    )  # fmt: skip

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._make_projections(bias, device, dtype)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(empty((1, 1, embed_dim), device, dtype))
            self.bias_v = Parameter(empty((1, 1, embed_dim), device, dtype))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _make_projections(self, bias: bool, device: Any, dtype: Any) -> None:
        """One weight for queries, keys and values where they are as wide, else one for each."""
        width = self.embed_dim
        apart = {"q_proj_weight": width, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._packed:
            self.in_proj_weight = Parameter(empty((3 * width, width), device, dtype))
            for name in apart:
                self.register_parameter(name, None)
        else:
            for name, columns in apart.items():
                self.register_parameter(name, Parameter(empty((width, columns), device, dtype)))
            self.register_parameter("in_proj_weight", None)
        made = Parameter(empty((3 * width,), device, dtype)) if bias else None
        self.register_parameter("in_proj_bias", made)

    @property
    def _packed(self) -> bool:
        return self.kdim == self.embed_dim == self.vdim

    def _reset_parameters(self) -> None:
        if self._packed:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
        need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        turned = self.batch_first and query.dim() == 3
        key_padding_mask, attn_mask = additive_masks(key_padding_mask, attn_mask, query.dtype)
        if turned:
            query, key, value = _turned(query, key, value)
        static_k = static_v = None
        output, weights = functional.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._packed, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, static_k, static_v, average_attn_weights, is_causal,
        )  # fmt: skip
        return (output.transpose(1, 0) if turned else output), weights


def _turned(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """Sequence first. What was one tensor stays one: attention to itself is computed at once."""
    turned_query = query.transpose(1, 0)
    if key is value:
        turned_key = turned_query if query is key else key.transpose(1, 0)
        return turned_query, turned_key, turned_key
    return turned_query, key.transpose(1, 0), value.transpose(1, 0)
