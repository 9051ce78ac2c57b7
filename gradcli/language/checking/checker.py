"""language: the checker of a parsed tree: what it collects, how it walks, what it refuses."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...diagnostics import Diagnostic, ProgramError
from .. import grammar
from ..names import Scope
from ..source import Source

Handler = Callable[["Checker", Any, Scope, int], None]


class Checker:
    """Refuses what is not in the language and collects the names of every scope.

    What is in it is in `handlers`: what is done with each kind of node.
    """

    def __init__(
        self, source: Source, max_nesting: int, handlers: Mapping[type[ast.AST], Handler]
    ) -> None:
        self.source = source
        self.max_nesting = max_nesting
        self.handlers = handlers
        self.module = Scope("module", ast.Module([], []), None)
        self.scopes: dict[ast.AST, Scope] = {}
        self.imports: dict[str, list[str]] = {}  # name -> full dotted names it was imported as
        self.assigned: set[str] = set()  # global names bound by something else than an import
        self.augmented_only: set[str] = set()  # global names that only `+=` and the like bind
        self.doubtful: list[ast.AST] = []  # what Python's compiler may warn of
        self.futures: list[ast.ImportFrom] = []
        self.nonlocals: list[tuple[ast.Nonlocal, Scope]] = []
        # Imports of what is not here: an error only where the program reads the name.
        self.absent: list[tuple[Any, ast.alias, str, ProgramError]] = []
        self.failing: dict[str, Diagnostic] = {}  # what reading such a name says
        self.iterables = 0  # iterables of comprehensions around the current expression
        self.loops = 0  # loops around the current statement, within its function
        self.perhaps_used: dict[str, ast.AST] = {}  # global names where code may never run
        self.perhaps_called: dict[str, ast.AST] = {}
        self.owner: str | None = None  # the class around, whose private names are its own
        self.branches = 0  # statements around the current one that decide whether it runs

    def refuse(
        self, node: Any, message: str, *notes: str, type: str = "SyntaxError"
    ) -> ProgramError:
        return self.source.error(type, message, self.source.span_of(node), *notes)

    def refuse_construct(self, node: Any) -> ProgramError:
        said, instead = grammar.words_of(node)
        while not hasattr(node, "lineno"):  # parts such as match_case have no place of their own
            node = next(ast.iter_child_nodes(node))
        return self.refuse(node, f"{said} is not part of the language", f"help: {instead}")

    def visit(self, node: Any, scope: Scope, depth: int) -> None:
        handler = self.handlers.get(type(node))
        if handler is None:
            raise self.refuse_construct(node)
        if depth > self.max_nesting:
            words = f"the limit of {self.max_nesting} levels of nesting is reached"
            raise self.source.too_deep(words, self.source.span_of(node))
        handler(self, node, scope, depth + 1)

    def block(self, body: list[ast.stmt], scope: Scope, depth: int) -> None:
        if depth > self.max_nesting and body:
            self.visit(body[0], scope, depth)  # says so
        handler_of = self.handlers.get
        inner = depth + 1
        for statement in body:
            handler = handler_of(type(statement))
            if handler is None:
                raise self.refuse_construct(statement)
            handler(self, statement, scope, inner)

    def bind(self, name: str, node: ast.AST, scope: Scope) -> None:
        """A binding that is no import."""
        scope.bind(name, node)
        if name in scope.global_names or name in scope.nonlocal_names:
            scope.early.add(name)
        if scope.kind == "module" or name in scope.global_names:
            self.assigned.add(name)
            self.augmented_only.discard(name)
        if grammar.is_foreign(name) and (scope.kind == "class" or name not in grammar.OF_FILES):
            raise self.refuse(node, f"the name {name!r} is not part of the language")

    def refuse_change_of_names(self, node: Any, scope: Scope) -> None:
        """`globals()["x"] = 1`: the dictionary is a new one here, and no name would change."""
        if type(node) is ast.Call and type(node.func) is ast.Name and not node.args:
            name = node.func.id
            if name == "globals" or (name in ("locals", "vars") and scope is self.module):
                words, instead = f"a name can't be set by {name}()", "help: assign to the name"
                raise self.refuse(node, words, instead)

    def target(self, node: Any, scope: Scope, depth: int) -> None:
        """The left side of an assignment."""
        kind = type(node)
        if kind is ast.Name:
            name = node.id
            if self.owner is not None and name.startswith("__"):
                node.id = name = grammar.mangled(name, self.owner)
            if scope is not self.module or self.augmented_only or name.startswith("__"):
                self.bind(name, node, scope)
            elif name not in self.assigned:
                self.assigned.add(name)
                scope.bound.setdefault(name, node)
        elif kind is ast.Tuple or kind is ast.List:
            if sum(type(item) is ast.Starred for item in node.elts) > 1:
                raise self.refuse(node, "multiple starred expressions in assignment")
            for item in node.elts:
                inner = item.value if type(item) is ast.Starred else item
                self.target(inner, scope, depth + 1)
        elif kind is ast.Starred:
            raise self.refuse(node, "starred assignment target must be in a list or tuple")
        else:
            if kind is ast.Subscript:
                self.refuse_change_of_names(node.value, scope)
            self.visit(node, scope, depth)

    @contextmanager
    def perhaps(self, scope: Scope) -> Iterator[None]:
        """Within it stands what may never run."""
        self.branches += 1
        if scope is not self.module:
            yield
        else:
            certain = scope.uses, scope.calls
            scope.uses, scope.calls = self.perhaps_used, self.perhaps_called
            yield
            scope.uses, scope.calls = certain
        self.branches -= 1

    def is_certain(self, scope: Scope) -> bool:
        """Does the statement run in any case? What fails there fails before anything runs."""
        return scope is self.module and not self.branches
