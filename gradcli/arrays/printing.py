"""arrays: how NumPy prints an array, under the options that the program has set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from ..engine.schema.mode import state
from ..engine.schema.run_state import run_state
from .extents import number
from .payment import pay
from .values import Array, Number, host, wrap

OPTIONS = frozenset((
    "precision threshold edgeitems linewidth suppress nanstr infstr sign formatter floatmode"
).split())  # fmt: skip
MOST_DIGITS = 1100  # more than a number of 8 bytes has
MOST_LETTERS = 100
LONGEST = 1 << 20  # of a line
PRINTED = 64  # bytes of text that an element becomes, and more than the steps it takes


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
    _check_lengths(found)
    if formatter is not None:
        if not isinstance(formatter, dict):
            raise TypeError("formatter is a dictionary of functions")
        found["formatter"] = {name: _formatter(made) for name, made in formatter.items()}
    elif "formatter" in others:
        found["formatter"] = None
    with numpy.printoptions(**found):  # NumPy looks at the values, and has words for wrong ones
        pass
    return found


def _check_lengths(found: dict[str, Any]) -> None:
    """What each printed element may be as long as."""
    if number(found.get("precision")) > MOST_DIGITS or number(found.get("linewidth")) > LONGEST:
        raise ValueError(f"precision is at most {MOST_DIGITS} here, linewidth {LONGEST}")
    if any(type(value) is str and len(value) > MOST_LETTERS for value in found.values()):
        raise ValueError(f"texts of the options have at most {MOST_LETTERS} characters here")


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

    _torch_name = "numpy.printoptions"
    PUBLIC: tuple[str, ...] = ()

    def __init__(self, precision: Any = None, threshold: Any = None, **others: Any) -> None:
        self._asked = _checked(precision, threshold, others)
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> dict[str, Any]:
        self._before.append(options.changed)
        options.changed = {**options.changed, **self._asked}
        return get_printoptions()

    def __exit__(self, *error: object) -> None:
        options.changed = self._before.pop()


Printing.__name__ = Printing.__qualname__ = "printoptions"


@contextmanager
def _printing(array: Any) -> Iterator[None]:
    """The options in force; what will be printed is paid."""
    changed = options.changed
    edge = 2 * abs(number(changed.get("edgeitems", 3))) + 1
    shown = array.size
    if array.size > number(changed.get("threshold", 1000)):
        shown = min(shown, math.prod(min(length, edge) for length in array.shape))
    wide = max(PRINTED, array.dtype.itemsize, number(changed.get("precision", 8)))
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


def array2string(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None,
    separator: Any = " ", prefix: Any = "", *, formatter: Any = None, threshold: Any = None,
    edgeitems: Any = None, suffix: Any = "", sign: Any = None, floatmode: Any = None,
) -> str:  # fmt: skip
    """np.array2string: the text of an array under options of its own."""
    for value in (separator, prefix, suffix):
        if type(value) is not str or len(value) > MOST_LETTERS:
            raise ValueError(f"separator, prefix and suffix have at most {MOST_LETTERS} letters")
    asked = {
        "linewidth": max_line_width, "precision": precision, "suppress": suppress_small,
        "threshold": threshold, "edgeitems": edgeitems, "sign": sign, "floatmode": floatmode,
    }  # fmt: skip
    if formatter is not None:
        asked["formatter"] = formatter
    array = numpy.asarray(host(a))
    given = {name: value for name, value in asked.items() if value is not None}
    with Printing(**given), _printing(array):
        return numpy.array2string(array, separator=separator, prefix=prefix, suffix=suffix)


def array_str(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """np.array_str: what str gives."""
    return _formatted(_text, a, max_line_width, precision, suppress_small)


def array_repr(
    arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """np.array_repr: what repr gives."""
    return _formatted(_represented, arr, max_line_width, precision, suppress_small)


def _formatted(say: Any, value: Any, linewidth: Any, precision: Any, suppress: Any) -> str:
    asked = {"linewidth": linewidth, "precision": precision, "suppress": suppress}
    with Printing(**{name: option for name, option in asked.items() if option is not None}):
        said: str = say(wrap(numpy.asarray(host(value))))
    return said


def _number(say: Callable[..., Any], x: Any, precision: Any, unique: Any, options: Any) -> str:
    number = numpy.asarray(host(x))
    if number.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    for value in (precision, *options.values()):
        if type(value) is int and value > MOST_LETTERS:
            raise ValueError(f"a number has at most {MOST_LETTERS} digits here")
    return str(say(number[()], precision, bool(unique), **options))


def format_float_positional(
    x: Any, precision: Any = None, unique: Any = True, **options: Any
) -> str:
    """np.format_float_positional: all digits, no exponent."""
    return _number(numpy.format_float_positional, x, precision, unique, options)


def format_float_scientific(
    x: Any, precision: Any = None, unique: Any = True, **options: Any
) -> str:
    """np.format_float_scientific"""
    return _number(numpy.format_float_scientific, x, precision, unique, options)


def attach() -> None:
    for kind in (Array, Number):
        kind.__repr__ = _represented  # type: ignore[method-assign]
        kind.__str__ = _text  # type: ignore[method-assign]
