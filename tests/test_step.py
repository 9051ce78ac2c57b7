"""Tests of `gradcli step`: order and numbers are PyTorch's, and what is told of them is true."""

from __future__ import annotations

import fcntl
import json
import math
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import jsonschema
import program_generator
import pytest
from oracle import oracle, question
from test_cli import SCHEMAS, TWO_PATHS, answer, gradcli, home, refused  # noqa: F401

from gradcli.pipeline.request import Request
from gradcli.pipeline.run import execute
from gradcli.questions.step import Options, recorded, steps_report
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
def test_structures_are_told_in_words(expression: str, words: str) -> None:
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


def test_a_pass_that_fails_is_told_up_to_there() -> None:
    text = TWO_PATHS + "L.backward()\n"
    report = told(text)
    assert report.error is not None and report.error.type == "RuntimeError"
    failed = report.walks[1]
    assert failed.failed and failed.steps[-1].outcome == "failed"
    assert "stopped in step 3 by an error" in page(text)


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
        "     d         local -1   product 1 · -1 = -1   handed on to step 2\n"
    )
    assert text.endswith(
        " 11  a  leaf                              AccumulateGrad                  line 1\n"
        "     incoming  dL/da = -35 + -18 = -53   from steps 7 and 9\n"
        "     stored    a.grad = tensor(-53.)\n"
        "\n"
        "  11 steps; 4 nodes released their saved tensors, 28 bytes\n"
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


# ---------------------------------------------------------------- the command


@pytest.fixture
def validator() -> jsonschema.Validator:
    return jsonschema.Draft202012Validator(
        json.loads((SCHEMAS / "gradcli.step-1.json").read_text("utf-8"))
    )


def test_documents(home: Path, validator: jsonschema.Validator) -> None:  # noqa: F811
    doc = json.loads(answer("step", "two_paths.expr", "--format", "json"))
    validator.validate(doc)
    assert doc["schema"] == "gradcli.step/1" and doc["count"] == 1
    (walk,) = doc["passes"]
    assert [step["name"] for step in walk["steps"]][-1] == "a"
    assert walk["steps"][-1]["grad_after"]["value"] == -53.0
    some = json.loads(answer("step", "two_paths.expr", "--format", "json", "--break", "c"))
    validator.validate(some)
    assert [step["step"] for step in some["passes"][0]["steps"]] == [7]


@pytest.mark.parametrize("seed", range(12))
def test_documents_of_random_programs(seed: int, validator: jsonschema.Validator) -> None:
    from gradcli.render.json.steps import steps as document

    text = program_generator.program(seed)
    validator.validate(json.loads("".join(document(told(text)))))


def test_the_same_bytes_every_time(home: Path) -> None:  # noqa: F811
    (home / "random.expr").write_text(program_generator.program(7))
    once, again = (answer("step", "random.expr") for _ in range(2))
    assert once == again


def test_breaks_in_a_pipe(home: Path) -> None:  # noqa: F811
    shown = answer("step", "two_paths.expr", "--break", "b,w4")
    assert "… steps 1 to 3" in shown and shown.count("incoming") == 2
    assert "did you mean w4?" in refused(2, "step", "two_paths.expr", "--break", "w5")


def test_passes_are_chosen(home: Path) -> None:  # noqa: F811
    (home / "twice.expr").write_text(
        "x = tensor(1.0, requires_grad=True)\n(x * 2).backward()\n(x * 3).backward()\n"
    )
    assert answer("step", "twice.expr", "--pass", "2").startswith(
        "pass 2 of 2   (x * 3).backward()"
    )
    assert "there are 2 backward passes" in refused(2, "step", "twice.expr", "--pass", "3")
    assert "is not the number of a pass" in refused(2, "step", "twice.expr", "--pass", "0")


def test_hooks_and_retained_gradients_by_option(home: Path) -> None:  # noqa: F811
    shown = answer(
        "step", "two_paths.expr", "--hook", "b=lambda g: g * 2", "--retain-grad", "c",
        "--retain-graph",
    )  # fmt: skip
    assert "lambda g: g * 2   (tensor hook)\n               -9 → -18" in shown
    assert "c.grad keeps it" in shown and "retain_graph keeps what the nodes had saved" in shown
    assert "w1.grad = tensor(-72.)" in shown


def test_an_error_is_told_after_the_steps(home: Path) -> None:  # noqa: F811
    (home / "twice.expr").write_text(TWO_PATHS + "L.backward()\n")
    done = gradcli("step", "twice.expr")
    assert done.returncode == 3 and "stopped in step 3" in done.stdout
    assert "Trying to backward through the graph a second time" in done.stderr


def test_nothing_to_differentiate(home: Path) -> None:  # noqa: F811
    assert "no result requires grad" in refused(3, "step", "-", stdin="x = tensor(1.0)\n")
    assert "--grad-output" in gradcli("step", "--set", "x=[1.0,2.0]", "-", stdin="y = x * 2").stderr
    shown = answer("step", "--set", "x=[1.0,2.0]", "--grad-output", "1.0", "-", stdin="y = x * 2")
    assert "x.grad = tensor([2., 2.])" in shown


# ---------------------------------------------------------------- step by step


def script(*lines: str) -> list[str]:
    """The answers to commands, without the prompts."""
    shown = answer("step", "two_paths.expr", "--commands", "-", stdin="\n".join(lines) + "\n")
    return re.split(r"\nstep \d+ of \d+> .*\n", shown)[1:]


def test_commands(home: Path) -> None:  # noqa: F811
    answers = script(
        "next", "", "run b", "show a.grad", "show w1 * a", "next 2", "show a.grad", "back",
        "show a.grad",
    )  # fmt: skip
    assert answers[0].startswith("  1  L = 10 - d")
    assert answers[1].startswith("  2  d = w3 * b + w4 * c")
    assert answers[2].startswith("     … steps 3 to 8\n\n  9  b = w1 * a")
    assert answers[3:5] == ["None\n", "tensor(8., grad_fn=<MulBackward0>)\n"]
    assert "11 steps; 4 nodes released their saved tensors" in answers[5]
    assert answers[6] == "tensor(-53.)\n"
    assert answers[7].startswith(" 10  w1  leaf") and answers[8] == "None\n"


def test_breakpoints(home: Path) -> None:  # noqa: F811
    answers = script("break c", "break AccumulateGrad", "break", "run", "clear", "run", "run")
    assert answers[0] == "run stops at c, step 7\n"
    assert answers[1] == "run stops at AccumulateGrad, steps 4, 6, 8, 10, 11\n"
    assert answers[2] == "c   step 7\nAccumulateGrad   steps 4, 6, 8, 10, 11\n"
    assert "  4  w4  leaf" in answers[3] and answers[4] == "run stops at nothing but the end\n"
    assert " 11  a  leaf" in answers[5] and "11 steps" in answers[6]


def test_what_a_session_says_to_mistakes(home: Path) -> None:  # noqa: F811
    answers = script("foo", "nxt", "run zz", "show zz", "break q", "pass 4", "back", "show 1 +")
    assert answers[0] == "foo: unknown command; help lists the commands\n"
    assert answers[1] == "nxt: unknown command; did you mean next?\n"
    assert answers[2].startswith("no step of this pass is called zz; its steps are L, d, ")
    assert answers[3] == "NameError: name 'zz' is not defined\n"
    assert answers[4].startswith("no step of this pass is called q")
    assert answers[5] == "there is no such pass\n"
    assert answers[6] == "this is where the pass begins\n"
    assert answers[7].startswith("SyntaxError: ")


def test_list_and_help(home: Path) -> None:  # noqa: F811
    answers = script("break b", "next", "list", "help", "quit", "next")
    assert answers[2].startswith("▶  1  L = 10 - d ") and "6 more; list all" in answers[2]
    assert "show [EXPR]" in answers[3] and answers[4:] == [""]


def test_values_of_the_moment(home: Path) -> None:  # noqa: F811
    """show runs the program again up to that step: hooks, updates, several passes."""
    (home / "train.expr").write_text(
        "w = tensor([2.0], requires_grad=True)\n"
        "opt = optim.SGD([w], lr=0.1)\n"
        "for i in range(3):\n"
        "    loss = (w * w).sum()\n"
        "    opt.zero_grad()\n"
        "    loss.backward()\n"
        "    print(i)\n"
        "    opt.step()\n"
    )
    shown = answer("step", "train.expr", "--commands", "-", stdin="pass 3\nshow i, w, w.grad\nrun\n"
                   "show w.grad\n")  # fmt: skip
    assert shown.startswith("0\n1\n2\n\npass 1 of 3")
    assert "(2, tensor([1.2800], requires_grad=True), None)\n" in shown
    assert shown.endswith("> show w.grad\ntensor([2.5600])\n")


def test_functions_of_the_program_can_be_called(home: Path) -> None:  # noqa: F811
    (home / "net.expr").write_text(
        "net = nn.Linear(1, 1)\ndef twice(v):\n    return v * 2\n"
        "y = twice(net(tensor([[1.0]])))\ny.backward()\n"
    )
    lines = "show twice(net(ones(3, 1))).shape\nshow twise(y)\n"
    shown = answer("step", "net.expr", "--commands", "-", stdin=lines)
    assert "torch.Size([3, 1])\n" in shown and shown.endswith(
        "NameError: name 'twise' is not defined\n"
    )


def test_commands_from_a_file(home: Path) -> None:  # noqa: F811
    (home / "talk.txt").write_text("# a comment\nrun c\nquit\n")
    shown = answer("step", "two_paths.expr", "--commands", "talk.txt")
    assert "step 0 of 11> run c\n" in shown and "comment" not in shown
    assert "none.txt" in refused(2, "step", "two_paths.expr", "--commands", "none.txt")
    assert "standard input is the program" in refused(2, "step", "-", "--commands", "-",
                                                      stdin=TWO_PATHS)  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal(home: Path) -> None:  # noqa: F811
    """On a terminal it asks; Ctrl-C leaves the line, Ctrl-D leaves."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(SCHEMAS.parent.parent), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", "step", "two_paths.expr", "--break", "d"],
        stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True,
        close_fds=True,
    )  # fmt: skip
    os.close(inner)
    seen = _until(outer, "step 2 of 11> ")
    assert "\x1b[" in seen and "next, back, run" in seen and "d = w3 * b + w4 * c" in seen
    os.write(outer, b"show d\n")
    assert "tensor(212., grad_fn=<AddBackward0>)" in _until(outer, "step 2 of 11> ")
    os.write(outer, b"run\n")
    assert "a.grad = tensor(-53.)" in _until(outer, "step 11 of 11> ")
    os.write(outer, b"\x04")
    assert process.wait(20) == 0
    os.close(outer)


def _until(terminal: int, words: str) -> str:
    """What the terminal shows, up to these words."""
    seen = ""
    ends = time.monotonic() + 30
    while words not in seen[1:] and time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
    assert words in seen, seen
    return seen


def test_what_an_edge_leads_to_keeps_its_distance(tmp_path: Path) -> None:
    """However long its name is where nothing is cut."""
    name = "a_name_that_is_longer_than_a_column"
    made = f"{name} = torch.ones(2, 3, requires_grad=True)"
    program = tmp_path / "p.expr"
    program.write_text(f"{made}\n(torch.ones(3, 2) @ {name}).sum().backward()\n")
    assert f"{name}  local " in gradcli("step", str(program)).stdout
