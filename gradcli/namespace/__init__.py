"""namespace: the names of PyTorch that gradcli knows, dotted, without `torch.`, and what they are.

The library face and the language ask here. Looking at the names loads no array library.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from .absent import absence
from .deeper_paths import DEEPER, HIDDEN, is_file, package_of
from .table import CONSTANTS, FLAGS, LEGACY, PACKAGES, PLACES, SPACES


@functools.cache
def names() -> frozenset[str]:
    """All dotted names, the namespaces themselves included."""
    from ..operators import catalogue

    found = set(PLACES) | set(CONSTANTS) | set(catalogue.functions) | set(SPACES)
    found.update(f"{space}{word}Tensor" for space in ("", "sparse.") for word in LEGACY)
    for space, package in PACKAGES.items():
        found.update(f"{space}.{name}" for name in import_module(package).__all__)
    return frozenset(found)


def has(name: str) -> bool:
    """Is it one of `names`? Without listing them all, and without loading what they stand for."""
    from ..operators import catalogue

    if name in PLACES or name in CONSTANTS or name in catalogue.functions or name in SPACES:
        return True
    space, _, last = name.rpartition(".")
    if package_of(space) != space:
        near = f"{package_of(space)}.{last}".lstrip(".")
        return has(near) and (near in HIDDEN or not is_space(near))
    if space in PACKAGES:
        return last in import_module(PACKAGES[space]).__all__
    return name.endswith("Tensor") and name.removeprefix("sparse.").removesuffix("Tensor") in LEGACY


@functools.cache
def is_space(name: str) -> bool:
    """Does anything stand below this name?"""
    from ..operators import catalogue

    below = name + "."
    return (
        name in SPACES
        or name in DEEPER
        or is_file(name)
        or any(path.startswith(below) for known in (PLACES, catalogue.functions) for path in known)
    )


@functools.cache
def ready() -> None:
    """Makes tensors whole: operators and methods; whatever face comes first asks for it."""
    import gc
    import sys

    from ..process.memory import keep_freed

    # Not `from . import`: that asks the package for the name first, and so comes back here.
    import_module("gradcli.operators")
    from ..engine.dunders import install

    install()
    # A graph is many small objects and no cycles: Python's default of a collection every 700
    # allocations doubles the time of building one. Whoever chose a threshold keeps it.
    if gc.get_threshold() == (700, 10, 10):
        gc.set_threshold(50_000, 20, 50)
    if "torch" not in sys.modules:  # whose process it is then
        keep_freed()


@functools.cache
def resolve(name: str) -> Any:
    """The object behind a dotted name; AttributeError in Python's words when there is none."""
    ready()
    from ..operators import catalogue

    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in PLACES:
        module, _, attribute = PLACES[name].partition(":")
        if module.startswith("gradcli.engine.schema.dtypes"):
            from ..engine.schema.dtypes import BY_NAME

            return BY_NAME[name] if name in BY_NAME else getattr(import_module(module), attribute)
        return getattr(import_module(module), attribute)
    if name in catalogue.functions:
        return catalogue.functions[name]
    if name.endswith("Tensor") and name.removesuffix("Tensor") in LEGACY:
        from ..engine.tensors.typed_tensors import typed_tensor

        return typed_tensor(name.removesuffix("Tensor"))
    if has(name) and name.startswith("sparse."):
        from ..engine.tensors.typed_tensors import sparse_typed_tensor

        return sparse_typed_tensor(name.removeprefix("sparse.").removesuffix("Tensor"))
    space, _, last = name.rpartition(".")
    if package_of(space) != space and not is_space(name):
        return resolve(f"{package_of(space)}.{last}".lstrip("."))
    if space in PACKAGES:
        module_ = import_module(PACKAGES[space])
        if last in module_.__all__:
            return getattr(module_, last)
    if is_space(name):
        return Space(name)
    home = f"torch.{space}".rstrip(".")
    raise AttributeError(absence(home, last) or f"module '{home}' has no attribute '{last}'")


# What Python asks of a package that something is imported from, by the names in its spec.
_OF_PACKAGE = {"__spec__": "", "__name__": "name", "__path__": "submodule_search_locations"}


class Space:
    """A namespace of PyTorch: attributes are looked up in the table, nothing else is reachable."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "path", path)

    def __getattr__(self, name: str) -> Any:
        full = f"{self.path}.{name}" if self.path else name
        if name == "__all__":
            return [known for known in self.__dir__() if not known.startswith("_")]
        if name in _OF_PACKAGE:
            from importlib.machinery import ModuleSpec

            spec = ModuleSpec(f"gradcli.{self.path}", None, is_package=True)
            return spec if name == "__spec__" else getattr(spec, _OF_PACKAGE[name])
        if name.startswith("__") and full not in CONSTANTS:
            raise AttributeError(name)
        if full in FLAGS:
            from .functions import flags

            return flags.values[full]
        return resolve(full)

    def __setattr__(self, name: str, value: Any) -> None:
        from .functions import set_flag

        set_flag(f"{self.path}.{name}", value)

    def __dir__(self) -> list[str]:
        head = self.path + "." if self.path else ""
        return sorted(
            {n.removeprefix(head).partition(".")[0] for n in names() if n.startswith(head)}
        )

    def __repr__(self) -> str:
        return f"<module 'torch{'.' + self.path if self.path else ''}'>"
