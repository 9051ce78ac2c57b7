"""Tests of `gradcli trace --profile`: which lines, how often, which bytes; times that add up."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from schemas import fits
from test_cli import gradcli

from gradcli.pipeline.request import Ran, Request
from gradcli.questions.profile import Timed, facts
from gradcli.questions.trace import recorded, trace_report
from gradcli.recording.facts.profile import LineFact, ProfileFact
from gradcli.render import profile as render
from gradcli.render.folds import Folds
from gradcli.render.text import Look, paint

PROGRAM = """\
x = torch.ones(100, 10, requires_grad=True)
w = torch.ones(10, 5, requires_grad=True)

def loss_of(out):
    return (out * out).mean()

for turn in range(3):
    out = x @ w
    loss = loss_of(out)
    loss.backward()
    with torch.no_grad():
        w -= 0.1
        w.grad.zero_()
scale = lambda t: t * 2
y = scale(w)
"""


def profiled(text: str) -> tuple[Ran, ProfileFact]:
    ran = recorded(Request(text.encode(), "p.expr"), lambda words: None, profile=True)
    profile = ran.recording.find(Timed)
    assert ran.program is not None and profile is not None
    return ran, facts(ran.program, profile)


def page(fact: ProfileFact, look: Look, expand: bool = False) -> list[str]:
    return paint(render.table(fact, look, Folds(expand)), look).splitlines()


def test_lines_as_they_ran() -> None:
    _, profile = profiled(PROGRAM)
    times = {line.line: line.times for line in profile.lines}
    assert times == {1: 1, 2: 1, 4: 1, 7: 1, 8: 3, 9: 3, 5: 3, 10: 3, 11: 3, 12: 3, 13: 3, 14: 2,
                     15: 1}  # fmt: skip
    assert [line.line for line in profile.lines][:7] == [1, 2, 4, 7, 8, 9, 5]
    assert {line.line: line.text for line in profile.lines}[8] == "out = x @ w"


def test_bytes() -> None:
    """Results that entered the graph, and what nodes passed on; of float32."""
    _, profile = profiled(PROGRAM)
    lines = {line.line: line for line in profile.lines}
    assert lines[8].forward_bytes == 3 * 100 * 5 * 4
    assert lines[8].backward_bytes == 3 * (100 * 10 + 10 * 5) * 4
    assert lines[5].forward_bytes == 3 * (100 * 5 + 1) * 4
    assert lines[5].backward_bytes == 3 * (3 * 100 * 5) * 4  # of mean, and two of the product
    assert lines[12].forward_bytes == 0  # in place
    assert lines[14].forward_bytes == 10 * 5 * 4
    assert lines[10].backward_bytes == 0 and lines[10].backward_seconds == 0


def test_times_add_up() -> None:
    started = time.perf_counter()
    _, profile = profiled(PROGRAM)
    wall = time.perf_counter() - started
    assert all(line.forward_seconds >= 0 and line.backward_seconds >= 0 for line in profile.lines)
    assert 0 < profile.forward_seconds + profile.backward_seconds < wall
    behind = {line.line for line in profile.lines if line.backward_seconds}
    assert behind == {5, 8}


def test_the_heaviest_line() -> None:
    text = "n = 400\nfor i in range(3):\n    y = torch.randn(n, n) @ torch.randn(n, n)\n"
    _, profile = profiled(text)
    assert profile.heaviest == 3
    lines = page(profile, Look(False, True, 80))
    assert [line.split()[0] for line in lines if "▶" in line] == ["▶3"]
    assert any(line.lstrip().startswith(">3 ") for line in page(profile, Look(False, False, 80)))


def test_hooks_and_failures() -> None:
    """A hook's line is its own, also when it ends the pass."""
    text = (
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ndef look(grad):\n    return grad * 3\n"
        "y.register_hook(look)\ny.sum().backward()\n"
        "y.register_hook(lambda g: g @ torch.ones(3, 3))\n"
        "try:\n    (y * 1).sum().backward()\nexcept RuntimeError:\n    z = x + 1\n"
    )
    ran, profile = profiled(text)
    assert ran.error is None
    times = {line.line: line.times for line in profile.lines}
    assert times[4] == 2 and times[7] == 2 and times[11] == 1
    timed = ran.recording.find(Timed)
    assert timed is not None and timed.watch.calls == []


def test_the_same_facts_with_and_without() -> None:
    """A profile changes nothing of what is reported."""
    one, _ = profiled(PROGRAM)
    two = recorded(Request(PROGRAM.encode(), "p.expr"), lambda words: None)
    reports = [trace_report(ran) for ran in (one, two)]
    assert reports[0]._replace(profile=None) == reports[1]
    assert reports[1].profile is None


def test_a_failing_program_has_a_profile() -> None:
    ran, profile = profiled("x = torch.ones(2)\ny = x * 2\nz = y @ torch.ones(3)\n")
    assert ran.error is not None and [line.line for line in profile.lines] == [1, 2, 3]


def test_long_programs_are_thinned() -> None:
    lines = tuple(LineFact(n, f"x = {n}", 1, n / 1e6, 0, 0.0, 0) for n in range(1, 201))
    shown = page(ProfileFact(lines), Look(False, True, 80))
    assert len(shown) == 1 + render.MOST + 1 + 3
    assert "160 lighter lines" in shown[1]
    assert len(page(ProfileFact(lines), Look(False, True, 80), expand=True)) == 204


@pytest.mark.parametrize("width", [60, 80, 120])
def test_pages_fit(width: int) -> None:
    _, profile = profiled(PROGRAM)
    assert max(map(len, page(profile, Look(False, True, width)))) <= max(width, 72)


@pytest.mark.parametrize(
    ("amount", "words"),
    [(2.5, "2.50 s"), (0.0456, "45.6 ms"), (0.000_000_4, "0.40 µs"), (0.9999e-3, "1000 µs")],
)
def test_seconds(amount: float, words: str) -> None:
    assert render.seconds(amount, Look(False, True, 80)) == words


@pytest.mark.parametrize(
    ("amount", "words"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (5 << 30, "5.00 GiB")]
)
def test_sizes(amount: int, words: str) -> None:
    assert render.size(amount) == words


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "p.expr"
    path.write_text(PROGRAM)
    done = gradcli("trace", str(path), "--profile")
    assert done.returncode == 0
    assert "in all: forward" in done.stdout and "out = x @ w" in done.stdout
    done = gradcli("trace", str(path), "--profile", "--format", "json")
    document = json.loads(done.stdout)
    fits(document, "gradcli.trace-1")
    assert document["profile"]["lines"][0]["line"] == 1
    plain = json.loads(gradcli("trace", str(path), "--format", "json").stdout)
    assert plain["profile"] is None
