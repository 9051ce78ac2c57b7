"""Tests of `gradcli flow`: its numbers against PyTorch, its verdicts against what was put there."""

from __future__ import annotations

import json
import math
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_here import here
from flow_programs import ALL, FIT, HEALTHY, NET, PLANTED, sgd
from oracle import oracle, question
from schemas import fits
from test_cli import SCHEMAS, home  # noqa: F401

from gradcli.pipeline.request import Request
from gradcli.questions import flow as questions
from gradcli.questions.flow import flow_report, recorded
from gradcli.recording.curve import ROOM, Curve
from gradcli.recording.facts.flow import FlowReport
from gradcli.recording.gradient_flow import ENDS, GradientFlow
from gradcli.render import flow as pages
from gradcli.render.flow import curve
from gradcli.render.json import flow as documents
from gradcli.render.text import Look

PROGRAMS = {name: text for name, (text, _) in PLANTED.items()} | HEALTHY


@cache
@cache
def report(text: str) -> FlowReport:
    found = flow_report(recorded(Request(text.encode(), "train.expr"), None))
    assert found.error is None, found.error
    return found


# ---------------------------------------------------------------- verdicts


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_wrong_is_reported(name: str) -> None:
    text, wanted = PLANTED[name]
    found: dict[str, set[str]] = {}
    for fact in report(text).verdicts:
        found.setdefault(fact.verdict, set()).update(fact.names)
        assert fact.lines and all(1 <= line <= text.count("\n") for line in fact.lines)
        assert "{n}" not in fact.sentence
    assert found.keys() == wanted.keys()
    assert all(found[verdict] == set(names) for verdict, names in wanted.items() if names)


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_reported_where_nothing_is_wrong(name: str) -> None:
    assert report(HEALTHY[name]).verdicts == ()


def test_the_line_of_the_cause() -> None:
    """The relu that passes nothing, the call that adds, the optimiser that lacks a leaf."""
    names = "a relu in a class", "no zero_grad", "a head that the optimiser lacks", "round"
    lines = {
        name: {f.verdict: f.lines for f in report(PLANTED[name][0]).verdicts} for name in names
    }
    text = PLANTED["a relu in a class"][0].splitlines()
    (line,) = lines["a relu in a class"]["dead"]
    assert "F.relu" in text[line - 1]
    assert lines["no zero_grad"]["stale"] == (8, 9)
    assert 6 in lines["a head that the optimiser lacks"]["not given to the optimiser"]
    assert lines["round"]["zero"] == (8,)
    (fact,) = report(PLANTED["a group with a rate of zero"][0]).verdicts
    assert fact.sentence == "with lr 0 the optimizer made on line 5 changes nothing"
    (fact,) = report(PLANTED["layers in a list"][0]).verdicts
    assert "net.layers is plain Python" in fact.sentence


def test_steps_without_a_pass() -> None:
    text = sgd().replace("    loss.backward()\n", "")
    (fact,) = report(text).verdicts
    assert (fact.verdict, fact.names, fact.lines) == ("not updated", ALL, (5,))
    by_hand = text.replace(
        "    opt.step", "    for p in net.parameters(): p.grad = p * 0.1\n    opt.step"
    )
    assert report(by_hand).verdicts == ()


def test_a_loss_that_is_a_leaf_is_given_to_no_optimiser() -> None:
    """Its requires_grad was switched on; what is missing are the gradients of the network."""
    text = sgd().replace(".mean()", ".mean().detach().requires_grad_()")
    (fact,) = report(text).verdicts
    assert (fact.verdict, fact.names) == ("not reached", ALL)


# ---------------------------------------------------------------- numbers


def leaves_below(root: Any) -> dict[int, Any]:
    found: dict[int, Any] = {}
    seen, pending = set(), [root.grad_fn]
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        pending.extend(child for child, _ in node.next_functions)
    return found


def written(number: float) -> float | str:
    return number if math.isfinite(number) else "bad"


@question
def passes_of(torch: Any, text: str) -> list[list[Any]]:
    """For each pass of a program the value of its root and the norm of what came to leaves."""
    rows: list[list[Any]] = []
    backward, grad = torch.Tensor.backward, torch.autograd.grad

    def note(root: Any, found: list[Any]) -> None:
        square = sum(float((g.detach().double() ** 2).sum()) for g in found if g is not None)
        loss = written(float(root.detach())) if root.numel() == 1 else None
        rows.append([loss, written(math.sqrt(square))])

    def watched_backward(self: Any, *arguments: Any, **options: Any) -> None:
        leaves = leaves_below(self)
        before = {key: leaf.grad for key, leaf in leaves.items()}
        for leaf in leaves.values():
            leaf.grad = None
        backward(self, *arguments, **options)
        note(self, [leaf.grad for leaf in leaves.values()])
        for key, leaf in leaves.items():
            if before[key] is not None:
                leaf.grad = before[key] if leaf.grad is None else before[key].add_(leaf.grad)

    def watched_grad(outputs: Any, inputs: Any, *arguments: Any, **options: Any) -> Any:
        found = grad(outputs, inputs, *arguments, **options)
        note(outputs, list(found))
        return found

    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim}
    torch.Tensor.backward, torch.autograd.grad = watched_backward, watched_grad
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, "program", "exec"), {**names, "tensor": torch.tensor})
    finally:
        torch.Tensor.backward, torch.autograd.grad = backward, grad
    return rows


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_and_norms_are_those_of_pytorch(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = report(PROGRAMS[name]).passes
    wanted = oracle.ask("passes_of", PROGRAMS[name])
    assert len(passes) == len(wanted)
    for fact, (loss, norm) in zip(passes, wanted, strict=True):
        if isinstance(norm, float) and norm > 1e4 * wanted[0][1]:
            continue  # once it explodes, the last bit decides
        near = {"rel": 2e-3, "abs": 1e-6}
        if loss is not None and fact.loss is not None:
            shown = written(fact.loss)
            assert shown == loss if "bad" in (shown, loss) else shown == pytest.approx(loss, **near)
        shown = written(fact.norm)
        assert shown == norm if "bad" in (shown, norm) else shown == pytest.approx(norm, **near)


def test_a_leaf_over_the_passes() -> None:
    text = """\
w = tensor([1., 2.], requires_grad=True)
for g in (3., 0., 4.):
    (w[0] * g).backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
    w.grad = None
"""
    (leaf,) = report(text).leaves
    assert (leaf.name, leaf.line, leaf.shape, leaf.passes) == ("w", 1, (2,), 3)
    assert leaf.curve == (3.0, 0.0, 4.0)
    assert leaf.zeros == pytest.approx(4 / 6) and leaf.unchanged == 0.5
    assert leaf.updates == 2
    first, second = 1.5 / math.sqrt(5), 2 / math.hypot(0.5, 2)
    assert leaf.update == pytest.approx((first + second) / 2)


def test_a_name_that_gets_a_new_leaf_in_each_turn_is_one_leaf() -> None:
    found = report(HEALTHY["a line with new leaves"])
    assert [(leaf.name, leaf.passes, leaf.updates) for leaf in found.leaves] == [
        ("w", 50, 50), ("b", 50, 50),
    ]  # fmt: skip


# ---------------------------------------------------------------- bounds


def test_memory_does_not_grow_with_the_passes() -> None:
    turns = 2 * ENDS + 500
    text = (
        FIT
        + f"""\
for i in range({turns}):
    x = torch.ones(50, requires_grad=True)
    (w * x).sum().backward()
    w.grad = None
"""
    )
    ran = recorded(Request(text.encode(), "train.expr"), None)
    flow = ran.recording.find(GradientFlow)
    assert flow is not None and ran.recording.passes.count == turns
    assert len(flow.first) + len(flow.last) == 2 * ENDS
    assert len(flow.tracks) + len(flow.gone) < 10 and len(flow.names) < 10
    assert all(len(track.curve.groups) <= ROOM for track in flow.tracks.values())
    found = flow_report(ran)
    assert [found.passes[0].number, found.passes[-1].number] == [1, turns]


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 1000, 4097])
def test_a_curve_keeps_the_largest_of_each_group(length: int) -> None:
    kept = Curve()
    numbers = [math.sin(i) * i for i in range(length)]
    for number in numbers:
        kept.add(number)
    groups = [numbers[i : i + kept.span] for i in range(0, length, kept.span)]
    assert kept.groups == [max(group) for group in groups] and len(groups) <= ROOM


def test_a_curve_in_bars() -> None:
    look = Look()
    assert curve((1.0, 10.0, 100.0), look) == "▁▅█"
    assert curve((1.0, 0.0, math.nan), look) == "▅0!"
    assert curve((0.0, 0.0), look) == "0"
    assert curve(tuple(10.0**i for i in range(64)), look) == "▁▁▂▃▄▅▆▇██"
    assert curve((1.0, 100.0), look._replace(unicode=False)) == "_@"


# ---------------------------------------------------------------- the page and the document


def document(*words: str) -> dict[str, Any]:
    done = here("flow", *words, "--format", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    fits(found, "gradcli.flow-1")
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_pages_and_documents(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    (home / "train.expr").write_text(PROGRAMS[name], encoding="utf-8")
    runs: list[Any] = []

    def once(request: Request, write: Any, *given: Any) -> Any:
        """The second page is one of the same run."""
        if runs:
            write(runs[0].output)
        else:
            runs.append(recorded(request, write, *given))
        return runs[0]

    monkeypatch.setattr(questions, "recorded", once)
    page = here("flow", "train.expr")
    assert page.returncode == 0 and "…" not in page.stdout
    assert page.stdout.endswith(pages.text(report(PROGRAMS[name]), Look(whole=True)))
    found = json.loads("".join(documents.flow(report(PROGRAMS[name]))))
    fits(found, "gradcli.flow-1")
    assert found["total"] == len(found["passes"])
    for leaf in found["leaves"]:
        assert leaf["name"] in page.stdout or len(found["leaves"]) > 40
    for fact in found["verdicts"]:
        assert fact["sentence"] in page.stdout
    monkeypatch.setenv("COLUMNS", "60")
    assert here("flow", "train.expr", "--expand").stdout.count("\n") >= page.stdout.count("\n")


def test_one_pass(home: Path) -> None:  # noqa: F811
    (home / "train.expr").write_text(sgd(turns=3))
    done = here("flow", "train.expr", "--pass", "2")
    assert done.stdout.startswith("pass 2 of 3, line 9, loss = ")
    found = document("train.expr", "--pass", "2")
    assert found["pass"]["number"] == 2 and found["passes"] == []
    square = sum(gradient["norm"] ** 2 for gradient in found["gradients"])
    assert math.sqrt(square) == pytest.approx(found["pass"]["norm"])
    assert all(0 < gradient["change"] < 2 for gradient in found["gradients"])
    done = here("flow", "train.expr", "--pass", "4")
    assert done.returncode == 2 and "there are 3 backward passes" in done.stderr
    assert here("flow", "train.expr", "--pass", "0").returncode == 2


def test_without_a_pass_and_with_an_error(home: Path) -> None:  # noqa: F811
    (home / "plain.expr").write_text("print(1)\n")
    assert here("flow", "plain.expr").stdout == "1\n\nno backward pass: nothing flowed\n"
    (home / "train.expr").write_text(NET + "net(X).sum().backward()\nnet(Y)\n")
    done = here("flow", "train.expr")
    assert done.returncode == 3 and done.stdout.startswith("pass  line  loss")
    assert "net.2.bias" in done.stdout and "no verdict" not in done.stdout
    assert document("train.expr")["error"]["line"] == 6


def test_the_legend(home: Path) -> None:  # noqa: F811
    (home / "train.expr").write_text(sgd(turns=3))
    page = here("flow", "train.expr", "--legend").stdout
    for head in ("largest change", "first → last", "zeros", "unchanged", "update"):
        assert page.count(head) >= 2


def test_a_change_from_zero_has_no_ratio(home: Path) -> None:  # noqa: F811
    """What began at 0 is named only where nothing else changed; nothing is infinite."""
    text = (
        "w = torch.zeros(1, requires_grad=True)\nv = torch.ones(1, requires_grad=True)\n"
        "for i in range(2):\n    loss = ((w + v - 2) ** 2).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        {}\n"
    )
    (home / "alone.expr").write_text(text.format("w -= 0.1 * w.grad"))
    (home / "both.expr").write_text(text.format("for p in (w, v): p -= 0.1 * p.grad"))
    assert "w from 0" in here("flow", "alone.expr").stdout
    both = here("flow", "both.expr").stdout
    assert "v 0.2" in both and "inf" not in both
    one = here("flow", "alone.expr", "--pass", "1").stdout
    assert "from 0" in one and "inf" not in one


ATTRIBUTE = """\
class Line:
    pass
line = Line()
line.w = torch.tensor(1., requires_grad=True)
for i in range(3):
    ((line.w * 2 - 1) ** 2).backward()
    line.w = (line.w - 0.1 * line.w.grad).detach().requires_grad_()
"""
ITEM = """\
def fit():
    params = [torch.tensor(1., requires_grad=True)]
    for i in range(3):
        ((params[0] * 2 - 1) ** 2).backward()
        params[0] = (params[0] - 0.1 * params[0].grad).detach().requires_grad_()
fit()
"""
NONLOCAL = """\
def make():
    w = torch.tensor(1., requires_grad=True)
    def step():
        nonlocal w
        ((w * 2 - 1) ** 2).backward()
        w = (w - 0.1 * w.grad).detach().requires_grad_()
    return step
step = make()
for i in range(3):
    step()
"""


@pytest.mark.parametrize(
    ("text", "name"), [(ATTRIBUTE, "line.w"), (ITEM, "params[0]"), (NONLOCAL, "w")]
)
def test_a_leaf_that_is_made_anew_in_each_turn_is_one_row(text: str, name: str) -> None:
    """Where an attribute, an item or a name of a function around holds it."""
    (leaf,) = report(text).leaves
    assert (leaf.name, leaf.passes) == (name, 3)
    assert leaf.first == pytest.approx(4.0) and leaf.last == pytest.approx(0.16)


def test_a_pass_that_failed_before_any_leaf_has_no_norm(tmp_path: Path) -> None:
    text = "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n"
    (tmp_path / "p.expr").write_text(text, encoding="utf-8")
    shown = here("flow", str(tmp_path / "p.expr")).stdout.splitlines()
    assert shown[1].split() == ["1", "4", "7.437", "failed", "-", "-"]


def test_a_pass_that_failed_says_nothing_of_what_it_did_not_reach(tmp_path: Path) -> None:
    """And one that was asked for no leaf has no norm of gradients."""
    text = (
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\ny = net(torch.ones(1, 2))\n"
        "s = y * 1\ntorch.autograd.grad(s.sum(), y, retain_graph=True)\n"
        "net[1].bias.register_post_accumulate_grad_hook(lambda p: p.grad)\ns.sum().backward()\n"
    )
    (tmp_path / "p.expr").write_text(text, encoding="utf-8")
    shown = here("flow", str(tmp_path / "p.expr")).stdout
    assert shown.splitlines()[1].split()[3:] == ["-", "-", "-"]
    assert "failed" in shown and "not reached" not in shown
