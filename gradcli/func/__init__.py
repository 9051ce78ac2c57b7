"""Func: torch.func: functions that make functions: gradients, Jacobians, vectorised maps.

Loaded when a name is used: while a transformation may be open, every operator asks for it.
"""

from __future__ import annotations

from ..lazy import lazy

_PLACES = {
    "stateless": "functional_call stack_module_state",
    "jacobians": "hessian jacfwd jacrev",
    "transforms": "grad grad_and_value jvp linearize vjp",
    "vectorised": "vmap",
}
__all__, __getattr__ = lazy(__name__, _PLACES)
