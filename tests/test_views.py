"""Tests of `gradcli trace --views`: memory, strides and versions are PyTorch's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from oracle import oracle, question
from schemas import fits
from test_cli import answer

from gradcli.pipeline.request import Request
from gradcli.questions.interventions import Tables
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.recording.facts.views import ViewsFact
from gradcli.render import trace as page
from gradcli.render.text import Look

VIEWS = Tables(views=True)
# One statement on each line, which changes at most one tensor.
PROGRAMS = {
    "views of a vector": """\
x = torch.zeros(6)
a = x.view(2, 3)
row = a[1]
b = a.t()
row.mul_(2)
x[0] = 5
c = x.clone()
c += 1
""",
    "slices": """\
x = torch.arange(24.).reshape(2, 3, 4)
y = x[:, 1:, ::2]
z = y.permute(2, 0, 1)
e = x.new_ones(1).expand(4)
y.fill_(1)
x.add_(z.sum())
""",
    "in a graph": """\
w = torch.ones(3, requires_grad=True)
y = w * 2
h = y[1:]
h.mul_(3)
y.add_(1)
z = y.unsqueeze(0)
""",
    "detached": """\
w = torch.ones(2, requires_grad=True)
d = w.detach()
d.add_(1)
s = torch.tensor(1.)
s += 1
s *= 2
""",
    "through data": """\
x = torch.ones(4, requires_grad=True)
y = x * 2
v = y[:2]
d = y.data
d += 1
y.data.mul_(2)
v.mul_(3)
x.data.sub_(1)
""",
    "two names": "x = torch.ones(2)\ny = x\ny.zero_()\n",
    "chunks": "x = torch.ones(4)\np, q = x.chunk(2)\nk = x[::2]\n",
    "nothing in it": "x = torch.ones(0, 3)\nv = x.t()\nx.add_(1)\n",
    "joins are no views": """\
x = torch.ones(2)
j = torch.cat([x, x])
r = j.reshape(2, 2)
j[0] = 3
""",
}


@question
def memory_of_names(torch: Any, program: str) -> list[Any]:
    """Every tensor with a name, and for every line that changed a version which one it was."""
    names: dict[str, Any] = {"torch": torch}
    changes = []
    for line, text in enumerate(program.splitlines(), 1):
        before = {name: one._version for name, one in _tensors(torch, names).items()}
        exec(text, names)
        after = {name: one._version for name, one in _tensors(torch, names).items()}
        moved = {name: [old, after[name]] for name, old in before.items() if after[name] != old}
        if moved:
            changes.append([line, moved])
    tensors = _tensors(torch, names)
    by_identity: dict[int, str] = {}
    for name, one in tensors.items():
        by_identity.setdefault(id(one), name)
    rows = {
        name: [
            list(one.shape), one.storage_offset(), list(one.stride()), one._version,
            "" if one._base is None else by_identity.get(id(one._base), "?"),
            sorted(other for other, two in tensors.items()
                   if two.untyped_storage()._cdata == one.untyped_storage()._cdata),
        ]
        for name, one in tensors.items()
    }  # fmt: skip
    return [rows, changes]


def _tensors(torch: Any, names: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in names.items() if isinstance(one, torch.Tensor)}


def told(text: str) -> ViewsFact:
    ran = recorded(Request(text.encode(), "p.expr"), None, tables=VIEWS)
    assert ran.error is None, ran.error
    found = trace_report(ran, Options(tables=VIEWS)).views
    assert found is not None
    return found


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_memory_is_pytorchs(program: str) -> None:
    rows, changes = oracle.ask("memory_of_names", program)
    found = told(program)
    by_memory: dict[int, list[str]] = {}
    for fact in found.views:
        by_memory.setdefault(fact.memory, []).extend((fact.name, *fact.others))
    for fact in found.views:
        base = "?" if fact.base.startswith("(") else fact.base
        mine = [list(fact.shape), fact.offset, list(fact.strides), fact.version, base,
                sorted(by_memory[fact.memory])]  # fmt: skip
        for name in (fact.name, *fact.others):
            assert mine == rows[name], name
    counted = [one for one in found.writes if one.after is not None]
    assert [[one.line, [one.before, one.after]] for one in counted] == [
        [line, next(iter(moved.values()))] for line, moved in changes
    ]
    for one, (_, moved) in zip(counted, changes, strict=True):
        assert {one.name, *one.seen} >= set(moved) - {"y" if program.endswith("zero_()\n") else ""}


def test_the_page() -> None:
    text = answer("trace", "--views", stdin=PROGRAMS["views of a vector"])
    assert """\
memory  shape   view of  offset  strides  version
x       [6]                   0  [1]            2
a       [2, 3]  x             0  [3, 1]         2
row     [3]     x             3  [1]            2
b       [3, 2]  x             0  [1, 3]         2
c       [6]                   0  [1]            1

tensor  changed in place  version  seen by    line
row     row.mul_(2)       0 → 1    x, a, b       5
x       x[0] = 5          1 → 2    a, row, b     6
c       c += 1            0 → 1                  8
""" in text  # fmt: skip


def test_changes_that_no_version_counts() -> None:
    found = told(PROGRAMS["through data"])
    assert [(one.name, one.line) for one in found.writes if one.after is None] == [
        ("y", 6), ("x", 8),
    ]  # fmt: skip
    program = "net = nn.BatchNorm1d(2)\nnet(torch.ones(3, 2))\nnet.running_mean.zero_()\n"
    text = answer("trace", "--views", stdin=program)
    rows = [row for row in text.splitlines() if row.startswith("net.running_mean ")]
    assert ["not counted" in row for row in rows[-3:]] == [False, True, False]
    assert "1 → 2" in rows[-1]


def test_changes_of_what_has_no_name_are_counted() -> None:
    step = "w = torch.ones(2, requires_grad=True)\nopt = optim.Adam([w])\nw.sum().backward()\n"
    found = told(f"{step}opt.step()\n")
    assert [(one.name, one.line) for one in found.writes] == [("w", 4)]
    assert found.changes == found.nameless + 1 > 1
    page = answer("trace", "--views", stdin=f"{step}opt.step()\n")
    assert f"{found.nameless} changes of tensors that no name leads to" in page


def test_the_document() -> None:
    for words in ((), ("--all",)):
        document = json.loads(
            answer("trace", "--views", *words, "-f", "json", stdin=PROGRAMS["in a graph"])
        )
        fits(document, "gradcli.trace-1")
        assert [one["name"] for one in document["views"]["tensors"]] == ["w", "y", "h", "z"]
        assert document["views"]["changes"] == 2
    assert json.loads(answer("trace", "-f", "json", stdin="x = 1\n"))["views"] is None


def test_very_many_changes_are_folded() -> None:
    text = "x = torch.ones(2)\nfor i in range(100):\n    x += 1\n"
    ran = recorded(Request(text.encode(), "p.expr"), None, tables=VIEWS)
    report = trace_report(ran, Options(tables=VIEWS))
    closed = page.text(report, Look(False, True, 80))
    assert closed.count("x += 1") == 40 and "60 changes" in closed
    assert page.text(report, Look(False, True, 80), expand=True).count("x += 1") == 100
