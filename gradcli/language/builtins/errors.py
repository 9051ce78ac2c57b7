"""language: a program's exceptions: created, raised, caught and printed, without a traceback."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ...engine.schema.class_name import name_in_messages
from ...pattern import pattern
from ..names import ERROR_NAMES
from ..operations import type_name
from ..redaction import published
from ..values import ErrorValue, Type
from .arguments import MARK, python_message
from .types import OF_ERRORS, host_type, is_instance


class Raised(Exception):
    """An error value of the program on its way; `value` says what it is."""

    def __init__(self, value: ErrorValue) -> None:
        super().__init__()
        self.value = value


def _make(name: str) -> Type:
    host: type = getattr(builtins, name)
    if host in OF_ERRORS:
        return OF_ERRORS[host]  # IOError is another name of OSError
    kind = Type(host.__name__, host, lambda *args: ErrorValue(kind, args))
    OF_ERRORS[host] = kind
    return kind


ERRORS: dict[str, Type] = {name: _make(name) for name in ERROR_NAMES}


def kind_of(error: BaseException) -> Type:
    """The type value of a host error: its own, or the nearest base that programs know."""
    shown = getattr(type(error), "_torch_name", None)
    if shown is not None and type(error) not in OF_ERRORS:  # an error that PyTorch has too
        OF_ERRORS[type(error)] = host_type(type(error))
    for base in type(error).__mro__:
        known = OF_ERRORS.get(base)
        if known is not None and base is not Exception:
            return known
    return ERRORS["Exception"]


def value_of(error: BaseException) -> ErrorValue:
    """A host error as a value: its type and arguments, and nothing that leads to the host."""
    if isinstance(error, Raised):
        return error.value
    if type(error) is TypeError and error.args and str(error).startswith(MARK):
        return ErrorValue(kind_of(error), (_unadvised(python_message(str(error))),))
    if type(error) is TypeError and len(error.args) == 1:
        return ErrorValue(kind_of(error), (_published(_unadvised(operands_named(error))),))
    # Errors of the system and of NumPy may carry host objects; all others carry text.
    foreign = isinstance(error, OSError | UnicodeError) or type(error).__module__.startswith(
        "numpy"
    )
    args = (str(error),) if foreign else error.args
    return ErrorValue(kind_of(error), tuple(map(_published, args)))


def _published(said: Any) -> Any:
    return published(said) if type(said) is str else said


def _unadvised(said: Any) -> Any:
    """Without the suggestion of Python 3.13, which knows our parameters; ours stands below."""
    return _SUGGESTED.sub(r"\1", said) if type(said) is str else said


_SUGGESTED = pattern(r"( got an unexpected keyword argument '\w+')\. Did you mean '\w+'\?$")
_OPERANDS = pattern(r"(.*?(?:: |instances of ))'([\w.]+)' and '([\w.]+)'")
# One value whose class has another name for each function or operator.
_ONE = pattern(
    r"(.* indices must be integers or slices, not |bad operand type for [^:]+: '|'|"
    r"must be [\w ]+, not )"
    r"(Node|FunctionNode|FunctionCtx)('?.*)"
)
_JOINED = pattern(r'(can only concatenate \w+ \(not )"(\w+)"(\) to \w+)')


def operands_named(error: TypeError) -> Any:
    """The host names records of ours by their classes; Python would name what they stand for."""
    message, trace = error.args[0], error.__traceback__
    if trace is None or type(message) is not str:
        return message
    joined, alone = _JOINED.fullmatch(message), _ONE.fullmatch(message)
    match = _OPERANDS.fullmatch(message) or joined or alone
    while trace.tb_next is not None:
        trace = trace.tb_next
    here = trace.tb_frame.f_locals
    if match is not None and match is alone:
        one = next((v for v in here.values() if name_in_messages(type(v)) == match[2]), None)
        return message if one is None else f"{match[1]}{type_name(one)}{match[3]}"
    if match is None or "a" not in here or "b" not in here:
        return message
    a, b = here["a"], here["b"]
    if match is joined:
        right = match[2] == name_in_messages(type(b))
        return f'{match[1]}"{type_name(b)}"{match[3]}' if right else message
    if (name_in_messages(type(a)), name_in_messages(type(b))) != match.groups()[1:]:
        return message
    return f"{match[1]}'{type_name(a)}' and '{type_name(b)}'"


own_errors: list[Callable[[Any], Type | None]] = []  # error classes of the program


def _error_type(kind: Any) -> Type | None:
    """The type of the errors that a class makes, None for what makes no errors."""
    if type(kind) is Type:
        is_error = isinstance(kind.host, type) and issubclass(kind.host, BaseException)
        return kind if is_error else None
    return next((made for find in own_errors if (made := find(kind)) is not None), None)


def to_raise(value: Any, role: str = "exceptions") -> BaseException:
    """What `raise value` raises."""
    made = _error_type(value)
    if made is not None:
        value = made.construct()
    if type(value) is not ErrorValue:
        raise TypeError(f"{role} must derive from BaseException")
    return Raised(value)


def matches(error: BaseException, kinds: Any) -> bool:
    """Whether `except kinds` catches the error."""
    for kind in kinds if type(kinds) is tuple else (kinds,):
        if _error_type(kind) is None:
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
    return is_instance(value_of(error), kinds)


def is_exit(error: BaseException) -> bool:
    """sys.exit() and its like, in order: the program is over."""
    if not isinstance(error, Raised) or error.value.kind.name != "SystemExit":
        return False
    return not error.value.args or error.value.args[0] in (None, 0)


def name_of(error: BaseException) -> str:
    """The type's name for a diagnostic."""
    if isinstance(error, Raised):
        return error.value.kind.name
    known = kind_of(error)
    return type(error).__name__ if known.name == "Exception" else known.name


def message_of(error: BaseException) -> str:
    """The message for a diagnostic, in the words that str(error) has."""
    from ..formatting import shown_error

    return shown_error(value_of(error))
