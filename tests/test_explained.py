"""Tests of explained errors: names, lines, tables, and advice that was tried, as a person reads it.

The programs and what is said about them stand in `programs/explained.txt`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import jsonschema
import pytest
from oracle import oracle
from programs_under import sections
from test_cli import SCHEMAS, gradcli
from test_errors import PLAIN, failure  # noqa: F401 - the question that is asked below

from gradcli.diagnostics import ExitStatus
from gradcli.pipeline.cure import fresh
from gradcli.pipeline.explained import MOST_STEPS, with_trials
from gradcli.pipeline.request import Limits, Ran, Request
from gradcli.pipeline.run import execute
from gradcli.render import error as render

PAGES = sections(Path(__file__).parent / "programs" / "explained.txt")
PRELUDE = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, tensor\n"


def explained(text: str) -> Ran:
    """A program's run with its error explained and its advice tried."""
    started = time.monotonic()
    with fresh():
        ran = execute(Request(text.encode(), "p.expr"), lambda words: None)
        return with_trials(ran, started)


def page_of(text: str) -> str:
    ran = explained(text)
    assert ran.error is not None
    return str(render.text(ran.error, text, PLAIN))


@pytest.mark.parametrize("title", PAGES)
def test_pages(title: str) -> None:
    text, _, expected = PAGES[title].partition("---\n")
    shown, _, last = page_of(text).rstrip("\n").rpartition("\n")
    assert shown + "\n" == expected
    assert last == oracle.ask("failure", PRELUDE + text).splitlines()[0]
    for line in shown.splitlines():
        assert len(line) <= PLAIN.width or line.startswith("do: ")


def test_the_same_page_twice() -> None:
    """Trials leave nothing behind: random numbers, modes and hooks are as before."""
    text = PAGES["a layer before the loop"].partition("---\n")[0]
    assert page_of(text) == page_of(text)


def test_what_does_not_help_is_not_advised() -> None:
    """retain_graph=True would only lead to the next error here."""
    text = PAGES["retaining would damage"].partition("---\n")[0]
    error = explained(text).error
    assert error is not None and not any("retain_graph" in note for note in error.notes)
    assert any("retain_graph" in cure.note for cure in execute_only(text).error.cures)


def execute_only(text: str) -> Ran:
    ran = execute(Request(text.encode(), "p.expr"), lambda words: None)
    assert ran.error is not None
    return ran


def test_a_legal_second_backward_is_no_error() -> None:
    ran = explained("x = torch.tensor(2.0, requires_grad=True)\ny = x + 1\n"
                    "y.backward()\ny.backward()\nassert x.grad == 2\n")  # fmt: skip
    assert ran.error is None


def test_a_later_error_is_told() -> None:
    ran = explained("a = torch.ones(2)\nL = a.sum()\nL.backward()\nb = undefined_at_all(3)\n")
    assert ran.error is not None and ran.error.type == "NameError"
    ran = explained("a = torch.ones(2)\nL = a.sum()\nL.backward()\nb = a + torch.ones(3)\n")
    assert ran.error is not None
    assert ran.error.notes == (
        "do: a = torch.ones(2, requires_grad=True) on line 1"
        "      tried: line 3 passes; RuntimeError on line 4 then",
    )


def test_a_program_that_is_not_cheap_is_not_run_again() -> None:
    loop = f"n = 0\nfor i in range({MOST_STEPS}):\n    n += i\n"
    ran = explained(loop + "L = torch.ones(2)\nL.sum().backward()\n")
    assert ran.error is not None
    assert ran.error.notes == ("do: L = torch.ones(2, requires_grad=True) on line 4",)


def test_no_time_is_left() -> None:
    text = "L = torch.ones(2)\nL.sum().backward()\n"
    ran = execute(Request(text.encode(), "p.expr"), lambda words: None)
    late = with_trials(ran, time.monotonic() - Limits().timeout)
    assert late.error is not None
    assert late.error.notes == ("do: L = torch.ones(2, requires_grad=True) on line 1",)


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
    schema = json.loads((SCHEMAS / f"gradcli.{command}-1.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
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
