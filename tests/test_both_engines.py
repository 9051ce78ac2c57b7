"""Tests: the pages of `--engine torch` are those of the own engine, word by word."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_here import here
from oracle import oracle
from programs_under import sections
from test_live import close

PROGRAMS = sections(Path(__file__).parent / "programs" / "both_engines.txt")
pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
# What PyTorch's nodes keep is counted as they keep it.
KEPT = re.compile(r"^(backward on line .*|  \d+ steps; .*)$", re.M)


@pytest.mark.parametrize("title", PROGRAMS)
def test_pages_are_the_same(title: str, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(PROGRAMS[title], "utf-8")
    told = json.loads(here("trace", str(file), "--format", "json").stdout)
    leaves = [tensor for tensor in told["tensors"] if tensor["node"] is not None]
    name = next(tensor["name"] for tensor in leaves if tensor["is_leaf"])
    for words in (("trace",), ("step",), ("grad",), ("paths", "--wrt", name), ("why", name)):
        pages = []
        for engine in ("own", "torch"):
            done = here(words[0], str(file), *words[1:], "--engine", engine)
            shown = (done.stdout + done.stderr).replace(" --engine torch", "")
            pages.append((done.returncode, KEPT.sub("", shown)))
        assert pages[0] == pages[1], words


def test_a_result_of_the_last_turn_is_asked_by_its_name(tmp_path: Path) -> None:
    """Earlier turns gave the same names to other tensors, whose graphs have no values any more."""
    file = tmp_path / "program.py"
    file.write_text(
        "import torch\nw = torch.ones(2, 1, requires_grad=True)\n"
        "x = torch.tensor([[1., 2.], [3., 4.]])\nopt = torch.optim.SGD([w], lr=0.01)\n"
        "for turn in range(3):\n    out = x @ w\n    loss = (out ** 2).mean()\n"
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
        "utf-8",
    )
    for name in ("w", "out"):
        words = ("paths", str(file), "--of", "loss", "--wrt", name, "--format", "json")
        own, live = (json.loads(here(*words, "--engine", engine).stdout)
                     for engine in ("own", "torch"))  # fmt: skip
        assert own["sum"] is not None and own["sum"] == live["sum"]
        assert own["paths"] == live["paths"]


def test_a_warning_has_its_category_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import torch\nimport warnings\nclass Mine(UserWarning): pass\n"
        "warnings.warn('one', FutureWarning)\nwarnings.warn('two')\n"
        "warnings.warn(Mine('six\\nand a half\\n\\n  seven\\n'))\n",
        "utf-8",
    )
    for engine in ("own", "torch"):
        said = here("run", str(file), "--engine", engine).stderr.splitlines()
        words = ["4: FutureWarning: one", "5: UserWarning: two", "6: Mine: six"]
        assert said == [*(f"{file}:{each}" for each in words), "  and a half", "", "    seven"]


def test_warnings_of_older_names_are_pytorchs_to_the_last_line(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "A = torch.eye(3)\na = torch.cross(A, A)\na = torch.cholesky(A)\na = torch.qr(A)\n"
        "a = torch.triangular_solve(A, A)\na = torch.lu(A)\n"
        "a = torch.lu_solve(A, *torch.linalg.lu_factor(A))\n"
        "a = float(torch.ones(1, requires_grad=True))\n"
    )
    own, live = (here("run", str(file), "--engine", engine) for engine in ("own", "torch"))
    assert own.stderr == live.stderr and own.stderr.count("\n") > 30


LEDGERS = {
    "a result keeps its gradient": "x = tensor(2.0, requires_grad=True)\ny = x * 3\n"
    "y.retain_grad()\nfor i in range(2):\n    (y * y).backward(retain_graph=True)\n",
    "indices are saved as a list": "x = torch.ones(3, 2, requires_grad=True)\n"
    "(x[[0, 2, 2]] ** 2).sum().backward()\n",
    "a pass is over when an input proves unused": "x = tensor(1.0, requires_grad=True)\n"
    "z = tensor(1.0, requires_grad=True)\ntorch.autograd.grad(x * 2, [x, z])\n",
    "a hook on several tensors is the program's": "a = tensor(1.0, requires_grad=True)\n"
    "torch.autograd.graph.register_multi_grad_hook((a,), lambda gs: print(gs))\n"
    "(a * 2).backward()\n",
    "without a seed both begin alike": "print(nn.Linear(2, 2).weight)\n",
}


@pytest.mark.parametrize("title", LEDGERS)
def test_ledgers_are_the_same(title: str, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(LEDGERS[title], "utf-8")
    own, live = (json.loads(here("trace", str(file), "--format", "json", "--engine", engine).stdout)
                 for engine in ("own", "torch"))  # fmt: skip
    for part in ("ledger", "hooks", "backward", "output"):
        assert own[part] == live[part], part


LAYERS = {
    "nn.LayerNorm(4)": "torch.randn(3, 4)", "nn.BatchNorm1d(4)": "torch.randn(3, 4)",
    "nn.GroupNorm(2, 4)": "torch.randn(3, 4)", "nn.PReLU()": "torch.randn(3)",
    "nn.GRU(4, 3)": "torch.randn(5, 2, 4)", "nn.LSTM(2, 2)": "torch.randn(2, 1, 2)",
    "nn.Embedding(5, 3)": "torch.tensor([1, 2, 1])",
    "nn.ConvTranspose2d(1, 2, 3)": "torch.randn(1, 1, 3, 3)",
}  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS)
def test_paths_behind_an_update_are_the_same(layer: str, tmp_path: Path) -> None:
    """A script is not run twice: its nodes are translated while nothing has changed."""
    file = tmp_path / "program.py"
    file.write_text(
        f"import torch\nfrom torch import nn\ntorch.manual_seed(0)\nnet = {layer}\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.05)\n"
        f"x = {LAYERS[layer]}\nfor i in range(2):\n    out = net(x)\n"
        "    loss = ((out[0] if isinstance(out, tuple) else out) ** 2).mean()\n"
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
        "utf-8",
    )
    told = json.loads(here("trace", str(file), "--format", "json").stdout)
    name = next(row["name"] for row in told["tensors"] if row["kind"] == "parameter")
    own, live = (here("paths", str(file), "--wrt", name, "--engine", engine)
                 for engine in ("own", "torch"))  # fmt: skip
    assert (own.returncode, own.stdout) == (live.returncode, live.stdout) == (0, own.stdout)


@pytest.mark.parametrize("more", [(), ("--pass", "1")])
def test_a_script_under_pytorch_is_run_once(more: tuple[str, ...], tmp_path: Path) -> None:
    """The own engine runs a program again where its graph was changed since."""
    file, log = tmp_path / "program.py", tmp_path / "log"
    file.write_text(
        f"import torch\nopen({str(log)!r}, 'a').write('ran ')\n"
        "w = torch.ones(2, requires_grad=True)\ny = (w * w).sum()\ny.backward()\n"
        "with torch.no_grad():\n    w.mul_(2)\n",
        "utf-8",
    )
    for verb in ("grad", "step"):
        log.unlink(missing_ok=True)
        here(verb, str(file), "--of", "y * 2", *more, "--engine", "torch")
        assert log.read_text("utf-8") == "ran "


@pytest.mark.parametrize("engine", ["own", "torch"])
def test_a_view_has_the_line_that_changed_its_base(engine: str, tmp_path: Path) -> None:
    """PyTorch makes its node anew when somebody asks for it, after the run."""
    file = tmp_path / "program.expr"
    file.write_text(
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\nview = y[1:]\ny.mul_(3)\n", "utf-8"
    )
    told = json.loads(here("trace", str(file), "--format", "json", "--engine", engine).stdout)
    lines = [(node["name"], node["line"]) for node in told["nodes"] if node["next"]]
    assert sorted(lines) == [("AsStridedBackward0", 4), ("MulBackward0", 2), ("MulBackward0", 4)]


def test_arguments_of_a_lambda_are_names(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "f = lambda v, *, k=2: torch.tanh(v) ** k\n"
        "J = torch.autograd.functional.jacobian(f, torch.tensor([0.5, -0.2]))\n", "utf-8",
    )  # fmt: skip
    own, live = (here("trace", str(file), "--engine", engine).stdout for engine in ("own", "torch"))
    assert own == live and "─ v" in own and "jacobian" not in own.partition("tensor  ")[2]


CHANGED = """x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x.clone()
a, b = y[0], y[:, 1]
a.mul_(10)
b.sum().backward()
"""
GROUPS = """x = torch.arange(8.0).reshape(1, 4, 2).requires_grad_()
F.group_norm(x, 2).tanh().sum().backward()
"""


LAYER = """torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0, batch_first=True)
layer(torch.randn(2, 3, 4)).pow(2).mean().backward()
"""
CELL = """from torch.nn.utils.rnn import pack_padded_sequence
torch.manual_seed(0)
packed = pack_padded_sequence(torch.randn(2, 3, 2), [3, 1], batch_first=True)
outputs, h = nn.GRU(2, 3, batch_first=True)(packed)
outputs.data.sum().backward()
"""


@pytest.mark.parametrize("text", [CHANGED, GROUPS, LAYER, CELL])
def test_outputs_of_nodes_are_the_same(text: str, tmp_path: Path) -> None:
    """Those too that only another view has changed, or that no name holds."""
    file = tmp_path / "program.expr"
    file.write_text(text, "utf-8")
    own, live = (here("trace", str(file), "--format", "json", "--engine", engine).stdout
                 for engine in ("own", "torch"))  # fmt: skip
    results = [
        [
            (node["id"], node["output_nr"], node["value"])
            for node in json.loads(told)["passes"][-1]["nodes"]
        ]
        for told in (own, live)
    ]
    assert [one[:2] for one in results[0]] == [one[:2] for one in results[1]]
    assert all(one[2] is not None for one in (*results[0], *results[1]))
    assert all(close(one[2], two[2]) for one, two in zip(*results, strict=True))


def test_paths_lead_through_a_view_whose_base_was_changed(tmp_path: Path) -> None:
    """PyTorch gives the view a new node when it is used: behind that of its user."""
    file = tmp_path / "program.expr"
    file.write_text(CHANGED, "utf-8")
    own, live = (
        json.loads(here("paths", str(file), "--wrt", "x", "--format", "json", *more).stdout)
        for more in ((), ("--engine", "torch"))
    )
    assert own["sum"] == live["sum"] == [[0.0, 10.0], [0.0, 1.0]]


def test_a_returned_gradient_says_which_steps_it_came_from(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "from torch.autograd.functional import hessian\nx = torch.tensor([1.0, -2.0, 0.5])\n"
        "print(hessian(lambda v: (v ** 3).sum() + v[0] * v[2], x))\n",
        "utf-8",
    )
    own, live = (here("step", str(file), "--engine", engine).stdout for engine in ("own", "torch"))
    assert own == live and "from steps" in own


def test_an_optimizer_of_the_program_steps_and_was_made_where_its_class_was_called(
    tmp_path: Path,
) -> None:
    faults = sections(Path(__file__).parent / "programs" / "live_faults.txt")
    title = "not-stepped | head.weight | an optimizer of the program's own"
    file = tmp_path / "program.py"
    file.write_text(faults[title], "utf-8")
    for words in (("flow",), ("why", "head.weight", "--no-try"), ("why", "net.weight")):
        told = (words[0], str(file), *words[1:])
        own, live = (here(*told, "--engine", engine).stdout for engine in ("own", "torch"))
        assert own == live and ("never changes" in own) is ("--no-try" in words)


def test_within_a_transformation_nodes_have_places_and_the_result_its_value(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "def f(x):\n    y = x.sin()\n    return y * y\n"
        "out, pull = torch.func.vjp(f, torch.tensor([0.5, 1.0]))\npull(torch.ones(2))\n", "utf-8",
    )  # fmt: skip
    own, live = (
        json.loads(here("trace", str(file), "--format", "json", "--engine", engine).stdout)
        for engine in ("own", "torch")
    )
    assert [(node["name"], node["line"]) for node in own["nodes"]] == [
        (node["name"], node["line"]) for node in live["nodes"]
    ]
    values = [document["passes"][-1]["nodes"][0]["value"] for document in (own, live)]
    assert values[0] == values[1] is not None


CALLS = """import torch
from torch import nn

def scaled(a, k=2):
    b = a * k
    return b.sin()

def parts(a):
    for turn in range(2):
        yield scaled(a, turn)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
    def forward(self, x):
        \"\"\"Doc.\"\"\"
        try:
            bad = self.failing(x)
        except ValueError:
            square = lambda t: t * t
            return square(self.lin(x)) + sum(parts(x))
    def failing(self, x):
        def inner(y):
            z = y * 2
            raise ValueError("no")
        return inner(x)

net = Block()
x = torch.ones(3, requires_grad=True)
out = scaled(net(x))
for turn in range(2):
    out = scaled(out)
out.sum().backward()
"""


def test_pictures_fold_the_same_calls(tmp_path: Path) -> None:
    """Functions of the program too, which Python runs."""
    file = tmp_path / "program.py"
    file.write_text(CALLS, "utf-8")
    own, live = (json.loads(here("trace", str(file), "--all", "--format", "json", "--engine",
                                 engine).stdout) for engine in ("own", "torch"))  # fmt: skip
    assert own["frames"] == live["frames"] and len(own["frames"]) == 8
    made = [[(node["name"], node["frame"]) for node in one["nodes"]] for one in (own, live)]
    assert made[0] == made[1]


SPARSE = """torch.manual_seed(0)
table = nn.Embedding(6, 2, sparse=True)
opt = torch.optim.SparseAdam(list(table.parameters()), lr=0.1)
loss = table(torch.tensor([1, 1, 4])).sum()
loss.backward()
opt.step()
"""
CHECKPOINTS = """from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
block = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
x = torch.ones(2, 2, requires_grad=True)
a = checkpoint(block, x, use_reentrant=False)
b = checkpoint(block, a * 2, use_reentrant=True)
c = b.exp()
c.sum().backward()
"""
PRINTING = """class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        print("back")
        return grad * 2
x = torch.ones(3, requires_grad=True)
Double.apply(x).sum().backward()
"""
AUTOCAST = """torch.manual_seed(0)
net = nn.Linear(2, 2)
x = torch.ones(1, 2)
with torch.autocast("cpu", dtype=torch.bfloat16):
    y = net(x)
y.sum().backward()
"""
BLOCKS = """class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.lin = nn.Linear(d, d)
    def forward(self, x):
        return x + self.lin(self.norm(x))
torch.manual_seed(0)
net = nn.ModuleList([Block(2) for _ in range(2)])
x = torch.randn(1, 2)
for b in net:
    x = b(x)
x.square().sum().backward()
"""


@pytest.mark.parametrize(("words", "text"), [
    ("grad", SPARSE), ("step", SPARSE), ("trace", SPARSE), ("paths", BLOCKS),
    ("trace", CHECKPOINTS), ("step", CHECKPOINTS), ("flow", CHECKPOINTS), ("paths", PRINTING),
    ("step", AUTOCAST),
])  # fmt: skip
def test_more_pages_are_the_same(words: str, text: str, tmp_path: Path) -> None:
    """Gradients of a sparse layout have numbers; leaves are in the order of their names; what a
    checkpoint does belongs to its call; a backward that prints is heard in its pass alone; autocast
    casts the last operand first."""
    file = tmp_path / "program.expr"
    file.write_text(text, "utf-8")
    own, live = (here(words, str(file), "--engine", engine) for engine in ("own", "torch"))
    assert KEPT.sub("", own.stdout) == KEPT.sub("", live.stdout)
    assert own.stderr == live.stderr.replace(" --engine torch", "")


OPTIONS = {
    "an option's hook on a result": (
        "x = tensor([1.0, 2.0], requires_grad=True)\ny = x * 3\ny.sum().backward()\n",
        ("trace", "--hook", "all=norm"),
    ),
    "no warning of a graph that only an option asks for": (
        "x = tensor([1.0, 2.0], requires_grad=True)\n(x + 1).sum().backward()\n",
        ("trace", "--create-graph"),
    ),
    "the copy for a leaf, and the sum with what it had": (
        "x = tensor(2.0, requires_grad=True)\n(x ** 3 + x ** 2).backward(create_graph=True)\n"
        "(x ** 2).backward(create_graph=True)\nz = x.grad * 2\nx.grad = None\nz.backward()\n",
        ("trace",),
    ),
    "a pass changes a gradient that is there already": (
        "x = tensor([1.0, 2.0], requires_grad=True)\nfor turn in range(3):\n"
        "    (x * turn).sum().backward()\n", ("trace", "--views"),
    ),
    "an option keeps the gradient of a result": (
        "x = tensor([1.0, 2.0], requires_grad=True)\ny = x * 3\ny.sum().backward()\n"
        "(y * y).sum().backward()\n", ("trace", "--retain-graph", "--retain-grad", "all"),
    ),
    "scaled gradients are changed": (
        "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "scaler = torch.amp.GradScaler('cpu', init_scale=4.0)\n"
        "scaler.scale((w * w).sum()).backward()\nscaler.unscale_(opt)\nscaler.step(opt)\n",
        ("trace",),
    ),
    "a step of an optimizer fails": (
        "p = torch.ones(2, requires_grad=True)\nopt = torch.optim.Adam([p], capturable=True)\n"
        "p.sum().backward()\ntry:\n    opt.step()\nexcept AssertionError as error:\n"
        "    print(error)\ny = p * 3\nz = y.sum()\n", ("trace",),
    ),
    "a root within a transformation requires a gradient outside": (
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "torch.func.grad(lambda w: (w * x).sum())(torch.ones(2))\n", ("grad", "--wrt", "x"),
    ),
    "all outputs of a node within a module": (
        "m = nn.LSTM(3, 4, proj_size=2, num_layers=2)\n"
        "m(torch.randn(2, 1, 3))[0].sum().backward()\n", ("trace",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", OPTIONS)
def test_pages_with_options_are_the_same(title: str, tmp_path: Path) -> None:
    text, (verb, *more) = OPTIONS[title]
    file = tmp_path / "program.expr"
    file.write_text(text, "utf-8")
    own, live = (here(verb, str(file), *more, "--engine", engine) for engine in ("own", "torch"))
    assert own.returncode == live.returncode == 0
    assert KEPT.sub("", own.stdout) == KEPT.sub("", live.stdout)
    assert own.stderr == live.stderr.replace(" --engine torch", "")


PACKED = """from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
x = torch.ones(2, 2, requires_grad=True)
checkpoint(net, x, use_reentrant=False).sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    z = (x * x).sin().relu()
z.sum().backward()
"""


@pytest.mark.parametrize("more", [(), ("--pass", "1"), ("--saved",)])
def test_a_pass_frees_what_is_packed(more: tuple[str, ...], tmp_path: Path) -> None:
    """Of that nothing is read: unpacking runs code of the program."""
    file = tmp_path / "program.expr"
    file.write_text(PACKED, "utf-8")
    own, live = (here("trace", str(file), *more, "--engine", engine).stdout
                 for engine in ("own", "torch"))  # fmt: skip
    assert own == live and "freed" in live


def test_nodes_of_a_modules_hook_save_nothing(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "net = nn.Linear(2, 1, bias=False)\nnet.register_full_backward_hook(lambda *given: None)\n"
        "net(torch.ones(1, 2, requires_grad=True)).sum().backward()\n", "utf-8",
    )  # fmt: skip
    told = here("trace", str(file), "--saved", "--engine", "torch").stdout
    assert "freed 1 of 5 nodes' saved tensors" in told and "saved_tensors" not in told


def test_a_text_that_is_no_program_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text("x = torch.ones(2)\ny = = 3\n", "utf-8")
    own, live = (here("trace", str(file), "--engine", engine) for engine in ("own", "torch"))
    assert own.stderr == live.stderr and "  2 | y = = 3\n" in live.stderr


def test_paths_of_a_pass_that_a_hooks_answer_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "x = tensor([1.0, 2.0], requires_grad=True)\nhandle = x.register_hook(lambda grad: 3.0)\n"
        "try:\n    (x * 2).sum().backward()\nexcept TypeError as error:\n    print(error)\n"
        "handle.remove()\n", "utf-8",
    )  # fmt: skip
    own, live = (json.loads(here("paths", str(file), "--wrt", "x", "--format", "json", "--engine",
                                 engine).stdout) for engine in ("own", "torch"))  # fmt: skip
    assert own["paths"] == live["paths"] and own["sum"] == live["sum"] is not None
