"""Library: Adam for sparse gradients: moments and parameters change where there is one."""

from __future__ import annotations

import math
from typing import Any

from .optimizer import Optimizer, alike, as_number, check_betas, zeros_for


class SparseAdam(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, maximize: bool = False,
    ) -> None:  # fmt: skip
        if not as_number(lr) > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [
            ([number, place], parameter)
            for number, group in enumerate(self.param_groups)
            for place, parameter in enumerate(group["params"])
        ]
        if found := [place for place, parameter in places if parameter.is_sparse]:
            raise ValueError(
                f"Sparse params at indices {found}: SparseAdam requires dense parameter tensors"
            )
        if found := [place for place, parameter in places if parameter.is_complex()]:
            raise ValueError(
                f"Complex params at indices {found}: SparseAdam does not support complex parameters"
            )

    def _check_sparse(self, group: dict[str, Any]) -> None:
        """What it is for."""

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        if not grad.is_sparse:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        if not own:
            own.update(step=0, exp_avg=zeros_for(parameter), exp_avg_sq=zeros_for(parameter))
        own["step"] += 1
        grad, (beta1, beta2) = grad.coalesce(), group["betas"]
        values = grad._values()
        if not values.numel():
            return
        before = own["exp_avg"].sparse_mask(grad)._values()
        change = values.sub(before).mul_(1 - beta1)
        own["exp_avg"].add_(alike(grad, change))
        squares_before = own["exp_avg_sq"].sparse_mask(grad)._values()
        squares_change = values.pow(2).sub_(squares_before).mul_(1 - beta2)
        own["exp_avg_sq"].add_(alike(grad, squares_change))
        numerator = change.add_(before)
        denominator = squares_change.add_(squares_before).sqrt_().add_(group["eps"])
        root = math.sqrt(1 - beta2 ** own["step"])
        rate = as_number(group["lr"]) * root / (1 - beta1 ** own["step"])
        parameter.add_(alike(grad, -rate * numerator.div_(denominator)))
