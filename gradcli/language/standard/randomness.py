"""language: random: Python's own stream, bit for bit; without a seed the same on every run."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import isfinite
from typing import Any

from ...engine.schema.run_state import run_state
from ..operations import collect, get_item, length, set_item, type_name
from ..session import session
from .publishing import classes, functions

DEFAULT_SEED = 0  # where Python asks the operating system
# Of numbers alone, these are Python's own methods.
OF_NUMBERS = (
    "random uniform triangular gauss normalvariate lognormvariate expovariate vonmisesvariate "
    "gammavariate betavariate paretovariate weibullvariate"
).split()
UNTIL_ONE_FITS = frozenset(("gammavariate", "betavariate", "vonmisesvariate"))
WORD = 30  # bits of a number that a step draws


class Random:
    """random.Random: a stream of its own."""

    _torch_name = "random.Random"
    PUBLIC = (
        *OF_NUMBERS, "seed", "getstate", "setstate", "getrandbits", "randrange", "randint",
        "choice", "choices", "shuffle", "sample",
    )  # fmt: skip

    __slots__ = ("_stream",)

    def __init__(self, x: Any = None) -> None:
        self._stream = random.Random(DEFAULT_SEED)
        self.seed(x)

    def seed(self, a: Any = None, version: int = 2) -> None:
        if a is not None and type(a) not in (int, float, bool, str):
            raise TypeError(
                "The only supported seed types are: None,\nint, float, str, bytes, and bytearray."
            )
        self._stream.seed(DEFAULT_SEED if a is None else a, version)

    def getstate(self) -> Any:
        return self._stream.getstate()

    def setstate(self, state: Any) -> None:
        self._stream.setstate(state)

    def getrandbits(self, k: int) -> int:
        session.budget.charge_bytes(max(k, 0) >> 3)
        session.budget.charge(max(k, 0) // WORD)
        return self._stream.getrandbits(k)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return self._stream.randrange(*([start] if stop is None else [start, stop, step]))

    def randint(self, a: int, b: int) -> int:
        return self._stream.randint(a, b)

    def choice(self, seq: Any) -> Any:
        size = length(seq)
        if not size:
            raise IndexError("Cannot choose from an empty sequence")
        return get_item(seq, self._stream.choice(range(size)))

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        session.budget.charge_bytes(8 * max(k, 0))
        session.budget.charge(max(k, 0))
        given = [None if values is None else collect(values) for values in (weights, cum_weights)]
        places = self._stream.choices(
            range(length(population)), given[0], cum_weights=given[1], k=k
        )
        return [get_item(population, place) for place in places]

    def shuffle(self, x: Any) -> None:
        if type(x) is list:
            session.budget.charge(2 * len(x) + 1)
            order = list(range(len(x)))
            self._stream.shuffle(order)
            x[:] = [x[place] for place in order]
            return
        for place in reversed(range(1, length(x))):  # as Python does with what is no list
            session.budget.charge(1)
            other = self._stream.randrange(place + 1)
            kept = get_item(x, place)
            set_item(x, place, get_item(x, other))
            set_item(x, other, kept)

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        kind = type_name(population)
        if not isinstance(population, list | tuple | str | range) and kind != "deque":
            raise TypeError(
                "Population must be a sequence.  For dicts or sets, use sorted(d)."
                if kind in ("set", "frozenset", "dict")
                else f"Population must be a sequence, not {kind}"
            )
        session.budget.charge(max(k, 0))
        if counts is not None:
            population = [
                item
                for item, count in zip(population, collect(counts), strict=True)
                for _ in collect(range(count))
            ]
        places = self._stream.sample(range(length(population)), k)
        return [get_item(population, place) for place in places]


def _of_numbers(name: str) -> Callable[..., float]:
    def draw(self: Random, *args: Any, **kwargs: Any) -> float:
        for value in (*args, *kwargs.values()):
            if type(value) not in (int, float, bool):
                raise TypeError(f"must be real number, not {type_name(value)}")
            if name in UNTIL_ONE_FITS and not isfinite(2.0 * value):
                session.budget.charge(session.budget.max_steps)  # none does: Python never ends
        return method(self._stream, *args, **kwargs)

    method = getattr(random.Random, name)
    return draw


for _name in OF_NUMBERS:
    setattr(Random, _name, _of_numbers(_name))


class _Module:
    """The stream of the functions of the module."""

    __slots__ = ("stream",)

    def __init__(self) -> None:
        self.stream = Random()


module = run_state(_Module())


def _of_module(name: str) -> Callable[..., Any]:
    method = getattr(Random, name)
    return lambda *args, **kwargs: method(module.stream, *args, **kwargs)


MODULES = {
    "random": {
        **functions({name: _of_module(name) for name in Random.PUBLIC}),
        **classes([Random]),
    }
}
