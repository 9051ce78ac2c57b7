"""Library: modules that store settings and pass them to one function."""

from __future__ import annotations

from typing import Any

from ..operators import catalogue
from .module import Module

REQUIRED: Any = object()


def function(name: str) -> Any:
    """A function of torch.nn.functional."""
    return catalogue.functions["nn.functional." + name]


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
        missing = [f"'{name}'" for name in names if values[name] is REQUIRED]
        if missing:
            noun = "argument" if len(missing) == 1 else "arguments"
            listed = missing[0]
            if len(missing) == 2:
                listed = " and ".join(missing)
            elif len(missing) > 2:
                listed = ", ".join(missing[:-1]) + ", and " + missing[-1]
            raise TypeError(f"{call} missing {len(missing)} required positional {noun}: {listed}")
        return values

    def forward(self, *inputs: Any, **named: Any) -> Any:
        kind = type(self)
        if named:
            inputs = kind._placed(inputs, named)
        options = {name: getattr(self, name) for name in kind.PASSED}
        return function(kind.FUNCTION)(*inputs, **options)

    @classmethod
    def _placed(cls, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        call, names = f"{cls.__name__}.forward()", cls.INPUTS
        for name in named:
            if name not in names:
                raise TypeError(f"{call} got an unexpected keyword argument '{name}'")
            if name in names[: len(inputs)]:
                raise TypeError(f"{call} got multiple values for argument '{name}'")
        missing = [f"'{name}'" for name in names[len(inputs) :] if name not in named]
        if missing:
            noun = "argument" if len(missing) == 1 else "arguments"
            listed = " and ".join(missing)
            raise TypeError(f"{call} missing {len(missing)} required positional {noun}: {listed}")
        return (*inputs, *(named[name] for name in names[len(inputs) :]))

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in type(self).SHOWN)
