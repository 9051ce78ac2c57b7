"""Library: torch.nn.utils: gradients clipped, parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.graph.leaf import gradient_of as _grad
from ...engine.schema.mode import no_grad, state
from ...engine.tensors.tensor import Tensor
from ...operators import catalogue


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else state.taken(tensors)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    """The norm of all tensors together: the norm of their norms."""
    tensors, norm_type = _listed(tensors), float(norm_type)
    if not tensors:
        from ...engine.tensors.construct import tensor

        return tensor(0.0)
    norm = catalogue.functions["linalg.vector_norm"]
    with no_grad():
        each = [norm(value, norm_type) for value in tensors]
        total = norm(catalogue.functions["stack"](each), norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: Any = None
) -> None:
    """Scales the gradients so that their norm is at most max_norm."""
    grads = [grad for grad in map(_grad, _listed(parameters)) if grad is not None]
    if not grads:
        return
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(factor)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Any:  # fmt: skip
    """Scales the gradients in place; returns their total norm before."""
    kind, name = getattr(parameters, "kind", "generator"), type(parameters).__name__
    parameters = _listed(parameters)
    if not parameters and kind == name == "generator":
        state.warn("`parameters` is an empty generator, no gradient clipping will occur.")
    grads = [grad for grad in map(_grad, parameters) if grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(*arguments: Any, **options: Any) -> Any:
    state.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(*arguments, **options)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Clamps the gradients in place to [-clip_value, clip_value]."""
    limit = float(clip_value)
    grads = [grad for grad in map(_grad, _listed(parameters)) if grad is not None]
    if not grads:
        raise RuntimeError(
            "Expected !nested_tensorlist[0].empty() to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    with no_grad():
        for grad in grads:
            grad.clamp_(min=-limit, max=limit)


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """All parameters, flattened and joined."""
    return catalogue.functions["cat"]([parameter.view(-1) for parameter in state.taken(parameters)])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """The slices of a vector as the parameters' new data."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in state.taken(parameters):
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data  # type: ignore[index]
        start += count
