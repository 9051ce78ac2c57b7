"""Tests of `--engine torch` on what real programs do: they run as under Python, and the answers
about them are true."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm
from command_here import here
from test_cli import gradcli

torch = pytest.importorskip("torch")


def written(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text)
    return str(folder / "program.py")


def document(question: str, file: str, *words: str) -> dict[str, Any]:
    done = here(question, file, *words, "--engine", "torch", "--format", "json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


LARGE = """import torch
from torch import nn
import torch.nn.functional as F
def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(9, 40), nn.ReLU(), nn.Linear(40, 10))
    opt = torch.optim.{optimizer}(model.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        loss = F.cross_entropy(model(torch.randn(5, 9)), torch.arange(5))
        loss.backward()
        opt.step()
main()
"""


@pytest.mark.parametrize("optimizer", ["SGD", "Adadelta"])
def test_a_weight_that_a_step_changed_is_transposed_as_it_was(
    optimizer: str, tmp_path: Path
) -> None:
    """What a linear layer makes of its weight is held until the weight is about to change."""
    found = document("trace", written(tmp_path, LARGE.format(optimizer=optimizer)), "--all")
    nodes = {one["id"]: one for one in found["nodes"]}
    flows = {one["id"]: one for one in found["passes"][-1]["nodes"]}
    turned = [one for one in nodes.values() if one["name"] == "TBackward0"]
    assert len(turned) == 2
    for node in turned:
        flow, weight = flows[node["id"]], flows[node["next"][0][0]]
        assert flow["shape"] == weight["shape"][::-1]
        assert flow["value"] == [list(row) for row in zip(*weight["value"], strict=True)]


SHARED = """import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
seen = []
net[0].register_full_backward_hook(lambda module, given, came: None)
net[2].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.view(-1).numpy()))
x = torch.randn(2, 3, requires_grad=True)
(net(x) ** 2).sum().backward()
print(seen)
"""


def test_memory_that_a_hook_gives_away(tmp_path: Path) -> None:
    file = written(tmp_path, SHARED)
    plain = warm.python(file)
    for question in ("trace", "why"):
        done = here(question, file, "--engine", "torch")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(plain.stdout)


WRAPPED = """import torch
from torch.utils._pytree import tree_map
asked = []
class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype)
    def __init__(self, held):
        self.held = held
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        asked.append(function)
        args, kwargs = tree_map(lambda one: getattr(one, "held", one), (args, kwargs or {}))
        made = function(*args, **kwargs)
        return Wrapped(made) if isinstance(made, torch.Tensor) else made
v = torch.ones(3, requires_grad=True)
w = Wrapped(torch.ones(3)).requires_grad_()
y = (w * v).sum()
y.backward()
(v * 2).sum()
u = torch.ones(3, requires_grad=True)
(u * 3).sum().backward()
"""


def test_tensors_whose_class_computes_have_shapes_and_no_numbers(tmp_path: Path) -> None:
    file = written(tmp_path, WRAPPED)
    done = here("trace", file, "--engine", "torch")
    assert "note: 1 backward pass over tensors that have no numbers" in done.stderr
    tensors = {one["name"]: one for one in document("trace", file)["tensors"]}
    assert (tensors["w"]["shape"], tensors["w"]["value"]) == ([3], None)
    assert (tensors["v"]["grad"], tensors["u"]["grad"]) == (None, [3, 3, 3])
    assert document("why", file, "w")["verdict"] == "unexplained"
    assert document("why", file, "u")["verdict"] == "fine"
    for question in ("step", "grad"):
        done = here(question, file, "--of", "y", "--engine", "torch")
        assert done.returncode == 2
        assert "y is a tensor of the class Wrapped, which have no numbers" in done.stderr


SURROUNDINGS = """import signal, sys
print(sorted(name for name in globals() if name.startswith("__")), __annotations__, __cached__)
kinds = signal.SIGPROF, signal.SIGALRM, signal.SIGTERM
print([signal.getsignal(kind) for kind in kinds])
print(signal.getitimer(signal.ITIMER_PROF), signal.getitimer(signal.ITIMER_REAL))
while len(sys.argv) > 1:
    pass
"""


def test_time_is_limited_only_where_that_is_asked_for(tmp_path: Path) -> None:
    """A training run takes hours, and has timers and signals of its own."""
    file = written(tmp_path, SURROUNDINGS)
    plain = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    done = gradcli("run", file, "--engine", "torch")
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    done = gradcli("run", file, "--engine", "torch", "--timeout", "1", "--", "loop")
    assert done.returncode == 4
    assert "the limit of 1 second is reached; --timeout raises it" in done.stderr


NUMBERLESS = """import torch
from torch import nn
net = nn.Linear(2, 1)
net(torch.ones(1, 2)).sum().backward()
empty = nn.Linear(2, 1, device="meta")
optimizer = torch.optim.SGD(empty.parameters(), lr=0.1)
empty(torch.ones(1, 2, device="meta")).sum().backward()
optimizer.step()
exported = torch.export.export(net, (torch.ones(1, 2),))
print(float(exported.module()(torch.zeros(1, 2)) - net.bias))
"""


@pytest.mark.parametrize("question", ["trace", "why", "flow", "step", "show"])
def test_a_step_and_an_export_without_numbers(question: str, tmp_path: Path) -> None:
    """The copies of parameters that torch.export makes have gradients without numbers, too."""
    words = ("-o", str(tmp_path / "page.html")) if question == "show" else ()
    done = here(question, written(tmp_path, NUMBERLESS), *words, "--engine", "torch")
    assert done.returncode == 0, done.stderr
    assert question in ("step", "show") or "0.0\n" in done.stdout
