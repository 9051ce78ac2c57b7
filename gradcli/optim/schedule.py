"""Library: what all learning-rate schedules share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ..engine.schema.class_name import NamedInTorch
from ..engine.schema.errors import type_name
from ..engine.schema.mode import state
from ..engine.schema.settable import Takes
from ..engine.tensors.invented_names import KEPT, keep, kept_on
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue
from .optimizer import Optimizer

_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, "
    "you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  "
    "Failure to do this will result in PyTorch skipping the first value of the learning rate "
    "schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)


# What the state of a schedule is made of.
_STATE = frozenset({type(None), bool, int, float, str, list, tuple, dict, Counter, Tensor})


def check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _copied(rate: Any) -> Any:
    return catalogue.functions["clone"](rate) if isinstance(rate, Tensor) else rate


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """The learning rate of a group; a tensor, which groups may share, is filled in place."""
    own: Any = group["lr"]
    if isinstance(own, Tensor):
        catalogue.methods["fill_"](own, rate.item() if isinstance(rate, Tensor) else rate)
    else:
        group["lr"] = rate


class LRScheduler(metaclass=NamedInTorch):
    """Sets the learning rate of each parameter group; a subclass computes them in get_lr."""

    EXTENSIBLE = True
    _torch_home = "torch.optim.lr_scheduler."
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    PUBLIC: tuple[str, ...] = (
        "optimizer", "base_lrs", "last_epoch", "step", "get_lr", "get_last_lr", "state_dict",
        "load_state_dict",
    )  # fmt: skip

    _get_lr_called_within_step = _is_initial = False

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in "
                    f"param_groups[{place}] when resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [_copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """The step that sets the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _warn_called_outside_step(self) -> None:
        """PyTorch's warning where get_lr is called from outside."""
        if not self._get_lr_called_within_step:
            state.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )

    def _rates(self) -> list[Any]:
        return [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _closed_form(self) -> list[Any] | None:
        """The rates of an epoch without those before it, where a schedule can say them."""
        return None

    def _scaled(self, factor: float) -> list[Any]:
        return [rate * factor for rate in self._rates()]

    def get_lr(self) -> list[Any]:
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        if not isinstance(self.optimizer, Optimizer):  # a program may put anything there
            kind = type_name(self.optimizer)
            raise AttributeError(f"'{kind}' object has no attribute 'param_groups'")
        if self._step_count == 1 and not self.optimizer._stepped:
            state.warn(_ORDER)
        self._step_count += 1
        if epoch is not None:
            state.warn(EPOCH)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None) -> None:
        """The rates of the next epoch, or of the one that is named."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else self._closed_form()
        self._set_rates(self.get_lr if closed is None else lambda: closed)

    def _set_rates(self, find: Callable[[], list[Any]]) -> None:
        self._get_lr_called_within_step = True
        try:
            rates = find()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self._rates()

    def state_dict(self) -> dict[str, Any]:
        own = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", KEPT)}
        last = {key: own.pop(key) for key in ("lr_lambdas", "_schedulers") if key in own}
        if "lr_lambdas" in last:  # functions are not saved
            last["lr_lambdas"] = [None] * len(last["lr_lambdas"])
        if "_schedulers" in last:
            last["_schedulers"] = [inner.state_dict() for inner in last["_schedulers"]]
        return own | kept_on(self) | last

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` gives of it; other names are the program's own."""
        for name, value in state_dict.items():
            if name == "_schedulers":
                for inner, known in zip(self.__dict__[name], value, strict=False):
                    inner.load_state_dict(known)
            elif name == "lr_lambdas":
                continue
            elif name in self.__dict__ and type(value) in _STATE:
                self.__dict__[name] = value
            elif name not in self.__dict__:
                keep(self, name, value)
