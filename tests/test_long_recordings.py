"""Tests of what is kept of long runs: memory has a bound, and the answers are the same."""

from __future__ import annotations

from typing import Any

import pytest
from oracle import oracle

from gradcli.pipeline.request import Request
from gradcli.pipeline.run import execute
from gradcli.questions.interventions import watching
from gradcli.questions.provenance import Provenance, forgetting, passes as watched
from gradcli.questions.why import reported

ENGINES = ("own", "torch") if oracle.has_torch else ("own",)
TRAINING = """
torch.manual_seed(0)
early = nn.Linear(2, 3)
features = early(torch.randn(5, 2)).detach()
body, cut, head, spare = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(2, 2)
middle = nn.Parameter(torch.ones(1))
number = nn.Parameter(torch.ones(1))
opt = torch.optim.AdamW([*body.parameters(), *cut.parameters(), middle, number])
state, total = torch.zeros(4), 0.0
scale = 1.0
for i in range({steps}):
    opt.zero_grad()
    hidden = torch.tanh(body(features)) + cut(features).detach() + state
    state = hidden.mean(0).detach() * 0.5
    if i == 60:
        kept = (middle * 2).detach()
        scale = (number * 3).item()
    loss = head(hidden).pow(2).mean() * scale
    if i > 60:
        loss = loss * kept.sum()
    total += loss.item()
    loss.backward()
    opt.step()
"""
NAMES = ("early.weight", "body.weight", "cut.weight", "head.weight", "spare.weight", "middle",
         "number", "features", "state", "kept")  # fmt: skip


def provenance_of(steps: int, engine: str) -> tuple[Any, Provenance]:
    provenance = Provenance()
    text = TRAINING.replace("{steps}", str(steps))
    ran = execute(Request(text.encode(), "a.expr", engine=engine), None, provenance.recording)
    assert ran.error is None, ran.error
    return ran, provenance


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_are_those_of_the_whole_run(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, everything = provenance_of(140, engine)
    monkeypatch.setattr(watched, "ROOM", 50)
    monkeypatch.setattr(forgetting, "BEHIND", 100)
    ran, provenance = provenance_of(140, engine)
    assert len(provenance.flow.numbers()) < len(everything.flow.numbers()) / 2
    for name in NAMES:
        found = reported(ran, provenance, name)
        assert found == reported(whole, everything, name), name


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_kept_has_a_bound(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ever so many steps later nothing more is held but a word for each value."""
    monkeypatch.setattr(watched, "ROOM", 50)
    monkeypatch.setattr(forgetting, "BEHIND", 100)
    held = []
    for steps in (90, 180):
        _, provenance = provenance_of(steps, engine)
        flow, values = provenance.flow, provenance.flow.values
        made_by = len(flow.nodes.firsts) + len(flow.nodes.others)
        held.append((len(flow.numbers()), len(flow.known), len(flow.floats), made_by,
                     sum(value is not forgetting.GONE for value in values)))  # fmt: skip
        for entries in provenance.passes.entries.values():
            assert sum(entry.grad is not None for entry in entries) <= watched.ADDED
    before, after = held
    assert all(one <= 1.25 * other for one, other in zip(after, before, strict=True)), held


@pytest.mark.parametrize("engine", ENGINES)
def test_gradients_that_are_gone_are_not_held(engine: str) -> None:
    """The ledger knows the memory of a gradient only as long as it is one."""
    recording = watching()
    text = TRAINING.replace("{steps}", "20")
    execute(Request(text.encode(), "a.expr", engine=engine), None, recording)
    ledger = recording.ledger
    assert len(ledger._shared) <= 2 * len(ledger.accounts)


@pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
def test_what_a_pass_came_to_outlives_its_graph() -> None:
    """Of all but the last passes nothing of PyTorch's graph is held."""
    text = """
x = torch.ones(300_000, requires_grad=True)
z = torch.ones(300_000, requires_grad=True)
h = x * 2
w = x * 3
for k in range(9):
    y = h if k < 2 else z * 4
    (y * 3).sum().backward(retain_graph=True)
"""
    provenance = Provenance()
    ran = execute(Request(text.encode(), "a.py", engine="torch"), None, provenance.recording)
    assert ran.error is None and ran.outcome is not None, ran.error
    names, passes = ran.outcome.bindings, provenance.passes.passes
    assert [bool(one.nodes) for one in passes] == [False] * 5 + [True] * 4
    for name, count in (("h", 2), ("x", 2), ("w", 0)):
        came = [one.reaches(names[name]) for one in passes]
        assert came == [True] * count + [False] * (9 - count), name
    assert [one.reaches(names["z"]) for one in passes] == [False] * 2 + [True] * 7
