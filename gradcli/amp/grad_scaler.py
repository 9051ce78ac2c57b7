"""Amp: torch.amp.GradScaler: losses times a number, gradients divided by it before a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..engine.memory.device import Device, cuda_available
from ..engine.schema.class_name import NamedInTorch
from ..engine.schema.dtypes import float16, float32
from ..engine.schema.mode import no_grad, state
from ..engine.tensors.construct import tensor
from ..engine.tensors.tensor import Tensor
from ..optim.optimizer import Optimizer
from .autocast_mode import deprecated

OFF = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
NEW_SCALE = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
    "requires_grad=False."
)
READY, UNSCALED, STEPPED = range(3)


class _Progress:
    """How far an optimizer has come since the last update."""

    __slots__ = ("stage", "found_inf")

    def __init__(self) -> None:
        self.stage = READY
        self.found_inf: bool | None = None  # None: it has no gradients


class GradScaler(metaclass=NamedInTorch):
    """Scales losses so that small gradients of reduced precision do not vanish.

    `step` leaves out what would write an infinity or a NaN; `update` then halves the scale, and
    doubles it after `growth_interval` steps without any. Off, it hands everything on.
    """

    PUBLIC = (
        "scale", "unscale_", "step", "update", "get_scale", "get_growth_factor",
        "set_growth_factor", "get_backoff_factor", "set_backoff_factor", "get_growth_interval",
        "set_growth_interval", "is_enabled", "state_dict", "load_state_dict",
    )  # fmt: skip

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda" and not cuda_available():
            state.warn(OFF)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Any = None  # made where the first loss is
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0  # steps without an infinity
        self._progress: dict[int, _Progress] = {}  # of optimizers, by their identity

    def scale(self, outputs: Any) -> Any:
        """A tensor, or an iterable of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = _number(self._init_scale, outputs.device)
            return outputs * self._scale.to(outputs.device)
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def _scale_for(self, call: str) -> Any:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {call} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimizer, which `step` else does; to clip them, say."""
        if self._enabled:
            self._unscale(optimizer, self._scale_for("unscale_"))

    def _unscale(self, optimizer: Optimizer, scale: Any) -> None:
        progress = self._progress.setdefault(id(optimizer), _Progress())
        if progress.stage == UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.stage == STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        gradients = [
            parameter.grad
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        with no_grad():
            inverse = scale.double().reciprocal().float()
            for gradient in gradients:
                if gradient.dtype is float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                bad = not bool(gradient.isfinite().all())
                progress.found_inf = bool(progress.found_inf) or bad
                gradient.mul_(inverse.to(gradient.device))
        progress.stage = UNSCALED

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step with unscaled gradients, unless one of them is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        scale = self._scale_for("step")
        progress = self._progress.setdefault(id(optimizer), _Progress())
        if progress.stage == STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.stage == READY:
            self._unscale(optimizer, scale)
        if progress.found_inf is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if progress.found_inf else optimizer.step(*args, **kwargs)
        progress.stage = STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """The scale for the next steps: given, or after what the last ones met."""
        if not self._enabled:
            return
        scale = self._scale_for("update")
        with no_grad():
            if new_scale is not None:
                self._take(scale, new_scale)
            else:
                self._follow(scale)
        self._progress = {}

    def _take(self, scale: Any, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
            return
        is_here = new_scale.device.type == self._device
        if not is_here or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError(NEW_SCALE)
        scale.copy_(new_scale)

    def _follow(self, scale: Any) -> None:
        found = [one.found_inf for one in self._progress.values() if one.found_inf is not None]
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        if any(found):
            scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = scale * self._growth_factor
            if bool(grown.isfinite()):
                scale.copy_(grown)
            self._growth_tracker = 0

    def get_scale(self) -> float:
        """The scale; 1.0 where it is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors and steps without an infinity; nothing where it is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` of another one gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]


def _number(value: float, device: Device) -> Tensor:
    return tensor(value, dtype=float32, device=device)


class OlderScaler(GradScaler):
    """Of torch.cuda.amp and torch.cpu.amp: for the device in its name."""

    kind: str

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        kind = self.kind
        deprecated(f"{kind}.amp.GradScaler(args...)", f"amp.GradScaler('{kind}', args...)")
        super().__init__(kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
