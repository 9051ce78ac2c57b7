"""Tests of `gradcli check --against torch`: the same checked program on PyTorch's own tensors."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from programs_under import sections
from test_cli import gradcli
from test_language import ran

from gradcli.language.libraries import using
from gradcli.live.library import require_torch
from gradcli.questions.check import check
from gradcli.questions.check.against_library import torch_library
from gradcli.questions.check.options import CheckOptions
from gradcli.recording.facts.check import FileCheck

HAS_TORCH = importlib.util.find_spec("torch") is not None
with_torch = pytest.mark.skipif(not HAS_TORCH, reason="needs PyTorch")


def against(text: str, **options: Any) -> FileCheck:
    return check(None, "program.expr", text.encode(), CheckOptions(against="torch", **options))


def problems(fact: FileCheck) -> list[tuple[str, int | None]]:
    return [(p.message, p.line) for p in fact.problems if p.kind == "against"]


X = "x = tensor([1.5, -2.0, 0.5], requires_grad=True)\n"
SAME = sections(Path(__file__).parent / "programs" / "against.txt") | {
    "values": X + "y = (x * x).sum()\ny.backward()\nprint(y, x.grad, y.grad_fn)\n",
    "python": "a = [i**2 for i in range(5)]\nprint(sum(a), {'k': a}, f'{a[2]:>5d}', {1, 2})\n",
    "operators in place": X + "y = x * 1\ny += 2\ny *= x\ny /= 2\ny **= 2\nz = y.clone()\nz //= 2\n"
                              "z %= 3\nprint(y, z, y.grad_fn.name())\n",
    "indexing": X + "b = torch.zeros(3)\nb[1:] = x[:2]\nb[0], c = x[2] * 2, b[..., None]\n"
                    "print(b, c, [v.item() for v in x], x[x > 0], len(x), 1.5 in x)\n",
    "numbers": X + "print(int(x[0]), float(x[1]), bool(x[2] > 0), round(x[0].item()), abs(x), "
                   "math.sqrt(x[0]), f'{x[0]:.2f} {x}', '%.1f' % x[0], max(x))\n",
    "several results": X + "v, i = x.max(0)\nr = torch.sort(x)\nprint(r, r.values, i, x.split(2), "
                           "torch.unbind(x))\n",
    "types": X + "print(type(x), x.dtype, x.device, x.shape, isinstance(x, torch.Tensor), "
                 "x.shape == torch.Size([3]), torch.float32, x.double().dtype)\n",
    "hooks": X + "h = x.register_hook(lambda g: g * 2)\ny = x.exp()\ny.retain_grad()\n"
                 "y.register_hook(lambda g: print('at y', g))\ny.sum().backward()\nh.remove()\n"
                 "print(x.grad, y.grad)\n",
    "graph": X + "y = (x + 1).sum()\nn = y.grad_fn\nprint(n, n.name(), n.next_functions)\n"
                 "print((x * x).grad_fn._saved_self, n.next_functions[0][0].name())\n",
    "a function of the program": X + "class F(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x): return torch.tensor(x.detach().numpy().max())\n"
        "    @staticmethod\n    def backward(ctx, g): return torch.ones(3) * g\n"
        "y = F.apply(x)\nprint(y.grad_fn, f'{y.grad_fn}', [y.grad_fn])\n",
    "second order": X + "g, = autograd.grad((x**3).sum(), x, create_graph=True)\nprint(g)\n"
                        "g.sum().backward()\nprint(x.grad)\n",
    "functional": X + "print(autograd.functional.jacobian(lambda v: v * v.sum(), x))\n",
    "modes": X + "with torch.no_grad():\n    y = x * 2\n@torch.no_grad()\ndef f(v):\n"
                 "    return v * 3\nprint(y.requires_grad, f(x).requires_grad, "
                 "torch.is_grad_enabled())\n",
    "random": "torch.manual_seed(3)\nprint(torch.randn(3), torch.rand(2, 2), torch.randperm(5))\n"
              "net = nn.Linear(3, 2)\nprint(net.weight)\n",
    "module": "torch.manual_seed(0)\nclass Net(nn.Module):\n    def __init__(self, n):\n"
              "        super().__init__()\n        self.a = nn.Linear(n, 4)\n"
              "        self.scale = nn.Parameter(torch.ones(1))\n        self.seen = 0\n"
              "    def forward(self, x):\n        self.seen += 1\n"
              "        return torch.relu(self.a(x)) * self.scale\nnet = Net(3)\n"
              "opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
              "for i in range(3):\n    opt.zero_grad()\n    loss = net(torch.ones(2, 3)).sum()\n"
              "    loss.backward()\n    opt.step()\n    print(loss.item())\n"
              "print(net, net.seen, [n for n, p in net.named_parameters()], net.training, "
              "type(net), isinstance(net, nn.Module), net.state_dict().keys())\n",
    "schedule": "w = nn.Parameter(torch.ones(1))\nopt = optim.SGD([w], lr=1.0)\n"
                "s = optim.lr_scheduler.StepLR(opt, 2)\nfor i in range(4):\n"
                "    (w**2).sum().backward()\n    opt.step()\n    s.step()\n"
                "    print(s.get_last_lr(), opt.param_groups[0]['lr'])\n",
    "function": "class Cube(autograd.Function):\n    @staticmethod\n    def forward(ctx, x, n):\n"
                "        ctx.save_for_backward(x)\n        ctx.n = n\n        return x**n\n"
                "    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
                "        print(ctx.needs_input_grad)\n"
                "        return g * ctx.n * x ** (ctx.n - 1), None\n"
                + X + "y = Cube.apply(x, 3)\nprint(y, y.grad_fn.name())\ny.sum().backward()\n"
                "print(x.grad)\n",
    "errors caught": X + "try:\n    x.view(7)\nexcept RuntimeError as e:\n    print(e)\n"
                         "try:\n    x.nothing\nexcept AttributeError as e:\n    print(e)\n",
    "warnings": X + "y = x * 2\nprint(y.grad)\n",
    "views": X + "y = x.clone()\nv = y[1:]\nv.mul_(2)\nprint(y, v, y._version, v._base is y, "
                 "v.data_ptr() == y.data_ptr())\n",
    "arrays": "import numpy as np\na = np.array([1.0, 2.0], dtype=np.float32)\n"
              "x = torch.from_numpy(a).requires_grad_()\ns = np.float64(0.5)\n"
              "L = (torch.tensor(np.float32(2.0)) * x * s).sum() * np.mean(a)\nL.backward()\n"
              "a[0] = 5\nprint(x, np.array(x.detach()), x.grad.numpy().sum(), s > x.detach())\n",
    "print options": "torch.set_printoptions(precision=2, sci_mode=True)\n"
                     "print(torch.rand(2) * 1e6)\n",
}  # fmt: skip


@with_torch
@pytest.mark.parametrize("name", SAME)
def test_the_same(name: str) -> None:
    fact = against(SAME[name])
    assert (problems(fact), fact.against) == ([], "as PyTorch")
    assert fact.error is None


ERRORS = [
    X + "y = x * 2\ny.backward()\n",
    X + "y = (x * x).sum()\ny.backward()\ny.backward()\n",
    X + "y = x.exp()\ny += 1\ny.sum().backward()\n",
    X + "x += 1\n",
    X + "z = x @ torch.ones(2, 2)\n",
    "print(torch.ones(2)[5])\n",
    "torch.ones(2).sideways()\n",
    "x = 1 / 0\n",
    "raise ValueError('mine')\n",
    "def f(n):\n    return g(n)\nf(2, 3)\n",
]


@with_torch
@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_the_same(text: str) -> None:
    fact = against(text)
    assert problems(fact) == [] and fact.error is not None and fact.exit_code == 3


@with_torch
def test_inputs() -> None:
    text = "# set: n=2\n# set: x=[1.0,2.0]\nL = (w * x).sum() ** n\nL.backward()\nprint(w.grad)\n"
    fact = against(text, sets=("w=1.5",))
    assert fact.problems == () and fact.against == "as PyTorch"
    assert against("y = torch.ones(2) / 3\n", dtype="float64").problems == ()


@with_torch
def test_the_first_difference_is_reported_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A derivative of ours is broken for the length of the test."""
    from gradcli import namespace
    from gradcli.engine.schema.row import Formula
    from gradcli.operators import catalogue

    namespace.resolve("tensor")
    row = catalogue.rows["sin"]
    wrong = tuple(Formula(f.inputs, lambda grad, self: grad * self, f.joint) for f in row.formulas)
    monkeypatch.setattr(row, "formulas", wrong)
    row.forget_formulas()
    fact = against(X + "y = x.sin()\nL = (y * 2).sum()\nL.backward()\nprint(L)\nprint(x.grad)\n")
    row.forget_formulas()
    ((words, line),) = problems(fact)
    assert words.startswith("x: the gradient is [3, -4, 1] on gradcli, [0.1414744, ")
    assert line == 1
    (problem,) = [p for p in fact.problems if p.kind == "against"]
    assert any("printed text" in line for line in problem.shown)


@with_torch
def test_own_and_foreign_runs_do_not_mix() -> None:
    for _ in range(2):
        assert against(SAME["module"]).problems == ()
        fact = check(None, "p.expr", SAME["module"].encode(), CheckOptions())
        assert fact.status == "passed" and fact.against is None


@with_torch
def test_limits_hold_there_too() -> None:
    fact = against("print('a' * 10)\n")
    assert fact.against == "as PyTorch"


def test_without_torch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n")
    program = tmp_path / "a.expr"
    program.write_text("print(1)\n")
    root = Path(__file__).parent.parent
    done = gradcli("check", str(program), "--against", "torch", PYTHONPATH=f"{tmp_path}:{root}")
    assert done.returncode == 5
    lines = done.stderr.splitlines()
    assert lines[0] == "DeviceError: --against torch: PyTorch is not installed"
    assert lines[1].startswith("help: pip install torch==2.13.0")


# ---------------------------------------------------------------- what the file is trusted with

CONTEXT = """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {line}
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * 2
x = torch.ones(2, requires_grad=True)
F.apply(x).sum().backward()
print(x.grad)
"""


@with_torch
@pytest.mark.parametrize("line", [
    "ctx.keep = x > 0; print(ctx.keep)", "ctx.apply = print", "ctx.to_save = 'x'",
    "ctx.materialize_grads = 'x'", "ctx.non_differentiable = [1]", "ctx.dirty_tensors = {}",
    "ctx.saved_for_forward = print", "ctx.vjp = 1", "ctx.forward = 1; print(ctx.forward)",
    "setattr(ctx, 'what the program keeps', 3); ctx.a = 1; print(ctx.a)",
])  # fmt: skip
def test_what_a_context_keeps_is_nothing_to_pytorch(line: str) -> None:
    assert against(CONTEXT.format(line=line)).against == "as PyTorch"


@with_torch
@pytest.mark.parametrize("given", [
    "num_workers=2", "num_workers=1, multiprocessing_context='spawn'", "num_workers=1, timeout=5",
    "num_workers=2, persistent_workers=True", "num_workers=1, worker_init_fn=print",
])  # fmt: skip
def test_a_program_starts_no_process(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing.process

    def start(self: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start)
    text = "from torch.utils.data import DataLoader, TensorDataset\n"
    text += f"d = DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2, {given})\n"
    text += "for i in range(2):\n    for b in d:\n        print(b)\nprint(len(d))\n"
    assert against(text).against == "as PyTorch"


@with_torch
def test_threads_of_the_process_stay_as_they_are() -> None:
    fact = against("torch.set_num_threads(1000000)\nprint(torch.get_num_threads())\n")
    assert fact.against == "as PyTorch" and require_torch("this test").get_num_threads() == 1


@with_torch
@pytest.mark.parametrize("name", [
    "ops", "_C", "os", "sys", "hub._get_torch_home", "classes", "serialization",
    "from_file", "UntypedStorage", "multiprocessing.get_context",
    "distributed.run", "package",
    "utils.cpp_extension", "utils.bottleneck", "_dynamo", "fx",
])  # fmt: skip
def test_names_that_are_not_ours_are_not_there(name: str) -> None:
    """The same closed list: in whatever way PyTorch's own names are reached."""
    home, _, last = f"torch.{name}".rpartition(".")
    for text in (f"print(torch.{name})", f"from {home} import {last} as found\nfound",
                 f"getattr({home}, {last!r})"):  # fmt: skip
        fact = against(text)
        assert fact.exit_code == 3 and not problems(fact)


@with_torch
@pytest.mark.parametrize("name", ["torch.profiler", "torch.autograd.profiler"])
def test_profilers_are_the_silent_ones(name: str, tmp_path: Path) -> None:
    """PyTorch's own would write files."""
    file = tmp_path / "trace.json"
    text = f"with {name}.profile() as found:\n    torch.ones(2)\n"
    fact = against(text + f"found.export_chrome_trace({str(file)!r})\n")
    assert fact.against == "as PyTorch" and not file.exists()


@with_torch
@pytest.mark.parametrize("text", [
    "m = nn.Linear(2, 2)\nm._forward_hooks = {1: print}",
    "m = nn.Linear(2, 2)\nm._parameters['weight'] = 3",
    "x = torch.ones(2, requires_grad=True)\nprint((x * 2).grad_fn.__class__.__init__)",
    "torch.ones(2).__array_interface__", "torch.ones(2).set_()",
    "torch.ones(2).untyped_storage().from_file('x')", "torch.ones(2).storage()._write_file",
    "torch.ones(2).untyped_storage().foo = 1", "torch.ones(2).storage().pickle_storage_type()",
    "torch.ones(2).numpy().tofile('x')", "torch.ones(2).numpy().base", "torch.ones(2).__dlpack__()",
    "print.__globals__", "nn.Module.__subclasses__()",
    "torch.ones(1, requires_grad=True).register_hook(print).hooks_dict_ref",
    "torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1).__reduce__()",
    "nn.Linear(2, 2).get_submodule('__class__.__init__')",
    "'{0.__class__.__mro__}'.format(nn.ReLU())",
])  # fmt: skip
def test_nothing_leads_from_pytorchs_objects_to_the_host(text: str) -> None:
    fact = against(text)
    assert fact.exit_code == 3 and not problems(fact)


@with_torch
def test_what_a_module_of_pytorchs_has_of_its_own_stays_there() -> None:
    assert against("m = nn.Linear(2, 2)\nprint(list(m.__dict__))").exit_code == 0
    text = "m = nn.Linear(2, 2)\nfor part in m.__dict__.values():\n    if type(part) is dict: "
    with using(torch_library()):
        out, outcome = ran(text + "part['weight'] = 3\nprint(m(torch.ones(2)).shape)")
    assert (out, outcome.error) == ("torch.Size([2])\n", None)


@with_torch
def test_it_is_reported_that_the_file_is_trusted(tmp_path: Path) -> None:
    program = tmp_path / "a.expr"
    program.write_text("# check: against torch\nprint(1)\n")
    assert "trusts" not in gradcli("check", str(program)).stderr
    assert '"against": null' in gradcli("check", str(program), "--format", "json").stdout
    done = gradcli("check", str(program), "--against", "torch")
    assert done.stderr.count("\n") == 1 and "it trusts them" in done.stderr
    assert gradcli("check", str(program), "--against", "torch", "-q").stderr == ""
    assert "programs that you trust" in " ".join(gradcli("check", "--help").stdout.split())
    again = gradcli("check", str(program), "--format", "json", GRADCLI_AGAINST="torch")
    assert '"against": null' in again.stdout
