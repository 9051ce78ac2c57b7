"""Tests of what a text may give away: no class of ours, no host address; the same on every run."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from test_cli import gradcli

from gradcli import namespace
from gradcli.engine.schema.run_state import as_new
from gradcli.language.redaction import published
from gradcli.pipeline.request import Limits, Request
from gradcli.pipeline.run import execute

GIVEN_AWAY = re.compile(
    r"gradcli[./]|site-packages|Traceback| 0x0*[1-9a-f][0-9a-f]{6,}|\b(Lazy|ClassValue|ErrorValue|"
    r"ArrayValue|FrozenSet|Instance|Builtin|Namespace|mappingproxy)\b|functools\."
)
START = "class C:\n    def m(self):\n        return 1\n"
# One value of each kind.
VALUES = (
    "torch.ones(2)", "(lambda x: x)", "print", "torch.nn", "nn.Linear(2, 2)", "nn.Linear",
    "(i for i in [1])", "slice(1, 2)", "{1, 2}", "{'a': 1}", "[1, 'a']", "'abc'", "None", "...",
    "torch.float32", "torch.device('cpu')", "C", "C()", "ValueError('x')", "ValueError",
    "(torch.ones(1, requires_grad=True) * 2).grad_fn", "torch.ones(2).numpy()", "torch.Generator()",
    "torch.ones(1, requires_grad=True).register_hook(print)", "torch.ones(2).sum", "C().m",
    "torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)", "iter([1])", "zip([1], [2])",
    "map(print, [1])", "1j", "int", "range(3)", "frozenset({1})", "math", "torch.add", "{}.keys()",
    "torch.no_grad()", "torch.Size([1])", "'a'.join", "reversed([1])",
    "torch.utils.data.TensorDataset(torch.ones(2))", "nn.Parameter(torch.ones(2))",
)  # fmt: skip
# What is done with each; V stands for it.
USES = """
print(V) | print([V]) | print('%s' % (V,)) | print(f'{V!r}') | print(f'{V:>5}') | print({1: V})
raise ValueError(V) | assert 0, V | print(type(V)) | print(V.foo) | V.foo = 1 | del V.foo
print(V[0]) | (V)[0] = 1 | a, b = V | print(V()) | print(V(1, 2, 3, 4)) | print(V(foo=1))
print(-(V)) | print(len(V)) | print(hash(V)) | print(int(V)) | print(list(V)) | print(dict(V))
print(sorted(V)) | print(sum(V)) | print(max(V)) | print('a' in V) | print(V + 1) | print(1 + V)
print(V < 1) | print(V @ V) | print(*V) | print(**V) | raise V | print(isinstance(1, V))
print('{0.foo}'.format(V)) | print(format(V, 'd')) | print(V.__class__) | print(V.__doc__)
print(V.__name__) | print(getattr(V, 'q')) | setattr(V, 'q', 1) | print(next(V)) | print(open(V))
print('x'.join(V)) | print(torch.tensor(V)) | print(abs(V)) | print(bool(V)) | print(round(V))
print(torch.ones(3)[V]) | torch.ones(3)[0] = V | print(range(V)) | print(callable(V))
print(math.sqrt(V)) | print('%d' % V) | print('abc'.replace(V, 'a')) | print([1].index(V))
print({V: 1}) | print(V == V) | print(V.__dict__) | print(torch.typename(V)) | print(iter(V))
print(reversed(V)) | print(nn.ELU(V)) | print(nn.Conv2d(1, 1, V)) | print(nn.Sequential(V))
print(nn.Linear(2, 2).to(V)) | nn.Linear(2, 2).load_state_dict(V)
torch.autograd.functional.jacobian(V, V) | torch.func.grad(V)(V) | torch.optim.SGD(V, lr=1.0)
torch.optim.SGD([torch.ones(1)], lr=1.0).add_param_group(V)
torch.vmap(lambda x: x, in_dims=V)(torch.ones(2)) | torch.device(V) | torch.linalg.LinAlgError(V)
print(torch.linalg.LinAlgError(V)) | print(torch.Generator(V))
print(torch.utils.data.DataLoader(V))
"""


def texts(program: str) -> Iterator[str]:
    """Everything that a run says."""
    limits = Limits(timeout=20, max_memory=1 << 28, max_steps=100_000)
    text = START + program if re.search(r"\bC\b", program) else program
    with as_new():
        ran = execute(Request(text.encode(), "p.expr", limits=limits), None)
    yield ran.output
    yield from ran.warnings
    if ran.error is not None:
        yield f"{ran.error.type}: {ran.error.message}"
        yield from ran.error.notes
        yield from (label.text for label in ran.error.labels)


def check(programs: list[str]) -> None:
    for program in programs:
        for said in texts(program):
            assert GIVEN_AWAY.search(said) is None, (program, said)


@pytest.mark.parametrize("value", VALUES)
def test_no_value_gives_the_host_away(value: str) -> None:
    uses = [use.strip() for line in USES.strip().splitlines() for use in line.split(" | ")]
    check([use.replace("V", value) + "\n" for use in uses])


@pytest.mark.parametrize("part", range(8))
def test_no_function_gives_the_host_away(part: int) -> None:
    """Each name of the library with values that do not fit."""
    chosen = random.Random(part)
    programs = []
    for name in sorted(namespace.names())[part::8]:
        one, other = chosen.sample(VALUES, 2)
        programs.append(f"print(torch.{name}({one}))\n")
        programs.append(f"print(torch.{name}(torch.ones(2), {one}, dim={other}))\n")
    check(programs)


def test_errors_that_are_caught_say_the_same() -> None:
    check([
        f"try:\n    {deed}\nexcept Exception as e:\n    print(e, repr(e), e.args, [e])\n"
        for deed in ("nn.Linear(2, 2).load_state_dict(torch.nn)", "-(C)", "-(iter([1]))",
                     "torch.device(nn.ReLU())", "nn.Sequential(1)", "nn.ModuleList(C)")
    ])  # fmt: skip


@pytest.mark.parametrize(("said", "shown"), [
    ("<class 'gradcli.engine.schema.dtypes.DType'>", "<class 'torch.dtype'>"),
    ("<class 'gradcli.nn.linear.Linear'>", "<class 'torch.nn.modules.linear.Linear'>"),
    ("<class 'gradcli.language.sets.set'>", "<class 'set'>"),
    ("<class 'gradcli.nowhere.to.be.found'>", "<class 'nowhere.to.be.found'>"),
    ("[<gradcli.engine.schema.mode.no_grad object at 0x7f86446f3b80>]",
     "[<torch.autograd.grad_mode.no_grad object at 0x000000000000>]"),
    ("<MulBackward0 object at 0x000000000002>", "<MulBackward0 object at 0x000000000002>"),
    ("gradcli. is a name", "gradcli. is a name"),
])  # fmt: skip
def test_what_stands_there_instead(said: str, shown: str) -> None:
    assert published(said) == shown


def test_warnings_of_numpy_name_no_file_of_ours() -> None:
    program = "print(torch.full((2,), 1j, dtype=torch.float32))\n"
    assert "Warning: " not in gradcli("run", "-", stdin=program).stderr.replace("UserWarning: ", "")
