"""Live: the functions of a text that torch.compile may read: they keep the code that they have.

What it reads is the code of a function, and of those that it calls. It can't read the calls that a
rewritten function has among its constants. Which functions these are is found by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
WORD = "compile"


def compiled_functions(tree: ast.Module) -> list[Function]:
    """Those that are compiled, and those that they may call."""
    parts = list(ast.walk(tree))
    if not any(WORD in (getattr(one, "attr", ""), getattr(one, "id", "")) for one in parts):
        return []
    named = _named(parts)
    libraries = {
        (alias.asname or alias.name).partition(".")[0]
        for part in parts if isinstance(part, (ast.Import, ast.ImportFrom))
        for alias in part.names if alias.name not in ("torch", WORD)
    }  # fmt: skip
    pending = list(_roots(parts, named, libraries))
    found: dict[int, Function] = {}
    for function in pending:
        if id(function) not in found:
            found[id(function)] = function
            for word in _words(function):
                pending.extend(named.get(word, ()))
    return list(found.values())


def _named(parts: Iterable[ast.AST]) -> dict[str, list[Function]]:
    """Functions by what they are called; those of a class by its name too, in "" all of these."""
    found: dict[str, list[Function]] = {"": []}
    for part in parts:
        if isinstance(part, ast.ClassDef):
            methods = [one for one in ast.walk(part) if isinstance(one, FUNCTIONS)]
            found.setdefault(part.name, []).extend(methods)
            found[""] += methods
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.setdefault(part.name, []).append(part)
        elif isinstance(part, ast.Assign):
            lambdas = [one for one in ast.walk(part.value) if isinstance(one, ast.Lambda)]
            for name in (_name(target) for target in part.targets) if lambdas else ():
                found.setdefault(name, []).extend(lambdas)
    return found


def _roots(
    parts: Iterable[ast.AST], named: dict[str, list[Function]], libraries: set[str]
) -> Iterator[Function]:
    """Those that are handed to torch.compile, or that it decorates; of a value that is no function
    by its name the functions of all classes."""
    for part in parts:
        for decorator in getattr(part, "decorator_list", ()):
            if any(_is_compile(one, libraries) for one in ast.walk(decorator)):
                yield from [part] if isinstance(part, FUNCTIONS) else named[part.name]  # type: ignore[attr-defined]
        if isinstance(part, ast.Call) and _is_compile(part.func, libraries):
            owner = getattr(part.func, "value", None)
            given = [*part.args, *(one.value for one in part.keywords if one.arg == "model")]
            for one in given if _name(owner) in ("torch", "") else [owner]:
                if isinstance(one, ast.Lambda):
                    yield one
                elif isinstance(one, ast.expr) and not isinstance(one, ast.Constant):
                    yield from named.get(_name(one)) or named[""]


def _is_compile(part: Any, libraries: set[str]) -> bool:
    """torch.compile, compile of torch, or the method of a module: not re.compile."""
    return _name(part) == WORD and _name(getattr(part, "value", None)) not in libraries


def _name(part: Any) -> str:
    return str(getattr(part, "attr", "") or getattr(part, "id", ""))


def _words(function: ast.AST) -> Iterator[str]:
    return (word for part in ast.walk(function) if (word := _name(part)))


def codes_without(code: CodeType, functions: Iterable[Function]) -> Iterator[CodeType]:
    """A code and those in it, but for those of these functions."""
    left = {
        (getattr(one, "name", "<lambda>"), line)
        for one in functions
        for line in (one.lineno, *(part.lineno for part in getattr(one, "decorator_list", ())))
    }

    def within(code: CodeType) -> Iterator[CodeType]:
        yield code
        for inner in code.co_consts:
            is_left = isinstance(inner, CodeType) and (inner.co_name, inner.co_firstlineno) in left
            if isinstance(inner, CodeType) and not is_left:
                yield from within(inner)

    return within(code)
