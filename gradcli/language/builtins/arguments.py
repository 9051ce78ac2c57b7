"""language: Python's messages for arguments that do not fit one of its own functions."""

from __future__ import annotations

import builtins
import math
from inspect import getattr_static
from types import FunctionType
from typing import Any

from ...pattern import pattern

MARK = "python:"  # in front of the names of ours that stand for Python's, which no program has
FUNCTIONS: dict[str, Any] = {}  # "list.sort" -> the function of ours
_VALUES: tuple[Any, ...] = ([], (), {}, set(), frozenset(), "", 0, 0.0, range(0))
EMPTY = {type(value).__name__: value for value in _VALUES}
_COUNTS = pattern(r"takes .*? but (\d+)")
_MISSING = pattern(r"missing (\d+) required positional")
_KEYWORD = pattern(r"unexpected keyword argument '(\w+)'")


def named(name: str, function: Any) -> Any:
    """The function, under the name that its errors of arguments are looked up by."""
    if type(function) is not FunctionType:
        return function  # one of Python's own, whose words are right already
    if function.__qualname__.startswith(MARK):
        function = _copied(function)
    function.__qualname__ = MARK + name
    FUNCTIONS[name] = function
    return function


def _copied(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__dict__.update(function.__dict__)
    return made


# Classes below the public ones that PyTorch has too, under the same names, and those of ours that
# no program knows.
PYTORCHS = (
    "_BatchNorm.", "_InstanceNorm.", "_DecoratorContextManager.__call__",
    *(f"_{kind}PadNd.forward" for kind in ("Constant", "Reflection", "Replication", "Circular")),
)  # fmt: skip
OURS = ("_", "Configured.", "Number.", "WrappedNumber.", "ArrayType.", "Twister.")
INHERITED = "inherited"  # the mark of a copy that was named for a class


def name_inherited(kind: Any, published: set[str]) -> None:
    """Methods inherited from an unknown class name this class in their errors of arguments, as
    does what was written under another name of it. Only classes of ours are touched."""
    if not kind.__module__.startswith("gradcli."):
        return
    for word in sorted({"__init__", "__new__", "__call__", "forward", *published}):
        function = getattr_static(kind, word, None)
        if word == "__new__" and type(function) is staticmethod:
            function = function.__func__
        if type(function) is not FunctionType or function.__qualname__.startswith(
            (MARK, *PYTORCHS)
        ):
            continue
        own = word in kind.__dict__ and "." in function.__qualname__
        # Named for a class above before: whichever is requested first, each has its own name.
        ours = function.__qualname__.startswith(OURS) or INHERITED in function.__dict__
        if own or ours:
            called = f"{kind.__name__}.{word}"
            if function.__qualname__ != called:
                made = _copied(function)
                made.__qualname__ = called
                if ours:
                    made.__dict__[INHERITED] = True
                setattr(kind, word, made)


def all_named(owner: str, table: dict[str, Any]) -> dict[str, Any]:
    """The methods of a type of Python's."""
    return {name: named(f"{owner}.{name}", function) for name, function in table.items()}


def python_message(message: str) -> str:
    """The words for a message of the host: Python's own function is asked with as many."""
    name = message.removeprefix(MARK).partition("()")[0]
    function = FUNCTIONS.get(name)
    plain = message.removeprefix(MARK)
    if function is None:
        return plain
    owner, _, method = name.rpartition(".")
    if owner == "math":
        twin = getattr(math, method, None)
    else:
        twin = getattr(EMPTY[owner], method, None) if owner else getattr(builtins, name, None)
    own = 0 if owner in ("", "math") else 1
    required = function.__code__.co_argcount - len(function.__defaults__ or ())
    given, keywords = required, {}
    if counts := _COUNTS.search(plain):
        given = int(counts[1])
    elif missing := _MISSING.search(plain):
        given = required - int(missing[1])
    elif keyword := _KEYWORD.search(plain):
        keywords = {keyword[1]: None}
    try:
        twin(*[None] * max(given - own, 0), **keywords)  # type: ignore[misc]
    except TypeError as error:
        return str(error)
    except Exception:
        return plain
    return plain
