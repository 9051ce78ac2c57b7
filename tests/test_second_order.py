"""Tests of graphs of gradients: the order of each node, the call that made it, who holds it."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest
from oracle import oracle, question
from schemas import fits
from test_cli import SCHEMAS, gradcli, home  # noqa: F401
from test_shown import report

from gradcli.render import json as documents, trace as page
from gradcli.render.text import Look

GIVEN = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor(3., requires_grad=True)\n"
PROGRAMS = {
    "a gradient of a gradient": GIVEN + """\
y = (w * x ** 3).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
p = (g ** 2).sum()
p.backward(create_graph=True)
q = x.grad.sum()
""",
    "three orders": GIVEN + """\
y = (w * x ** 4).sum()
for k in range(3):
    y = torch.autograd.grad(y, x, create_graph=True)[0].sum()
""",
    "two firsts": GIVEN + """\
y = (w * x ** 2).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(y, w, create_graph=True)
both = g.sum() * h
""",
    "no graph of a gradient": GIVEN + """\
y = (w * x ** 2).sum()
y.backward(retain_graph=True)
z = (y * w).sum()
z.backward()
""",
    "a gradient that is linear": GIVEN + """\
y = (x * 2).sum()
y.backward(create_graph=True)
""",
    "added to a gradient": GIVEN + """\
y = (x.sin() * w).sum()
y.backward(create_graph=True)
x.grad.pow(2).sum().backward(create_graph=True)
""",
    "through the gradient of the other": GIVEN + """\
y = (x * w).sum()
y.backward(create_graph=True)
""",
    "the gradient was set to None": GIVEN + """\
y = (x.exp() * w).sum()
y.backward(create_graph=True)
x.grad = None
""",
    "in a function": GIVEN + """\
def penalty(f):
    g, = torch.autograd.grad(f, x, create_graph=True)
    return g.norm()
z = penalty((w * x ** 3).sum())
z.backward()
""",
}  # fmt: skip


def walked(roots: list[Any], maker: Any) -> list[list[Any]]:
    """Every node behind these tensors, in one order for both libraries."""
    found: list[list[Any]] = []
    seen: set[Any] = set()
    pending = [root.grad_fn for root in roots]
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if not hasattr(node, "variable"):
            found.append([node.name().rpartition("::")[2], maker(node)])
        pending.extend(child for child, _ in node.next_functions)
    return found


@question
def makers(torch: Any, program: str) -> list[list[Any]]:
    """For each node behind the global tensors: of which order it is, and the number of the pass
    that made it; by the numbers that PyTorch gives to nodes, which grow."""
    passes: list[tuple[int, int, int]] = []  # first and last number, order
    plain = torch.autograd._engine_run_backward

    def now() -> int:
        number: int = (torch.zeros(1, requires_grad=True) * 1).grad_fn._sequence_nr()
        return number

    def maker(node: Any) -> tuple[int, int]:
        """Order, and number of the pass."""
        number = node._sequence_nr()
        for at, (first, last, order) in enumerate(passes):
            if first < number < last:
                return order, at + 1
        return 0, 0

    def run(roots: Any, *rest: Any, **named: Any) -> Any:
        order = 1 + max((made[0] for _, made in walked(list(roots), maker)), default=0)
        first = now()
        found = plain(roots, *rest, **named)
        passes.append((first, now(), order))
        return found

    names = {"torch": torch}
    torch.autograd._engine_run_backward = run
    try:
        exec(compile(program, "<program>", "exec"), names)
    finally:
        torch.autograd._engine_run_backward = plain
    return walked([one for one in names.values() if isinstance(one, torch.Tensor)], maker)


@question
def leaked(torch: Any, program: str) -> list[str]:
    """The leaves that stay alive once nobody has their names any more."""
    names: dict[str, Any] = {"torch": torch}
    exec(compile(program, "<program>", "exec"), names)
    held = {
        name: weakref.ref(names[name])
        for name in list(names)
        if isinstance(names[name], torch.Tensor) and names[name].is_leaf
    }
    names.clear()
    gc.collect()
    return sorted(name for name, one in held.items() if one() is not None)


# ---------------------------------------------------------------- the order of a node


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_every_node_is_of_the_pass_that_made_it(program: str) -> None:
    told = report(program, texts=False)
    orders = {fact.node: [fact.order, fact.number] for fact in told.derived}
    shown, seen = [], set()
    pending = [fact.node for fact in told.tensors if fact.grad_fn is not None]
    while pending:
        number = pending.pop()
        if number is None or number in seen:
            continue
        seen.add(number)
        node = told.nodes[number]
        if node.name != "AccumulateGrad":
            shown.append([node.name, orders.get(number, [0, 0])])
        pending.extend(None if edge is None else edge[0] for edge in node.next)
    assert shown == oracle.ask("makers", program)


def test_text_and_json_say_the_line_of_the_call() -> None:
    told = report(PROGRAMS["a gradient of a gradient"])
    shown = page.text(told, Look(False, True, 200))
    assert shown.splitlines()[2].split() == "grad_fn shape value grad line order".split()
    rows = [line.rsplit("  ", 1) for line in shown.splitlines() if "MulBackward1" in line]
    assert {row[1].strip() for row in rows} == {"1, line 4", "2, line 6"}
    assert (
        "x.grad holds the graph of backward(create_graph=True) on line 6, 15 nodes\n"
        "  x → x.grad → x is a reference cycle: x.grad = None breaks it\n"
    ) in shown
    document = json.loads("".join(documents.trace(told)))
    fits(document, "gradcli.trace-1")
    made = {(n["derivative_order"], (n["made_by"] or {}).get("line")) for n in document["nodes"]}
    assert made == {(0, None), (1, 4), (2, 6)}
    assert document["holders"][0]["cycle"] == ["x", "x.grad"]


def test_second_order_is_reported_only_where_there_is_one() -> None:
    shown = page.text(report(PROGRAMS["no graph of a gradient"]), Look(False, True, 200))
    assert " order" not in shown and "cycle" not in shown


def test_pytorch_itself_is_reported_in_the_same_words(home: Any) -> None:  # noqa: F811
    if not oracle.has_torch:
        pytest.skip("PyTorch is not installed")
    text = "import torch\n" + PROGRAMS["a gradient of a gradient"] + "q.backward()\n"
    (home / "p.py").write_text(text)
    own, live = (gradcli("trace", "p.py", "--engine", name).stdout for name in ("own", "torch"))
    columns = [[line.split("  ")[-1] for line in said.splitlines() if "Backward" in line]
               for said in (own, live)]  # fmt: skip
    assert columns[0] == columns[1]


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_who_is_in_a_cycle_is_never_freed(program: str) -> None:
    told = report(program)
    circles = {name for fact in told.holders for name in fact.circle}
    leaves = {name for name in circles if "." not in name}
    assert sorted(leaves) == oracle.ask("leaked", program)
