"""Questions: rows that a derivative calls, as formulas: the words of the language for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.schema.row import Row
from ...symbols.algebra import Algebra, Expr, broadcast
from .carrier import COMPARED, FUNCTIONS, PYTHONS, Symbol, Unsayable, written_out
from .kernels import chosen, opened
from .several import SEVERAL


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
        if row.name not in SEVERAL:
            raise Unsayable(f"{row.name}, which has several results,")
        return SEVERAL[row.name](*args, value)
    if row.where in ("hidden", "inplace") or row.name.startswith("_"):
        return Symbol(algebra, opened(algebra, row, args, value), value)
    first = args[0]
    if row.name == "where" and len(args) == 3:
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
Symbol.__operate__ = staticmethod(operate)  # type: ignore[method-assign]
