"""Library: Rprop, which follows signs only, and averaged SGD."""

from __future__ import annotations

from typing import Any

from ..engine.tensors.construct import tensor
from ..operators import catalogue
from .optimizer import (
    Optimizer,
    as_number,
    check_positive,
    check_rate,
    counted,
    decayed,
    zeros_for,
)


class Rprop(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        counted(own)
        if "prev" not in own:
            own["prev"] = zeros_for(parameter)
            own["step_size"] = catalogue.functions["full_like"](grad, as_number(group["lr"]))
        (minus, plus), (least, most) = group["etas"], group["step_sizes"]
        sign = grad.mul(own["prev"]).sign()
        turned = sign < 0
        factor = sign.masked_fill(sign > 0, plus).masked_fill(turned, minus)
        factor = factor.masked_fill(sign == 0, 1)
        own["step_size"].mul_(factor).clamp_(least, most)
        grad = grad.masked_fill(turned, 0)
        parameter.addcmul_(grad.sign(), own["step_size"], value=-1)
        own["prev"].copy_(grad)


class ASGD(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_positive(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })  # fmt: skip

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, lambd = as_number(group["lr"]), group["lambd"]
        if "eta" not in own:
            step = counted(own)
            own["eta"], own["mu"] = tensor(float(lr)), tensor(1.0)
            own["ax"] = zeros_for(parameter)
        else:
            step = counted(own)
        grad = decayed(parameter, grad, group["weight_decay"])
        eta = own["eta"].item()
        parameter.mul_(1 - lambd * eta)
        parameter.add_(grad, alpha=-eta)
        if own["mu"].item() != 1:
            own["ax"].add_(parameter.sub(own["ax"]).mul_(own["mu"]))
        else:
            own["ax"].copy_(parameter)
        own["eta"].fill_(lr / ((1 + lambd * lr * step) ** group["alpha"]))
        own["mu"].fill_(1 / max(1, step - group["t0"]))
