"""Tests of `gradcli step`: order and numbers are PyTorch's, and what is told of them is true."""

from __future__ import annotations

import math
import re
import time
from pathlib import Path
from typing import Any

import program_generator
import pytest
from oracle import oracle, question
from test_cli import SCHEMAS, TWO_PATHS, answer, gradcli, home, refused  # noqa: F401

from gradcli.pipeline.request import Request
from gradcli.pipeline.run import execute
from gradcli.questions.step.report import Options, recorded, steps_report
from gradcli.recording.facts.steps import StepFact, StepsReport, WalkFact
from gradcli.render import steps as render_steps
from gradcli.render.text import Look

SEEDS = range(60)


def told(text: str, *, texts: bool = False, **wanted: Any) -> StepsReport:
    """The report on a program."""
    options = Options(**wanted)
    keep = options.retain_graph or bool(options.of)
    request = Request(text.encode(), "program.expr", retain_graph=keep,
                      create_graph=options.create_graph)  # fmt: skip
    return steps_report(recorded(request, None, options), options, texts=texts)[1]


def walked(text: str, **wanted: Any) -> WalkFact:
    """The only pass of a program."""
    report = told(text, **wanted)
    assert report.error is None, report.error
    (walk,) = report.walks
    return walk


def page(text: str, **wanted: Any) -> str:
    return str(render_steps.text(told(text, texts=True, **wanted), Look(), streamed=True))


# ---------------------------------------------------------------- compared with PyTorch


def without_backward(text: str) -> str:
    """A random program up to its loss."""
    return text[: text.index("\n", text.index("\nloss = ") + 1) + 1]


def numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [numbers(item) for item in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


@question
def passed(torch: Any, text: str) -> Any:
    """What PyTorch's nodes are given and what they hand on, in the order in which they run."""
    names: dict[str, Any] = {"torch": torch}
    try:
        exec(compile(text, "<program>", "exec"), names)
    except RuntimeError:
        return None
    seen: dict[int, Any] = {}
    stack = [names["loss"].grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in seen:
            seen[id(node)] = node
            stack.extend(child for child, _ in node.next_functions)
    rows: list[Any] = []

    def listed(values: Any) -> Any:
        return [None if v is None else numbers(v.detach().tolist()) for v in values]

    for node in seen.values():
        name = node.name().rpartition("::")[2]

        def before(grads: Any, name: str = name) -> None:
            rows.append([name, listed(grads), []])

        def after(results: Any, grads: Any) -> None:
            rows[-1][2] = listed(results)

        node.register_prehook(before)
        if name != "AccumulateGrad":
            node.register_hook(after)
    try:
        names["loss"].backward()
    except RuntimeError:
        return [*rows, None]
    return rows


def close(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        alike = math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-5)
        return alike or (one != one and other != other)
    return bool(one == other)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_gradients_and_products_are_pytorchs(seed: int) -> None:
    text = without_backward(program_generator.program(seed))
    expected = oracle.ask("passed", text)
    report = told(text + "loss.backward()\n")
    if expected is None or expected == [None]:  # it fails before a node has run
        assert report.error is not None and not report.walks
        return
    (walk,) = report.walks
    assert walk.failed is (expected[-1] is None)
    if walk.failed:
        expected = expected[:-1]
    assert [step.node_name for step in walk.steps] == [row[0] for row in expected]
    for step, (name, grads, results) in zip(walk.steps, expected, strict=True):
        given = [None if g is None else numbers(g.value) for g in step.grads]
        # A node of several outputs is given None for those that nothing came to.
        assert close(given, grads[: len(given)]), (seed, step.number, name)
        products = [e.product for e in step.edges if e.then != "constant"]
        there = [numbers(p.value) for p in products if p is not None]
        assert close(there, [r for r in results if r is not None]), (seed, step.number, name)


@pytest.mark.parametrize(
    "expression",
    ["w * x * x", "(w * x).sin()", "x ** 3 / w", "torch.tanh(x) * w.exp()", "(w - x).log()",
     "(x @ w.t()).softmax(1)", "torch.where(x > 0, x * w, x)", "x.mean() * w.prod()"],
)  # fmt: skip
def test_graphs_of_gradients_run_in_pytorchs_order(expression: str) -> None:
    text = (
        "torch.manual_seed(0)\n"
        "x = torch.rand(2, 3, requires_grad=True)\n"
        "w = (torch.rand(2, 3) + 1).requires_grad_()\n"
        f"g, = torch.autograd.grad(({expression}).sum(), x, create_graph=True)\n"
        "loss = (g * g).sum()\n"
    )
    expected = oracle.ask("passed", text)
    walk = told(text + "loss.backward()\n").walks[1]
    assert [step.node_name for step in walk.steps] == [row[0] for row in expected]
    for step, (_, grads, _) in zip(walk.steps, expected, strict=True):
        assert close([None if g is None else numbers(g.value) for g in step.grads], grads)
    assert any(step.is_derived for step in walk.steps)


@pytest.mark.parametrize(
    "expression",
    ["torch.nn.RNNCell(3, 2)(x)", "torch.nn.LSTMCell(3, 2)(x)[0]", "torch.nn.GRUCell(3, 2)(x)",
     "torch.nn.LSTM(3, 2, 2, bidirectional=True)(x)[0]", "torch.nn.GRU(3, 2)(x)[0]",
     "F.cosine_embedding_loss(x, w, torch.tensor([1, -1]))", "F.lp_pool1d(x, 3, 2)",
     "torch.tensordot(x, w.t(), 1)", "torch.tensordot(x, w, ([0, 1], [0, 1]))",
     "F.local_response_norm(x[None, None], 2)", "F.triplet_margin_loss(x, w, x * w)",
     "F.scaled_dot_product_attention(x, w, x * w)", "torch.einsum('ij,kj,kl->il', x, w, x)",
     "torch.distributions.Normal(x, w).log_prob(torch.ones(3))",
     "torch.distributions.Dirichlet(w).entropy()",
     "torch.distributions.MultivariateNormal(x, torch.eye(3) * w[0]).log_prob(torch.ones(3))",
     "torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))(x)",
     "torch.nn.TransformerEncoderLayer(3, 1, 4, 0.0)(x)",
     "torch.nn.MultiheadAttention(3, 1)(x, w, x * w)[1]",
     "sum(t.sum() for t in torch.nn.RNN(3, 2, batch_first=True)(x))",
     "sum(t.sum() for t in torch.nn.GRU(3, 2, 2, batch_first=True)(x[None]))"],
)  # fmt: skip
def test_parts_of_a_composite_run_in_pytorchs_order(expression: str) -> None:
    text = (
        "F = torch.nn.functional\n"
        "torch.manual_seed(0)\n"
        "x = torch.rand(2, 3, requires_grad=True)\n"
        "w = (torch.rand(2, 3) + 1).requires_grad_()\n"
        f"loss = ({expression}).sum()\n"
    )
    expected = oracle.ask("passed", text)
    (walk,) = told(text + "loss.backward()\n").walks
    assert [step.node_name for step in walk.steps] == [row[0] for row in expected]
    for step, (_, grads, _) in zip(walk.steps, expected, strict=True):
        given = [None if g is None else numbers(g.value) for g in step.grads]
        several = min(len(given), len(grads))  # outputs that nothing came to may be left out
        assert close(given[:several], grads[:several]), step.number


@pytest.mark.parametrize("seed", SEEDS)
def test_the_told_derivatives_multiply_to_the_products(seed: int) -> None:
    """Where a local derivative is told, incoming · local is the product (summed back)."""
    report = told(without_backward(program_generator.program(seed)) + "loss.backward()\n")
    for step in (step for walk in report.walks for step in walk.steps):
        for edge in step.edges:
            local, product = edge.local, edge.product
            if local is None or product is None or local.value is None:
                continue
            (given,) = [g for g in step.grads if g is not None]
            where = (seed, step.number, edge.name)
            flat, factors = flattened(given.value), flattened(local.value.value)
            if local.kind == "elementwise":
                parts = [a * b for a, b in zip(flat, factors, strict=True)]
                if local.words:
                    total = sum(flattened(product.value))
                    if total != total:
                        continue
                    assert math.isclose(sum(parts), total, rel_tol=1e-3, abs_tol=1e-4), where
                    continue
            else:
                parts = [flat[0] * factor for factor in factors]
            assert close(parts, flattened(product.value)), where


def flattened(value: Any) -> list[float]:
    if isinstance(value, tuple):
        return [number for item in value for number in flattened(item)]
    return [float(value)]


# ---------------------------------------------------------------- what is told


def steps(text: str, **wanted: Any) -> dict[str, StepFact]:
    return {step.name: step for step in walked(text, **wanted).steps}


def test_the_four_steps_of_the_chain_rule() -> None:
    walk = walked(TWO_PATHS)
    assert [step.name for step in walk.steps] == [
        "L", "d", "w4 * c", "w4", "w3 * b", "w3", "c", "w2", "b", "w1", "a",
    ]  # fmt: skip
    c, a = walk.steps[6], walk.steps[10]
    assert c.grads[0] is not None and c.grads[0].value == -7.0
    first, second = c.edges
    assert (first.name, first.then, first.step) == ("w2", "stored", 8)
    assert (second.name, second.then, second.step) == ("a", "waits", 11)
    assert second.local is not None and second.local.value is not None
    assert (second.local.kind, second.local.value.value) == ("number", 5.0)
    assert second.product is not None and second.product.value == -35.0
    assert [(part.step, part.value.value) for part in a.parts[0]] == [(7, -35.0), (9, -18.0)]
    assert a.outcome == "stored" and a.before is None
    assert a.after is not None and a.after.value == -53.0
    assert (walk.freed, walk.bytes, walk.line, walk.text) == (4, 28, 7, "L.backward()")


def test_the_other_factor_is_named() -> None:
    texts = {
        (step.name, edge.name): edge.local.text
        for step in walked(TWO_PATHS).steps
        for edge in step.edges
        if edge.local is not None
    }
    assert texts["w4 * c", "c"] == "w4" and texts["w4 * c", "w4"] == "c"
    assert texts["L", "d"] == texts["d", "w4 * c"] == ""
    second = told(
        X_SQUARED + "g, = torch.autograd.grad(y, x, create_graph=True)\n(g * 2).backward()\n"
    ).walks[1]
    derived = [step for step in second.steps if step.is_derived]
    assert {edge.local.text for step in derived for edge in step.edges if edge.local} == {""}
    assert "in the gradient of x * x" in page(
        X_SQUARED + "g, = torch.autograd.grad(y, x, create_graph=True)\n(g * 2).backward()\n"
    )


X_SQUARED = "x = tensor(3.0, requires_grad=True)\ny = x * x\n"


@pytest.mark.parametrize(("lines", "names", "words"), [
    ("a, b = x.chunk(2)", ["a", "b"], "a, b = x.chunk(2)"),
    ("def f():\n    a, b = x.chunk(2)\n    return a * b\na, b = f(), 1", ["a", "b"],
     "a, b = x.chunk(2)"),
    ("for _ in range(2):\n    a, b = x.chunk(2)", ["a#2", "b#2"], "a#2, b#2 = x.chunk(2)"),
    ("parts = x.chunk(2)\na, b = parts[1], parts[0]", ["parts[1]", "parts[0]"], "b: x.chunk(2)"),
    ("b, *a = x.chunk(2)\na = a[0]", ["x.chunk(2)[1]", "x.chunk(2)[0]"], "a: x.chunk(2)"),
    ("a, _ = x.topk(2)\nb = 1", ["a"], "a, _ = x.topk(2)"),
])  # fmt: skip
def test_each_result_of_a_node_goes_by_its_own_name(
    lines: str, names: list[str], words: str
) -> None:
    text = f"x = torch.arange(4., requires_grad=True)\n{lines}\n(a * b).sum().backward()\n"
    told_names = [[edge.name for edge in step.edges] for step in walked(text).steps]
    assert names in told_names
    shown = page(text)
    assert f"  {words}  " in shown
    assert all(f"incoming  {name} = " in shown for name in names)


@pytest.mark.parametrize("call", ["F.nll_loss(x, tensor([1, 0]))", "F.layer_norm(x, (3,)).sum()"])
def test_what_a_node_keeps_for_itself_is_no_result(call: str) -> None:
    text = f"x = torch.rand(2, 3, requires_grad=True)\nloss = {call}\nloss.backward()\n"
    assert "[0]" not in page(text) and "incoming  dloss/dloss = 1" in page(text)


def test_a_second_pass_adds() -> None:
    text = TWO_PATHS.replace("backward()", "backward(retain_graph=True)") + "L.backward()\n"
    report = told(text)
    assert report.passes == 2 and [walk.retained for walk in report.walks] == [True, False]
    a = report.walks[1].steps[-1]
    assert (a.before and a.before.value, a.after and a.after.value) == (-53.0, -106.0)
    assert [
        walk.number
        for walk in told(
            text,
        ).walks
    ] == [1, 2]
    assert "added     a.grad = -53 + -53 = -106" in page(text)


def test_a_program_without_backward_is_differentiated() -> None:
    text = TWO_PATHS.replace("L.backward()\n", "")
    assert walked(text).steps[0].name == "L"
    assert walked(text, of=("d",)).steps[0].name == "d"
    assert "d.backward(), after the program" in page(text, of=("d",))


def test_of_beside_the_programs_own_passes() -> None:
    report = told(TWO_PATHS, of=("c",))
    assert report.passes == 2
    (walk,) = report.walks
    assert walk.number == 2 and [step.name for step in walk.steps] == ["c", "w2", "a"]


def test_of_behind_more_passes_than_are_kept() -> None:
    text = """\
x = tensor(3.0, requires_grad=True)
for i in range(1200):
    y = x * i
    y.backward()
"""
    (walk,) = told(text, of=("y",)).walks
    assert walk.number == 1201 and [step.name for step in walk.steps] == ["y#1200", "x"]


def test_hooks_stand_where_they_fire() -> None:
    text = """\
x = tensor(3.0, requires_grad=True)
y = x * 2
def larger(g):
    g.mul_(10)
y.register_hook(lambda g: g + 1)
y.register_hook(larger)
z = y * y
z.grad_fn.register_prehook(lambda gs: (gs[0] * 3,))
z.grad_fn.register_hook(lambda gi, go: None)
x.register_post_accumulate_grad_hook(lambda t: None)
z.backward()
"""
    z, y, x = walked(text).steps
    kinds = [[(h.kind, h.before, h.after, h.line) for h in step.hooks] for step in (z, y, x)]
    assert kinds == [
        [("node pre", "(tensor(1.),)", "(tensor(3.),)", 8),
         ("node", "(tensor(18.), tensor(18.))", None, 9)],
        [("tensor", "tensor(36.)", "tensor(37.)", 5), ("tensor", "tensor(37.)", "tensor(370.)", 6)],
        [("post accumulate", "tensor(740.)", None, 10)],
    ]  # fmt: skip
    assert [part.value.value for part in y.parts[0]] == [18.0, 18.0]
    assert y.grads[0] is not None and y.grads[0].value == 36.0  # what came, before the hooks
    assert y.used is not None and y.used[0] is not None and y.used[0].value == 370.0
    assert x.after is not None and x.after.value == 740.0


def test_autograd_grad_answers_and_leaves_out() -> None:
    text = """\
w = tensor([1.0, 2.0], requires_grad=True)
b = tensor(2.0, requires_grad=True)
s = (w * w).sum()
L = s * b
g, = torch.autograd.grad(L, [s])
"""
    L, s = walked(text).steps
    assert [(edge.name, edge.then, edge.step) for edge in L.edges] == [
        ("s", "handed on", 2), ("b", "kept back", None),
    ]  # fmt: skip
    assert (s.outcome, s.edges[0].then) == ("captured", "nothing")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_rows_of_numbers_and_sentences_are_not_cut(width: int) -> None:
    """Numbers that do not fit become their range, words go on in another line."""
    report = told(
        "w = torch.linspace(-1, 1, 64).view(4, 16).requires_grad_()\n"
        "a = torch.tensor(2., requires_grad=True)\nv = torch.tensor([3., 4.])\n"
        "((w @ w.T).pow(2).sum() + (a * v).sum()).backward()\n", texts=True,
    )  # fmt: skip
    look = Look(unicode=True, width=width)
    shown = str(render_steps.text(report, look, streamed=True))
    assert max(map(len, shown.splitlines())) <= width
    below = [line.strip() for line in shown.splitlines() if line.startswith("       ")]
    assert not [line for line in below if line.endswith("…")]
    assert "[4, 16] from" in shown
    assert "product 7, summed back to a single number" in " ".join(shown.split())


@pytest.mark.parametrize("width", [40, 60, 80])
def test_names_of_leaves_are_whole_on_a_narrow_terminal(width: int) -> None:
    text = """\
net = nn.Module()
net.a_block_with_a_name = nn.Linear(2, 3)
net.a_block_with_a_name.another_parameter_of_it = nn.Parameter(torch.ones(3))
block = net.a_block_with_a_name
loss = (block(torch.ones(1, 2)) * block.another_parameter_of_it).sum()
loss.backward()
"""
    look = Look(width=width)
    shown = str(render_steps.text(told(text, texts=True), look, streamed=True)).splitlines()
    joined = "".join(line.strip() for line in shown)
    for name in ("weight", "bias", "another_parameter_of_it"):
        assert f"net.a_block_with_a_name.{name}" in joined
    assert not any("net.a_block" in word and word.endswith("…") for word in joined.split())
    assert max(map(len, shown)) <= width


def test_a_parameter_is_not_called_by_a_loops_name() -> None:
    text = """\
net = nn.Linear(1, 1)
net(torch.ones(1, 1)).sum().backward()
for p in net.parameters():
    p.grad = None
"""
    leaves = [step for step in walked(text).steps if step.is_leaf]
    assert {(leaf.name, leaf.line) for leaf in leaves} == {("net.weight", 1), ("net.bias", 1)}


def test_constants_and_broadcasts_are_named() -> None:
    text = """\
w = tensor([1.0, 2.0, 3.0], requires_grad=True)
X = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = (X * w).sum()
y.backward()
"""
    product = steps(text)["X * w"]
    constant, w = product.edges
    assert (constant.name, constant.then) == ("X", "constant")
    assert w.local is not None and w.local.words == "summed back to [3]"
    assert w.local.value is not None and w.local.value.shape == (2, 3)
    assert w.product is not None and w.product.value == (5.0, 7.0, 9.0)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("(W @ x).sum()", "matrix product with the other factor, transposed"),
        ("x[1:].sum()", "the gradient put where it was read, zeros elsewhere"),
        ("x.reshape(3, 1).sum()", "the same numbers, arranged as the input"),
        ("x.softmax(0).sum()", "the gradient less its part along the softmax"),
        ("torch.cat([x, x]).sum()", "the part that belongs to it"),
    ],
)
def test_structures_are_reported_in_words(expression: str, words: str) -> None:
    text = f"x = tensor([1.0, 2.0, 3.0], requires_grad=True)\nW = ones(2, 3)\ny = {expression}\n"
    walk = walked(text)
    said = {edge.local.words for step in walk.steps for edge in step.edges if edge.local}
    assert words in said


def test_a_function_of_the_user_runs_once() -> None:
    text = """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print("backward", g)
        return g * 2
x = tensor(3.0, requires_grad=True)
y = Double.apply(x)
y.backward()
"""
    report = told(text)
    if report.error is None:  # the language may not have it
        assert report.output == "backward tensor(1.)\n"
        step = report.walks[0].steps[0]
        assert step.edges[0].local is not None
        assert step.edges[0].local.words == "what the program's own backward computes"


def test_a_pass_that_fails_is_reported_up_to_there() -> None:
    text = TWO_PATHS + "L.backward()\n"
    report = told(text)
    assert report.error is not None and report.error.type == "RuntimeError"
    failed = report.walks[1]
    assert failed.failed and failed.steps[-1].outcome == "failed"
    assert "stopped in step 3 by an error" in page(text)


def test_what_a_pass_that_fails_did_not_pass_on_is_shown_whole() -> None:
    text = """\
w = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = tensor([1.0, 1.0], requires_grad=True)
b.register_post_accumulate_grad_hook(lambda p: p.grad)
torch.addmm(b, torch.ones(2, 2), w * 2).sum().backward()
"""
    assert page(text).count("not passed on: the pass stopped") == 1
    assert "product  [[2., 2.],\n" in page(text)


def test_hidden_changes_do_not_reach_what_was_recorded() -> None:
    """A hook that works in place must not rewrite the steps before it."""
    text = """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x + 0.0
def wipe(g):
    g.zero_()
x.register_hook(wipe)
y.sum().backward()
"""
    walk = walked(text)
    assert walk.steps[1].edges[0].product is not None
    assert walk.steps[1].edges[0].product.value == (1.0, 1.0)
    leaf = walk.steps[-1]
    assert leaf.grads[0] is not None and leaf.grads[0].value == (1.0, 1.0)
    assert leaf.after is not None and leaf.after.value == (0.0, 0.0)


def test_watching_changes_nothing() -> None:
    """The derivatives are probed beside the pass; gradients and output stay the same bytes."""
    for seed in range(20):
        text = program_generator.program(seed)
        plain = execute(Request(text.encode(), "p.expr"), None)
        stepped = recorded(Request(text.encode(), "p.expr"), None, Options())
        assert plain.output == stepped.output


# ---------------------------------------------------------------- the page


def test_the_page() -> None:
    text = page(TWO_PATHS)
    assert text.startswith(
        "pass 1 of 1   L.backward()   line 7\n"
        "  begins with dL/dL = 1\n"
        "\n"
        "  1  L = 10 - d                           RsubBackward1                   line 6\n"
        "     incoming  dL/dL = 1\n"
        "     d         local -1   product 1 · -1 = -1   passed to step 2\n"
    )
    assert text.endswith(
        " 11  a  leaf                              AccumulateGrad                  line 1\n"
        "     incoming  dL/da = -35 + -18 = -53   from steps 7 and 9\n"
        "     stored    a.grad = tensor(-53.)\n"
        "\n"
        "  11 steps; 28 bytes of saved tensors released\n"
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_page_is_eighty_columns_wide(seed: int) -> None:
    text = without_backward(program_generator.program(seed)) + "loss.backward()\n"
    assert all(len(line) <= 80 for line in page(text).splitlines())


LOOP = """\
x = tensor(2.0, requires_grad=True)
y = x * 1.0
for i in range({count}):
    y = y * 0.5 + 1.0
y.backward()
"""


def test_repetitions_are_folded() -> None:
    text = page(LOOP.format(count=50))
    assert "⋮ 1  steps 3 to 98: the 2 steps above, 48 times more" in text
    assert "steps 3 to 98" in text and text.count("MulBackward0") == 3


def test_many_passes_of_one_kind_are_mentioned() -> None:
    text = """\
w = tensor(1.0, requires_grad=True)
for i in range(5):
    loss = w * w
    loss.backward()
"""
    shown = page(text)
    assert shown.count("AccumulateGrad") == 1
    told = "⋮ 1  passes 2 to 5: the same steps as pass 1, other numbers; --pass N shows one\n"
    assert shown.endswith("\n\n" + told)


def test_a_long_chain() -> None:
    started = time.process_time()
    report = told(LOOP.format(count=20_000), texts=True)
    shown = str(render_steps.text(report, Look(), streamed=True))
    assert len(report.walks[0].steps) == 40_002 and len(shown) < 3000
    assert time.process_time() - started < 30


def test_a_complex_gradient_goes_back_by_conjugates() -> None:
    text = page("z = torch.tensor([1 + 2j, -0.5j], requires_grad=True)\n"
                "L = (torch.exp(z) * 2).abs().sum()\nL.backward()\n")  # fmt: skip
    assert "each element times the conjugate of its own derivative" in text


def test_a_number_near_a_whole_one_does_not_read_as_it() -> None:
    text = page("a = tensor(2.0, requires_grad=True)\nL = a * 3 + a * 3e-7\nL.backward()\n")
    assert "dL/da = 3.0000e-07 + 3 = 3.0000   from" in text and "product 1 · 3 = 3 " in text


def test_a_mask_is_no_product_where_no_number_comes() -> None:
    """PyTorch passes 0 on where relu was below 0, and not infinity times 0, which is NaN."""
    text = """\
x = torch.tensor(-1.0, requires_grad=True)
v = torch.tensor([[-1.0, 2.0], [-3., 4.]], requires_grad=True)
y = torch.relu(x) * float('inf') + torch.round(x) * float('nan')
(y + (torch.relu(v) * float('inf')).sum()).backward()
"""
    page = answer("step", stdin=text)
    assert page.count("local 0   product 0: local 0 gives 0, whatever comes") == 2
    assert "= product, element by element, local 0 gives 0, whatever comes\n" in page
    assert (
        "[inf, inf]]     [0., 1.]]     [0., inf]]" in page and "· [[0., 1.],  → [[0., inf]," in page
    )
    assert not {" inf · 0 = 0 ", " nan · 0 = 0 "} & set(re.findall(r" \w+ · 0 = 0 ", page))
    picture = answer("trace", "--format", "dot", stdin=text)
    assert "inf · 0\\l" in picture and "inf · 0 = 0" not in picture


def test_what_the_program_gave_has_no_name_of_the_program() -> None:
    """v is its leaf here, and v1 another one; where v is what it gave, it stays v."""
    text = "v = torch.ones(2, requires_grad=True)\nu = v * 2\nu.backward(torch.tensor([1., 3.]))\n"
    for command in (["step"], ["grad"], ["paths", "--wrt", "v"]):
        page = answer(*command, stdin=text)
        assert "seed·du/dv" in page and "seed = " in page
    several = text.replace("u.backward(", "torch.autograd.backward([u, v], [u.detach(), ")[:-2]
    assert "v1·du/dv + v2·dv/dv" in answer("grad", stdin=several + "])\n")
    other = several.replace("v = ", "v1 = v = ")
    assert "seed1·du/dv1 + seed2·dv1/dv1" in answer("grad", stdin=other + "])\n")
    given = "v = torch.ones(2)\nx = torch.ones(2, requires_grad=True)\n(x * 2).backward(v)\n"
    assert "v·d(x * 2)/dx = " in answer("grad", stdin=given)


def test_a_change_of_a_part_is_called_by_the_whole(tmp_path: Path) -> None:
    """`s` is a view: what reaches the node behind it is the gradient of all of `y`."""
    file = tmp_path / "part.expr"
    file.write_text(
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny[0] = 5.\n"
        "s = y[1:].exp_()\nloss = y.sum()\nloss.backward()\n"
    )
    for engine in ("own", "torch") if oracle.has_torch else ("own",):
        page = gradcli("step", str(file), "--engine", engine).stdout
        assert "  2  y#2: y[1:].exp_() " in page and "dloss/dy#2 = [1., 1., 1.]" in page
        assert "  3  y[0] = 5. " in page and "dloss/ds" not in page
        tree = gradcli("trace", str(file), "--engine", engine).stdout
        assert "└─ y[0] = 5. " in tree and "\ns = y[1:].exp_() " in tree
    ways = gradcli("paths", str(file), "--wrt", "x", "--edges").stdout
    assert "loss → y#2 → y[0] = 5. → y#1 → x" in ways
    assert "incoming  [1.0000, 7.3891, 7.3891]" in page and "dloss/dy[0]" not in page + ways
