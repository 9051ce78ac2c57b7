"""Library: torch.distributions.utils: what programs' own distributions are written with."""

from __future__ import annotations

from typing import Any

from ..engine.tensor import Tensor
from .operations import clipped_probs, run, together


def broadcast_all(*values: Any) -> Any:
    if not all(isinstance(value, (Tensor, int, float, complex)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    return together(*values)


def clamp_probs(probs: Any) -> Any:
    return clipped_probs(probs)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    inside = clipped_probs(probs)
    return run("log", inside) - run("log1p", -inside) if is_binary else run("log", inside)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    return run("sigmoid", logits) if is_binary else run("nn.functional.softmax", logits, dim=-1)


_FUNCTIONS = (broadcast_all, clamp_probs, probs_to_logits, logits_to_probs)
__all__ = [known.__name__ for known in _FUNCTIONS]
