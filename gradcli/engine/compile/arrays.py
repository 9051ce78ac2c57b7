"""Engine: formulas on arrays: the rows that a formula calls become direct calls of their kernels.

A formula is a Python function over rows, which run on any carrier. On arrays alone, looking the
carrier up at every call would cost as much as the kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy

from ..schema.carriers import RUNTIME, Body
from ..schema.row import Formula, Row

SHORT = len((lambda grad, other: grad * other).__code__.co_code)
# Formulas that are written into the function of the way back as they are.
PLAIN = ("grad", "-grad", "grad * {0}", "{0} * grad", "grad / {0}")
STEPS = {"multiply": numpy.multiply, "divide": numpy.divide, "negative": numpy.negative}


def plain_expression(formula: Formula) -> str | None:
    """The source of a formula that is one of a few plain ones; found by comparing what it runs."""
    code = formula.function.__code__
    if formula.joint or len(code.co_code) > SHORT:
        return None
    other = next((name for name in formula.needs if name != "grad"), "grad")
    for pattern in PLAIN:
        text = pattern.format(other)
        twin = eval(f"lambda {', '.join(formula.needs)}: {text}").__code__
        if (code.co_code, code.co_varnames, code.co_names, code.co_freevars) == (
            twin.co_code, twin.co_varnames, twin.co_names, twin.co_freevars,
        ):  # fmt: skip
            return f"({text})"
    return None


def one_step(expression: str) -> str | None:
    """A plain expression as a call of `STEPS` that lacks its last argument, `out`."""
    for symbol, name in ((" * ", "multiply"), (" / ", "divide"), ("-", "negative")):
        if expression.startswith("(") and symbol in expression:
            return f"{name}({expression[1:-1].replace(symbol, ', ').lstrip(', ')}"
    return None


def on_arrays(formula: Formula) -> Callable[..., Any]:
    """The formula's own code, with the kernel in the place of each row that it names."""
    function: Any = formula.function
    known = function.__globals__
    named = {name: known[name] for name in function.__code__.co_names if name in known}
    rows = {name: value.on_arrays for name, value in named.items() if isinstance(value, Row)}
    if not rows:
        return function
    scope = {"__builtins__": known["__builtins__"], **named, **rows}
    return FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )


def kernel_of(row: Row) -> Body:
    """row(...) of operands of which the first is an array: its kernel, nothing asked."""
    modules, kernel = RUNTIME.arrays, row.forward

    def one(operand: Any) -> Any:
        xp = modules.get(operand.__class__)
        return row(operand) if xp is None else kernel(xp, operand)

    def two(first: Any, second: Any) -> Any:
        xp = modules.get(first.__class__)
        return row(first, second) if xp is None else kernel(xp, first, second)

    def several(first: Any, *others: Any) -> Any:
        xp = modules.get(first.__class__)
        return row(first, *others) if xp is None else kernel(xp, first, *others)

    count = len(row.signature.parameters)
    return one if count == 1 else two if count == 2 else several
