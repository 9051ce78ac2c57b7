"""commands: completion: the values of an option or argument that a shell can offer.

Names come from the text of the program: nothing runs, and no array library is loaded. Only behind
a dot or a bracket, where the text does not tell what follows, the program runs for a moment.
"""

from __future__ import annotations

import ast
import os
import symtable
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics import ProgramError
from ..opening import PROGRAMS, SUFFIX, UsageError
from ..options import Option

if TYPE_CHECKING:
    from ..language.source import Source

LARGEST = 1 << 20  # bytes of a program that is read while the user waits
MOMENT, STEPS = 1.0, 200_000  # seconds and steps of one that runs meanwhile


UNREADABLE = OSError, UsageError, ProgramError, SyntaxError, ValueError, RecursionError


class Names(NamedTuple):
    """What a program's text binds and needs; numbers and defaults with their text."""

    bound: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    numbers: Mapping[str, str] = {}

    @property
    def all(self) -> tuple[str, ...]:
        """Each once, inputs first."""
        return tuple(dict.fromkeys((*self.inputs, *self.bound)))


def values(option: Option, given: Mapping[str, Any], start: str) -> list[str]:
    """The values of an option that begin with `start`; `given` is what the line has already."""
    head = start[: start.rfind(",") + 1] if option.takes_lists else ""
    offered = _KINDS[option.kind](given, start) if option.kind else option.among
    rest, chosen = start.removeprefix(head), head.split(",")
    fitting = (value for value in dict.fromkeys(offered) if value.startswith(rest))
    return [head + value for value in fitting if value not in chosen]


# ---------------------------------------------------------------- files


def _programs(given: Mapping[str, Any], start: str) -> Iterator[str]:
    """Programs of a folder and folders in it; none where no program fits: the shell does better."""
    folder, name = os.path.split(start)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return
    fitting = [entry for entry in entries if entry.name.startswith(name or "")]
    shown = [entry for entry in fitting if name.startswith(".") or not entry.name.startswith(".")]
    if not any(entry.name.endswith(PROGRAMS) for entry in shown):
        return
    for entry in shown:
        if entry.is_dir():
            yield os.path.join(folder, entry.name) + os.sep
        elif entry.name.endswith(PROGRAMS):
            yield os.path.join(folder, entry.name)


def _file(given: Mapping[str, Any]) -> str | None:
    """The program of a line: named, an example, or the only one of the folder."""
    words = [word for key in ("files", "words") for word in given.get(key) or () if word]
    name = given.get("file") or next(filter(os.path.exists, words), None)
    if isinstance(name, str):
        return name
    if given.get("example"):
        from .example_programs import example

        return example(given["example"]).path
    here = [name for name in os.listdir(".") if name.endswith(SUFFIX)]
    return here[0] if len(here) == 1 else None


# ---------------------------------------------------------------- names of a program


def _names(given: Mapping[str, Any]) -> Names:
    """The names in the program of a line; none where it can't be read or is no program."""
    from ..language.source import Source

    try:
        path = _file(given)
        return Names() if path is None else _of_text(Source.from_bytes(_read(path), path))
    except UNREADABLE:
        return Names()


def _known(given: Mapping[str, Any], start: str) -> Iterable[str]:
    """The names of the text; once one of them is there, those of what it holds."""
    last = start[start.rfind(",") + 1 :]
    found = _names(given).all
    if not last.startswith(tuple(f"{name}{sign}" for name in found for sign in ".[")):
        return found
    try:
        return _inner(given)
    except UNREADABLE:
        return ()


def _inner(given: Mapping[str, Any]) -> Iterator[str]:
    """Names of tensors that modules and lists hold behind the first pass, or after a moment."""
    from ..pipeline.request import Limits, Request
    from ..questions.shown_pass import Stop
    from ..questions.trace import Options, recorded, trace_report

    path = _file(given)
    if path is None:
        return
    limits = Limits(timeout=MOMENT, max_steps=STEPS)
    sets = tuple(given.get("sets") or ())
    request = Request(_read(path), path, path, sets, limits=limits, placeholders=True)
    ran = recorded(request, lambda text: None, besides=(Stop(None, 0),))
    for fact in trace_report(ran, Options(texts=False, flows=False)).tensors:
        yield fact.name


def _read(path: str) -> bytes:
    file, _, cell = path.rpartition(":")
    if file.endswith(".ipynb") and cell.isdecimal():
        path = file
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as opened:
        return opened.read(LARGEST)


def _of_text(source: Source) -> Names:
    """What a text binds at its top level, and what it uses and binds nowhere.

    Which of the latter PyTorch knows only its operators could tell, and they load for too long:
    a name that is only called is taken for a function.
    """
    from ..language.names import BUILTIN_NAMES, FLAT, NOT_AVAILABLE, ROOTS
    from ..language.program import Literals, defaults

    tree = ast.parse(source.text)
    top = symtable.symtable(source.text, source.name, "exec")
    literals = Literals()
    literals.read(tree.body)
    numbers = {name: ast.unparse(node) for name, node in literals.found.items()}
    numbers |= {name: default.text for name, default in defaults(source).items()}
    bound = [one for one in top.get_symbols() if one.is_assigned()]
    own = [one.get_name() for one in bound if not (one.is_imported() or one.is_namespace())]
    known = {*BUILTIN_NAMES, *ROOTS, *FLAT, *NOT_AVAILABLE, *_called(tree)}
    known |= {one.get_name() for one in top.get_symbols() if one.is_imported()}
    known |= {one.get_name() for one in bound}
    free = dict.fromkeys(name for name in _global(top) if name not in known)
    return Names(tuple(own), tuple(free), numbers)


def _global(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that some scope looks up in the module."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global(child)


def _called(tree: ast.Module) -> set[str]:
    """Names that stand only where a function does."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {node.id for node in names} - {node.id for node in names if id(node) not in functions}


def _settings(given: Mapping[str, Any], start: str) -> Iterator[str]:
    """NAME=VALUE for every input, with the number that the program gives it."""
    found = _names(given)
    for name in dict.fromkeys((*found.inputs, *found.numbers)):
        yield f"{name}={found.numbers.get(name, '')}"


def _hooks(given: Mapping[str, Any], start: str) -> Iterator[str]:
    for name in ("all", *_names(given).all):
        yield from (f"{name}={what}" for what in ("print", "norm", "zero"))


def _words(given: Mapping[str, Any], start: str) -> Iterator[str]:
    """[FILE] NAME: the program first, then a name in it."""
    if not given.get("words"):
        yield from _programs(given, start)
    yield from _known(given, start)


# ---------------------------------------------------------------- what comes with gradcli


def _operators(given: Mapping[str, Any], start: str) -> Iterable[str]:
    from ..questions.ops.rows import operators

    found: dict[str, None] = {}
    for fact in operators():
        if fact.face != "hidden":
            found[fact.name] = None
            calls = fact.calls if "." in start else (call.rpartition(".")[2] for call in fact.calls)
            found |= dict.fromkeys(calls)
        if "Backward" in start or start[:1].isupper():
            found |= {overload.grad_fn: None for overload in fact.overloads if overload.grad_fn}
    return found


def _examples(given: Mapping[str, Any], start: str) -> Iterable[str]:
    from .example_programs import examples

    try:
        return [one.name for one in examples()]
    except UsageError:
        return ()


def _schemas(given: Mapping[str, Any], start: str) -> Iterable[str]:
    from .schema import known

    if "." in start:
        return known()
    return [name.removeprefix("gradcli.").partition("/")[0] for name in known()]


_KINDS: dict[str, Callable[[Mapping[str, Any], str], Iterable[str]]] = {
    "program": _programs,
    "name": _known,
    "input": lambda given, start: (*_names(given).inputs, *_names(given).numbers),
    "setting": _settings,
    "hook": _hooks,
    "word": _words,
    "operator": _operators,
    "example": _examples,
    "schema": _schemas,
}
