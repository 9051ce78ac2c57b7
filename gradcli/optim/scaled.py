"""Library: RMSprop, Adagrad and Adadelta: steps divided by the size of past gradients."""

from __future__ import annotations

from typing import Any

from ..engine.tensors.construct import tensor
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue
from .optimizer import (
    Optimizer,
    alike,
    as_number,
    check_positive,
    check_rate,
    counted,
    decayed,
    zeros_for,
)


class RMSprop(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, alpha, momentum = as_number(group["lr"]), group["alpha"], group["momentum"]
        counted(own)
        if "square_avg" not in own:
            own["square_avg"] = zeros_for(parameter)
            if momentum > 0:
                own["momentum_buffer"] = zeros_for(parameter)
            if group["centered"]:
                own["grad_avg"] = zeros_for(parameter)
        grad = decayed(parameter, grad, group["weight_decay"])
        square = own["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = own["grad_avg"].lerp_(grad, 1 - alpha)
            size = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            size = square.sqrt()
        size = size.add_(group["eps"])
        if momentum > 0:
            buffer = own["momentum_buffer"].mul_(momentum).addcdiv_(grad, size)
            parameter.add_(buffer, alpha=-lr)
        else:
            parameter.addcdiv_(grad, size, value=-lr)


class Adagrad(Optimizer):
    def _check_sparse(self, group: dict[str, Any]) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(
            lr_decay=lr_decay, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, epsilon=eps,
        )  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        for group in self.param_groups:
            for parameter in group["params"]:
                self._begin(parameter, self.state[parameter], group)

    def _begin(self, parameter: Any, own: dict[str, Any], group: dict[str, Any]) -> None:
        own["step"] = tensor(0.0)
        own["sum"] = catalogue.functions["full_like"](
            parameter.detach(), group["initial_accumulator_value"]
        )

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        if "sum" not in own:
            self._begin(parameter, own, group)
        step = counted(own)
        grad = decayed(parameter, grad, group["weight_decay"])
        rate = as_number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        if grad.__class__ is not Tensor:
            grad = grad.coalesce()  # squares of sums
            own["sum"].add_(alike(grad, grad._values().pow(2)))
            size = own["sum"].sparse_mask(grad)._values().sqrt_().add_(group["eps"])
            parameter.add_(alike(grad, grad._values() / size), alpha=-rate)
            return
        total = own["sum"].addcmul_(grad, grad, value=1)
        parameter.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-rate)


class Adadelta(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_positive(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        counted(own)
        if "square_avg" not in own:
            own["square_avg"], own["acc_delta"] = zeros_for(parameter), zeros_for(parameter)
        grad = decayed(parameter, grad, group["weight_decay"])
        rho, eps = group["rho"], group["eps"]
        square = own["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        size = square.add(eps).sqrt_()
        delta = own["acc_delta"].add(eps).sqrt_().div_(size).mul_(grad)
        own["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
        parameter.add_(delta, alpha=-as_number(group["lr"]))
