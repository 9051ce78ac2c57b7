"""Operators: window functions for signals (torch.signal.windows, torch.hann_window ...)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt
from typing import Any

from ...engine.schema.dtypes import default_dtype
from ...engine.schema.operator import catalogue, composite

_OPTIONS = (
    "*, {}bool sym=True, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool requires_grad=False"
)


def _call(name: str, *args: Any, **options: Any) -> Any:
    return catalogue.functions[name](*args, **options)


def _checked(name: str, count: int, dtype: Any) -> None:
    if count < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={count}")
    if dtype.name not in ("float32", "float64"):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")


def _steps(start: float, constant: float, count: int, **options: Any) -> Any:
    """count numbers that lie `constant` apart, from start on."""
    return _call("linspace", start, start + (count - 1) * constant, count, **options)


def _positive(value: float, word: str) -> None:
    if value <= 0:
        raise ValueError(f"{word} must be positive, got: {value} instead.")


def _exponential(count: int, sym: bool, options: Any, center: float | None, tau: float) -> Any:
    _positive(tau, "Tau")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if center is None:
        center = _span(count, sym) / 2
    steps = _call("linspace", -center / tau, (-center + (count - 1)) / tau, count, **options)
    return (-steps.abs()).exp()


def _span(count: int, sym: bool) -> int:
    return count if not sym and count > 1 else count - 1


def _cosine(count: int, sym: bool, options: Any) -> Any:
    constant = pi / (count + 1 if not sym and count > 1 else count)
    ends = 0.5 * constant, (0.5 + (count - 1)) * constant
    return _call("linspace", *ends, count, **options).sin()


def _gaussian(count: int, sym: bool, options: Any, std: float) -> Any:
    _positive(std, "Standard deviation")
    start, constant = -_span(count, sym) / 2.0, 1 / (std * sqrt(2))
    ends = start * constant, (start + (count - 1)) * constant
    return (-(_call("linspace", *ends, count, **options) ** 2)).exp()


def _kaiser(count: int, sym: bool, options: Any, beta: float) -> Any:
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if count == 1:
        return _call("ones", (1,), **options)
    constant = 2.0 * beta / (count if not sym else count - 1)
    end = min(beta, -beta + (count - 1) * constant)
    steps = _call("linspace", -beta, end, count, **options)
    plain = {key: value for key, value in options.items() if key != "requires_grad"}
    top = _call("full", (), beta, **plain)
    return _call("i0", (top * top - steps.pow(2)).sqrt()) / _call("i0", top)


def _general_cosine(count: int, sym: bool, options: Any, a: Sequence[float]) -> Any:
    if not isinstance(a, list | tuple):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if count == 1:
        return _call("ones", (1,), **options)
    steps = _steps(0, 2 * pi / _span(count, sym), count, **options)
    plain = {key: options[key] for key in ("dtype", "device")}
    weights = _call("stack", [
        _call("full", (), (-1) ** place * weight, **plain) for place, weight in enumerate(a)
    ])  # fmt: skip
    if options["requires_grad"]:
        weights._track(True, "floating point dtype")
    orders = _call("arange", len(a), dtype=weights.dtype, device=weights.device)
    if options["requires_grad"]:
        orders._track(True, "floating point dtype")
    return (weights.unsqueeze(-1) * (orders.unsqueeze(-1) * steps).cos()).sum(0)


def _bartlett(count: int, sym: bool, options: Any) -> Any:
    if count == 1:
        return _call("ones", (1,), **options)
    return 1 - _steps(-1, 2 / _span(count, sym), count, **options).abs()


def _declare(name: str, more: str, body: Callable[..., Any], doc: str, word: str) -> None:
    def run(count: int, *rest: Any) -> Any:
        *own, sym, dtype, _layout, device, requires_grad = rest
        dtype = dtype or default_dtype()
        _checked(word, count, dtype)
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        if count == 0:
            return _call("empty", (0,), **options)
        return body(count, sym, options, *own)

    composite(
        f"{name}.signal(int M, {_OPTIONS.format(more)}) -> Tensor",
        run,
        where="signal.windows",
        doc=doc,
        samples=(
            f"torch.signal.windows.{name}(5{_EXTRA.get(name, '')})",
            f"torch.signal.windows.{name}(4{_EXTRA.get(name, '')}, sym=False, dtype=torch.float64)",
            f"torch.signal.windows.{name}(1{_EXTRA.get(name, '')})",
            f"torch.signal.windows.{name}(3{_EXTRA.get(name, '')}, requires_grad=True)",
        ),
        errors=(
            f"torch.signal.windows.{name}(-1{_EXTRA.get(name, '')})",
            f"torch.signal.windows.{name}(2{_EXTRA.get(name, '')}, dtype=torch.int64)",
        ),
    )


_EXTRA = {"general_cosine": ", a=[0.5, 0.3, 0.2]"}


def _weighted(*weights: float) -> Callable[..., Any]:
    return lambda count, sym, options: _general_cosine(count, sym, options, weights)


for _name, _more, _body, _doc, _word in (
    ("exponential", "float? center=None, Scalar tau=1.0, ", _exponential,
     "A window that falls off exponentially.", "exponential"),
    ("cosine", "", _cosine, "Half a period of the sine.", "cosine"),
    ("gaussian", "Scalar std=1.0, ", _gaussian, "A bell curve.", "gaussian"),
    ("kaiser", "Scalar beta=12.0, ", _kaiser, "The window of Kaiser and Bessel.", "kaiser"),
    ("bartlett", "", _bartlett, "A triangle.", "bartlett"),
    ("general_cosine", "any a, ", _general_cosine, "A sum of cosines.", "general_cosine"),
    ("general_hamming", "float alpha=0.54, ",
     lambda count, sym, options, alpha: _general_cosine(count, sym, options, (alpha, 1 - alpha)),
     "A raised cosine.", "general_cosine"),
    ("hamming", "", _weighted(0.54, 1 - 0.54), "The window of Hamming.", "general_cosine"),
    ("hann", "", _weighted(0.5, 0.5), "The window of Hann.", "general_cosine"),
    ("blackman", "", _weighted(0.42, 0.5, 0.08), "The window of Blackman.", "blackman"),
    ("nuttall", "", _weighted(0.3635819, 0.4891775, 0.1365995, 0.0106411),
     "The window of Nuttall.", "general_cosine"),
):  # fmt: skip
    _declare(_name, _more, _body, _doc, _word)

# ---- the older functions, periodic unless told otherwise


def _older(name: str, body: Callable[..., Any]) -> Callable[..., Any]:
    def run(window_length: int, periodic: bool, *rest: Any) -> Any:
        *own, dtype, _layout, device, requires_grad = rest
        dtype = dtype or default_dtype()
        if not dtype.is_floating_point:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype.word}Type")
        if window_length < 0:
            raise RuntimeError(
                f"{name} requires non-negative window_length, got window_length={window_length}"
            )
        if window_length < 2:
            out = _call("ones", (window_length,), dtype=dtype, device=device)
        else:
            steps = _call("arange", window_length + periodic, dtype=dtype, device=device)
            out = body(steps, window_length + periodic - 1, *own)[:window_length]
        if requires_grad:  # as a factory does, which may run inside a transformed function
            out._track(True, "floating point dtype")
        return out

    return run


def _raised(steps: Any, span: int, alpha: float = 0.54, beta: float = 0.46) -> Any:
    return (steps * (pi * 2 / span)).cos() * -beta + alpha


def _three(steps: Any, span: int) -> Any:
    steps = steps * (pi / span)
    return (steps * 4).cos() * 0.08 - (steps * 2).cos() * 0.5 + 0.42


def _triangle(steps: Any, span: int) -> Any:
    rising = steps * (2 / span)
    return _call("where", rising < 1, rising, 2 - rising)


def _bessel(steps: Any, span: int, beta: float) -> Any:
    across = steps * (2 / span) - 1
    top = _call("i0", _call("full", (), beta, dtype=steps.dtype))
    return _call("i0", (1 - across * across).sqrt() * beta) / top


for _name, _more, _body, _doc in (
    ("hann_window", "", lambda steps, span: _raised(steps, span, 0.5, 0.5), "Hann's window."),
    ("hamming_window", "float alpha=0.54, float beta=0.46, ", _raised, "Hamming's window."),
    ("blackman_window", "", _three, "Blackman's window."),
    ("bartlett_window", "", _triangle, "A triangle."),
    ("kaiser_window", "float beta=12.0, ", _bessel, "The window of Kaiser and Bessel."),
):
    composite(
        f"{_name}(int window_length, bool periodic=True, {_more}*, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool requires_grad=False) -> Tensor",
        _older(_name, _body),
        where="torch",
        doc=_doc,
        samples=(
            f"torch.{_name}(5)", f"torch.{_name}(4, periodic=False)", f"torch.{_name}(1)",
            f"torch.{_name}(3, dtype=torch.float64)",
        ),
        errors=(f"torch.{_name}(-1)",),
    )  # fmt: skip
