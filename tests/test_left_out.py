"""Tests: what an answer leaves out of very many rows, it counts, and says how to ask for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_here import here

from gradcli.diagnostics import Diagnostic, Label, Span, some
from gradcli.questions.check.results import MOST as RESULTS
from gradcli.questions.why.all_leaves import MOST as LEAVES
from gradcli.recording.hook_log import MOST as HOOKS
from gradcli.recording.saved import MOST as SAVED

TEXTS = {
    "saved": f"x = torch.ones(2, requires_grad=True)\ny = x\nfor i in range({SAVED} + 7):\n"
             "    y = y.sin()\n",
    "hooks": "x = torch.ones(2, requires_grad=True)\nx.register_hook(lambda g: None)\n"
             f"for i in range({HOOKS} + 3):\n    (x * 2).sum().backward()\n",
    "leaves": f"w = [torch.ones(1, requires_grad=True) for i in range({LEAVES} + 5)]\n"
              "sum(w).backward()\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "title", "said"),
    [
        ("trace --saved", "saved", "what 7 more nodes saved is not listed: --of NAME asks for"),
        ("trace", "hooks", "hooks ran 3 times more: the first 1,000 are listed"),
        ("grad", "hooks", "hooks ran 3 times more: the first 1,000 are listed"),
        ("why", "leaves", "5 more leaves have no row: gradcli why FILE NAME asks for one"),
    ],
)
def test_rows_that_are_left_out_are_counted(
    line: str, title: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "p.expr"
    file.write_text(TEXTS[title])
    name, *options = line.split()
    page = here(name, str(file), *options)
    assert page.returncode == 0 and said in page.stdout, page.stdout[-2000:] + page.stderr
    document = json.loads(here(name, str(file), *options, "--format", "json").stdout)
    assert [words.startswith(said[:20]) for words in document["left_out"]] == [True]


def test_results_that_are_not_checked_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "p.expr"
    file.write_text(
        f"x = torch.ones(1, requires_grad=True)\ny = [x * i for i in range({RESULTS} + 2)]"
    )
    said = here("check", str(file)).stdout
    assert "of 52 results the first 50 are checked: 2 more are not" in said, said


def test_words_of_many() -> None:
    assert [some("abcd", most) for most in (2, 3, 4)] == ["a, b and 2 more", "a, b, c and 1 more",
                                                          "a, b, c, d"]  # fmt: skip


def test_notes_and_places_of_an_error_are_counted() -> None:
    labels = tuple(Label(Span(line, 1, line, 2), "here") for line in range(1, 12))
    notes = tuple(f"note: {number}" for number in range(10))
    shown = Diagnostic("TypeError", "no", labels, notes).bounded()
    assert len(shown.labels) == 8 and shown.notes[8:] == (
        "note: 3 more places are left out", "note: 2 more notes are left out",
    )  # fmt: skip
