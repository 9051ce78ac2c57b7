"""Live: functions that are already running: during a recording they run rewritten code.

A frame that runs keeps its code; the functions that it calls can be given other code, which has the
same lines and columns. They are the program's own again when the recording ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, ClassVar

from ..recording.looking import is_a, table_of
from .code import compiled
from .text import Text, codes_of

DEEPEST = 8  # functions behind functions: decorators, closures
# What PyTorch calls for an operation of its own: a value that somebody holds is another one to it.
OBSERVING = frozenset({"__torch_dispatch__", "__torch_function__"})
Place = tuple[str, int, tuple[int, int]]  # the qualified name, the first line, the end


class Swapped:
    """A function, the code that it had, and the code that reports."""

    __slots__ = ("function", "new", "old")

    def __init__(self, function: FunctionType, old: CodeType, new: CodeType) -> None:
        self.function, self.old, self.new = function, old, new


class Functions:
    """The functions of a text, found from the names that a frame has."""

    every: ClassVar[list[Swapped]] = []  # of all recordings, which may end in any order

    def __init__(self, text: Text, names: Mapping[str, Any]) -> None:
        self.text, self.names = text, names
        self.codes: dict[Place, CodeType] = {}
        self.swapped: list[Swapped] = []

    def rewrite(self, machine: Any) -> None:
        """From here on they report what they compute to the machine's listener."""
        found = [one for one in self._functions() if id(one.__code__) not in self.text.told]
        if not found or any(map(_is_compiled, self.names.values())):
            return  # torch.compile reads the code of functions
        if not self.codes:
            self.codes = {place_of(code): code for code in codes_of(compiled(self.text, machine))}
        for function in found:
            old, new = function.__code__, self.codes.get(place_of(function.__code__))
            if new is not None and is_alike(old, new):
                function.__code__ = new
                self.text.tells(new)
                self.swapped.append(Swapped(function, old, new))
                self.every.append(self.swapped[-1])

    def restore(self) -> None:
        """They run what they ran before."""
        for one in self.swapped:
            self.every.remove(one)
            above = next((other for other in self.every if other.old is one.new), None)
            if one.function.__code__ is one.new:
                one.function.__code__ = one.old
            elif above is not None:  # another recording began since, and still listens
                above.old = one.old
        self.swapped.clear()
        self.codes.clear()

    def _functions(self) -> Iterator[FunctionType]:
        """Of the file of the text, those of its classes too."""
        pending = [(value, 0) for value in self.names.values()]
        seen: set[int] = set()
        for value, depth in pending:
            if not is_a(value, (FunctionType, type, staticmethod, classmethod, property)):
                kind = type(value)
                if id(kind) in seen:  # as with most: a module, a number, a function in C
                    continue
                if not _is_object(value):
                    seen.add(id(kind))
                    continue
                value = kind
            if id(value) in seen or depth > DEEPEST:
                continue
            seen.add(id(value))
            pending.extend((inner, depth + 1) for inner in _inside(value, self.text.filename))
            if is_a(value, FunctionType) and self._is_here(value):
                yield value

    def _is_here(self, function: FunctionType) -> bool:
        is_here = function.__code__.co_filename == self.text.filename
        return is_here and function.__name__ not in OBSERVING


def _inside(value: Any, filename: str) -> Iterator[Any]:
    """What a class or a wrapper holds."""
    if is_a(value, type):
        for base in value.__mro__:
            if base.__module__ == value.__module__:
                yield from vars(base).values()
    elif is_a(value, FunctionType):
        yield getattr(value, "__wrapped__", None)
        for cell in value.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # it is empty yet
                continue
    elif is_a(value, property):
        yield from (value.fget, value.fset)
    else:
        yield value.__func__


def _is_object(value: Any) -> bool:
    """Of a class of Python's kind: not of one that is built in."""
    return type(value).__dictoffset__ != 0


def _is_compiled(value: Any) -> bool:
    held = table_of(value)
    inner = held.get("_modules", held)
    return "_torchdynamo_orig_callable" in held or (type(inner) is dict and "_orig_mod" in inner)


def place_of(code: CodeType) -> Place:
    """Where its text is: of several lambdas in a line each ends elsewhere."""
    ends = ((line, column) for _, line, _, column in code.co_positions()
            if line is not None and column is not None)  # fmt: skip
    return code.co_qualname, code.co_firstlineno, max(ends, default=(0, 0))


def is_alike(old: CodeType, new: CodeType) -> bool:
    """Whether a function can run the other code in its place."""
    return (
        old.co_freevars == new.co_freevars
        and old.co_varnames[: old.co_argcount] == (new.co_varnames[: new.co_argcount])
    )
