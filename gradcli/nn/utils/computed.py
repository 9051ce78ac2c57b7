"""Library: what weight_norm, spectral_norm and prune share: hooks that compute a weight."""

from __future__ import annotations

from typing import Any

from ...engine.graph.hooks import add
from ..derived import DERIVED, derived
from ..module import Module
from ..registered import missing_attribute


def needs_module(module: Any, attribute: str) -> None:
    """What is no module lacks the attribute that PyTorch reads first."""
    if not isinstance(module, Module):
        raise missing_attribute(module, attribute)


def held_tensor(module: Any, name: str) -> Any:
    """The parameter or the buffer of this name, or what is computed for it; None where none is."""
    if not isinstance(module, Module):
        return None
    for table in (module._parameters, module._buffers):
        if table.get(name) is not None:
            return table[name]
    return derived(module, name)


def named_tensor(module: Any, name: str) -> Any:
    found = held_tensor(module, name)
    if found is None:
        raise missing_attribute(module, name)
    return found


def take_weight(module: Any, name: str) -> Any:
    """A parameter or a buffer that leaves its place."""
    weight = named_tensor(module, name)
    for table in (module._parameters, module._buffers):
        table.pop(name, None)
    return weight


def put_back(module: Any, name: str, parameter: Any) -> None:
    """The name stands for a parameter again."""
    module.__dict__.get(DERIVED, {}).pop(name, None)
    module.register_parameter(name, parameter)


def add_hook(module: Any, hook: Any) -> None:
    add(module._forward_pre_hooks, (hook, False))


def hook_of(module: Any, kind: type, name: str, take: bool = False) -> Any:
    """The hook of this kind that computes a name, or None; `take` removes it."""
    needs_module(module, "_forward_pre_hooks")
    for key, (hook, _) in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:  # type: ignore[attr-defined]
            if take:
                del module._forward_pre_hooks[key]
            return hook
    return None
