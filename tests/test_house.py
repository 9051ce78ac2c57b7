"""Tests of the house: who may import whom, and how large a file or a function may grow."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parent.parent / "gradcli"
MODULES = sorted(path for path in HOUSE.rglob("*.py"))
DRAWERS = ("rich", "typer")
OWN = "gradcli."

# The rooms from the top down: a room imports itself and what stands below it. What is not listed
# is the ground, which everybody stands on.
ORDER = (
    (
        "__init__",
        "__main__",
        "door",
        "cli",
        "command_line",
        "inspect",
        "gate",
        "testing",
        "signatures",
        "stubs",
    ),
    ("commands",),
    ("questions",),
    ("pipeline",),
    ("live",),
    ("language",),
    (
        "namespace",
        "nn",
        "optim",
        "amp",
        "utils",
        "distributions",
        "func",
        "autograd",
        "inputs",
        "arrays",
    ),
    ("render", "output"),
    ("operators",),
    ("recording",),
    ("symbols",),
    ("numerics",),
    ("engine",),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
# The floors of the engine from the bottom up, one folder each: a file imports its own floor and
# those below, late imports included. What stands on a higher floor than its class is attached by
# `assembly`, which stands above them all.
FLOORS = ("schema", "memory", "graph", "tensors", "compile", "passes")
# What a room must never import: prefixes of module names, ours with their full path.
FORBIDDEN: dict[str, tuple[str, ...]] = {
    "diagnostics": ("numpy", "cupy", *DRAWERS, OWN),
    "engine": DRAWERS,
    "numerics": DRAWERS,
    "operators": ("numpy", "scipy", "cupy", *DRAWERS),
    "nn": DRAWERS,
    "optim": DRAWERS,
    "autograd": DRAWERS,
    "func": DRAWERS,
    "amp": DRAWERS,
    "utils": DRAWERS,
    "arrays": (*DRAWERS, "cupy", "scipy"),
    "arrays/table": ("numpy", "cupy", OWN + "engine", OWN + "operators"),
    "live": (*DRAWERS, "cupy", "torch", OWN + "render"),
    "language": (*DRAWERS, "cupy", OWN + "render"),
    "recording": DRAWERS,
    "recording/facts": ("numpy", "cupy", OWN + "engine", OWN + "operators", OWN + "diagnostics"),
    "render": ("numpy", "cupy", "typer", OWN + "engine", OWN + "operators"),
    "questions": DRAWERS,
    "pipeline": DRAWERS,
    "namespace": DRAWERS,
}
# Loaded by `gradcli --help`: nothing heavy may stand at the top of these files.
LIGHT = {
    "cli": ("numpy", "rich", OWN + "engine", OWN + "operators", OWN + "pipeline", OWN + "render"),
    "commands": ("numpy", *DRAWERS, OWN + "engine", OWN + "operators", OWN + "pipeline"),
    "door": ("numpy", *DRAWERS, OWN + "cli", OWN + "engine", OWN + "operators", OWN + "pipeline"),
    "command_line": ("numpy", *DRAWERS, OWN + "cli", OWN + "engine", OWN + "operators"),
    "options": ("numpy", *DRAWERS, OWN + "engine", OWN + "operators"),
    "language/source": ("numpy", OWN + "engine"),
    "language/grammar": ("numpy", OWN + "engine.tensors.tensor"),
    "language/program": ("numpy", OWN + "engine.tensors.tensor"),
    "operators": ("numpy",),
    "numerics": ("scipy",),
    "engine": ("scipy",),
}
LONGEST_FILE, LONGEST_FUNCTION = 500, 60


@cache
def imports(path: Path, top_only: bool = False) -> list[tuple[int, str]]:
    """Line and full name of every module that a file imports, type checking aside."""
    return list(_imports(path, top_only))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _imports(path: Path, top_only: bool) -> Iterator[tuple[int, str]]:
    tree = parsed(path)
    package = list(path.relative_to(HOUSE.parent).with_suffix("").parts)[:-1]
    for node in tree.body if top_only else _run(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that can run: not what only the type checker reads."""
    pending = [tree]
    for node in pending:
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            pending.extend(ast.iter_child_nodes(node))
            yield node


@cache
def whole_imports() -> dict[str, set[str]]:
    """For each module of ours those of ours that it imports, at the top or late."""
    names = {name_of(path): path for path in MODULES}
    found: dict[str, set[str]] = {}
    for name, path in names.items():
        wanted = (full for _, full in imports(path))
        inside = (full if full in names else full.rpartition(".")[0] for full in wanted)
        found[name] = {full for full in inside if full in names and full != name}
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules of which each leads to every other (Tarjan's strong components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


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
        if not name.startswith(OWN + "named.")  # how a tuple of fields is written
        and any((name + ".").startswith(prefix.rstrip(".") + ".") for prefix in forbidden)
    ]


def test_rooms_keep_to_themselves() -> None:
    found = {
        room(path): [*breaks(path, FORBIDDEN, top_only=False), *breaks(path, LIGHT, top_only=True)]
        for path in MODULES
    }
    assert {name: broken for name, broken in found.items() if broken} == {}


def test_no_floor_asks_upwards() -> None:
    """Late imports too; a package that imports its own part loads no room above."""
    found = {}
    for path in MODULES:
        own = RANK.get(room(path).partition("/")[0], len(ORDER))
        found[room(path)] = {
            other
            for other in whole_imports()[name_of(path)]
            if other != "gradcli" and RANK.get(other.split(".")[1], len(ORDER)) < own
        }
    assert {name: above for name, above in found.items() if above} == {}


def test_the_engine_asks_no_floor_above() -> None:
    def floor(name: str) -> int:
        folder = name.removeprefix(start).partition(".")[0]
        return FLOORS.index(folder) if folder in FLOORS else len(FLOORS)

    start = OWN + "engine."
    files = {name for name in whole_imports() if name.startswith(start)}
    above = [
        f"{name} imports {other}"
        for name in sorted(files)
        for other in whole_imports()[name] & files
        if floor(other) > floor(name)
    ]
    assert above == []


def test_no_circles() -> None:
    """Late imports too."""
    assert circles(whole_imports()) == []


# Files outside operators/ with tables that name operators: how many names, and why they stay. What
# is known of an operator stands in its row; these numbers only fall.
NAMED_IN_TABLES = {
    # PyTorch's own lists, of what has no rule: which in-place twins torch has too, how its parser
    # speaks of overloads, which kernels refuse mixed types, which functions take starred tensors,
    # what each kernel asks of an out=....
    "engine/schema/out_rules": 44,
    "engine/schema/catalogue": 60, "engine/schema/overloads": 231,
    "engine/tensors/promotion": 25, "engine/schema/signature": 10,
    # Words of types, of Python, of the language and of layers, that operators are called by too.
    "engine/schema/dtypes": 9, "engine/graph/leaf": 6, "engine/schema/module_names": 7,
    "language/builtins/iteration": 5, "language/builtins/types": 7, "language/grammar": 8,
    "options": 8, "stubs": 7, "language/standard/callables": 14,
    "language/arithmetic": 7, "language/standard/members_of_enums": 5, "nn/argument_texts": 5,
    "nn/descriptions": 23,
    "namespace/deeper_paths": 12, "questions/why/cut_edits": 5,
    "questions/why/rebound": 11, "questions/check/numeric/tape": 5, "nn/init": 10,
    # Read before any declaration is: the language's names and what it computes before a run.
    "language/cut_reasons": 47, "language/names": 17, "language/explain/operands": 5,
    "language/places": 7,
    # A rule that is code of that room, for a row whose signature says too little.
    "func/batching_rules": 36, "questions/paths/kernels": 29,
    # How mathematics is written: sin(x), not x.sin(); sqrt in LaTeX; + for add.
    "questions/paths/carrier": 57, "symbols/text": 13, "questions/ops/samples": 10,
    # NumPy's names of functions and types, Python's names of operators, einops' of reductions.
    "language/standard/einops/patterns": 7,
    "arrays/table": 12, "arrays/operators": 11, "arrays/functions": 5,
    # Words for matrices that are operators' names too; functions that look at shapes alone.
    "questions/step/local": 5, "questions/provenance/values": 12,
}  # fmt: skip
ENOUGH = 5  # names that make a table


@cache
def operator_names() -> frozenset[str]:
    """The schema names of all rows, and what their nodes are called."""
    from gradcli.operators import catalogue

    rows = catalogue.rows.values()
    nodes = (getattr(row, "node", "").rpartition("::")[2].partition("Backward")[0] for row in rows)
    return frozenset({row.name for row in rows} | set(nodes) - {""})


def in_tables(path: Path) -> set[str]:
    """The operators that a file names at its top level: keys, elements, words that are split."""
    words: set[str] = set()
    for statement in parsed(path).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Dict):
                    words.update(_texts(node.keys))
                elif isinstance(node, ast.Tuple | ast.List | ast.Set):
                    words.update(_texts(node.elts))
                elif isinstance(node, ast.Attribute) and node.attr == "split":
                    words.update(word for text in _texts([node.value]) for word in text.split())
    return {word for word in words if word.partition(".")[0] in operator_names()}


def _texts(nodes: Iterable[ast.expr | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_only_rows_name_operators() -> None:
    counted = {
        room(path): len(found)
        for path in MODULES
        if not room(path).startswith("operators/") and len(found := in_tables(path)) >= ENOUGH
    }
    assert counted == NAMED_IN_TABLES


PASSAGE = 600  # lines of the way from a text to what a run left


def test_the_passage_is_short() -> None:
    lines = [path.read_text("utf-8").count("\n") for path in (HOUSE / "pipeline").rglob("*.py")]
    assert sum(lines) < PASSAGE


def test_first_line_names_the_room() -> None:
    silent = []
    for path in MODULES:
        first = (ast.get_docstring(parsed(path)) or "").partition("\n")[0].lower()
        parts = path.relative_to(HOUSE).parts
        # A file of the front hall is its own room.
        name = "library" if parts[0] in ("nn", "optim") else parts[0] if len(parts) > 1 else ""
        if not first or name not in first:
            silent.append(f"{room(path)}: {first[:40]!r}")
    assert silent == []


# Files that read a clock, and why no answer depends on it.
CLOCKS = {
    "process/deadline": "the limit of time, which ends a program with a sentence that names it",
    "process/net": "the same, where no interpreter runs",
    "questions/check/jobs": "the same for a process of check; how long a program took is a fact",
    "live/child_process": "the same for a trial with PyTorch",
    "opening": "how long a pipe is waited for", "output/__init__": "how long its reader is",
    "output/progress": "the line of progress, on terminals",
    "recording/profile": "what --profile is asked for",
    "language/standard/clock": "formats and calendars; the time itself is counted in steps",
}  # fmt: skip


def test_no_answer_depends_on_a_clock() -> None:
    reading = {room(path) for path in MODULES for _, name in imports(path)
               if name.partition(".")[0] == "time"}  # fmt: skip
    assert reading == set(CLOCKS)


def test_nothing_imports_torch() -> None:
    guilty = [room(p) for p in MODULES for _, name in imports(p) if name.split(".")[0] == "torch"]
    assert guilty == []


def test_sizes() -> None:
    """A warning and no failure: a file that outgrows its budget is two rooms; somebody decides."""
    for path in MODULES:
        text = path.read_text("utf-8")
        if text.count("\n") > LONGEST_FILE:
            warnings.warn(f"{room(path)}.py has {text.count(chr(10))} lines", stacklevel=1)
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno
                if length > LONGEST_FUNCTION:
                    where = f"{room(path)}.py:{node.lineno} {node.name}"
                    warnings.warn(f"{where} has {length} lines", stacklevel=1)
