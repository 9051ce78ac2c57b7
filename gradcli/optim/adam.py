"""Library: Adam and its relatives: steps scaled by running moments of the gradient."""

from __future__ import annotations

from typing import Any

from ..engine.tensors.construct import tensor
from ..operators import catalogue
from .optimizer import (
    Optimizer,
    as_number,
    check_betas,
    check_positive,
    check_rate,
    counted,
    decayed,
    zeros_for,
)


class Adam(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(epsilon=eps)
        check_betas(betas)
        check_positive(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, (beta1, beta2) = as_number(group["lr"]), group["betas"]
        step = counted(own)
        grad = shrunk(parameter, grad, lr, group)
        first, second = moments(parameter, grad, own, beta1, beta2)
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        if group["amsgrad"]:
            if "max_exp_avg_sq" not in own:
                own["max_exp_avg_sq"] = zeros_for(parameter)
            second = own["max_exp_avg_sq"] = own["max_exp_avg_sq"].maximum(second)
        scale = (second.sqrt() / correction2**0.5).add_(group["eps"])
        parameter.addcdiv_(first, scale, value=-(lr / correction1))


def shrunk(parameter: Any, grad: Any, lr: float, group: dict[str, Any]) -> Any:
    """Weight decay: of the parameter itself where it is decoupled, of the gradient otherwise."""
    decay = group["weight_decay"]
    if decay != 0 and group["decoupled_weight_decay"]:
        parameter.mul_(1 - lr * decay)
        return grad
    return decayed(parameter, grad, decay)


def moments(
    parameter: Any, grad: Any, own: dict[str, Any], beta1: float, beta2: float
) -> tuple[Any, Any]:
    """The running means of the gradient and of its square."""
    if "exp_avg" not in own:
        own["exp_avg"], own["exp_avg_sq"] = zeros_for(parameter), zeros_for(parameter)
    own["exp_avg"].lerp_(grad, 1 - beta1)
    own["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    return own["exp_avg"], own["exp_avg_sq"]


class AdamW(Adam):
    """Adam whose weight decay acts on the parameters themselves."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=True,
        )  # fmt: skip


class Adamax(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(epsilon=eps)
        check_betas(betas)
        check_positive(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, (beta1, beta2) = as_number(group["lr"]), group["betas"]
        step = counted(own)
        if "exp_avg" not in own:
            own["exp_avg"], own["exp_inf"] = zeros_for(parameter), zeros_for(parameter)
        grad = decayed(parameter, grad, group["weight_decay"])
        mean, top = own["exp_avg"], own["exp_inf"]
        if parameter.is_complex():  # the greatest of each part
            parts = catalogue.functions["view_as_real"]
            parameter, grad, mean, top = map(parts, (parameter, grad, mean, top))
        mean.lerp_(grad, 1 - beta1)
        top.copy_(top.mul_(beta2).maximum(grad.abs().add_(group["eps"])))
        parameter.addcdiv_(mean, top, value=-(lr / (1 - beta1**step)))


class NAdam(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(epsilon=eps)
        check_betas(betas)
        check_positive(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, (beta1, beta2) = as_number(group["lr"]), group["betas"]
        step = counted(own)
        if "mu_product" not in own:
            own["mu_product"] = tensor(1.0)
        grad = shrunk(parameter, grad, lr, group)
        decay = group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        own["mu_product"].mul_(mu)
        product = float(own["mu_product"].item())
        first, second = moments(parameter, grad, own, beta1, beta2)
        scale = second.div(1 - beta2**step).sqrt().add_(group["eps"])
        parameter.addcdiv_(grad, scale, value=-lr * (1.0 - mu) / (1.0 - product))
        parameter.addcdiv_(first, scale, value=(-lr * mu_next) / (1.0 - product * mu_next))


class RAdam(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(epsilon=eps)
        check_betas(betas)
        check_positive(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, (beta1, beta2) = as_number(group["lr"]), group["betas"]
        step = counted(own)
        grad = shrunk(parameter, grad, lr, group)
        first, second = moments(parameter, grad, own, beta1, beta2)
        correction2 = 1 - beta2**step
        update = first / (1 - beta1**step) * lr
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * (beta2**step) / correction2
        if length > 5.0:
            scale = second.sqrt().add_(group["eps"])
            adaptive = catalogue.functions["reciprocal"](scale) * correction2**0.5
            rectified = (
                (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            ) ** 0.5
            update = update * adaptive * rectified
        parameter.add_(update, alpha=-1.0)
