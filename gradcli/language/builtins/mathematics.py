"""language: the functions of math."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from ..arithmetic import multiply
from ..costs import BIG, charge_division, charge_integer
from ..libraries import NUMBERS, TENSORS
from ..modules import MODULES as TABLE
from ..operations import collect, type_name
from ..session import session
from ..values import Builtin

CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}


def number(value: Any) -> Any:
    """A real number for a function of math: plain, or a tensor with one element."""
    if type(value) in (int, float, bool):
        return value
    if type(value) in TENSORS or type(value) in NUMBERS:
        return float(value)
    raise TypeError(f"must be real number, not {type_name(value)}")


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        for value in args:
            if type(value) is int and value.bit_length() > BIG:
                charge_integer(value.bit_length())
        return function(*[number(value) for value in args])

    return run


def _factorial(n: Any) -> int:
    if type(n) is int and n > 100:
        charge_integer(n * n.bit_length())
    return math.factorial(n)


def _counted(function: Callable[[int, int], int]) -> Callable[..., int]:
    def run(n: Any, k: Any = None) -> int:
        if k is None:
            k = n
        if type(n) is int and type(k) is int and n > 100:
            charge_integer(n.bit_length() * min(abs(k), abs(n - k) or n) * 2)
        return function(n, k)

    return run


def _over(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def run(items: Any, **options: Any) -> Any:
        return function([number(value) for value in collect(items)], **options)

    return run


def _product(items: Any, *, start: Any = 1) -> Any:
    total = start
    for value in collect(items):
        session.budget.charge(1)
        total = multiply(total, number(value))
    return total


def _folded(function: Callable[..., int]) -> Callable[..., int]:
    """gcd and lcm: by pairs, each as long as division takes; the result of lcm grows."""

    def run(*integers: Any) -> int:
        total = function()
        for value in integers:
            session.budget.charge(1)
            value = number(value)
            charge_division(total, value)
            if type(total) is int and type(value) is int:
                charge_integer(total.bit_length() + value.bit_length())
            total = function(total, value)
        return total

    return run


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    return math.isclose(number(a), number(b), rel_tol=rel_tol, abs_tol=abs_tol)


def _dist(p: Any, q: Any) -> float:
    return math.dist([number(v) for v in collect(p)], [number(v) for v in collect(q)])


def _cube_root(x: Any) -> float:
    value = number(x)
    return (
        math.copysign(abs(value) ** (1 / 3), value)
        if sys.version_info < (3, 11)
        else math.cbrt(value)
    )


def _exponential_of_two(x: Any) -> float:
    return 2.0 ** number(x) if sys.version_info < (3, 11) else math.exp2(number(x))


_SPECIAL: dict[str, Callable[..., Any]] = {
    "factorial": _factorial,
    "comb": _counted(math.comb),
    "perm": _counted(math.perm),
    "fsum": _over(math.fsum),
    "prod": _product,
    "isclose": _isclose,
    "dist": _dist,
    "cbrt": _cube_root,
    "exp2": _exponential_of_two,
}
_OF_MANY = (math.gcd, math.lcm)
MATH: dict[str, Any] = dict(CONSTANTS)
for _name in TABLE["math"].names - set(CONSTANTS):
    _of_host = getattr(math, _name)
    _wrap = _folded if _of_host in _OF_MANY else _plain
    _function = _SPECIAL.get(_name) or _wrap(_of_host)
    MATH[_name] = Builtin(_name, _function)
MODULES = {"math": MATH}
