"""arrays: np.add and its like: functions that work element by element, with four methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .costs import COSTS
from .extents import count, width
from .functions import Signature, converted, function, numpys_own, run
from .operators import index_of, selected
from .payment import pay
from .table import ONE, TWO, UFUNC, rows
from .values import Array, host, wrap

UFUNCS = frozenset((ONE + TWO).split())


class Ufunc:
    """numpy.ufunc"""

    __slots__ = ("call", "name", "own")
    _torch_name = "numpy.ufunc"
    PUBLIC: tuple[str, ...] = ("at", "nin", "nout")

    def __init__(self, name: str) -> None:
        if name not in UFUNCS:
            raise TypeError("cannot create 'numpy.ufunc' instances")
        self.name = name
        self.own: Any = numpys_own(numpy, name)
        self.call = function(name)

    def __reduce__(self) -> str:
        return self.name  # a copy is the same object

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """In place, an element as often as it is named."""
        if type(a) is not Array:
            raise TypeError("first operand must be array")
        place, other = index_of(indices), () if b is None else (host(b),)
        many = selected(a.array, place) or a.array.size
        pay(64 * many, 4 * many * width(a.array))
        self.own.at(a.array, place, *other)

    nin = property(lambda self: self.own.nin)
    nout = property(lambda self: self.own.nout)

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"


Ufunc.__name__ = Ufunc.__qualname__ = "numpy.ufunc"
Ufunc.__init__.__qualname__ = "numpy.ufunc.__init__"


def _method(name: str, parameters: str, cost: str) -> Callable[..., Any]:
    signature, charge = Signature(name, parameters), COSTS[cost]

    def method(self: Ufunc, /, *args: Any, **kwargs: Any) -> Any:
        given = converted(signature.bind(args, kwargs))
        pay(0, count(given.get("a", ())) * 8)
        return wrap(run(numpys_own(self.own, name), signature, charge, given))

    method.__name__ = method.__qualname__ = name
    return method


def attach() -> None:
    """The methods of the table."""
    for name, row in rows(UFUNC).items():
        setattr(Ufunc, name, _method(name, row.parameters, row.cost))
    Ufunc.PUBLIC = (*Ufunc.PUBLIC, *rows(UFUNC))
