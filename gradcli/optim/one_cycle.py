"""Library: a learning rate that rises once and falls, and one that falls when progress stops."""

from __future__ import annotations

import math
from typing import Any

from ..engine.schema.mode import state
from .optimizer import Optimizer
from .schedule import EPOCH, LRScheduler, check_optimizer, set_rate


def _check_count(name: str, count: Any) -> None:
    if count <= 0 or not isinstance(count, int):
        raise ValueError(f"Expected positive integer {name}, but got {count}")


class OneCycleLR(LRScheduler):
    PUBLIC = ("total_steps",)

    def __init__(
        self, optimizer: Any, max_lr: Any, total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: Any = 0.85,
        max_momentum: Any = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        if total_steps is not None:
            _check_count("total_steps", total_steps)
        elif epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        else:
            _check_count("epochs", epochs)
            _check_count("steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        self.total_steps = total_steps
        up, size = float(pct_start * total_steps) - 1, total_steps
        keys = ("initial_lr", "max_lr", "min_lr")
        momenta = ("max_momentum", "base_momentum", "max_momentum")
        if three_phase:
            ends = [up, float(2 * pct_start * total_steps) - 2, size - 1]
            phases = [(0, 1, 0, 1), (1, 0, 1, 0), (0, 2, 0, 0)]
        else:
            ends = [up, size - 1]
            phases = [(0, 1, 0, 1), (1, 2, 1, 0)]
        self._schedule_phases = [
            {
                "end_step": end, "start_lr": keys[a], "end_lr": keys[b],
                "start_momentum": momenta[c], "end_momentum": momenta[d],
            }
            for end, (a, b, c, d) in zip(ends, phases, strict=True)
        ]  # fmt: skip
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        groups = optimizer.param_groups
        tops = list(max_lr) if isinstance(max_lr, list | tuple) else [max_lr] * len(groups)
        if last_epoch == -1:
            for group, top in zip(groups, tops, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._start_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _start_momentum(self, optimizer: Any, base: float, top: float, last_epoch: int) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        if last_epoch == -1:
            for group in optimizer.param_groups:
                self._set_momentum(group, top)
                group["max_momentum"], group["base_momentum"] = top, base

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self) -> list[Any]:
        self._warn_called_outside_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        rates = []
        for group in self.optimizer.param_groups:
            start, rate = 0.0, group["lr"]  # a loaded state may have no phases
            for place, phase in enumerate(self._schedule_phases):
                end: Any = phase["end_step"]
                if self.last_epoch <= end or place == len(self._schedule_phases) - 1:
                    share = (self.last_epoch - start) / (end - start)
                    low, high = (group[phase[f"{at}_lr"]] for at in ("start", "end"))
                    rate = self._between(low, high, share)
                    if self.cycle_momentum:
                        slow, fast = (group[phase[f"{at}_momentum"]] for at in ("start", "end"))
                        momentum = self._between(slow, fast, share)
                        self._set_momentum(group, momentum)
                    break
                start = end
            rates.append(rate)
        return rates


class ReduceLROnPlateau(LRScheduler):
    PUBLIC = ("mode", "factor", "patience", "cooldown", "best", "num_bad_epochs", "in_cooldown")

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.optimizer, self.factor = optimizer, factor
        groups = len(optimizer.param_groups)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.min_lrs = [min_lr] * groups
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch, self._last_lr = 0, self._rates()
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def is_better(self, now: float, best: float) -> bool:
        if self.threshold_mode == "rel":
            sign = -1 if self.mode == "min" else 1
            limit = best * (1.0 + sign * self.threshold)
        else:
            limit = best + (-self.threshold if self.mode == "min" else self.threshold)
        return now < limit if self.mode == "min" else now > limit

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        now = float(metrics)
        if epoch is not None:
            state.warn(EPOCH)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(now, self.best):
            self.best, self.num_bad_epochs = now, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                new = max(group["lr"] * self.factor, least)
                if group["lr"] - new > self.eps:
                    set_rate(group, new)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()
