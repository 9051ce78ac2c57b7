"""Library: torch.optim.swa_utils: averages of parameters, and the rate that goes with them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from ..engine.schema.class_name import name_in_messages
from ..engine.schema.dtypes import int64
from ..engine.schema.mode import no_grad
from ..engine.tensors.construct import tensor
from ..nn.module import Module
from ..nn.normalization import _BatchNorm
from .optimizer import Optimizer
from .schedule import LRScheduler, check_optimizer

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def _checked(decay: float) -> float:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )
    return decay


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], None]:
    _checked(decay)

    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        with no_grad():
            for average, current in zip(ema_param_list, current_param_list, strict=True):
                if average.is_floating_point():
                    average.lerp_(current, 1 - decay)
                else:
                    average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Any, Any, Any], None]:
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        with no_grad():
            for average, current in zip(averaged_param_list, current_param_list, strict=True):
                if average.is_floating_point():
                    average.lerp_(current, float(1 / (num_averaged + 1)))
                else:
                    average.copy_(average + (current - average) / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    _checked(decay)

    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    PUBLIC = ("module", "n_averaged", "avg_fn", "multi_avg_fn", "use_buffers", "update_parameters")

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn = avg_fn, multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _pairs(self, model: Module) -> list[tuple[Any, Any]]:
        own: Iterable[Any] = self.parameters()
        given: Iterable[Any] = model.parameters()
        if self.use_buffers:
            own = chain(self.module.parameters(), self.module.buffers())
            given = chain(model.parameters(), model.buffers())
        return [
            (average.detach(), current.detach().to(average.device))
            for average, current in zip(own, given, strict=False)
        ]

    def update_parameters(self, model: Module) -> None:
        pairs = self._pairs(model)
        if bool(self.n_averaged == 0):
            for average, current in pairs:
                average.copy_(current)
        elif self.avg_fn is not None:
            for average, current in pairs:
                average.copy_(self.avg_fn(average, current, self.n_averaged))
        else:
            together = self.multi_avg_fn or get_swa_multi_avg_fn()
            together([a for a, _ in pairs], [c for _, c in pairs], self.n_averaged)
        if not self.use_buffers:
            buffers: Iterable[Any] = zip(self.module.buffers(), model.buffers(), strict=True)
            for own, given in buffers:
                own.detach().copy_(given.detach().to(own.device))
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """The running means and variances of the averaged model, from one pass over the data."""
    if not isinstance(model, Module):
        kind = name_in_messages(type(model))
        raise AttributeError(f"'{kind}' object has no attribute 'modules'")
    momenta = {part: part.momentum for part in model.modules() if isinstance(part, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    with no_grad():
        for part in momenta:
            part.reset_running_stats()
            part.momentum = None
        for given in loader:
            given = given[0] if isinstance(given, list | tuple) else given
            model(given if device is None else given.to(device))
    for part, momentum in momenta.items():
        part.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    PUBLIC = ("anneal_epochs",)

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10,
        anneal_strategy: str = "cos", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        groups = optimizer.param_groups
        rates = swa_lr if isinstance(swa_lr, list | tuple) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups. swa_lr has "
                f"{len(rates)} values, param_groups has {len(groups)}."
            )
        for rate, group in zip(rates, groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        self._warn_called_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        found = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            found.append(goal * now + start * (1 - now))
        return found
