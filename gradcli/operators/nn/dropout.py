"""Operators: dropout in its forms; the noise comes from PyTorch's random stream."""

from __future__ import annotations

import math
from typing import Any

from ...engine.schema.mode import no_grad
from ...engine.schema.operator import composite, warn
from ..conventions import Late

empty_like = Late("empty_like")
_ALPHA = 1.7580993408473766  # minus the limit of selu at minus infinity


def _noise(input: Any, feature: bool) -> Any:
    """Room for the noise: as the input lies in memory, or one value for each channel."""
    if not feature:
        return empty_like(input)
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return input.new_empty((*input.shape[:2], *(1,) * (input.ndim - 2)))


def _drop(input: Any, p: float, training: bool, feature: bool, alpha: bool, inplace: bool) -> Any:
    if p == 0 or not training or input.numel() == 0:
        return input
    if feature and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if input.dtype.is_complex:
        word = input.dtype.word
        raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{word}'")
    if p == 1:
        zero = input.new_zeros(())
        return input.mul_(zero) if inplace else input.mul(zero)
    if not input.is_floating_point():
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.word}"
        )
    with no_grad():
        noise = _noise(input, feature).bernoulli_(1 - p)
        shift = None
        if alpha:
            a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
            shift = (noise - 1).mul_(_ALPHA * a).add_(_ALPHA * a * p)
            noise.mul_(a)
        else:
            noise.div_(1 - p)
    out = input.mul_(noise) if inplace else input.mul(noise)
    if shift is None:
        return out
    return out.add_(shift) if inplace else out.add(shift)


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _face(feature: bool, alpha: bool) -> Any:
    def body(input: Any, p: float, training: bool, inplace: bool) -> Any:
        _check(p)
        return _drop(input, p, training, feature, alpha, inplace)

    return body


def _spatial(dimensions: int, name: str) -> Any:
    """dropout1d, 2d, 3d: whole channels, of inputs with or without a batch."""

    def body(input: Any, p: float, training: bool, inplace: bool) -> Any:
        _check(p)
        if dimensions == 1 and input.ndim not in (2, 3):
            raise RuntimeError(
                f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note "
                "that dropout1d exists to provide channel-wise dropout on inputs with 1 spatial "
                "dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D "
                "inputs)."
            )
        if input.ndim not in (dimensions + 1, dimensions + 2):
            warn(
                f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated and will "
                "result in an error in a future release. To retain the behavior and silence this "
                "warning, please use dropout instead. Note that "
                f"{name} exists to provide channel-wise dropout on inputs with {dimensions} "
                f"spatial dimensions, a channel dimension, and an optional batch dimension "
                f"(i.e. {dimensions + 1}D or {dimensions + 2}D inputs)."
            )
        if dimensions == 2 and input.ndim == 3:
            warn(
                "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
                "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
                "the channel dim. This behavior will change in a future release to interpret the "
                "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
                "channel-wise dropout behavior, please switch to using dropout1d instead."
            )
        if dimensions in (1, 3) and input.ndim != dimensions + 2:
            wide = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
            out = _drop(wide, p, training, True, False, inplace)
            return out.squeeze_(0) if inplace else out.squeeze(0)
        return _drop(input, p, training, True, False, inplace)

    return body


def _declare(name: str, default: str, body: Any, samples: tuple[str, ...], doc: str) -> None:
    composite(
        f"{name}.functional(Tensor input, float p=0.5, bool training={default}, "
        "bool inplace=False) -> Tensor",
        body,
        where="functional",
        doc=doc,
        samples=samples,
        errors=(f"F.{name}(x, 2.0)",),
    )


_declare(
    "dropout", "True", _face(False, False), ("F.dropout(x)", "F.dropout(x, training=False)"),
    "Zeroes elements with probability p and scales the others by 1 / (1 - p).",
)  # fmt: skip
_declare(
    "alpha_dropout", "False", _face(False, True), ("F.alpha_dropout(x, training=True)",),
    "Dropout to the negative limit of selu, keeping mean and variance.",
)  # fmt: skip
_declare(
    "feature_alpha_dropout", "False", _face(True, True),
    ("F.feature_alpha_dropout(x, training=True)",),
    "alpha_dropout of whole channels.",
)  # fmt: skip
for _dimensions in (1, 2, 3):
    _declare(
        f"dropout{_dimensions}d", "True", _spatial(_dimensions, f"dropout{_dimensions}d"),
        ("F.dropout1d(c)",) if _dimensions == 1 else (f"F.dropout{_dimensions}d(c[None])",),
        "Dropout of whole channels.",
    )  # fmt: skip


def _native(feature: bool, alpha: bool, inplace: bool) -> Any:
    def body(input: Any, p: float, train: bool) -> Any:
        if not 0.0 <= p <= 1.0:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
        return _drop(input, p, train, feature, alpha, inplace)

    return body


for _name, _feature, _alpha in (
    ("dropout", False, False), ("feature_dropout", True, False),
    ("alpha_dropout", False, True), ("feature_alpha_dropout", True, True),
):  # fmt: skip
    composite(
        f"{_name}(Tensor input, float p, bool train) -> Tensor",
        _native(_feature, _alpha, False),
        where="torch",
        doc="Zeroes elements or channels with probability p, in training.",
        samples=(f"torch.{_name}(x, 0.5, True)",),
    )
    composite(
        f"{_name}_(Tensor input, float p, bool train) -> Tensor",
        _native(_feature, _alpha, True),
        where="torch",
        doc=f"In-place form of {_name}.",
        samples=(f"torch.{_name}_(x * 1, 0.5, True)",),
    )
