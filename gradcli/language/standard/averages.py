"""language: statistics."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from ..builtins.mathematics import number
from ..builtins.types import host_type
from ..costs import charge_keys
from ..operations import collect
from ..session import session
from .publishing import functions


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(data: Any, *args: Any, **kwargs: Any) -> Any:
        values = [number(value) for value in collect(data)]
        session.budget.charge(4 * len(values))
        try:
            return function(values, *args, **kwargs)
        except statistics.StatisticsError as error:
            raise StatisticsError(str(error)) from None

    return run


def _keys(data: Any) -> list[Any]:
    """What is counted by its hash."""
    values = collect(data)
    charge_keys(values)
    return values


class StatisticsError(ValueError):
    _torch_name = "statistics.StatisticsError"


OF_NUMBERS = (
    "mean fmean median median_low median_high stdev pstdev variance pvariance harmonic_mean "
    "geometric_mean quantiles"
)
MODULES: dict[str, dict[str, Any]] = {
    "statistics": {
        **functions({name: _of_numbers(getattr(statistics, name)) for name in OF_NUMBERS.split()}),
        **functions({
            "mode": lambda data: statistics.mode(_keys(data)),
            "multimode": lambda data: statistics.multimode(_keys(data)),
        }),
        "StatisticsError": host_type(StatisticsError),
    }
}  # fmt: skip
