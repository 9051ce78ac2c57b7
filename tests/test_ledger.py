"""Tests of the ledger: entries, resets, stale gradients, buffers, the log of hooks."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_cli import SCHEMAS, TWO_PATHS, answer, gradcli, home  # noqa: F401

from gradcli.pipeline.request import Ran, Request
from gradcli.pipeline.run import execute
from gradcli.questions.graph import collected
from gradcli.questions.interventions import watching
from gradcli.questions.ledger import ledger, stale_gradients
from gradcli.recording.facts.ledger import LedgerFact
from gradcli.render import ledger as render_ledger
from gradcli.render.folds import Folds
from gradcli.render.text import Look, paint

LOOK = Look()


def ran(text: str, **wanted: Any) -> Ran:
    recording = watching()
    recording.attach(recording.buffers)
    done = execute(Request(text.encode(), "program.expr", **wanted), None, recording)
    assert done.error is None, done.error
    return done


def kept(text: str, *, full: bool = False, **wanted: Any) -> LedgerFact:
    """The ledger of a program."""
    done = ran(text, **wanted)
    assert done.outcome is not None
    return ledger(done, collected(done.outcome, texts=False), full=full)


def histories(text: str) -> dict[str, str]:
    return {a.name: render_ledger.history(a, LOOK) for a in kept(text).accounts}


# ---------------------------------------------------------------- entries

X = "x = tensor(2.0, requires_grad=True)\n"
V = "v = tensor([1.0, 2.0], requires_grad=True)\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (X + "(x * 3).backward()\n", "line 2"),
        (X + "y = x * x\ny.backward(retain_graph=True)\ny.backward()\n", "line 3 + line 4"),
        (X + "(x * 3).backward()\nx.grad = None\n(x * 2).backward()\n",
         "line 2, None on line 3, line 4"),
        (X + "(x * 3).backward()\nx.grad.zero_()\n(x * 2).backward()\n",
         "line 2, zeros on line 3, line 4"),
        (X + "(x * 3).backward()\nx.grad.data.zero_()\n", "line 2, zeros on line 3"),
        (X + "(x * 3).backward()\nx.grad.detach().zero_()\n", "line 2, zeros on line 3"),
        (X + "(x * 3).backward()\nx.grad *= 0\n", "line 2, zeros on line 3"),
        (X + "(x * 3).backward()\nx.grad *= 2\n(x * 3).backward()\n",
         "line 2, changed on line 3 + line 4"),
        (X + "(x * 3).backward()\nx.grad = tensor(7.0)\n(x * 3).backward()\n",
         "line 2, set on line 3 + line 4"),
        (X + "(x * 3).backward()\nx.grad = torch.zeros_like(x)\n", "line 2, set on line 3"),
        (X + "(x * 3).backward()\ndel x.grad\n", "line 2, None on line 3"),
        (X + "x.grad = None\n(x * 3).backward()\n", "line 3"),
        (V + "v.sum().backward()\nv.grad[:] = 0\n", "line 2, zeros on line 3"),
        (V + "v.sum().backward()\nv.grad[0] = 0\n", "line 2, changed on line 3"),
        (V + "v.sum().backward()\nv.grad[0] = 0\nv.grad[1] = 0\n",
         "line 2, changed on line 3, zeros on line 4"),
        (V + "v.sum().backward()\nnn.utils.clip_grad_norm_([v], 0.1)\n",
         "line 2, changed on line 3"),
        (V + "o = optim.SGD([v], lr=0.1)\nfor i in range(4):\n    o.zero_grad()\n"
         "    v.sum().backward()\n    o.step()\n", "(line 5, None on line 4) × 3, line 5"),
        (V + "o = optim.SGD([v], lr=0.1)\nfor i in range(3):\n"
         "    o.zero_grad(set_to_none=False)\n    v.sum().backward()\n    o.step()\n",
         "line 5, zeros on line 4, line 5, zeros on line 4, line 5"),
        (V + "for i in range(3):\n    v.sum().backward()\n", "line 3 × 3"),
        (V + "def go():\n    v.sum().backward()\ngo()\ngo()\n", "line 3 + line 3"),
        (V + "v.register_post_accumulate_grad_hook(lambda t: (t.grad.zero_(), None)[1])\n"
         "v.sum().backward()\n", "line 3, zeros on line 2"),
        (V + "torch.autograd.backward([v.sum(), (v * 2).sum()])\n", "line 2"),
        (V + "v.sum().backward(create_graph=True)\n(v * v).sum().backward()\n", "line 2 + line 3"),
    ],
)  # fmt: skip
def test_histories(text: str, told: str) -> None:
    ((_, history),) = histories(text).items()
    assert history == told


def test_autograd_grad_stores_nothing() -> None:
    fact = kept(X + "g, = torch.autograd.grad(x * x, [x])\n")
    assert fact.accounts == () and fact.passes[0].captured


def test_retained_gradients_have_an_account_too() -> None:
    text = (
        X + "y = x * 2\ny.retain_grad()\nz = y * y\nz.backward(retain_graph=True)\nz.backward()\n"
    )
    told = {a.name: (a.is_leaf, [e.after for e in a.entries]) for a in kept(text).accounts}
    assert told == {
        "y": (False, ["tensor(8.)", "tensor(16.)"]), "x": (True, ["tensor(16.)", "tensor(32.)"]),
    }  # fmt: skip


def test_names_of_modules_and_of_leaves_that_were_rebound() -> None:
    text = """\
net = nn.Linear(2, 1)
net(ones(1, 2)).sum().backward()
for i in range(2):
    w = tensor(float(i), requires_grad=True)
    (w * w).backward()
"""
    assert [a.name for a in kept(text).accounts] == ["w", "w", "net.bias", "net.weight"]


@pytest.mark.parametrize("seed", range(30))
def test_entries_add_up_to_the_gradient(seed: int) -> None:
    """The entries since the last reset are what .grad holds at the end."""
    draw = random.Random(seed)
    lines = ["x = tensor([1.0, 2.0], requires_grad=True)", "y = tensor(3.0, requires_grad=True)"]
    for _ in range(draw.randint(4, 14)):
        name = draw.choice("xy")
        lines.append(
            draw.choice((
                f"({name} * {draw.randint(1, 5)}.0).sum().backward()",
                "(x * y).sum().backward()",
                f"{name}.grad = None",
                f"if {name}.grad is not None: {name}.grad.zero_()",
                f"{name}.grad = torch.ones_like({name})",
                f"with torch.no_grad(): {name} -= 0.1",
            ))
        )  # fmt: skip
    done = ran("\n".join(lines) + "\n")
    assert done.outcome is not None
    facts = ledger(done, collected(done.outcome, texts=False), full=True)
    for account in facts.accounts:
        held = done.outcome.bindings[account.name].grad
        total: Any = 0.0
        for entry in account.entries:
            if entry.kind in ("cleared", "zeroed"):
                total = 0.0
            elif entry.kind == "assigned":
                total = amounts(entry.amount_value)
            else:
                total = plus(total, amounts(entry.amount_value))
        there = [0.0] if held is None else held.reshape(-1).tolist()
        assert there == pytest.approx(total if isinstance(total, list) else [total] * len(there))


def amounts(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, list)) else value


def plus(one: Any, other: Any) -> Any:
    if isinstance(other, list):
        return [a + b for a, b in zip(one or [0.0] * len(other), other, strict=True)]
    return one + other


def test_many_entries_keep_their_ends() -> None:
    (account,) = kept(X + "for i in range(500):\n    (x * i).backward()\n").accounts
    assert (account.total, len(account.entries), account.left_out) == (500, 100, 400)
    assert render_ledger.history(account, LOOK) == "line 3 × 500"
    cut = account._replace(marks=())
    assert render_ledger.history(cut, LOOK) == "line 3 × 50, 400 more, line 3 × 50"
    assert account.entries[-1].amount == "tensor(499.)"


def test_a_list_that_does_not_fit_becomes_its_range_and_what_is_missing_has_a_word() -> None:
    fact = kept("x = torch.linspace(-2, 3, 8).requires_grad_()\n(x * x).sum().backward()\n"
                "y = torch.ones(300, requires_grad=True)\ny.sum().backward()\n")  # fmt: skip
    rows = paint(render_ledger.table(fact, Look(unicode=True, width=60), Folds(False)), LOOK)
    assert [line.split() for line in rows.splitlines()[1:]] == [
        ["x.grad", "2", "added", "-4…6", "-4…6"],
        ["y.grad", "4", "added", "not", "kept", "not", "kept"],
    ]


def test_large_gradients_are_entered_without_values() -> None:
    (account,) = kept("x = ones(1000, requires_grad=True)\nx.sum().backward()\n").accounts
    assert account.entries[0].amount is None and account.entries[0].kind == "added"


# ---------------------------------------------------------------- stale gradients

LOSS = "    loss = (v * v).sum()\n    loss.backward()\n"
TWICE = V + "for i in range(3):\n" + LOSS


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        (V + "o = optim.SGD([v], lr=0.1)\nfor i in range(3):\n" + LOSS + "    o.step()\n",
         [("v", 5, 6, 5, 2)]),
        (V + "o = optim.Adam([v], lr=0.1)\nfor i in range(2):\n" + LOSS + "    o.step()\n",
         [("v", 5, 6, 5, 1)]),
        (TWICE + "    v.data -= 0.1 * v.grad\n", [("v", 4, 5, 4, 2)]),
        (TWICE + "    v.data = v.data - 0.1 * v.grad\n", [("v", 4, 5, 4, 2)]),
        (TWICE + "    with torch.no_grad():\n        v -= 0.1 * v.grad\n", [("v", 4, 6, 4, 2)]),
        (TWICE + "    with torch.no_grad():\n        v[0] -= 0.1\n", [("v", 4, 6, 4, 2)]),
        (TWICE + "    v.detach().mul_(0.5)\n", [("v", 4, 5, 4, 2)]),
        (X + "for i in range(2):\n    (x * x).backward()\n    x.data -= 0.1 * x.grad\n",
         [("x", 3, 4, 3, 1)]),
        (X + "(x * x).backward()\nx.data.mul_(2)\n(x * x * x).backward()\n", [("x", 2, 3, 4, 1)]),
        # halving it is no reset
        (TWICE + "    v.data -= 0.1 * v.grad\n    v.grad *= 0.5\n", [("v", 4, 5, 4, 2)]),
        # nothing was updated: accumulation over batches
        (TWICE, []),
        # updated and reset, in each of the ways there are
        (TWICE + "    v.data -= 0.1 * v.grad\n    v.grad.zero_()\n", []),
        (TWICE + "    v.data -= 0.1 * v.grad\n    v.grad = None\n", []),
        (TWICE + "    v.data -= 0.1 * v.grad\n    v.grad.data.zero_()\n", []),
        (TWICE + "    v.data -= 0.1 * v.grad\n    v.grad = torch.zeros_like(v)\n", []),
        (TWICE + "    v.data -= 0.1 * v.grad\n    v.grad[:] = 0\n", []),
        (V + "o = optim.SGD([v], lr=0.1)\nfor i in range(3):\n    o.zero_grad()\n" + LOSS
         + "    o.step()\n", []),
        (V + "o = optim.SGD([v], lr=0.1)\nfor i in range(3):\n"
         "    o.zero_grad(set_to_none=False)\n" + LOSS + "    o.step()\n", []),
        # two batches for one step
        (V + "o = optim.SGD([v], lr=0.1)\nfor i in range(3):\n    o.zero_grad()\n" + LOSS + LOSS
         + "    o.step()\n", []),
        # a new leaf of the same name begins anew
        (V + "for i in range(3):\n" + LOSS
         + "    v = (v - 0.1 * v.grad).detach().requires_grad_()\n", []),
        # something else was changed
        (V + "k = ones(2)\nfor i in range(3):\n" + LOSS + "    k += 1\n", []),
        # the update comes last, or first
        (TWICE + "v.data -= 1\n", []),
        (V + "v.data -= 1\n" + LOSS.replace("    ", ""), []),
        # autograd.grad leaves .grad alone
        (V + "for i in range(3):\n    g, = torch.autograd.grad((v * v).sum(), [v])\n"
         "    v.data -= 0.1 * g\n", []),
    ],
)  # fmt: skip
def test_stale_gradients(text: str, stale: list[tuple[Any, ...]]) -> None:
    assert [tuple(fact) for fact in stale_gradients(ran(text))] == stale


def test_stale_gradients_of_a_module_are_reported_together() -> None:
    text = """\
net = nn.Linear(2, 1)
o = optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    net(ones(1, 2)).sum().backward()
    o.step()
"""
    facts = stale_gradients(ran(text))
    assert {fact.name for fact in facts} == {"net.weight", "net.bias"}
    told = str(paint(render_ledger.stale(facts, LOOK), LOOK))
    assert told.count("stale gradient: ") == 1 and "2 times line 4 added" in told


# ---------------------------------------------------------------- buffers


def test_what_a_call_freed_and_what_it_keeps() -> None:
    (gone,) = kept(TWO_PATHS).passes
    assert (gone.line, gone.nodes, gone.freed, gone.bytes, gone.retained) == (7, 6, 4, 28, False)
    assert [(b.line, b.nodes, b.bytes) for b in gone.buffers] == [(3, 1, 4), (4, 1, 8), (5, 2, 16)]
    again = kept(TWO_PATHS, retain_graph=True)
    assert again.passes[0].retained and again.passes[0].freed == 0 and again.passes[0].bytes == 28


def test_bytes_that_nothing_else_holds() -> None:
    text = """\
x = ones(100, requires_grad=True)
y = (x.exp() * x).tanh()
z = y.sum()
z.backward(retain_graph=True)
"""
    # exp's result is saved twice and held by no name; tanh's is held by y, x by x.
    assert [(b.line, b.bytes) for b in kept(text).alive] == [(2, 400)]
    assert kept(text.replace("retain_graph=True", "")).alive == ()


HALVES = """\
x = torch.ones(4, 4, dtype=torch.float16, requires_grad=True)
w = torch.ones(4, 4, dtype=torch.bfloat16, requires_grad=True)
y = (x * x).sum() + (w @ w.exp()).sum().half()
z = x.double().pow(3).sum()
(y + z).backward()
"""


def test_numbers_of_reduced_precision_have_two_bytes() -> None:
    """x, w and w.exp() have 32 each, x.double() has 128."""
    (gone,) = kept(HALVES).passes
    assert [(b.line, b.bytes) for b in gone.buffers] == [(3, 96), (4, 128)]
    assert [(b.line, b.bytes) for b in kept(HALVES, retain_graph=True).alive] == [(3, 32), (4, 128)]
    assert answer("step", stdin=HALVES).endswith("13 steps; 224 bytes of saved tensors released\n")
    page = answer("trace", "--saved", "--retain-graph", stdin=HALVES)
    assert "\n224 bytes are kept for backward: memory that several share counts once\n" in page


def test_a_part_keeps_the_whole_and_what_hooks_packed_is_not_counted() -> None:
    part = "w = ones(2, requires_grad=True)\ny = w * torch.arange(100.)[:2]\n"
    told = "400 bytes are kept for backward: a part of a larger tensor keeps all of its memory\n"
    assert told in answer("trace", "--saved", stdin=part)
    packed = """\
w = ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
    y = (w * w).sum()
u = w.exp().sum()
"""
    page = answer("trace", "--saved", stdin=packed)
    assert page.count("  packed by a hook\n") == 2
    assert "\n8 bytes are kept for backward, and what hooks packed\n" in page


def test_what_was_not_given_was_not_freed() -> None:
    loss = "x = torch.randn(2, 3, requires_grad=True)\nF.cross_entropy(x, torch.tensor([0, 1])"
    page = answer("trace", "--saved", stdin=f"{loss}).backward()\n")
    assert "total_weight  freed by line 2" in page and " weight " not in page
    page = answer("trace", "--saved", stdin=f"{loss}, weight=torch.ones(3)).backward()\n")
    assert " weight        freed by line 2" in page


FREEING = """\
a = ones(2, requires_grad=True)
y = (a * a).sum()
z = (a.exp() * a).sum()
y.backward()
z.backward()
g, = torch.autograd.grad(a.sin().sum(), a, create_graph=True)
"""


def test_the_calls_that_freed_are_named_and_no_others() -> None:
    told = "\nbackward on lines 4 and 5 freed 3 of "
    assert told in answer("trace", stdin=FREEING)
    assert "backward on line 4 freed 1 of" in answer("trace", stdin=FREEING.replace("z.b", "#"))
    failing = FREEING.replace("z.backward()", "(z.sin() + y).backward()")
    page = gradcli("trace", stdin=failing).stdout
    assert "backward on lines 4 and 5 freed" in page  # as far as that pass came


# ---------------------------------------------------------------- the command


@pytest.fixture
def trace_schema() -> jsonschema.Validator:
    return jsonschema.Draft202012Validator(
        json.loads((SCHEMAS / "gradcli.trace-1.json").read_text("utf-8"))
    )


STALE = V + "for i in range(2):\n" + LOSS + "    v.data -= 0.1 * v.grad\n"


def test_trace_reports_more_than_one_entry(home: Path) -> None:  # noqa: F811
    assert "gradients, by the lines" not in answer("trace", "two_paths.expr")
    text = TWO_PATHS.replace("backward()", "backward(retain_graph=True)") + "L.backward()\n"
    shown = answer("trace", "-", stdin=text)
    assert "  a.grad, w1.grad, w2.grad, w3.grad and 1 more = line 7 + line 8\n" in shown
    table = answer("trace", "--ledger", "-", stdin=text)
    assert "a.grad       7  added  -53.    -53.\n             8  added  -53.    -106.\n" in table
    assert "line 7: backward kept 28 bytes of 4 nodes" in table


def test_stale_gradients_go_to_standard_error(
    home: Path, trace_schema: jsonschema.Validator  # noqa: F811
) -> None:  # fmt: skip
    (home / "stale.expr").write_text(STALE)
    done = gradcli("trace", "stale.expr")
    assert done.returncode == 0 and done.stderr == (
        "stale gradient: v.grad\n"
        "  line 4 added to what line 4 had left there; line 5 changed v in between\n"
        "help: v.grad = None, or zero_grad() of the optimizer, before line 4\n"
    )
    assert gradcli("trace", "--quiet", "stale.expr").stderr == ""
    doc = json.loads(answer("trace", "stale.expr", "--format", "json"))
    trace_schema.validate(doc)
    (fact,) = doc["ledger"]["stale"]
    assert fact == {"name": "v", "first": 4, "update": 5, "again": 4, "times": 1}
    (account,) = doc["ledger"]["grads"]
    assert account["entries"][1]["amount"] == pytest.approx([1.6, 3.2])


HOOKS = """\
net = nn.Linear(1, 1)
net.register_full_backward_hook(lambda m, gi, go: None)
net.register_full_backward_pre_hook(lambda m, go: None)
x = tensor([[3.0]], requires_grad=True)
y = net(x) * 2
y.register_hook(lambda g: g * 2)
y.grad_fn.register_prehook(lambda g: None)
y.grad_fn.register_hook(lambda gi, go: None)
x.register_post_accumulate_grad_hook(lambda t: (t.grad.mul_(10), None)[1])
torch.autograd.graph.register_multi_grad_hook([x], lambda gs: None)
y.sum().backward()
"""


def test_the_log_of_hooks(home: Path, trace_schema: jsonschema.Validator) -> None:  # noqa: F811
    doc = json.loads(answer("trace", "-", "--format", "json", stdin=HOOKS))
    trace_schema.validate(doc)
    log = [(row["name"], row["kind"], row["line"], row["backward"]) for row in doc["hooks"]]
    assert log == [
        ("y", "tensor", 6, 11), ("y", "node pre", 7, 11), ("y", "node", 8, 11),
        ("net", "module pre", 3, 11), ("net", "module", 2, 11), ("x", "tensor", 10, 11),
        ("x", "post accumulate", 9, 11),
    ]  # fmt: skip
    first, last = doc["hooks"][0], doc["hooks"][-1]
    assert (first["before"], first["after"]) == ("tensor([[1.]])", "tensor([[2.]])")
    assert first["hook"] == "lambda g: g * 2"
    before, after = (float(last[key].strip("tensor()[]")) for key in ("before", "after"))
    assert after == pytest.approx(10 * before, rel=1e-3)


def test_complex_gradients_are_pairs(home: Path, trace_schema: jsonschema.Validator) -> None:  # noqa: F811
    text = "z = tensor([1 + 2j, complex('nan')], requires_grad=True)\nz.imag.sum().backward()\n"
    doc = json.loads(answer("trace", "-", "--format", "json", stdin=text))
    trace_schema.validate(doc)
    (account,) = doc["ledger"]["grads"]
    assert account["entries"][0]["amount"] == doc["tensors"][0]["grad"] == [[0.0, 1.0]] * 2


def test_hooks_of_an_option_have_no_line(home: Path) -> None:  # noqa: F811
    shown = answer("trace", "two_paths.expr", "--hook", "b=norm")
    assert "  1  b  norm  tensor(-9.) → unchanged\n" in shown


def test_a_program_that_is_only_run_loads_none_of_this(home: Path) -> None:  # noqa: F811
    import subprocess
    import sys

    code = (
        "import sys, gradcli.door\n"
        "sys.argv = ['gradcli', 'run', 'two_paths.expr']\n"
        "try: gradcli.door.main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(n for n in sys.modules if n.startswith('gradcli.recording')))\n"
    )
    environment = {"PYTHONPATH": str(SCHEMAS.parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"
