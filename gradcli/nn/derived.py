"""Library: tensors that replace a parameter and are computed from other parameters.

`weight_norm` and `prune` compute them before each call of the module, and so put them here;
`parametrize` computes them when the name is read.
"""

from __future__ import annotations

from typing import Any

from ..engine.tensors.invented_names import KEPT

DERIVED = "_derived"  # the place of the first kind in a module's dictionary
COMPUTES = "_computes"  # in that of the ModuleDict whose modules compute the second kind


def show(module: Any, name: str, value: Any) -> None:
    """module.name is this tensor until the next one is computed."""
    own = module.__dict__
    own.pop(name, None)
    own.get(KEPT, {}).pop(name, None)
    own.setdefault(DERIVED, {})[name] = value


def parametrizations(module: Any) -> dict[str, Any]:
    """What computes the names of a module that are computed when they are read."""
    held = (module.__dict__.get("_modules") or {}).get("parametrizations")
    return held._modules if held is not None and COMPUTES in held.__dict__ else {}


def is_derived(module: Any, name: str) -> bool:
    return name in module.__dict__.get(DERIVED, ()) or name in parametrizations(module)


def derived(module: Any, name: str) -> Any:
    """The tensor behind such a name; None where there is none."""
    shown = module.__dict__.get(DERIVED)
    if shown is not None and name in shown:
        return shown[name]
    computes = parametrizations(module).get(name)
    return None if computes is None else computes.value()
