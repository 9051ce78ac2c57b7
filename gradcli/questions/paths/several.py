"""Questions: derivatives that serve several inputs at once, as formulas of the language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

from ...symbols.algebra import Expr
from .carrier import Symbol, Unsayable, written_out

Parts = tuple[Symbol | None, ...]


def called(symbol: Symbol, name: str, value: Any, *given: Any, style: str = "method") -> Symbol:
    """name(arguments) on a symbol; (name, value) among them is a keyword."""
    algebra = symbol.algebra
    arguments: list[tuple[str, Expr | str]] = [("", written_out(symbol))]
    for argument in given:
        keyword, argument = argument if isinstance(argument, tuple) and (
            len(argument) == 2 and isinstance(argument[0], str)) else ("", argument)  # fmt: skip
        told = written_out(argument) if isinstance(argument, Symbol) else repr(argument)
        arguments.append((keyword, told))
    expr = algebra.call(name, style, arguments, tuple(value.shape))
    return Symbol(algebra, expr, value)


def _mean(symbol: Symbol, dims: tuple[int, ...]) -> Symbol:
    if symbol.expr.shape == ():
        return symbol
    value = symbol.value.mean(axis=dims, keepdims=True)
    named: int | tuple[int, ...] = dims[0] if len(dims) == 1 else dims
    return called(symbol, "mean", value, named, ("keepdim", True))


def _total(symbol: Symbol, dims: tuple[int, ...], value: Any) -> Symbol:
    if not dims:
        return Symbol(symbol.algebra, symbol.expr, value)
    named: int | tuple[int, ...] = dims[0] if len(dims) == 1 else dims
    return called(symbol, "sum", value, named)


# ---------------------------------------------------------------- normalisation


def _standardised(x: Symbol, dims: tuple[int, ...], scale: Any) -> tuple[Symbol, Symbol]:
    """x with mean 0 and variance 1, and what it was scaled by, both told in x alone."""
    variance = x.value.var(axis=dims, keepdims=True)
    eps = _nice(float((1 / scale.reshape(variance.shape) ** 2 - variance).reshape(-1)[0]))
    named: int | tuple[int, ...] = dims[0] if len(dims) == 1 else dims
    spread = called(x, "var", variance, named, ("correction", 0), ("keepdim", True))
    factor = (spread + eps) ** -0.5
    return (x - _mean(x, dims)) * factor, factor


def _nice(eps: float) -> float:
    """The power of ten that was meant: what is left of it has lost most of its digits."""
    return next((10.0**-n for n in range(3, 13) if isclose(eps, 10.0**-n, rel_tol=0.2)), 1e-5)


def _normalised(
    grad: Symbol, x: Symbol, dims: tuple[int, ...], others: tuple[int, ...], scale: Symbol,
    weight: Symbol | None, values: Sequence[Any],
) -> Parts:  # fmt: skip
    """`dims` are those of the statistics, `others` those that weight and bias are shared over."""
    unit, factor = _standardised(x, dims, scale.value)
    inner = grad if weight is None else grad * weight
    whole = (inner - _mean(inner, dims) - unit * _mean(inner * unit, dims)) * factor
    of_input, of_weight, of_bias = values
    return (
        None if of_input is None else Symbol(grad.algebra, whole.expr, of_input),
        None if of_weight is None else _total(grad * unit, others, of_weight),
        None if of_bias is None else _total(grad, others, of_bias),
    )


def _layer_norm(
    grad: Symbol, x: Symbol, shape: Sequence[int], mean: Symbol, rstd: Symbol,
    weight: Symbol | None, bias: Any, mask: Any, values: Sequence[Any],
) -> Parts:  # fmt: skip
    dims = tuple(range(-len(shape), 0))
    return _normalised(grad, x, dims, tuple(range(x.ndim - len(shape))), rstd, weight, values)


def _batch_norm(
    grad: Symbol, x: Symbol, weight: Symbol | None, running_mean: Any, running_var: Any,
    mean: Symbol, scale: Symbol, train: bool, eps: float, mask: Any, values: Sequence[Any],
) -> Parts:  # fmt: skip
    if not train or x.ndim < 2:
        raise Unsayable("batch_norm by running statistics")
    dims = tuple(place for place in range(x.ndim) if place != 1)
    column = (1, -1) + (1,) * (x.ndim - 2)
    if weight is not None and x.ndim > 2:
        weight = called(weight, "view", weight.value.reshape(column), *column)
    return _normalised(grad, x, dims, dims, scale, weight, values)


# ---------------------------------------------------------------- convolution


def _convolution(
    grad: Symbol, x: Symbol, weight: Symbol, sizes: Any, stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int], transposed: bool, extra: Sequence[int],
    groups: int, mask: Any, values: Sequence[Any],
) -> Parts:  # fmt: skip
    if groups != 1:
        raise Unsayable("a convolution in groups")
    ndim = x.ndim - 2
    of_input, of_weight, of_bias = values
    plain, back = f"F.conv{ndim}d", f"F.conv_transpose{ndim}d"
    settings = [("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1)]
    dims = (0, *range(2, x.ndim))
    found: list[Symbol | None] = [None, None, None]
    if of_input is not None and transposed:
        found[0] = called(grad, plain, of_input, weight, *_set(settings), style="function")
    elif of_input is not None:
        missing = [
            size - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
            for size, n, s, p, d, k in zip(
                x.shape[2:], grad.shape[2:], stride, padding, dilation, weight.shape[2:],
                strict=True,
            )
        ]  # fmt: skip
        more = _set([*settings, ("output_padding", missing, 0)])
        found[0] = called(grad, back, of_input, weight, *more, style="function")
    if of_weight is not None:
        signal, kernel = (grad, x) if transposed else (x, grad)
        turned = [("stride", dilation, 1), ("padding", padding, 0), ("dilation", stride, 1)]
        found[1] = _kernel_slope(signal, kernel, plain, _set(turned), of_weight)
    if of_bias is not None:
        found[2] = _total(grad, dims, of_bias)
    return tuple(found)


def _set(settings: Sequence[tuple[str, Sequence[int], int]]) -> list[tuple[str, Any]]:
    """The settings that are not the usual ones, as keywords."""
    told: list[tuple[str, Any]] = []
    for name, numbers, usual in settings:
        if any(number != usual for number in numbers):
            same = len(set(numbers)) == 1
            told.append((name, numbers[0] if same else tuple(numbers)))
    return told


def _kernel_slope(
    signal: Symbol, kernel: Symbol, function: str, settings: list[tuple[str, Any]], value: Any
) -> Symbol:
    """The signal convolved with the gradient, channels and examples exchanged."""
    one, two = (called(s, "transpose", s.value.swapaxes(0, 1), 0, 1) for s in (signal, kernel))
    exchanged = value.swapaxes(0, 1)
    made = called(one, function, exchanged, two, *settings, style="function")
    for dim in range(2, value.ndim):  # a stride may leave positions that the kernel has not
        step = dict(settings).get("dilation", 1)
        if step != 1:
            made = called(made, "narrow", exchanged, dim, 0, value.shape[dim])
    return called(made, "transpose", value, 0, 1)


SEVERAL: dict[str, Callable[..., Parts]] = {
    "convolution_backward": _convolution,
    "native_layer_norm_backward": _layer_norm,
    "native_batch_norm_backward": _batch_norm,
}
