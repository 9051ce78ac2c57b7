"""Tests of what a command is given to read and to write: closed, full, interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from unicodedata import east_asian_width

import pytest
from pages import error_of
from test_cli import gradcli

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell that closes streams")

COMMANDS = ["run", "trace", "grad --wrt x", "paths --of y --wrt x", "step", "check", "ops tanh"]
PROGRAM = "x = torch.tensor(1.0, requires_grad=True)\ny = x * 2\ny.backward()\nprint(x.grad)\n"


def shell(command: str, streams: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """gradcli on a program, its streams as a shell says."""
    (folder / "p.expr").write_text(PROGRAM)
    file = "" if command.startswith("ops") else "p.expr"
    line = f"exec {sys.executable} -m gradcli {command} {file} {streams}"
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_standard_output(command: str, tmp_path: Path) -> None:
    done = shell(command, ">&-", tmp_path)
    assert (done.returncode, done.stderr) == (2, "UsageError: standard output is closed\n")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_a_closed_standard_output_of_help(option: str, tmp_path: Path) -> None:
    line = f"exec {sys.executable} -m gradcli {option} >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "UsageError: standard output is closed\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device without room")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(command: str, tmp_path: Path) -> None:
    done = shell(command, ">/dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("UsageError: standard output can't be written: No space")
    assert done.stderr.count("\n") == 1
    assert shell(command, "2>/dev/full", tmp_path).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="a write that is cut short")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["run", "trace", "check", "ops tanh"])
def test_a_disk_that_fills_up_in_the_middle_of_an_answer(
    command: str, unbuffered: str, tmp_path: Path
) -> None:
    """What is left of a text is written or reported: an unbuffered stream of Python drops it."""
    import resource

    (tmp_path / "p.expr").write_text(PROGRAM * 20)
    file = "" if command.startswith("ops") else "p.expr"
    line = f"exec {sys.executable} -m gradcli {command} {file} >answer"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30, 30)),
    )  # fmt: skip
    assert (tmp_path / "answer").stat().st_size == 30
    assert done.returncode == 2
    assert done.stderr == "UsageError: standard output can't be written: File too large\n"


@pytest.mark.parametrize("streams", ["2>&-", "<&-", "<&- 2>&-"])
def test_a_closed_stream_that_no_one_needs(streams: str, tmp_path: Path) -> None:
    done = shell("run", streams, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tensor(2.)\n", "")


def test_all_streams_closed(tmp_path: Path) -> None:
    assert shell("run", "<&- >&- 2>&-", tmp_path).returncode == 2
    assert shell("check", "<&- >&- 2>&-", tmp_path).returncode == 2


def test_a_closed_standard_input(tmp_path: Path) -> None:
    line = f"exec {sys.executable} -m gradcli run - <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and error_of(done.stderr) == "UsageError: standard input is closed"


def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """What is told goes nowhere, and not into the answer's file."""
    done = shell("trace -o out.txt", "<&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert "MulBackward0" in (tmp_path / "out.txt").read_text("utf-8")
    (tmp_path / "bad.expr").write_text("raise ValueError('no')\n")
    line = f"exec {sys.executable} -m gradcli trace -o out.txt bad.expr >&- 2>&-"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, check=False, text=True)
    assert done.returncode == 3
    assert "ValueError" not in (tmp_path / "out.txt").read_text("utf-8")


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from gradcli import door
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
door.process()
"""
LOADED = ["gradcli.process.ending", "gradcli.command_line",
          "gradcli.commands.run", "gradcli.options", "numpy", "numpy.linalg",
          "gradcli.operators", "gradcli.pipeline.run", "gradcli.pipeline.running",
          "gradcli.language.interpreter"]  # fmt: skip


@pytest.mark.parametrize("name", LOADED)
def test_interrupted_while_modules_are_loaded(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name=name), "run", str(tmp_path / "p.expr")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_interrupted_while_the_answer_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name="gradcli.render.trace"), "trace",
         str(tmp_path / "p.expr")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 130 and done.stderr in ("", "interrupted\n")


def test_who_ignores_interrupts_goes_on_doing_so(tmp_path: Path) -> None:
    """A shell that starts a command in the background has it ignore Ctrl-C."""
    (tmp_path / "p.expr").write_text(PROGRAM)
    script = INTERRUPTED.replace("default_int_handler", "SIG_IGN").format(name="numpy")
    done = subprocess.run(
        [sys.executable, "-c", script, "run", str(tmp_path / "p.expr")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "tensor(2.)\n", "")
    assert signal.getsignal(signal.SIGINT) is not None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("grad --wrt ''", "'--wrt': '' is no name"),
        ("grad --wrt ,", "'--wrt': ',' is no name"),
        ("grad --wrt x --of ''", "'--of': '' is no name"),
        ("trace --of ' '", "'--of': ' ' is no name"),
        ("trace --retain-grad ''", "'--retain-grad': '' is no name"),
        ("run --no-grad ''", "'--no-grad': '' is no name"),
        ("check --allow ''", "'--allow': '' is no name"),
        ("check --fail-on ''", "'--fail-on': '' is no name"),
    ],
)
def test_no_name_is_no_name(words: str, told: str, tmp_path: Path) -> None:
    done = shell(words, "", tmp_path)
    assert done.returncode == 2 and error_of(done.stderr) == f"UsageError: Invalid value for {told}"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("from __future__ import braces", "SyntaxError: not a chance"),
        ("from __future__ import nope", "SyntaxError: future feature nope is not defined"),
        ("from __future__ import *", "SyntaxError: future feature * is not defined"),
        ("x = 1\nfrom __future__ import annotations",
         "SyntaxError: from __future__ imports must occur at the beginning of the file"),
        ("if 1:\n    from __future__ import annotations",
         "SyntaxError: from __future__ imports must occur at the beginning of the file"),
        ("print(1, file=torch.ones(1))",
         "AttributeError: 'Tensor' object has no attribute 'write'"),
        ("print(1, file=1)", "AttributeError: 'int' object has no attribute 'write'"),
    ],
)  # fmt: skip
def test_refused_in_pythons_words(program: str, told: str) -> None:
    done = gradcli("run", stdin=program + "\n")
    assert done.returncode == 3 and error_of(done.stderr) == told


def test_what_python_takes_is_taken() -> None:
    text = "'''doc'''\nfrom __future__ import annotations, division\n"
    text += "from __future__ import generators\n"
    text += "class W:\n    def __init__(self):\n        self.got = []\n"
    text += "    def write(self, text):\n        self.got.append(text)\n"
    text += "w = W()\nprint(1, 'a', sep='-', file=w)\nprint(w.got, file=None)\n"
    done = gradcli("run", stdin=text)
    assert (done.returncode, done.stdout) == (0, "['1', '-', 'a', '\\n']\n"), done.stderr


@pytest.mark.parametrize("words", ["--version", "--help", "trace --help", "help why"])
def test_a_reader_of_help_that_is_gone(words: str) -> None:
    ours, its = os.pipe()
    os.close(ours)
    line = [sys.executable, "-m", "gradcli", *words.split()]
    done = subprocess.run(line, stdout=its, stderr=subprocess.PIPE, check=False)
    os.close(its)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="the kernel's messages are root's")
def test_a_file_that_holds_nothing_yet_is_not_waited_for(tmp_path: Path) -> None:
    ran = gradcli("run", "/proc/kmsg", "--timeout", "100000", cwd=tmp_path)
    assert ran.returncode in (2, 3)  # the messages so far are no program


NAMED = "θ = torch.arange(8.0, requires_grad=True)\n重み = θ * 2\n重み.sum().backward()\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_columns_are_straight_in_every_encoding(encoding: str, tmp_path: Path) -> None:
    """A character without a code is written as an escape, and counted as one."""
    (tmp_path / "p.expr").write_text(NAMED, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "trace", "p.expr", "--legend"], cwd=tmp_path,
        capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    page = done.stdout.decode(encoding)
    tree, table = page.split("\n\n")[:2]
    for block, word in ((tree, "grad_fn"), (table, "type")):
        head, *rows = block.splitlines()
        at = head.index(word)
        for row in rows:
            wide = sum(east_asian_width(character) in "WF" for character in row[:at])
            assert row[at - wide - 2 : at - wide] == "  " and row[at - wide] != " ", row
    assert ("0…7" if encoding == "utf-8" else "0...7") in tree
    assert "\\u2026" not in page and "\\u2192" not in page


def test_a_document_is_utf_8_in_every_locale(tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(NAMED, "utf-8")
    pictures = [
        subprocess.run(
            [sys.executable, "-m", "gradcli", "trace", "p.expr", "--format", "svg"], cwd=tmp_path,
            capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": encoding},
        ).stdout
        for encoding in ("ascii", "utf-8")
    ]  # fmt: skip
    assert pictures[0] == pictures[1] and "重み" in pictures[0].decode("utf-8")
