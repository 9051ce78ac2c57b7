"""Live: a script as Python starts it: the folder that modules are looked for in, and its package.

`python train.py` looks in the folder of the file. A file that imports `from .model import Net`, or
from the package that it lies in, is meant for `python -m project.train`, and is started so.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import NamedTuple


class Start(NamedTuple):
    """`folder` comes first in the path of modules; `spec` is that of a module of a package."""

    folder: str
    spec: ModuleSpec | None = None


def start_of(filename: str, tree: ast.Module) -> Start:
    """How Python is to start a file."""
    folder, name = os.path.split(os.path.splitext(filename)[0])
    above = [*_above(folder)]
    depth = max((_depth(node, folder, above) for node in ast.walk(tree)), default=0)
    if not depth:
        return Start(folder)
    while depth < len(above) and _is_there(above[depth], "__init__"):
        depth += 1
    full = ".".join([*(os.path.basename(one) for one in reversed(above[:depth])), name])
    spec = ModuleSpec(full, SourceFileLoader(full, filename), origin=filename)
    return Start(os.path.dirname(above[depth - 1]), spec)


def _above(folder: str) -> Iterator[str]:
    """The folders that a file lies in, from the innermost; each may be a package."""
    while os.path.basename(folder).isidentifier():
        yield folder
        folder = os.path.dirname(folder)


def _depth(node: ast.AST, folder: str, above: list[str]) -> int:
    """How many of them have to be packages for an import; 0 where none."""
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return min(node.level, len(above))
        names = [f"{node.module}.{one.name}" for one in node.names]
    else:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
    for first, _, rest in (name.partition(".") for name in names):
        if rest and not _is_there(folder, first):
            for depth, one in enumerate(above, 1):
                if os.path.basename(one) == first and _is_there(one, rest.partition(".")[0]):
                    return depth
    return 0


def _is_there(folder: str, name: str) -> bool:
    """Whether a folder has a module of this name."""
    path = os.path.join(folder, name)
    return os.path.isdir(path) or os.path.isfile(f"{path}.py")
