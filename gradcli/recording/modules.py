"""Recording: what a module contains, read from its tables: a class may override its methods.

PyTorch's modules have the same tables, so these functions serve both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.tensors.invented_names import KEPT
from .looking import table_of
from .sides import sides


def is_module(value: Any) -> bool:
    """A module of nn whose __init__ has run; super() of one has its table, and is none."""
    return type(value) is not super and isinstance(_table(value, "_modules"), dict)


def is_distribution(value: Any) -> bool:
    """A distribution of either library: its class says whether its samples have gradients."""
    return hasattr(type(value), "has_rsample")


def tensors_of(distribution: Any, depth: int = 4) -> Iterator[Any]:
    """The tensors that a distribution keeps, and those of the distributions in it."""
    for value in vars(distribution).values():
        if is_distribution(value):
            yield from tensors_of(value, depth - 1) if depth else ()
        else:
            yield value


def named_modules(root: Any) -> Iterator[tuple[str, Any]]:
    """The module and those inside it with their paths, each once, in the order of PyTorch."""
    seen: set[int] = set()
    pending = [("", root)]
    while pending:
        path, module = pending.pop()
        if id(module) in seen or not is_module(module):
            continue
        seen.add(id(module))
        yield path, module
        head = f"{path}." if path else ""
        inner = _table(module, "_modules").items()
        pending.extend((head + name, part) for name, part in reversed(inner) if part is not None)


def named_parameters(root: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of all of them: `0.weight`, each once."""
    return _named(root, "_parameters")


def named_buffers(root: Any) -> Iterator[tuple[str, Any]]:
    """The same for buffers: `1.running_mean`."""
    return _named(root, "_buffers")


def _named(root: Any, table: str) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    for path, module in named_modules(root):
        for name, tensor in (_table(module, table) or {}).items():
            if hasattr(type(tensor), "materialize"):
                continue  # of a lazy module that has not run
            if tensor is not None and id(tensor) not in seen:
                seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor


def other_names(root: Any) -> Iterator[tuple[str, Any]]:
    """Parameters by the names that they have besides, such as a tied weight's second module."""
    seen: set[int] = set()
    for path, module in named_modules(root):
        for name, tensor in (_table(module, "_parameters") or {}).items():
            if tensor is not None and id(tensor) in seen:
                yield f"{path}.{name}" if path else name, tensor
            seen.add(id(tensor))


def beside(module: Any) -> dict[str, Any]:
    """What a module of a program's own class holds beside its tables: a plain list of layers."""
    held = _table(module, KEPT)
    if isinstance(held, dict):
        return held
    return {} if sides.live is None else dict(sides.live.objects.beside(module))


def has_own(module: Any, name: str) -> bool:
    """Whether a module has an attribute of this name beside its tables."""
    return name in module.__dict__ or name in beside(module)


def is_compiled(module: Any) -> bool:
    """Whether torch.compile runs it."""
    in_place = module.__dict__.get("_compiled_call_impl") is not None  # by module.compile()
    return in_place or type(module).__name__ == "OptimizedModule"


def is_interpreted(value: Any) -> bool:
    """An object of a class of an interpreted program."""
    kind = type(value)  # asked in place of the value: no method of the program runs
    return hasattr(kind, "table") and hasattr(kind, "kind")


def attributes(value: Any) -> dict[str, Any]:
    """What an object of a program's own class holds; nothing for any other value."""
    if not is_interpreted(value):
        return {} if sides.live is None else dict(sides.live.objects.attributes(value))
    return value.table if isinstance(value.table, dict) else {}


def _table(value: Any, name: str) -> Any:
    return table_of(value).get(name)
