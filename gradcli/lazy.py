"""Library: packages whose names load the module they are in when they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(
    package: str, places: Mapping[str, str], modules: tuple[str, ...] = (),
    loaded: Callable[[Any], None] | None = None,
) -> tuple[list[str], Callable[[str], Any]]:  # fmt: skip
    """`__all__` and `__getattr__` of a package: module name -> the names it has, and submodules.
    `loaded` is called with each value that a name loads."""
    module_of = {name: module for module, names in places.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in module_of:
            module = import_module(f"{package}.{module_of[name]}")
            value = getattr(module, name)
            if loaded is not None:
                loaded(value)
            setattr(import_module(package), name, value)  # from now on it is found at once
            return value
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(
            f"module '{package.replace('gradcli', 'torch', 1)}' has no attribute '{name}'"
        )

    return sorted(module_of), find
