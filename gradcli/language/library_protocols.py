"""language: how Python's protocols work on the library's objects: calls, iteration, subscripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..engine.graph.node import Node
from ..engine.tensors.tensor import Tensor
from .adoption import adopt, adopting, is_library
from .annotations import Annotation, within
from .members import members_of
from .operations import type_handlers
from .values import Bound, ErrorValue, Function, Lazy, Type


def _library_method(value: Any, name: str) -> Any:
    """A special method of a class of the library, such as __len__; the names are ours alone."""
    if not is_library(value):
        return None
    kind = type(value)  # the class of the class has methods too, __call__ among them
    return next((getattr(kind, name) for part in kind.__mro__ if name in part.__dict__), None)


def _iterate(value: Any) -> Iterator[Any] | None:
    method = _library_method(value, "__iter__")
    return None if method is None else map(adopt, method(value))


def item_of(value: Any) -> Callable[[int], Any] | None:
    """What an object of the library has at a place."""
    method = _library_method(value, "__getitem__")
    return None if method is None else lambda place: adopt(method(value, place))


def _subscripted(value: Type, inner: Any) -> Any:
    if value.name == "Protocol" or (value.module, value.name) in OF_ITEMS:
        return value  # class Backend(Protocol[T]), class Pairs(Dataset[Tensor])
    if value.name not in GENERIC:
        raise TypeError(f"type '{value.in_messages}' is not subscriptable")
    return within(value.name, inner)  # list[int], for annotations


# Classes of PyTorch that say of what items they are.
OF_ITEMS = frozenset(
    (f"torch.utils.data.{file}", name)
    for file, names in {
        "dataset": "Dataset IterableDataset ConcatDataset Subset StackDataset",
        "sampler": "Sampler",
        "dataloader": "DataLoader",
    }.items()
    for name in names.split()
)
GENERIC = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})


def _get_item(value: Any) -> Any:
    if type(value) is Annotation:
        return lambda annotation, inner: within(annotation.text, inner)
    if type(value) is Type:
        return _subscripted
    method = _library_method(value, "__getitem__")
    return None if method is None else adopting(method)


def _host_name(value: Any) -> str | None:
    if type(value) is ErrorValue:
        return value.kind.name
    if type(value) is Lazy:
        return value.kind
    if type(value) is Bound:
        own = type(value.function) is Function or getattr(value.function, "wraps", None)
        return "method" if own or members_of(value.owner).keeps else "builtin_function_or_method"
    if isinstance(value, Node):
        return value.name().split("::")[-1]
    if isinstance(value, Tensor):
        return "Parameter" if value.is_parameter else "Tensor"
    return HOST_NAMES.get(type(value))


HOST_NAMES: dict[type, str] = {}  # classes of real PyTorch, where `check` runs it


def _caller(value: Any) -> Callable[..., Any] | None:
    method = _library_method(value, "__call__")
    return None if method is None else adopting(method)


type_handlers.caller = _caller
type_handlers.iterate = _iterate
type_handlers.get_item = _get_item
type_handlers.set_item = lambda value: _library_method(value, "__setitem__")
type_handlers.delete_item = lambda value: _library_method(value, "__delitem__")
type_handlers.contains = lambda value: _library_method(value, "__contains__")
type_handlers.length = lambda value: _library_method(value, "__len__")
type_handlers.name = _host_name
