"""language: scopes, predefined names, and suggestions for misspelt ones."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal

from . import modules

Kind = Literal["module", "function", "class", "comprehension"]

# Namespaces that stand without an import, by the name that PyTorch programs give them.
ROOTS: dict[str, str] = {
    "torch": "torch",
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "optim": "torch.optim",
    "autograd": "torch.autograd",
    "linalg": "torch.linalg",
    "special": "torch.special",
    "fft": "torch.fft",
    "func": "torch.func",
    "math": "math",
}
# Names of PyTorch that programs use without a dot although they live deeper.
FLAT: dict[str, str] = {"Variable": "torch.autograd.Variable"}

FUTURES = frozenset(
    "absolute_import annotations barry_as_FLUFL division generator_stop generators nested_scopes "
    "print_function unicode_literals with_statement".split()
)
ERROR_NAMES = (
    "BaseException", "Exception", "ArithmeticError", "AssertionError", "AttributeError",
    "BufferError", "ConnectionError", "DeprecationWarning", "EOFError", "EnvironmentError",
    "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning",
    "GeneratorExit", "IOError", "ImportError", "IndentationError", "IndexError",
    "InterruptedError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "NotImplementedError", "OSError", "OverflowError",
    "PermissionError", "RecursionError", "ReferenceError", "RuntimeError", "RuntimeWarning",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SystemError", "SystemExit", "TabError",
    "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "UserWarning", "ValueError", "Warning", "ZeroDivisionError",
)  # fmt: skip
BUILTIN_NAMES = frozenset(
    "print range len enumerate zip map filter sorted reversed sum min max abs round pow divmod all "
    "any int float bool str repr list tuple dict set frozenset complex isinstance issubclass type "
    "iter next callable getattr hasattr setattr id hash slice object super property staticmethod "
    "classmethod format chr ord bin hex oct NotImplemented Ellipsis __name__ __file__ "
    "__doc__ open input exit quit vars dir bytes delattr ascii globals locals help".split()
) | frozenset(ERROR_NAMES)  # fmt: skip
# What a person may reach for and a program can't have: said in these words.
NOT_AVAILABLE = frozenset(
    "eval exec compile __import__ breakpoint "
    "memoryview bytearray aiter anext license credits copyright".split()
)


@lru_cache(maxsize=1)
def torch_names() -> frozenset[str]:
    """All dotted names below torch, from the one place that knows them."""
    from .. import namespace

    return namespace.names()


class Paths:
    """Full dotted names, all of which are listed only for who goes through them."""

    __slots__ = ("has", "place")

    def __init__(self, has: Callable[[str], bool], place: int) -> None:
        self.has, self.place = has, place

    def __contains__(self, path: str) -> bool:
        return self.has(path)

    def __iter__(self) -> Iterator[str]:
        return iter(_all_paths()[self.place])


def _is_value(path: str) -> bool:
    if path.startswith("torch.") and not modules.is_drawing(path):
        from .. import namespace

        return namespace.has(path[6:]) or modules.has(path)
    return modules.has(path)


def _is_space(path: str) -> bool:
    if modules.is_module(path):
        return True
    from .. import namespace

    return path.startswith("torch.") and namespace.is_space(path[6:])


LONGEST, MOST = 100, 20_000  # letters of a name that is compared with others, and how many others
_PATHS = Paths(_is_value, 0), Paths(_is_space, 1)


def known_paths() -> tuple[Paths, Paths]:
    """Full dotted names of values, and of namespaces: "torch.sin" ..., "torch.nn" ..."""
    return _PATHS


@lru_cache(maxsize=1)
def _all_paths() -> tuple[frozenset[str], frozenset[str]]:
    values = {f"torch.{name}" for name in torch_names()}
    values.update(modules.paths())
    from ..namespace.table import SPACES

    spaces = {"torch", *modules.MODULES, *(f"torch.{name}" for name in SPACES)}
    for path in values - spaces:
        while (cut := path.rfind(".")) > 0:
            path = path[:cut]
            if path in spaces:
                break
            spaces.add(path)
    return frozenset(values), frozenset(spaces)


def is_known(name: str) -> bool:
    """Whether a name that the program does not bind means something all the same."""
    return (
        name in BUILTIN_NAMES or name in ROOTS or name in FLAT
        or ("." not in name and _is_value(f"torch.{name}"))
    )  # fmt: skip


def has_meaning(name: str) -> bool:
    """Is it no name for an input: one that means something, or a function of Python's?"""
    return name in NOT_AVAILABLE or is_known(name)


def suggestion(name: str, candidates: object) -> str | None:
    """The nearest candidate, or None. Capital letters are forgiven first."""
    if len(name) > LONGEST:
        return None
    pool = [
        word
        for word in itertools.islice(candidates, MOST)  # type: ignore[call-overload]
        if not word.startswith("_") and len(word) <= LONGEST
    ]
    lowered = name.lower()
    for word in pool:
        if word.lower() == lowered and word != name:
            return word
    from difflib import get_close_matches

    near = get_close_matches(name, pool, n=1, cutoff=0.72)
    return near[0] if near else None


def members(space: str) -> list[str]:
    """The names directly below a namespace."""
    values, spaces = _all_paths()
    start = space + "."
    length = len(start)
    return [
        path[length:]
        for path in values | spaces
        if path.startswith(start) and "." not in path[length:]
    ]


def suggest_member(space: str, name: str) -> str | None:
    """The nearest name in this namespace, else the same name elsewhere in torch."""
    if space == "numpy":
        from ..arrays.table import REPLACED

        if name in REPLACED:
            return REPLACED[name]
    near = suggestion(name, sorted(members(space)))
    if near is not None:
        return f"{space}.{near}"
    for home in ("torch", "torch.nn.functional", "torch.nn", "torch.autograd", "torch.linalg"):
        if home != space and name in members(home):
            return f"{home}.{name}"
    return None


CLASS = "__class__"  # in a function of a class body: the class


class Scope:
    """Names of one block: what it binds, what it uses, what inner functions take from it."""

    __slots__ = (
        "bound", "calls", "cells", "children", "early", "free", "global_names", "host", "kind",
        "node", "nonlocal_names", "parent", "slots", "uses", "yields",
    )  # fmt: skip

    def __init__(self, kind: Kind, node: ast.AST, parent: Scope | None) -> None:
        self.kind = kind
        self.node = node
        self.parent = parent
        self.children: list[Scope] = []
        self.bound: dict[str, ast.AST] = {}
        self.uses: dict[str, ast.AST] = {}  # read as a value, at the first place
        self.calls: dict[str, ast.AST] = {}  # called by name, at the first place
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.early: set[str] = set()  # of those two, what statements have bound up to here
        self.cells: set[str] = set()  # bound here, used by a function inside
        self.free: dict[str, None] = {}  # used here or deeper, bound in a function around
        self.slots: dict[str, int] = {}  # filled by the compiler
        self.yields = False  # a function that gives a generator
        # The block whose frame holds its names: comprehensions live in the block around.
        self.host: Scope = self
        if kind == "comprehension":
            assert parent is not None
            self.host = parent.host
        if parent is not None:
            parent.children.append(self)

    def bind(self, name: str, node: ast.AST) -> None:
        """Note that a statement of this scope gives the name a value."""
        if name in self.global_names and self.kind != "module":
            self.module().bound.setdefault(name, node)
        elif name not in self.nonlocal_names:
            self.bound.setdefault(name, node)

    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def binder(self) -> Scope:
        """Where an assignment expression inside comprehensions binds."""
        scope = self
        while scope.kind == "comprehension" or type(scope.node) is ast.GeneratorExp:
            assert scope.parent is not None
            scope = scope.parent
        return scope


def resolve(module: Scope) -> None:
    """Decide for every name of every inner scope where it lives; iterative over the scopes."""
    pending = list(module.children)
    for scope in pending:
        pending.extend(scope.children)
    for scope in pending:
        for table in (scope.uses, scope.calls):
            own = scope.bound if scope.kind == "class" else ()
            for name, node in table.items():
                if not _captured(scope, name) and (name not in own or name in module.bound):
                    target = module.calls if table is scope.calls else module.uses
                    target.setdefault(name, node)
        for name in scope.nonlocal_names:
            _captured(scope, name)


def _captured(scope: Scope, name: str) -> bool:
    """Whether an inner block binds the name; marks cells and free names on the way."""
    inner = scope
    crossed: list[Scope] = []  # function scopes between the use and the binding
    current: Scope | None = scope
    while current is not None and current.kind != "module":
        if name in current.global_names:
            return False
        if name == CLASS and current.kind == "class" and current is not inner:
            current.cells.add(name)
            for function in crossed:
                function.free[name] = None
            return True
        visible = current.kind != "class" or current is inner
        if visible and name in current.bound:
            if current.kind == "class":
                return False  # the class body looks into its own table at run time
            if crossed:
                current.cells.add(name)
                for function in crossed:
                    function.free[name] = None
            return True
        if current.kind in ("function", "class"):
            crossed.append(current)
        current = current.parent
    return False


def reached(module: Scope) -> set[str]:
    """Names that the top level leads to: its own, and those of the functions that they name."""
    found: set[str] = set()
    waiting: dict[str, list[Scope]] = {}
    pending = [module]
    while pending:
        scope = pending.pop()
        names = (scope.uses.keys() | scope.calls.keys()) - found
        found |= names
        for child in scope.children:
            name = getattr(child.node, "name", None) if scope.kind == "module" else None
            if name is None or name in found or getattr(child.node, "decorator_list", None):
                pending.append(child)
            else:
                waiting.setdefault(name, []).append(child)
        for name in names & waiting.keys():
            pending.extend(waiting.pop(name))
    return found


def nonlocal_is_bound(scope: Scope, name: str) -> bool:
    """Whether a function around this one binds a name that it declares nonlocal."""
    current = scope.parent
    while current is not None and current.kind != "module":
        if current.kind == "function" and name in current.bound:
            return True
        current = current.parent
    return False
