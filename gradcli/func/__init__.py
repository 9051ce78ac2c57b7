"""Func: torch.func: functions that make functions: gradients, Jacobians, vectorised maps."""

from __future__ import annotations

from .functional_call import functional_call, stack_module_state
from .jacobians import hessian, jacfwd, jacrev
from .transforms import grad, grad_and_value, jvp, linearize, vjp
from .vmap import vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip
