"""language: traceback: the text of an error, with the line that failed; frames are the host's."""

from __future__ import annotations

from typing import Any

from ..attributes import get_attribute
from ..builtins.errors import value_of
from ..calls import call
from ..formatting import text
from ..session import session
from ..values import ErrorValue
from .publishing import functions
from .system import FILE, current_error

_NOT_SHOWN = "what the program prints to standard error is not shown"


def _last_line(error: ErrorValue) -> str:
    said = text(error)
    kind = get_attribute(error.kind, "__qualname__")
    home = get_attribute(error.kind, "__module__")
    name = kind if home in ("builtins", "__main__") else f"{home}.{kind}"
    return f"{name}: {said}\n" if said else f"{name}\n"


def _of(given: tuple[Any, ...]) -> ErrorValue:
    """The error of format_exception(error) and format_exception(kind, error, trace)."""
    error = next((one for one in given if type(one) is ErrorValue), None)
    if error is None:
        raise TypeError("an exception is expected")
    return error


def _lines(error: ErrorValue) -> list[str]:
    held = (one for one in reversed(session.handling) if value_of(one).kind is error.kind)
    line = getattr(next(held, None), "line_here", None)
    frame = [] if line is None else [f'  File "{FILE}", line {line}, in <module>\n']
    return ["Traceback (most recent call last):\n", *frame, _last_line(error)]


def _exception_only(*given: Any) -> list[str]:
    return [_last_line(_of(given))]


def _exception(*given: Any, **options: Any) -> list[str]:
    error = _of(given)
    above = [] if error.cause is None else [
        *_lines(error.cause),
        "\nThe above exception was the direct cause of the following exception:\n\n",
    ]  # fmt: skip
    return above + _lines(error)


def format_current(limit: Any = None, chain: Any = True) -> str:
    """format_exc"""
    error = current_error()
    return "NoneType: None\n" if error is None else "".join(_exception(error))


def _printed(said: str, file: Any) -> None:
    if file is not None:
        call(get_attribute(file, "write"), (said,), {})
    elif session.write_error is None:
        session.notes.setdefault(_NOT_SHOWN)
    else:
        session.write_error(said)


def _print_current(limit: Any = None, file: Any = None, chain: Any = True) -> None:
    """print_exc"""
    _printed(format_current(), file)


def _print(*given: Any, file: Any = None, **options: Any) -> None:
    """print_exception"""
    _printed("".join(_exception(*given)), file)


def _nothing(*given: Any, file: Any = None, **options: Any) -> None:
    """print_tb, print_stack: frames, of which a program here has none."""
    _printed("", file)


MODULES: dict[str, dict[str, Any]] = {
    "traceback": functions({
        "format_exc": format_current, "print_exc": _print_current, "print_exception": _print,
        "format_exception": _exception, "format_exception_only": _exception_only,
        "print_tb": _nothing, "print_stack": _nothing, "format_tb": lambda tb, limit=None: [],
        "format_stack": lambda *given, **options: [], "print_last": _nothing,
    }),
}  # fmt: skip
