"""Tests of faults as they are met in training scripts: verdict and lines, asked of PyTorch itself.

`programs/live_faults.txt` has the scripts. `#!` stands on lines that the answer must have, `#?` on
lines that it may have. A title names the verdicts that are right: `error` and `stale` are read off
the trace.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from oracle import oracle, torch
from programs_under import sections

from gradcli import inspect
from gradcli.pipeline.request import Request
from gradcli.questions.step import report as walked
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.questions.why import why_report
from gradcli.render import json as documents, trace as tree, why as page
from gradcli.render.text import Look

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
FAULTS = sections(Path(__file__).parent / "programs" / "live_faults.txt")
START = "with inspect.record() as run:\n"
Found = tuple[str, set[int]]


def marked(text: str, mark: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if mark in line}


def of_trace(wanted: str, name: str, document: dict[str, Any]) -> Found:
    if wanted == "error":
        error = document["error"]
        return ("error", {label["line"] for label in error["labels"]}) if error else ("", set())
    stale = [fact for fact in document["ledger"]["stale"] if fact["name"] == name]
    return ("stale" if stale else "", {fact[key] for fact in stale for key in ("first", "update")})


def check(title: str, text: str, found: Found) -> None:
    verdicts, _, _ = (part.strip() for part in title.split("|"))
    verdict, lines = found
    must = marked(text, "#!")
    assert verdict in verdicts.split(), found
    assert must <= lines <= must | marked(text, "#?"), (must, lines)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "argv", ["p.py"])
    torch.manual_seed(1)
    yield
    torch.set_grad_enabled(True)


@pytest.mark.parametrize(("title", "text"), FAULTS.items(), ids=list(FAULTS))
def test_a_script_on_the_command_line(title: str, text: str) -> None:
    wanted, name, _ = (part.strip() for part in title.split("|"))
    request = Request(text.encode(), "p.py", "p.py", engine="torch")
    if wanted in ("error", "stale"):
        report = trace_report(recorded(request, None), Options(texts=False))
        found = of_trace(wanted, name, json.loads("".join(documents.trace(report))))
    else:
        _, answer = why_report(request, name, trials=False)
        found = answer.verdict, set(answer.lines)
    check(title, text, found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("title", "text"), FAULTS.items(), ids=list(FAULTS))
def test_a_recording_of_what_a_script_does(title: str, text: str, tmp_path: Path) -> None:
    """`with record()` around all that comes behind its functions and classes."""
    wanted, name, _ = (part.strip() for part in title.split("|"))
    lines = text.splitlines(keepends=True)
    cut = max(part.end_lineno or 0 for part in ast.parse(text).body if is_definition(part))
    file = tmp_path / "p.py"
    file.write_text("".join(lines[:cut]) + START + "".join("    " + line for line in lines[cut:]))
    space: dict[str, Any] = {"__name__": "__main__", "inspect": inspect}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(RuntimeError):
        exec(compile(file.read_text(), str(file), "exec"), space)
    run = space["run"]
    if wanted in ("error", "stale"):
        found = of_trace(wanted, name, run.trace().to_dict())
    else:
        answer = run.why(name)
        found = answer.verdict, set(answer.lines)
    found = found[0], {line - (line > cut) for line in found[1]}
    check(title, text, found)


PAGE = (Path(__file__).parent.parent / "docs" / "live.md").read_text("utf-8")
GALLERY = re.findall(
    r"### (.+?)\n\n```python\n(.+?)```\n\n`gradcli why train.py (\S+) .+?`\n\n```text\n(.+?)```",
    PAGE,
    re.DOTALL,
)


@pytest.mark.parametrize(("title", "text", "name", "answer"), GALLERY)
def test_the_gallery_of_the_manual(title: str, text: str, name: str, answer: str) -> None:
    request = Request(text.encode(), "train.py", "train.py", engine="torch")
    ran, report = why_report(request, name, trials=False)
    assert "".join(page.text(report, ran.text, Look(False, True, 80))) == answer


def test_there_are_ten_of_them() -> None:
    assert len(GALLERY) == 10


def is_definition(part: ast.stmt) -> bool:
    return isinstance(part, (ast.ClassDef, ast.FunctionDef, ast.Import, ast.ImportFrom))


def test_a_number_that_goes_nowhere_is_no_reason(tmp_path: Path) -> None:
    """Of a running frame only the text says where a number goes: here into a name that is bound
    again before it is used."""
    file = tmp_path / "p.py"
    file.write_text(
        "import torch\n" + START + "    a, b = torch.ones(2, 2, requires_grad=True).unbind()\n"
        "    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()\n"
        "    k = a.sum().item()\n    k = 3.0\n    (b * k).sum().backward()\n"
    )
    space: dict[str, Any] = {"__name__": "__main__", "inspect": inspect}
    exec(compile(file.read_text(), str(file), "exec"), space)
    answer = space["run"].why("a")
    assert (answer.verdict, answer.lines) == ("unexplained", (5,))


PARTS = """import copy, torch
from torch import nn

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain, self.norm = nn.Parameter(torch.ones(4)), nn.LayerNorm(4)
        self.scale, self.lin = nn.Parameter(torch.ones(())), nn.Linear(4, 1)
    def forward(self, x):
        scale = 2 * self.scale.exp().item()
        return self.lin(x * self.gain.detach()) * scale

def number(x):
    return x.mean().item()

def rounded(x):
    return x.data * 2, torch.round(x)

def twin(net):
    return copy.deepcopy(net)

class Trainer:
    def __init__(self, model):
        self.model = model
    def twice(self, x):
        loss = self.model(x).mean()
        loss.backward()
        loss.backward()

class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.pool = nn.Linear(4, 4), nn.Linear(4, 2)
    def forward(self, x):
        h = self.lin(x)
        return {"last": h, "pooled": self.pool(h)}

def fit(net, made, x):
    for parameter in net.parameters():
        parameter.data = parameter.data.clone()
    opt = made()
    for turn in range(2):
        opt.zero_grad()
        net(x)["last"].sum().backward()
        opt.step()
"""
TRAIN = """import torch
from torch import nn
from live_parts import Head, number
head, gate, body = Head(), nn.Linear(3, 1), nn.Linear(3, 4)
{start}    for i in range(2):
        x = torch.randn(5, 3)
        loss = head(torch.tanh(body(x))).mean() * number(gate(x))
        loss.backward()
"""
IN_PARTS = {
    "head.gain": ("detached", "detach() on line 11 of live_parts.py"),
    "head.scale": ("item", "item() on line 10 of live_parts.py"),
    "head.norm.weight": ("unused", "loss was not computed from head.norm.weight"),
    "gate.weight": ("item", "item() on line 14 of live_parts.py"),
    "head.lin.bias": ("fine", ""),
}


@pytest.mark.parametrize("is_running", [False, True])
def test_what_another_file_does_is_named(
    is_running: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is the one that calls it; the words name the other file and its line."""
    (tmp_path / "live_parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "live_parts", raising=False)
    text = TRAIN.format(start=START if is_running else "if True:\n")
    file = tmp_path / "train.py"
    file.write_text(text)
    space: dict[str, Any] = {"__name__": "__main__", "inspect": inspect}
    if is_running:
        exec(compile(text, str(file), "exec"), space)
    for name, (verdict, words) in IN_PARTS.items():
        if is_running:
            answer: Any = space["run"].why(name).to_dict()
            found, reason, lines = answer["verdict"], answer["reason"], answer["lines"]
        else:
            request = Request(text.encode(), str(file), str(file), engine="torch")
            _, report = why_report(request, name, trials=False)
            found, reason, lines = report.verdict, report.sentence, list(report.lines)
        assert (found, words in reason) == (verdict, True), (name, reason)
        assert lines == [8] or verdict not in ("detached", "item")
    del sys.modules["live_parts"]


def test_an_object_of_another_file_and_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "live_parts.py").write_text(PARTS)
    monkeypatch.delitem(sys.modules, "live_parts", raising=False)
    text = (
        "import torch\nfrom live_parts import Trainer\n"
        "trainer = Trainer(torch.nn.Linear(2, 1))\ntrainer.twice(torch.ones(3, 2))\n"
    )
    file = tmp_path / "train.py"
    request = Request(text.encode(), str(file), str(file), engine="torch")
    report = trace_report(recorded(request, None), Options(texts=False))
    told = json.loads("".join(documents.trace(report)))
    names = {row["name"]: row["grad"] for row in told["tensors"]}
    assert names.keys() == {"trainer.model.weight", "trainer.model.bias"}
    assert names["trainer.model.bias"] == [1.0]
    (label,) = told["error"]["labels"]
    assert label["line"] == 4 and label["text"].endswith("raised on line 28 of live_parts.py")
    del sys.modules["live_parts"]


def test_a_module_of_functions_is_no_operand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "live_parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = (
        "import torch\nimport live_parts\nx = torch.tensor([1.5], requires_grad=True)\n"
        "y = torch.tensor([1.5], requires_grad=True)\n"
        "net = torch.nn.Linear(1, 1)\ntwin = live_parts.twin(net)\n"
        "loss = (live_parts.rounded(x)[0] * twin(live_parts.rounded(y)[1])).sum()\n"
        "loss.backward()\n"
    )
    words = {
        "x": ("data", ".data on line 17 of live_parts.py"), "net.bias": ("copied", "twin(net)"),
        "y": ("flat", "y + (live_parts"),
    }  # fmt: skip
    for name, (verdict, said) in words.items():
        monkeypatch.delitem(sys.modules, "live_parts", raising=False)
        request = Request(text.encode(), "p.py", "p.py", engine="torch")
        _, report = why_report(request, name, trials=False)
        assert report.verdict == verdict and report.trial is not None
        assert said in report.sentence + report.trial.advice
    del sys.modules["live_parts"]


def test_an_attribute_of_a_module_that_was_there_before_is_not_computed() -> None:
    """It came of none of the module's parameters, and so nothing takes it out of their graph."""

    class Scaled(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.base, self.temperature = torch.nn.Linear(2, 1), torch.ones(1)

        def forward(self, x: Any) -> Any:
            return self.base(x) / self.temperature

    model = Scaled()
    with inspect.record() as run:
        model(torch.ones(3, 2)).sum().backward()
    assert run.why(model.temperature).to_dict()["verdict"] == "not-requires-grad"


@pytest.mark.parametrize("name", ["net.pool.weight", "spare.weight"])
def test_what_another_file_trains_is_unused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer whose result nobody takes, and one that is only given to the optimizer."""
    (tmp_path / "live_parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "live_parts", raising=False)
    text = (
        "import torch\nfrom live_parts import Pooled, fit\n"
        "net, spare = Pooled(), torch.nn.Linear(2, 1)\n"
        "def made():\n"
        "    return torch.optim.SGD([*net.lin.parameters(), *spare.parameters()], lr=0.1)\n"
        "fit(net, made, torch.ones(3, 4))\n"
    )
    request = Request(text.encode(), "p.py", "p.py", engine="torch")
    _, report = why_report(request, name, trials=False)
    assert (report.verdict, report.lines) == ("unused", (3, 6))
    del sys.modules["live_parts"]


LAYERS = """import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(2, 2)]
        self.out = nn.Linear(2, 1)
    def forward(self, x):
        h = self.out(self.blocks[0](x)) * 0
        return torch.where(h > 0, h.sqrt(), h)

class Trainer:
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.w = torch.ones(2, requires_grad=True)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def loss(self, x):
        return self.net(x).sum() + (self.w * x).sum()
    def step(self, x):
        self.loss(x).backward()
        self.opt.zero_grad()
        self.opt.step()
    def update(self):
        self.w = self.w - 0.1 * self.w.grad
"""
USES = """import torch
from live_layers import Plain, Trainer
net, trainer = Plain(), Trainer()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(3, 2)).sum().backward()
net.blocks[0].weight.grad.fill_(1.0)
opt.step()
trainer.step(torch.ones(2))
trainer.update()
trainer.loss(torch.ones(2)).backward()
"""
IN_LAYERS = {
    "net.blocks[0].weight": ("not-registered", [4], "a plain list"),
    "net.out.weight": ("masked-nan", [5], "where drops values of h.sqrt() on line 11 of "),
    "trainer.w": ("rebound", [9], "on line 9 trainer.w was rebound"),
}


@pytest.mark.parametrize("name", IN_LAYERS)
def test_objects_of_another_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds a parameter, what a mask hides, what a method binds."""
    (tmp_path / "live_layers.py").write_text(LAYERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "live_layers", raising=False)
    request = Request(USES.encode(), "p.py", "p.py", engine="torch")
    _, report = why_report(request, name, trials=False)
    assert report.sentence is not None
    found = report.verdict, list(report.lines), IN_LAYERS[name][2] in report.sentence
    assert found == (*IN_LAYERS[name][:2], True), report.sentence
    del sys.modules["live_layers"]


MODEL = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
    def forward(self, x):
        h = torch.tanh(self.a(x))
        return h.sum(1)
def loss_of(out, y):
    d = (out -
         y)
    return (d * d).mean()
"""
USES_MODEL = """import torch
from live_model import Net, loss_of
net = Net()
loss = loss_of(net(torch.ones(4, 2)), torch.zeros(4))
loss.backward()
"""


def test_nodes_of_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the line that called it, and the expression and the line there."""
    (tmp_path / "live_model.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "live_model", raising=False)
    request = Request(USES_MODEL.encode(), "p.py", "p.py", engine="torch")
    report = trace_report(recorded(request, None))
    told = {report.nodes[at].name: (place.file, place.line, place.source)
            for at, place in report.elsewhere}  # fmt: skip
    file = "live_model.py"
    assert told == {
        "MeanBackward0": (file, 13, "(d * d).mean()"), "MulBackward0": (file, 13, "d * d"),
        "SubBackward0": (file, 11, "out - y"), "SumBackward1": (file, 9, "h.sum(1)"),
        "TanhBackward0": (file, 8, "torch.tanh(self.a(x))"),
        "AddmmBackward0": (file, 8, "self.a(x)"), "TBackward0": (file, 8, "self.a(x)"),
    }  # fmt: skip
    assert {fact.place.line for fact in report.nodes if fact.place is not None} == {4}
    rows = tree.text(report, Look(whole=True))
    assert "out - y" in rows and f"4, {file}:11" in rows
    options = walked.Options()
    _, steps = walked.steps_report(walked.recorded(request, None, options), options, texts=True)
    del sys.modules["live_model"]
    known = dict(report.elsewhere)
    assert [step.elsewhere for step in steps.walks[0].steps] == [
        known.get(at) for at in range(len(report.nodes))
    ]
