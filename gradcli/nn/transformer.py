"""Library: the layers of a transformer, and stacks of them."""

from __future__ import annotations

import copy
from typing import Any

from ..engine.schema.mode import state
from ..engine.schema.settable import Takes
from ..operators import catalogue
from . import functional, init
from .activation import GELU, ReLU
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead import MultiheadAttention
from .normalization import LayerNorm


def _activation(given: Any) -> Any:
    if given is None:
        return functional.relu
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return functional.relu if given == "relu" else functional.gelu


def _causal_mask(size: int, device: Any = None, dtype: Any = None) -> Any:
    """-inf above the diagonal: a position attends to no later one."""
    full = catalogue.functions["full"]((size, size), float("-inf"), dtype=dtype, device=device)
    return catalogue.functions["triu"](full, 1)


def _is_causal(mask: Any, is_causal: bool | None, size: int) -> bool:
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _causal_mask(size, mask.device, mask.dtype)
    return tuple(mask.shape) == tuple(causal.shape) and bool((mask == causal).all())


def _numbers(mask: Any, dtype: Any) -> Any:
    """A mask of truth values as one that is added."""
    if mask is None or mask.dtype.name != "bool":
        return mask
    return catalogue.functions["zeros_like"](mask, dtype=dtype).masked_fill_(mask, -float("inf"))


class _Layer(Module):
    """What encoder and decoder layers share: attention to itself, and the two linear maps."""

    PUBLIC = (
        "self_attn", "linear1", "linear2", "dropout", "dropout1", "dropout2", "norm1", "norm2",
        "norm_first", "activation",
    )  # fmt: skip
    TAKES = {"activation": Takes.CALLABLE}
    NORMS = 2

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        place = {"device": device, "dtype": dtype}
        attention = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **place}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        if type(self).NORMS == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        for number in range(1, type(self).NORMS + 1):
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            self.add_module(f"norm{number}", norm)
        for number in range(1, type(self).NORMS + 1):
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def _to_itself(self, x: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        out, _ = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )  # fmt: skip
        return self.dropout1(out)

    def _forward(self, x: Any, last: Any) -> Any:
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:  # fmt: skip
        padding, mask = _numbers(src_key_padding_mask, src.dtype), _numbers(src_mask, src.dtype)
        x = src
        if self.norm_first:
            x = x + self._to_itself(self.norm1(x), mask, padding, is_causal)
            return x + self._forward(self.norm2(x), self.dropout2)
        x = self.norm1(x + self._to_itself(x, mask, padding, is_causal))
        return self.norm2(x + self._forward(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    PUBLIC = ("multihead_attn", "norm3", "dropout3")
    NORMS = 3

    def _to_memory(self, x: Any, memory: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        out, _ = self.multihead_attn(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )  # fmt: skip
        return self.dropout2(out)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        itself = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._to_itself(self.norm1(x), *itself)
            x = x + self._to_memory(self.norm2(x), *other)
            return x + self._forward(self.norm3(x), self.dropout3)
        x = self.norm1(x + self._to_itself(x, *itself))
        x = self.norm2(x + self._to_memory(x, *other))
        return self.norm3(x + self._forward(x, self.dropout3))


PER_LAYER = 2000  # steps that a copy of a layer takes


class _Stack(Module):
    """Copies of one layer, one after the other."""

    PUBLIC = ("layers", "num_layers", "norm")

    def __init__(self, layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = ModuleList()
        for _ in range(num_layers):
            state.charge(PER_LAYER)
            self.layers.append(copy.deepcopy(layer))
        self.num_layers, self.norm = num_layers, norm

    def _length(self, input: Any) -> int:
        batch_first = self.layers[0].self_attn.batch_first
        length: int = input.shape[1 if batch_first and input.dim() == 3 else 0]
        return length


def _why_no_nested_tensor(layer: Any) -> str:
    """What keeps PyTorch from a faster way; it warns of that when the stack is made."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    if layer.norm_first:
        return ".norm_first was True"
    attention = layer.self_attn
    if not attention.batch_first:
        return (
            ".self_attn.batch_first was not True(use batch_first for better inference performance)"
        )
    if attention.in_proj_bias is None:
        return ".self_attn was passed bias=False"
    known = (functional.relu, functional.gelu)
    if layer.activation not in known and not isinstance(layer.activation, ReLU | GELU):
        return ".activation_relu_or_gelu was not True"
    return ".self_attn.num_heads is odd" if attention.num_heads % 2 else ""


class TransformerEncoder(_Stack):
    PUBLIC = ("enable_nested_tensor", "use_nested_tensor", "mask_check")

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Any = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)
        why = _why_no_nested_tensor(encoder_layer)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = enable_nested_tensor and not why
        if enable_nested_tensor and why:
            state.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"encoder_layer{why}"
            )

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:  # fmt: skip
        padding, mask = _numbers(src_key_padding_mask, src.dtype), _numbers(mask, src.dtype)
        is_causal = _is_causal(mask, is_causal, self._length(src))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(_Stack):
    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, self._length(tgt))
        output = tgt
        for layer in self.layers:
            output = layer(
                output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    PUBLIC = (
        "encoder", "decoder", "d_model", "nhead", "batch_first",
        "generate_square_subsequent_mask",
    )  # fmt: skip

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = None, custom_encoder: Any = None, custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, device, dtype,
        )  # fmt: skip
        norm = {"eps": layer_norm_eps, "bias": bias, "device": device, "dtype": dtype}
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*settings)
            custom_encoder = TransformerEncoder(
                encoder_layer, num_encoder_layers, LayerNorm(d_model, **norm)
            )
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*settings)
            custom_decoder = TransformerDecoder(
                decoder_layer, num_decoder_layers, LayerNorm(d_model, **norm)
            )
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None,
        memory_mask: Any = None, src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        return _causal_mask(sz, device, dtype)
