"""Tests of safety: nothing of the host is reachable, and no work escapes the budget."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from test_cli import gradcli

from gradcli.diagnostics import Diagnostic, ExitStatus, ProgramError
from gradcli.language.attributes import TABLES
from gradcli.language.budget import Budget
from gradcli.language.grammar import OPERATOR_METHODS
from gradcli.language.interpreter import run
from gradcli.language.program import parse
from gradcli.language.source import Source


def outcome_of(text: str, budget: Budget | None = None) -> tuple[str, Diagnostic | None]:
    out: list[str] = []
    try:
        program = parse(Source(textwrap.dedent(text)))
    except ProgramError as error:
        return "", error.diagnostic
    outcome = run(program, {}, budget=budget, write=out.append)
    return "".join(out), outcome.error


ESCAPES = r'''
().__class__.__bases__[0].__subclasses__()
----
print("{0.__class__.__mro__}".format(1))
----
print("{0.code}".format(lambda: 0))
----
print("{0.__globals__}".format(print))
----
print("%(x)s".__class__.__base__)
----
getattr(print, "__self__")
----
getattr(lambda: 0, "__globals__")
----
getattr(lambda: 0, "code")
----
getattr(torch.ones(1), "_data")
----
getattr(torch.ones(1), "_kind")
----
getattr(torch.ones(1), "__array__")
----
getattr(torch.ones(1, requires_grad=True).sum().grad_fn, "row")
----
getattr(torch.ones(1, requires_grad=True).sum().grad_fn, "saved")
----
torch.os.system("true")
----
torch.sys
----
getattr(torch, "os")
----
torch.nn.functional.np
----
import os
os.fork()
----
import torch.os
----
from torch import sys
----
__import__("os")
----
eval("1")
----
exec("1")
----
open("/etc/passwd")
----
globals()['__builtins__']
----
vars(torch)
----
print.__self__
----
(lambda: 0).__code__
----
(x for x in [1]).gi_frame
----
[].append.__self__
----
try:
    1 / 0
except ZeroDivisionError as e:
    e.__traceback__
----
try:
    1 / 0
except ZeroDivisionError as e:
    print(getattr(e, "__traceback__"))
----
try:
    1 / 0
except ZeroDivisionError as e:
    e.with_traceback(None)
----
class A:
    pass
A.__base__.__subclasses__
----
class A(type): pass
A.__mro__[1].__subclasses__(A)
----
class A(torch.Tensor): pass
----
type(torch.float32)("O")
----
torch.dtype("O")
----
type(torch.ones(1, requires_grad=True).sum().grad_fn)()
----
nn.Linear(1, 1)._parameters["weight"] = 5
----
getattr(nn.Linear(1, 1), "_modules")["forward"] = nn.ReLU()
----
nn.Linear(1, 1)._modules.keys = 5
----
nn.Linear(1, 1)._buffers["__class__"] = nn.Linear
----
nn.Linear(1, 1)._modules._table
----
getattr(nn.Linear(1, 1), "__dict__")["_transient"]
----
m = nn.Linear(1, 1)
m._forward_hooks = {}
----
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self._modules = 5
Net()
----
setattr(torch.ones(1), "__class__", int)
----
torch.sin = 3
----
math.sin = 3
----
print.x = 1
----
int.x = 1
----
torch.load("x")
----
torch.load("/etc/passwd")
----
torch.ones(1).numpy().dump("x")
----
torch.ones(1).numpy().tofile("x")
----
torch.ones(1).numpy().ctypes
----
f"{torch.ones(1)._data}"
----
"".join.__self__
----
str.format_map("{a.__class__.__base__}", {"a": 1})
----
"{a[0].__globals__}".format_map({"a": [len]})
----
----
(1).__class__(5).__class__.__base__
----
sorted([1], key=eval)
----
super().__init__()
----
nn.Linear(1, 1).get_submodule("__class__")
----
dir.__self__
----
x = breakpoint
----
torch.autograd.Function.apply.__func__
'''.strip("\n").split("\n----\n")  # fmt: skip


@pytest.mark.parametrize("text", ESCAPES, ids=range(len(ESCAPES)))
def test_no_way_out(text: str) -> None:
    out, error = outcome_of(text)
    assert error is not None, out
    assert error.exit_status is ExitStatus.PROGRAM_ERROR
    assert error.span is not None
    assert "gradcli" not in error.message


def test_every_step_may_be_the_last() -> None:
    """Fail at the n-th step, for every n: always the limit, never another error."""
    text = """
    def f(a):
        try:
            return sum(x * a for x in range(3)) + len(sorted([3, 1, 2], key=lambda v: -v))
        except Exception:
            return -1
        finally:
            a = 0
    total = 0
    for i in range(3):
        with torch.no_grad():
            total += f(i)
    print(total, {k: [k] for k in range(2)}, "-".join(["a", "b"]))
    """
    steps = 0
    while steps < 500:
        out, error = outcome_of(text, Budget(max_steps=steps))
        if error is None:
            break
        assert error.exit_status is ExitStatus.LIMIT_REACHED, (steps, error)
        assert out == ""
        steps += 1
    assert out == "18 {0: [0], 1: [1]} a-b\n"
    assert 20 < steps < 500


def test_two_runs_print_the_same() -> None:
    text = """
    print({"b", "a", "c"}, f, id(f) == id(f), hash("x"), [lambda: 0], object)
    print(torch.ones(1, requires_grad=True).sum().grad_fn, zip([1]), f.__name__)
    """
    text = "def f(): pass\n" + textwrap.dedent(text)
    first, error = outcome_of(text)
    assert error is None and first.startswith("{'b', 'a', 'c'} <function f at 0x000000000001>")
    assert outcome_of(text)[0] == first


def test_no_table_offers_two_underscores() -> None:
    """Names from tables are the only ones after a dot; the few with underscores are known."""
    allowed = {"_version", "_base", "_is_view", "_grad", "__len__", "__cause__"}
    allowed |= {"_replace", "_asdict", "_fields"}  # Python's own, of named tuples
    allowed |= {"_tensor_name"}  # of a pruning method, which programs look for among hooks
    # What a program's own transforms and distributions write, or ask of PyTorch's.
    allowed |= {"_call", "_inverse", "_cache_size", "_batch_shape", "_event_shape"}
    allowed |= {"_validate_args", "_validate_sample", "_extended_shape"}
    allowed |= {"_check_input_dim", "_conv_forward", "_get_name"}  # which layers of a program call
    allowed |= {"__dict__"}  # of a module of PyTorch's: a copy
    allowed |= {"_indices", "_values", "_nnz", "_dimI", "_dimV"}  # of sparse tensors
    allowed |= {"_natural_params", "_log_normalizer", "_mean_carrier_measure"}
    allowed |= {"__getitem__", "__iter__"}  # what data sets are asked, by programs as by loaders
    allowed |= {"__next__"}  # of iterators: what next() does
    allowed |= OPERATOR_METHODS  # of tensors: what operators do, by the names of their methods
    for kind, members in TABLES.items():
        names = {*members.methods, *members.properties, *members.settable}
        hidden = {name for name in names if name.startswith("_")}
        if issubclass(kind, tuple):  # a named tuple of a program that ran before: _1, renamed
            hidden -= {*getattr(kind, "_fields", ())}
        saved = {name for name in hidden if name.startswith(("_saved_", "_raw_saved_"))}
        assert hidden - saved <= allowed, kind


def test_a_class_of_a_program_is_empty_for_the_host() -> None:
    """Beneath the objects of a program's classes lies a class with their name, and no more.

    Only what the library itself calls is there, and leads back into the program.
    """
    text = """
    class A:
        secret = 1
        def __init__(self): self.x = 1
        def __add__(self, other): return 5
    class Net(nn.Linear):
        secret = 2
        def forward(self, x): return super().forward(x)
    a, net = A(), Net(2, 1)
    """
    outcome = run(parse(Source(textwrap.dedent(text))), {}, write=lambda text: None)
    assert outcome.error is None
    for name in ("a", "net"):
        host = type(outcome.bindings[name])
        made = {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__"}
        of_python = {"_abc_impl", "__abstractmethods__"}  # in any class that may be abstract
        assert set(vars(host)) - made - of_python <= {"forward", "__add__"}
        assert not hasattr(outcome.bindings[name], "secret")


HASHES = """
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    x: object
class S(str):
    def __hash__(self):
        print(super().__hash__())
        return 1
nan = float("nan")
print(hash(nan), hash(complex(0, nan)), hash((1, nan)), hash(frozenset([nan, 2.5])), hash(A(nan)))
class T(str):
    pass
print({T("a"): 1}["a"], {"a": 2}[T("a")])
print(hash(A("a")), hash((1, A("b"))), hash(A("a")) == hash(A("a")), {A("a"): 1}[A("a")], {S("a")})
print({nan, 5.0, float("nan"), 3}, {1, 2} | {nan, 1e300})
print([a.x for a in {A(str(i)) for i in range(5)}])
"""


def test_what_python_salts_or_takes_from_an_address_is_the_same_in_every_process() -> None:
    """Hashes of texts within others, and of a NaN; the order of a set that holds one."""
    command = [sys.executable, "-m", "gradcli", "run", "-"]
    told = {
        subprocess.run(
            command, input=HASHES, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONMALLOC": allocator},
        ).stdout
        for seed, allocator in (("1", "malloc"), ("2", "pymalloc"))
    }  # fmt: skip
    assert len(told) == 1
    assert "True 1" in told.pop()


def test_a_thread_that_failed_says_why_and_where() -> None:
    text = "import threading\ndef f():\n    raise ValueError('a\\nb')\n"
    done = gradcli("run", "-", stdin=text + "threading.Thread(target=f).start()\nprint(1)\n")
    told = "note: a thread ended with ValueError: a, line 3\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", told)


def test_a_file_that_torch_save_did_not_write() -> None:
    text = "import io\nfor held in (b'garbage', b'PK' + bytes([3, 4] + [0] * 100)):\n"
    text += "    try: print(torch.load(io.BytesIO(held)))\n"
    text += "    except Exception as error: print(type(error).__name__, error)\n"
    done = gradcli("run", "-", stdin=text)
    first, second = done.stdout.splitlines()
    assert first == "UnpicklingError invalid load key, 'g'."
    assert second.startswith("RuntimeError PytorchStreamReader failed reading zip archive")
