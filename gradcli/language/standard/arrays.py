"""language: numpy for programs; loaded with the first array."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ...arrays.names import resolve
from ...arrays.values import CONCRETE, Array, Number, host, number_class, wrap
from ..adoption import adopting
from ..builtins.types import CONSTRUCTIBLE, OF_PYTHON, custom_isinstance, host_type
from ..libraries import NUMBERS
from ..members import members_of_type
from ..modules import ARRAY_FILES, MODULES as TABLE
from ..values import Builtin, Type

NUMBERS.update((Array, *map(number_class, CONCRETE)))
# NumPy's classes that are Python's too: np.float64(1) is a float.
PYTHONS = {number_class(kind): OF_PYTHON[kind.__mro__[-2]] for kind in CONCRETE
           if kind.__mro__[-2] in (float, complex)}  # fmt: skip


def numpy_value(name: str) -> Any:
    """The value behind a dotted name below numpy."""
    found = resolve(name)
    if isinstance(found, type):
        if not issubclass(found, Number | Exception):
            CONSTRUCTIBLE.add(found)
        return host_type(found)
    if isinstance(found, FunctionType):
        last = name.rpartition(".")[2]
        return Builtin(last, adopting(found), f"<function {last}>")
    return found


def array_value(array: Any) -> Any:
    """An array of the library's."""
    return wrap(array)


def _is_python(value: Any, kind: Any) -> bool | None:
    """isinstance(np.float64(1), float)"""
    if type(kind) is not Type or not isinstance(value, Number):
        return None
    return True if PYTHONS.get(type(value)) is kind else None


def _set_shape(array: Array, shape: Any) -> None:
    array.array.shape = host(shape)


custom_isinstance.append(_is_python)
members_of_type(Array).settable["shape"] = _set_shape


class _Names:
    """The names of numpy, or of a module below it, each made on demand."""

    def __init__(self, home: str) -> None:
        self.home = home

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE[self.home].names)

    def __getitem__(self, name: str) -> Any:
        if self.home == "numpy" and name in ARRAY_FILES:
            from .stored import ARRAYS

            return ARRAYS[name]
        return numpy_value(f"{self.home}.{name}".removeprefix("numpy."))


MODULES = {home: _Names(home) for home in TABLE if home.partition(".")[0] == "numpy"}
