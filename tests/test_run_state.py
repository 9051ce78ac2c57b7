"""Tests of runs that follow each other in one process: none finds what another has changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gradcli.engine.schema.run_state import as_new
from gradcli.pipeline.request import Request
from gradcli.pipeline.run import execute

HOUSE = Path(__file__).parent.parent / "gradcli"

# Each changes what a run can change and leaves it so, or shows a part of it.
TEXTS = """
## seed
torch.manual_seed(7)
print(torch.rand(2))
## draws
print(torch.randn(3), torch.randint(9, (4,)))
## one normal number, and the second of the pair waits
print(torch.randn(1), torch.initial_seed())
## state of the stream
torch.set_rng_state(torch.Generator().manual_seed(3).get_state())
print(torch.rand(1))
## another generator
print(torch.rand(2, generator=torch.Generator().manual_seed(5)))
## dropout
print(torch.nn.functional.dropout(torch.ones(8)))
## double
torch.set_default_dtype(torch.float64)
print(torch.tensor(1.0).dtype, torch.zeros(1))
## half
torch.set_default_dtype(torch.float16)
print(torch.tensor([0.1]).dtype)
## complex
torch.set_default_dtype(torch.float64)
z = torch.tensor(1j, requires_grad=True)
(z * z).abs().backward()
print(z.grad, z.dtype)
## printing
torch.set_printoptions(precision=8, sci_mode=True)
print(torch.tensor([1 / 3]))
## profile
torch.set_printoptions(profile="full", edgeitems=1)
print(torch.arange(4.0))
## long
print(torch.arange(2000.0), torch.tensor([1 / 3, 1e-7]))
## no grad
torch.set_grad_enabled(False)
print((torch.ones(1, requires_grad=True) * 2).grad_fn)
## grad
x = torch.ones(1, requires_grad=True)
print((x * 2).grad_fn)
## modes
print(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled())
print(torch.get_default_dtype(), torch.get_num_threads(), torch.get_default_device())
## anomaly mode
torch.autograd.set_detect_anomaly(True)
x = torch.zeros(1, requires_grad=True)
(x.sqrt() * 0).sum().backward()
## not a number
x = torch.zeros(1, requires_grad=True)
(x.sqrt() * 0).sum().backward()
print(x.grad)
## hook
x = torch.ones(2, requires_grad=True)
handle = x.register_hook(lambda grad: print("at x", grad))
(x * 3).sum().backward()
print(handle.id, x.grad)
## handles
x = torch.ones(2, requires_grad=True)
print([x.register_hook(lambda grad: None).id for _ in range(3)])
## hook of a module
net = torch.nn.Linear(2, 1)
handle = net.register_forward_hook(lambda module, given, out: print("forward", out))
print(handle.id, net(torch.ones(2)))
## hook that fails
x = torch.ones(1, requires_grad=True)
x.register_hook(lambda grad: 1 / 0)
(x * x).backward()
## retained
x = torch.ones(1, requires_grad=True)
y = x * 2
y.retain_grad()
y.backward()
print(y.grad)
## saved tensors packed
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
    x = torch.ones(1, requires_grad=True)
    y = x * x
    y.backward()
    print(x.grad)
    y.backward()
## saved tensors not packed
with torch.autograd.graph.disable_saved_tensors_hooks("none here"):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        print("never")
## forward mode left open
import torch.autograd.forward_ad as fwAD
fwAD.enter_dual_level()
x = fwAD.make_dual(torch.ones(1), torch.ones(1))
print(x * 2)
## forward mode
import torch.autograd.forward_ad as fwAD
with fwAD.dual_level():
    print(fwAD.unpack_dual(fwAD.make_dual(torch.ones(1), torch.ones(1)).sin()))
## vmap that fails
torch.func.vmap(lambda x: x + torch.rand(1))(torch.ones(2))
## grad of a function
print(torch.func.grad(lambda x: (print(x), x.sin())[1])(torch.tensor(1.0)))
## threads
torch.set_num_threads(3)
print(torch.get_num_threads())
## checkpoint to the end
import torch.utils.checkpoint as cp
def twice(x):
    y = x.sin()
    print("runs")
    z = y * y
    print("to the end")
    return z
x = torch.ones(1, requires_grad=True)
with cp.set_checkpoint_early_stop(False):
    cp.checkpoint(twice, x, use_reentrant=False).sum().backward()
    print(1 / 0)
## checkpoint
import torch.utils.checkpoint as cp
def twice(x):
    y = x.sin()
    print("runs")
    z = y * y
    print("to the end")
    return z
x = torch.ones(1, requires_grad=True)
cp.checkpoint(twice, x, use_reentrant=False).sum().backward()
## device
torch.set_default_device("cpu")
with torch.device("cpu"):
    print(torch.get_default_device(), 1 / 0)
## leaf of another shape
x = torch.ones(1, 2, requires_grad=True)
y = (x * 2).sum()
with torch.no_grad():
    x.t_()
y.backward()
## warning
x = torch.ones(1, requires_grad=True)
print((x * 2).grad)
## names
x = torch.ones(1)
x.note = "mine"
class Own:
    pass
print(x.note, Own(), Own, id(x) == id(x))
## numbers of reduced precision
x = torch.tensor([0.1], dtype=torch.bfloat16, requires_grad=True)
(x * x).sum().backward()
print(x.grad)
## error inside modes
torch.manual_seed(1)
with torch.no_grad(), torch.inference_mode(), torch.autograd.detect_anomaly():
    print(1 / 0)
"""
PROGRAMS = {
    name: text for name, _, text in (part.partition("\n") for part in TEXTS.split("\n## ")[1:])
}


def _told(name: str) -> tuple[object, ...]:
    with as_new():
        ran = execute(Request(PROGRAMS[name].encode(), name), None)
        return ran.output, ran.warnings, repr(ran.error)


@cache
def _alone(name: str) -> tuple[object, ...]:
    return _told(name)


@pytest.fixture(scope="module", autouse=True)
def each_alone_first() -> None:
    """Alone means before any program has changed something, as far as one process can say."""
    for name in PROGRAMS:
        _alone(name)


@pytest.mark.parametrize("first", PROGRAMS)
def test_behind_another_as_alone(first: str) -> None:
    """This one and those below it, in turns: each is behind each."""
    names = list(PROGRAMS)
    for second in names[names.index(first) :]:
        for name in (second, first):
            assert _told(name) == _alone(name), f"{first!r} and {second!r} in turns: {name!r}"


def test_they_change_something() -> None:
    """Without a new state others would see what they did."""
    shown = ("modes", "draws", "handles", "long", "forward mode", "grad", "not a number")
    changed = set()
    for first in PROGRAMS:
        with as_new():
            execute(Request(PROGRAMS[first].encode(), first), None)
            for second in shown:
                ran = execute(Request(PROGRAMS[second].encode(), second), None)
                if (ran.output, ran.warnings, repr(ran.error)) != _alone(second):
                    changed.add(first)
    assert changed >= {
        "seed", "draws", "printing", "anomaly mode", "handles", "threads",
        "forward mode left open",
    }  # fmt: skip


def test_what_was_before_is_there_again() -> None:
    """A run inside another's questions leaves that one's state as it was."""
    from gradcli.engine.schema.mode import state
    from gradcli.numerics.random import default_generator

    state.grad_enabled = False
    default_generator.manual_seed(3)
    first = default_generator.rand((2,))
    mark = default_generator.mark()
    expected = default_generator.rand((2,))
    default_generator.return_to(mark)
    for name in PROGRAMS:
        _told(name)
    assert not state.grad_enabled
    assert default_generator.initial_seed() == 3
    assert default_generator.rand((2,)).tolist() == expected.tolist() != first.tolist()


def test_reduced_precision_ends_with_its_program() -> None:
    """Behind it passes run on arrays again; a second such program is known as one."""
    from gradcli.engine.schema.mode import state

    for name, met in (("numbers of reduced precision", True), ("draws", False)) * 2:
        with as_new():
            execute(Request(PROGRAMS[name].encode(), name), None)
            assert state.on_tensors is met


# ---- no second home for such state


# Objects of modules that functions change, and that are no part of a run.
OUTLIVES = {
    # caches: the same whoever asks
    "engine/memory/device.py _cuda",
    "language/standard/unit_tests.py SKIPPED",
    "func/batching.py _RULES", "language/adoption.py VALUES", "language/adoption.py ADOPTERS",
    "language/adoption.py _LIBRARY", "language/builtins/types.py OF_LIBRARY",
    "language/builtins/types.py _OF_LAZY", "language/builtins/types.py _OF_NODES",
    "language/builtins/types.py CONSTRUCTIBLE", "language/builtins/modules.py OF_LIBRARY",
    "language/members.py TABLES", "language/classes/builtin_bases.py _CLASSES",
    "questions/check/against_library.py _MADE",
    "arrays/values.py _CLASSES",
    "language/builtins/arguments.py FUNCTIONS",
    # by the identity of objects that end with the program
    "engine/tensors/invented_names.py _ON_TENSORS", "autograd/graph.py _shapes",
    "language/classes/__init__.py ERROR_CLASSES",
    # of the command, not of the program
    "process/deadline.py _in_force", "process/deadline.py _listening",
    "process/deadline.py _places", "process/ending.py _kept", "process/ending.py _has_run_python",
    "output/progress.py _shown",
    "columns.py _encodings",
    "engine/schema/run_state.py _PARTS", "language/libraries.py TENSORS",
    "language/libraries.py libraries",
    # of the process that runs PyTorch, not of a program of the language
    "recording/sides.py sides", "inspect/__init__.py _latest", "live/session.py _read",
}  # fmt: skip
CHANGES = frozenset(
    "add append clear discard extend insert pop popitem remove setdefault update".split()
)


def _changed_in_functions(tree: ast.Module) -> Iterator[str]:
    """Names of a module's top level that its functions rebind, or whose objects they change."""
    own = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and not _is_part(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Global):
                yield from node.names
            changed: ast.expr | None = None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                changed = node.func.value if node.func.attr in CHANGES else None
            elif isinstance(node, ast.Subscript | ast.Attribute):
                changed = node.value if isinstance(node.ctx, ast.Store | ast.Del) else None
            if isinstance(changed, ast.Name) and changed.id in own:
                yield changed.id


def _is_part(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "run_state"


def test_state_of_modules_is_part_of_the_run_or_outlives_it() -> None:
    found = {
        f"{path.relative_to(HOUSE).as_posix()} {name}"
        for path in HOUSE.rglob("*.py")
        for name in _changed_in_functions(ast.parse(path.read_text("utf-8")))
    }
    assert found - OUTLIVES == set()
    assert OUTLIVES - found == {"language/builtins/modules.py OF_LIBRARY"}  # imported there
