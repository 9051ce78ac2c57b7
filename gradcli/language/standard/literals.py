"""language: ast.literal_eval, and cmath: values of a text, and functions of complex numbers."""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable
from typing import Any

from ..costs import charge_text
from ..libraries import TENSORS
from ..operations import type_name
from ..session import session
from .publishing import functions

_LONGEST = 100_000  # characters of a text
_DEEPEST = 90  # brackets within each other, which Python's parser takes on every machine
_SIZE = 300  # bytes and steps that a character takes on its way to a value


def _literal(node_or_string: Any) -> Any:
    if type(node_or_string) is not str:
        raise ValueError(f"malformed node or string: {type_name(node_or_string)}")
    charge_text(node_or_string)
    session.budget.charge_bytes(_SIZE * len(node_or_string))
    depth = deepest = 0
    for letter in node_or_string:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    signs = sum(node_or_string.count(sign) for sign in "+-")
    if len(node_or_string) > _LONGEST or deepest > _DEEPEST or signs > _LONGEST // 100:
        raise ValueError("literal_eval() takes shorter texts with fewer brackets here")
    try:
        return ast.literal_eval(node_or_string)
    except (MemoryError, RecursionError):
        raise ValueError("malformed node or string") from None


def _complex(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **named: Any) -> Any:
        return function(*map(_number, args), **named)

    return run


def _number(value: Any) -> Any:
    if type(value) in TENSORS:
        return complex(value.item())
    if type(value) not in (int, float, complex, bool):
        raise TypeError(f"must be complex number, not {type_name(value)}")
    return value


_NUMBERS = ("pi", "e", "tau", "inf", "nan", "infj", "nanj")
_OF_COMPLEX = (
    "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh phase polar "
    "rect isnan isinf isfinite isclose"
)
MODULES: dict[str, dict[str, Any]] = {
    "ast": functions({"literal_eval": _literal}),
    "cmath": {
        **{name: getattr(cmath, name) for name in _NUMBERS},
        **functions({name: _complex(getattr(cmath, name)) for name in _OF_COMPLEX.split()}),
    },
}
