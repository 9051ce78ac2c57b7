"""Questions: the third carrier of derivatives: formulas, each with the array that it stands for.

A row's derivative is a Python function of the gradient and of what was saved. Run on arrays it
gives numbers, run on tensors a graph, and run on these symbols the formula that is printed. The
array beside each formula answers every question about shapes and types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.formula import reduce_to
from ...engine.row import Row
from ...symbols.algebra import Algebra, Expr, broadcast

PYTHONS = frozenset("sum abs pow max min all any round".split())  # Python's, where torch has them
FUNCTIONS = frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 exp2 log log2 log10 "
    "log1p sqrt rsqrt sigmoid erf erfc lgamma digamma sgn sign where maximum minimum atan2 relu "
    "logsumexp outer einsum stack cat floor ceil trunc frac polygamma".split()
)
COMPARED = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}


class Unsayable(AttributeError):
    """A derivative that no formula of the language tells."""


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
        return operate(row, args)


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


# ---------------------------------------------------------------- calls of rows


def operate(row: Row, args: Sequence[Any]) -> Any:
    """A row called inside a derivative: arithmetic, a function of the language, or its kernel."""
    simple = ARITHMETIC.get(row.name)
    if simple is not None:
        made = simple(args)
        if made is not None and made is not NotImplemented:
            return made
    algebra = next(a.algebra for a in _flat(args) if isinstance(a, Symbol))
    value = row(*[_value(a) for a in args])
    if isinstance(value, tuple):
        from .several import SEVERAL

        if row.name not in SEVERAL:
            raise Unsayable(f"{row.name}, which has several results,")
        return SEVERAL[row.name](*args, value)
    if row.where in ("hidden", "inplace") or row.name.startswith("_"):
        from .kernels import opened

        return Symbol(algebra, opened(algebra, row, args, value), value)
    first = args[0]
    if row.name == "where" and len(args) == 3:
        from .kernels import chosen

        return Symbol(algebra, chosen(algebra, *args).expr, value)
    if isinstance(first, Symbol):
        kept = _spread(row, first, value)
        if kept is not None:
            return kept
    return Symbol(algebra, _call(algebra, row, args, tuple(value.shape)), value)


def _flat(args: Sequence[Any]) -> list[Any]:
    return [item for a in args for item in (a if isinstance(a, list | tuple) else (a,))]


def _value(argument: Any) -> Any:
    if isinstance(argument, Symbol):
        return argument.value
    if isinstance(argument, list):
        return [_value(item) for item in argument]
    return argument


def _spread(row: Row, first: Symbol, value: Any) -> Symbol | None:
    """What happens to a number that stands for a whole tensor."""
    algebra, expr = first.algebra, first.expr
    moves = row.acts in ("moves", "spreads") and row.jacobian != "placement"
    if expr.shape == () and (moves or row.jacobian == "identity"):
        return Symbol(algebra, expr, value)
    if row.name == "expand" and broadcast((expr.shape, tuple(value.shape))) == tuple(value.shape):
        return Symbol(algebra, expr, value)
    if expr.shape == () and row.name in ("sum", "sum_to_size", "mean"):
        times = first.value.size // max(1, value.size) if row.name != "mean" else 1
        return Symbol(algebra, algebra.mul(algebra.number(times), expr), value)
    return None


def _call(algebra: Algebra, row: Row, args: Sequence[Any], shape: tuple[int, ...]) -> Expr:
    """name(arguments), the ones left out that have their default."""
    faces = row.where.split()
    name = row.name
    given: list[tuple[str, Any]] = []
    skipped = False
    for parameter, argument in zip(row.signature.parameters, args, strict=False):
        if argument is parameter.default or (
            not isinstance(argument, Symbol | list) and argument == parameter.default
            and type(argument) is type(parameter.default)
        ):  # fmt: skip
            skipped = True
            continue
        keyword = parameter.name if skipped or parameter.keyword_only else ""
        given.append((keyword, _text(argument)))
    if row.acts == "product" and len(given) == 2:
        return algebra.call("@", "operator", given, shape)
    if name in COMPARED and len(given) == 2:
        return algebra.call(COMPARED[name], "operator", given, shape)
    if name in FUNCTIONS and "torch" in faces:
        return algebra.call(name, "function", given, shape)
    if "method" in faces and given and not given[0][0] and isinstance(given[0][1], Expr):
        return algebra.call(name, "method", given, shape)
    for face, prefix in (("torch", "torch."), ("functional", "F."), ("linalg", "torch.linalg."),
                         ("special", "torch.special."), ("fft", "torch.fft.")):  # fmt: skip
        if face in faces:
            own = "" if face == "torch" and name not in PYTHONS else prefix
            return algebra.call(own + name, "function", given, shape)
    raise Unsayable(f"{name}, which programs can't call")


def _text(argument: Any) -> Expr | str:
    if isinstance(argument, Symbol):
        return written_out(argument)
    if isinstance(argument, list | tuple):
        if any(isinstance(item, Symbol) for item in argument):
            first = next(item for item in argument if isinstance(item, Symbol))
            items = [("", _text(item)) for item in argument]
            return first.algebra.call("", "list", items, None)
        return repr(tuple(argument))
    if hasattr(argument, "category"):
        return f"torch.{argument.name}"
    return repr(argument)


def _arithmetic() -> dict[str, Callable[[Sequence[Any]], Any]]:
    def scaled(args: Sequence[Any], sign: int) -> Any:
        alpha = args[2] if len(args) > 2 else 1
        return args[0] + args[1] * (sign * alpha)

    return {
        "add": lambda args: scaled(args, 1),
        "sub": lambda args: scaled(args, -1),
        "mul": lambda args: args[0] * args[1],
        "div": lambda args: args[0] / args[1] if len(args) < 3 or args[2] is None else None,
        "true_divide": lambda args: args[0] / args[1],
        "neg": lambda args: -args[0],
        "pow": lambda args: args[0] ** args[1],
        "square": lambda args: args[0] ** 2,
        "reciprocal": lambda args: 1 / args[0],
        "rsub": lambda args: args[1] - args[0],
        "conj": lambda args: args[0],
        "alias": lambda args: args[0],
    }


ARITHMETIC = _arithmetic()
