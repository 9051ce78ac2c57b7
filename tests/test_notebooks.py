"""Tests: notebooks and scripts with cells: what is echoed, what is left out, where an error is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from confined import run
from oracle import oracle
from test_cli import gradcli as command

from gradcli.language.notebook import without_magics


def notebook(folder: Path, *cells: str, markdown: str = "# A title") -> Path:
    """A notebook with a cell of text in front of its cells of code."""
    code = [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    text = {"cell_type": "markdown", "source": markdown}
    file = folder / "notes.ipynb"
    file.write_text(json.dumps({"cells": [text, *code], "nbformat": 4}), "utf-8")
    return file


def test_cells_run_in_order_and_their_last_values_are_echoed(tmp_path: Path) -> None:
    file = notebook(
        tmp_path,
        "%matplotlib inline\nimport torch\n!pip install torch\nx = torch.ones(2)",
        "x\nx * 2",
        "x + 1;",
        "print('printed')\nNone",
        "%%bash\nls",
        "%%time\nx.shape",
        "if True:\n    %timeit x\n    y = 3\n'text'",
        "y = 4",
    )
    done = command("run", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "tensor([2., 2.])\nprinted\ntorch.Size([2])\n'text'\n"
    assert done.stderr == "note: 6 lines with magics or shell commands left out\n"


def test_a_cell_may_begin_with_an_import_from_the_future(tmp_path: Path) -> None:
    future = "from __future__ import print_function\n"
    file = notebook(tmp_path, "x = tensor(1.0)", f"{future}x")
    assert command("run", str(file)).stdout == "tensor(1.)\n"
    late = command("run", str(notebook(tmp_path, f"x = 1\n{future}")))
    assert late.returncode == 3
    assert "must occur at the beginning" in late.stderr


def test_one_cell(tmp_path: Path) -> None:
    file = notebook(tmp_path, "raise ValueError", "1 + 1", "2 + 2")
    assert command("run", f"{file}:2").stdout == "2\n"
    missing = command("run", f"{file}:7")
    assert missing.returncode == 3 and "3 cells of code, and no cell 7" in missing.stderr


# What IPython shows of these.
ECHOES = {
    "list(range(3))": "[0, 1, 2]",
    "[torch.ones(2, 2), (1,)]": "[tensor([[1., 1.],\n         [1., 1.]]),\n (1,)]",
    "{'x': torch.ones(2, 2), 'y': [torch.zeros(1), 1]}": (
        "{'x': tensor([[1., 1.],\n         [1., 1.]]),\n 'y': [tensor([0.]), 1]}"
    ),
    "['a' * 30] * 3": f"['{'a' * 30}',\n '{'a' * 30}',\n '{'a' * 30}']",
    "[[1] * 9 for i in range(4)]": f"[{(str([1] * 9) + ',|') * 3}{[1] * 9}]".replace("|", "\n "),
    "{'a': [1] * 30}": "{'a': [1,\n" + "  1,\n" * 28 + "  1]}",
    "(torch.ones(1), None)": "(tensor([1.]), None)",
    "[[], {}]": "[[], {}]",
    "import collections as c; c.OrderedDict(w=torch.ones(2, 1), b=[1])": (
        "OrderedDict([('w',\n              tensor([[1.],\n                      [1.]])),\n"
        "             ('b', [1])])"
    ),
    "import collections as c; c.Counter('abba'), c.defaultdict(list, a=1), c.OrderedDict()": (
        "(Counter({'a': 2, 'b': 2}), defaultdict(list, {'a': 1}), OrderedDict())"
    ),
    "'it'": "'it'",
    "torch.set_grad_enabled(True)": "torch.autograd.grad_mode.set_grad_enabled(mode=True)",
    "torch.no_grad()": "<torch.autograd.grad_mode.no_grad at 0x000000000001>",
    "torch.manual_seed(0)": "<torch._C.Generator at 0x000000000001>",
    "torch.ones(1, requires_grad=True).exp().grad_fn, int, nn.Linear": (
        "(<ExpBackward0 at 0x000000000001>, int, torch.nn.modules.linear.Linear)"
    ),
    "class A:\n    pass\n[A(), map(A, []), A]": (
        "[<__main__.A at 0x000000000001>, <map at 0x000000000002>, __main__.A]"
    ),
}


@pytest.mark.parametrize("text", ECHOES)
def test_echoes(text: str, tmp_path: Path) -> None:
    assert command("run", str(notebook(tmp_path, text))).stdout == ECHOES[text] + "\n"


@pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
def test_pytorchs_run_echoes_the_same(tmp_path: Path) -> None:
    cells = ["from torch import nn", *ECHOES, "from __future__ import annotations\n{1}"]
    done = command("run", str(notebook(tmp_path, "import torch", *cells)), "--engine", "torch")
    addresses = re.compile(r"0x[0-9a-f]+")
    expected = "\n".join([*ECHOES.values(), "{1}\n"])
    assert addresses.sub("0x", done.stdout) == addresses.sub("0x", expected), done.stderr


# What IPython shows of matplotlib's answers.
PLOTS = {
    "plt.plot([1, 2], 'r', [3], [4])": (
        "[<matplotlib.lines.Line2D at 0x000000000001>,\n"
        " <matplotlib.lines.Line2D at 0x000000000002>]"
    ),
    "plt.semilogy(torch.ones(3, 1))": "[<matplotlib.lines.Line2D at 0x000000000001>]",
    "plt.title('a b'), plt.xlabel('x')": None,
    "plt.title('a b', fontsize=9)": "Text(0.5, 1.0, 'a b')",
    "plt.text(1, 2.5, 'q')": "Text(1, 2.5, 'q')",
    "fig, ax = plt.subplots()\nax.set_ylabel('y')": "Text(0, 0.5, 'y')",
    "plt.figure(figsize=(10, 3.5))": "<Figure size 1000x350 with 0 Axes>",
    "plt.subplot(1, 2, 1)": "<Axes: >",
    "plt.bar([1, 2, 3], 1)": "<BarContainer object of 3 artists>",
    "plt.ylim(0, 2)": "(0.0, 2.0)",
    "plt.imshow(torch.ones(2, 2))": "<matplotlib.image.AxesImage at 0x000000000001>",
    "plt.plot([1]); plt.show()": None,
    "plt.legend();": None,
}


@pytest.mark.parametrize("text", PLOTS)
def test_echoes_of_plots(text: str, tmp_path: Path) -> None:
    done = command("run", str(notebook(tmp_path, f"import matplotlib.pyplot as plt\n{text}")))
    assert done.stdout == (f"{PLOTS[text]}\n" if PLOTS[text] else "")
    assert done.stderr == "note: plots are not drawn\n"


def test_an_error_says_cell_and_line(tmp_path: Path) -> None:
    file = notebook(tmp_path, "def f(x):\n    return 1 / x", "y = 1\nf(0)")
    done = command("run", str(file))
    assert done.returncode == 3
    first, *lines = done.stderr.splitlines()
    assert first == f"{file}, cell 1, line 2, column 12"
    assert "  cell 2" in lines and "  2 | f(0)" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
    text = notebook(tmp_path, "x = torch.ones(1, requires_grad=True)\ny = x * 2\ny.backward()",
                    "y.backward()")  # fmt: skip
    said = command("run", str(text)).stderr
    assert "line 3 of cell 1" in said and "line 4" not in said and "cell 1, line" not in said


def test_what_is_no_notebook(tmp_path: Path) -> None:
    file = tmp_path / "notes.ipynb"
    cell = '{"cells": [{"cell_type": "code", "source": %s}]}'
    parts = (cell % source for source in ('{"x": 1}', "5", "null", "[1]", '"\\ud800"', "9" * 9000))
    for text in ("x = 1", "[]", '{"cells": [{"cell_type": "code"}]}', "[" * 100_000, *parts):
        file.write_text(text)
        done = command("run", str(file))
        assert done.returncode == 3 and "is not a notebook" in done.stderr, done.stderr


def test_many_cells_take_the_time_of_their_text(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text("# %%\nx = 1\n" * 20_000 + "x")
    assert command("run", str(file)).stdout == "1\n"


def test_cells_of_a_script(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text("# %%\nimport torch\nx = torch.ones(2)\nx\n# %% a title\nx * 2;\n#%%\n1 + 1\n")
    assert command("run", str(file)).stdout == "tensor([1., 1.])\n2\n"
    file.write_text("import torch\ntorch.ones(2)\nif __name__ == '__main__':\n    print(1)\n")
    assert command("run", str(file)).stdout == "1\n"


def test_a_trace_of_a_notebook(tmp_path: Path) -> None:
    leaf = "x = torch.ones(1, requires_grad=True)"
    file = notebook(tmp_path, leaf, "(x * 2).backward()", "x.grad")
    done = command("trace", str(file))
    assert done.returncode == 0 and done.stdout.startswith("tensor([2.])\n")


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("print('%d' % 3)", 0),
        ("x = '''\n%time\n'''", 0),
        ("print('a %s'\n      % 3)", 0),
        ("%load_ext x\ny = 1", 1),
        ("!ls\n!pwd", 2),
        ("torch.ones?", 1),
        ("?torch", 1),
        ("%%html\n<b>\n</b>", 3),
    ],
)
def test_what_is_left_out(cell: str, left: int) -> None:
    text, count = without_magics(cell)
    assert count == left and text.count("\n") == cell.count("\n")
    compile(text, "<cell>", "exec")


CELLS = (
    "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\nw = x * 2",
    "def f(t):\n    return t.exp().sum()",
    "w.grad\nx = x + 1\nloss = f(x)",
    "loss.backward()",
)
ANSWERS = {
    ("trace",): ("2 of cell 2", "3 of cell 1", "backward on line 1 of cell 4 freed"),
    ("trace", "--ledger", "--saved", "--profile", "--stats"): (
        "freed by line 1 of cell 4", "▶", "1 of cell 3", "line 2 of cell 2: 8 bytes",
    ),
    ("grad",): ("3 of cell 3",),
    ("flow",): ("   1  1 of cell 4",),
    ("step",): ("loss.backward()   line 1 of cell 4", "line 2 of cell 3"),
    ("why", "x"): ("on line 2 of cell 3 x was rebound", "cell 3, line 2, column 1", "  cell 1"),
}  # fmt: skip


@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_answers_say_cell_and_line(words: tuple[str, ...], tmp_path: Path) -> None:
    file = notebook(tmp_path, *CELLS)
    done = command(words[0], str(file), *words[1:])
    assert done.returncode == 0, done.stderr
    for said in ANSWERS[words]:
        assert said in done.stdout, (said, done.stdout)
    assert f"{file}, cell 3, line 1: UserWarning: The .grad attribute" in done.stderr
    bare = re.findall(r"\blines? \d+(?! of cell)(?<!cell \d, line \d)\b", done.stdout)
    assert bare == [], done.stdout


def test_documents_count_lines_of_the_whole_text(tmp_path: Path) -> None:
    """Programs read numbers, and those of a picture lead to its list of lines."""
    file = notebook(tmp_path, *CELLS)
    tensors = json.loads(command("trace", str(file), "--format", "json").stdout)["tensors"]
    assert [tensor["line"] for tensor in tensors if tensor["name"] == "loss"] == [11]
    page = command("trace", str(file), "--format", "html").stdout
    assert set(re.findall(r'data-lines="(\d+)"', page)) == set(
        re.findall(r'data-lines="([^"]*)"', page)
    )


def test_advice_is_tried_in_notebooks(tmp_path: Path) -> None:
    """The text that an edit makes of the cells is none of a notebook."""
    file = notebook(tmp_path, "import torch\nx = torch.ones(2)", "y = (x * 2).sum()\ny.backward()")
    said = command("why", str(file), "x").stdout
    assert "tried: x.grad becomes tensor([2., 2.])" in said, said


def test_pytorchs_run_counts_within_cells_too(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = command("flow", str(notebook(tmp_path, *CELLS)), "--engine", "torch")
    assert done.returncode == 0, done.stderr
    assert "   1  1 of cell 4" in done.stdout


@pytest.mark.parametrize(
    ("cell", "column", "shown"),
    [("y = (1,", 5, "y = (1,"), ("@", 2, "@"), ("eval('1')", 1, "eval('1')"),
     ("return x", 1, "return x")],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["run", "check"])
def test_what_is_refused_before_it_runs_has_its_cell(
    verb: str, cell: str, column: int, shown: str, tmp_path: Path
) -> None:
    done = command(verb, str(notebook(tmp_path, "x = 1", f"z = 2\n{cell}", "w = 3")))
    said = done.stdout + done.stderr
    assert done.returncode == 3 and f"notes.ipynb, cell 2, line 2, column {column}\n" in said
    assert re.search(rf"^ +2 [|│] {re.escape(shown)}$", said, re.M), said


@pytest.mark.parametrize(
    ("first", "second", "column"),
    [('s = """', '"""', 5), ("print((", "1))", 7), ("x = 1 + \\", "2", 10),
     ("@torch.no_grad()", "def f(): pass", 1), ("if True:", "    print(1)", 9)],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_cell_that_goes_on_in_the_next_is_no_program(
    verb: str, first: str, second: str, column: int, tmp_path: Path
) -> None:
    done = command(verb, str(notebook(tmp_path, "x = 1", first, second, "w = 3")))
    said = done.stdout + done.stderr
    assert done.returncode == 3 and f"notes.ipynb, cell 2, line 1, column {column}\n" in said, said


def test_the_json_of_a_notebook_is_read_within_the_limit_of_time(tmp_path: Path) -> None:
    file = tmp_path / "notes.ipynb"
    keys = ",".join(f'"{number:x}":0' for number in range(2_000_000))
    file.write_text(f'{{"x": {{{keys}}}, "cells": []}}')
    done = run("run", str(file), "--timeout", "0.1")
    assert done.status == 4 and "--timeout raises it" in done.errors and done.seconds < 1.8


def test_marks_of_a_script_within_a_cell_begin_no_cell(tmp_path: Path) -> None:
    file = notebook(tmp_path, "# %% cell 7\n5\n#%%\n6", "# %%\n1 / 0")
    done = command("run", str(file))
    assert done.stdout == "6\n" and done.stderr.startswith(f"{file}, cell 2, line 2, column 1\n")


def test_lines_of_cells_are_numbers_in_json(tmp_path: Path) -> None:
    file = notebook(tmp_path, "w = torch.tensor(3., requires_grad=True)", "(w ** 2).backward()")
    steps = json.loads(command("step", str(file), "--format", "json").stdout)["passes"][0]["steps"]
    assert [step["line"] for step in steps] == [4, 2]


def test_the_page_has_the_cells_beside_the_picture(tmp_path: Path) -> None:
    file = notebook(tmp_path, "w = torch.tensor(3., requires_grad=True)", "(w ** 2).backward()")
    shown = command("trace", str(file), "--format", "html").stdout
    rows = re.findall(r"<li data-line=\"(\d)\" tabindex=\"-1\"(.*?)>(.*?)</li>", shown)
    assert rows[0] == ("1", ' class=cell value="0"', "# %% cell 1")
    assert [row[2] for row in rows if row[2].startswith("(w")] == ["(w ** 2).backward()"]
    assert "nbformat" not in shown


def test_output_that_the_page_leaves_out_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "long.expr"
    file.write_text(
        "x = torch.ones(2, requires_grad=True)\nprint('a' * 8005)\nx.sum().backward()\n"
    )
    assert "<p>6 more characters</p>" in command("trace", str(file), "--format", "html").stdout


def test_reports_do_not_point_at_lines_that_the_file_of_a_notebook_does_not_have(
    tmp_path: Path,
) -> None:
    file = notebook(tmp_path, "w = torch.tensor(3.)", "w = w * 2\nassert w == 5")
    told = command("check", str(file), "--format", "github").stdout
    assert "line=" not in told and "::cell 2, line 2: AssertionError" in told
    command("check", str(file), "--sarif", str(tmp_path / "report.sarif"))
    (result,) = json.loads((tmp_path / "report.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["message"]["text"].startswith("cell 2, line 2: ")
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert ' line="' not in command("check", str(file), "--format", "junit").stdout
