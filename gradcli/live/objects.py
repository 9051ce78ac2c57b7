"""Live: the objects and modules of a program: what they hold, and whether they are its own."""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

from ..recording.looking import is_a, table_of
from .library import Homes

WIDE = 100  # items of a container of a class that are looked at
NAMESPACES = frozenset({("types", "SimpleNamespace"), ("argparse", "Namespace")})


class ProgramObjects:
    """Reads them by their tables: their classes may override methods."""

    def __init__(self, torch: Any, homes: Homes) -> None:
        self.tensor, self.module, self.homes = torch.Tensor, torch.nn.Module, homes

    def member(self, value: Any, name: str) -> Any:
        """What an object of the program, or a module, has under a name."""
        held = table_of(value)
        for table in (*map(held.get, ("_parameters", "_buffers", "_modules")), held):
            if table is not None and name in table:
                return table[name]
        if self._is_computed_by_pytorch(value, name):
            return getattr(value, name)
        raise AttributeError(name)

    def _is_computed_by_pytorch(self, value: Any, name: str) -> bool:
        """Whether it is a tensor that PyTorch's own parametrizations compute: no code of the
        program runs then."""
        tables = (table_of(value).get("_modules") or {}).get("parametrizations")
        steps = (table_of(tables).get("_modules") or {}).get(name)
        return steps is not None and all(
            type(step).__module__.startswith("torch.") for step in steps.modules()
        )

    def is_made(self, value: Any) -> bool:
        is_one = is_a(value, self.module)  # super() says that it is one
        return is_one or bool(self.attributes(value))

    def attributes(self, value: Any) -> Mapping[str, Any]:
        """What an object of a class of the program holds, and the tensors of such a class."""
        if is_a(value, type):
            return self._of_class(value)
        kind = type(value)
        is_ours = kind.__module__ in self.homes or (kind.__module__, kind.__name__) in NAMESPACES
        if not is_ours or is_a(value, self.module):
            return {}
        if any(base.__module__.startswith("gradcli.") for base in kind.__mro__):
            return {}  # of an interpreted program
        return table_of(value)

    def beside(self, module: Any) -> Mapping[str, Any]:
        """What a module of a class of the program holds beside its tables."""
        if type(module).__module__ not in self.homes:
            return {}
        return {name: item for name, item in table_of(module).items() if not name.startswith("_")}

    def _of_class(self, kind: type) -> dict[str, Any]:
        if kind.__module__ not in self.homes:
            return {}
        held = (self.tensor, self.module)
        return {k: v for k, v in vars(kind).items() if is_a(v, held) or self._holds(v)}

    def _holds(self, part: Any) -> bool:
        """Whether it is a container with tensors."""
        items = part.values() if type(part) is dict else part
        return type(part) in (list, tuple, dict) and any(
            is_a(item, self.tensor) for item in islice(items, WIDE)
        )

    def bindings(self, names: Mapping[str, Any], hidden: Container[str] = ()) -> dict[str, Any]:
        """What a program bound, without functions, modules of Python and classes without tensors;
        nested tensors have no shape."""
        return {
            name: value for name, value in names.items()
            if name not in hidden and not name.startswith("__")
            and not is_a(value, (ModuleType, FunctionType))
            and not (is_a(value, type) and not self.attributes(value))
            and not (is_a(value, self.tensor) and value.is_nested)
        }  # fmt: skip

    def has_method(self, module: Any, word: str) -> bool:
        return hasattr(type(module), word) or word in table_of(module)

    def is_of_program(self, module: Any) -> bool:
        """Whether a module's class is the program's own: it has lines of its own."""
        return type(module).__module__ in self.homes.texts
