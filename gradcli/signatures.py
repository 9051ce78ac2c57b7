"""signatures: what help() and editors show of the library face, from the declarations.

A declaration's file is read on demand for the function's text, and not before: the
programs that only call it pay nothing.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from inspect import Parameter
from types import MappingProxyType
from typing import Any

from .engine.schema.carriers import RUNTIME
from .engine.schema.catalogue import Function
from .engine.schema.signature import REQUIRED


class Text(str):
    """A docstring that is made when it is read: `inspect.cleandoc` expands tabs first."""

    function: Function

    def __new__(cls, function: Function) -> Text:
        text = super().__new__(cls, f"gradcli ops {function.name} describes it.")
        text.function = function
        return text

    def expandtabs(self, *args: Any, **named: Any) -> str:
        return str(self)

    def __str__(self) -> str:
        return self.function.__doc__


class Declared(inspect.Signature):
    """A signature that is made when it is read."""

    __slots__ = ("__dict__", "function")

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:  # type: ignore[override]
        return MappingProxyType({one.name: one for one in parameters_of(self.function)})

    def replace(self, **named: Any) -> inspect.Signature:  # type: ignore[override]
        return inspect.Signature(tuple(self.parameters.values())).replace(**named)


def parameters_of(function: Function) -> list[Parameter]:
    """What its only overload takes; of several overloads what they begin with, and the rest."""
    each = [_of_overload(overload.signature, function.method) for overload in function.overloads]
    if len({tuple(one.name for one in parameters) for parameters in each}) == 1:
        return each[0]
    shared: list[Parameter] = []
    for together in zip(*each):
        alike = {(one.name, one.kind) for one in together}
        if len(alike) > 1 or together[0].kind is not Parameter.POSITIONAL_OR_KEYWORD:
            break
        shared.append(together[0].replace(default=Parameter.empty))
    return [
        *shared,
        Parameter("args", Parameter.VAR_POSITIONAL),
        Parameter("kwargs", Parameter.VAR_KEYWORD),
    ]


def _of_overload(signature: Any, method: bool) -> list[Parameter]:
    found = []
    for place, one in enumerate(signature.parameters[: signature.declared]):
        name = "input" if one.name == "self" and not (method or place) else one.name
        default = Parameter.empty if one.default is REQUIRED else one.default
        kind = Parameter.KEYWORD_ONLY if one.keyword_only else Parameter.POSITIONAL_OR_KEYWORD
        found.append(Parameter(name + "_" * keyword.iskeyword(name), kind, default=default))
    places = [one for one in found if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    optional = [one.default is not Parameter.empty for one in places]
    if optional != sorted(optional):  # Python has no such order
        return [one.replace(default=Parameter.empty) for one in found]
    return found


def described(call: Callable[..., Any], function: Function) -> Callable[..., Any]:
    """The same function, with the docstring and the signature of its declarations."""
    call.__doc__ = Text(function)
    call.__signature__ = Declared(function)  # type: ignore[attr-defined]
    return call


@cache
def describe_methods() -> None:
    """The same for the methods that the catalogue gives to Tensor, and for F.relu and its kin."""
    from .operators import catalogue

    Function.__signature__ = property(Declared)  # type: ignore[attr-defined]
    for name, function in catalogue.methods.items():
        call = vars(RUNTIME.tensor).get(name)
        if inspect.isfunction(call) and call.__doc__ is None:
            described(call, function)
