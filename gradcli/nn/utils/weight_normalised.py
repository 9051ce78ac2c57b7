"""Library: torch.nn.utils.weight_norm: a weight as a length times a direction."""

from __future__ import annotations

from typing import Any

from ...engine.schema.mode import state
from ...operators import catalogue
from ..derived import show
from ..parameter import Parameter
from ..uninitialized import Uninitialized
from .computed import add_hook, hook_of, put_back, take_weight


class WeightNorm:
    """Computes the weight before each call of the module."""

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def weight(self, module: Any) -> Any:
        length = module._parameters[self.name + "_g"]
        direction = module._parameters[self.name + "_v"]
        return catalogue.functions["_weight_norm"](direction, length, self.dim)

    def __call__(self, module: Any, inputs: Any) -> None:
        show(module, self.name, self.weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    state.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if hook_of(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    made = WeightNorm(name, -1 if dim is None else dim)
    weight = module._parameters.get(name)
    if isinstance(weight, Uninitialized):
        raise ValueError(
            "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to "
            "run the dummy forward before applying weight normalization"
        )
    weight = take_weight(module, name)
    length = catalogue.functions["norm_except_dim"](weight, 2, made.dim)
    module.register_parameter(name + "_g", Parameter(length.data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    show(module, name, made.weight(module))
    add_hook(module, made)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    found = hook_of(module, WeightNorm, name, take=True)
    if found is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = found.weight(module)
    for part in ("_g", "_v"):
        del module._parameters[name + part]
    put_back(module, name, Parameter(weight.data))
    return module
