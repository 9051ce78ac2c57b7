"""Tests: the modules beside torch: what a program can import, and what it is told else."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from textwrap import fill

import pytest
from oracle import oracle
from programs_under import sections
from test_cli import gradcli as command
from test_language import level, ran, refused
from test_pasted import pasted

from gradcli.arrays.table import REPLACED
from gradcli.diagnostics import ProgramError
from gradcli.engine.schema.run_state import as_new
from gradcli.language.budget import Budget
from gradcli.language.interpreter import run
from gradcli.language.modules import DRAWING, INSTEAD, MODULES, ROOTS
from gradcli.language.program import parse
from gradcli.language.session import session
from gradcli.language.source import Source

PROGRAMS = sections(Path(__file__).parent / "programs" / "modules.txt")
LEARNING = sections(Path(__file__).parent / "programs" / "learning.txt")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", PROGRAMS)
def test_printed_as_by_python(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # Python writes files there
    out, outcome = ran(PROGRAMS[title])
    error = None if outcome.error is None else [outcome.error.type, outcome.error.message]
    assert [level(out), error] == oracle.ask(pasted.__name__, PROGRAMS[title])


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_what_the_table_says(name: str) -> None:
    values = import_module(f"gradcli.language.{MODULES[name].home}").MODULES[name]
    assert set(values) == MODULES[name].names


def test_the_page_lists_the_tables() -> None:
    page = (Path(__file__).parent.parent / "docs" / "language.md").read_text("utf-8")
    assert listed() in page, f"docs/language.md must say:\n\n{listed()}"
    assert ", ".join(f"`{name}`" for name in sorted(DRAWING)) in " ".join(page.split())


def test_arrays_of_sklearn_ask_for_no_import_of_numpy() -> None:
    text = (
        "from sklearn.datasets import make_moons\nX, y = make_moons(10)\nprint(X.shape, len(y))\n"
    )
    assert command("run", "-", stdin=text).stdout == "(10, 2) 10\n"


def test_unittest_says_by_notes_what_failed() -> None:
    text = "import unittest\nclass T(unittest.TestCase):\n    def test_sum(self): "
    done = command("run", "-", stdin=f"{text}self.assertEqual(1, 2)\nunittest.main()\n")
    assert (done.stdout, done.returncode) == ("", 3)
    assert (
        "note: FAIL: test_sum (__main__.T.test_sum), line 3: AssertionError: 1 != 2" in done.stderr
    )
    assert "note: ran 1 test: FAILED (failures=1)" in done.stderr
    done = command("run", "-", stdin=f"{text}self.assertEqual(1, 1)\nunittest.main()\n")
    assert (done.stderr, done.returncode) == ("note: ran 1 test: OK\n", 0)


def test_what_numpy_has_no_more_has_a_successor() -> None:
    for old, near in (("float_", "numpy.float64"), ("int", "'int'"), ("product", "numpy.prod")):
        done = command("run", "-", stdin=f"import numpy as np\nnp.{old}\n")
        assert done.stderr.endswith(f"help: did you mean {near}?\n")
    assert not set(REPLACED) & MODULES["numpy"].names


def listed() -> str:
    """The modules with their names, as the page has them."""
    rows = []
    for name, module in sorted(MODULES.items()):
        words = ", ".join(sorted(sorted(module.names), key=str.lower))
        row = f"- `{name}`: {words}"
        rows.append(fill(row, 120, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(rows)


# ---------------------------------------------------------------- what is not there


@pytest.mark.parametrize("name", INSTEAD)
def test_a_refused_module_names_what_there_is_instead(name: str) -> None:
    diagnostic = refused(f"import {name}.inner as inner\ninner")
    missing = f"{name}.inner" if name in ROOTS else name
    assert (diagnostic.type, diagnostic.message) == (
        "ModuleNotFoundError", f"No module named '{missing}'"
    )  # fmt: skip
    (note,) = diagnostic.notes
    assert INSTEAD[name] in note and "--engine torch, which trusts it" in note


def test_an_import_that_may_never_run_fails_where_it_runs() -> None:
    out, outcome = ran("def f():\n    import pandas\nprint(1)\nif 1:\n    f()")
    assert out == "1\n"
    assert outcome.error is not None and outcome.error.type == "ModuleNotFoundError"
    assert outcome.error.labels[0].span.line == 2 and "--engine torch" in outcome.error.notes[0]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("def f(x): return x * w\nprint(f(2.0))", "help: --set w=1.0"),
        ("if 2 > 1:\n    print(w * 2)", "help: --set w=1.0"),
        ("def f(x): return x * unheard_of\nprint(1)", None),
    ],
)
def test_advice_about_inputs(text: str, advice: str | None) -> None:
    """A name that only functions use is an input where the top level leads to them."""
    _, outcome = ran(text)
    if advice is None:
        assert outcome.error is None and outcome.program.inputs == ()
    else:
        assert outcome.error is not None and advice in outcome.error.notes


@pytest.mark.parametrize(
    "text",
    ["from torchvision import io\nio", "import torchvision\ntorchvision.io",
     "from sklearn import datasets\ndatasets.load_diabetes()",
     "from sklearn.datasets import load_diabetes\nload_diabetes()"],
)  # fmt: skip
def test_a_module_that_is_there_in_part_says_what_else_there_is(text: str) -> None:
    try:
        error = ran(text)[1].error
    except ProgramError as refusal:
        error = refusal.diagnostic
    assert error is not None and error.type in ("AttributeError", "ImportError")
    assert "--engine torch, which trusts it" in error.notes[0]


def test_timeit_takes_no_texts() -> None:
    error = ran("import timeit\ntimeit.timeit('x = 1')")[1].error
    assert error is not None and error.message.startswith("timeit takes functions here")


@pytest.mark.parametrize("title", LEARNING)
def test_as_sklearn_and_einops(title: str) -> None:
    program, _, expected = LEARNING[title].partition("---\n")
    out, outcome = ran(program)
    assert outcome.error is None, outcome.error
    assert out == expected


# ---------------------------------------------------------------- modules that draw

PLOTS = """
import matplotlib.pyplot as plt, seaborn as sns
from mpl_toolkits.mplot3d import Axes3D
from torch.utils.tensorboard import SummaryWriter
import plotly.graph_objects as go
x = torch.linspace(0, 1, 5)
fig, ax = plt.subplots(figsize=(6, 4))
line, = ax.plot(x, x ** 2, label="square")
n, bins, patches = plt.hist(x)
for patch in patches:
    patch.set_color("r")
middle = 0.5 * (bins[1:] + bins[:-1]) - bins[0] / 2
figure, axes = plt.subplots(2, 3)
turns = 0
for row in axes:
    for one in row:
        one.imshow(x.view(1, 5), cmap=plt.cm.gray)
        turns += 1
for place, one in enumerate(axes.flat):
    one.set(title=f"{place}")
print(turns, place, axes.shape, len(axes), axes[0, 1].shape if False else "", len(axes.ravel()))
(a, b), *rest = plt.subplots(1, 2)[1], 3
with plt.style.context("dark"), SummaryWriter("runs") as writer:
    writer.add_scalar("loss", 0.5, 1)
    plt.rcParams["figure.figsize"] = (8, 4)
    plt.title.name = "loss"
plt.show(); sns.heatmap(x.view(1, 5), annot=True); go.Figure(data=[go.Bar(x=[1])]).show()
print("done")
"""


def test_drawing_is_silent() -> None:
    out, outcome = ran(PLOTS)
    assert outcome.error is None, outcome.error
    assert out.split() == ["6", "5", "(2,", "3)", "2", "6", "done"]
    assert list(session.notes) == ["plots are not drawn"]


def test_drawing_asks_for_numbers_as_matplotlib_does() -> None:
    _, outcome = ran("import matplotlib.pyplot as plt\nplt.plot(torch.ones(2, requires_grad=True))")
    assert outcome.error is not None and "Tensor that requires grad" in outcome.error.message


PROFILED = """
from torch.profiler import profile, record_function, ProfilerActivity
from torch.autograd import profiler
@record_function("f")
def f(x):
    return x + 1
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model"):
        y = f(torch.ones(3))
    prof.step()
with torch.autograd.profiler.profile() as prof, profiler.record_function("g"):
    y = y * 2
table = prof.key_averages().table(sort_by="cpu_time_total")
print(y)
"""


def test_profilers_are_silent() -> None:
    out, outcome = ran(PROFILED)
    assert outcome.error is None, outcome.error
    assert out == "tensor([4., 4., 4.])\n"
    assert list(session.notes) == ["nothing is profiled: `gradcli trace --profile` does that"]


def test_one_note_on_standard_error(tmp_path: Path) -> None:
    file = tmp_path / "plot.expr"
    file.write_text("import matplotlib.pyplot as plt\nfor i in range(3): plt.plot([i])\nprint(1)\n")
    done = command("run", str(file))
    assert (done.stdout, done.stderr) == ("1\n", "note: plots are not drawn\n")
    assert command("run", "-q", str(file)).stderr == ""


# ---------------------------------------------------------------- what stands in memory

FILES = """
import os, glob
from pathlib import Path
os.makedirs("out/deep", exist_ok=True)
with open("out/x.txt", "w") as f:
    f.write("one\\ntwo\\n")
    print("three", file=f)
with open(Path("out") / "x.txt", "a") as f:
    f.writelines(["four\\n"])
file = "out/x.txt"
print(os.path.exists(file), os.path.getsize(file), os.listdir("out"), glob.glob("out/*.txt"))
inside = sorted(p.name for p in Path("out").iterdir())
print([line.strip() for line in open(file)], f.closed, inside)
layer = nn.Linear(2, 1)
torch.save(layer, "layer.pt")
try:
    torch.load("layer.pt")
except Exception as error:
    print(type(error).__name__, str(error)[:24])
print(torch.load("layer.pt", weights_only=False))
wrongs = [lambda: open("nothing"), lambda: open("a/b", "w"), lambda: os.mkdir("out")]
for wrong in wrongs + [lambda: f.read()]:
    try:
        wrong()
    except (OSError, ValueError) as error:
        print(type(error).__name__, error)
os.remove("layer.pt")
print(Path("layer.pt").exists(), Path("a/b.tar.gz").suffix, Path("a").joinpath("b").parts)
"""


def test_files_exist_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out, outcome = ran(FILES)
    assert outcome.error is None, outcome.error
    assert out.splitlines() == [
        "True 19 ['deep', 'x.txt'] ['out/x.txt']",
        "['one', 'two', 'three', 'four'] True ['deep', 'x.txt']",
        "UnpicklingError Weights only load failed",
        "Linear(in_features=2, out_features=1, bias=True)",
        "FileNotFoundError [Errno 2] No such file or directory: 'nothing'",
        "FileNotFoundError [Errno 2] No such file or directory: 'a/b'",
        "FileExistsError [Errno 17] File exists: 'out'",
        "ValueError I/O operation on closed file.",
        "False .gz ('a', 'b')",
    ]
    assert list(tmp_path.iterdir()) == []


STORED = """
import csv, pickle
import numpy as np
a = np.arange(6.0).reshape(2, 3)
np.save("x", a)
np.savez("y", a, b=a[0])
np.savetxt("t.csv", a, delimiter=",", fmt="%.1f", header="a,b,c")
z = np.load("y.npz")
print(np.load("x.npy").sum(), sorted(z.keys()), z["b"], open("t.csv").read().split())
print(np.loadtxt("t.csv", delimiter=",", dtype=np.float32)[1])
print(np.genfromtxt("t.csv", delimiter=",").T[0])
wrongs = [lambda: np.loadtxt("none.csv"), lambda: np.load("none.npy")]
for wrong in wrongs + [lambda: np.savetxt("t", a, "%99999f")]:
    try:
        wrong()
    except (OSError, ValueError) as error:
        print(error)
with open("p", "wb") as f:
    pickle.dump({"a": torch.ones(2)}, f)
    pickle.dump([1, 2], f)
with open("p", "rb") as f:
    print(pickle.load(f), pickle.load(f))
with open("c.csv", "w") as f:
    csv.writer(f).writerows([["a", "b"], [1, None], ["x,y", 2.5]])
print(list(csv.reader(open("c.csv"))), [row["b"] for row in csv.DictReader(open("c.csv"))])
"""


def test_arrays_and_rows_are_stored_in_memory() -> None:
    out, outcome = ran(STORED)
    assert outcome.error is None, outcome.error
    assert out.splitlines() == [
        "15.0 ['arr_0', 'b'] [0. 1. 2.] ['#', 'a,b,c', '0.0,1.0,2.0', '3.0,4.0,5.0']",
        "[3. 4. 5.]",
        "[0. 3.]",
        "none.csv not found.",
        "[Errno 2] No such file or directory: 'none.npy'",
        "invalid fmt: '%99999f'",
        "{'a': tensor([1., 1.])} [1, 2]",
        "[['a', 'b'], ['1', ''], ['x,y', '2.5']] ['', '2.5']",
    ]


def test_an_import_that_nothing_uses_is_left_out() -> None:
    imports = "import pandas as pd\nfrom torchvision import io, transforms\nimport torch.hub\n"
    source = Source(imports)
    program = parse(source)
    assert source.notes == ("imported and never used, so left out: pandas, torchvision",)
    assert run(program, {}, write=lambda text: None).error is None
    for text in ("import pandas as pd\npd.DataFrame()", "import numpyy"):
        with pytest.raises(ProgramError, match="No module named"):
            parse(Source(text))


def test_an_import_that_the_top_level_does_not_read_fails_where_code_reads_it() -> None:
    imports = "import pandas as pd\nfrom torchvision import io\nfrom wandb import init\n"
    functions = "def read(): return pd.read_csv('x')\ndef net(): return io.read_image('x')\n"
    told = "for f in (read, net):\n    try: f()\n    except ImportError as e: print(e)\n"
    out, outcome = ran(f"{imports}{functions}def last(): init(torch.ones(2))\n{told}last()\n")
    assert out == ("No module named 'pandas'\ncannot import name 'io' from 'torchvision'\n")
    assert outcome.error is not None and outcome.error.message == "No module named 'wandb'"
    assert outcome.error.notes == (
        "help: run the file by real Python with --engine torch, which trusts it",
    )
    assert [label.span.line for label in outcome.error.labels] == [6, 10]


def test_what_needs_more_than_a_program_has_can_be_named() -> None:
    out, outcome = ran(
        "import torch.distributed as dist\nfrom torch.hub import load_state_dict_from_url\n"
        "from importlib.metadata import version\n"
        "print(dist.is_initialized(), version('torch'))\ndist.init_process_group('gloo')"
    )
    assert out == "False 2.13.0\n" and outcome.error is not None
    assert outcome.error.message.startswith("torch.distributed.init_process_group needs")


def test_a_class_in_one_line() -> None:
    text = "A = type('A', (), {'x': 3, 'f': lambda self: self.x + 1})\n"
    assert ran(f"{text}print(A().f(), A, type(A()) is A)")[0] == "4 <class '__main__.A'> True\n"
    assert ran("type('A', (), {'__torch_function__': print})")[1].error is not None


def test_a_second_run_finds_nothing_of_the_first() -> None:
    with as_new():
        assert ran("import random\nopen('a', 'w').write('x')\nprint(random.random())")[0]
    with as_new():
        out, _ = ran("import os, random\nprint(os.path.exists('a'), random.random())")
    assert out == "False 0.8444218515250481\n"


def test_a_bar_passes_through() -> None:
    out, outcome = ran(
        "from tqdm import tqdm, trange\nfrom tqdm.auto import tqdm as bar\n"
        "for i in tqdm(range(3), desc='x'): pass\n"
        "with trange(2) as t:\n    for i in t:\n        t.set_postfix(loss=i)\n"
        "steps = bar(total=4)\nsteps.update(3)\ntqdm.write('said')\n"
        "print(i, len(tqdm([1, 2])), steps.n, [v for v in tqdm('ab')])\n"
    )
    assert outcome.error is None and out == "said\n1 2 3 ['a', 'b']\n"


def test_the_clock_stands_at_the_start_and_steps() -> None:
    text = (
        "import time\nfrom datetime import datetime\nstart = time.time()\ntime.sleep(2.5)\n"
        "print(f'{time.time() - start:.3f}', datetime.now().year, time.perf_counter() > 0)"
    )
    with as_new():
        first = ran(text)[0]
    with as_new():
        assert first == ran(text)[0] == "2.501 2026 True\n"


@pytest.mark.parametrize("text", ["import sys\nsys.exit()", "exit(0)", "raise SystemExit"])
def test_a_program_may_leave(text: str) -> None:
    out, outcome = ran(f"print(1)\n{text}\nprint(2)")
    assert (out, outcome.error) == ("1\n", None)


def test_leaving_with_a_code_is_an_error() -> None:
    assert ran("import sys\nsys.exit('no data')")[1].error.type == "SystemExit"  # type: ignore[union-attr]


HOGS = (
    "import itertools\nfor i in itertools.count(): pass",
    "import itertools\nlist(itertools.product(range(100), repeat=9))",
    "import random\nrandom.getrandbits(10 ** 12)",
    "import random\nrandom.choices([1], k=10 ** 12)",
    "from collections import deque\nd = deque()\nwhile True: d.append('x' * 1000)",
    "import functools\nf = len\nfor i in range(10 ** 6): f = functools.partial(f)\nf('')",
    "f = open('a', 'w')\nwhile True: f.write('x' * 10 ** 6)",
    "import os\nfor i in range(10 ** 9): os.mkdir(str(i))",
    "import re\nre.sub('', 'x' * 10 ** 6, 'y' * 10 ** 6)",
    "import heapq\nh = []\nwhile True: heapq.heappush(h, 1)",
    "import json\nx = []\nfor i in range(10 ** 6): x = [x]\njson.dumps(x)",
    "import time\nwhile time.time() > 0: time.sleep(1)",
)


@pytest.mark.parametrize("text", HOGS)
def test_a_module_is_charged(text: str) -> None:
    budget = Budget(max_steps=300_000, max_memory=200_000_000, timeout=30)
    outcome = run(parse(Source(text)), {}, budget=budget, write=lambda text: None)
    assert outcome.error is not None
    assert outcome.error.type in ("LimitReached", "RecursionError"), outcome.error
