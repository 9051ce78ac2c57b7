"""Library: Muon, whose steps are orthogonal, and Adafactor, whose second moments have factors."""

from __future__ import annotations

import math
from typing import Any

from ..engine.schema.dtypes import bfloat16
from ..engine.schema.limits import finfo
from ..operators import catalogue
from .optimizer import Optimizer, as_number, check_rate, counted, zeros_for


def _at_least_zero(**settings: float) -> None:
    for name, value in settings.items():
        if not value >= 0.0:
            raise ValueError(f"{name.replace('__', ' ')} should be >= 0 but is: {value}")


class Muon(Optimizer):
    """Momentum whose matrix is made almost orthogonal; for the weights of hidden layers."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr, "Learning rate should be >= 0 but is")
        _at_least_zero(momentum=momentum, weight__decay=weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{parameter.size()}"
                    )

    def _update_parts(self, *given: Any) -> None:
        raise RuntimeError("Muon does not support complex parameters")

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, momentum = as_number(group["lr"]), group["momentum"]
        if "momentum_buffer" not in own:
            own["momentum_buffer"] = zeros_for(grad)
        buffer = own["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = parameter.shape
        ratio = math.sqrt(max(1, rows / columns))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.add_(update, alpha=-lr * ratio)


def _orthogonal(matrix: Any, coefficients: Any, steps: int, eps: float) -> Any:
    """Newton and Schulz's iteration: singular values move near 1."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    made = matrix.to(bfloat16)
    made = made.t() if tall else made
    made.div_(made.norm().clamp(min=eps))
    addmm = catalogue.functions["addmm"]
    for _ in range(steps):
        gram = made @ made.t()
        made = addmm(made, addmm(gram, gram, gram, beta=b, alpha=c), made, beta=a)
    return made.t() if tall else made


class Adafactor(Optimizer):
    """The second moment of a matrix as the product of one number a row and one a column."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0,
        *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr, "Learning rate should be >= 0 but is")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        _at_least_zero(epsilon1=0.0 if eps[0] is None else eps[0], epsilon2=eps[1])
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        _at_least_zero(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })  # fmt: skip

    def _update_parts(self, *given: Any) -> None:
        raise RuntimeError("Adafactor does not support complex parameters")

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, (least, small) = as_number(group["lr"]), group["eps"]
        least = finfo(parameter.dtype).eps if least is None else least
        step = counted(own)
        if len(own) == 1 and grad.ndim > 1:
            own["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
            own["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
        elif len(own) == 1:
            own["variance"] = zeros_for(grad)
        share = step ** group["beta2_decay"]
        size = parameter.norm(2).item() / parameter.numel() ** 0.5
        alpha = max(small, size) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            parameter.mul_(1 - lr * group["weight_decay"])
        if grad.ndim > 1:
            for name, dim in (("row_var", -1), ("col_var", -2)):
                norms = catalogue.functions["norm"](grad, dim=dim, keepdim=True)
                own[name].lerp_(norms.square_().div_(grad.shape[dim]), share)
            rows = own["row_var"]
            estimate = rows @ own["col_var"]
            estimate.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))
        else:
            estimate = own["variance"].lerp_(grad * grad, share).clone()
        update = estimate.clamp_(min=least * least).rsqrt_().mul_(grad)
        clip = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
        parameter.add_(update, alpha=-alpha / clip)
