"""Live: the files that a program imports from its own folder, which run rewritten as it does.

What their functions call their values is known then, and numbers that leave the graph there are
followed. To the program each of their expressions is a part of the one that called them.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, ClassVar

from ..diagnostics import ProgramError
from ..language.source import Source
from ..language.tracing import Inner, Listener
from .code import compiled
from .reporting import Reporter
from .rewrite import Globals, Listeners, Rewriter
from .text import Text, is_of_package, parsed
from .tracing import Tracer

OURS = __name__.partition(".")[0]  # a checkout may be the folder of a program
USED = frozenset({"torch", "numpy"})  # a file that imports neither computes nothing


class ImportedFiles:
    """Finds the modules whose files lie in the folder of a program, or below it."""

    found: ClassVar[set[str]] = set()  # the names of those that a run has loaded

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.folder = os.path.join(machine.start.folder, "")

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Within it they are loaded as below; those of a run before it are forgotten."""
        for name in self.found:
            sys.modules.pop(name, None)
        self.found.clear()
        finders: list[Any] = sys.meta_path
        finders.insert(finders.index(PathFinder) if PathFinder in finders else 0, self)
        try:
            yield
        finally:
            finders.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks for each module; others are left to the finders behind this one."""
        if name.partition(".")[0] == OURS or (
            path is not None and not any(map(self._is_here, path))
        ):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None:
            return None
        place = spec.origin or next(iter(spec.submodule_search_locations or ()), "")
        if not self._is_here(place) or is_of_package(place):
            return None
        if type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(name, spec.loader.path, self)
        elif spec.origin is not None:  # machine code is loaded once
            return None
        self.found.add(name)
        return spec

    def _is_here(self, path: str) -> bool:
        return os.path.join(path, "").startswith(self.folder)

    def code(self, path: str, plain: CodeType) -> CodeType:
        """The code of a file that reports; its own where it computes nothing."""
        with open(path, "rb") as file:
            data = file.read()
        try:
            source = Source.from_bytes(data, path)
            tree = parsed(source)
        except ProgramError:  # of another encoding, say
            return plain
        if not _computes(tree):
            return plain
        for place in ast.walk(tree):
            place.of_source = source  # type: ignore[attr-defined]
        text = Text(source, tree, plain.co_filename)
        code = compiled(text, ImportedFile(self.machine), _rewriter)
        self.machine.text.imports(plain, code)
        return code


class _Loader(SourceFileLoader):
    """Loads a file of the program; what Python keeps of it for the next time stays its own."""

    def __init__(self, name: str, path: str, files: ImportedFiles) -> None:
        super().__init__(name, path)
        self._files = files

    def get_code(self, fullname: str) -> CodeType | None:
        plain = super().get_code(fullname)
        with self._files.machine.recorder.telling():
            return self._files.code(self.path, plain) if plain is not None else None
        return plain


def _computes(tree: ast.Module) -> bool:
    """Whether a file imports what computes."""
    for node in ast.walk(tree):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [
            one.name for one in node.names] if isinstance(node, ast.Import) else []  # fmt: skip
        if any(name.partition(".")[0] in USED for name in names):
            return True
    return False


class ImportedFile(Listeners):
    """What a rewriter asks of its machine, for a file that the program's imports."""

    def __init__(self, machine: Any) -> None:
        super().__init__()
        self.recorder, self.main = machine.recorder, machine
        self.on_local, self.listener = machine.on_local, machine.listener
        self.calls = machine.calls
        self.globals = Globals({})
        self.given: dict[int, Any] = {}
        self.log = None  # expectations are those of the program's own text


def _rewriter(text: Text, machine: ImportedFile) -> tuple[Rewriter, dict[str, Any]]:
    """All names of the file are names of functions, to the program."""
    if machine.listener is None:
        rewriter, table = Rewriter(text, machine), {}
    else:
        rewriter = tracer = Tracer(text, machine)
        machine.teller = ImportedReporter(machine.main, text, tracer.nodes)
        table = machine.teller.table
    rewriter.is_imported = True
    return rewriter, table


class ImportedReporter(Reporter):
    """Reports between the expressions of the program, on the same stack."""

    def __init__(self, machine: Any, text: Text, nodes: list[ast.AST]) -> None:
        recorder, main = machine.recorder, machine.teller
        self.told = Within(machine.listener, machine.text, text)
        super().__init__(nodes, self.told, recorder.side, recorder.defects)  # type: ignore[arg-type]
        self.open = main.open


class Within:
    """Hands on to a listener what another file computes, with its place there."""

    def __init__(self, listener: Listener, program: Text, text: Text) -> None:
        self.listener, self.program, self.text = listener, program, text
        self.file = program.shown(text.filename)
        self.known: dict[int, Inner] = {}  # by the identity of an expression
        for name in ("enter", "begin", "drop", "loaded", "entered", "left", "given"):
            setattr(self, name, getattr(listener, name))

    def leave(self, node: ast.AST, value: Any) -> None:
        self._tell(node, self.listener.leave, value)

    def stored(self, node: ast.AST, name: str, scope: Any, value: Any) -> None:
        self._tell(node, self.listener.stored, name, scope, value)

    def written(self, node: ast.AST, owner: Any, value: Any) -> None:
        self._tell(node, self.listener.written, owner, value)

    def replaced(self, node: ast.AST, old: Any, operand: Any, new: Any) -> None:
        self._tell(node, self.listener.replaced, old, operand, new)

    def returned(self, node: ast.AST, value: Any) -> None:
        """What called the function may make something of what it returned."""
        self.listener.given(value)

    def _tell(self, node: ast.AST, tell: Callable[..., None], *facts: Any) -> None:
        call = self.program.spot(sys._getframe(2)).node
        if call is None:  # nothing of the program called it, such as what ends a thread
            if tell == self.listener.leave:
                self.listener.drop()
            return
        self.listener.within = self._inner(node)._replace(call=call)
        try:
            tell(node, *facts)
        finally:
            self.listener.within = None

    def _inner(self, node: Any) -> Inner:
        known = self.known.get(id(node))
        if known is None:
            source = self.text.source
            words = source.words_of(source.span_of(node))
            place = f"line {node.lineno} of {self.file}"
            known = self.known[id(node)] = Inner("", place, words, node)
        return known
