"""language: calling: binding arguments as Python binds them, and running a function's body."""

from __future__ import annotations

from typing import Any

from ..engine.schema.mode import state
from .operations import type_handlers, type_name
from .session import session
from .values import CALLER, UNBOUND, Bound, Builtin, Function, Type


def invoke(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function of the program. Its frame in a traceback marks a call for the labels."""
    code = function.code
    if len(args) == code.plain and not kwargs:
        frame = [*args, *function.template]
    else:
        frame = _bound(function, args, kwargs)
    for slot in code.boxed:
        frame[slot] = [frame[slot]]
    budget = session.budget
    budget.fuel -= 1
    if budget.fuel < 0:
        budget.refill()
    budget.enter()
    try:
        if code.value is not None:
            return code.value(frame)
        answer = code.block(frame)  # type: ignore[misc]
        return None if answer is None else answer[0]
    finally:
        budget.depth -= 1


CALLER.invoke = invoke


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs) for any value."""
    kind = type(function)
    if kind is Function:
        return invoke(function, args, kwargs)
    if kind is Builtin:
        return function.function(*args, **kwargs)
    if kind is Bound:
        if type(function.function) is Function:
            return invoke(function.function, (function.owner, *args), kwargs)
        return function.function(function.owner, *args, **kwargs)
    if kind is Type:
        return function.construct(*args, **kwargs)
    caller = type_handlers.caller(function)
    if caller is None:
        raise TypeError(f"'{type_name(function)}' object is not callable")
    return caller(function, *args, **kwargs)


def called_back(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same where the library calls: it goes on in the expression that it was called from."""
    origin = state.origin
    answer = call(function, args, kwargs)
    state.origin = origin
    return answer


def is_callable(value: Any) -> bool:
    return (
        type(value) in (Function, Builtin, Bound, Type) or type_handlers.caller(value) is not None
    )


def _bound(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The frame of a call that needs defaults, keywords or collecting parameters."""
    code = function.code
    parameters = code.parameters
    names = parameters.names
    count = len(names)
    name = code.qualified
    given = len(args)
    if given > count and parameters.any_positional is None:
        raise _too_many(function, given, kwargs)
    frame: list[Any] = list(args[:count])
    frame += [UNBOUND] * (count - len(frame))
    extra: dict[str, Any] = {}
    only = dict.fromkeys(parameters.keyword_only, UNBOUND)
    positional_only: list[str] = []
    for keyword, value in kwargs.items():
        if keyword in only:
            only[keyword] = value
            continue
        place = parameters.places.get(keyword, -1)
        if place >= parameters.positional_only:
            if frame[place] is not UNBOUND:
                raise TypeError(f"{name}() got multiple values for argument '{keyword}'")
            frame[place] = value
        elif parameters.any_keywords is not None:
            extra[keyword] = value
        elif place >= 0:
            positional_only.append(keyword)
        else:
            raise TypeError(f"{name}() got an unexpected keyword argument '{keyword}'")
    if positional_only:
        raise TypeError(
            f"{name}() got some positional-only arguments passed as keyword arguments: "
            f"'{', '.join(positional_only)}'"
        )
    first_default = count - len(function.defaults)
    for place in range(max(first_default, 0), count):
        if frame[place] is UNBOUND:
            frame[place] = function.defaults[place - first_default]
    missing = [names[place] for place in range(count) if frame[place] is UNBOUND]
    if missing:
        raise _missing(name, missing, "positional")
    for keyword, value in only.items():
        if value is UNBOUND:
            only[keyword] = function.keyword_defaults.get(keyword, UNBOUND)
    missing = [keyword for keyword, value in only.items() if value is UNBOUND]
    if missing:
        raise _missing(name, missing, "keyword-only")
    frame.extend(only.values())
    if parameters.any_positional is not None:
        frame.append(tuple(args[count:]))
    if parameters.any_keywords is not None:
        frame.append(extra)
    return frame + function.template


def _missing(name: str, missing: list[str], kind: str) -> TypeError:
    quoted = [f"'{word}'" for word in missing]
    if len(quoted) == 1:
        listed = quoted[0]
    elif len(quoted) == 2:
        listed = " and ".join(quoted)
    else:
        listed = ", ".join(quoted[:-1]) + f", and {quoted[-1]}"
    plural = "s" if len(missing) > 1 else ""
    return TypeError(f"{name}() missing {len(missing)} required {kind} argument{plural}: {listed}")


def _too_many(function: Function, given: int, kwargs: dict[str, Any]) -> TypeError:
    parameters = function.code.parameters
    count = len(parameters.names)
    least = count - len(function.defaults)
    takes = f"from {least} to {count}" if function.defaults else str(count)
    plural = "s" if count != 1 or function.defaults else ""
    keyword_only = sum(1 for word in kwargs if word in parameters.keyword_only)
    said = str(given)
    if keyword_only:
        more = "s" if given != 1 else ""
        many = "s" if keyword_only != 1 else ""
        said = f"{given} positional argument{more} (and {keyword_only} keyword-only argument{many})"
    were = "was" if given == 1 and not keyword_only else "were"
    return TypeError(
        f"{function.code.qualified}() takes {takes} positional argument{plural} "
        f"but {said} {were} given"
    )
