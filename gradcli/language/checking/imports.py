"""language: what the checker does with imports."""

from __future__ import annotations

import ast
from itertools import takewhile

from ...diagnostics import ProgramError
from .. import modules, names
from ..names import Scope
from .checker import Checker, Handler


def _may_come_first(node: ast.stmt) -> bool:
    """A text that stands alone, or an import from __future__."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def imported(checker: Checker, name: str, path: str, node: ast.AST, scope: Scope) -> None:
    scope.bind(name, node)
    if scope.kind == "module":
        checker.imports.setdefault(name, []).append(path)


def import_(checker: Checker, node: ast.Import, scope: Scope, depth: int) -> None:
    _, spaces = names.known_paths()
    for alias in node.names:
        if alias.name not in spaces and checker.is_certain(scope):
            raise refuse_import(checker, node, alias.name)
        if alias.asname is not None:
            imported(checker, alias.asname, alias.name, node, scope)
        else:
            root = alias.name.partition(".")[0]
            imported(checker, root, root, node, scope)


def future(checker: Checker, node: ast.ImportFrom) -> None:
    """Python's compiler knows these names; its words for others."""
    checker.futures.append(node)
    for alias in node.names:
        if alias.name not in names.FUTURES:
            braces = alias.name == "braces"
            words = "not a chance" if braces else f"future feature {alias.name} is not defined"
            raise checker.refuse(node, words)


def late_futures(checker: Checker, body: list[ast.stmt]) -> None:
    """They stand at the beginning of the file: at most a docstring is in front of them."""
    first = {id(node) for node in takewhile(_may_come_first, body)} if checker.futures else ()
    for node in checker.futures:
        if id(node) not in first:
            words = "from __future__ imports must occur at the beginning of the file"
            raise checker.refuse(node, words)


def import_from(checker: Checker, node: ast.ImportFrom, scope: Scope, depth: int) -> None:
    values, spaces = names.known_paths()
    home = node.module or ""
    if home == "__future__":
        future(checker, node)
        return
    certain = checker.is_certain(scope)
    if node.level:
        words = "attempted relative import with no known parent package"
        raise checker.refuse(node, words, type="ImportError")
    if home not in spaces and certain:
        raise refuse_import(checker, node, home)
    starred = any(alias.name == "*" for alias in node.names)
    if starred and home == "torch":
        return  # the flat names are there already, and Python's builtins win
    listed = [ast.alias(name) for name in sorted(names.members(home))] if starred else node.names
    for alias in listed:
        path = f"{home}.{alias.name}"
        if certain and path not in values and path not in spaces:
            near = names.suggest_member(home, alias.name)
            notes = (f"help: did you mean {near}?",) if near else ()
            raise checker.refuse(
                node, f"cannot import name '{alias.name}' from '{home}'", *notes,
                type="ImportError",
            )  # fmt: skip
        imported(checker, alias.asname or alias.name, path, node, scope)


def refuse_import(checker: Checker, node: ast.AST, name: str) -> ProgramError:
    message, advice = modules.refusal(name)
    return checker.refuse(node, message, advice, type="ModuleNotFoundError")


HANDLERS: dict[type[ast.AST], Handler] = {ast.Import: import_, ast.ImportFrom: import_from}
