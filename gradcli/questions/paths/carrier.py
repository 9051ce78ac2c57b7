"""Questions: the third carrier of derivatives: formulas, each with the array that it stands for.

A row's derivative is a Python function of the gradient and of what was saved. Run on arrays it
gives numbers, run on tensors a graph, and run on these symbols the formula that is printed. The
array beside each formula answers every question about shapes and types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.compile.formula import reduce_to
from ...engine.schema.row import Row
from ...symbols.algebra import Algebra, Expr, broadcast

PYTHONS = frozenset("sum abs pow max min all any round".split())  # Python's, where torch has them
FUNCTIONS = frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 exp2 log log2 log10 "
    "log1p sqrt rsqrt sigmoid erf erfc lgamma digamma sgn sign where maximum minimum atan2 relu "
    "logsumexp outer einsum stack cat floor ceil trunc frac polygamma".split()
)
COMPARED = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}


class Unsayable(AttributeError):
    """A derivative that no formula of the language expresses."""


class Symbol:
    """A formula and its value, which may be larger: the formula counts for all it is spread to."""

    __slots__ = ("expr", "value", "algebra")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # an array beside a symbol leaves the operation to the symbol

    def __init__(self, algebra: Algebra, expr: Expr, value: Any) -> None:
        self.algebra, self.expr, self.value = algebra, expr, value

    # ---- what formulas ask

    @property
    def shape(self) -> Any:
        return self.value.shape

    @property
    def ndim(self) -> Any:
        return self.value.ndim

    @property
    def size(self) -> Any:
        return self.value.size

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    def astype(self, kind: Any, *more: Any, **options: Any) -> Symbol:
        return Symbol(self.algebra, self.expr, self.value.astype(kind))

    def conj(self) -> Symbol:
        return self

    def __bool__(self) -> bool:
        raise Unsayable("a choice that depends on values")

    def __getattr__(self, name: str) -> Any:
        if name in ("flags", "strides", "itemsize"):
            return getattr(self.value, name)
        raise Unsayable(f"the property {name} of a tensor")

    def __getitem__(self, index: Any) -> Any:
        raise Unsayable("a part of a tensor")

    def all(self) -> bool:
        """Asked where a derivative looks at its operands: the formula is that of this case."""
        return bool(self.value.all())

    def any(self) -> bool:
        return bool(self.value.any())

    # ---- arithmetic

    def _lift(self, other: Any) -> Symbol | None:
        if isinstance(other, Symbol):
            return other
        if getattr(other, "shape", None) == ():
            return Symbol(self.algebra, self.algebra.number(other.item()), other)
        if isinstance(other, bool) or not isinstance(other, int | float):
            return None
        return Symbol(self.algebra, self.algebra.number(other), other)

    def _with(self, other: Any, made: Callable[..., Expr], value: Callable[..., Any],
              turned: bool = False) -> Any:  # fmt: skip
        lifted = self._lift(other)
        if lifted is None:
            return NotImplemented
        one, two = (lifted, self) if turned else (self, lifted)
        return Symbol(self.algebra, made(one.expr, two.expr), value(one.value, two.value))

    def __add__(self, other: Any) -> Any:
        return self._with(other, self.algebra.add, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, self.algebra.add, lambda a, b: a + b, True)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, self._minus, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, self._minus, lambda a, b: a - b, True)

    def _minus(self, one: Expr, two: Expr) -> Expr:
        return self.algebra.add(one, self.algebra.neg(two))

    def __mul__(self, other: Any) -> Any:
        return self._with(other, self.algebra.mul, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, self.algebra.mul, lambda a, b: a * b, True)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, self.algebra.div, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, self.algebra.div, lambda a, b: a / b, True)

    def __pow__(self, other: Any) -> Any:
        return self._with(other, self.algebra.power, lambda a, b: a**b)

    def __rpow__(self, other: Any) -> Any:
        return self._with(other, self.algebra.power, lambda a, b: a**b, True)

    def __neg__(self) -> Symbol:
        return Symbol(self.algebra, self.algebra.neg(self.expr), -self.value)

    def _compared(self, other: Any, sign: str, value: Callable[..., Any]) -> Any:
        def made(a: Expr, b: Expr) -> Expr:
            shape = broadcast((a.shape, b.shape))
            return self.algebra.call(sign, "operator", (("", a), ("", b)), shape)

        return self._with(other, made, value)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, ">", lambda a, b: a > b)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "<", lambda a, b: a < b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, ">=", lambda a, b: a >= b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "<=", lambda a, b: a <= b)

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, "==", lambda a, b: a == b)

    def __ne__(self, other: Any) -> Any:
        return self._compared(other, "!=", lambda a, b: a != b)

    # ---- rows

    @staticmethod
    def __operate__(row: Row, args: Sequence[Any]) -> Any:
        """A row called inside a derivative; `calls` attaches what it becomes."""
        raise NotImplementedError


def written_out(symbol: Symbol) -> Expr:
    """The formula with the shape of its value: spread where it is smaller."""
    algebra, expr, shape = symbol.algebra, symbol.expr, tuple(symbol.value.shape)
    if expr.shape is None or expr.shape == shape:
        return expr
    sizes = [("", str(size)) for size in shape]
    if expr.kind == "number" and expr.data in (0, 1):
        return constant(algebra, "ones" if expr.data else "zeros", shape, symbol.dtype)
    if expr.kind == "number":
        whole = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
        given = [("", whole), ("", repr(float(expr.data))), *of_type(symbol.dtype)]
        return algebra.call("full", "function", given, shape)
    return algebra.call("expand", "method", (("", expr), *sizes), shape)


def constant(algebra: Algebra, name: str, shape: Sequence[int], dtype: Any) -> Expr:
    """zeros(2, 3), ones(2, 3)."""
    given = [*(("", str(size)) for size in shape), *of_type(dtype)]
    return algebra.call(name, "function", given, tuple(shape))


def of_type(dtype: Any) -> list[tuple[str, str]]:
    """The argument that asks for another type than the default."""
    return [("dtype", "torch.float64")] if dtype.char == "d" else []


def reduced(symbol: Symbol, shape: tuple[int, ...], kind: Any) -> Symbol:
    """A gradient summed back to the shape of a smaller input."""
    before = tuple(symbol.value.shape)
    value = reduce_to(symbol.value, shape, kind)
    if before == shape:
        return Symbol(symbol.algebra, symbol.expr, value)
    algebra, expr = symbol.algebra, symbol.expr
    own_shape = before if expr.shape is None else expr.shape
    natural = (1,) * (len(before) - len(own_shape)) + own_shape
    padded = (1,) * (len(before) - len(shape)) + shape
    times, summed = 1, False
    for own, size, left in zip(natural, before, padded, strict=True):
        if left != size:
            if own == 1:
                times *= size
            else:
                summed = True
    if not summed and len(own_shape) <= len(shape):
        return Symbol(algebra, algebra.mul(algebra.number(times), expr), value)
    whole = written_out(symbol)
    if not shape:
        return Symbol(algebra, algebra.call("sum", "method", (("", whole),), ()), value)
    sizes = [("", str(size)) for size in shape]
    made = algebra.call("sum_to_size", "method", (("", whole), *sizes), shape)
    return Symbol(algebra, made, value)
