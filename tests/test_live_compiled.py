"""Tests of `--engine torch` where the program compiles: it prints what it prints without."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from oracle import oracle, torch
from test_live import traced

from gradcli.pipeline.request import Request
from gradcli.questions.why import why_report

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")

START = """import torch, torch.nn as nn
torch.manual_seed(0)
"""
PROGRAMS = {
    "function": """@torch.compile(backend="aot_eager")
def f(x, w):
    h = torch.tanh(x @ w)
    return (h * h).sum()

w = torch.full((3, 2), .1, requires_grad=True)
loss = f(torch.ones(2, 3), w)
loss.backward()
print(loss.item(), w.grad)
""",
    "by hand": """from functorch.compile import aot_function, nop

def f(x):
    return (x * 2).sin().sum()

x = torch.ones(3, requires_grad=True)
y = aot_function(f, nop)(x)
y.backward()
print(y.item(), x.grad)
""",
    "method": """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 4)
    def forward(self, x):
        return self.scaled(torch.relu(self.a(x)))
    def scaled(self, x):
        return x * 2

net = Net()
net.compile(backend="aot_eager")
loss = net(torch.ones(2, 3)).sum()
loss.backward()
print(loss.item(), net.a.bias.grad, net.scaled(torch.ones(1)))
""",
    "training": """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=.1)

@torch.compile(backend="aot_eager")
def step(x):
    opt.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    return loss

for _ in range(3):
    print(step(torch.ones(2, 3)).item())
""",
    "derivative": """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2

cubed = torch.compile(lambda x: Cube.apply(x).sum(), backend="aot_eager", fullgraph=True)
x = torch.tensor([1., 2.], requires_grad=True)
loss = cubed(x)
loss.backward()
print(loss.item(), x.grad)
""",
}


def printed(text: str) -> str:
    torch._dynamo.reset()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "plain.py", "exec"), {"__name__": "__main__"})
    torch._dynamo.reset()
    return out.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_compiler_reads_the_code_of_the_program(name: str) -> None:
    text = START + PROGRAMS[name]
    expected = printed(text)
    found = traced(text, "torch", "program.py")
    assert found["error"] is None and found["output"] == expected
    leaves = {"function": "w", "method": "net.a.weight", "derivative": "x", "by hand": "x"}
    leaf = leaves.get(name, "net.weight")
    request = Request(text.encode(), "program.py", "program.py", engine="torch")
    _, report = why_report(request, leaf, trials=False)
    assert report.verdict == "fine"


IN_FORWARD = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec, self.spare = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(3, 4)
    def forward(self, x):
        return self.dec(torch.tanh(self.enc(x)).detach())
net = Net()
{compiled}
model(torch.ones(2, 3)).sum().backward()
"""


@pytest.mark.parametrize("way", ["model = torch.compile(net, backend='eager')",
                                 "model = net; net.compile(backend='eager')"])  # fmt: skip
def test_what_compiled_code_does_with_a_parameter_is_not_guessed(way: str) -> None:
    """A layer that no text uses is unused all the same."""
    torch._dynamo.reset()
    request = Request(IN_FORWARD.format(compiled=way).encode(), "p.py", "p.py", engine="torch")
    found = {name: why_report(request, f"net.{name}.weight", trials=False)[1].verdict
             for name in ("enc", "dec", "spare")}  # fmt: skip
    assert found == {"enc": "unexplained", "dec": "fine", "spare": "unused"}


def test_a_compiled_function_is_one_operation_at_its_call() -> None:
    torch._dynamo.reset()
    found: dict[str, Any] = traced(START + PROGRAMS["function"], "torch", "program.py")
    (root,) = [node for node in found["nodes"] if node["name"] == "CompiledFunctionBackward"]
    line = 3 + PROGRAMS["function"].splitlines().index("loss = f(torch.ones(2, 3), w)")
    assert root["line"] == line


def test_of_two_functions_in_a_line_each_runs_its_own_code(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(
        "f, g = (lambda x: x * 2), (lambda x: x.exp())\n"
        "w = torch.zeros(2, requires_grad=True)\n"
        "with inspect.record() as run:\n"
        "    loss = (f(w) + g(w)).sum()\n"
        "    loss.backward()\n"
    )
    from gradcli import inspect

    names: dict[str, Any] = {"torch": torch, "inspect": inspect}
    exec(compile(file.read_text(), str(file), "exec"), names)
    assert names["loss"].item() == 2 and names["w"].grad.tolist() == [3, 3]
    assert "".join(str(names["run"].trace())).count("ExpBackward0") == 1
