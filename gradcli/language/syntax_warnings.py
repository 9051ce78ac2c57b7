"""language: warnings that Python gives before a program runs: `x is 1`, `assert (x, "text")`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

LITERALS = (
    ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.JoinedStr,
)  # fmt: skip


def is_doubtful(node: ast.AST) -> bool:
    """Whether Python's compiler is worth asking about a part of the tree."""
    if isinstance(node, ast.Compare):
        return any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops) and any(
            isinstance(part, LITERALS) for part in (node.left, *node.comparators)
        )
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Tuple)
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, LITERALS)
    return isinstance(node, ast.Call) and isinstance(node.func, LITERALS)


def syntax_warnings(nodes: Iterable[Any]) -> Iterator[str]:
    """The warnings, in the words of the Python that runs; the parts are compiled and never run."""
    for node in nodes:
        part: Any = ast.Expression(node) if isinstance(node, ast.expr) else ast.Module([node], [])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                compile(part, "<program>", "eval" if isinstance(node, ast.expr) else "exec")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        for warning in caught:
            if issubclass(warning.category, SyntaxWarning):
                yield str(warning.message)
