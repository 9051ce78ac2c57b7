"""Programs of several files under PyTorch: what they import from their folder runs rewritten."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import warm
from oracle import oracle
from test_cli import gradcli

from gradcli.live.imported import ImportedFiles
from gradcli.pipeline.request import Request
from gradcli.questions.step import report as walked
from gradcli.questions.trace import recorded, trace_report
from gradcli.questions.why import why_report
from gradcli.render import trace as tree
from gradcli.render.steps import text as steps_text
from gradcli.render.text import Look

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")

LAYERS = '''"""Layers."""
from __future__ import annotations

import inspect
from dataclasses import dataclass

import torch
from torch import nn

shift = torch.ones(2, requires_grad=True)


@dataclass
class Sizes:
    width: int = 2


class Net(nn.Module):
    def __init__(self, sizes: Sizes):
        super().__init__()
        self.__scale = nn.Parameter(torch.ones(sizes.width))
        self.lin = nn.Linear(sizes.width, sizes.width)

    def forward(self, x):
        h = self.lin(x)
        for part in parts(h):
            h = h * part
        out = torch.tanh(h) + shift
        return out * self.__scale


def parts(h):
    for turn in range(2):
        part = h * (turn + 1)
        yield part


def again(y):
    numbers = y.tolist()
    return torch.tensor(numbers) * 2


def scaled(y):
    factor = {"by": float(y.sum())}
    factor["by"] += 1
    return y.detach() * factor["by"]


def hooked(w):
    w.register_hook(lambda grad: grad * 0)
    return w * 2


@torch.jit.script
def scripted(x):
    y = x * 2
    return y + 1


@torch.compile(backend="eager")
def compiled(x):
    y = x.sin()
    return y * 2


def source():
    return inspect.getsource(parts)


def failing(x):
    try:
        return x.view(7)
    except RuntimeError as error:
        frames, traceback = [], error.__traceback__
        while traceback is not None:
            frames.append((traceback.tb_frame.f_code.co_name, traceback.tb_lineno))
            traceback = traceback.tb_next
        return frames
'''
TRAIN = """import torch
import layers
from layers import Net, Sizes

torch.manual_seed(0)
net = Net(Sizes())
x = torch.randn(3, 2)
y = net(x)
loss = (y * layers.again(y)).sum()
loss.backward()
print(loss.item(), layers.scripted(x).sum().item(), layers.compiled(x).sum().item())
print(layers.source(), layers.failing(x), layers.parts.__code__.co_varnames)
"""


@pytest.fixture()
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "layers.py").write_text(LAYERS)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def request_of(folder: Path, text: str) -> Request:
    path = folder / "train.py"
    path.write_text(text)
    return Request(text.encode(), "train.py", str(path), engine="torch")


def test_values_have_their_names(folder: Path) -> None:
    request = request_of(folder, TRAIN)
    rows = tree.text(trace_report(recorded(request, None)), Look(whole=True))
    for words in ("h = self.lin(x), in net.lin", "part = h * (turn + 1), in net",
                  "h = h * part, in net", "out = torch.tanh(h) + shift, in net"):  # fmt: skip
        assert words in rows
    options = walked.Options()
    _, steps = walked.steps_report(walked.recorded(request, None, options), options, texts=True)
    told = steps_text(steps, Look(whole=True))
    for words in ("out = torch.tanh(h) + shift", "h = h * part", "dloss/dout", "y = net(x)"):
        assert words in told


def test_questions_ask_for_their_names(folder: Path) -> None:
    request = request_of(folder, TRAIN)
    done = gradcli("grad", request.path, "--wrt", "out,h,shift", "--engine", "torch")
    assert all(f"dloss/d{name} " in done.stdout for name in ("out", "h", "shift")), done.stderr
    _, why = why_report(request, "part", trials=False)
    assert why.verdict == "non-leaf" and why.trial is not None
    assert why.trial.advice == "part.retain_grad() after line 34 of layers.py"


CUTS = {
    "again": ("item", "y.tolist() on line 39 of layers.py"),
    "scaled": ("item", "float() on line 44 of layers.py"),
}


@pytest.mark.parametrize("name", CUTS)
def test_numbers_that_leave_the_graph(name: str, folder: Path) -> None:
    text = f"{TRAIN.partition('loss =')[0]}loss = layers.{name}(y).sum() + layers.shift.sum()\n"
    request = request_of(folder, f"{text}loss.backward()\n")
    _, report = why_report(request, "net.lin.weight", trials=False)
    assert (report.verdict, list(report.lines)) == (CUTS[name][0], [9])
    assert report.sentence is not None and CUTS[name][1] in report.sentence.replace("\n", " ")


def test_what_a_text_does_not_say_is_not_left_out(folder: Path) -> None:
    text = (
        "import torch\nimport layers\nw = torch.ones(2, requires_grad=True)\n"
        "y = layers.hooked(w)\ny.sum().backward()\n"
    )
    _, report = why_report(request_of(folder, text), "w")
    assert report.verdict == "hook" and report.trial is None


def test_each_run_imports_anew(folder: Path) -> None:
    """The trial of an advice too: gradients of leaves of another file start with None."""
    text = (
        "import torch\nimport layers\nw = torch.ones(2, requires_grad=True)\n"
        "(w.detach() * layers.shift).sum().backward()\nprint(layers.shift.grad)\n"
    )
    request = request_of(folder, text)
    for _ in range(2):
        ran, report = why_report(request, "w")
        assert "".join(ran.printed) == "tensor([1., 1.])\n"
        assert report.trial is not None and report.trial.helped


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the program prints without gradcli."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "layers.py").write_text(LAYERS)
    (folder / "train.py").write_text(TRAIN)
    return warm.python("train.py", folder).stdout


@pytest.mark.parametrize("words", ["run", "flow -q", "why -q net.lin.weight"])
def test_programs_notice_nothing(words: str, plain: str, folder: Path) -> None:
    """Source, traceback, compiled and scripted functions are as without gradcli."""
    (folder / "train.py").write_text(TRAIN)
    command, *more = words.split()
    done = gradcli(command, "train.py", *more, "--engine", "torch", cwd=folder)
    assert done.returncode == 0 and done.stdout.startswith(plain), done.stderr


def test_a_file_without_computation_is_left_alone(folder: Path) -> None:
    (folder / "plain.py").write_text("def count(n):\n    m = n + 1\n    return m\n")
    text = "import plain\nprint(plain.count.__code__.co_consts, plain.count(1))\n"
    ran = recorded(request_of(folder, text), None)
    assert "".join(ran.printed) == "(None, 1) 2\n"


MODULE = """import sys
{imports}
net = Net(Sizes())
net(torch.ones(1, 2)).sum().backward()
print(__name__, __package__, __spec__ and __spec__.name, sys.argv[1:])
"""
STARTS = {
    "plain": ("from layers import", True, "__main__ None None ['-n']"),
    "relative": ("from .layers import", True, "__main__ kit kit.train ['-n']"),
    "without init": ("from .layers import", False, "__main__ kit kit.train ['-n']"),
    "absolute": ("from kit.layers import", True, "__main__ kit kit.train ['-n']"),
    "above": ("from ..layers import", True, "__main__ kit.inner kit.inner.train ['-n']"),
}


@pytest.mark.parametrize("how", STARTS)
def test_a_file_of_a_package_starts_as_a_module(how: str, folder: Path) -> None:
    """As `python -m kit.train` does, where its imports say so; else as `python kit/train.py`."""
    imports, init, printed = STARTS[how]
    home = folder / "kit" / ("inner" if how == "above" else "")
    home.mkdir(parents=True)
    (folder / "layers.py").rename(folder / "kit" / "layers.py")
    if init:
        for one in {home, folder / "kit"}:
            (one / "__init__.py").write_text("")
    text = MODULE.format(imports=f"import torch\n{imports} Net, Sizes")
    (home / "train.py").write_text(text)
    request = Request(text.encode(), "train.py", str(home / "train.py"), engine="torch",
                      arguments=("-n",))  # fmt: skip
    ran = recorded(request, None)
    assert "".join(ran.printed) == f"{printed}\n", ran.error
    shown = {place.file for _, place in trace_report(ran).elsewhere}
    assert shown == {"layers.py" if how == "plain" else "kit/layers.py"}


ENDS = {
    "what is registered for the end": """import atexit, threading, time, torch
@atexit.register
def bye():
    (w * 2).sum().backward()
    print("bye", w.grad)
def late():
    time.sleep(0.2)
    print("thread")
w = torch.ones(2, requires_grad=True)
threading.Thread(target=late).start()
print("end")
""",
    "Ctrl-C is an error of the program": """import os, signal, torch
w = torch.ones(2, requires_grad=True)
try:
    for turn in range(100):
        w.sum().backward()
        if turn == 2:
            os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted", turn, w.grad)
""",
    "what replaces a method is called once": """import torch
plain, back, cross = torch.Tensor.relu, torch.Tensor.backward, torch.nn.functional.softmin
def relu(self):
    print("relu")
    return plain(self) * 2
def backward(self, *given, **named):
    print("backward")
    return back(self, *given, **named)
def softmin(*given, **named):
    print("softmin")
    return cross(*given, **named) + 1
torch.Tensor.relu, torch.Tensor.backward = relu, backward
torch.nn.functional.softmin = softmin
w = torch.ones(2, requires_grad=True)
w.relu().sum().backward()
print(w.grad, torch.nn.functional.softmin(w, dim=0))
""",
    "a class of tensors hears nothing": """import torch
heard = []
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        heard.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})
w = torch.ones(2).as_subclass(Mine).requires_grad_()
y = (w * 2).sin()
y.sum().backward()
print(heard, w.grad)
""",
}
PRINTED = {
    "what is registered for the end": "end\nthread\nbye tensor([2., 2.])\n",
    "Ctrl-C is an error of the program": "interrupted 2 tensor([3., 3.])\n",
    "what replaces a method is called once": "relu\nbackward\nsoftmin\n"
    "tensor([2., 2.]) tensor([1.5000, 1.5000], grad_fn=<AddBackward0>)\n",
    "a class of tensors hears nothing": "['requires_grad_', 'mul', 'sin', 'sum', 'backward', "
    "'__get__'] tensor([-0.8323, -0.8323])\n",
}


@pytest.mark.parametrize("title", ENDS)
@pytest.mark.parametrize("command", [("run",), ("trace", "-q")])
def test_programs_end_as_under_python(title: str, command: tuple[str, ...], folder: Path) -> None:
    (folder / "program.py").write_text(ENDS[title])
    done = gradcli(*command, "program.py", "--engine", "torch", cwd=folder)
    lines, shown = PRINTED[title].splitlines(), done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert [line for line in shown if line in lines] == lines if command[0] == "trace" else (
        done.stdout == PRINTED[title]
    ), done.stdout  # fmt: skip


def test_gradcli_itself_is_no_file_of_a_program() -> None:
    """Not even of one that lies in the folder of a checkout."""
    place = warm.ROOT
    files = ImportedFiles(SimpleNamespace(start=SimpleNamespace(folder=str(place))))
    assert files.find_spec("gradcli") is None
    assert files.find_spec("gradcli.operators", [str(place / "gradcli")]) is None
