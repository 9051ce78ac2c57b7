"""arrays: np.finfo, np.iinfo, and the switches of NumPy's warnings."""

from __future__ import annotations

from typing import Any

import numpy

from ..engine.schema.run_state import run_state
from .values import element_type, wrap

WORDS = ("ignore", "warn", "raise", "call", "print", "log")
KINDS = ("divide", "over", "under", "invalid")


class finfo:
    """np.finfo(dtype): the limits of a type of floating numbers."""

    __slots__ = ("_of",)
    _torch_name = "numpy.finfo"
    PUBLIC = ("bits", "dtype", "eps", "epsneg", "max", "min", "resolution", "smallest_normal",
              "smallest_subnormal", "tiny", "precision")  # fmt: skip

    def __init__(self, dtype: Any) -> None:
        self._of = numpy.finfo(element_type(dtype))

    bits = property(lambda self: wrap(self._of.bits))
    dtype = property(lambda self: wrap(self._of.dtype))
    eps = property(lambda self: wrap(self._of.eps))
    epsneg = property(lambda self: wrap(self._of.epsneg))
    max = property(lambda self: wrap(self._of.max))
    min = property(lambda self: wrap(self._of.min))
    precision = property(lambda self: wrap(self._of.precision))
    resolution = property(lambda self: wrap(self._of.resolution))
    smallest_normal = property(lambda self: wrap(self._of.smallest_normal))
    smallest_subnormal = property(lambda self: wrap(self._of.smallest_subnormal))
    tiny = property(lambda self: wrap(self._of.tiny))

    def __repr__(self) -> str:
        return repr(self._of)

    def __str__(self) -> str:
        return str(self._of)


class iinfo:
    """np.iinfo(dtype): the limits of a type of integers."""

    __slots__ = ("_of",)
    _torch_name = "numpy.iinfo"
    PUBLIC = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: Any) -> None:
        self._of = numpy.iinfo(element_type(dtype))

    bits = property(lambda self: wrap(self._of.bits))
    dtype = property(lambda self: wrap(self._of.dtype))
    max = property(lambda self: int(self._of.max))
    min = property(lambda self: int(self._of.min))

    def __repr__(self) -> str:
        return repr(self._of)

    def __str__(self) -> str:
        return str(self._of)


class _Errors:
    """The arguments of np.seterr: it returns them; of them only "raise" has an effect."""

    __slots__ = ("asked", "raised")

    def __init__(self) -> None:
        self.asked = dict.fromkeys(KINDS, "warn") | {"under": "ignore"}
        self.raised: dict[str, str] | None = None  # for numpy.errstate, where anything raises

    def ask(self, words: dict[str, str]) -> None:
        self.asked = words
        raised = {kind: word for kind, word in words.items() if word == "raise"}
        self.raised = {"all": "ignore", **raised} if raised else None


errors = run_state(_Errors())


def computed(compute: Any, *args: Any, **options: Any) -> Any:
    """The call of a function of NumPy's, which fails where the program asked for that."""
    if errors.raised is None:
        return compute(*args, **options)
    with numpy.errstate(**errors.raised):  # type: ignore[arg-type]
        return compute(*args, **options)


def seterr(all: Any = None, **kinds: Any) -> dict[str, str]:
    """np.seterr: what it answers are the settings before."""
    before = dict(errors.asked)
    errors.ask({**before, **_requested_kinds(all, kinds)})
    return before


def geterr() -> dict[str, str]:
    return dict(errors.asked)


def _requested_kinds(every: Any, kinds: dict[str, Any]) -> dict[str, str]:
    requested = {} if every is None else dict.fromkeys(KINDS, every)
    for name, word in kinds.items():
        if name not in KINDS:
            raise TypeError(f"seterr() got an unexpected keyword argument '{name}'")
        if word is not None:
            requested[name] = word
    for word in requested.values():
        if word not in WORDS:
            raise ValueError(f"invalid error mode {word!r}")
    return requested


class Errstate:
    """np.errstate(divide="ignore"): settings that hold within a `with`."""

    _torch_name = "numpy.errstate"
    PUBLIC: tuple[str, ...] = ()

    def __init__(self, *, all: Any = None, **kinds: Any) -> None:
        self._requested_kinds = _requested_kinds(all, kinds)
        self._before: list[dict[str, str]] = []

    def __enter__(self) -> None:
        self._before.append(errors.asked)
        errors.ask({**errors.asked, **self._requested_kinds})

    def __exit__(self, *error: object) -> None:
        errors.ask(self._before.pop())


Errstate.__name__ = Errstate.__qualname__ = "errstate"
