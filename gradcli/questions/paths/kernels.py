"""Questions: rows that programs can't call, as formulas of what they can call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.schema.row import Row
from ...symbols.algebra import Algebra, Expr, broadcast
from .carrier import FUNCTIONS, Symbol, Unsayable, constant, written_out
from .opaque import Place, scattered


def opened(algebra: Algebra, row: Row, args: Sequence[Any], value: Any) -> Expr:
    """What the row computes: in other words where its kernel writes into arrays, else its kernel
    itself, run on symbols."""
    spoken = SPOKEN.get(row.name)
    try:
        if spoken is not None:
            made = spoken(*args, value)
            return made.expr if isinstance(made, Symbol) else made
        return row.forward(Library(algebra), *args).expr
    except (AttributeError, TypeError, ValueError, IndexError):
        raise Unsayable(row.name) from None


def _scattered(name: str) -> Callable[..., Expr]:
    """Zeros but for what was selected."""

    def made(grad: Symbol, sizes: Sequence[int], *rest: Any) -> Expr:
        algebra = grad.algebra
        zeros = constant(algebra, "zeros", sizes, rest[-1].dtype)
        given: list[tuple[str, Expr | str]] = [("", zeros), ("", written_out(grad))]
        given += [("", repr(number)) for number in rest[:-1]]
        return algebra.call(name, "method", given, tuple(sizes))

    return made


def _put(self: Any, indices: Any, values: Symbol, accumulate: bool, value: Any) -> Expr:
    algebra = values.algebra
    if any(index is None for index in indices):
        raise Unsayable("an index with gaps")
    places = [("", written_out(index)) for index in indices]
    zeros = constant(algebra, "zeros", value.shape, value.dtype)
    whole = written_out(self) if isinstance(self, Symbol) else zeros
    listed = algebra.call("", "list", places, None)
    given = (("", whole), ("", listed), ("", written_out(values)), ("accumulate", repr(accumulate)))
    return algebra.call("index_put", "method", given, tuple(value.shape))


def _total(symbol: Symbol, dim: int) -> Symbol:
    """The sum along one dimension, which stays."""
    value = symbol.value.sum(axis=dim, keepdims=True)
    algebra = symbol.algebra
    if symbol.expr.shape == ():
        times = algebra.number(symbol.value.shape[dim])
        return Symbol(algebra, algebra.mul(times, symbol.expr), value)
    given = (("", written_out(symbol)), ("", repr(dim)), ("keepdim", "True"))
    return Symbol(algebra, algebra.call("sum", "method", given, tuple(value.shape)), value)


def _softmax(grad: Symbol, output: Symbol, dim: int, *rest: Any) -> Symbol:
    return output * (grad - _total(grad * output, dim))


def _log_softmax(grad: Symbol, output: Symbol, dim: int, *rest: Any) -> Symbol:
    return grad - Library(grad.algebra).exp(output) * _total(grad, dim)


def _class_chosen(
    grad: Symbol, self: Symbol, target: Symbol, weight: Any, reduction: int, ignored: int,
    total_weight: Any, value: Any,
) -> Symbol:  # fmt: skip
    """Minus the gradient at the class of each row: nothing elsewhere."""
    if weight is not None or reduction == 0 or bool((target.value == ignored).any()):
        raise Unsayable("a loss with weights")
    algebra = grad.algebra
    sizes = self.value.shape
    given = (("", written_out(target)), ("", str(sizes[-1])))
    chosen_class = Symbol(
        algebra, algebra.call("F.one_hot", "function", given, tuple(sizes)), value
    )
    count = sizes[0] if reduction == 1 and len(sizes) > 1 else 1
    return -grad * chosen_class / count


def _named(name: str) -> Callable[..., Expr]:
    """The function of the language behind a row of its own."""
    return lambda self, dim, *rest: self.algebra.call(
        name, "method", (("", written_out(self)), ("", repr(dim))), tuple(rest[-1].shape)
    )


def _moved(name: str) -> Callable[..., Expr]:
    def made(self: Symbol, *rest: Any) -> Expr:
        algebra, value = self.algebra, rest[-1]
        if self.expr.shape == ():
            return self.expr
        sizes = [("", str(size)) for size in value.shape]
        return algebra.call(name, "method", (("", written_out(self)), *sizes), tuple(value.shape))

    return made


def _sliced(self: Symbol, dim: int, start: Any, end: Any, step: int, value: Any) -> Expr:
    """A slice of one dimension, as narrow() writes it."""
    if self.expr.shape == ():
        return self.expr
    if step != 1:
        raise Unsayable("a slice with steps")
    length = self.value.shape[dim]
    first = 0 if start is None else start + length if start < 0 else min(start, length)
    given = [str(dim), str(first), str(value.shape[dim])]
    return self.algebra.call(
        "narrow", "method", (("", written_out(self)), *(("", text) for text in given)),
        tuple(value.shape),
    )  # fmt: skip


def _restrided(
    grad: Symbol, size: Any, stride: Any, offset: int, to_size: Any, to_stride: Any,
    to_offset: int, value: Any,
) -> Symbol:  # fmt: skip
    """A gradient laid where a view was, in zeros."""
    if to_offset:
        raise Unsayable("a view of a part of memory")
    place = Place(tuple(to_size), tuple(to_stride), tuple(size), tuple(stride), offset)
    return scattered(grad, place, value)


SPOKEN: dict[str, Callable[..., Any]] = {
    "_restride": _restrided,
    "slice": _sliced,
    "_to_copy": lambda self, *rest: self,
    "_reshape_alias": _moved("reshape"),
    "_unsafe_view": _moved("reshape"),
    "_squeezed_away": _moved("reshape"),
    "_chosen": lambda self, other, value: self == other,
    "_weights_as": lambda self, *rest: _mask(self.algebra, self.expr),
    "select_backward": _scattered("select_scatter"),
    "slice_backward": _scattered("slice_scatter"),
    "diagonal_backward": _scattered("diagonal_scatter"),
    "_index_put_impl": _put,
    "_softmax": _named("softmax"),
    "_log_softmax": _named("log_softmax"),
    "nll_loss_backward": _class_chosen,
    "_softmax_backward_data": _softmax,
    "_log_softmax_backward_data": _log_softmax,
}


def _mask(algebra: Algebra, test: Expr) -> Expr:
    """A test as numbers 0 and 1."""
    given = (("", test), ("", "1.0"), ("", "0.0"))
    return algebra.call("where", "function", given, test.shape)


# The array library's names for functions of the language.
_ALIKE = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "absolute": "abs", "sign": "sgn", "power": "pow",
    "where": "where", "maximum": "maximum", "minimum": "minimum", "isnan": "isnan",
}  # fmt: skip


class Library:
    """Stands for the array library where a kernel is run on symbols."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra

    def __getattr__(self, name: str) -> Any:
        import numpy

        known = _ALIKE.get(name, name)
        made = _SPECIAL.get(name)
        if made is not None:
            return lambda *args, **options: made(self.algebra, *args, **options)
        if known not in FUNCTIONS and known not in ("abs", "isnan"):
            raise Unsayable(f"the kernel {name}")
        of_arrays = getattr(numpy, name)

        def function(*args: Any, **options: Any) -> Symbol:
            lifted = [a if isinstance(a, Symbol) else Symbol(
                self.algebra, self.algebra.number(a), numpy.asarray(a)) for a in args]  # fmt: skip
            value = of_arrays(*(a.value for a in lifted))
            exprs = [("", a.expr) for a in lifted]
            shape = broadcast(e.shape for _, e in exprs)
            text = "torch.abs" if known == "abs" else known
            return Symbol(self.algebra, self.algebra.call(text, "function", exprs, shape), value)

        function.__name__ = name
        return function


def _like(number: Any) -> Callable[..., Symbol]:
    return lambda algebra, like, *more, **options: Symbol(
        algebra, algebra.number(number), like.value * 0 + number
    )


def _filled(number: Any) -> Callable[..., Symbol]:
    def made(algebra: Algebra, shape: Any, *value: Any, **more: Any) -> Symbol:
        import numpy

        one = value[0] if number is None else number
        return Symbol(
            algebra,
            algebra.number(one),
            numpy.full(shape, one, dtype=more.get("dtype", numpy.float32)),
        )

    return made


def chosen(algebra: Algebra, test: Any, one: Any, other: Any) -> Symbol:
    """where: the arguments are formulas that need not be spread."""
    import numpy

    parts = [a if isinstance(a, Symbol) else Symbol(algebra, algebra.number(a), numpy.float32(a))
             for a in (test, one, other)]  # fmt: skip
    value = numpy.where(*(part.value for part in parts))
    # where(c, g*k, 0) is g*where(c, k, 0): what both sides share is in front.
    expr = _masked(algebra, *(part.expr for part in parts))
    return Symbol(algebra, expr, value)


_OPPOSITE = {">": "<=", "<=": ">", "<": ">=", ">=": "<", "==": "!=", "!=": "=="}


def _masked(algebra: Algebra, test: Expr, one: Expr, other: Expr) -> Expr:
    """where(test, g * k, 0) as g * k * where(test, 1.0, 0.0): factors stay in sight."""
    if one.kind == "number" and one.data == 0 and test.kind == "call" and test.data[0] in _OPPOSITE:
        sign, style, args = test.data
        test = algebra.call(_OPPOSITE[sign], style, args, test.shape)
        one, other = other, one
    if other.kind == "number" and other.data == 0:
        return algebra.mul(one, _mask(algebra, test))
    args = (("", test), ("", one), ("", other))
    shape = broadcast((test.shape, one.shape, other.shape))
    return algebra.call("where", "function", args, shape)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "zeros_like": _like(0), "ones_like": _like(1), "zeros": _filled(0), "ones": _filled(1),
    "full": _filled(None), "where": chosen,
    "full_like": lambda algebra, like, value: _like(value)(algebra, like),
    "asarray": lambda algebra, value, *more: value,
    "true_divide": lambda algebra, one, other: one / other,
    "multiply": lambda algebra, one, other: one * other,
    "negative": lambda algebra, one: -one,
    "square": lambda algebra, one: one * one,
}  # fmt: skip
