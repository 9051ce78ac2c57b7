"""Questions: the options of `gradcli check`: one object for all programs of a call."""

from __future__ import annotations

from ...named import NamedTuple
from ...pipeline.request import Limits
from .numeric.points import Tolerance


class CheckOptions(NamedTuple):
    """What every program of a call is checked for."""

    limits: Limits = Limits()
    sets: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()
    device: str = "cpu"
    dtype: str | None = None
    tolerance: Tolerance = Tolerance()
    fail_on: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    update: bool = False
    against: str | None = None
    gradients: bool = True
    several: bool = False  # --set may name inputs that only some of the programs have
    require_record: bool = False
    require_gradient: bool = False
    repeat: int = 1  # times that the program runs, to give the same bits
    engine: str = "own"
    arguments: tuple[str, ...] = ()  # of a program that Python runs
