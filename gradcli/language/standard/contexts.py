"""language: contextlib and warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.origin import current_line
from ..adoption import adopt, is_library
from ..attributes import MISSING, get_attribute
from ..builtins.errors import ERRORS, matches, to_raise, value_of
from ..builtins.types import type_of
from ..calls import call
from ..classes import add_method
from ..compile.flow import catchable
from ..formatting import text
from ..operations import type_handlers, type_name
from ..session import session
from ..values import UNBOUND, Builtin, ErrorValue, Function, Lazy
from .declared import base_type
from .publishing import called, classes, functions

# ---------------------------------------------------------------- contextlib


@called("_GeneratorContextManager")
class Manager:
    """What a function with @contextmanager gives; as a decorator it is made anew for each call."""

    _torch_name = "contextlib._GeneratorContextManager"
    PUBLIC = ()
    __slots__ = ("_again", "_steps")

    def __init__(self, again: Callable[[], Any]) -> None:
        steps = again()
        if type(steps) is not Lazy or not hasattr(steps.items, "throw"):
            raise TypeError(f"'{type_name(steps)}' object is not a generator")
        self._again, self._steps = again, steps.items

    def __call__(self, func: Any) -> Builtin:
        return _decorating(lambda: Manager(self._again))(func)

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
            self._steps.throw(error)
        except StopIteration:
            return True
        raise RuntimeError("generator didn't stop after throw()")


def _context_manager(function: Any) -> Builtin:
    name = function.name if type(function) is Function else type_name(function)
    wraps = function if type(function) is Function else None
    return Builtin(
        name, lambda *args, **kwargs: Manager(lambda: call(function, args, kwargs)),
        f"<function {name}>", wraps,
    )  # fmt: skip


def entered(manager: Any) -> tuple[Any, Callable[[Any], bool]]:
    """Enters a context manager: what `as` binds, and its end, which gets the error or None."""
    enter, leave = type_handlers.enter(manager), type_handlers.leave(manager)
    if enter is not None and leave is not None:
        return enter(manager), lambda error: bool(leave(manager, *_exit_arguments(error)))
    kind = type(manager)
    if not (is_library(manager) and hasattr(kind, "__enter__")):
        raise TypeError(
            f"'{type_name(manager)}' object does not support the context manager protocol"
        )
    value = adopt(kind.__enter__(manager))
    return value, lambda error: bool(
        kind.__exit__(manager, error if error is None else type(error), error, None)
    )


def _exit_arguments(error: Any) -> tuple[Any, Any, None]:
    told = None if error is None else value_of(error)
    return (None if told is None else told.kind), told, None


def _within(manager_of: Callable[[], Any], function: Any, args: Any, kwargs: Any) -> Any:
    """A call of the function with the context manager around it."""
    _, leave = entered(manager_of())
    try:
        answer = call(function, args, kwargs)
    except Exception as error:
        if catchable(error) and leave(error):
            return None
        raise
    leave(None)
    return answer


def _decorating(manager_of: Callable[[], Any]) -> Callable[[Any], Builtin]:
    """What makes a context manager a decorator of functions."""

    def decorate(function: Any) -> Builtin:
        own = function if type(function) is Function else None
        name = type_name(function) if own is None else own.name
        return Builtin(
            name, lambda *args, **kwargs: _within(manager_of, function, args, kwargs),
            f"<function {name}>", own,
        )  # fmt: skip

    return decorate


def _decorator_class(kind: Any) -> Any:
    """contextlib.ContextDecorator: objects of a class with __enter__ can decorate."""
    if kind.find("__call__") is MISSING:
        add_method(kind, "__call__", lambda self, func: _decorating(lambda: self)(func))
    return kind


class closing:
    _torch_name = "contextlib.closing"
    PUBLIC = ()
    __slots__ = ("_thing",)

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    def __enter__(self) -> Any:
        return self._thing

    def __exit__(self, *error: object) -> None:
        call(get_attribute(self._thing, "close"), (), {})


class redirect_stdout:
    """What the program prints goes to a file of its own; nowhere, where that is None."""

    _torch_name = "contextlib.redirect_stdout"
    PUBLIC = ()
    __slots__ = ("_before", "_target")
    _stream = "write"

    def __init__(self, new_target: Any) -> None:
        self._target = new_target
        self._before: Any = None

    def __enter__(self) -> Any:
        write = None if self._target is None else get_attribute(self._target, "write")
        self._before = getattr(session, self._stream)
        setattr(session, self._stream,
                lambda text: None if write is None else call(write, (text,), {}))  # fmt: skip
        return self._target

    def __exit__(self, *error: object) -> None:
        setattr(session, self._stream, self._before)


class redirect_stderr(redirect_stdout):
    _torch_name = "contextlib.redirect_stderr"
    __slots__ = ()
    _stream = "write_error"


class ExitStack:
    _torch_name = "contextlib.ExitStack"
    PUBLIC = ("enter_context", "callback", "push", "pop_all", "close")
    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends: list[Callable[[Any], bool]] = []

    def enter_context(self, cm: Any) -> Any:
        session.budget.charge_bytes(200)
        value, leave = entered(cm)
        self._ends.append(leave)
        return value

    def push(self, exit: Any) -> Any:
        leave = type_handlers.leave(exit)
        self._ends.append(
            lambda error: bool(call(exit, _exit_arguments(error), {}) if leave is None
                               else leave(exit, *_exit_arguments(error)))
        )  # fmt: skip
        return exit

    def callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
        session.budget.charge_bytes(200)
        self._ends.append(lambda error: bool(call(callback, args, kwds)) and False)
        return callback

    def pop_all(self) -> ExitStack:
        other = ExitStack()
        other._ends, self._ends = self._ends, []
        return other

    def close(self) -> None:
        self.__exit__(None, None, None)

    def __enter__(self) -> ExitStack:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        pending = error
        while self._ends:
            session.budget.charge(1)
            try:
                if self._ends.pop()(pending):
                    pending = None
            except Exception as later:
                if not catchable(later):
                    raise
                pending = later
        if pending is not None and pending is not error:
            raise pending
        return error is not None and pending is None


class nullcontext:
    _torch_name = "contextlib.nullcontext"
    PUBLIC = ()
    __slots__ = ("_value",)

    def __init__(self, enter_result: Any = None) -> None:
        self._value = enter_result

    def __enter__(self) -> Any:
        return self._value

    def __exit__(self, *error: object) -> None:
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
        return isinstance(error, Exception) and catchable(error) and matches(error, self._kinds)


# ---------------------------------------------------------------- warnings


def _warn(message: Any, category: Any = None, stacklevel: int = 1, **options: Any) -> None:
    kind = type_of(message) if type(message) is ErrorValue else category
    name = "UserWarning" if kind is None else get_attribute(kind, "__name__")
    # A program's own are shown whatever their category: they come from its __main__.
    state.warn(text(message), type(name, (UserWarning,), {}))


def _silent(*args: Any, **kwargs: Any) -> None:
    """Has no effect."""


def _filter(action: str, *args: Any, **kwargs: Any) -> None:
    if action == "ignore":
        state.warn = _silent
    elif action == "error":
        state.warn = _as_error


def _of_category(message: Any, category: type[Warning]) -> ErrorValue:
    kind = ERRORS.get(category.__name__, ERRORS["UserWarning"])
    return ErrorValue(kind, (str(message),))


def _as_error(message: Any, category: type[Warning] = UserWarning, *more: Any) -> None:
    raise to_raise(_of_category(message, category))


class WarningMessage:
    """A warning that was recorded."""

    _torch_name = "warnings.WarningMessage"
    PUBLIC = ("message", "category", "lineno")
    __slots__ = PUBLIC

    def __init__(self, message: Any, category: type[Warning]) -> None:
        self.message = _of_category(message, category)
        self.category = self.message.kind
        self.lineno = current_line()


class catch_warnings:
    _torch_name = "warnings.catch_warnings"
    PUBLIC = ()
    __slots__ = ("_before", "_record")

    def __init__(self, *, record: Any = False, **options: Any) -> None:
        self._record = bool(record)
        self._before: Any = None

    def __enter__(self) -> Any:
        self._before = state.warn
        if not self._record:
            return None
        records: list[WarningMessage] = []

        def record(message: Any, category: type[Warning] = UserWarning, *more: Any) -> None:
            if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning)):
                records.append(WarningMessage(message, category))

        state.warn = record
        return records

    def __exit__(self, *error: object) -> None:
        state.warn = self._before


MODULES: dict[str, dict[str, Any]] = {
    "contextlib": {
        **functions({"contextmanager": _context_manager}),
        **classes([nullcontext, suppress, closing, redirect_stdout, redirect_stderr, ExitStack]),
        "ContextDecorator": base_type("ContextDecorator", "contextlib", _decorator_class),
        "AbstractContextManager": base_type("AbstractContextManager", "contextlib"),
    },
    "warnings": {
        **functions({"warn": _warn, "filterwarnings": _filter, "simplefilter": _filter,
                     "resetwarnings": lambda: None}),
        **classes([catch_warnings]),
    },
}  # fmt: skip
