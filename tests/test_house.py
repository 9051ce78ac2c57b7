"""Tests of the house: who may import whom, and how large a file or a function may grow."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "gradcli"
MODULES = sorted(path for path in HOUSE.rglob("*.py"))
DRAWERS = ("rich", "typer")
OWN = "gradcli."

# What a room must never import: prefixes of module names, ours with their full path.
FORBIDDEN: dict[str, tuple[str, ...]] = {
    "diagnostics": ("numpy", "cupy", *DRAWERS, OWN),
    "engine": (*DRAWERS, *(OWN + room for room in ("operators", "language", "report", "render"))),
    "operators": (
        "numpy", "cupy", *DRAWERS, *(OWN + room for room in ("language", "report", "render")),
    ),
    "nn": (*DRAWERS, OWN + "language", OWN + "report", OWN + "render"),
    "optim": (*DRAWERS, OWN + "language", OWN + "report", OWN + "render"),
    "autograd": (*DRAWERS, OWN + "language", OWN + "report", OWN + "render"),
    "func": (*DRAWERS, OWN + "language", OWN + "report", OWN + "render"),
    "utils": (*DRAWERS, OWN + "language", OWN + "report", OWN + "render"),
    "language": (*DRAWERS, "cupy", OWN + "report", OWN + "render", OWN + "pipeline", OWN + "cli"),
    "report": ("rich", "typer", OWN + "language", OWN + "render", OWN + "pipeline", OWN + "cli"),
    "report/model": ("numpy", "cupy", OWN + "engine", OWN + "operators", OWN + "diagnostics"),
    "render": ("numpy", "cupy", "typer", OWN + "engine", OWN + "operators", OWN + "language"),
    "pipeline": (*DRAWERS, OWN + "cli"),
    "namespace": (*DRAWERS, OWN + "language", OWN + "report", OWN + "render"),
}  # fmt: skip
# Loaded by `gradcli --help`: nothing heavy may stand at the top of these files.
LIGHT = {
    "cli": ("numpy", "rich", OWN + "engine", OWN + "operators", OWN + "pipeline", OWN + "render"),
    "commands": ("numpy", *DRAWERS, OWN + "engine", OWN + "operators", OWN + "pipeline"),
    "door": ("numpy", *DRAWERS, OWN + "cli", OWN + "engine", OWN + "operators", OWN + "pipeline"),
    "reading": ("numpy", *DRAWERS, OWN + "cli", OWN + "engine", OWN + "operators"),
    "options": ("numpy", *DRAWERS, OWN + "engine", OWN + "operators"),
    "language/source": ("numpy", OWN + "engine"),
    "language/grammar": ("numpy", OWN + "engine.tensor"),
    "language/program": ("numpy", OWN + "engine.tensor"),
    "operators": ("numpy",),
}
LONGEST_FILE, LONGEST_FUNCTION = 500, 60


def imports(path: Path, top_only: bool = False) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file imports, type checking aside."""
    tree = ast.parse(path.read_text("utf-8"))
    package = list(path.relative_to(HOUSE.parent).with_suffix("").parts)[:-1]
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def room(path: Path) -> str:
    return path.relative_to(HOUSE).with_suffix("").as_posix()


def breaks(path: Path, table: dict[str, tuple[str, ...]], top_only: bool) -> list[str]:
    forbidden = [
        prefix
        for name, prefixes in table.items()
        if room(path) == name or room(path).startswith(name + "/")
        for prefix in prefixes
    ]
    return [
        f"{room(path)}.py:{line} imports {name}"
        for line, name in imports(path, top_only)
        if any((name + ".").startswith(prefix.rstrip(".") + ".") for prefix in forbidden)
    ]


@pytest.mark.parametrize("path", MODULES, ids=room)
def test_rooms_keep_to_themselves(path: Path) -> None:
    assert breaks(path, FORBIDDEN, top_only=False) == []
    assert breaks(path, LIGHT, top_only=True) == []


@pytest.mark.parametrize("path", MODULES, ids=room)
def test_first_line_names_the_room(path: Path) -> None:
    doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    parts = path.relative_to(HOUSE).parts
    assert doc, f"{room(path)}.py says nothing about itself"
    if len(parts) > 1:  # a file of the front hall is its own room
        name = "library" if parts[0] in ("nn", "optim") else parts[0]
        assert name in doc.splitlines()[0].lower(), f"{room(path)}: {doc[:40]!r}"


def test_nobody_imports_torch() -> None:
    guilty = [room(p) for p in MODULES for _, name in imports(p) if name.split(".")[0] == "torch"]
    assert guilty == []


def test_sizes() -> None:
    """A warning and no failure: a file that outgrows its budget is two rooms; somebody decides."""
    for path in MODULES:
        text = path.read_text("utf-8")
        if text.count("\n") > LONGEST_FILE:
            warnings.warn(f"{room(path)}.py has {text.count(chr(10))} lines", stacklevel=1)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno
                if length > LONGEST_FUNCTION:
                    where = f"{room(path)}.py:{node.lineno} {node.name}"
                    warnings.warn(f"{where} has {length} lines", stacklevel=1)
