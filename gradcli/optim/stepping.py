"""Library: what surrounds a step, whichever class wrote it: hooks, and word that it runs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from ..engine.schema.errors import type_name
from ..engine.schema.mode import state
from ..engine.schema.run_state import run_state
from ..nn.registered import typename

MADE: set[type] = run_state(set())  # classes of which there was an optimizer


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step with the hooks of its optimizer around it.

    One that another step calls has none, except where PyTorch had wrapped it for an optimizer of
    the class above.
    """

    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        inner = self._running_steps
        if inner and not _is_wrapped_above(self, run):
            return step(self, *args, **kwargs)
        if not inner:
            self._stepped = True
            if state.observer is not None:
                state.observer.stepping(self)
        self._running_steps = inner + 1
        try:
            if not self._pre_hooks and not self._post_hooks:
                return step(self, *args, **kwargs)
            return _with_hooks(self, step, (self, *args), kwargs)
        finally:
            self._running_steps = inner

    return run


def renamed(function: Any, name: str) -> Any:
    """The same function under another name, which errors of a wrong call say."""
    twin = types.FunctionType(function.__code__, function.__globals__, function.__name__)
    twin.__defaults__, twin.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    twin.__qualname__, twin.__doc__ = name, function.__doc__
    return twin


def _is_wrapped_above(optimizer: Any, step: Callable[..., Any]) -> bool:
    above = type(optimizer).__mro__[1:]
    return any(kind in MADE and getattr(kind, "step", None) is step for kind in above)


def _with_hooks(
    optimizer: Any, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    for hook in list(optimizer._pre_hooks.values()):
        new = hook(optimizer, args, kwargs)
        if new is None:
            continue
        if not isinstance(new, tuple) or len(new) != 2:
            name = type(optimizer).__name__
            raise RuntimeError(
                f"<function {name}.step at {id(step):#x}> must return None or a tuple of "
                f"(new_args, new_kwargs), but got {new}."
            )
        args, kwargs = _arguments(optimizer, *new)
    answer = step(*args, **kwargs)
    for hook in list(optimizer._post_hooks.values()):
        hook(optimizer, args, kwargs)
    return answer


def _arguments(optimizer: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a hook gives in the place of a step's arguments, the optimizer among them."""
    name = f"{typename(optimizer)}.step()"
    if not isinstance(kwargs, dict):
        raise TypeError(f"{name} argument after ** must be a mapping, not {type_name(kwargs)}")
    if not isinstance(args, tuple | list):
        raise TypeError(f"{name} argument after * must be an iterable, not {type_name(args)}")
    if not args:
        raise TypeError(f"{name} missing 1 required positional argument: 'self'")
    if not isinstance(args[0], type(optimizer)):
        raise AttributeError(f"'{type_name(args[0])}' object has no attribute 'param_groups'")
    if not all(isinstance(word, str) for word in kwargs):
        raise TypeError("keywords must be strings")
    return tuple(args), kwargs
