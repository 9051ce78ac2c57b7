"""Tests of `gradcli trace --stats`: the numbers of a graph are PyTorch's."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from oracle import oracle, question
from schemas import fits
from test_cli import answer

from gradcli.pipeline.request import Request
from gradcli.questions.interventions import Tables
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.recording.facts.stats import StatsFact

STATS = Tables(stats=True)
# Each ends with a number L, whose backward is called.
PROGRAMS = {
    "two paths": """\
a = torch.tensor([4.0, 2.0], requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
b = w * a
L = (b * a).sum() + b.exp().sum()
""",
    "a network": """\
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 5))
L = net(torch.randn(8, 20)).log_softmax(1).pow(2).mean()
""",
    "a chain": "x = torch.tensor(1.5, requires_grad=True)\ny = x\nfor i in range(50):\n"
    "    y = y.sin() * y\nL = y\n",
    "nothing is saved": "x = torch.ones(3, requires_grad=True)\nL = (x + 1).sum()\n",
}


@question
def graph_numbers(torch: Any, program: str) -> dict[str, Any]:
    """Nodes by kind, edges, leaves, depth, bytes of what is saved, largest values of leaves."""
    names: dict[str, Any] = {"torch": torch}
    exec(program, names)
    root = names["L"].grad_fn
    order, seen = [root], {root}
    for node in order:
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                order.append(child)
    depth: dict[Any, int] = {}
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        children = [child for child, _ in node.next_functions if child is not None]
        if done:
            depth[node] = 1 + max((depth[child] for child in children), default=0)
        elif node not in depth:
            stack.append((node, True))
            stack.extend((child, False) for child in children if child not in depth)
    kinds: dict[str, int] = {}
    held: dict[int, int] = {}
    for node in order:
        if hasattr(node, "variable"):
            continue
        kinds[node.name()] = kinds.get(node.name(), 0) + 1
        for key in dir(node):
            value = getattr(node, key) if key.startswith("_saved_") else None
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                held[storage._cdata] = storage.nbytes()
                names[f"kept {len(names)}"] = value
    leaves = [node.variable for node in order if hasattr(node, "variable")]
    names["L"].backward()
    grads = [abs(leaf.grad).max().item() for leaf in leaves]
    return {
        "kinds": kinds, "leaves": len(leaves), "elements": sum(leaf.numel() for leaf in leaves),
        "edges": sum(child is not None for node in order for child, _ in node.next_functions),
        "depth": depth[root], "bytes": sum(held.values()), "largest": max(grads),
    }  # fmt: skip


def told(text: str) -> StatsFact:
    ran = recorded(Request(text.encode(), "p.expr"), None, tables=STATS)
    assert ran.error is None, ran.error
    found = trace_report(ran, Options(tables=STATS)).stats
    assert found is not None
    return found


@pytest.mark.parametrize("passes", ["L.backward()\n", ""], ids=["freed", "alive"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_numbers_are_pytorchs(program: str, passes: str) -> None:
    truth = oracle.ask("graph_numbers", program)
    fact = told(program + passes)
    assert {kind.name: kind.nodes for kind in fact.kinds} == truth["kinds"]
    assert fact.nodes == sum(truth["kinds"].values())
    assert (fact.leaves, fact.elements) == (truth["leaves"], truth["elements"])
    assert (fact.edges, fact.depth, fact.bytes) == tuple(
        truth[key] for key in ("edges", "depth", "bytes")
    )
    assert sum(kind.bytes for kind in fact.kinds) == fact.bytes
    if passes:
        assert max(one.largest for one in fact.gradients) >= truth["largest"] * 0.999


def test_what_is_nan_comes_first() -> None:
    fact = told(
        "x = torch.tensor([0., 4.], requires_grad=True)\ny = (x - 1).sqrt() * 100\n"
        "L = y.sum() * 5\nL.backward()\n"
    )
    assert fact.values[0].bad and fact.gradients[0].bad
    bad = {one.source: one.bad for one in fact.values}
    assert bad["L"] == 1 and bad["y"] == 1 and bad["x - 1"] == 0


def test_the_page_and_the_document() -> None:
    text = PROGRAMS["two paths"] + "L.backward()\n"
    page = answer("trace", "--stats", stdin=text)
    assert "graph: 6 nodes, " in page and "2 leaves with 3 elements" in page
    assert "largest gradient" in page and "MulBackward0      2" in page
    document = json.loads(answer("trace", "--stats", "-f", "json", stdin=text))
    fits(document, "gradcli.trace-1")
    assert document["stats"]["nodes"] == 6
    empty = json.loads(answer("trace", "--stats", "--views", "-f", "json", stdin="a = 1\n"))
    fits(empty, "gradcli.trace-1")
    assert empty["stats"]["nodes"] == 0
    assert "graph: 0 nodes" in answer("trace", "--stats", stdin="a = 1\n")


def test_all_lines_of_a_kind_are_listed() -> None:
    rows = "".join(f"y = y * x\n{'z = y' if i % 2 else ''}\n" for i in range(9))
    text = f"x = torch.tensor(1.5, requires_grad=True)\ny = x * 1\n{rows}y.backward()\n"
    page = answer("trace", "--stats", stdin=text.replace("\n\n", "\n"))
    assert re.search(r"^MulBackward0 +10 .* 2-4, 6-7, 9-10, 12-13, 15$", page, re.M), page
