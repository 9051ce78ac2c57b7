"""Tests of the shell: completion, asked through typer's own classes; help; manual pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer._completion_classes import BashComplete, FishComplete, ZshComplete
from typer.main import get_command
from typer.testing import CliRunner

from gradcli.cli import app
from gradcli.commands import NAMES, man, module_of
from gradcli.options import LIMITED, OUTPUT, PROGRAM

ROOT = Path(__file__).parent.parent
TEXT = """\
# set: k=2.0
import torch.nn as nn
a = 3.0
def double(t):
    return t * rate
b = w1 * a + k
L = relu(double(b)).sum()
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "chain.expr").write_text(TEXT)
    (tmp_path / "notes.txt").write_text("no program")
    (tmp_path / "more").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered(*words: str) -> list[str]:
    """What follows these words; the last one is what stands there so far."""
    shell = BashComplete(get_command(app), {}, "gradcli", "_GRADCLI_COMPLETE")
    items = shell.get_completions(list(words[:-1]), words[-1])
    return [item.value for item in items]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grad chain.expr --wrt ", ["w1", "k", "rate", "a", "b", "L"]),
        ("grad chain.expr --wrt a,", ["a,w1", "a,k", "a,rate", "a,b", "a,L"]),
        ("grad --wrt L", ["L"]),
        ("trace --of L", ["L"]),
        ("step chain.expr --break b", ["b"]),
        ("why chain.expr L", ["L"]),
        ("why ", ["chain.expr", "more/", "w1", "k", "rate", "a", "b", "L"]),
        ("run chain.expr --set ", ["w1=", "k=2.0", "rate=", "a=3.0"]),
        ("run chain.expr --no-grad ", ["w1", "k", "rate", "a"]),
        ("trace --hook L=", ["L=print", "L=norm", "L=zero"]),
        ("run ", ["chain.expr", "more/"]),
        ("run m", []),  # the shell itself goes into folders
        ("check c", ["chain.expr"]),
        ("trace --format s", ["svg"]),
        ("trace --fold ", ["module", "call", "line", "none"]),
        ("trace --hide f", ["forward-only"]),
        ("run --device ", ["cpu", "cuda"]),
        ("diff chain.expr --dtype float32,b", ["float32,bfloat16"]),
        ("check --fail-on nan,k", ["nan,kink"]),
        ("trace --example two_p", ["two_paths"]),
        ("examples two_p", ["two_paths"]),
        ("schema gra", ["grad"]),
        ("ops arg", ["argmax", "argmin", "argsort", "argwhere"]),
        ("ops TanhB", ["TanhBackward0", "TanhBackwardBackward0"]),
        ("ops torch.linalg.sv", ["torch.linalg.svd", "torch.linalg.svdvals"]),
        ("help tr", ["trace"]),
        ("tra", ["trace"]),
    ],
)
def test_what_is_offered(words: str, expected: list[str]) -> None:
    assert offered(*words.split(" ")) == expected


def test_two_programs_are_distinguished(home: Path) -> None:
    (home / "other.expr").write_text("z = 1.0\n")
    assert offered("grad", "--wrt", "") == []
    assert offered("grad", "other.expr", "--wrt", "") == ["z"]
    assert offered("grad", "--example", "two_paths", "--wrt", "a") == ["a"]


def test_parameters_behind_a_dot(home: Path) -> None:
    """What a module holds no text says: the program runs, up to its first pass."""
    (home / "net.expr").write_text(
        "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())\nws = [torch.ones(2) for _ in range(2)]\n"
        "for i in range(10**9):\n    net(torch.ones(1, 2)).sum().backward()\n"
    )
    assert offered("grad", "net.expr", "--wrt", "n") == ["net"]
    assert offered("grad", "net.expr", "--wrt", "net.") == ["net.0.weight", "net.0.bias"]
    assert offered("why", "net.expr", "net.0.b") == ["net.0.bias"]
    assert offered("grad", "net.expr", "--wrt", "net.0.bias,ws[") == [
        "net.0.bias,ws[0]", "net.0.bias,ws[1]",
    ]  # fmt: skip
    (home / "bad.expr").write_text("net = nn.Linear(2, 3)\nnet.nothing\n")
    assert offered("grad", "bad.expr", "--wrt", "net.w") == ["net.weight"]
    (home / "wrong.expr").write_text("net = 1\nx = = net\n")
    assert offered("grad", "wrong.expr", "--wrt", "net.") == []


def test_notebooks_and_scripts(home: Path) -> None:
    (home / "notes.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "source": ["p = 1.0\\n", "q = p"]}], '
        '"nbformat": 4, "metadata": {}}'
    )
    (home / "script.py").write_text("import os\nloss: float = 1.0\nfor i in range(3): pass\n")
    assert offered("grad", "notes.ipynb", "--wrt", "") == ["p", "q"]
    assert offered("grad", "notes.ipynb:1", "--wrt", "q") == ["q"]
    assert offered("grad", "script.py", "--of", "") == ["loss", "i"]


@pytest.mark.parametrize("text", [b"x = = 1", b"\xff\xfe", b"", b"x = '" + b"(" * 300])
def test_what_is_no_program_offers_nothing(home: Path, text: bytes) -> None:
    (home / "bad.expr").write_bytes(text)
    assert offered("grad", "bad.expr", "--wrt", "") == []
    assert offered("grad", "missing.expr", "--wrt", "") == []


def test_each_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    command = get_command(app)
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "gradcli trace --example two_p")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    fish = FishComplete(command, {}, "gradcli", "_GRADCLI_COMPLETE")
    assert fish.complete() == "two_paths"
    zsh = ZshComplete(command, {}, "gradcli", "_GRADCLI_COMPLETE")
    assert zsh.complete() == "_arguments '*: :((\"two_paths\"))'"


@pytest.mark.parametrize(
    ("words", "expected"),
    [("--wrt=a,", "a,w1"), ("--wrt=", "w1"), ("--wrt=L", "L"), ("--fo", "--format")],
)
def test_bash_divides_words_at_equals_signs(words: str, expected: str) -> None:
    asked = ["gradcli", "grad", "chain.expr", *re.split("(?<==)|(?==)", words)]
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "_GRADCLI_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(filter(None, asked)),
        "COMP_CWORD": str(len(list(filter(None, asked))) - 1),
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "gradcli"], env=environment, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stdout.splitlines()[:1] == [expected]


def test_names_load_no_engine() -> None:
    """A key press waits for no library: the names are read off the text."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        "from gradcli.door import main\nmain()"
    )
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "_GRADCLI_COMPLETE": "complete_bash",
        "COMP_WORDS": "gradcli grad chain.expr --wrt w", "COMP_CWORD": "4",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stdout == "w1\n"
    loaded = set(done.stderr.splitlines()[-1].split())
    assert not {"numpy", "rich", "gradcli.operators", "gradcli.engine.tensors.tensor"} & loaded


# ---------------------------------------------------------------- help and manual pages


@pytest.mark.parametrize("name", NAMES)
def test_help_has_headings(name: str) -> None:
    """A command's own options first, then what every command shares."""
    page = CliRunner().invoke(app, [name, "--help"]).stdout
    headings = [line[:-1] for line in page.splitlines() if line[:1].isalpha() and line[-1] == ":"]
    shared = [heading for heading in headings if heading in (PROGRAM, OUTPUT, LIMITED)]
    assert headings[len(headings) - len(shared) :] == shared
    assert shared == sorted(shared, key=(PROGRAM, OUTPUT, LIMITED).index)
    for option in module_of(name).COMMAND.every:
        assert option.panel in (None, *headings) and all(flag in page for flag in option.flags)


@pytest.mark.parametrize("name", man.pages())
def test_manual_pages(name: str) -> None:
    page = man.pages()[name]
    command = name.removesuffix(".1").partition("-")[2]
    told = module_of(command).COMMAND.every if command else ()
    for flag in (flag for option in told for flag in option.flags):
        assert f"\\fB{flag}\\fR".replace("-", "\\-") in page
    assert ".SH EXIT STATUS" in page
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, text=True,
                              capture_output=True, check=True)  # fmt: skip
        assert done.stderr == "" and "gradcli" in done.stdout


def test_manual_pages_are_made_without_libraries() -> None:
    """The build of a package has none."""
    code = "from gradcli.commands.man import pages\nprint(len(pages()))"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)  # fmt: skip
    assert done.stdout == f"{len(NAMES) + 1}\n"
