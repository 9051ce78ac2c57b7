"""Tests of `gradcli.inspect`: recordings of PyTorch from Python, and graphs that are there."""

from __future__ import annotations

import builtins
import contextlib
import gc
import io
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from command_here import here
from oracle import oracle, torch
from programs_under import sections

import gradcli
from gradcli import inspect
from gradcli.live.arrays import Arrays
from gradcli.live.planted import Planted
from gradcli.live.printed import Printer

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
PROGRAMS = Path(__file__).parent / "programs"
WHY = [
    case
    for file in ("why_none.txt", "why_numbers.txt")
    for case in sections(PROGRAMS / file).items()
]
SAME = sections(PROGRAMS / "live_same.txt")
START = """import torch, math
import torch.nn.functional as F
from torch import nn, optim{names}
from gradcli import inspect
with inspect.record() as run:
"""
SHIFT = START.count("\n")


def started(text: str) -> str:
    """The program with PyTorch's names that it uses, within a recording: each name is looked at."""
    used = {*re.findall(r"\w+", text)} & {*torch.__all__} - {*dir(builtins)}
    names = "".join(f", {name}" for name in sorted(used))
    return START.format(names=names) + "".join(f"    {line}\n" for line in text.splitlines())


def test_a_recording_answers() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    with inspect.record() as run:
        hidden = net[0](torch.ones(1, 2)).detach()
        loss = net[1](hidden).sum()
        loss.backward()
    answer = run.why("net.0.weight")
    assert answer.verdict == "detached"
    assert [label["text"] for label in answer.to_dict()["labels"]] == ["leaves the graph here"]
    assert "net[0](torch.ones(1, 2)).detach()" in repr(answer)
    assert run.why(net[1].weight).verdict == "fine"
    assert [one.verdict for one in run.why(net)] == ["detached", "detached", "fine", "fine"]
    assert repr(run.why()) == repr(run.why(net))
    document = run.trace().to_dict()
    assert document["schema"] == "gradcli.trace/1"
    grads = {t["name"]: t["grad"] for t in document["tensors"]}
    assert grads["net.1.weight"] == net[1].weight.grad.tolist() and grads["net.0.bias"] is None
    assert "<svg" in run.trace()._repr_html_()
    assert [one.verdict for one in inspect.why(net)] == ["detached", "detached", "fine", "fine"]


def test_other_questions_of_a_recording(tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(4, 2)
    with inspect.record() as run:
        for _ in range(3):
            opt.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            opt.step()
        a, b = (torch.tensor(number, requires_grad=True) for number in (2.0, 3.0))
        c = a * b
        result = (c.sin() + a) ** 2
        result.backward()
    flow = run.flow().to_dict()
    assert flow["schema"] == "gradcli.flow/1" and flow["total"] == 4
    assert not any(fact["verdict"] == "stale" for fact in flow["verdicts"])
    paths = run.paths(of=result, wrt=a).to_dict()
    assert paths["count"] == 2 and paths["equal"] and paths["sum"] == pytest.approx(a.grad.item())
    page = run.show()
    page.save(str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    assert page._repr_html_().startswith("<iframe")
    with pytest.raises(RuntimeError, match="has changed since"):
        run.paths(of=loss, wrt="net.0.weight")
    again = net(x).pow(2).mean()
    assert inspect.paths(again, net[0].weight).to_dict()["equal"]


def test_paths_of_a_pass_behind_which_an_optimizer_has_stepped() -> None:
    net = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
    net[1].weight = net[0].weight
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with inspect.record() as run:
        for _ in range(2):
            opt.zero_grad()
            loss = net(torch.tensor([1, 2])).logsumexp(-1).sum()
            loss.backward()
            opt.step()
    for name in ("net.0.weight", "net.1.weight"):  # of a tied weight each name will do
        found = run.paths(loss, name).to_dict()
        assert found["equal"] and found["wrt"] == name
        assert torch.allclose(torch.tensor(found["sum"]), net[0].weight.grad)


OWN = """
import gradcli as torch
from gradcli import inspect

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.b(self.a(x).detach())

net = Net()
with inspect.record() as run:
    out = net(torch.ones(3, 2)).sum()
    out.backward(retain_graph=True)
"""


def test_the_own_engine_is_recorded_as_well(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, "utf-8")
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(OWN, str(file), "exec"), space)
    run, net = space["run"], space["net"]
    assert [one.verdict for one in run.why(net)] == ["detached", "detached", "fine", "fine"]
    assert run.why("net.a.weight").lines == (11,)
    document = run.trace().to_dict()
    assert {node["line"] for node in document["nodes"] if node["next"]} == {11, 15}
    assert run.flow().to_dict()["total"] == 1
    assert run.paths(of=space["out"], wrt="net.b.weight").to_dict()["equal"]
    assert "<svg" in inspect.trace(space["out"], model=net)._repr_html_()


def test_an_error_says_what_took_its_root_out_of_the_graph() -> None:
    net = torch.nn.Linear(3, 2)
    with pytest.raises(RuntimeError, match="does not require grad") as raised, inspect.record():
        out = net(torch.ones(4, 3)).detach()
        out.sum().backward()
    (note,) = raised.value.__notes__
    assert "leaves the graph here" in note and "net(torch.ones(4, 3)).detach()" in note


def test_the_programs_own_error_goes_through() -> None:
    wrong = "cannot be multiplied"
    with pytest.raises(RuntimeError, match=wrong) as raised, inspect.record() as run:
        weight = torch.ones(2, 3, requires_grad=True)
        torch.ones(2) @ weight.t()
    files = [frame.path.name for frame in raised.traceback]
    assert files == [Path(__file__).name]
    document = run.trace().to_dict()
    assert document["error"]["type"] == "RuntimeError"
    assert [t["name"] for t in document["tensors"]][-1] == "weight"


def test_a_graph_that_is_there() -> None:
    net = torch.nn.Linear(2, 1)
    loss = net(torch.ones(1, 2)).sum()
    told = inspect.trace(loss, model=net)
    assert [t["name"] for t in told.to_dict()["tensors"]] == ["loss", "net.weight", "net.bias"]
    assert [n["name"] for n in told.to_dict()["nodes"]] == [
        "SumBackward0", "AddmmBackward0", "AccumulateGrad", "TBackward0", "AccumulateGrad",
    ]  # fmt: skip


def test_leaves_beside_the_model_have_the_names_of_the_caller() -> None:
    net, heads = torch.nn.Linear(2, 2), [torch.nn.Linear(2, 1)]
    scale = {"out": torch.ones(1, requires_grad=True)}
    loss = (heads[0](net(torch.ones(2))) * scale["out"]).sum()
    loss.backward()
    rows = inspect.trace(loss, model=net).to_dict()["tensors"]
    assert {row["name"] for row in rows} == {
        "loss", "net.weight", "net.bias", "heads[0].weight", "heads[0].bias", "scale['out']",
    }  # fmt: skip
    assert all(row["grad"] is not None for row in rows[1:])


def test_parameters_without_a_recording() -> None:
    inspect._latest.clear()
    net = torch.nn.Linear(2, 2)
    net.bias.requires_grad_(False)
    states = inspect.why(net)
    assert [one.verdict for one in states] == ["none", "frozen"]
    net(torch.full((1, 2), torch.nan)).sum().backward()
    assert inspect.why(net)[0].verdict == "nan"


def everything(net: Any) -> list[Any]:
    """Gradients and random numbers of a training."""
    torch.manual_seed(5)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(3):
        optimiser.zero_grad()
        loss = torch.nn.functional.dropout(net(torch.randn(4, 3)), 0.5).pow(2).mean()
        loss.backward()
        optimiser.step()
    return [*(p.grad.clone() for p in net.parameters()), *net.parameters(), torch.rand(3)]


def test_it_changes_nothing() -> None:
    before = dict(vars(torch.autograd)), torch.autograd.Function.__dict__["apply"]
    torch.manual_seed(1)
    plain = everything(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh()))
    torch.manual_seed(1)
    with inspect.record():
        watched = everything(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh()))
    assert all(torch.equal(one, other) for one, other in zip(plain, watched, strict=True))
    assert before == (dict(vars(torch.autograd)), torch.autograd.Function.__dict__["apply"])
    hooks = torch.nn.modules.module
    assert not hooks._global_forward_hooks and not hooks._global_forward_pre_hooks
    assert not torch.overrides._get_current_function_mode_stack()
    assert not any(p._backward_hooks for p in watched[:-1])


def test_apply_of_a_function_may_be_written_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in PyTorch 2.14: a descriptor that takes no attributes."""
    plain = torch._C._FunctionBase.__dict__["apply"]
    monkeypatch.setattr(torch.autograd.Function, "apply", plain)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    w = torch.ones(2, requires_grad=True)
    with inspect.record() as run:
        Twice.apply(w).sum().backward()
    assert "TwiceBackward" in str(run.trace())
    assert run.why(w).to_dict()["verdict"] == "fine"
    assert torch.autograd.Function.__dict__["apply"] is plain


def test_what_is_replaced_may_be_inherited() -> None:
    """As the call of a compiled module is in PyTorch 2.6."""
    base = type("Base", (), {"call": lambda self: "plain"})
    inner = type("Inner", (base,), {})
    planted = Planted()
    with planted.replaced(inner, "call", lambda plain: lambda self: f"{plain(self)}, heard"):
        assert (inner().call(), base().call()) == ("plain, heard", "plain")
        planted.put_aside()
        assert inner().call() == "plain"
        planted.put_back()
        assert inner().call() == "plain, heard"
    assert "call" not in vars(inner)


def test_nothing_is_unpacked_for_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where PyTorch does not give the innermost pack hook, as 2.6 does not."""
    for known in (True, False):
        if not known:
            monkeypatch.delattr(torch._C._autograd, "_top_saved_tensors_default_hooks")
        unpacked: list[Any] = []
        w = torch.ones(2, requires_grad=True)
        with inspect.record(steps=True) as run:
            with torch.autograd.graph.saved_tensors_hooks(torch.clone, unpacked.append):
                y = w.exp()
            (y * w).sum()
        run.trace()
        assert not unpacked


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("title", "text"), SAME.items(), ids=list(SAME))
def test_a_program_prints_the_same(title: str, text: str, tmp_path: Path) -> None:
    printed = []
    inside = "".join(f"    {line}" for line in text.splitlines(keepends=True))
    for place, program in enumerate((text, f"with inspect.record() as run:\n{inside}")):
        file = tmp_path / f"p{place}.py"
        file.write_text(program, "utf-8")
        space: dict[str, Any] = {"__name__": "__main__", "inspect": inspect}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(program, str(file), "exec"), space)
        printed.append(out.getvalue())
    assert printed[0] == printed[1] != ""
    assert not space["run"]._session.recorder.defects


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", SAME)
def test_a_file_prints_the_same(title: str, tmp_path: Path) -> None:
    """As a whole it runs in rewritten code."""
    file = tmp_path / "program.py"
    file.write_text(SAME[title], "utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(SAME[title], str(file), "exec"), {"__name__": "__main__"})
    for words in (["trace"], ["why"]):
        done = here(*words, str(file), "--engine", "torch", "--format", "json")
        assert json.loads(done.stdout)["output"] == out.getvalue(), done.stderr


def test_a_call_of_a_method_on_a_line_of_its_own(tmp_path: Path) -> None:
    text = (
        "import torch\nx = torch.ones(2, requires_grad=True)\nwith inspect.record() as run:\n"
        "    y = (\n        x.exp()\n        .sin()\n        .sum()\n    )\n    y.backward()\n"
    )
    file = tmp_path / "p.py"
    file.write_text(text, "utf-8")
    space: dict[str, Any] = {"__name__": "__main__", "inspect": inspect}
    exec(compile(text, str(file), "exec"), space)
    nodes = space["run"].trace().to_dict()["nodes"]
    assert [node["line"] for node in nodes if node["next"]] == [7, 6, 5]


def test_functions_defined_within_the_recording_are_followed(tmp_path: Path) -> None:
    text = (
        "from torch import nn\nwith inspect.record() as run:\n"
        "    class Scaled(nn.Module):\n        def __init__(self):\n"
        "            super().__init__()\n            self.log = nn.Parameter(torch.ones(()))\n"
        "            self.lin = nn.Linear(2, 2)\n"
        "        def forward(self, x):\n            scale = 2 * self.log.exp().item()\n"
        "            return self.lin(x) * scale ** 2\n"
        "    def mean(x):\n        weight = float(bias.exp()) + 1\n"
        "        return x.mean() * weight\n"
        "    bias = torch.zeros((), requires_grad=True)\n    net = Scaled()\n"
        "    for i in range(2):\n        loss = mean(net(torch.ones(1, 2)))\n"
        "        loss.backward()\n"
    )
    file = tmp_path / "p.py"
    file.write_text(text, "utf-8")
    space: dict[str, Any] = {"__name__": "__main__", "inspect": inspect, "torch": torch}
    exec(compile(text, str(file), "exec"), space)
    for name, line in (("net.log", 9), ("bias", 12)):
        answer = space["run"].why(name)
        assert (answer.verdict, answer.lines) == ("item", (line,))


def test_memory_is_bounded() -> None:
    """Beyond two thousand steps nothing more is kept."""
    net = torch.nn.Linear(8, 8)
    counts = []
    with inspect.record():
        for step in range(2500):
            net.zero_grad()
            net(torch.ones(2, 8)).sum().backward()
            if step in (2050, 2499):
                counts.append(nodes_alive())
    assert counts[1] <= counts[0] * 1.2


# Of no file: else the recording would tell of each tensor that is counted.
nodes_alive = eval("lambda: sum(issubclass(type(thing), Tensor) for thing in get_objects())",
                   {"get_objects": gc.get_objects, "Tensor": torch and torch.Tensor})  # fmt: skip


@pytest.mark.parametrize(("title", "text"), WHY, ids=[title for title, _ in WHY])
def test_a_verdict_is_right_or_unexplained(title: str, text: str, tmp_path: Path) -> None:
    """Of code that was running already; the place is compared where the verdict is the same."""
    verdict, name, lines, *_ = (part.strip() for part in title.split("|"))
    torch.manual_seed(67280421310721)
    file = tmp_path / "p.py"
    file.write_text(started(text), "utf-8")
    space: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(file.read_text("utf-8"), str(file), "exec"), space)
    except Exception as error:
        assert space["run"] is not None, error
    torch.set_grad_enabled(True)
    answer = space["run"].why(name)
    asked = {int(line) + SHIFT for line in lines.split()}
    if title in OTHERWISE:
        assert answer.verdict == OTHERWISE[title]
    else:
        assert answer.verdict in (verdict, "unexplained")
        if answer.verdict == verdict:
            assert set(answer.lines) <= asked


EACH_ROW = "a function's derivative for each row, of what requires no grad"
# Python's own work is not seen, nor hooks of nodes and modules, nor what makes a parameter, nor
# what torch.func differentiates.
OTHERWISE = {
    "not-registered | scale | 5 | parameters in a plain list": "not-stepped",
    "item | total | 5 | sums of losses as numbers": "not-requires-grad",
    "copied | x | 2 | a new parameter": "unused",
    "item | alpha | 3 | a number that is written and read": "unused",
    "copied | x | 3 | parameter list": "unused",
    "rebound | x | 3 | two names": "non-leaf",
    "hook | x | 3 | node hook": "zero-factor",
    "hook | x | 3 | node prehook": "cancelled",
    "flat | x.grad[2] | 4 | behind an index": "masked",
    "data | x | 3 | a Variable of data": "unused",
    f"grad-call | x | 2 | {EACH_ROW}": "not-requires-grad",
}


def test_a_function_of_the_running_frame_names_what_it_holds(tmp_path: Path) -> None:
    """Its code is not rewritten: what its names hold is seen when an optimizer steps."""
    file = tmp_path / "p.py"
    file.write_text(
        "import torch\nfrom torch import nn\nfrom gradcli import inspect\n"
        "with inspect.record() as run:\n    def main():\n"
        "        model = nn.Linear(3, 1)\n"
        "        opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "        loss = model(torch.ones(2, 3)).mean()\n        opt.step()\n    main()\n"
    )
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(file.read_text(), str(file), "exec"), space)
    answer = space["run"].why("model.weight")
    assert (answer.verdict, answer.lines) == ("backward-not-called", (8,))


def test_pytorch_is_imported_within_the_recording(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "from gradcli import inspect\nwith inspect.record() as run:\n    import torch\n"
        "    x = torch.ones(2, requires_grad=True)\n    (x.detach() * x).sum().backward()\n"
        "    y = torch.ones(2, requires_grad=True)\n    (x * y.detach()).sum().backward()\n"
        "print(run.why('y').to_dict()['verdict'])\n",
        "utf-8",
    )
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == "detached\n"


def test_importing_it_imports_no_torch() -> None:
    code = "from gradcli import inspect; import sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


class Shell:
    """As much of IPython's shell as the extension asks for."""

    def __init__(self, file: Path) -> None:
        self.file, self.user_ns, self.magics = file, {"__name__": "__main__"}, {}
        self.compile = self

    def cache(self, text: str, number: int) -> str:
        self.file.write_text(text, "utf-8")
        return str(self.file)

    def transform_cell(self, text: str) -> str:
        return text

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[kind, name] = function


def test_a_cell_runs_under_a_recording(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "cell.py")
    gradcli.load_ipython_extension(shell)
    cell = "import torch\nw = torch.ones(2, requires_grad=True)\n(w * 3).sum().backward()\n"
    answer = shell.magics["cell", "grad"]("", cell)
    assert answer.to_dict()["tensors"][0]["grad"] == [3.0, 3.0]
    assert shell.user_ns["run"].why("w").verdict == "fine"


def test_the_page_of_the_manual(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "live.md").read_text("utf-8")
    block = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    block = block.replace("page.html", str(tmp_path / "page.html"))
    file = tmp_path / "page.py"
    file.write_text(block, "utf-8")
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), space)
    assert space["run"].why("model.2.weight").verdict == "fine"


def test_zeros_that_have_no_memory_are_read() -> None:
    """PyTorch makes such a tensor where a second derivative is known to be 0."""
    arrays = Arrays(torch, contextlib.nullcontext, lambda value: value)
    for zeros in (torch._efficientzerotensor((2,)), torch.zeros(2), torch.zeros(2).neg()):
        assert arrays.array(zeros).tolist() == [0.0, 0.0]


def test_texts_are_pytorchs_whoever_prints_them() -> None:
    torch.manual_seed(0)
    values = [
        torch.randn(3, 4), torch.randn(64, 64), torch.randn(2000), torch.randn(2, 3, 4).mT,
        torch.randn(3) * 1e6, torch.tensor([1.0, torch.inf, torch.nan]), torch.arange(3),
        torch.ones(2, 0), torch.tensor(True), torch.ones(2, dtype=torch.float64), torch.tensor(2.5),
        torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.complex64).conj(),
        torch.randn(2, 2).to_sparse(), torch.imag(torch.ones(2, dtype=torch.complex64).conj()),
    ]  # fmt: skip
    printer = Printer(torch, lambda value: value, lambda value: value.numpy())
    assert [printer.text(value) for value in values] == list(map(repr, values))
    try:
        torch.set_printoptions(precision=7)
        assert printer.text(values[0]) == repr(values[0])
    finally:
        torch.set_printoptions(profile="default")


REFUSED = {
    "torch.randn(2, 3) + torch.randn(4)": "given [2, 3] and [4]",
    "torch.nn.Linear(5, 2)(torch.ones(2, 4))": "Linear is given [2, 4], its weight is [2, 5]",
    "torch.ones(1, 2) @ torch.ones(2, 1).double()": "given [1, 2] float32 and [2, 1] float64",
    "torch.nn.Embedding(3, 2)(torch.tensor([5]))": "given [1] with numbers from 5 to 5",
    "torch.cat([torch.ones(2, 3), torch.ones(3, 2)])": "given [2, 3] and [3, 2]",
    "torch.ones(2, requires_grad=True).add_(1)": "changes a leaf while gradients are recorded",
    "torch.ones(3, requires_grad=True).exp().backward()": "from a result of the shape [3]",
    "x = torch.ones(2, requires_grad=True); torch.autograd.grad(x.sum(), [x, x.exp()])": (
        "the result was not computed from it"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_an_operation_was_given_stands_beneath_its_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(started(text), "utf-8")
    with pytest.raises((RuntimeError, IndexError)) as caught:
        exec(compile(file.read_text(), str(file), "exec"), {"inspect": inspect})
    (note,) = caught.value.__notes__
    assert REFUSED[text] in re.sub(r"\s*\n\s+│\s+", " ", note)


def test_a_compiled_region_does_not_find_the_recording_in_it() -> None:
    """Neither the mode nor the hooks of modules; both are there again behind it."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    whole = torch.compile(net, backend="eager", fullgraph=True)
    part = torch.compile(lambda x: (x.sin() * 2).sum(), backend="eager", fullgraph=True)
    part(whole(torch.ones(1, 2))).backward()
    expected = net[0].weight.grad
    for _ in range(2):
        net.zero_grad()
        with warnings.catch_warnings(), inspect.record() as run:
            warnings.filterwarnings("error", ".*global hooks.*")
            for _ in range(2):
                hidden = whole(torch.ones(1, 2))
                part(hidden).backward()
            after = hidden.detach() + 1
        assert torch.equal(net[0].weight.grad, expected * 2)
        assert run.why(net)[0].verdict == "fine" and not run._session.recorder.defects
        assert after.requires_grad is False
        nodes = run.trace().to_dict()["nodes"]
        assert "TanhBackward0" in [node["name"] for node in nodes]


def test_classes_and_modes_of_the_program_observe_what_they_did() -> None:
    """What the recording looks at is no operation of the program."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[str] = []

    class Seen(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    def work() -> list[str]:
        seen.clear()
        torch.ones(2).as_subclass(Seen).mul(2).sum()
        with Mode():
            x = torch.ones(2, requires_grad=True)
            y = (x * 2).sum()
        y.backward()
        return list(seen)

    expected = work()
    with inspect.record():
        assert work() == expected


def test_a_mode_around_the_recording_observes_what_it_did() -> None:
    seen: list[str] = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    def work() -> list[str]:
        seen.clear()
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        x = torch.ones(4, 2)
        x += 1
        loss = torch.nn.functional.dropout(net(x) * 2, 0.5).sum()
        loss.backward()
        return list(seen)

    with Mode():
        expected = work()
        for reasons in (False, True):
            with inspect.record(reasons=reasons) as run:
                assert work() == expected
            assert not run._session.recorder.defects


def test_a_step_of_an_optimizer_that_fails_is_over() -> None:
    """What an optimizer computes is not listened to; what comes behind its error is."""
    net, seen = torch.nn.Linear(2, 2), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    with inspect.record() as run:
        for _ in range(2):
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        optimizer.param_groups[0]["lr"] = "much"
        with pytest.raises(TypeError):
            optimizer.step()
        net(torch.ones(1, 2)).pow(2).sum().backward()
    with Mode():
        torch.ones(2).sum()
    assert len(seen) == 2 and not run._session.recorder.defects
    assert "PowBackward0" in [node["name"] for node in run.trace().to_dict()["nodes"]]


@pytest.mark.parametrize("shapes", [[(2,)], [(2,), (3, 2), ()], [(2,), (40, 40)]])
def test_the_ledger_has_gradients_as_they_were(shapes: list[tuple[int, ...]]) -> None:
    """Each gradient is added to in place, and changed at the end."""
    leaves = [torch.ones(shape, requires_grad=True) for shape in shapes]
    leaves += [torch.ones(2, dtype=torch.float64, requires_grad=True) for _ in shapes[1:2]]
    with inspect.record(reasons=False) as run:
        for step in (1, 2):
            loss = sum((leaf * step).sum().double() for leaf in leaves)
            loss.backward()
        for leaf in leaves:
            leaf.grad.zero_()
    accounts = run.trace().to_dict()["ledger"]["grads"]
    for leaf, account in zip(leaves, accounts, strict=True):
        ones = torch.ones(leaf.shape)
        expected = [(ones.tolist(), ones.tolist()), ((2 * ones).tolist(), (3 * ones).tolist())]
        found = [(entry["amount"], entry["grad"]) for entry in account["entries"][:2]]
        assert found == (expected if leaf.numel() < 256 else [(None, None)] * 2)


def test_gradients_of_sparse_embeddings_are_recorded() -> None:
    table = torch.nn.Embedding(5, 2, sparse=True)
    with inspect.record() as run:
        table(torch.tensor([1, 1, 3])).sum().backward()
    assert not run._session.recorder.defects and run.why(table.weight).verdict == "fine"


def test_tensors_that_have_few_operations_disturb_nothing() -> None:
    """Nested ones have no sum, sparse ones no bytes."""
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
    x = torch.ones(2, 2, requires_grad=True)
    with inspect.record() as run:
        (nested * 2).to_padded_tensor(0.0).sum().backward()
        torch.sparse.mm(x.to_sparse(), torch.ones(2, 2)).sum().backward()
    assert nested.grad is not None and run.why(x).verdict == "fine"


def test_a_recording_records_once() -> None:
    recording = inspect.record()
    with recording:
        pass
    with pytest.raises(RuntimeError, match="makes another one"), recording:
        pass


def test_what_is_no_tensor_is_said_to_be_none() -> None:
    """A container is asked about as what it holds."""
    weight = torch.ones(2, requires_grad=True)
    with inspect.record() as run:
        (weight * 2).sum().backward()
    assert [one.verdict for one in run.why({"weight": weight, "rate": 0.1})] == ["fine"]
    for wrong in (lambda: run.why(object()), lambda: inspect.trace({"weight": weight})):
        with pytest.raises(TypeError, match="expected a tensor"):
            wrong()


def test_what_functions_return_is_told_beside_the_program() -> None:
    """The node of a result, when a program reads it, may be given a hook: such a pass is slow."""
    weight = torch.ones(2, requires_grad=True)

    def scaled(x: Any) -> Any:
        return x * 2

    with inspect.record() as run:
        scaled(weight).sum().backward()
    assert run.why(weight).verdict == "fine"
    assert not run._session.recorder.passes.capturing.is_off
