"""Tests: a slice of the fuzzer: programs against PyTorch, texts against the parser.

The whole of it is a command, `python -m fuzz --help` in this folder. What it found stands below the
slices, cut down: programs that once differed from PyTorch, texts that were not borne.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from dying import dies_at
from fuzz.findings import verdict
from fuzz.known import KNOWN
from fuzz.parsing import fault_of
from fuzz.programs import program, written
from fuzz.shrink import shrunk
from fuzz.texts import text
from fuzz.workers import Died, spread
from oracle import torch
from programs_under import compare, sections

HERE = Path(__file__).parent
FOUND = sections(HERE / "programs" / "found.txt")
PROGRAMS = range(500, 800)  # seeds
TEXTS = range(400)
# What the parser or a run did not bear once, at the size that showed it.
UNBORNE = (
    b"y = #" + b"c" * 80_000,  # advice on a line searched in its square
    b"y = lambda "
    + b",".join(b"a%d" % n for n in range(9_000))
    + b": 1",  # names laid out likewise
)


def test_the_same_program_from_the_same_seed() -> None:
    assert program(7) == program(7) != program(8)


def test_programs_are_of_every_kind() -> None:
    kinds: Counter[str] = sum((written(seed)[1] for seed in PROGRAMS), Counter())
    assert len(kinds) > 30 and min(kinds.values()) > 3


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed, and it is the other side")
@pytest.mark.parametrize("first", range(PROGRAMS.start, PROGRAMS.stop, 30))
def test_programs(first: int) -> None:
    from fuzz.run import pytorch

    for seed in range(first, first + 30):
        made = program(seed)
        findings = verdict(made, pytorch()).findings
        assert findings == [], f"seed {seed}: {findings[0]}\n{made}"


@pytest.mark.parametrize("title", FOUND)
def test_found(title: str) -> None:
    compare(FOUND[title])


def test_an_error_beside_a_view_that_may_not_be_used() -> None:
    """The explanation of an error asks tensors, and such a view raises whatever it is asked."""
    made = """\
x = torch.ones(2, requires_grad=True).tanh()
with torch.inference_mode():
    view = x.unsqueeze(1)
x.add_(1)
view.grad *= 2
"""
    from fuzz.sides import ours

    assert ours(made).error is not None


@pytest.mark.parametrize("first", range(0, len(TEXTS), 100))
def test_texts(first: int, tmp_path: Path) -> None:
    corpus = [path.read_bytes() for path in sorted((HERE.parent / "expressions").rglob("*.expr"))]
    for seed in TEXTS[first : first + 100]:
        assert fault_of(text(seed, corpus), tmp_path / "text.expr", Counter()) is None, seed


@pytest.mark.parametrize("data", UNBORNE, ids=range(len(UNBORNE)))
def test_texts_that_were_not_borne(data: bytes, tmp_path: Path) -> None:
    assert fault_of(data, tmp_path / "text.expr", Counter()) is None


def test_a_process_that_dies_names_its_seed_and_the_run_goes_on() -> None:
    given = [(1, ""), (2, "signal"), (3, "exit"), (4, "error"), (5, "")]
    answers: dict[int, object] = {}
    spread(dies_at, given, 1, lambda task, answer: answers.update({task[0]: answer}))
    assert answers == {
        1: 1,
        2: Died(2, "PyTorch", "SIGKILL"),
        3: Died(3, "PyTorch", "exit code 3"),
        4: Died(4, "PyTorch", "RuntimeError: a defect of the fuzzer"),
        5: 5,
    }


def test_a_difference_is_cut_down() -> None:
    made = "a = 1\nfor i in range(3):\n    b = i\n    if i:\n        c = a + (b * 2)\nd = c\n"
    assert shrunk(made, lambda tried: "b * 2" in tried) == "c = b * 2\n"


def test_every_explanation_says_why() -> None:
    assert all(len(known.reason) > 30 for known in KNOWN)
