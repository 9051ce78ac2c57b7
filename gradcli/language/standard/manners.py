"""language: contextlib, warnings, argparse, statistics: the manners of scripts."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from ...engine.mode import state
from ..attributes import KEPT_BYTES, SPECIAL, SPECIAL_SET, missing
from ..builtins.errors import ERRORS, matches, to_raise
from ..builtins.mathematics import number
from ..calls import call
from ..costs import charge_keys
from ..formatting import quoted, text
from ..operations import collect, type_name
from ..session import session
from ..values import UNBOUND, Builtin, ErrorValue, Function, Lazy
from .published import called, classes, functions
from .system import leave

# ---------------------------------------------------------------- contextlib


@called("_GeneratorContextManager")
class Manager:
    """What a function with @contextmanager gives."""

    _torch_name = "contextlib._GeneratorContextManager"
    PUBLIC = ()
    __slots__ = ("_steps",)

    def __init__(self, steps: Any) -> None:
        if type(steps) is not Lazy or not hasattr(steps.items, "throw"):
            raise TypeError(f"'{type_name(steps)}' object is not a generator")
        self._steps = steps.items

    def __enter__(self) -> Any:
        value = next(self._steps, UNBOUND)
        if value is UNBOUND:
            raise RuntimeError("generator didn't yield")
        return value

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if error is None:
            if next(self._steps, UNBOUND) is not UNBOUND:
                raise RuntimeError("generator didn't stop")
            return False
        try:
            self._steps.throw(error)  # type: ignore[attr-defined]
        except StopIteration:
            return True
        raise RuntimeError("generator didn't stop after throw()")


def _context_manager(function: Any) -> Builtin:
    name = function.name if type(function) is Function else type_name(function)
    return Builtin(
        name, lambda *args, **kwargs: Manager(call(function, args, kwargs)), f"<function {name}>"
    )


class nullcontext:
    _torch_name = "contextlib.nullcontext"
    PUBLIC = ()
    __slots__ = ("_value",)

    def __init__(self, enter_result: Any = None) -> None:
        self._value = enter_result

    def __enter__(self) -> Any:
        return self._value

    def __exit__(self, *error: Any) -> None:
        """with nullcontext():"""


class suppress:
    _torch_name = "contextlib.suppress"
    PUBLIC = ()
    __slots__ = ("_kinds",)

    def __init__(self, *exceptions: Any) -> None:
        self._kinds = exceptions

    def __enter__(self) -> None:
        """with suppress(KeyError):"""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        known = isinstance(error, Exception) and not isinstance(
            error, (RecursionError, MemoryError)
        )
        return known and matches(error, self._kinds)


# ---------------------------------------------------------------- warnings


def _warn(message: Any, category: Any = None, stacklevel: int = 1, **options: Any) -> None:
    state.warn(text(message))


def _silent(*args: Any, **kwargs: Any) -> None:
    """Has no effect."""


def _filter(action: str, *args: Any, **kwargs: Any) -> None:
    if action == "ignore":
        state.warn = _silent
    elif action == "error":
        state.warn = _as_error


def _as_error(message: Any, *more: Any) -> None:
    raise to_raise(ErrorValue(ERRORS["UserWarning"], (str(message),)))


class catch_warnings:
    _torch_name = "warnings.catch_warnings"
    PUBLIC = ()
    __slots__ = ("_before", "_record")

    def __init__(self, *, record: Any = False, **options: Any) -> None:
        self._record = bool(record)
        self._before: Any = None

    def __enter__(self) -> Any:
        self._before = state.warn
        return [] if self._record else None

    def __exit__(self, *error: Any) -> None:
        state.warn = self._before


# ---------------------------------------------------------------- argparse


class Namespace:
    """argparse.Namespace"""

    _torch_name = "argparse.Namespace"
    PUBLIC = ()
    __slots__ = ("table",)

    def __init__(self, **named: Any) -> None:
        self.table = named

    def __contains__(self, key: Any) -> bool:
        return key in self.table

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Namespace) and self.table == other.table

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{name}={quoted(value)}" for name, value in self.table.items())
        return f"Namespace({', '.join(shown)})"


def _named(value: Namespace, name: str) -> Any:
    if name == "__dict__":
        return value.table
    if name in value.table:
        return value.table[name]
    raise missing(value, name)


def _name(value: Namespace, name: str, new: Any) -> None:
    session.budget.charge_bytes(KEPT_BYTES)
    value.table[name] = new


SPECIAL[Namespace], SPECIAL_SET[Namespace] = _named, _name


class ArgumentParser:
    """argparse.ArgumentParser: a program is given no arguments, so each has its default."""

    _torch_name = "argparse.ArgumentParser"
    PUBLIC = ("add_argument", "parse_args", "parse_known_args", "add_argument_group",
              "add_mutually_exclusive_group", "set_defaults", "get_default", "error",
              "print_help", "print_usage", "format_help", "parse_intermixed_args")  # fmt: skip

    __slots__ = ("_defaults", "_missing", "_words")

    def __init__(self, *args: Any, **options: Any) -> None:
        self._defaults: dict[str, Any] = {}
        self._missing: list[str] = []
        self._words: dict[str, list[Any]] = {}

    def add_argument(
        self, *names: Any, action: Any = "store", default: Any = UNBOUND, type: Any = None,
        dest: Any = None, required: Any = False, nargs: Any = None, const: Any = None,
        **options: Any,
    ) -> None:  # fmt: skip
        if not names or any(not isinstance(name, str) for name in names):
            raise TypeError("add_argument() needs names")
        session.budget.charge_bytes(200)
        long = next((name for name in names if name.startswith("--")), names[0])
        name = dest or long.lstrip("-").replace("-", "_")
        positional = not long.startswith("-")
        if action in ("help", "version"):
            return
        if default is UNBOUND:
            default = {"store_true": False, "store_false": True, "count": None}.get(action)
        if isinstance(default, str) and type is not None:
            default = call(type, (default,), {})
        optional = positional and nargs in ("?", "*")
        if (positional and not optional) or required:
            self._missing.append("/".join(names))
        self._defaults.setdefault(name, [] if nargs == "*" and default is None and positional
                                  else default)  # fmt: skip

    def parse_args(self, args: Any = None, namespace: Any = None) -> Namespace:
        if args is not None and collect(args):
            raise ValueError("parse_args() takes no arguments of its own here")
        if self._missing:
            self.error(f"the following arguments are required: {', '.join(self._missing)}")
        return Namespace(**self._defaults)

    parse_intermixed_args = parse_args

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[Any]]:
        return self.parse_args(args), []

    def add_argument_group(self, *args: Any, **options: Any) -> ArgumentParser:
        return self

    add_mutually_exclusive_group = add_argument_group

    def set_defaults(self, **named: Any) -> None:
        self._defaults.update(named)

    def get_default(self, dest: str) -> Any:
        return self._defaults.get(dest)

    def error(self, message: Any) -> None:
        leave(f"error: {text(message)}")

    def print_help(self, file: Any = None) -> None:
        """Is not read."""

    print_usage = print_help

    def format_help(self) -> str:
        return ""


# ---------------------------------------------------------------- statistics


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(data: Any, *args: Any, **kwargs: Any) -> Any:
        values = [number(value) for value in collect(data)]
        session.budget.charge(4 * len(values))
        try:
            return function(values, *args, **kwargs)
        except statistics.StatisticsError as error:
            raise StatisticsError(str(error)) from None

    return run


def _keys(data: Any) -> list[Any]:
    """What is counted by its hash."""
    values = collect(data)
    charge_keys(values)
    return values


class StatisticsError(ValueError):
    _torch_name = "statistics.StatisticsError"


STATISTICS = functions({
    **{name: _of_numbers(getattr(statistics, name)) for name in (
        "mean", "fmean", "median", "median_low", "median_high", "stdev", "pstdev", "variance",
        "pvariance", "harmonic_mean", "geometric_mean", "quantiles")},
    "mode": lambda data: statistics.mode(_keys(data)),
    "multimode": lambda data: statistics.multimode(_keys(data)),
})  # fmt: skip


MODULES: dict[str, dict[str, Any]] = {
    "contextlib": {
        **functions({"contextmanager": _context_manager}), **classes([nullcontext, suppress]),
    },
    "warnings": {
        **functions({"warn": _warn, "filterwarnings": _filter, "simplefilter": _filter,
                     "resetwarnings": lambda: None}),
        **classes([catch_warnings]),
    },
    "argparse": {
        **classes([ArgumentParser, Namespace]), "ArgumentDefaultsHelpFormatter": None,
        "RawTextHelpFormatter": None, "RawDescriptionHelpFormatter": None,
        "SUPPRESS": "==SUPPRESS==",
    },
    "statistics": STATISTICS,
}  # fmt: skip
