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

from gradcli.language.modules import DRAWING, INSTEAD, MODULES
from gradcli.language.session import session

PROGRAMS = sections(Path(__file__).parent / "programs" / "modules.txt")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", PROGRAMS)
def test_printed_as_by_python(title: str) -> None:
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


def listed() -> str:
    """The modules with their names, as the page has them."""
    return "\n".join(
        fill(f"- `{name}`: {', '.join(sorted(module.names, key=str.lower))}", 120,
             subsequent_indent="  ", break_on_hyphens=False)
        for name, module in sorted(MODULES.items())
    )  # fmt: skip


# ---------------------------------------------------------------- what is not there


@pytest.mark.parametrize("name", INSTEAD)
def test_a_refused_module_names_what_there_is_instead(name: str) -> None:
    diagnostic = refused(f"import {name}.inner as inner")
    assert (diagnostic.type, diagnostic.message) == (
        "ModuleNotFoundError", f"No module named '{name}'"
    )  # fmt: skip
    (note,) = diagnostic.notes
    assert INSTEAD[name] in note and "--engine torch, which trusts it" in note


def test_an_import_that_may_never_run_fails_where_it_runs() -> None:
    out, outcome = ran("def f():\n    import sklearn\nprint(1)\nif 1:\n    f()")
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


def test_one_note_on_standard_error(tmp_path: Path) -> None:
    file = tmp_path / "plot.expr"
    file.write_text("import matplotlib.pyplot as plt\nfor i in range(3): plt.plot([i])\nprint(1)\n")
    done = command("run", str(file))
    assert (done.stdout, done.stderr) == ("1\n", "note: plots are not drawn\n")
    assert command("run", "-q", str(file)).stderr == ""
