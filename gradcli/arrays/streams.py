"""arrays: numpy.random: the legacy stream, which np.random.seed sets, and generators.

Without a seed NumPy asks the system for one; here the numbers are the same on every run.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from ..engine.schema.run_state import run_state
from .costs import COSTS
from .functions import Signature, converted, run
from .payment import pay
from .table import LEGACY, MODERN, Row, rows
from .values import Array, host, wrap

WORDS = 624  # of the state of the Mersenne twister
CHILD = 4096  # bytes of a generator, and more than the steps it takes


class Stream:
    """A source of random numbers; its methods are attached below."""

    __slots__ = ("source",)
    PUBLIC: tuple[str, ...] = ()

    def __copy__(self) -> Any:
        raise TypeError("a stream of random numbers can't be copied here")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()


class _Legacy:
    """The stream behind np.random.rand and its like, and how many seeds were made up."""

    __slots__ = ("made_up", "stream")

    def __init__(self) -> None:
        self.stream: RandomState | None = None
        self.made_up = 0


legacy = run_state(_Legacy())


def _seed(given: Any) -> Any:
    """What NumPy takes for a seed; none is made up, the next one each time."""
    if given is None:
        legacy.made_up += 1
        return legacy.made_up - 1
    return host(given)


class RandomState(Stream):
    """numpy.random.RandomState"""

    __slots__ = ()
    _torch_name = "numpy.random.RandomState"

    def __init__(self, seed: Any = None) -> None:
        self.source = numpy.random.RandomState(_seed(seed))

    def seed(self, seed: Any = None) -> None:
        self.source.seed(_seed(seed))

    def get_state(self, legacy: Any = True) -> Any:
        return wrap(tuple(self.source.get_state()))

    def set_state(self, state: Any) -> None:
        """NumPy trusts the numbers, so they are looked at here."""
        name, words, place, has_spare, spare = [*host(tuple(state)), 0, 0.0][:5]
        words = numpy.asarray(words)
        fits = words.shape == (WORDS,) and words.dtype.kind in "iu"
        # Of zeros alone come zeros for ever, and some methods draw until they have something else.
        fits = fits and bool(words[1:].any())
        if not fits or name != "MT19937" or not 0 <= operator.index(place) <= WORDS:
            raise ValueError("set_state takes what get_state gave")
        words = words.astype("uint32")
        self.source.set_state((name, words, int(place), int(bool(has_spare)), float(spare)))

    def __repr__(self) -> str:
        return "RandomState(MT19937)"


class Generator(Stream):
    """numpy.random.Generator"""

    __slots__ = ()
    _torch_name = "numpy.random.Generator"

    def __init__(self, seed: Any = None) -> None:
        self.source = numpy.random.default_rng(_seed(seed))

    def spawn(self, n_children: Any) -> Any:
        many = operator.index(host(n_children))
        pay(CHILD * many, CHILD * many)
        return [_generator(source) for source in self.source.spawn(many)]

    def __repr__(self) -> str:
        return "Generator(PCG64)"


Generator.__name__ = "numpy.random._generator.Generator"  # in Python's own messages


def _generator(source: Any) -> Any:
    made = object.__new__(Generator)
    made.source = source
    return made


def default_rng(seed: Any = None) -> Any:
    """np.random.default_rng"""
    return seed if isinstance(seed, Generator | RandomState) else Generator(seed)


def current() -> RandomState:
    """The stream of np.random's own functions."""
    if legacy.stream is None:
        legacy.stream = RandomState(None)
    return legacy.stream


def _method(row: Row) -> Callable[..., Any]:
    signature, cost, name = Signature(row.name, row.parameters), COSTS[row.cost], row.name

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = signature.bind(args, kwargs)
        if name == "shuffle":
            return _shuffle(self.source, cost, given)
        return wrap(run(getattr(self.source, name), signature, cost, converted(given)))

    method.__name__ = method.__qualname__ = name
    return method


def _shuffle(source: Any, cost: Callable[..., None], given: dict[str, Any]) -> None:
    """In place: an array, or a list of any values."""
    target = given["x"]
    if type(target) is list:
        cost({"x": target})
        source.shuffle(target)
    elif isinstance(target, Array):
        cost({"x": target.array})
        source.shuffle(target.array, *[host(given[name]) for name in ("axis",) if name in given])
    else:
        raise TypeError("shuffle takes an array or a list here")


def attach() -> None:
    """The rows of the table as methods."""
    for kind, text, more in (
        (RandomState, LEGACY, ("seed", "get_state", "set_state")), (Generator, MODERN, ("spawn",)),
    ):  # fmt: skip
        for name, row in rows(text).items():
            setattr(kind, name, _method(row))
        kind.PUBLIC = (*rows(text), *more)


def function(name: str) -> Callable[..., Any]:
    """np.random.<name>: the same method of the current stream."""

    def call(*args: Any, **kwargs: Any) -> Any:
        stream = current()
        return getattr(stream, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call
