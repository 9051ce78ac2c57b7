"""Tests of `gradcli why` on programs that nobody wrote: one cause at a random place of a chain."""

from __future__ import annotations

import random

import pytest

from gradcli.pipeline.request import Request
from gradcli.questions.why import why_report

# What hands a gradient on, whatever the numbers: a way to write it, for a name and a new name.
STEPS = (
    "{new} = {old} * 1.5", "{new} = {old} + 0.25", "{new} = torch.tanh({old})",
    "{new} = {old}.sigmoid() + 0.5", "{new} = 2 - {old}", "{new} = {old} / 3",
    "{new} = ({old} ** 2) + {old}", "{new} = torch.exp(-{old} * 0.1)", "{new} = {old}.clone()",
    "{new} = {old}.view(2)", "{new} = torch.stack([{old}[1], {old}[0]])", "{new} = scaled({old})",
    "{new} = F.softplus({old})", "{new} = torch.where({old} > 1e9, {old} * 2, {old})",
    "{new} = torch.cat([{old}[:1], {old}[1:]])", "{new} = {old} - 0.5 * {old}.mean()",
    "{new} = {old} @ torch.tensor([[1.0, 0.5], [0.5, 2.0]])",
)  # fmt: skip
CUTS = {
    "detached": ("{new} = {old}.detach()", "{new} = ({old} * 2).detach() + 1"),
    "data": ("{new} = {old}.data", "{new} = 1 + {old}.data * 2"),
    "copied": ("{new} = torch.tensor({old})", "{new} = torch.tensor([{old}[0], {old}[1]])"),
    "item": ("{new} = torch.ones(2) * {old}.sum().item()", "{new} = one * float({old}[0])"),
    "integer": ("{new} = {old}.long() * 1.0", "{new} = F.one_hot({old}.argmax(), 2).float()"),
    "comparison": ("{new} = ({old} > 0.1).float()", "{new} = torch.lt({old}, 9.0) * 1.0"),
    "no-grad": ("with torch.no_grad(): {new} = {old} * 2", "{new} = unrecorded({old})"),
}
DEATHS = {
    "flat": ("{new} = torch.round({old})", "{new} = {old}.floor()", "{new} = {old}.sign()"),
    "dead-relu": ("{new} = torch.relu({old} - 1e4)", "{new} = F.relu(-{old}.abs() - 1)"),
    "masked": ("{new} = torch.where({old} > 1e9, {old}, one)", "{new} = {old} * ({old} > 1e9)"),
    "zero-factor": ("{new} = {old} * 0.0", "{new} = torch.zeros(2) * {old}"),
    "cancelled": ("{new} = {old} - {old}", "{new} = {old} + (-{old})"),
}
BIRTHS = {
    "nan-born-forward": ("{new} = torch.sqrt({old} - 1e6)", "{new} = torch.log({old} - 1e6)"),
}
HEAD = """\
x = torch.tensor([0.7, 1.3], requires_grad=True)
w = torch.tensor([0.4, -0.6], requires_grad=True)
one = torch.ones(2)
def scaled(v):
    return v * 0.5
@torch.no_grad()
def unrecorded(v):
    return v + 1
"""


def program(draw: random.Random, cause: str) -> tuple[str, int]:
    """A chain with one step that is the cause, and the line of that step."""
    lines = HEAD.splitlines()
    old, place = "x", draw.randrange(6)
    at = 0
    for number in range(7):
        new = f"h{number}" if draw.random() < 0.8 or old in ("x", "y") else old
        step = cause if number == place else draw.choice(STEPS)
        if number == place and new == old:
            new = f"h{number}"
        lines.append(step.format(old=old, new=new))
        if number == place:
            at = len(lines)
        old = new
    lines.append(f"loss = ({old} * w).sum()")
    lines.append(draw.choice(("loss.backward()", "torch.autograd.backward(loss)")))
    return "\n".join(lines) + "\n", at


def cases(causes: dict[str, tuple[str, ...]], count: int) -> list[tuple[str, str, int]]:
    found = []
    for verdict, ways in causes.items():
        for number in range(count):
            draw = random.Random(f"{verdict} {number}")
            text, line = program(draw, ways[number % len(ways)])
            found.append((verdict, text, line))
    return found


@pytest.mark.parametrize(("verdict", "text", "line"), cases(CUTS, 12))
def test_cuts(verdict: str, text: str, line: int) -> None:
    _, found = why_report(Request(text.encode(), "p"), "x")
    assert found.verdict == verdict, text
    assert line in found.lines or (verdict == "no-grad" and found.lines == (6, 8)), text
    assert found.trial is not None
    if verdict != "integer":
        assert found.trial.helped is not False, (text, found.trial)


@pytest.mark.parametrize(("verdict", "text", "line"), cases(DEATHS, 12))
def test_deaths(verdict: str, text: str, line: int) -> None:
    _, found = why_report(Request(text.encode(), "p"), "x")
    assert (found.verdict, found.lines) == (verdict, (line,)), text


@pytest.mark.parametrize(("verdict", "text", "line"), cases(BIRTHS, 12))
def test_births(verdict: str, text: str, line: int) -> None:
    _, found = why_report(Request(text.encode(), "p"), "x")
    assert (found.verdict, found.lines) == (verdict, (line,)), text


@pytest.mark.parametrize("number", range(30))
def test_nothing_wrong(number: int) -> None:
    draw = random.Random(number)
    text, _ = program(draw, draw.choice(STEPS))
    _, found = why_report(Request(text.encode(), "p"), "x")
    assert found.verdict == "fine", text
