"""Tests of `--engine torch`: PyTorch and Python run a program, and the answers are the same."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm
from command_here import here
from oracle import oracle, torch
from programs_under import sections
from test_cli import gradcli

from gradcli.command_line import read
from gradcli.live.captured import Capturing
from gradcli.live.passes import PassTeller
from gradcli.numerics.twister import DEFAULT_SEED
from gradcli.opening import UsageError
from gradcli.pipeline.request import Limits, Ran, Request
from gradcli.pipeline.run import execute
from gradcli.questions import paths, picture
from gradcli.questions.interventions import watching
from gradcli.questions.shown_pass import keep
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.questions.why import why_report
from gradcli.render import json as documents

ROOT = Path(__file__).parent.parent
EXPRESSIONS = sorted((ROOT / "expressions").rglob("*.expr"))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

needs_torch = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")


def traced(text: str, engine: str, name: str = "program.expr", **more: Any) -> dict[str, Any]:
    """The document of `gradcli trace`."""
    ran = ran_with(text, engine, name, **more)
    document = "".join(documents.trace(trace_report(ran, Options(texts=False))))
    answer: dict[str, Any] = json.loads(document)
    return answer


def ran_with(text: str, engine: str, name: str = "program.expr", **more: Any) -> Ran:
    return recorded(Request(text.encode(), name, name, engine=engine, **more), None)


def close(one: Any, other: Any) -> bool:
    """Equal, numbers nearly."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-6 + 1e-5 * abs(other)
    return bool(one == other)


# Below vmap the own engine computes with copies for each sample of what PyTorch takes once.
COPIED = {"hessian_vector", "per_sample_gradients"}


@needs_torch
@pytest.mark.parametrize("path", EXPRESSIONS, ids=lambda path: path.stem)
def test_both_engines_report_the_same(path: Path) -> None:
    """Names, lines, nodes, values, gradients; printed text up to addresses."""
    text = path.read_text("utf-8")
    own, live = (traced(text, engine, path.name) for engine in ("own", "torch"))
    assert _ADDRESS.sub("", live["output"]) == _ADDRESS.sub("", own["output"])
    assert live["warnings"] == own["warnings"]
    if path.stem in COPIED:
        return
    told = ("name", "line", "shape", "dtype", "requires_grad", "is_leaf", "grad_fn", "node")
    for key in told:
        assert [t.get(key) for t in live["tensors"]] == [t.get(key) for t in own["tensors"]], key
    for key in ("value", "grad"):
        for mine, theirs in zip(own["tensors"], live["tensors"], strict=True):
            assert close(mine[key], theirs[key]), mine["name"]
    nodes = ("id", "name", "next", "line", "column")
    assert [[n.get(key) for key in nodes] for n in live["nodes"]] == [
        [n.get(key) for key in nodes] for n in own["nodes"]
    ]
    outputs = [[[(n["id"], n["output_nr"]) for n in one["nodes"]] for one in document["passes"]]
               for document in (own, live)]  # fmt: skip
    assert outputs[0] == outputs[1]
    assert [own["error"] and own["error"][key] for key in ("type", "line")] == [
        live["error"] and live["error"][key] for key in ("type", "line")
    ]


SCRIPT = """
import sys
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 1)
        self.spare = nn.Linear(2, 1)

    def forward(self, x):
        return self.inner(x).relu()

class Trainer:
    def __init__(self):
        self.net = Net()

if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]))
    trainer = Trainer()
    trainer.net(torch.ones(3, 2)).sum().backward()
    print(torch.rand(1).item())
"""


@needs_torch
def test_a_script_is_run_by_python() -> None:
    told = traced(SCRIPT, "torch", "train.py", arguments=("3",))
    lines = {tensor["name"]: tensor["line"] for tensor in told["tensors"]}
    assert lines == {
        "trainer.net.inner.weight": 9, "trainer.net.inner.bias": 9,
        "trainer.net.spare.weight": 10, "trainer.net.spare.bias": 10,
    }  # fmt: skip
    assert {node["line"] for node in told["nodes"] if node["next"]} == {13, 22}
    again = traced(SCRIPT, "torch", "train.py", arguments=("3",))
    assert again == told


@needs_torch
@pytest.mark.parametrize("engine", ["own", "torch"])
def test_cells_show_their_last_value(engine: str) -> None:
    cells = "# %%\nimport torch\nx = torch.ones(2)\nx\n# %%\nx * 2;\n# %%\n[1, None]\n"
    assert traced(cells, engine, "notes.py")["output"] == "tensor([1., 1.])\n[1, None]\n"


@needs_torch
def test_an_error_has_the_lines_that_led_to_it() -> None:
    text = "import torch\ndef f(x):\n    return x @ torch.ones(4)\nf(torch.ones(3))\n"
    told = traced(text, "torch", "wrong.py")
    assert [label["line"] for label in told["error"]["labels"]] == [3, 4]
    assert told["error"]["type"] == "RuntimeError"


@needs_torch
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("w = torch.ones(3, requires_grad=True)\ny = (w * 2).exp()\ny += 1\n"
         "y.sum().backward()\n", [4, 2, 3]),
        ("w = torch.ones(3, requires_grad=True)\ny = (w ** 2).sum()\ny.backward()\n"
         "y.backward()\n", [4, 3]),
        ("w = torch.ones(3, requires_grad=True)\ny = w.sigmoid()\n"
         "z = torch.nn.ReLU(inplace=True)(y)\n(z + y).sum().backward()\n", [4, 2, 3]),
        ("w = torch.ones(3, requires_grad=True)\ny = w.sigmoid()\n"
         "z = torch.nn.Dropout(0.5, inplace=True)(y)\n(z + y).sum().backward()\n", [4, 2, 3]),
        ("w = torch.ones(3, requires_grad=True)\ny = w.sigmoid()\nz = y ** 2\ny += z\n"
         "y.sum().backward()\n", [5, 3, 4]),
    ],
    ids=["changed in place", "freed", "by a layer", "by a dropout", "saved twice"],
)  # fmt: skip
def test_an_error_of_a_pass_is_explained(text: str, lines: list[int]) -> None:
    told = traced(text, "torch")["error"]
    assert [label["line"] for label in told["labels"]] == lines


@needs_torch
@pytest.mark.parametrize(
    "text",
    [
        "a = torch.ones(2, 3)\nb = torch.ones(2)\nc = a * b\n",
        "x = torch.tensor([1.0, 2.0])\n(x * 2).sum().backward()\n",
        "x = torch.ones(2, requires_grad=True)\ny = (x ** 2).sum()\ny.backward()\ny.backward()\n",
        "layer = torch.nn.Linear(3, 4)\nlayer(torch.ones(2, 5))\n",
    ],
)
def test_an_error_is_explained_in_the_own_engine_s_words(text: str, tmp_path: Path) -> None:
    """Labels, advice, and whether it helps: of a program that the own engine can run as well."""
    path = tmp_path / "wrong.py"
    path.write_text(f"import torch\n{text}", "utf-8")
    own, live = (
        gradcli("trace", str(path), "--format", "json", "--engine", engine)
        for engine in ("own", "torch")
    )
    told = json.loads(own.stdout)["error"]
    assert json.loads(live.stdout)["error"] == told and told["notes"]


CAUGHT = """import traceback
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
class Wrong(torch.nn.Module):
    def forward(self, x):
        try:
            return torch.nn.functional.linear(x, torch.ones(2, 5))
        except RuntimeError as error:
            raise ValueError("wrong") from error
def twice():
    y = (x * 2).sum()
    y.backward()
    y.backward()
for wrong in (twice, lambda: x @ torch.ones(3), lambda: torch.nn.Linear(3, 4)(x),
              lambda: Wrong()(x), lambda: torch.autograd.grad(x.sum(), torch.ones(1)),
              lambda: torch.optim.SGD([x]).step(lambda: 1 / 0)):
    try:
        wrong()
    except Exception:
        print(traceback.format_exc())
"""


@needs_torch
@pytest.mark.parametrize("words", [("run",), ("why", "x", "--no-try")])
def test_an_error_that_the_program_catches_has_its_own_traceback(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "program.py"
    file.write_text(CAUGHT, "utf-8")
    plain = io.StringIO()
    with contextlib.redirect_stdout(plain):
        exec(compile(CAUGHT, str(file), "exec"), {"__name__": "__main__"})
    done = here(words[0], str(file), *words[1:], "--engine", "torch")
    assert plain.getvalue().count("Traceback") == 7
    assert plain.getvalue() == done.stdout[: len(plain.getvalue())]


@needs_torch
def test_what_a_program_exits_with() -> None:
    assert traced("import sys\nsys.exit()\n", "torch", "a.py")["error"] is None
    assert traced("import sys\nsys.exit(3)\n", "torch", "a.py")["error"]["type"] == "SystemExit"


WHY = [
    case
    for file in ("why_none.txt", "why_numbers.txt")
    for case in sections(ROOT / "tests" / "programs" / file).items()
]
# To know which element an index moved, its node would have to run once more, and is freed.
UNLIKE = {"flat | x.grad[2] | 4 | behind an index"}


@needs_torch
@pytest.mark.parametrize(("title", "text"), WHY, ids=[title for title, _ in WHY])
def test_why_has_the_same_verdicts(title: str, text: str) -> None:
    verdict, name, lines, *_ = (part.strip() for part in title.split("|"))
    torch.manual_seed(DEFAULT_SEED)
    request = Request(text.encode(), "p.expr", engine="torch")
    _, report = why_report(request, name, trials=False)
    told = report.verdict, report.lines
    assert (told == (verdict, tuple(map(int, lines.split())))) is (title not in UNLIKE), told


@needs_torch
def test_an_advice_is_tried_in_a_process_of_its_own() -> None:
    text = "import torch\nx = torch.ones(2, requires_grad=True)\n"
    text += "w = torch.ones(2, requires_grad=True)\n(x.detach() * w).sum().backward()\n"
    ran, report = why_report(Request(text.encode(), "p.expr", engine="torch"), "x")
    assert report.trial is not None and report.trial.helped
    assert report.trial.outcome == "x.grad becomes tensor([1., 1.])"
    assert ran.output == ""


WORDS = (
    ("paths", "--of", "loss", "--wrt", "x", "--jacobian"), ("paths", "--wrt", "w", "--jacobian"),
    ("grad",), ("grad", "--of", "{result}", "--wrt", "{leaf}"), ("step", "--plain"),
    ("trace", "--format", "svg"), ("trace", "--ledger"),
    ("flow",), ("run",),
)  # fmt: skip


@needs_torch
@pytest.mark.parametrize(("timeout", "tried"), [(60.0, True), (0.2, False)])
def test_trials_under_pytorch_follow_from_the_nodes_of_the_run(timeout: float, tried: bool) -> None:
    """And not from the time that PyTorch took to be imported."""
    text = "x = torch.ones(2, requires_grad=True)\ny = x\nfor i in range(300):\n    y = y + x\n"
    text += (
        "z = (y.detach() * 2).sum()\nw = torch.ones(1, requires_grad=True)\n(z * w).backward()\n"
    )
    limits = Limits(timeout=timeout)
    request = Request(text.encode(), "p.expr", engine="torch", limits=limits)
    _, report = why_report(request, "x")
    assert report.verdict == "detached" and report.trial is not None
    assert (report.trial.helped is True) is tried


@needs_torch
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_other_questions_answer_the_same(words: tuple[str, ...], capsys: Any) -> None:
    text = (
        "x = torch.tensor([1., 2.], requires_grad=True)\n"
        "w = torch.tensor([3., 4.], requires_grad=True)\n"
        "y = (x * w).sin()\nloss = y.sum() ** 2\nloss.backward()\nprint(x.grad)\n"
    )
    told = []
    for engine in ("own", "torch"):
        call = read([words[0], "-", *(w.format(result="y.sum()", leaf="x") for w in words[1:]),
                     "--engine", engine])  # fmt: skip
        assert call is not None
        sys.stdin = StandardInput(text)
        try:
            assert call.run() == 0
        finally:
            sys.stdin = sys.__stdin__
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


@needs_torch
def test_a_sum_that_a_pass_makes_stands_where_its_last_part_does() -> None:
    """That part has no graph of its own here: 3, of x * 3."""
    text = (
        "x = torch.tensor(2., requires_grad=True)\na = x * 3\nb = x * x\ny = a + b\n"
        "g, = torch.autograd.grad(y, x, create_graph=True)\n(g ** 2).backward()\n"
    )
    own, live = (
        [tuple(map(n.get, ("name", "line", "column"))) for n in traced(text, engine)["nodes"]]
        for engine in ("own", "torch")
    )
    assert own == live and ("AddBackward0", 2, 5) in live


@needs_torch
@pytest.mark.parametrize("file", ["errors/nothing_requires_grad", "transformations/checkpoint"])
def test_paths_of_what_is_made_to_require_grad_and_of_what_runs_again(file: str) -> None:
    words = "paths", str(ROOT / "expressions" / f"{file}.expr"), "--wrt", "x", "--engine"
    own, live = here(*words, "own"), here(*words, "torch")
    assert (own.returncode, own.stdout) == (live.returncode, live.stdout) and not own.returncode


@needs_torch
def test_where_two_engines_part(tmp_path: Path, capsys: Any) -> None:
    text = "x = torch.tensor([1., 2.], requires_grad=True)\ny = (x * 2).sin()\ny.sum().backward()\n"
    file = tmp_path / "a.expr"
    file.write_text(text, "utf-8")
    words = ["diff", str(file), "--engine", "own,torch"]
    call = read(words)
    assert call is not None and call.run() == 0
    assert "equal: 2 tensors, 4 nodes, 1 gradient" in capsys.readouterr().out
    file.write_text(
        text.replace("1.", "0.").replace("x * 2", "torch.special.log_ndtr(x * 30 - 700)"), "utf-8"
    )
    call = read([*words, "--rtol", "0", "--atol", "0"])
    assert call is not None and call.run() == 1
    assert "first divergence  SpecialLogNdtrBackward0" in capsys.readouterr().out


TRAINING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 3), nn.Linear(3, 2)

    def forward(self, x):
        h = torch.softmax(self.a(x), -1)
        return self.b(nn.functional.layer_norm(h, (3,)))

def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.Adam(model.parameters(), lr=0.1)
    x, y = torch.randn(4, 2), torch.tensor([0, 1, 1, 0])
    for _ in range(3):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()

main()
"""


@needs_torch
@pytest.mark.parametrize("number", [1, 3])
def test_paths_of_a_pass_of_a_script(number: int) -> None:
    asked = paths.Options(wrt=("model.a.weight",), number=number)
    request = Request(TRAINING.encode(), "train.py", "train.py", engine="torch", retain_graph=True)
    ran, report = paths.paths_report(paths.recorded(request, None, asked), asked)
    assert ran.error is None and report.equal and report.of == "loss"


AUTOCAST = """import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = net(torch.randn(2, 4)).float().pow(2).mean()
loss.backward()
"""


@needs_torch
def test_paths_lead_through_nodes_of_half_precision() -> None:
    asked = paths.Options(wrt=("net.weight",), number=1)
    request = Request(AUTOCAST.encode(), "p.py", "p.py", engine="torch", retain_graph=True)
    ran, report = paths.paths_report(paths.recorded(request, None, asked), asked)
    assert ran.error is None and report.equal


@needs_torch
def test_a_node_whose_value_no_one_saw_has_the_shape_of_its_gradient() -> None:
    text = (
        "q = torch.tensor([[0.25, 0.75]], requires_grad=True)\n"
        "F.pairwise_distance(q, torch.tensor([[0.5, 0.5]])).backward()\n"
    )
    document = traced(text, "torch")
    numbers = {node["id"] for node in document["nodes"] if node["name"] == "SubBackward0"}
    found = [one for one in document["passes"][-1]["nodes"] if one["id"] in numbers]
    assert [(one["shape"], one["value"]) for one in found] == [([1, 2], None)]


class StandardInput(io.TextIOWrapper):
    """A program that is piped in."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()))


def command(*words: str, code: str = "pass") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own; `code` runs before it."""
    start = f"import sys; {code}; from gradcli.door import main; sys.argv[0] = 'gradcli'; main()"
    return subprocess.run(
        [sys.executable, "-c", start, *words], capture_output=True, encoding="utf-8", check=False
    )


def test_without_pytorch(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n", "utf-8")
    done = command("trace", str(file), "--engine", "torch", code="sys.modules['torch'] = None")
    assert done.returncode == 5
    assert "DeviceError: --engine torch: PyTorch is not installed" in done.stderr
    made = "from types import SimpleNamespace as Made; sys.modules['torch'] = Made"
    code = f"{made}(__version__='2.4.1+cu121', _C=Made(_FunctionBase=1))"
    done = command("trace", str(file), "--engine", "torch", code=code)
    assert done.returncode == 5
    assert "DeviceError: --engine torch: PyTorch 2.4.1 is too old; it needs 2.6" in done.stderr


@needs_torch
@pytest.mark.parametrize("words", [("paths", "--wrt", "x"), ("grad", "--of", "y", "--wrt", "x")])
def test_a_question_lets_no_second_pass_go_on(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The graph that it holds is freed as far as the program knows."""
    text = "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 2\n"
    for kept, code in (("", 3), ("retain_graph=True", 0)):
        file = tmp_path / "x.expr"
        file.write_text(text + f"y.backward({kept})\ny.backward()\nprint(x.grad)\n")
        own, live = (here(words[0], str(file), *words[1:], "--engine", engine)
                     for engine in ("own", "torch"))  # fmt: skip
        assert (own.returncode, own.stdout, own.stderr) == (code, live.stdout, live.stderr)
        assert live.returncode == code and ("a second time" in live.stderr) == bool(code)


@needs_torch
@pytest.mark.parametrize("command", ["trace", "why", "flow", "grad", "step", "paths"])
@pytest.mark.parametrize("layout", ["jagged", "strided"])
@pytest.mark.parametrize("made", ["as_nested_tensor([a, b]", "nested_tensor([a, b], True"])
def test_nested_tensors_have_no_shape(tmp_path: Path, command: str, layout: str, made: str) -> None:
    """Their numbers stand in a line; paths say that they can't follow them."""
    made = made.replace(", True", ", requires_grad=True")
    file = tmp_path / "nested.py"
    file.write_text(
        "import torch\na, b = torch.ones(2, 3, requires_grad=True), torch.ones(1, 3)\n"
        f"nested = torch.nested.{made}, layout=torch.{layout})\n"
        "y = (nested * 2).relu().to_padded_tensor(0.0)\ny.sum().backward()\n"
    )
    name = "a" if made.startswith("as") else "nested"
    wanted = {"why": [name], "paths": ["--wrt", name]}.get(command, [])
    done = here(command, str(file), *wanted, "--engine", "torch")
    assert done.returncode == (2 if command == "paths" else 0), done.stderr
    if command == "paths":
        assert "nested tensors, which have no one shape" in done.stderr
    elif command == "step":
        assert "[2., 2., 2., 2., 2., 2., 2., 2., 2.]" in done.stdout


def test_a_profile_times_the_own_engine_only(tmp_path: Path) -> None:
    """What would be timed is the recording."""
    file = tmp_path / "x.expr"
    file.write_text("x = 1.0\n")
    done = here("trace", str(file), "--profile", "--engine", "torch")
    assert done.returncode == 2 and "UsageError: --profile times the own engine" in done.stderr


@needs_torch
def test_a_command_runs_a_program_as_python_does(tmp_path: Path) -> None:
    """Its own process is silent and collects no garbage: the program's is not."""
    script = tmp_path / "train.py"
    script.write_text(
        "import gc, torch\nprint(gc.isenabled())\n"
        "torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))\n"
    )
    words = "trace", str(script), "--engine", "torch", "--format", "json"
    done = gradcli(*words)
    document = json.loads(done.stdout)
    assert document["output"] == "True\n"
    (warning,) = document["warnings"]
    assert warning.startswith("Using a target size (torch.Size([2]))")


def test_arguments_are_for_a_program_that_python_runs(tmp_path: Path) -> None:
    file = tmp_path / "a.expr"
    file.write_text("x = 1\n", "utf-8")
    done = command("trace", str(file), "--", "--lr", "3")
    assert done.returncode == 2
    assert "-- ARGUMENTS are for a program that Python runs" in done.stderr


def test_torch_is_not_loaded_before_it_is_requested() -> None:
    code = "import gradcli, gradcli.commands.trace, gradcli.pipeline.run, sys; "
    code += "assert 'torch' not in sys.modules and 'gradcli.live' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@needs_torch
def test_what_is_traced_is_not_looked_at() -> None:
    """PyTorch follows a function twice and compares: what looks at values would be in the graph."""
    text = (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
        "class Net(nn.Linear):\n    def forward(self, x):\n        h = super().forward(x) * 2\n"
        "        return h.tanh()\nnet = Net(2, 2)\n"
        "traced = torch.jit.trace(nn.Sequential(net, nn.ReLU()), torch.ones(1, 2))\n"
        "traced(torch.ones(3, 2)).sum().backward()\n"
    )
    request = Request(text.encode(), "p.py", "p.py", engine="torch")
    ran, report = why_report(request, "net.bias", trials=False)
    assert (ran.error, ran.warnings, report.verdict) == (None, (), "fine")
    ran = recorded(request, Options())
    assert (ran.error, ran.warnings) == (None, ())


@needs_torch
def test_memory_is_limited_only_where_that_is_asked_for(tmp_path: Path) -> None:
    """A GPU's driver reserves more addresses than any limit, and a trusted program is not cut."""
    file = tmp_path / "p.py"
    file.write_text(
        "from resource import *\n"
        "print(*(getrlimit(kind)[0] == RLIM_INFINITY for kind in (RLIMIT_AS, RLIMIT_DATA)))\n"
    )
    plain = subprocess.run([sys.executable, str(file)], capture_output=True, text=True).stdout
    for options, expected in (
        ((), plain),
        (("--max-memory", "2GiB"), plain.replace("True\n", "False\n")),
    ):
        done = gradcli("run", str(file), "--engine", "torch", *options)
        assert done.stdout == expected, done.stderr


@needs_torch
def test_a_warning_is_told_where_the_program_has_it(tmp_path: Path) -> None:
    """A recording changes neither the file nor the line; in a program of several files too."""
    (tmp_path / "parts.py").write_text(
        "import warnings\nimport torch.nn.functional as F\ndef build(x):\n    y = x * 2\n"
        "    y.sum().backward()\n    y.grad\n    warnings.warn('mine')\n    return F.softmax(x)\n"
    )
    told = []
    for manager in ("inspect.record()", "contextlib.nullcontext()"):
        file = tmp_path / "train.py"
        file.write_text(
            "import contextlib\nimport torch\nfrom gradcli import inspect\n"
            "from parts import build\nx = torch.ones(3, requires_grad=True)\n"
            f"with {manager}:\n    build(x).sum().backward()\n"
            "    (x * 2).grad\n    torch.nn.functional.softmax(x)\n"
        )
        told.append(warm.python(file).stderr)
        assert told[-1].count("Warning") == 5
    assert told[0] == told[1]


@needs_torch
def test_an_optimizer_of_the_program_is_where_it_is_made(tmp_path: Path) -> None:
    """Not where its class calls the one that it builds on."""
    file = tmp_path / "train.py"
    file.write_text(
        "import torch\nfrom torch import nn\nclass Mine(torch.optim.Optimizer):\n"
        "    def __init__(self, params):\n        super().__init__(params, {})\n"
        "    def step(self):\n        pass\n"
        "a, b = nn.Linear(2, 2), nn.Linear(2, 1)\nopt = Mine(a.parameters())\n"
        "b(a(torch.ones(1, 2))).sum().backward()\nopt.step()\n"
    )
    done = here("why", str(file), "b.weight", "--engine", "torch", "--format", "json")
    answer = json.loads(done.stdout)
    assert (answer["verdict"], answer["lines"]) == ("not-stepped", [9])


META = """import torch
net = torch.nn.Linear(3, 2, device="meta")
x = torch.ones(3, device="meta", requires_grad=True)
loss = net(x).relu().sum()
loss.backward()
w = torch.ones(2, requires_grad=True)
(w * 3).sum().backward()
print(x.grad.device)
"""


@needs_torch
def test_tensors_without_numbers_have_shapes_and_a_graph() -> None:
    found = traced(META, "torch", "program.py")
    assert found["error"] is None and found["output"] == "meta\n"
    tensors = {one["name"]: one for one in found["tensors"]}
    assert tensors["x"]["value"] is None and tensors["w"]["grad"] == [3, 3]
    for name, verdict in (("x", "unexplained"), ("net.weight", "unexplained"), ("w", "fine")):
        request = Request(META.encode(), "program.py", "program.py", engine="torch")
        assert why_report(request, name, trials=False)[1].verdict == verdict


@needs_torch
@pytest.mark.parametrize("asks", [False, True])
def test_plain_passes_are_captured_by_the_engine(
    asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where modules are made in the recording, for which PyTorch asks for nodes of leaves; not
    where the program has a node, and could put a hook on it."""
    count = 0

    def counted(self: Any, *given: Any) -> Any:
        nonlocal count
        count += 1
        return plain(self, *given)

    plain = PassTeller._captured_pass
    monkeypatch.setattr(PassTeller, "_captured_pass", counted)
    text = "net = nn.Linear(2, 2)\nfor _ in range(3):\n    loss = net(torch.ones(2)).sum()\n"
    text += f"    {'loss.grad_fn' if asks else 'pass'}\n    loss.backward()\n"
    ran = execute(Request(text.encode(), "a.py", engine="torch"), None, watching(values=True))
    assert ran.error is None and count == (0 if asks else 3)


@needs_torch
def test_what_nobody_asks_for_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What operations made on their way is dropped with its pass, but for that of the last."""
    told: list[Any] = []
    monkeypatch.setattr(Capturing, "_tell_within", lambda self, graph: told.append(graph))
    text = "net = nn.Linear(2, 2)\nfor _ in range(4):\n    net(torch.ones(2)).sum().backward()\n"
    recording = watching(values=True)
    keep(recording.passes, None)
    ran = execute(Request(text.encode(), "a.py", engine="torch"), None, recording)
    assert ran.error is None and not told
    trace_report(ran, Options())
    assert len(told) == 1


@needs_torch
@pytest.mark.parametrize(("line", "why"), [
    ("w * 1e5 * 1e10", "at w * 1e5 the gradient grows beyond the largest number of float32"),
    ("1 / (w - 1)", "the slope of 1 / (w - 1) is infinite there"),
])  # fmt: skip
def test_why_tells_an_overflow_from_an_infinite_slope(line: str, why: str) -> None:
    text = f"w = torch.tensor([1.], requires_grad=True)\nz = {line}\n"
    text += "z.backward(torch.tensor([1e25]))\n"
    report = why_report(Request(text.encode(), "p.expr", engine="torch"), "w", trials=False)[1]
    assert report.sentence == f"w.grad is infinite: {why}."


@needs_torch
def test_lines_are_right_where_python_keeps_no_columns(tmp_path: Path) -> None:
    """Under PYTHONNODEBUGRANGES a place is what its line computes."""
    program = tmp_path / "p.py"
    program.write_text("import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\n"
                       "for item in y:\n    z = item * 2\nz.backward()\n")  # fmt: skip
    command = [sys.executable, "-m", "gradcli", "trace", program, "--engine", "torch", "-f", "json"]
    environment = {**os.environ, "PYTHONNODEBUGRANGES": "1"}
    told = subprocess.run(command, capture_output=True, check=True, env=environment).stdout
    places = {
        node["name"]: (node["line"], node.get("source")) for node in json.loads(told)["nodes"]
    }
    assert places == {
        "MulBackward0": (5, "item * 2"), "UnbindBackward0": (4, "y"),
        "ExpBackward0": (3, "x.exp()"), "AccumulateGrad": (None, None),
    }  # fmt: skip


@needs_torch
def test_a_parametrization_of_the_program_does_not_run_for_a_question() -> None:
    text = """class Twice(nn.Module):
    def forward(self, x):
        return 2 * x
net = nn.Linear(2, 1)
nn.utils.parametrize.register_parametrization(net, "weight", Twice())
net(torch.ones(2)).sum().backward()
"""
    request = Request(text.encode(), "p.expr", engine="torch")
    with pytest.raises(UsageError, match="net computes weight of its parameters") as refused:
        why_report(request, "net.weight", trials=False)
    assert refused.value.advice == "ask for net.parametrizations.weight.original"


@needs_torch
def test_calls_of_modules_stand_where_both_engines_have_them() -> None:
    text = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
    def forward(self, x):
        for _ in range(3):
            x = torch.tanh(self.a(x))
        return x
net = Net()
x = torch.ones(3, 2)
loss = net(x).sum()
loss.backward()
"""
    requests = (Request(text.encode(), "p.expr", engine=engine) for engine in ("own", "torch"))
    runs = (picture.recorded(request, None) for request in requests)
    own, live = (trace_report(ran, Options(detail=True)).detail for ran in runs)
    assert own is not None and live is not None
    assert [(frame.name, frame.line) for frame in live.frames] == [
        (frame.name, frame.line) for frame in own.frames
    ]
