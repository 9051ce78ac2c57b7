"""language: objects with the names that a program gives them: of argparse, and of types."""

from __future__ import annotations

import weakref
from typing import Any

from ..attributes import KEPT_BYTES, SPECIAL, SPECIAL_DELETE, SPECIAL_SET, missing
from ..builtins.types import OF_PYTHON
from ..calls import is_callable
from ..formatting import quoted
from ..operations import equal, type_name
from ..session import session
from ..values import Bound, Builtin, Function, Namespace as Module, Type
from .publishing import called, classes


class Namespace:
    """argparse.Namespace"""

    _torch_name = "argparse.Namespace"
    PUBLIC = ()
    __slots__ = ("open", "table")
    kind = None  # with a table, as objects of a program's classes: its tensors have names
    shown_as = "Namespace"

    def __init__(self, **named: Any) -> None:
        self.table = named
        self.open = False  # is it being shown?

    def __contains__(self, key: Any) -> bool:
        return key in self.table

    def __eq__(self, other: object) -> Any:
        return type(other) is type(self) and equal(self.table, other.table)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.open:  # inside itself
            return f"{self.shown_as}(...)"
        self.open = True
        try:
            shown = [f"{name}={quoted(value)}" for name, value in self.table.items()]
        finally:
            self.open = False
        return f"{self.shown_as}({', '.join(shown)})"


@called("types.SimpleNamespace")  # Python's messages name it so
class SimpleNamespace(Namespace):
    """types.SimpleNamespace"""

    _torch_name = "types.SimpleNamespace"
    __slots__ = ()
    shown_as = "namespace"


def _named(value: Namespace, name: str) -> Any:
    if name == "__dict__":
        return value.table
    if name in value.table:
        return value.table[name]
    raise missing(value, name)


def _name(value: Namespace, name: str, new: Any) -> None:
    session.budget.charge_bytes(KEPT_BYTES)
    value.table[name] = new


def _unname(value: Namespace, name: str) -> None:
    if name not in value.table:
        raise missing(value, name)
    del value.table[name]


for _kind in (Namespace, SimpleNamespace):
    SPECIAL[_kind], SPECIAL_SET[_kind], SPECIAL_DELETE[_kind] = _named, _name, _unname


class Reference:
    """weakref.ref: the object, as long as something else holds it."""

    _torch_name = "weakref.ReferenceType"
    PUBLIC = ()
    __slots__ = ("_held",)

    def __init__(self, object: Any, callback: Any = None) -> None:
        if callback is not None:
            raise TypeError("a callback of weakref.ref is not part of the language")
        try:
            self._held: Any = weakref.ref(object)
        except TypeError:
            message = f"cannot create weak reference to '{type_name(object)}' object"
            raise TypeError(message) from None

    def __call__(self) -> Any:
        return self._held()


def _method(function: Any, instance: Any, /) -> Bound:
    """types.MethodType"""
    if not is_callable(function):
        raise TypeError("first argument must be callable")
    if instance is None:
        raise TypeError("instance must not be None")
    return Bound(function.name if type(function) is Function else "method", instance, function)


MODULES: dict[str, dict[str, Any]] = {
    "types": {
        "SimpleNamespace": classes([SimpleNamespace])[SimpleNamespace.__name__],
        "MethodType": Type("method", Bound, _method),
        **{name: OF_PYTHON[kind] for name, kind in (
            ("FunctionType", Function), ("LambdaType", Function), ("ModuleType", Module),
            ("NoneType", type(None)), ("BuiltinFunctionType", Builtin))},
    },
    "weakref": {"ref": classes([Reference])["Reference"]},
}  # fmt: skip
