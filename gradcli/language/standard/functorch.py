"""language: functorch, which was torch.func before PyTorch 2.0: each function warns that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.schema.mode import state
from ..libraries import libraries
from .publishing import functions

# What the warning names in the place of each; else the same word of torch.func.
FOLLOWERS = {
    "vmap": "torch.vmap",
    "make_functional": "torch.func.functional_call",
    "make_functional_with_buffers": "torch.func.functional_call",
    "combine_state_for_ensemble": "torch.func.stack_module_state",
}
STATELESS = frozenset(FOLLOWERS) - {"vmap"}
NAMES = (*FOLLOWERS, *"grad grad_and_value vjp jvp jacrev jacfwd hessian".split())


def _older(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        state.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
            f"version of PyTorch >= 2.3. Please use `{FOLLOWERS.get(name, f'torch.func.{name}')}` "
            "instead; see the PyTorch 2.0 release notes and/or the `torch.func` migration guide "
            "for more details https://pytorch.org/docs/main/func.migrating.html",
            FutureWarning,
        )
        space = "_functorch.make_functional" if name in STATELESS else "func"
        return libraries.current.resolve(f"{space}.{name}")(*args, **kwargs)

    return function


MODULES: dict[str, dict[str, Any]] = {
    "functorch": functions({name: _older(name) for name in NAMES}),
}
