"""Inputs: the files of CIFAR: records of bytes, or the closed part of pickle that they are made of.

Nothing is unpickled. The pickles of CIFAR hold a dictionary of words, lists and one array of bytes;
the opcodes that build those are read here, and any other ends the reading.
"""

from __future__ import annotations

import os
import pickletools
from collections.abc import Callable, Iterable
from typing import Any

from .bounds import damaged, exactly
from .readers import opened
from .refused import InputError, shortened

PIXELS = 3 * 32 * 32
MOST_OPCODES = 2_000_000
_GLOBALS = {
    f"{home} {name}"
    for core in ("numpy.core.multiarray", "numpy._core.multiarray")
    for home, name in ((core, "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype"),
                       ("_codecs", "encode"))
}  # fmt: skip


class _Mark:
    """Where a list of items on the stack begins."""


class _Call:
    """What a pickle builds by calling: its callable's name, arguments, and state."""

    def __init__(self, name: str, args: Any) -> None:
        self.name, self.args = name, args
        self.state: Any = None


def records(path: str, labels: int, most: int) -> tuple[Any, list[Any]]:
    """A binary file: so many bytes of labels before each picture; (pictures, lists of labels)."""
    import numpy

    with opened(path, shortened(path, 200), True) as file:
        size = os.fstat(file.fileno()).st_size
        _within(size, most, path)
        if not size or size % (PIXELS + labels):
            raise damaged(path, f"{size:,} bytes are not whole records of {PIXELS + labels:,}")
        raw = numpy.frombuffer(exactly(file, size, path), numpy.uint8)
    table = raw.reshape(-1, PIXELS + labels)
    return _pictures(table[:, labels:]), [table[:, place].tolist() for place in range(labels)]


def pickled(path: str, most: int) -> dict[str, Any]:
    """The dictionary of a file of the Python version, the array under "data" as pictures."""
    with opened(path, shortened(path, 200), True) as file:
        size = os.fstat(file.fileno()).st_size
        _within(4 * size, most, path)  # lists of small numbers take more room than their opcodes
        raw = exactly(file, size, path)
    try:
        found = _built(raw, path)
        if type(found) is not dict:
            raise TypeError
        return {key: _array(value, path) if type(value) is _Call else value
                for key, value in found.items()}  # fmt: skip
    except (ValueError, IndexError, KeyError, TypeError, AttributeError):
        raise damaged(path, "not a file of CIFAR") from None


def _within(need: int, most: int, path: str) -> None:
    if need > most:
        raise InputError(
            f"{path}: {need:,} bytes are more than --max-memory allows ({most:,})",
            "raise --max-memory",
        )


def _pictures(table: Any) -> Any:
    """(N, 3072) to (N, 32, 32, 3)."""
    import numpy

    return numpy.ascontiguousarray(table.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


def _array(made: _Call, path: str) -> Any:
    """The array of bytes that a pickle of NumPy's describes."""
    import numpy

    if made.name.endswith(" _reconstruct") and type(made.state) is tuple and len(made.state) == 5:
        _, shape, kind, fortran, data = made.state
        whole = type(shape) is tuple and len(shape) == 2 and shape[1] == PIXELS
        if whole and type(data) is bytes and len(data) == shape[0] * PIXELS and not fortran:
            if type(kind) is _Call and kind.args[:1] in (("u1",), (b"u1",)):
                return _pictures(numpy.frombuffer(data, numpy.uint8).reshape(shape))
    raise damaged(path, "its array is not one of pictures")


# ---------------------------------------------------------------- opcodes


def _built(raw: bytes, path: str) -> Any:
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    for count, (opcode, argument, _) in enumerate(pickletools.genops(raw)):
        name = opcode.name
        if count > MOST_OPCODES:
            raise damaged(path, "too many items")
        if name == "STOP":
            return stack.pop()
        if name in _IGNORED:
            continue
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name in _LITERALS:
            stack.append(_literal(name, argument))
        elif name in ("BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE"):
            memo[len(memo) if argument is None else argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(memo[argument])
        elif name in _BUILDERS:
            _BUILDERS[name](stack)
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            stack.append(_named(stack, argument, path))
        else:
            raise _foreign(path, f"the opcode {name}")
    raise damaged(path, "the file ends early")


def _named(stack: list[Any], argument: Any, path: str) -> str:
    if argument is None:
        name, home = stack.pop(), stack.pop()
        if type(name) is not str or type(home) is not str:
            raise TypeError
        argument = f"{home} {name}"
    if argument not in _GLOBALS:
        raise _foreign(path, shortened(argument.replace(" ", ".")))
    return str(argument)


def _foreign(path: str, what: str) -> InputError:
    return InputError(
        f"{path}: a pickle with {what} can run code when it is read, so it is not read",
        "the binary version of CIFAR (cifar-10-binary.tar.gz) needs no pickle",
    )


def _literal(name: str, argument: Any) -> Any:
    """Texts of Python 2 stand as bytes in a pickle; genops reads them as Latin-1."""
    if name in ("BINSTRING", "SHORT_BINSTRING") and type(argument) is str:
        return argument.encode("latin-1")
    return argument


def _since_mark(stack: list[Any]) -> list[Any]:
    place = len(stack) - 1
    while type(stack[place]) is not _Mark:
        place -= 1
    items = stack[place + 1 :]
    del stack[place:]
    return items


def _tuple(length: int) -> Callable[[list[Any]], None]:
    def build(stack: list[Any]) -> None:
        items = tuple(stack[len(stack) - length :])
        del stack[len(stack) - length :]
        stack.append(items)

    return build


def _append(stack: list[Any]) -> None:
    item = stack.pop()
    _listed(stack).append(item)


def _appends(stack: list[Any]) -> None:
    items = _since_mark(stack)
    _listed(stack).extend(items)


def _listed(stack: list[Any]) -> list[Any]:
    if type(stack[-1]) is not list:
        raise TypeError
    return stack[-1]


def _set(stack: list[Any], items: Iterable[Any]) -> None:
    if type(stack[-1]) is not dict:
        raise TypeError
    found = iter(items)
    for key, value in zip(found, found, strict=True):
        word = key.decode("latin-1") if type(key) is bytes else key
        if type(word) is not str:
            raise TypeError
        stack[-1][word] = value


def _set_item(stack: list[Any]) -> None:
    value, key = stack.pop(), stack.pop()
    _set(stack, (key, value))


def _reduce(stack: list[Any]) -> None:
    args, name = stack.pop(), stack.pop()
    if type(name) is not str or type(args) is not tuple:
        raise TypeError
    if name == "_codecs encode":  # bytes that Python 3 wrote for Python 2
        stack.append(args[0].encode("latin-1"))
    else:
        stack.append(_Call(name, args))


def _build(stack: list[Any]) -> None:
    state = stack.pop()
    if type(stack[-1]) is not _Call:
        raise TypeError
    stack[-1].state = state


_IGNORED = frozenset({"PROTO", "FRAME"})
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "MARK": _Mark, "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple,
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
}  # fmt: skip
_LITERALS = frozenset(
    "BININT BININT1 BININT2 LONG1 BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 "
    "BINUNICODE SHORT_BINUNICODE".split()
)
_BUILDERS: dict[str, Callable[[list[Any]], None]] = {
    "TUPLE": lambda stack: stack.append(tuple(_since_mark(stack))),
    "TUPLE1": _tuple(1), "TUPLE2": _tuple(2), "TUPLE3": _tuple(3),
    "APPEND": _append, "APPENDS": _appends, "SETITEM": _set_item,
    "SETITEMS": lambda stack: _set(stack, _since_mark(stack)),
    "REDUCE": _reduce, "BUILD": _build,
}  # fmt: skip
