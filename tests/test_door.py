"""Tests of the one door: what a program can get hold of, and what it can change by writing."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reachable import OTHERS, leaf, made_by_a_program, optimizer, parameters

import gradcli
from gradcli.engine.tensors.invented_names import KEPT
from gradcli.language import values
from gradcli.language.adoption import adopt
from gradcli.language.attributes import SPECIAL_SET, set_attribute
from gradcli.language.budget import Budget
from gradcli.language.builtins.paths import resolve_path
from gradcli.language.builtins.types import CONSTRUCTIBLE
from gradcli.language.calls import call
from gradcli.language.classes import ClassValue, ProgramModule
from gradcli.language.libraries import publishes
from gradcli.language.members import members_of, members_of_type
from gradcli.language.names import known_paths
from gradcli.language.session import session
from gradcli.language.standard.torchvision.models import BasicBlock
from gradcli.language.values import Type
from gradcli.nn.module import Module
from gradcli.nn.registered import TABLES as PARTS

HOUSE = Path(gradcli.__file__).parent
PACKAGES = ("nn", "optim", "utils", "autograd", "func", "arrays", "distributions")


def test_nothing_else_can_be_reached() -> None:
    """In a process of its own: the walk calls whatever changes a mode of the library, too."""
    script = Path(__file__).with_name("reachable.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["strangers"] == {}
    assert found["objects"] > 20_000 and found["types"] > 200 and found["calls"] > 50_000


# ---------------------------------------------------------------- writing


@cache
def library_classes() -> list[tuple[str, type]]:
    """The classes that a program can name and whose objects take attributes."""
    found = []
    for path in sorted(known_paths()[0]):
        value = resolve_path(path)
        if isinstance(value, Type) and isinstance(value.host, type) and publishes(value.host):
            if value.host in CONSTRUCTIBLE and members_of_type(value.host).keeps:
                found.append((path, value.host))
    return list({kind: (path, kind) for path, kind in found}.values())


HOMES = ("torch.nn", "torch.distributions", "torch.optim", "torch.utils", "torchvision", "einops",
         "logging", "threading", "torch.quantization")  # fmt: skip


def made_at(home: str) -> Iterator[tuple[str, Any]]:
    """An object of each class there; of an abstract class none."""
    for path, kind in library_classes():
        value = made(kind) if path.startswith(home) else None
        if value is not None:
            yield path, value


def one_after_the_other() -> tuple[Any, ...]:
    opt = optimizer()
    return opt, [gradcli.optim.lr_scheduler.StepLR(opt, 1)], []


def normal() -> Any:
    return gradcli.distributions.Normal(gradcli.zeros(2), gradcli.ones(2))


def weights() -> Any:
    return gradcli.distributions.Categorical(gradcli.ones(2))


def normal_vectors() -> tuple[Any, ...]:
    return gradcli.zeros(2), gradcli.eye(2)


STARTS: tuple[Any, ...] = (
    lambda: (), lambda: (2,), lambda: (2, 2), lambda: (2, 2, 2), lambda: (1, 1, 1, 1),
    lambda: (parameters(),), lambda: (parameters(), 0.1), lambda: (optimizer(),),
    lambda: (optimizer(), 1), lambda: (optimizer(), 0.1, 1.0), lambda: (optimizer(), [1]),
    lambda: (optimizer(), 0.5, 2), lambda: (optimizer(), abs), lambda: ([0, 1], 1),
    lambda: (gradcli.utils.data.TensorDataset(leaf()),), lambda: (leaf(),),
    lambda: (gradcli.utils.data.TensorDataset(leaf()), [0]), lambda: ([[1]],),
    lambda: ([gradcli.optim.lr_scheduler.StepLR(optimizer(), 1)],), lambda: (1, (1, 1)),
    one_after_the_other, lambda: ("LSTM", 2, 2), lambda: (parameters(), {"lr": 0.1}),
    lambda: (gradcli.nn.TransformerEncoderLayer(4, 2), 1), lambda: (4, 2),
    lambda: ([0, 1], 1, True), lambda: ([gradcli.nn.ReLU()], leaf()),
    lambda: (gradcli.nn.TransformerDecoderLayer(4, 2), 1), lambda: (4, 2, 1, 1), lambda: ("a.txt",),
    lambda: (0.5, 0.5), lambda: (0.5, 1.5), lambda: (leaf().exp(),), lambda: (3, leaf().exp()),
    normal_vectors, lambda: (normal(), 1), lambda: (normal(), []), lambda: (weights(), normal()),
    lambda: ((2,), (1, 2)), lambda: ([gradcli.distributions.ExpTransform()],),
    lambda: (gradcli.distributions.ExpTransform(), 1), lambda: (0.5, 0.5, 0.5), lambda: (0.5,),
    lambda: (gradcli.zeros(2), gradcli.ones(2, 1), gradcli.ones(2)), lambda: ("a -> a",),
    lambda: ("a -> a", "sum"), lambda: (4, 6, [2]), lambda: (BasicBlock, [1, 1, 1, 1]),
)  # fmt: skip


def made(kind: type) -> Any:
    for start in STARTS:
        try:
            return kind(*start())
        except Exception:
            continue
    return None


OWN = re.compile(r"\bself\.([A-Za-z_]\w*)")
READ = re.compile(r"\b(?:value|module|kind|cls|owner)\.([A-Za-z_]\w*)")
ASKED = re.compile(r'\b(?:getattr|hasattr)\(([^"\n]*(?:\n[^"\n]*)?"[A-Za-z_]\w*"(?:, "\w*")?)')


# Where objects of a program are: what prints answers is given facts.
ROOMS = (*PACKAGES, "amp", "engine", "language", "operators", "questions", "recording")


@cache
def names_looked_up() -> set[str]:
    """Every name that is read from an object that somebody was given."""
    names: set[str] = set()
    for path in sorted(path for room in ROOMS for path in (HOUSE / room).rglob("*.py")):
        text = path.read_text("utf-8")
        asked = " ".join(ASKED.findall(text))
        names |= {*READ.findall(text), *re.findall(r'"([A-Za-z_]\w*)"', asked)}
    return names


@cache
def names_of_its_own(path: str) -> set[str]:
    return set(OWN.findall(Path(path).read_text("utf-8")))


@cache
def names_read(kind: type) -> list[str]:
    """Those names, and what the classes that this one builds on read from `self`."""
    files = {getattr(sys.modules[part.__module__], "__file__", None) for part in kind.__mro__}
    ours = (file for file in files if file is not None and file.startswith(str(HOUSE)))
    return sorted(names_looked_up().union(*map(names_of_its_own, ours)))


@pytest.fixture
def running() -> Iterator[None]:
    session.reset(Budget(), lambda text: None)
    session.budget.start()
    yield


def test_every_class_can_be_made(running: None) -> None:
    classes = library_classes()
    found = [path for home in HOMES for path, _ in made_at(home)]
    missing = [path for path, _ in classes if path not in found]
    sets = [path for path in missing if path.startswith("torchvision.datasets.")]
    assert [path for path in missing if path not in sets] == [
        "torch.nn.modules.conv._ConvNd",  # abstract classes, one of them by two names
        "torch.optim.lr_scheduler.LRScheduler",
        "torch.optim.lr_scheduler._LRScheduler",
        "torch.utils.data.IterableDataset",
    ]
    assert len(sets) == 5  # which need files
    assert len(classes) > 150


def read_by_the_library(value: Any) -> dict[str, Any]:
    """The object's own dictionary and its tables, without what is kept beside them."""
    own = {name: item for name, item in value.__dict__.items() if name != KEPT}
    own.update((table, list(own[table].items())) for table in PARTS if own.get(table))
    return own


def changed(value: Any, before: dict[str, Any]) -> set[str]:
    now = read_by_the_library(value)
    found = {
        name for name, item in now.items()
        if item is not before.get(name, now) and not same(item, before.get(name, now))
    }  # fmt: skip
    return found | (before.keys() - now.keys())


def same(a: Any, b: Any) -> bool:
    """By identity, the entries of tables too: tensors compare element by element."""
    if type(a) is list and type(b) is list and len(a) == len(b):
        return all(x is y or (x[0] == y[0] and x[1] is y[1]) for x, y in zip(a, b, strict=True))
    return a is b


def restore(value: Any, place: str, before: dict[str, Any]) -> None:
    value.__dict__.pop(place, None)
    if place in before:
        value.__dict__[place] = dict(before[place]) if place in PARTS else before[place]


@pytest.mark.parametrize("home", HOMES)
def test_writing_changes_only_what_is_documented(home: str, running: None) -> None:
    """Whatever is set: what the library reads is as before, but for the names of TAKES."""
    called: list[str] = []
    trap = values.Builtin("trap", lambda *args, **kwargs: called.append(path))
    for path, value in made_at(home):
        settable = members_of(value).settable
        before = read_by_the_library(value)
        for name in names_read(type(value)):
            for new in (trap, "__getattribute__", {}, values.Plain()):
                with suppress(AttributeError, TypeError, ValueError):
                    set_attribute(value, name, new)
            for place in changed(value, before):
                table = next((t for t in PARTS if name in dict(before.get(t) or ())), None)
                assert place in (name, table), f"setting {path}.{name} changed {place}"
                assert name in settable, f"{path}.{name} is read by the library"
                restore(value, place, before)
    assert called == []


@pytest.mark.parametrize("home", HOMES)
def test_parts_go_into_their_tables_only(home: str, running: None) -> None:
    parts = gradcli.nn.Parameter(leaf().detach()), gradcli.nn.ReLU()
    for path, value in made_at(home):
        if not isinstance(value, Module):
            continue
        before = read_by_the_library(value)
        for name in names_read(type(value)):
            for new in parts:
                with suppress(AttributeError, TypeError, KeyError):
                    set_attribute(value, name, new)
            for place in changed(value, before):
                where = f"setting {path}.{name} changed {place}"
                assert place in PARTS or name in members_of(value).settable, where
                assert place in (*PARTS, name), where
                restore(value, place, before)


def slots_of(value: Any) -> dict[str, Any]:
    """All that an object holds, in its dictionary and in slots."""
    held = dict(getattr(value, "__dict__", {}))
    for part in type(value).__mro__:
        slots = part.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__weakref__", "__dict__") and hasattr(value, name):
                held[name] = getattr(value, name)
    return held


def test_what_takes_no_attributes_stays_as_it_is(running: None) -> None:
    """Arrays, distributions, generators, patterns, files, records, ...: of each type one object."""
    made_here = {**made_by_a_program(), **made_by_a_program(OTHERS)}
    flat = [v for value in made_here.values() for v in (value, *parts_of(value))]
    kinds = {type(value): value for value in flat}
    trap = values.Builtin("trap", lambda *args: None)
    seen = 0
    for kind, value in kinds.items():
        own = issubclass(kind, (values.Instance, values.Function, ClassValue, ProgramModule))
        if own or kind in SPECIAL_SET or members_of(value).keeps:
            continue  # the program's own, or seen above
        seen += 1
        before, settable = slots_of(value), members_of(value).settable
        for name in names_read(kind):
            for new in (trap, "__getattribute__"):
                with suppress(AttributeError, TypeError, ValueError, RuntimeError):
                    set_attribute(value, name, new)
        now = slots_of(value)
        differing = {name for name in {*now, *before} if now.get(name) is not before.get(name)}
        assert differing <= {*settable, "_extra", "kept"}, (kind, differing)
    assert seen > 40


def parts_of(value: Any) -> tuple[Any, ...]:
    return tuple(value) if type(value) in (list, tuple) else ()


# ---------------------------------------------------------------- the library's own code


def looked_up(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names that are found at run time, and constants of a class that are read from an object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("getattr", "setattr", "hasattr", "delattr", "vars"):
                word = node.args[1] if len(node.args) > 1 else node
                if not isinstance(word, ast.Constant):
                    yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "self" and re.fullmatch("[A-Z]{2}[A-Z_]*", node.attr):
                yield node.lineno, ast.unparse(node)


# Where a name is looked up all the same: the names come from tables of the library.
FROM_TABLES = {
    "nn/attention.py": 6,  # the members of SDPBackend
    "nn/configured.py": 5,  # SETTINGS, PASSED, SHOWN; two methods of a class that is being made
    "utils/checkpoint.py": 3,  # the wish of a switch's class
    "autograd/__init__.py": 1,  # names that the module gives later
    "arrays/functions.py": 1,  # NumPy's functions of the table
    "arrays/joining.py": 1,  # four of NumPy's objects
    "arrays/ufuncs.py": 1,  # methods of the table, on the class that is being made
    "arrays/methods.py": 4,  # NumPy's methods, and the classes that are being made
    "arrays/operators.py": 18,  # Python's operators, on the classes that are being made
    "arrays/streams.py": 3,  # the methods of NumPy's generators
    "nn/uninitialized.py": 1,  # methods of the class that is being made
    "func/carrier.py": 8,  # operators of a class that is being made, the fields of a tensor
    "func/observed_passes.py": 3,  # the events of the engine
    "func/dual.py": 2,  # the fields of a tensor's meta
}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_library_looks_up_no_name_of_a_program(package: str) -> None:
    found = {}
    for path in sorted((HOUSE / package).rglob("*.py")):
        places = list(looked_up(ast.parse(path.read_text("utf-8"))))
        name = path.relative_to(HOUSE).as_posix()
        if len(places) > FROM_TABLES.get(name, 0):
            found[name] = places
    assert found == {}


def test_adopt_refuses_what_no_one_decided_about() -> None:
    from gradcli.defects import Defect

    for stranger in (object(), ast, memoryview(b"x")):
        with pytest.raises(Defect):
            adopt(stranger)
        with pytest.raises(Defect):
            adopt([1, (stranger,)])
        with pytest.raises(Defect):
            adopt({"a": [stranger]})


def test_a_function_of_the_program_is_handed_values_only(running: None) -> None:
    from gradcli.defects import Defect

    received: list[Any] = []
    function = values.Builtin("f", lambda *args: received.extend(args))
    function(*[len], [1])
    assert type(received[0]) is values.Builtin and received[1] == [1]
    with pytest.raises(Defect):
        function(ast)
    assert call(function, (1,), {}) is None
