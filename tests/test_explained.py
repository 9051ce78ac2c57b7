"""Tests of explained errors: names, lines, tables, and advice that was tried, as a person reads it.

The programs and what is said stand in `programs/explained.txt`, those of ordinary mistakes
in `programs/misuse.txt`.
"""

from __future__ import annotations

import io
import json
import keyword
import random
import re
import tokenize
from pathlib import Path

import pytest
from oracle import oracle
from pages import error_of, parts
from programs_under import sections
from schemas import fits
from test_cli import gradcli
from test_errors import PLAIN, failure  # noqa: F401 - the question that is asked below

from gradcli.diagnostics import ExitStatus
from gradcli.engine.schema.run_state import as_new
from gradcli.opening import UsageError
from gradcli.pipeline.request import Limits, Ran, Request
from gradcli.pipeline.run import execute
from gradcli.process.deadline import reached
from gradcli.questions.tried_advice import MOST_MEMORY, MOST_STEPS, with_cut, with_trials
from gradcli.render import error as render

PROGRAMS = Path(__file__).parent / "programs"
PAGES = sections(PROGRAMS / "explained.txt")
MISUSE = sections(PROGRAMS / "misuse.txt")
# Words of our own: a name that is never assigned may be an input. The question has its own print.
OWN_WORDS = re.compile(
    r"NameError: the input|SyntaxError: keyword argument|.*for print\(\)"
    r"|.*'builtin_function_or_method'$"  # torch's t, which PyTorch's side here does not import
)
PRELUDE = (
    "import math\nimport torch\nimport torch.nn.functional as F\n"
    "from torch import Tensor, nn, optim, relu, tensor\n"
)


def explained(text: str) -> Ran:
    """A program's run with its error explained and its advice tried."""
    with as_new():
        ran = execute(Request(text.encode(), "p.expr"), lambda words: None)
        return with_cut(with_trials(ran))


def page_of(text: str) -> str:
    ran = explained(text)
    assert ran.error is not None
    return str(render.text(ran.error, text, PLAIN))


@pytest.mark.parametrize("title", PAGES)
def test_pages(title: str) -> None:
    text, _, expected = PAGES[title].partition("---\n")
    shown, error = parts(page_of(text))
    assert shown == expected
    assert error == oracle.ask("failure", PRELUDE + text).splitlines()[0]
    for line in shown.splitlines():
        assert len(line) <= PLAIN.width or line.startswith("help: ")


KEPT_BY_FORWARD = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.square = x * x
        return ctx.square * x
    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.square * g
x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradgradcheck(Cube.apply, x)
"""


def test_the_check_of_a_second_derivative() -> None:
    """Its message has several lines; what forward has left behind is marked and told."""
    page = page_of(KEPT_BY_FORWARD)
    assert "Cube.forward computes ctx.square outside of every graph" in page
    assert page.endswith("save the inputs instead, and compute ctx.square again in Cube.backward\n")


def test_a_plot_of_what_requires_grad() -> None:
    page = page_of(
        "import matplotlib.pyplot as plt\nx = torch.linspace(0, 1, 5, requires_grad=True)\n"
        "plt.plot(x, x ** 2)\n"
    )
    assert "help: x.detach() and (x ** 2).detach() on line 3      tried: passes" in page


def test_a_matrix_without_an_inverse() -> None:
    page = page_of(
        "a = torch.ones(2, 2, requires_grad=True)\ntorch.linalg.inv(a).sum().backward()\n"
    )
    advice = "a + 1e-4 * torch.eye(2), if it is singular by rounding only"
    assert page.endswith(f"help: {advice}\n      tried: passes\n")


@pytest.mark.parametrize("title", MISUSE)
def test_ordinary_mistakes(title: str) -> None:
    text, _, expected = MISUSE[title].partition("---\n")
    page = page_of(text)
    assert page == expected
    error = error_of(page)
    if not OWN_WORDS.match(error):
        told = oracle.ask("failure", PRELUDE + text).rstrip().splitlines()
        assert error.rstrip() == told[0].rstrip().removesuffix(":")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nx++\n", "x += 1"),
        ("x = True && False\n", "'and' in the place of &&"),
        ("x = True || False\n", "'or' in the place of ||"),
        ("x = !True\n", "'not' in the place of !"),
        ("x = a ? 1 : 2\n", "a if condition else b"),
        ("y = 2 x\n", "2 * x"),
        ("y = 2x\n", "2 * x"),
        ("x := 3\n", "x = 3"),
        ("var x = 3\n", "x = 3"),
        ("lambda = 3\n", "another name: 'lambda' is a word of the language"),
        ("def f(x):\n    retrun x\n", "did you mean 'return'?"),
        ("whille True:\n    pass\n", "did you mean 'while'?"),
        ("fro i in range(3):\n    pass\n", "did you mean 'for'?"),
        ("improt torch\n", "did you mean 'import'?"),
        ("x = 1\nelse:\n    x = 2\n",
         "begin 'else' where the statement begins that it belongs to"),
        ("if x:\n    pass\nelse if y:\n    pass\n", "elif in the place of else if"),
        ("for i in range(3)\n    pass\n", "a colon behind 'for i in range(3)'"),
        ("for i in range(3):\nprint(i)\n",
         "indent line 2 and what belongs to the same block by four spaces"),
        ("x = 1\n  y = 2\n", "begin line 2 where the line above begins"),
        ("if True:\n        x = 1\n    y = 2\n",
         "indent line 3 like the block that it belongs to"),
        ("y = 2 +\n", "complete line 1: something is missing at its end"),
        ("x = \u201chello\u201d\n", 'write " instead of \u201c'),
        ("x = 3 \u2212 2\n", "write - instead of \u2212"),
        ("x = 3\u00b2\n", "write **2 instead of \u00b2"),
        ("// a comment\n", "# a comment"),
        (">>> x = 1\n", "leave out the prompts >>> and ..., and what was printed"),
        ("In [1]: import torch\n", "leave out the notebook's In [1]: and Out[1]:"),
        ("%matplotlib inline\n", "leave the line out: it is a command to a notebook"),
        ("!pip install torch\n", "leave the line out: it is a command to a shell"),
        ("files = !ls *.csv\n",
         "give the name a value: a program here can't ask a shell or a notebook for it"),
        ("```python\nx = 1\n```\n", "leave out the lines with ``` around the program"),
        ("x = 1\u00a0+ 2\n", "write a plain space instead of U+00A0"),
    ],
)  # fmt: skip
def test_syntax_advice(text: str, said: str) -> None:
    error = explained(text).error
    assert error is not None and error.exit_status is ExitStatus.PROGRAM_ERROR
    assert error.notes == (f"help: {said}",)


@pytest.mark.parametrize(
    ("data", "first", "last"),
    [
        (b"y = '\xe9t\xe9'\n", "p.expr:1:6", "byte 0xe9 at line 1, byte 6 of the line"),
        (b"\xff\xfex\x00=\x001\x00", "p.expr:1:1", "byte 0xff at line 1, byte 1 of the line"),
        (b"\x89PNG\r\n\x00\x00", "p.expr:1:1", "byte 0x89 at line 1, byte 1 of the line"),
        (b"x = 1\x00\n", "p.expr:1:6", "byte 0x00 at line 1, byte 6 of the line"),
        (b"\xef\xbb\xbfx = = 3\r\n", "p.expr:1:5", "invalid syntax"),
        (b"x = 1\rz = w +\r", "p.expr:2:8", "invalid syntax"),
        (b"x = tensor(1.0)\r\ny = x.exq()\r\n", "p.expr:2:7", "has no attribute 'exq'"),
    ],
)
def test_files_that_are_no_programs(data: bytes, first: str, last: str) -> None:
    """Places count in the text without a byte order mark, with one kind of line end."""
    ran = execute(Request(data, "p.expr"), lambda words: None)
    assert ran.error is not None
    lines = str(render.text(ran.error, ran.error_text, PLAIN)).splitlines()
    assert lines[0] == first and error_of("\n".join(lines)).endswith(last)
    assert "\r" not in "".join(lines)


def test_a_file_that_is_only_called_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "lesson.ipynb"
    path.write_text("x = 1\n")
    done = gradcli("run", str(path))
    assert done.returncode == ExitStatus.PROGRAM_ERROR
    assert "the file is not a notebook: it is no JSON with cells" in done.stderr


def test_the_same_page_twice() -> None:
    """Trials leave nothing behind: random numbers, modes and hooks are as before."""
    text = PAGES["a layer before the loop"].partition("---\n")[0]
    assert page_of(text) == page_of(text)


def test_what_does_not_help_is_not_advised() -> None:
    """retain_graph=True would only lead to the next error here."""
    text = PAGES["retaining would damage"].partition("---\n")[0]
    error = explained(text).error
    assert error is not None and not any("retain_graph" in note for note in error.notes)
    ran = execute(Request(text.encode(), "p.expr"), lambda words: None)
    assert ran.error is not None
    assert any("retain_graph" in cure.note for cure in ran.error.cures)


def test_a_legal_second_backward_is_no_error() -> None:
    ran = explained("x = torch.tensor(2.0, requires_grad=True)\ny = x + 1\n"
                    "y.backward()\ny.backward()\nassert x.grad == 2\n")  # fmt: skip
    assert ran.error is None


def test_a_later_error_is_reported() -> None:
    ran = explained("a = torch.ones(2)\nL = a.sum()\nL.backward()\nb = undefined_at_all(3)\n")
    assert ran.error is not None
    assert ran.error.notes[0].endswith("tried: line 3 passes; NameError on line 4 then")
    ran = explained("a = torch.ones(2)\nL = a.sum()\nL.backward()\nb = a + torch.ones(3)\n")
    assert ran.error is not None
    assert ran.error.notes == (
        "help: a = torch.ones(2, requires_grad=True) on line 1"
        "      tried: line 3 passes; RuntimeError on line 4 then",
    )


def test_a_program_that_is_not_cheap_is_not_run_again() -> None:
    loop = f"n = 0\nfor i in range({MOST_STEPS}):\n    n += i\n"
    ran = explained(loop + "L = torch.ones(2)\nL.sum().backward()\n")
    assert ran.error is not None
    assert ran.error.notes == ("help: L = torch.ones(2, requires_grad=True) on line 4",)


@pytest.mark.parametrize(("left", "tried"), [(0, True), (2 * MOST_MEMORY, False)])
def test_only_memory_that_the_program_took_counts(
    left: int, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook, or a check of many files, holds much before the program begins."""
    held = 3 * MOST_MEMORY
    monkeypatch.setattr("gradcli.language.budget.memory_in_use", lambda: (held, held))
    monkeypatch.setattr(
        "gradcli.questions.tried_advice.memory_in_use", lambda: (held + left, held + left)
    )
    ran = explained("L = torch.ones(2)\nL.sum().backward()\n")
    assert ran.error is not None
    assert ran.error.notes[0].endswith("tried: passes") is tried


NO_GRAPH = "L = torch.ones(2)\nL.sum().backward()\n"
ADVICE = "help: L = torch.ones(2, requires_grad=True) on line "


@pytest.mark.parametrize(
    ("before", "timeout", "tried"),
    [
        ("for i in range(400): i", 0.1, True), ("for i in range(40_000): i", 0.1, False),
        ("for i in range(40_000): i", 10.0, True),
        ("n = torch.ones(2**24).add(1)", 5.0, True), ("n = torch.ones(2**24).add(1)", 0.4, False),
    ],
)  # fmt: skip
def test_what_is_tried_follows_from_the_limit_in_steps_and_bytes(
    before: str, timeout: float, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not from how long the run took: a busy machine gives the same advice."""
    monkeypatch.setattr("time.process_time", lambda: 0.0)
    request = Request(f"{before}\n{NO_GRAPH}".encode(), "p.expr", limits=Limits(timeout=timeout))
    ran = with_trials(execute(request, lambda words: None))
    assert ran.error is not None and ran.error.notes[0].startswith(f"{ADVICE}2")
    assert ran.error.notes[0].endswith("tried: passes") is tried


def test_a_trial_that_meets_the_limit_of_time_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = execute(Request(NO_GRAPH.encode(), "p.expr"), lambda words: None)

    def look(clock: object) -> None:
        raise reached(Limits().timeout)

    monkeypatch.setattr("gradcli.process.deadline.Clock.look", look)
    late = with_trials(ran)
    assert late.error is not None
    notes = (f"{ADVICE}1", "note: the limit of 60 seconds left no time to try this")
    assert late.error.notes == notes


def test_the_program_prints_once(tmp_path: Path) -> None:
    path = tmp_path / "p.expr"
    path.write_text("L = torch.ones(2)\nprint('once')\nL.sum().backward()\n")
    done = gradcli("run", str(path))
    assert done.stdout == "once\n" and done.returncode == ExitStatus.PROGRAM_ERROR
    assert "tried: passes" in done.stderr


@pytest.mark.parametrize("command", ["trace", "run"])
def test_documents(command: str, tmp_path: Path) -> None:
    """Tables and what trying gave stand in the notes of the JSON document, too."""
    path = tmp_path / "p.expr"
    path.write_text(PAGES["bias of the wrong side"].partition("---\n")[0])
    done = gradcli(command, str(path), "--format", "json")
    document = json.loads(done.stdout)
    fits(document, f"gradcli.{command}-1")
    table, advice = document["error"]["notes"]
    assert table.splitlines()[1:] == [
        "      x      4  3",
        "      bias      4",
        "                ^ 3 and 4: neither equal nor 1",
    ]
    assert advice.endswith("      tried: passes")
    assert [label["text"] for label in document["error"]["labels"]] == [
        "", "shape [4, 3]", "shape [4]",
    ]  # fmt: skip


def test_an_explanation_never_fails() -> None:
    """Programs with names and numbers exchanged: whatever is wrong is told with a place."""
    draw = random.Random(7)
    texts = [page.partition("---\n")[0] for page in (PAGES | MISUSE).values()]
    for _ in range(400):
        text = exchanged(draw.choice(texts), draw)
        try:
            ran = explained(text)
        except UsageError:
            continue  # the changed program asks for an option
        if ran.error is not None:
            assert ran.error.exit_status in (ExitStatus.PROGRAM_ERROR, ExitStatus.LIMIT_REACHED)
            assert ran.error.labels, text
            lines = str(render.text(ran.error, ran.error_text, PLAIN)).splitlines()
            assert lines[0].startswith("p.expr:") and any("^" in line for line in lines)


def exchanged(text: str, draw: random.Random) -> str:
    """The same text with a word in the place of another one of its kind."""
    kinds = (tokenize.NAME, tokenize.NUMBER)
    try:
        tokens = [
            token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type in kinds and not keyword.iskeyword(token.string)
        ]
    except (tokenize.TokenError, IndentationError):
        return text
    old = draw.choice(tokens)
    new = draw.choice([token.string for token in tokens if token.type == old.type])
    new += draw.choice(["", "", "", ".grad", ".T", "[0]", ".item()", " @ torch.ones(3)"])
    lines = text.split("\n")
    row, column = old.start
    lines[row - 1] = lines[row - 1][:column] + new + lines[row - 1][old.end[1] :]
    return "\n".join(lines)
