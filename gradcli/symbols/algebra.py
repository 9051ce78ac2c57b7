"""Symbols: formulas: sums, products, powers, calls; simplified as they are put together.

Every formula that was made once stays one object, so that equal ones are the same and shared parts
cost nothing. `weight` is how long a formula is when it is written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from typing import Any, TypeAlias

Number: TypeAlias = "int | float | Fraction"
Shape: TypeAlias = "tuple[int, ...] | None"  # None: that of its value, whatever it is


class Expr:
    """A formula. The kinds, and what `data` has:

    number   its value
    name     what it is called
    sum      ((factor, formula), ...): a constant term goes with the number one
    product  (factor, ((formula, exponent), ...)), the exponents numbers
    power    (base, exponent), the exponent a formula
    call     (function, "function" or "method", ((keyword, formula or text), ...))
    text     pieces of text and formulas between them, and whether they need no brackets
    """

    __slots__ = ("kind", "data", "shape", "weight", "serial")

    def __init__(self, kind: str, data: Any, shape: Shape, weight: int, serial: int) -> None:
        self.kind, self.data, self.shape = kind, data, shape
        self.weight, self.serial = weight, serial

    def __repr__(self) -> str:
        return f"<{self.kind} {self.data}>"


def number_of(value: Number) -> Number:
    """Whole numbers without a point."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """The common shape of operands that fit together."""
    out: list[int] = []
    for shape in shapes:
        if shape is None:
            return None
        missing = len(shape) - len(out)
        if missing > 0:
            out = [1] * missing + out
        for place in range(1, len(shape) + 1):
            if out[-place] == 1:
                out[-place] = shape[-place]
    return tuple(out)


class Algebra:
    """Makes formulas; `values` are the numbers behind names, where a name has one."""

    def __init__(self) -> None:
        self._made: dict[Any, Expr] = {}
        self.values: dict[str, float] = {}
        self.one = self.number(1)
        self.zero = self.number(0)

    def _make(self, kind: str, data: Any, key: Any, shape: Shape, weight: int) -> Expr:
        full = (kind, key, shape)
        found = self._made.get(full)
        if found is None:
            found = self._made[full] = Expr(kind, data, shape, weight, len(self._made))
        return found

    # ---- the simple kinds

    def number(self, value: Number) -> Expr:
        value = number_of(value)
        return self._make("number", value, (type(value), repr(value)), (), 1)

    def name(self, name: str, shape: Shape, value: float | None = None) -> Expr:
        if value is not None:
            self.values[name] = value
        return self._make("name", name, name, shape, 1)

    def call(
        self, function: str, style: str, args: Iterable[tuple[str, Expr | str]], shape: Shape
    ) -> Expr:
        args = tuple(args)
        first = args[0][1] if args else ""
        if function == "t" and isinstance(first, Expr) and first.kind == "call" and (
            first.data[:2] == ("t", "method")
        ):  # fmt: skip
            return first.data[2][0][1]
        key = (function, style,
               tuple((k, a if isinstance(a, str) else a.serial) for k, a in args))  # fmt: skip
        weight = 1 + sum(1 if isinstance(a, str) else a.weight for _, a in args)
        return self._make("call", (function, style, args), key, shape, weight)

    def text(self, pieces: Iterable[str | Expr], atomic: bool, shape: Shape) -> Expr:
        pieces = tuple(pieces)
        key = (atomic, tuple(p if isinstance(p, str) else p.serial for p in pieces))
        weight = sum(1 if isinstance(p, str) else p.weight for p in pieces)
        return self._make("text", (pieces, atomic), key, shape, weight)

    # ---- arithmetic

    def _terms(self, expr: Expr) -> tuple[tuple[Number, Expr], ...]:
        """A formula as a sum."""
        if expr.kind == "number":
            return ((expr.data, self.one),)
        if expr.kind == "sum":
            return expr.data
        if expr.kind == "product":
            factor, factors = expr.data
            if len(factors) == 1 and factors[0][1] == 1 and factors[0][0].kind == "sum" and (
                abs(factor) == 1
            ):  # fmt: skip
                return tuple((factor * f, e) for f, e in factors[0][0].data)
            if factor != 1:
                return ((factor, self._product(1, factors)),)
        return ((1, expr),)

    def _factors(self, expr: Expr) -> tuple[Number, tuple[tuple[Expr, Number], ...]]:
        """A formula as a product."""
        if expr.kind == "number":
            return expr.data, ()
        if expr.kind == "product":
            return expr.data
        return 1, ((expr, 1),)

    def add(self, *parts: Expr) -> Expr:
        collected: dict[int, list[Any]] = {}
        for part in parts:
            for factor, expr in self._terms(part):
                entry = collected.setdefault(expr.serial, [0, expr])
                entry[0] = number_of(entry[0] + factor)
        terms = tuple((factor, expr) for factor, expr in collected.values() if factor != 0)
        if not terms:
            return self.zero
        if len(terms) == 1:
            factor, expr = terms[0]
            return self.mul(self.number(factor), expr)
        key = tuple((repr(f), e.serial) for f, e in terms)
        shape = broadcast(e.shape for _, e in terms)
        return self._make("sum", terms, key, shape, sum(e.weight for _, e in terms))

    def mul(self, *parts: Expr) -> Expr:
        factor: Number = 1
        collected: dict[int, list[Any]] = {}
        for part in parts:
            own, factors = self._factors(part)
            factor = number_of(factor * own)
            for expr, exponent in factors:
                entry = collected.setdefault(expr.serial, [expr, 0])
                entry[1] = number_of(entry[1] + exponent)
        if factor == 0:
            return self.zero
        factors_left = tuple((e, exponent) for e, exponent in collected.values() if exponent != 0)
        return self._product(factor, factors_left)

    def _product(self, factor: Number, factors: tuple[tuple[Expr, Number], ...]) -> Expr:
        if not factors:
            return self.number(factor)
        if factor == 1 and len(factors) == 1 and factors[0][1] == 1:
            return factors[0][0]
        key = (repr(factor), tuple((e.serial, repr(x)) for e, x in factors))
        shape = broadcast(e.shape for e, _ in factors)
        weight = sum(e.weight for e, _ in factors) + (factor not in (1, -1))
        return self._make("product", (factor, factors), key, shape, weight)

    def neg(self, part: Expr) -> Expr:
        return self.mul(self.number(-1), part)

    def div(self, one: Expr, other: Expr) -> Expr:
        return self.mul(one, self.power(other, self.number(-1)))

    def power(self, base: Expr, exponent: Expr) -> Expr:
        if exponent.kind != "number":
            weight = base.weight + exponent.weight
            key = (base.serial, exponent.serial)
            shape = broadcast((base.shape, exponent.shape))
            return self._make("power", (base, exponent), key, shape, weight)
        to: Number = exponent.data
        if to == 0:
            return self.one
        if to == 1:
            return base
        if base.kind == "number":
            return self._number_power(base.data, to, base)
        factor, factors = self._factors(base)
        whole = isinstance(to, int)
        if whole and (factor in (1, -1) or to > 0 or isinstance(factor, int)):
            if factor != 1 and isinstance(factor, int) and to < 0:
                scale: Number = Fraction(factor) ** to
            else:
                scale = factor**to
            return self._product(
                number_of(scale), tuple((e, number_of(x * to)) for e, x in factors)
            )
        return self._product(1, ((base, to),))

    def _number_power(self, value: Number, to: Number, base: Expr) -> Expr:
        if isinstance(value, int | Fraction) and isinstance(to, int) and abs(to) < 64 and value:
            return self.number(Fraction(value) ** to)
        try:
            result = float(value) ** float(to)
        except (ZeroDivisionError, OverflowError):
            result = None
        if isinstance(result, float):
            return self.number(result)
        return self._product(1, ((base, to),))

    # ---- what a reader would write

    def factored(self, expr: Expr, known: dict[int, Expr] | None = None) -> Expr:
        """Common factors of sums in front of brackets, everywhere in a formula."""
        known = {} if known is None else known
        found = known.get(expr.serial)
        if found is None:
            found = known[expr.serial] = self._factored(expr, known)
        return found

    def _factored(self, expr: Expr, known: dict[int, Expr]) -> Expr:
        kind, data = expr.kind, expr.data
        if kind == "sum":
            terms = [self.mul(self.number(f), self.factored(e, known)) for f, e in data]
            return self._common(terms)
        if kind == "product":
            factor, factors = data
            parts = [self.power(self.factored(e, known), self.number(x)) for e, x in factors]
            return self.mul(self.number(factor), *parts)
        if kind == "power":
            return self.power(self.factored(data[0], known), self.factored(data[1], known))
        if kind == "call":
            function, style, args = data
            return self.call(
                function, style,
                [(k, a if isinstance(a, str) else self.factored(a, known)) for k, a in args],
                expr.shape,
            )  # fmt: skip
        return expr

    def _common(self, parts: list[Expr]) -> Expr:
        """A sum with what all its terms share in front."""
        total = self.add(*parts)
        if total.kind != "sum":
            return total
        terms = [self._factors(self.mul(self.number(f), e)) for f, e in total.data]
        shared: list[tuple[Expr, Number]] = []
        rest = [{e.serial: x for e, x in factors} for _, factors in terms]
        for e, _ in terms[0][1]:
            powers = [left.get(e.serial, 0) for left in rest]
            if all(p > 0 for p in powers):
                shared.append((e, min(powers)))
            elif all(p < 0 for p in powers):
                shared.append((e, max(powers)))
        scale = _common_factor([factor for factor, _ in terms])
        if not shared and scale == 1:
            return total
        front = self._product(scale, tuple(shared))
        inner = [self.div(self.mul(self.number(f), e), front) for f, e in total.data]
        inside = self.add(*inner)
        if inside.kind != "sum":
            return self.mul(front, inside)
        factor, factors = self._factors(front)
        return self._product(factor, (*factors, (inside, 1)))


def _common_factor(factors: list[Number]) -> Number:
    """What the numbers before the terms of a sum have in common; a minus where all have one."""
    sign: int = -1 if all(f < 0 for f in factors) else 1
    if all(isinstance(f, int) for f in factors):
        return sign * gcd(*(int(f) for f in factors))
    size = abs(factors[0])
    return sign * size if all(abs(f) == size for f in factors) else sign  # type: ignore[operator]
