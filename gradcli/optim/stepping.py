"""Library: what surrounds a step, whichever class wrote it: hooks, and word that it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.mode import state
from ..engine.run_state import run_state

MADE: set[type] = run_state(set())  # classes of which there was an optimizer


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step with the hooks of its optimizer around it.

    One that another step calls has none, except where PyTorch had wrapped it for an optimizer of
    the class above.
    """

    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        inner = self._running_steps
        above = type(self).__mro__[1:]
        if inner and not any(kind in MADE and getattr(kind, "step", None) is run for kind in above):
            return step(self, *args, **kwargs)
        if not inner:
            self._stepped = True
            if state.observer is not None:
                state.observer.stepping(self)
        self._running_steps = inner + 1
        try:
            return _with_hooks(self, step, (self, *args), kwargs)
        finally:
            self._running_steps = inner

    return run


def _with_hooks(
    optimizer: Any, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    for hook in list(optimizer._pre_hooks.values()):
        new = hook(optimizer, args, kwargs)
        if new is None:
            continue
        if not isinstance(new, tuple) or len(new) != 2:
            raise RuntimeError(
                f"{step} must return None or a tuple of (new_args, new_kwargs), but got {new}."
            )
        args, kwargs = new
    answer = step(*args, **kwargs)
    for hook in list(optimizer._post_hooks.values()):
        hook(optimizer, args, kwargs)
    return answer
