"""Tests of diagnostics: the places that an error labels, what it advises, PyTorch's last line.

The programs and what is said about them stand in `programs/errors.txt`, each as a person reads it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from oracle import oracle, question
from pages import parts
from programs_under import sections
from schemas import fits
from test_cli import gradcli

from gradcli.diagnostics import Diagnostic, ExitStatus
from gradcli.language.interpreter import run
from gradcli.language.program import parse
from gradcli.language.source import Source
from gradcli.render import error as render
from gradcli.render.text import Look

PLAIN = Look(color=False, unicode=False, width=80)
PAGES = sections(Path(__file__).parent / "programs" / "errors.txt")


@question
def failure(lib: Any, text: str) -> str:
    """The last line of what stops a program."""
    try:
        exec(compile(text, "<program>", "exec"), {"torch": lib, "print": lambda *words: None})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        lib.set_grad_enabled(True)
    return "no error"


def diagnosed(text: str) -> Diagnostic:
    outcome = run(parse(Source(text, "p.expr")), {}, write=lambda text: None)
    assert outcome.error is not None
    return outcome.error


def page_of(text: str, look: Look = PLAIN) -> str:
    """The whole message as it is drawn."""
    return str(render.text(diagnosed(text), text, look))


@pytest.mark.parametrize("title", PAGES)
def test_places_and_advice(title: str) -> None:
    text, _, expected = PAGES[title].partition("---\n")
    drawn = page_of(text)
    shown, error = parts(drawn)
    assert shown == expected
    assert error == oracle.ask("failure", text)
    assert max(len(line) for line in shown.splitlines()) <= PLAIN.width
    assert diagnosed(text).exit_status is ExitStatus.PROGRAM_ERROR


TWICE = """\
x = tensor(2.0, requires_grad=True)
y = x * x
y.backward()
y.backward()
"""


def test_the_command(tmp_path: Path) -> None:
    """As a stranger sees it: standard error, in a pipe, exit code 3, advice behind the error."""
    (tmp_path / "twice.expr").write_text(TWICE)
    done = gradcli("run", str(tmp_path / "twice.expr"))
    assert done.returncode == ExitStatus.PROGRAM_ERROR and done.stdout == ""
    first, *frame, error, advice, tried = done.stderr.splitlines()
    assert first.endswith("twice.expr:4:1")
    assert frame == [
        "  3 | y.backward()",
        "    | ------------ freed what MulBackward0 (x * x, line 2) had saved: x",
        "  4 | y.backward()",
        "    | ^^^^^^^^^^^^ needs it again",
    ]
    assert advice == "help: y.backward(retain_graph=True) on line 3"
    assert tried == "      tried: passes; the same gradients are then added again"
    assert error.startswith("RuntimeError: Trying to backward through the graph a second time")


def test_the_document(tmp_path: Path) -> None:
    """The JSON document carries the same labels and notes, and fits its schema."""
    (tmp_path / "twice.expr").write_text(TWICE)
    done = gradcli("trace", str(tmp_path / "twice.expr"), "--format", "json")
    assert done.returncode == ExitStatus.PROGRAM_ERROR
    document = json.loads(done.stdout)
    fits(document, "gradcli.trace-1")
    found = document["error"]
    assert (found["line"], found["column"], found["end_column"]) == (4, 1, 13)
    assert [(label["line"], label["text"], label["primary"]) for label in found["labels"]] == [
        (4, "needs it again", True),
        (3, "freed what MulBackward0 (x * x, line 2) had saved: x", False),
    ]
    assert found["notes"] == [
        "help: y.backward(retain_graph=True) on line 3"
        "      tried: passes; the same gradients are then added again"
    ]


def test_colours_change_nothing_else() -> None:
    look = Look(color=True, unicode=False, width=80)
    painted = page_of(TWICE, look)
    assert "\x1b[31m^^^^^^^^^^^^\x1b[0m" in painted and "\x1b[34m------------\x1b[0m" in painted
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", painted)
    assert [line.rstrip() for line in stripped.splitlines()] == page_of(TWICE).splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("title", PAGES)
def test_pages_of_every_width(title: str, width: int) -> None:
    text = PAGES[title].partition("---\n")[0]
    drawn = parts(page_of(text, PLAIN._replace(width=width)))[0].splitlines()
    frame = [line for line in drawn if " | " in line]
    assert max(map(len, frame)) <= width
    assert any("^" in line for line in frame)


def test_a_caught_error_is_not_told() -> None:
    """What a program catches and raises anew has its own words and no labels of the first."""
    text = TWICE.replace("y.backward()\ny.backward()", "y.backward()\ntry:\n    y.backward()\n"
                         "except RuntimeError:\n    raise ValueError('mine')")  # fmt: skip
    found = diagnosed(text)
    assert (found.type, found.message, found.notes) == ("ValueError", "mine", ())
    assert [label.text for label in found.labels] == [""]


def test_names_that_grow_without_end_are_followed_once() -> None:
    """Each name doubles the ways back; the search follows every name once."""
    lines = ["a0 = torch.ones(1)", *(f"a{i + 1} = a{i} + a{i}" for i in range(18))]
    found = diagnosed("\n".join([*lines, "a18.backward()", ""]))
    assert [label.text for label in found.labels] == [
        "a18 does not require grad", "made without requires_grad=True",
    ]  # fmt: skip


def test_an_augmented_chain_of_any_length_is_reported() -> None:
    """What would be too long for an advice is not taken apart at all."""
    chain = " + ".join(["x"] * 700)
    text = (
        f"x = torch.ones(1, requires_grad=True)\ny = x * 1\nz = y * y\ny += {chain}\nz.backward()\n"
    )
    found = diagnosed(text)
    assert found.notes == ("help: change a .clone() on line 4, or use an out-of-place operation",)


def test_inputs_and_options() -> None:
    program = "y = x * x\ny.backward()\n"
    done = gradcli("trace", "-", "--set", "x=2.0", "--no-grad", "x", stdin=program)
    assert done.returncode == ExitStatus.PROGRAM_ERROR
    assert "the input x does not require grad" in done.stderr
    assert "help: run it without --no-grad x" in done.stderr
