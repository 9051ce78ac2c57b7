"""Autograd: the functions of torch.autograd over the engine's backward pass."""

from __future__ import annotations

from typing import Any

from ..engine.passes.backward import backward, grad as single_grad
from ..engine.schema.mode import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
    state,
)
from ..engine.tensors.tensor import Tensor

__all__ = [
    "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "inference_mode", "no_grad",
    "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """torch.autograd.grad: gradients of outputs with respect to inputs; .grad stays as it is."""
    if not only_inputs:
        state.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    if is_grads_batched and grad_outputs is not None:
        from .batched_grads import batched_grads

        return batched_grads(
            outputs, inputs, grad_outputs, create_graph, retain_graph=retain_graph,
            allow_unused=allow_unused, materialize_grads=materialize_grads,
        )  # fmt: skip
    return single_grad(
        outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, False,
        materialize_grads,
    )  # fmt: skip


def Variable(data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """The old wrapper: a tensor of the same memory, which may require a gradient."""
    out = data.detach()
    out.requires_grad = requires_grad
    return out


def __getattr__(name: str) -> Any:
    if name in ("function", "functional", "graph", "forward_ad"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    if name == "Function":
        from .function import Function

        return Function
    if name in ("GradcheckError", "gradcheck", "gradgradcheck"):
        from . import gradient_check

        return getattr(gradient_check, name)
    if name.startswith("__"):
        raise AttributeError(name)
    from ..namespace import resolve

    return resolve(f"autograd.{name}")
