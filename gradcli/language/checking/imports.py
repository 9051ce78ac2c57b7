"""language: what the checker does with imports."""

from __future__ import annotations

import ast
from itertools import groupby, takewhile
from typing import Any

from ...diagnostics import ProgramError
from ...namespace.absent import absence
from .. import modules, names
from ..names import Scope
from .checker import Checker, Handler


def _may_come_first(node: ast.stmt) -> bool:
    """A text that stands alone, or an import from __future__."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def imported(checker: Checker, name: str, path: str, node: ast.AST, scope: Scope) -> None:
    if name == "__debug__":
        raise checker.refuse(node, "cannot assign to __debug__")
    scope.bind(name, node)
    if scope.kind == "module":
        checker.imports.setdefault(name, []).append(path)


def import_(checker: Checker, node: ast.Import, scope: Scope, depth: int) -> None:
    _, spaces = names.known_paths()
    for alias in node.names:
        if alias.name not in spaces and checker.is_certain(scope):
            bound = alias.asname or alias.name.partition(".")[0]
            if bound == "torch" and modules.is_elsewhere(alias.name, ""):
                alias.name = bound  # torch itself is here; what is not fails where it is used
                imported(checker, bound, bound, node, scope)
                continue
            put_off(checker, node, alias, bound, refuse_import(checker, node, alias.name))
        elif alias.asname is not None:
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
    """They are at the beginning of the file, or of a notebook's cell: at most a docstring is in
    front of them."""
    if not checker.futures:
        return
    from bisect import bisect_right

    source = checker.source
    begins = source.cells if source.is_notebook else []
    first: set[int] = set()
    for _, cell in groupby(body, lambda node: bisect_right(begins, node.lineno)):
        first.update(id(node) for node in takewhile(_may_come_first, cell))
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
    starred = any(alias.name == "*" for alias in node.names)
    if starred and scope.kind != "module":
        raise checker.refuse(node, "import * only allowed at module level")
    if home not in spaces and certain:
        error = refuse_import(checker, node, home)
        for alias in node.names:
            put_off(checker, node, alias, alias.asname or alias.name, error)
        return
    if starred and home == "torch":
        return  # the flat names are there already, and Python's builtins win
    listed = [ast.alias(name) for name in sorted(names.members(home))] if starred else node.names
    for alias in listed:
        path = f"{home}.{alias.name}"
        if certain and path not in values and path not in spaces:
            absent, instead = absence(home, alias.name), modules.refused_name(home, "")
            near = None if absent else names.suggest_member(home, alias.name)
            if absent:
                instead = f"help: {modules.REAL}"
            notes = (instead,) if instead else (f"help: did you mean {near}?",) if near else ()
            words = absent or f"cannot import name '{alias.name}' from '{home}'"
            error = checker.refuse(node, words, *notes, type="ImportError")
            put_off(checker, node, alias, alias.asname or alias.name, error)
            continue
        imported(checker, alias.asname or alias.name, path, node, scope)


def refuse_import(checker: Checker, node: ast.AST, name: str) -> ProgramError:
    message, advice = modules.refusal(name)
    return checker.refuse(node, message, advice, type="ModuleNotFoundError")


def _home(node: Any, alias: ast.alias) -> str:
    return (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name


def put_off(checker: Checker, node: Any, alias: ast.alias, bound: str, error: ProgramError) -> None:
    """A module that real Python would find may be missing, as long as nothing uses it."""
    home = _home(node, alias)
    if alias.name == "*" or not modules.is_elsewhere(home, alias.name):
        raise error
    checker.absent.append((node, alias, bound, error))


def without_unused(checker: Checker, body: list[ast.stmt]) -> dict[str, None]:
    """Take imports out that nothing reads, and say whose they were.

    What the top level reads in any case is refused; what other code reads fails when that runs.
    """
    if not checker.absent:
        return {}
    read = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    left: dict[str, None] = {}
    for node, alias, bound, error in checker.absent:
        if bound in checker.module.uses or bound in checker.module.calls:
            raise error
        node.names.remove(alias)
        if bound in read:
            checker.module.bind(bound, node)
            checker.failing[bound] = error.diagnostic
        else:
            left[_home(node, alias)] = None
    return left


HANDLERS: dict[type[ast.AST], Handler] = {ast.Import: import_, ast.ImportFrom: import_from}
