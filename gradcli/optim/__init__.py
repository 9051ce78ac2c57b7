"""Library: torch.optim: optimisers and learning-rate schedules. Loaded when a name is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "optimizer": "Optimizer",
    "sgd": "SGD",
    "adam": "Adam AdamW Adamax NAdam RAdam",
    "scaled": "RMSprop Adagrad Adadelta",
    "rprop": "Rprop ASGD",
    "lbfgs": "LBFGS",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    if name == "lr_scheduler":
        return import_module(f"{__name__}.lr_scheduler")
    raise AttributeError(f"module 'torch.optim' has no attribute '{name}'")
