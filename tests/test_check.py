"""Tests of `gradcli check`: the gate: recorded answers, asserts, gates, formats, processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_here import here as gradcli
from schemas import fits
from test_cli import Done

ROOT = Path(__file__).parent.parent
GOOD = "x = tensor(3.0, requires_grad=True)\ny = x**2\ny.backward()\nprint(x.grad)\n"
WRONG = """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * x
a = tensor([1.0, 2.0], requires_grad=True)
b = Square.apply(a) * 3
b.sum().backward()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(home: Path, name: str, text: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def document(*words: str) -> tuple[Any, Done[str]]:
    """The JSON document, valid, and how the command ended."""
    done = gradcli("check", *words, "--format", "json")
    doc = json.loads(done.stdout)
    fits(doc, "gradcli.check-1")
    assert doc["exit_code"] == done.returncode
    return doc, done


def problems(*words: str) -> list[tuple[str, str, int | None]]:
    doc, _ = document(*words)
    return [(p["kind"], p["message"], p["line"]) for f in doc["files"] for p in f["problems"]]


# ---------------------------------------------------------------- recorded answers


def test_the_recorded_answer(home: Path) -> None:
    write(home, "a.expr", GOOD)
    done = gradcli("check", "a.expr")
    assert (done.returncode, done.stdout.splitlines()[0].split()) == (
        0, ["passed", "a.expr", "no", "record,", "1", "gradient"],
    )  # fmt: skip
    assert gradcli("check", "--update", "a.expr").returncode == 0
    assert (home / "a.out").read_text() == "tensor(6.)\n"
    (home / "a.out").write_bytes(b"tensor(6.)\r\n")  # as git checks it out on Windows
    assert gradcli("check", "a.expr").stdout.startswith("passed  a.expr  same output")
    assert "same output" in gradcli("check", "a.expr").stdout
    write(home, "a.out", "tensor(6.)\nand more\n")
    done = gradcli("check", "a.expr")
    assert done.returncode == 1
    assert "  -and more" in done.stdout.splitlines()
    assert "  output: the output differs from a.out in line 2" in done.stdout.splitlines()


def test_update_leaves_failures_alone(home: Path) -> None:
    write(home, "a.expr", "print(1)\nassert 1 > 2, 'never'\n")
    assert gradcli("check", "--update", "a.expr").returncode == 1
    assert not (home / "a.out").exists()


def test_a_missing_line_end_is_reported(home: Path) -> None:
    write(home, "a.expr", "print(1, end='')\n")
    write(home, "a.out", "1\n")
    assert gradcli("check", "a.expr").returncode == 1


def test_links_are_not_followed(home: Path) -> None:
    secret = write(home, "secret/word", "hidden\n")
    folder = home / "programs"
    write(home, "programs/a.expr", "print(1)\n")
    (folder / "a.out").symlink_to(secret)
    (folder / "b.expr").symlink_to(secret)
    done = gradcli("check", "programs")
    assert done.returncode == 2 and "hidden" not in done.stdout and "b.expr" not in done.stdout
    assert gradcli("check", "--update", "programs").returncode == 2
    assert secret.read_text() == "hidden\n"


def test_what_is_printed_is_harmless(home: Path) -> None:
    write(home, "a.expr", "print('\\x1b[31mred')\n")
    write(home, "a.out", "x\n")
    done = gradcli("check", "a.expr")
    assert "\x1b" not in done.stdout and "\\x1b[31mred" in done.stdout


# ---------------------------------------------------------------- how programs end


def test_exit_codes(home: Path) -> None:
    programs = {
        "good": (GOOD, 0),
        "assert": ("x = 1\nassert x == 2, 'two'\n", 1),
        "raised": ("raise ValueError('no')\n", 3),
        "syntax": ("x = (\n", 3),
        "input": ("y = x * 2\n", 3),
        "limit": ("while True:\n    pass\n", 4),
    }
    for name, (text, code) in programs.items():
        path = write(home, f"{name}.expr", text)
        assert gradcli("check", str(path), "--max-steps", "100000").returncode == code, name
    assert gradcli("check", ".", "--max-steps", "100000").returncode == 3
    assert gradcli("check", "good.expr", "assert.expr", "raised.expr").returncode == 3
    assert gradcli("check", "good.expr", "nowhere.expr").returncode == 2
    assert gradcli("check", "good.expr", "--device", "cuda:99").returncode in (5, 2, 3)
    assert gradcli("check", "good.expr", "--fail-on", "many").returncode == 2
    assert gradcli("check", "empty").returncode == 2


def test_an_assert_is_shown_with_its_place(home: Path) -> None:
    write(home, "a.expr", "x = tensor(2.0)\nassert x > 3, f'too small: {x}'\n")
    found = problems("a.expr")
    assert found == [("assert", "AssertionError: too small: 2.0", 2)]
    assert "2 | assert x > 3" in gradcli("check", "a.expr").stdout.replace("│", "|")


def test_a_program_may_be_meant_to_fail(home: Path) -> None:
    text = "# check: raises RuntimeError\nx = tensor(2.0)\nprint(x)\nx.backward()\n"
    write(home, "a.expr", text)
    assert gradcli("check", "--update", "a.expr").returncode == 0
    first, last = (home / "a.out").read_text().splitlines()
    assert first == "tensor(2.)" and last.startswith("RuntimeError: element 0 of tensors")
    assert gradcli("check", "a.expr").returncode == 0
    write(home, "b.expr", "# check: raises ValueError\nprint(1)\n")
    assert problems("b.expr") == [
        ("error", "should have raised ValueError, and raised nothing", None)
    ]
    write(home, "c.expr", "# check: raises ValueError\nx = tensor(2.0)\nx.backward()\n")
    assert gradcli("check", "c.expr").returncode == 3


def test_wishes_may_stand_at_the_end(home: Path) -> None:
    """Where they shift no line that is told somewhere."""
    write(home, "a.expr", "x = tensor(2.0)\nx.backward()\n\n# check: raises RuntimeError\n")
    assert gradcli("check", "a.expr").returncode == 0
    write(home, "a.expr", "x = tensor(2.0)\n# check: raises RuntimeError\nx.backward()\n")
    assert gradcli("check", "a.expr").returncode == 3


def test_every_program_starts_anew(home: Path) -> None:
    """Random numbers, types, print options and modes of one program are not those of the next."""
    loud = "torch.manual_seed(7)\ntorch.set_default_dtype(torch.float64)\n"
    loud += "torch.set_printoptions(precision=2)\ntorch.set_grad_enabled(False)\n"
    write(home, "a.expr", loud)
    write(home, "b.expr", "x = torch.rand(2, requires_grad=True)\nprint(x, x * 2)\n")
    alone = gradcli("run", "b.expr").stdout
    doc, _ = document("a.expr", "b.expr", "b.expr", "a.expr")
    assert [f["file"] for f in doc["files"]] == ["a.expr", "b.expr"]
    assert doc["files"][1]["output"] == alone


# ---------------------------------------------------------------- gates


GATES = {
    "nan": ("x = tensor(0.0, requires_grad=True)\ny = x * 0 / x\ny.backward()\n", "y is nan"),
    "inf": ("x = tensor(0.0, requires_grad=True)\ny = x.sqrt()\ny.backward()\n", "x.grad is inf"),
    "none": (GOOD + "z = tensor(1.0, requires_grad=True)\n", "z.grad is None"),
    "zero": ("x = tensor(2.5, requires_grad=True)\ny = x.floor()\ny.backward()\n",
             "x.grad is all zero"),
    "stale": (
        "w = tensor(1.0, requires_grad=True)\nfor _ in range(2):\n    loss = (w * 3) ** 2\n"
        "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n",
        "w.grad is stale: line 4 adds to what line 4 left, although line 6 changed w in between",
    ),
}  # fmt: skip


@pytest.mark.parametrize("word", GATES)
def test_gates(home: Path, word: str) -> None:
    text, message = GATES[word]
    write(home, "a.expr", text)
    assert gradcli("check", "a.expr").returncode == (word in ("nan", "inf"))
    found = problems("a.expr", "--fail-on", "nan,inf,none,zero,stale")
    assert (word, message) in [(kind, said) for kind, said, _ in found]
    assert {kind for kind, _, _ in problems("a.expr", "--fail-on", word)} == {word}
    other = "zero" if word != "zero" else "none"
    assert problems("a.expr", "--fail-on", other, "--allow", "nan,inf") == []
    write(home, "a.expr", f"# check: allow {word}\n{text}")
    assert problems("a.expr", "--fail-on", word) == []


def test_gates_without_backward(home: Path) -> None:
    """Formulas that never call backward: the gradients of their results are looked at."""
    write(home, "a.expr", "# set: a=2.0\nL = a.floor() * 2\n")
    found = problems("a.expr", "--fail-on", "zero,none", "--set", "a=2.5")
    assert [kind for kind, _, _ in found] == ["zero"]


def test_cleared_gradients_had_been_there(home: Path) -> None:
    write(home, "a.expr", GOOD + "x.grad = None\n")
    assert problems("a.expr", "--fail-on", "none,zero") == []


def test_wishes_of_a_program_are_read(home: Path) -> None:
    write(home, "a.expr", "# check: allow everything\nprint(1)\n")
    done = gradcli("check", "a.expr")
    assert done.returncode == 2 and "expected kink, nan" in done.stdout


# ---------------------------------------------------------------- many programs


def test_folders_are_read_in_order(home: Path) -> None:
    for name in ("b/z.expr", "b/a.expr", "a.expr", "b/c/d.expr", ".hidden/x.expr", "b/note.txt"):
        write(home, name, "print(1)\n")
    doc, _ = document(".", "b/a.expr")
    names = [f["file"] for f in doc["files"]]
    assert names == ["./a.expr", "./b/a.expr", "./b/z.expr", "./b/c/d.expr", "b/a.expr"]


def test_jobs_change_nothing(home: Path) -> None:
    write(home, "p/wrong.expr", WRONG)
    write(home, "p/assert.expr", "assert False\n")
    write(home, "p/error.expr", "x = torch.ones(2) @ torch.ones(3)\n")
    for number in range(6):
        write(home, f"p/good{number}.expr", f"x = torch.rand({number + 1})\nprint(x)\n")
    for form in ("text", "json", "junit", "github"):
        alone = gradcli("check", "p", "--format", form)
        beside = gradcli("check", "p", "--format", form, "--jobs", "3")
        assert beside.stdout == alone.stdout
        assert beside.returncode == alone.returncode == 3


def test_a_process_that_dies_takes_nothing_with_it(home: Path) -> None:
    """One program runs out of time in a single long call; the others are answered."""
    write(home, "p/a.expr", GOOD)
    write(home, "p/b.expr", "while True:\n    pass\n")
    write(home, "p/c.expr", GOOD)
    done = gradcli("check", "p", "--jobs", "2", "--timeout", "1")
    rows = [line for line in done.stdout.splitlines() if line[:1].isalpha() and " p/" in line]
    words = [line.split()[0] for line in rows]
    assert words == ["passed", "LIMIT", "passed"] and done.returncode == 4


def test_standard_input(home: Path) -> None:
    done = gradcli("check", stdin=GOOD)
    assert done.returncode == 0 and "1 gradient agrees" in done.stdout
    done = gradcli("check", "-", "--jobs", "4", stdin=WRONG)
    assert done.returncode == 1


def test_the_only_program_of_a_folder(home: Path) -> None:
    write(home, "a.expr", GOOD)
    assert "a.expr" in gradcli("check").stdout


def test_set_reaches_the_programs_that_ask(home: Path) -> None:
    write(home, "p/a.expr", "y = w * 2\nprint(y)\n")
    write(home, "p/b.expr", "print(1)\n")
    assert gradcli("check", "p", "--set", "w=2.0").returncode == 0
    assert gradcli("check", "p/b.expr", "--set", "w=2.0").returncode == 2


# ---------------------------------------------------------------- formats


def tree(element: ElementTree.Element) -> dict[str, Any]:
    return {
        "tag": element.tag,
        "attributes": dict(element.attrib),
        "text": (element.text or "").strip(),
        "children": [tree(child) for child in element],
    }


def test_junit(home: Path) -> None:
    write(home, "p/good.expr", GOOD)
    write(home, "p/wrong <&>.expr", WRONG)
    write(home, "p/bad.expr", "raise ValueError('a \"quote\" & <tag> \\x00 \\x1b')\n")
    done = gradcli("check", "p", "--format", "junit", "-o", "report.xml")
    assert done.returncode == 3 and done.stdout == ""
    found = tree(ElementTree.parse(home / "report.xml").getroot())
    fits(found, "junit-1")
    (suite,) = found["children"]
    assert suite["attributes"]["tests"] == "3"
    assert suite["attributes"]["failures"] == suite["attributes"]["errors"] == "1"
    cases = {c["attributes"]["name"]: c for c in suite["children"]}
    assert cases["wrong <&>.expr"]["children"][0]["tag"] == "failure"
    assert "<tag>" in cases["bad.expr"]["children"][0]["attributes"]["message"]


def test_github(home: Path) -> None:
    write(home, "a,b.expr", WRONG)
    done = gradcli("check", "a,b.expr", "--format", "github")
    first, summary = done.stdout.splitlines()
    assert first.startswith("::error file=a%2Cb.expr,line=11,endLine=11,col=5,endColumn=20,title=")
    assert "%0A" in first and summary.startswith("1 program: 1 failed")


def test_colours_and_letters(home: Path) -> None:
    write(home, "a.expr", WRONG)
    plain = gradcli("check", "a.expr", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert plain.stdout.isascii() and "\x1b" not in plain.stdout
    assert "\x1b[1;31mFAILED" in gradcli("check", "a.expr", "--color", "always").stdout


def test_a_name_is_whole_and_the_rest_has_eighty_columns(home: Path) -> None:
    deep = "a_folder/" * 8
    write(home, f"{deep}wrong_with_a_long_name.expr", WRONG)
    write(home, f"{deep}good.expr", GOOD)
    page = gradcli("check", "a_folder").stdout
    assert f"{deep}good.expr " in page and f"{deep}wrong_with_a_long_name.expr" in page
    shown = [line for line in page.splitlines() if deep not in line]
    assert max(map(len, shown)) <= 80


def test_quiet(home: Path) -> None:
    write(home, "p/a.expr", GOOD)
    write(home, "p/b.expr", WRONG)
    page = gradcli("check", "p", "-q").stdout
    assert "p/a.expr" not in page and "p/b.expr" in page
    done = gradcli("check", "p", "-qq")
    assert (done.returncode, done.stdout) == (1, "")


# ---------------------------------------------------------------- the repository itself


def test_the_programs_of_this_repository() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "check", "expressions/", "--jobs", "2", "-q"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_script_of_the_page(tmp_path: Path) -> None:
    """The CI script in docs/check.md gates a folder of formulas."""
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    script = page.split("```bash\n", 1)[1].split("```", 1)[0]
    (tmp_path / "formulas").mkdir()
    write(tmp_path, "formulas/good.expr", GOOD)
    shim = write(tmp_path, "bin/gradcli", f'#!/bin/sh\nexec "{sys.executable}" -m gradcli "$@"\n')
    shim.chmod(0o755)
    variables = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
                 "PYTHONPATH": str(ROOT)}  # fmt: skip
    bash = shutil.which("bash")
    assert bash is not None
    for text, code in ((GOOD, 0), (WRONG, 1)):
        write(tmp_path, "formulas/new.expr", text)
        done = subprocess.run([bash, "-c", script], cwd=tmp_path, env=variables, check=False,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        found = tree(ElementTree.parse(tmp_path / "gradients.xml").getroot())
        fits(found, "junit-1")


def test_labels_at_other_places_are_shown(home: Path) -> None:
    """What names held in an assert, and the line that freed the graph."""
    write(home, "p/a.expr", "x = tensor(2.0)\nassert x == 3\n")
    twice = "x = tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()\n"
    write(home, "p/b.expr", twice)
    said = gradcli("check", "p").stdout
    assert "  x: tensor(2.)\n  AssertionError\n" in said
    freed = "  line 3: freed what MulBackward0 (x * x, line 2) had saved: x\n  RuntimeError: Trying"
    assert freed in said and "\n  help: y.backward(retain_graph=True) on line 3\n" in said


@pytest.mark.parametrize(
    ("agree", "total", "said"),
    [(1, 1, "1 gradient agrees"), (0, 1, "1 gradient differs"),
     (1, 3, "1 of 3 gradients agrees"), (0, 3, "0 of 3 gradients agree"),
     (1200, 1200, "1,200 of 1,200 gradients agree")],
)  # fmt: skip
def test_numerals_and_verbs_agree(agree: int, total: int, said: str) -> None:
    from gradcli.render.check import agreeing

    assert agreeing(agree, total) == said
