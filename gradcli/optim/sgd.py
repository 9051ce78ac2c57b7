"""Library: stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..engine.tensors.tensor import Tensor
from ..operators import catalogue
from .optimizer import Optimizer, as_number, decayed

_add = catalogue.rows["add_.Tensor"]


class SGD(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if as_number(lr) < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    def _check_sparse(self, group: dict[str, Any]) -> None:
        """Adding it is all that a step does."""

    def _keeps(self, group: dict[str, Any]) -> bool:
        return bool(group["momentum"] != 0)

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        grad = decayed(parameter, grad, group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            buffer = own.get("momentum_buffer")
            if buffer is None:
                buffer = own["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        step = -as_number(group["lr"])
        if parameter.__class__ is grad.__class__ is Tensor:  # no call has to be bound
            _add.run(parameter, grad, step)
        else:
            parameter.add_(grad, alpha=step)
