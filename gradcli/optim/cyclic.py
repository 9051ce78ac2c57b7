"""Library: a learning rate that goes up and down between two bounds, again and again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .optimizer import Optimizer
from .schedule import LRScheduler, set_rate


def _for_each_group(name: str, optimizer: Any, value: Any) -> list[Any]:
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has "
                         f"{len(value)} values, param_groups has {groups}.")  # fmt: skip
    return list(value)


class CyclicLR(LRScheduler):
    PUBLIC = ("max_lrs", "total_size", "step_ratio", "mode", "gamma", "scale_mode", "scale_fn")

    def __init__(
        self, optimizer: Any, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
        cycle_momentum: bool = True, base_momentum: float = 0.8, max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        rates = _for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                set_rate(group, rate)
        self.max_lrs = _for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._own_scale, self.scale_mode = scale_fn, scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = rates

    def _start_momentum(self, optimizer: Any, base: Any, top: Any, last_epoch: int) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = _for_each_group("base_momentum", optimizer, base)
        self.max_momentums = _for_each_group("max_momentum", optimizer, top)
        if last_epoch == -1:
            bounds = zip(self.max_momentums, self.base_momentums, strict=True)
            for group, (high, low) in zip(optimizer.param_groups, bounds, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def state_dict(self) -> dict[str, Any]:
        own = super().state_dict()
        del own["_own_scale"]
        return own | {"_scale_fn_custom": None}  # functions are not saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As PyTorch does, it takes the function's entry out of what it is given."""
        state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)

    def scale_fn(self, x: float) -> float:
        """How much of the way up a cycle goes."""
        if self._own_scale is not None:
            return self._own_scale(x)
        if self.mode == "triangular":
            return 1.0
        power: float = 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x
        return power

    def get_lr(self) -> list[Any]:
        self._warn_called_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                self._set_momentum(group, high - (high - low) * share * scale)
        return [
            base + (top - base) * share * scale
            for base, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
