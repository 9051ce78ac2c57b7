"""Tests of folds: their numbers, what opens them, what a row stands for, what is hidden."""

from __future__ import annotations

import re
from typing import Any

import pytest
from test_cli import answer, gradcli, home  # noqa: F401

from gradcli.pipeline.request import Request
from gradcli.questions.picture import recorded
from gradcli.questions.trace import Options, trace_report
from gradcli.recording.facts import Report
from gradcli.render import trace as page
from gradcli.render.text import Look

NETWORK = """\
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return torch.relu(self.fc(x)) * 2 + x
net = nn.Sequential(Block(), Block(), nn.Linear(2, 1))
def loss_of(x):
    h = net(x)
    return (h ** 2).mean()
loss = loss_of(torch.ones(3, 2))
loss.backward()
"""
LOOPS = """\
w = torch.tensor(1., requires_grad=True)
x = w * 1
for i in range(20):
    x = x * w
for i in range(30):
    x = torch.sin(x)
names = [x * i for i in range(50)]
loss = x + sum(names)
loss.backward()
"""


def shown(text: str, **interventions: Any) -> list[str]:
    """The rows of a page, in words with single blanks."""
    written = page.text(report(text), Look(False, True, 400, whole=True), **interventions)
    return [" ".join(row.split()) for row in written.splitlines()]


def report(text: str) -> Report:
    ran = recorded(Request(text.encode(), "p.expr"), None)
    assert ran.error is None, ran.error
    return trace_report(ran, Options(detail=True))


def folds(rows: list[str]) -> dict[int, str]:
    """What the closed folds of a page say, by their numbers."""
    found = (re.search(r"⋮ (\d+) (.*)", row) for row in rows)
    return {int(match[1]): match[2] for match in found if match}


def test_folds_have_numbers_and_open_by_them() -> None:
    closed = folds(shown(LOOPS))
    assert list(closed) == sorted(closed) and len(closed) == 4
    for number in closed:
        left = folds(shown(LOOPS, expand=frozenset({number})))
        assert number not in left and set(left) < set(closed)
    assert folds(shown(LOOPS, expand=frozenset(closed))) == {}
    assert folds(shown(LOOPS, expand=True)) == {}
    assert folds(shown(LOOPS, fold="none")) == {}


def test_open_folds_show_what_all_of_the_page_shows() -> None:
    every = shown(LOOPS, expand=True)
    closed = folds(shown(LOOPS))
    opened = shown(LOOPS, expand=frozenset(closed))
    assert [row for row in opened if not row.startswith("--expand")] == every


TURNS = """\
w = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
h = torch.ones(2)
for i in range(4):
    h = torch.tanh(w @ h + i)
h.sum().backward()
"""


def test_each_turn_of_a_folded_line_has_its_name() -> None:
    rows = [row for row in shown(TURNS, fold="line") if "torch.tanh(w @ h + i)" in row]
    assert len(rows) == 4 and all("h = torch.tanh(w @ h + i)" in row for row in rows)


def test_folds_within_folds() -> None:
    closed = shown(NETWORK, fold="call")
    assert folds(closed)[1].startswith("13 nodes") or "nodes" in folds(closed)[1]
    once = folds(shown(NETWORK, fold="call", expand=frozenset({1})))
    assert list(once) == [2] and once[2].startswith("Sequential")
    twice = folds(shown(NETWORK, fold="call", expand=frozenset({1, 2})))
    assert [said.split(",")[0] for said in twice.values()] == ["Linear", "Block", "Block"]


@pytest.mark.parametrize("unit", ["module", "call", "line"])
def test_units_have_the_numbers_of_their_results(unit: str) -> None:
    """Value and gradient of a fold are those of the node that the others use."""
    rows = shown(NETWORK, fold=unit)
    plain = shown(NETWORK, expand=True)
    assert len(rows) < len(plain)
    for row in rows:
        if "nodes" in row and "⋮" in row:
            facts = re.sub(r".*? nodes ", "", row).rsplit(" ", 1)[0]
            assert any(facts in other for other in plain), row
    for leaf in ("net.0.fc.weight", "net.1.fc.bias", "net.2.bias"):
        assert any(leaf in row and " leaf " in row for row in rows)


def test_a_table_of_many_names_is_folded() -> None:
    text = "".join(f"a{i} = torch.tensor({i}.)\n" for i in range(1000))
    rows = shown(text + "w = torch.tensor(1., requires_grad=True)\n(w * 2).backward()\n")
    assert len(rows) < 100 and "921 more" in " ".join(rows)


def test_tensors_of_modules_built_alike_are_folded() -> None:
    text = "net = nn.Sequential(*[nn.Linear(2, 2) for i in range(30)])\n"
    rows = shown(text + "net(torch.ones(2)).sum().backward()\n")
    names = [row for row in rows if row.startswith("net.")]
    assert len(names) == 4 and "56 more" in " ".join(rows)


def test_what_is_hidden_is_counted() -> None:
    text = """\
a = torch.tensor(2., requires_grad=True)
b = torch.tensor(3., requires_grad=True)
k = torch.tensor(5.)
y = (a * k).exp() + (b * 2).sin()
g, = torch.autograd.grad(y, a)
"""
    whole = shown(text)
    assert any("SinBackward0" in row for row in whole) and any("constant" in row for row in whole)
    rows = shown(text, hide=("constants", "forward-only"))
    assert not any("SinBackward0" in row or " constant " in row for row in rows)
    assert any("AddBackward0" in row for row in rows) and any("ExpBackward0" in row for row in rows)
    said = next(row for row in rows if row.startswith("hidden: "))
    assert said == "hidden: 3 nodes that only the forward computation needs, 1 constant"


CELLS = """\
torch.manual_seed(0)
cell = nn.LSTMCell(3, 4)
h, c = torch.zeros(2, 4), torch.zeros(2, 4)
kept = []
for t in range(30):
    h, c = cell(torch.randn(2, 3), (h, c))
    if t % 5 == 0:
        kept.append(h)
torch.autograd.backward([torch.stack(kept).sum(), c.pow(2).sum()])
"""
ROWS_LEFT_OUT = """\
w = torch.tensor(2., requires_grad=True)
def f(x, n):
    return x if n == 0 else f(x * w, n - 1) + f(x + w, n - 1)
f(torch.tensor(1.), 6).backward()
"""
WIDE = """\
x = torch.arange(90.).requires_grad_()
y = torch.cat([part.exp() * i for i, part in enumerate(x.split(1))])
y.sum().backward()
"""
RECURRENT = """\
w, v = torch.tensor(0.5, requires_grad=True), torch.tensor(0.1, requires_grad=True)
h = torch.tensor(1.)
for i in range(40):
    h = torch.tanh(w * h + (v * i))
h.backward()
"""


@pytest.mark.parametrize("program", [NETWORK, CELLS, ROWS_LEFT_OUT, WIDE, RECURRENT])
def test_a_fold_counts_all_that_it_hides(program: str) -> None:
    """Also what hangs beside a chain, and nothing that has a row elsewhere."""
    whole = report(program)
    nodes = sum(re.search(r"(Backward\w*|leaf) ", row) is not None and "see " not in row
                for row in _tree(whole, expand=True))  # fmt: skip
    rows = _tree(whole)
    said = [row for row in rows if re.match(r"(\W*)⋮", row)]
    drawn = sum(re.search(r"(Backward\w*|leaf) ", row) is not None and row not in said
                and not re.search(r"see |in ⋮", row) for row in rows)  # fmt: skip
    assert drawn + sum(map(_count, said)) == nodes, said


def _tree(whole: Report, **options: Any) -> list[str]:
    written = page.text(whole, Look(False, True, 400, whole=True), **options)
    trees = written.partition("\ntensor ")[0]
    return [" ".join(row.split()) for row in trees.splitlines() if "grad_fn" not in row]


def _count(fold: str) -> int:
    if found := re.search(
        r"([\d,]+) more nodes? in all|([\d,]+) more (?:node|input)s?(?!.*all)", fold
    ):
        return int((found[1] or found[2]).replace(",", ""))
    found = re.search(r"(this|these (\d+)) nodes? × ([\d,]+)", fold)
    assert found is not None, fold
    return int(found[2] or 1) * (int(found[3].replace(",", "")) - 1)


def test_the_command_line(home: Any) -> None:  # noqa: F811
    (home / "p.expr").write_text(LOOPS)
    bare = answer("trace", "--expand", "p.expr")
    assert "⋮" not in bare and bare == answer("trace", "p.expr", "--expand", "all")
    assert bare == answer("trace", "p.expr", "--fold", "none")
    some = answer("trace", "p.expr", "--expand", "1,2")
    assert some == answer("trace", "p.expr", "--expand", "1", "--expand=2") and "⋮ 3" in some
    wrong = gradcli("trace", "p.expr", "--expand", "9")
    assert wrong.returncode == 2 and "--expand 9: there are 4 folds" in wrong.stderr
    assert gradcli("trace", "p.expr", "--fold", "elsewhere").returncode == 2
    assert gradcli("trace", "p.expr", "--hide", "elsewhere").returncode == 2
    for unit in ("module", "call", "line", "none"):
        assert answer("trace", "p.expr", "--format", "dot", "--fold", unit)


def test_step_and_flow_have_them_too(home: Any) -> None:  # noqa: F811
    text = "w = torch.tensor(1., requires_grad=True)\nfor i in range(40):\n    (w * w).backward()\n"
    (home / "p.expr").write_text(text)
    for command in ("step", "flow"):
        closed, opened = answer(command, "p.expr"), answer(command, "p.expr", "--expand", "1")
        assert "⋮ 1" in closed and "⋮" not in opened
        assert opened == answer(command, "p.expr", "--expand")


def test_a_node_within_a_fold_is_referred_to_by_its_number() -> None:
    text = "rnn = nn.RNN(2, 3)\nout, _ = rnn(torch.ones(6, 1, 2))\nout.sum().backward()\n"
    rows = shown(text)
    fold = next(row for row in rows if row.startswith("⋮"))
    assert fold.startswith("⋮ 1 these")
    assert sum("in ⋮ 1" in row for row in rows) > 1
