"""Questions: symbols for the catalogue: formulas that name what they cannot open.

Where the symbols of `paths.carrier` find no words of the language, a step is called by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.schema.row import Row
from ...symbols.algebra import Algebra, Expr
from ..paths.calls import operate
from ..paths.carrier import Symbol, Unsayable, written_out


class Named(int):
    """A number of the call that formulas call by the name of its argument."""

    name: str

    @classmethod
    def of(cls, name: str, value: int) -> Named:
        """The number under this name."""
        made = cls(value)
        made.name = name
        return made

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


class Term:
    """A symbol whose every step has a text."""

    __slots__ = ("symbol",)
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol

    @property
    def algebra(self) -> Algebra:
        return self.symbol.algebra

    @property
    def expr(self) -> Expr:
        return self.symbol.expr

    @property
    def value(self) -> Any:
        return self.symbol.value

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "flags", "strides", "itemsize"):
            return getattr(self.symbol.value, name)
        raise Unsayable(f"the property {name} of a tensor")

    def __bool__(self) -> bool:
        return bool(self.symbol.value)

    def all(self) -> bool:
        return bool(self.symbol.value.all())

    def any(self) -> bool:
        return bool(self.symbol.value.any())

    def conj(self) -> Term:
        return self

    def astype(self, kind: Any, *more: Any, **options: Any) -> Term:
        return Term(Symbol(self.algebra, self.expr, self.value.astype(kind)))

    @staticmethod
    def __operate__(row: Row, args: Sequence[Any]) -> Any:
        if row.name == "number_as":
            return args[1]
        plain = [_unwrapped(argument) for argument in args]
        try:
            return _wrapped(operate(row, plain))
        except (Unsayable, AttributeError, TypeError, ValueError, IndexError):
            return _called(row, plain)


def term_of(algebra: Algebra, name: str, value: Any) -> Term:
    """A name with the array that it stands for."""
    import numpy

    value = numpy.asarray(value)
    return Term(Symbol(algebra, algebra.name(name, tuple(value.shape)), value))


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Term):
        return value.symbol
    return [_unwrapped(item) for item in value] if isinstance(value, list) else value


def _wrapped(value: Any) -> Any:
    if isinstance(value, Symbol):
        return Term(value)
    if isinstance(value, tuple | list):
        return type(value)([_wrapped(item) for item in value])
    return value


def _value(argument: Any) -> Any:
    if isinstance(argument, Symbol):
        return argument.value
    return [_value(item) for item in argument] if isinstance(argument, list) else argument


def _called(row: Row, args: Sequence[Any]) -> Any:
    """A step by its name: its arguments between brackets, one of several results by its place."""
    import numpy

    symbols = [
        s for a in args for s in (a if isinstance(a, list) else [a]) if isinstance(s, Symbol)
    ]
    algebra = symbols[0].algebra
    value = row(*[_value(argument) for argument in args])
    given = [("", _text(algebra, argument)) for argument in args if argument is not None]
    name = row.name.lstrip("_")

    def term(part: Any, pieces: tuple[str, ...]) -> Term | None:
        if part is None:
            return None
        array = numpy.asarray(part)
        shape = tuple(array.shape)
        expr = algebra.call(name, "function", given, shape)
        if pieces:
            expr = algebra.text((expr, *pieces), True, shape)
        return Term(Symbol(algebra, expr, array))

    if isinstance(value, tuple | list):
        return tuple(term(part, (f"[{at}]",)) for at, part in enumerate(value))
    return term(value, ())


def _text(algebra: Algebra, argument: Any) -> Expr | str:
    if isinstance(argument, Symbol):
        return written_out(argument)
    if isinstance(argument, list):
        if any(isinstance(item, Symbol) for item in argument):
            return algebra.call("", "list", [("", _text(algebra, a)) for a in argument], None)
        return repr(argument)
    if hasattr(argument, "category"):
        return f"torch.{argument.name}"
    if hasattr(argument, "shape"):
        return "..."
    return repr(argument)


def _delegated(name: str) -> Callable[..., Any]:
    def method(self: Term, *others: Any) -> Any:
        answer = getattr(self.symbol, name)(*map(_unwrapped, others))
        return NotImplemented if answer is NotImplemented else _wrapped(answer)

    return method


for _name in ("add radd sub rsub mul rmul truediv rtruediv pow rpow neg gt lt ge le eq ne").split():
    setattr(Term, f"__{_name}__", _delegated(f"__{_name}__"))
