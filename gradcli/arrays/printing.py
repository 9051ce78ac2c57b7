"""arrays: how NumPy prints an array, under the options that the program has set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from ..engine.mode import state
from ..engine.run_state import run_state
from .costs import PRINTED, pay
from .values import Array, Number, host, wrap

OPTIONS = frozenset((
    "precision threshold edgeitems linewidth suppress nanstr infstr sign formatter floatmode"
).split())  # fmt: skip
MOST_DIGITS = 1100  # more than a number of 8 bytes has
LONGEST_LINE = 1 << 20


class _Options:
    """What np.set_printoptions has changed."""

    __slots__ = ("changed",)

    def __init__(self) -> None:
        self.changed: dict[str, Any] = {}


options = run_state(_Options())


def set_printoptions(precision: Any = None, threshold: Any = None, **others: Any) -> None:
    """np.set_printoptions; what is None stays."""
    options.changed = {**options.changed, **_checked(precision, threshold, others)}


def _checked(precision: Any, threshold: Any, others: dict[str, Any]) -> dict[str, Any]:
    given = {"precision": precision, "threshold": threshold, **others}
    for name in given:
        if name not in OPTIONS:
            raise TypeError(f"set_printoptions() got an unexpected keyword argument '{name}'")
    formatter = given.pop("formatter", None)
    found = {name: host(value) for name, value in given.items() if value is not None}
    if (
        _whole(found.get("precision")) > MOST_DIGITS
        or _whole(found.get("linewidth")) > LONGEST_LINE
    ):
        raise ValueError(f"precision is at most {MOST_DIGITS} here, linewidth {LONGEST_LINE}")
    if formatter is not None:
        found["formatter"] = {name: _formatter(made) for name, made in formatter.items()}
    elif "formatter" in others:
        found["formatter"] = None
    with numpy.printoptions(**found):  # NumPy looks at the values, and has words for wrong ones
        pass
    return found


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | numpy.integer) else 0


def _formatter(function: Any) -> Any:
    """A function of the program that says an element."""

    def say(element: Any) -> str:
        return str(function(wrap(element)))

    return say


def get_printoptions() -> dict[str, Any]:
    with numpy.printoptions(**options.changed):
        found = dict(numpy.get_printoptions())
    return {name: found[name] for name in sorted(OPTIONS) if name in found and name != "formatter"}


class Printing:
    """np.printoptions(...): options that hold within a `with`."""

    torch_name = "numpy.printoptions"
    PUBLIC: tuple[str, ...] = ()

    def __init__(self, precision: Any = None, threshold: Any = None, **others: Any) -> None:
        self._asked = _checked(precision, threshold, others)
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> dict[str, Any]:
        self._before.append(options.changed)
        options.changed = {**options.changed, **self._asked}
        return get_printoptions()

    def __exit__(self, *error: Any) -> None:
        options.changed = self._before.pop()


@contextmanager
def _printing(array: Any) -> Iterator[None]:
    """The options in force; what will be printed is paid."""
    changed = options.changed
    edge = 2 * abs(_whole(changed.get("edgeitems", 3))) + 1
    shown = array.size
    if array.size > _whole(changed.get("threshold", 1000)):
        shown = min(shown, math.prod(min(length, edge) for length in array.shape))
    wide = max(PRINTED, array.dtype.itemsize, _whole(changed.get("precision", 8)))
    state.charge(8 * shown)
    pay(array.size if shown < array.size else 0, wide * shown)
    with numpy.printoptions(**changed):
        yield


def _represented(self: Any) -> str:
    with _printing(self.array):
        return repr(self.array)


def _text(self: Any) -> str:
    with _printing(self.array):
        return str(self.array)


def attach() -> None:
    for kind in (Array, Number):
        kind.__repr__ = _represented  # type: ignore[method-assign, assignment]
        kind.__str__ = _text  # type: ignore[method-assign, assignment]
