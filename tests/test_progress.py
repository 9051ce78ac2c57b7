"""Tests of the progress line: on a terminal and in long runs only, and gone at the end."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import ROOT

from gradcli.output.progress import ERASE, FIRST

# The command, whose line comes sooner than anybody would wait for it.
SOON = "from gradcli import door; from gradcli.output import progress; progress.FIRST = 0.2; "
SOON += "door.process()"
LONG = """\
x = torch.tensor(1.0, requires_grad=True)
total = 0
while total < 700_000:
    total += 1
y = x * 2
print("done")
"""


def on_terminal(path: Path, *options: str) -> tuple[str, str]:
    """(standard output, what a terminal on standard error was sent)."""
    here, there = pty.openpty()
    command = [sys.executable, "-c", SOON, "run", str(path), *options]
    env = os.environ | {"TERM": "xterm", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, env=env) as process:
        os.close(there)
        seen = b""
        while True:
            try:
                piece = os.read(here, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        assert process.stdout is not None
        out = process.stdout.read().decode()
    os.close(here)
    return out, seen.decode()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "long.expr"
    path.write_text(LONG)
    return path


def test_a_long_run_shows_progress_and_nothing_remains(program: Path) -> None:
    out, seen = on_terminal(program)
    assert out == "done\n"
    first = next(piece for piece in seen.split(ERASE) if piece)
    assert "steps" in first and "nodes" in first and "line " in first
    assert float(first.split(" s ")[0]) >= 0.2 and FIRST == 1.0
    assert seen.endswith(ERASE) and "\n" not in seen


def test_never_with_quiet_and_never_in_a_pipe(program: Path) -> None:
    assert on_terminal(program, "--quiet") == ("done\n", "")
    command = [sys.executable, "-c", SOON, "run", str(program)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_a_short_run_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "short.expr"
    path.write_text("print('done')\n")
    assert on_terminal(path) == ("done\n", "")


def test_an_error_follows_on_a_clean_line(program: Path) -> None:
    program.write_text(LONG + "torch.ones(2).backward()\n")
    _, seen = on_terminal(program, "--color", "never")
    assert "steps" in seen
    last = seen.rpartition(ERASE)[2]
    assert last.splitlines()[0].endswith("long.expr:7:1") and "steps" not in last
