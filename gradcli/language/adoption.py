"""language: objects of the library as values of the language."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from ..engine.device import Device
from ..engine.dtypes import DType
from ..engine.hooks import RemovableHandle
from ..engine.size import Size
from ..engine.tensor import Tensor
from .libraries import HOMES
from .values import Builtin, Function, Lazy, Set


def is_library(value: Any) -> bool:
    """An object that a class of the engine, nn, optim or autograd made, or a program's module."""
    kind: Any = type(value)
    return _from_library(kind)


@functools.cache
def _from_library(kind: type) -> bool:
    homes = [base.__module__ for base in kind.__mro__]
    return any(
        home.startswith(tuple(HOMES)) and not home.startswith("gradcli.language.") for home in homes
    )


HOST_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def adopt(value: Any) -> Any:
    """A result of the library as a value of the language."""
    kind = type(value)
    if kind is Tensor or value is None or kind in SIMPLE:
        return value
    if isinstance(value, HOST_FUNCTIONS):
        wrapped = getattr(value, "__wrapped__", None)
        if type(wrapped) is Function:
            return Builtin(wrapped.name, adopting(value), _function_text(wrapped.code), wrapped)
        return Builtin(
            getattr(value, "__name__", "function"), adopting(value), _function_text(value)
        )
    if isinstance(value, type):
        from .builtins.types import host_type

        return host_type(value)
    if isinstance(value, types.GeneratorType) or kind in LAZY_KINDS:
        return Lazy(LAZY_KINDS.get(kind, "generator"), map(adopt, value))
    if kind is tuple:
        return tuple([adopt(item) for item in value])
    if kind is set:
        return Set(value)
    if kind.__module__ == "numpy":
        return ArrayValue(value)
    return value


def _function_text(function: Any) -> str:
    name = getattr(function, "qualified", None) or getattr(function, "__qualname__", "function")
    return f"<function {name}>"


def adopting(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return adopt(function(*args, **kwargs))

    return call


SIMPLE = frozenset({int, float, bool, str, list, dict, Size, DType, Device, RemovableHandle})
LAZY_KINDS: dict[type, str] = {zip: "zip", map: "map", filter: "filter", enumerate: "enumerate"}


class ArrayValue:
    """What `.numpy()` gives: an array to look at; arithmetic belongs to tensors."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __repr__(self) -> str:
        return repr(self.array)

    def __str__(self) -> str:
        return str(self.array)

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array if dtype is None else self.array.astype(dtype)


ArrayValue.__name__ = ArrayValue.__qualname__ = "numpy.ndarray"


def array_item(value: ArrayValue, index: Any) -> Any:
    found = value.array[index]
    return found.item() if found.ndim == 0 else ArrayValue(found)
