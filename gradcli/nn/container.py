"""Library: modules that hold modules or parameters."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..engine.schema.mode import state
from ..engine.tensors.invented_names import keep, kept_on
from ..engine.tensors.tensor import Tensor
from .module import Module, _indented
from .parameter import Parameter
from .registered import TABLES


class Sequential(Module):
    """Modules called one after the other."""

    PUBLIC = ("append", "insert", "extend", "pop")

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict | dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def _place(self, index: int) -> str:
        size = len(self)
        index = operator.index(index)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._place(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self._registered(self._place(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._place(index)]:
            del self._modules[name]
        left = list(self._modules.values())
        self._modules.clear()
        self._modules.update((str(place), module) for place, module in enumerate(left))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        for module in list(other):
            self.append(module)
        return self

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self._repeated(other, list(self)))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        for module in self._repeated(other, list(self))[len(self) :]:
            self.append(module)
        return self

    @staticmethod
    def _repeated(count: Any, modules: list[Module]) -> list[Module]:
        """The same modules again, not copies of them."""
        if not isinstance(count, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(modules)} and {type(count)}")
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {Sequential}")
        return modules * count

    def append(self, module: Module) -> Sequential:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        for module in sequential if sequential is self else state.taken(sequential):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        held = list(self._modules.values())
        if not -len(held) <= index <= len(held):
            raise IndexError(f"Index out of range: {index}")
        held.insert(index, module)
        self._modules.clear()
        self._modules.update((str(place), inner) for place, inner in enumerate(held))
        return self

    def pop(self, key: Any) -> Module:
        module = self[key]
        del self[key]
        return module

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


class ModuleList(Module):
    """Modules in a list."""

    PUBLIC = ("append", "insert", "extend", "pop")

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _place(self, index: int) -> str:
        size = len(self)
        index = operator.index(index)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return str(index % size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._place(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self._registered(self._place(index), module)

    def __delitem__(self, index: Any) -> None:
        held = list(self._modules.values())
        del held[index]
        self._renumber(held)

    def _renumber(self, held: list[Any]) -> None:
        self._modules.clear()
        self._modules.update((str(place), module) for place, module in enumerate(held))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def append(self, module: Module) -> ModuleList:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for module in modules if modules is self else state.taken(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        held = list(self._modules.values())
        held.insert(index, module)
        self._renumber(held)

    def pop(self, key: Any) -> Module:
        module = self[key]
        del self[key]
        return module

    def __repr__(self) -> str:
        """Equal neighbours are printed once, with their numbers and how many they are."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        runs: list[list[Any]] = []
        for place, text in enumerate(texts):
            if runs and runs[-1][2] == text:
                runs[-1][1] = place
            else:
                runs.append([place, place, text])
        lines = []
        for first, last, text in runs:
            head = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            lines.append("  " + _indented(head + text))
        return self._get_name() + "(\n" + "\n".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name."""

    PUBLIC = ("keys", "values", "items", "pop", "clear", "update")

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Any:
        return self._modules.keys()

    def values(self) -> Any:
        return self._modules.values()

    def items(self) -> Any:
        return self._modules.items()

    def clear(self) -> None:
        self._modules.clear()

    def pop(self, key: str) -> Module:
        return self._modules.pop(key)

    def update(self, modules: Any) -> None:
        pairs = modules.items() if isinstance(modules, Mapping | ModuleDict) else modules
        for name, module in state.taken(pairs):
            self[name] = module


class _Parameters(Module):
    """Parameters, and other values too, under names of the program; tensors become parameters."""

    def _registered(self, name: str, value: Any) -> bool:
        if isinstance(value, Tensor) and not value.is_parameter:
            value = Parameter(value)
        return super()._registered(name, value)

    def _put(self, name: str, value: Any) -> None:
        if not self._registered(name, value):
            keep(self, name, value)

    def _tables(self) -> list[dict[str, Any]]:
        return [*(self.__dict__[kind] for kind in TABLES), kept_on(self)]

    def _at(self, name: str) -> Any:
        for table in self._tables():
            if name in table:
                return table[name]
        raise AttributeError(f"'{self._get_name()}' object has no attribute '{name}'")

    def _drop(self, name: str) -> None:
        for table in self._tables():
            table.pop(name, None)


class ParameterList(_Parameters):
    """Parameters in a list."""

    PUBLIC = ("append", "extend")

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ParameterList([self[i] for i in range(*index.indices(self._size))])
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return self._at(str(index % self._size))

    def __setitem__(self, index: int, value: Any) -> None:
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        self._put(str(index % self._size), value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        place, self._size = self._size, self._size + 1
        self[place] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        for value in values if values is self else state.taken(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_described(value)}" for i, value in enumerate(self))


class ParameterDict(_Parameters):
    """Parameters by name."""

    PUBLIC = ("keys", "values", "items", "pop", "clear", "update", "get")

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return self._at(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        self._put(key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        self._drop(key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        return self._keys.keys()

    def values(self) -> Any:
        return [self[key] for key in self._keys]

    def items(self) -> Any:
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._keys else default

    def pop(self, key: str) -> Any:
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Any) -> None:
        if isinstance(parameters, dict) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())  # PyTorch keeps the order of ordered ones only
        named = isinstance(parameters, Mapping | ParameterDict)
        pairs = parameters.items() if named else parameters
        for key, value in state.taken(pairs):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(
            f"  ({key}): {_described(value, value.type())}"  # type: ignore[attr-defined]
            if isinstance(value, Tensor)
            else f"  ({key}): {_described(value)}"
            for key, value in self.items()
        )


def _described(value: Any, word: str = "") -> str:
    """A parameter by its type and size; dictionaries name the type as old PyTorch did."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    sizes = "x".join(str(size) for size in value.shape)
    device = "" if value.device.type == "cpu" else f" ({value.device})"
    kind = "Parameter" if value.is_parameter else "Tensor"
    return f"{kind} containing: [{word or value.dtype} of size {sizes}{device}]"
