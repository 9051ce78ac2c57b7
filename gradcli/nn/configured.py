"""Library: modules that store settings and pass them to one function."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar

from ..operators import catalogue
from .module import Module

REQUIRED: Any = object()
Made = TypeVar("Made", bound=Module)


def function(name: str) -> Any:
    """A function of torch.nn.functional."""
    return catalogue.functions["nn.functional." + name]


def _require(call: str, missing: list[str]) -> None:
    """Python's error of a call without these arguments."""
    if missing:
        quoted = [f"'{name}'" for name in missing]
        last = quoted.pop()
        before = ", ".join(quoted) + (", and " if len(quoted) > 1 else " and " if quoted else "")
        noun = "arguments" if quoted else "argument"
        raise TypeError(f"{call} missing {len(missing)} required positional {noun}: {before}{last}")


def named_calls(kind: type[Made]) -> type[Made]:
    """Python's errors about its calls name this class: PyTorch's have methods of their own, where
    ours share those of a base."""
    for name in ("__init__", "forward"):
        shared = getattr(kind, name)
        own = FunctionType(
            shared.__code__, shared.__globals__, name, shared.__defaults__, shared.__closure__
        )
        own.__kwdefaults__, own.__doc__ = shared.__kwdefaults__, shared.__doc__
        own.__annotations__, own.__module__ = shared.__annotations__, shared.__module__
        own.__qualname__ = f"{kind.__name__}.{name}"
        setattr(kind, name, own)
    return kind


class Configured(Module):
    """A module whose settings are declared, in the order of PyTorch's arguments.

    `FUNCTION` is the name in torch.nn.functional; `PASSED` the settings it is called with, by
    keyword; `SHOWN` the settings that the printed form lists.
    """

    SETTINGS: tuple[tuple[str, Any], ...] = ()
    FUNCTION: str = ""
    PASSED: tuple[str, ...] = ()
    SHOWN: tuple[str, ...] = ()
    INPUTS: tuple[str, ...] = ("input",)  # what forward calls its arguments

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for name, value in self._bound(args, kwargs).items():
            setattr(self, name, value)
        self._settle()

    def _settle(self) -> None:
        """What a class still has to do once its settings are there."""

    @classmethod
    def _bound(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [name for name, _ in cls.SETTINGS]
        call = f"{cls.__name__}.__init__()"
        if len(args) > len(names):
            least = 1 + sum(default is REQUIRED for _, default in cls.SETTINGS)
            most = len(names) + 1
            span = f"{most}" if least == most else f"from {least} to {most}"
            noun = "argument" if most == 1 else "arguments"
            raise TypeError(f"{call} takes {span} positional {noun} but {len(args) + 1} were given")
        values = dict(cls.SETTINGS)
        values.update(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in values:
                raise TypeError(f"{call} got an unexpected keyword argument '{name}'")
            if name in names[: len(args)]:
                raise TypeError(f"{call} got multiple values for argument '{name}'")
            values[name] = value
        _require(call, [name for name in names if values[name] is REQUIRED])
        return values

    def forward(self, *inputs: Any, **named: Any) -> Any:
        kind = type(self)
        if named or len(inputs) != len(kind.INPUTS) or not kind.FUNCTION:
            if not kind.FUNCTION:
                return super().forward(*inputs, **named)  # PyTorch's has no forward
            inputs = kind._placed(inputs, named)
        options = {name: getattr(self, name) for name in kind.PASSED}
        return function(kind.FUNCTION)(*inputs, **options)

    @classmethod
    def _placed(cls, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        owner = next(kind for kind in cls.__mro__ if "FUNCTION" in kind.__dict__)
        call, names = f"{owner.__name__}.forward()", cls.INPUTS
        for name in named:
            if name not in names:
                raise TypeError(f"{call} got an unexpected keyword argument '{name}'")
            if name in names[: len(inputs)]:
                raise TypeError(f"{call} got multiple values for argument '{name}'")
        if len(inputs) > len(names):
            given = len(inputs) + 1
            raise TypeError(
                f"{call} takes {len(names) + 1} positional arguments but {given} were given"
            )
        _require(call, [name for name in names[len(inputs) :] if name not in named])
        return (*inputs, *(named[name] for name in names[len(inputs) :]))

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in type(self).SHOWN)
