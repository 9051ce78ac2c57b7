"""Func: torch.func: functions that make functions: gradients, Jacobians, vectorised maps.

Loaded when a name is used: while a transformation may be open, every operator asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "stateless": "functional_call stack_module_state",
    "jacobians": "hessian jacfwd jacrev",
    "transforms": "grad grad_and_value jvp linearize vjp",
    "vectorised": "vmap",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'torch.func' has no attribute '{name}'")
