"""Tests of `gradcli why`: programs with the verdict and the lines that are right for them."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import warm
from command_here import here
from oracle import oracle, question
from programs_under import sections

from gradcli.opening import UsageError
from gradcli.pipeline.request import Limits, Ran, Request
from gradcli.questions.why import why_report
from gradcli.recording.facts.reasons import WhyReport
from gradcli.render import why as page
from gradcli.render.json import why as document
from gradcli.render.text import Look

PROGRAMS = Path(__file__).parent / "programs"
SCHEMA = Path(__file__).parent.parent / "gradcli" / "schemas" / "gradcli.why-1.json"
CASES = [
    (title, text)
    for file in ("why_none.txt", "why_numbers.txt")
    for title, text in sections(PROGRAMS / file).items()
]
TRIED = "      tried: "  # PyTorch's text for a gradient stands on one line
# The advice for these verdicts changes what the program means, so it can't always be tried.
UNPROVEN = {
    "unused", "integer", "comparison", "masked", "zero-factor", "cancelled", "large", "tiny",
    "nan-born-forward", "fine", "item",
    "not-stepped", "not-registered", "eval-mode", "not-updated", "symmetric",
}  # fmt: skip


def ask(text: str, name: str, **limits: Any) -> tuple[Ran, WhyReport]:
    return why_report(Request(text.encode(), "p.expr", limits=Limits(**limits)), name)


@cache
def answer(title: str) -> WhyReport:
    name = title.split("|")[1].strip()
    return ask(dict(CASES)[title], name)[1]


@cache
def validator() -> Any:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from numbers_in(item)
    elif value is not None:
        yield float(value)


def state_of(values: list[float] | None) -> str:
    if values is None:
        return "none"
    if any(map(math.isnan, values)):
        return "nan"
    if any(map(math.isinf, values)):
        return "inf"
    return "zero" if not any(values) else "number"


@question
def gradient_state(torch: Any, program: str, name: str) -> list[Any]:
    """What PyTorch has in .grad at the program's end, and whether it failed."""
    import importlib

    space = {
        "torch": torch, "nn": torch.nn, "optim": torch.optim,
        "F": importlib.import_module("torch.nn.functional"),
    }  # fmt: skip
    failed = False
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(program, space)
        except Exception:
            failed = True
        finally:
            torch.set_grad_enabled(True)
        held = eval(re.sub(r"\.(\d+)", r"[\1]", name.partition(".grad")[0]), space)
        grad = held.grad if isinstance(held, torch.Tensor) else None
        picked = re.search(r"\.grad\[(.*)\]$", name)
        if grad is not None and picked is not None:
            grad = grad[tuple(map(int, picked[1].split(",")))]
    values = None if grad is None else list(numbers_in(grad.detach().tolist()))
    return [state_of(values), failed]


@pytest.mark.parametrize("title", [title for title, _ in CASES])
def test_a_case(title: str) -> None:
    """The verdict with its lines, the run with the cure, both forms, and PyTorch's gradient."""
    verdict, name, lines, _ = (part.strip() for part in title.split("|"))
    found, text = answer(title), dict(CASES)[title]
    assert (found.verdict, list(found.lines)) == (verdict, [int(line) for line in lines.split()])
    assert found.sentence.endswith(".")
    assert sum(label.primary for label in found.labels) == bool(found.lines)
    is_cured(title, found)
    validator().validate(json.loads("".join(document.why(found))))
    shown = page.text(found, text, Look(width=80))
    assert shown and "\x1b" not in shown
    assert [s for s in shown.splitlines() if len(s) > 80 and not s.startswith(TRIED)] == []
    values = None if found.grad is None else list(numbers_in(found.grad))
    here = [state_of(values), found.error is not None]
    assert here == oracle.ask("gradient_state", text, name)


def is_cured(title: str, found: WhyReport) -> None:
    """A run with the cure has confirmed the verdict, where one can."""
    helped = None if found.trial is None else found.trial.helped
    hard = (
        "numpy", "| func", "| categorical", "failing before", "leaf index", "global", "parts",
        "a draw of classes", "a buffer of the library", "overflow square",
        "of what requires no grad", "a direction and a length",
        "has several lines",
    )  # fmt: skip
    if found.verdict in UNPROVEN or title.endswith(hard):
        assert helped is not False
    else:
        assert found.trial is not None and helped, found.trial
        assert f"{found.name}.grad" in found.trial.outcome


ADVISED = {
    "a fake that a discriminator and then a generator take": (
        "fake = torch.tanh(w * 2), and fake.detach() on line 5"
    ),
    "a list of all numbers of a tensor": "rows = w * 2",
    "a tensor of itself": "leave out: h = torch.tensor(h)",
    "a norm of zero that is divided by": (
        "unit = x / x.pow(2).sum(-1, keepdim=True).clamp(min=1e-6).sqrt()"
    ),
    "a Variable of data": "z = x",
    "a checkpoint whose input requires no grad": (
        "h = checkpoint(net, torch.ones(3, 2), use_reentrant=False)"
    ),
    "a decorated function": "leave out: @torch.no_grad()",
    "greater than": "h = x.sigmoid().float()",
    "a head that is newer than the optimizer": "make the optimizer after line 3",
    "a layer that is an attribute named softmax": "return self.lin(x)",
    "a step before the gradient is there": "step() after line 7, and zero_grad() before it",
}


@pytest.mark.parametrize("what", ADVISED)
def test_advice_as_a_person_would_write_it(what: str) -> None:
    (title,) = (title for title, _ in CASES if title.split("|")[-1].strip() == what)
    trial = answer(title).trial
    assert trial is not None and trial.advice == ADVISED[what]


def test_lines_without_an_effect_are_told_once_for_all_leaves(tmp_path: Path) -> None:
    text = """\
net, x = nn.Linear(2, 1), torch.ones(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(2):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
"""
    (tmp_path / "train.expr").write_text(text)
    done = here("why", str(tmp_path / "train.expr"))
    assert done.stdout.count("has no effect") == 1


def test_gradients_that_are_clipped_too_late_without_a_loop() -> None:
    text = """\
w = torch.tensor([100.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
(w ** 4).sum().backward()
{lines}
"""
    clip, step = "nn.utils.clip_grad_norm_([w], 1.0)", "opt.step()"
    (fact,) = ask(text.format(lines=f"{step}\n{clip}"), "w")[1].facts
    assert fact == (
        f"line 5: {clip} has no effect: it clips gradients when line 4 has used them: between "
        "backward() and step()"
    )
    assert not ask(text.format(lines=f"{clip}\n{step}"), "w")[1].facts


def test_a_narrow_overview_says_nothing_below_a_leaf_that_is_fine() -> None:
    fine, none = (
        WhyReport("a.expr", "cpu", name, verdict=verdict, sentence=f"{name}.{sentence}")
        for name, verdict, sentence in (
            ("w", "fine", "grad looks correct: no problem found."),
            ("u", "unused", "grad is None: loss was not computed from u."),
        )
    )
    shown = page.overview(fine, [fine, none], "a.expr", Look(width=40)).splitlines()
    assert [line.split() for line in shown[:3]] == [["tensor", "verdict"], ["w", "fine"],
                                                    ["u", "unused"]]  # fmt: skip
    assert "None" in shown[3] and "correct" not in "".join(shown)


def test_a_narrow_overview_says_what_two_leaves_share_once() -> None:
    """Also where the sentence has a word that is the name of one of them."""
    text = "x = torch.ones(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\n"
    text += "(x * w).sign().sum().backward()\n"
    reports = [ask(text, name)[1] for name in "xw"]
    shown = page.overview(reports[0], reports, "p.expr", Look(width=40, whole=False))
    assert str(shown).count("slope 0") == 1


def test_a_way_without_a_graph_beside_a_gradient_that_is_there() -> None:
    text = """\
w = torch.tensor(1.0, requires_grad=True)
step, = torch.autograd.grad((w * 2 - 3) ** 2, w{graph})
((w - 0.1 * step) ** 2).backward()
"""
    facts = ask(text.format(graph=""), "w")[1].facts
    assert facts == (
        "the way through torch.autograd.grad((w * 2 - 3) ** 2, w) on line 2 is left out: it has a "
        "graph only with create_graph=True",
    )
    assert not ask(text.format(graph=", create_graph=True"), "w")[1].facts


SLIPS = {
    "loss.backward": "line 7: loss.backward has no effect: it names backward",
    "x.require_grad = True": "line 7: x.require_grad = True has no effect: nothing reads",
    "net.requires_grad = False": "line 7: net.requires_grad = False has no effect",
    "x.requires_grad_ = True": "line 7: x.requires_grad_ = True has no effect: it sets",
    "F.relu(x).requires_grad_()": "",
    "net.trainable = True": "",
}


@pytest.mark.parametrize("line", SLIPS)
def test_lines_without_an_effect(line: str) -> None:
    """They are told beside the verdict, whatever it is."""
    text = f"""\
net, x = nn.Linear(2, 1), torch.ones(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(2):
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    {line}
    opt.step()
"""
    facts = "\n".join(ask(text, "net.weight")[1].facts)
    assert SLIPS[line] in facts and bool(facts) == bool(SLIPS[line])


OWN_FUNCTION = """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x ** 2
    @staticmethod
    def backward(ctx, g):
        return {gradient}
x = torch.ones(2, requires_grad=True)
def halved(grad):
    grad = grad / 2
    {end}
x.register_hook(halved)
(x * Square.{call}).sum().backward()
"""
SLIPPED = (
    ("g * 2", "return grad", "apply(x)", "Square has a backward of its own; gradcli check"),
    ("g * 2", "return grad", "apply(x)", "the hook halved on line 12 changed the gradient"),
    ("torch.ones(2) * 2", "return grad", "apply(x)", "line 6: g is never read: Square.backward"),
    ("g * 2", "pass", "apply(x)", "Square has a backward of its own; gradcli check"),
    ("g * 2", "", "apply(x)", "line 10: grad = grad / 2 has no effect: the hook halved returns"),
    ("g * 2", "return grad", "forward(None, x)", "Square.forward(None, x) is a plain call: Square"),
    ("None", "return grad", "apply(x)", "the hook halved on line 12 changed the gradient"),
)


@pytest.mark.parametrize("gradient, end, call, told", SLIPPED)
def test_functions_and_hooks_without_an_effect(
    gradient: str, end: str, call: str, told: str
) -> None:
    text = OWN_FUNCTION.format(gradient=gradient, end=end, call=call)
    facts = "\n".join(ask(text, "x")[1].facts)
    assert told in facts and bool(facts) == bool(told)


def test_a_reentrant_checkpoint_of_an_input_that_requires_grad() -> None:
    text = """\
w, x = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
y = torch.utils.checkpoint.checkpoint(lambda x: (w * x).exp(), x, use_reentrant=True)
y.sum().backward(inputs=[x])
"""
    said = [label.text for label in ask(text, "w")[1].labels]
    assert "runs it without gradients, and backward() runs it again" in said


def test_a_name_of_a_loop_is_bound_to_a_new_tensor() -> None:
    text = """\
net = nn.Linear(2, 1)
net(torch.ones(3, 2)).sum().backward()
for p in net.parameters():
    p = p - 0.1 * p.grad
"""
    (fact,) = ask(text, "net.weight")[1].facts
    assert fact.startswith("line 4: p = p - 0.1 * p.grad has no effect: it binds p to a new tensor")
    assert not ask(text + "    print(p)\n", "net.weight")[1].facts


def test_the_root_of_a_call_that_is_refused_is_named() -> None:
    """Also where autograd.grad went back before it."""
    text = """\
w, rate = (torch.tensor(n, requires_grad=True) for n in (1.0, 0.1))
slope, = torch.autograd.grad((w - 3) ** 2, w, create_graph=True)
outer = (w.data - rate.data * slope.data - 3) ** 2
outer.backward()
"""
    assert ask(text, "rate")[1].sentence.startswith("rate.grad is None: on the way into outer,")


def test_a_gradient_that_is_still_scaled() -> None:
    text = """\
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
scaler.scale((w * 3).sum()).backward()
"""
    (fact,) = ask(text, "w")[1].facts
    assert fact.startswith("scaler.scale((w * 3).sum()) has multiplied it: unscale_(optimizer)")
    assert not ask(text + "scaler.unscale_(optimizer)\n", "w")[1].facts


def test_forward_of_a_module_runs_no_hooks() -> None:
    text = """\
net = nn.Linear(2, 1)
net.register_full_backward_hook(lambda module, given, came: print(came))
net.forward(torch.ones(3, 2)).sum().backward()
"""
    (fact,) = ask(text, "net.weight")[1].facts
    assert fact.endswith(
        "net.forward(torch.ones(3, 2)) is a plain call: it runs no hooks: net(...)"
    )
    assert not ask(text.replace(".forward(", "("), "net.weight")[1].facts


@pytest.mark.parametrize("engine", ["own", "torch"])
def test_modules_in_methods_and_loops_have_no_requires_grad(engine: str) -> None:
    if engine == "torch" and not oracle.has_torch:
        pytest.skip("PyTorch is not installed")
    text = """\
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
        self.body = nn.Linear(2, 1)
    def freeze(self):
        self.body.requires_grad = False
        for layer in self.layers:
            layer.requires_grad = False
        for p in self.layers.parameters():
            p.requires_grad = True
def main():
    model = Model()
    model.freeze()
    model.body(model.layers[0](torch.ones(3, 2))).sum().backward()
main()
"""
    request = Request(text.encode(), "p.py", "p.py", engine=engine)
    facts = why_report(request, "model.body.weight", trials=False)[1].facts
    assert [fact.partition(" has no effect")[0] for fact in facts] == [
        "line 9: self.body.requires_grad = False", "line 11: layer.requires_grad = False",
    ]  # fmt: skip


def test_an_array_of_a_detached_tensor_has_no_cure() -> None:
    text = """\
import numpy
w = torch.ones(2, requires_grad=True)
torch.from_numpy(numpy.tanh((w * 2).detach().cpu().numpy())).requires_grad_().sum().backward()
"""
    report = ask(text, "w")[1]
    assert (report.verdict, report.trial and report.trial.helped) == ("detached", None)


X3 = "x = tensor([1.0, 3.0, 2.0], requires_grad=True)\n"


def test_a_place_that_is_compared_has_no_smooth_form() -> None:
    text = X3 + "i = x.argmax()\ny = (i == 1).float()\ny.requires_grad_()\ny.backward()\n"
    report = ask(text, "x")[1]
    assert report.verdict == "integer" and report.trial is not None
    assert report.trial.advice.startswith("compute with what was chosen")


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("x", X3 + "i = x.argmax()\ny = i.float() * 2\ny.requires_grad_()\ny.backward()",
         "i = (torch.softmax(x, -1) * torch.arange(float(x.shape[-1]))).sum(-1)"),
        ("x", X3 + "t = tensor([0.1, 0.2, 0.3], requires_grad=True)\nt[x.argmin()].backward()",
         "(torch.softmax(-(x), -1) * t).sum(-1).backward()"),
        ("x", X3 + "y = F.one_hot(x.argmax(), 3).float() @ tensor([1.0, 2.0, 5.0])\n"
         "y.requires_grad_()\ny.backward()",
         "y = torch.softmax(x, -1).float() @ tensor([1.0, 2.0, 5.0])"),
        ("x", "x = tensor(3.0, requires_grad=True)\nw = tensor(2.0, requires_grad=True)\n"
         "penalty = x * x\nloss = w * 2\nloss.backward()",
         "(loss + penalty).backward(), if penalty belongs to it"),
        ("x.grad[0]", X3 + "y = x.max() * 2\ny.backward()",
         "a share for all: y = torch.logsumexp((x).flatten(), 0) * 2"),
        ("x.grad[1]", X3 + "y = torch.amin(x, 0)\ny.backward()",
         "a share for all: y = -torch.logsumexp(-(x), 0)"),
        ("a", "a = tensor(1.0, requires_grad=True)\nb = tensor(2.0, requires_grad=True)\n"
         "torch.maximum(a, b).backward()",
         "a share for all: torch.logaddexp(a, b).backward()"),
        ("x.grad[1]", X3 + "torch.manual_seed(0)\nF.dropout(x, 0.9).sum().backward()",
         "without dropout: F.dropout(x, 0.9, training=False).sum().backward()"),
    ],
)  # fmt: skip
def test_what_chooses_has_a_smooth_form(name: str, text: str, advice: str) -> None:
    found = ask(text + "\n", name)[1]
    assert found.trial is not None and found.trial.helped
    assert found.trial.advice == advice
    assert not found.facts


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x", X3 + "w = tensor(1.0, requires_grad=True)\nw.backward()", "only you know which"),
        ("x.grad[1]", X3 + "x[0].backward()", "which elements are taken"),
        ("b", "a, b = tensor([1.0, 2.0], requires_grad=True).unbind()\nb = tensor(1.0, "
         "requires_grad=True)\ny = a * 2 if b > 3 else a\ny.backward()", "has no slope"),
    ],
)  # fmt: skip
def test_what_cannot_be_tried_says_why(name: str, text: str, why: str) -> None:
    found = ask(text + "\n", name)[1]
    assert found.trial is None or found.trial.helped is None
    assert len(found.facts) == 1 and why in found.facts[0]
    silent = why_report(Request((text + "\n").encode(), "p.expr"), name, trials=False)[1]
    assert not silent.facts


@pytest.mark.parametrize("reset", ["w.grad.zero_()", "w.grad = None"])
def test_a_reset_stays_in_its_loop(reset: str) -> None:
    """Advice is to read the gradient before it, and tells the one of the last pass."""
    text = "w = tensor(1.0, requires_grad=True)\nfor i in range(3):\n    (w * w).backward()\n"
    found = ask(
        text + f"    with torch.no_grad():\n        w -= 0.25 * w.grad\n    {reset}\n", "w"
    )[1]
    assert found.trial is not None and found.trial.advice == "read w.grad before line 6"
    assert found.trial.outcome == "w.grad becomes tensor(0.5000)"


def test_all_verdicts_of_the_schema_are_tried() -> None:
    known = set(json.loads(SCHEMA.read_text("utf-8"))["properties"]["verdict"]["enum"])
    known -= {None, "unexplained"}
    assert {title.split("|")[0].strip() for title, _ in CASES} == known


# ---------------------------------------------------------------- names


def test_names_lead_to_tensors_of_all_places() -> None:
    text = (
        "net = nn.Sequential(nn.Linear(2, 1))\n"
        "ws = [torch.ones(2, requires_grad=True)]\n"
        "d = {'k': torch.ones(2, 2, requires_grad=True)}\n"
        "def f(inner):\n    hidden = inner * 2\n    return hidden\n"
        "L = net(f(ws[0])).sum() + d['k'].sum() * 3\n"
        "L.backward()\n"
    )
    for name in ("net.0.weight", "net[0].weight", "ws[0].grad[1]", "d['k'].grad[1, 0]", "ws[0]"):
        assert ask(text, name)[1].verdict == "fine", name
    assert ask(text, "d['k'].grad[1][-1]")[1].element == (1, 1)
    assert ask(text, "hidden")[1].verdict == "non-leaf"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("y", "no name y"), ("ws[4]", "no item 4"), ("net.0.wieght", "has no wieght"),
        ("ws", "a list"), ("ws[0].grad[7]", "shape"), ("ws[0].grad[a]", "whole numbers"),
        ("3x", "not a name"), ("ws[0].shape", "is a tensor"),
    ],
)  # fmt: skip
def test_names_that_are_not_there(name: str, words: str) -> None:
    text = "net = nn.Sequential(nn.Linear(2, 1))\nws = [torch.ones(2, requires_grad=True)]\n"
    with pytest.raises(UsageError, match=words):
        ask(text, name)


def test_near_misses_are_suggested() -> None:
    text = "weight = torch.ones(2, requires_grad=True)\n(weight * 2).sum().backward()\n"
    with pytest.raises(UsageError) as caught:
        ask(text, "wieght")
    assert "did you mean weight?" in caught.value.advice


# ---------------------------------------------------------------- limits and care


def test_a_chain_of_many_nodes() -> None:
    text = (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x\n"
        "for i in range(20000):\n    y = y + 1\nz = y.detach() * x.detach()\n"
        "w = torch.tensor(1.0, requires_grad=True)\n(z * w).backward()\n"
    )
    found = ask(text, "x")[1]
    assert (found.verdict, found.lines) == ("detached", (5,))


def test_trials_end_with_the_time() -> None:
    text = (
        "x = torch.tensor(1.0)\nw = torch.tensor(1.0, requires_grad=True)\nn = 0\n"
        "for i in range(200000):\n    n = n + 1\n(x * w).backward()\n"
    )
    started = time.process_time()
    found = ask(text, "x", timeout=0.7)[1]
    assert time.process_time() - started < 5
    assert found.verdict in ("not-requires-grad", "")


def test_the_program_itself_is_run_once_and_left_alone() -> None:
    text = (
        "torch.manual_seed(3)\na = torch.rand(2)\nprint(a)\n"
        "w = torch.ones(2, requires_grad=True)\n(a * w).sum().backward()\n"
    )
    found = ask(text, "a")[1]
    assert found.output.count("tensor") == 1
    assert found.trial is not None and found.trial.helped
    assert ask(text, "a")[1] == found


def test_a_program_that_fails_is_answered_as_far_as_possible() -> None:
    ran, found = ask("x = torch.tensor(2.0)\ny = x * 2\ny.backward()\n", "x")
    assert ran.error is not None and found.error is not None
    assert found.verdict == "not-requires-grad" and found.trial is not None and found.trial.helped
    ran, found = ask("y = torch.ones(2) * torch.ones(3)\nx = torch.tensor(2.0)\n", "x")
    assert found.verdict == "" and found.error is not None
    validator().validate(json.loads("".join(document.why(found))))


def test_escape_characters_stay_harmless() -> None:
    text = 'x = torch.tensor(1.0)  # \x1b[31m\nd = {"\x1b[2J": x}\n'
    found = ask(text, "x")[1]
    assert "\x1b" not in page.text(found, text, Look())


# ---------------------------------------------------------------- the command


def command(*words: str, text: str = "", cwd: Path) -> subprocess.CompletedProcess[str]:
    return warm.run(["why", *words], stdin=text, folder=cwd)


def test_the_command_and_its_exit_codes(tmp_path: Path) -> None:
    program = "a = tensor(4.0)\nw = tensor(2.0, requires_grad=True)\nL = a * w\nL.backward()\n"
    (tmp_path / "chain.expr").write_text(program)
    done = command("chain.expr", "a", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == (
        "a.grad is None: a does not require grad, so backward had nothing to store there.\n"
        "\n"
        "  chain.expr:1:5\n"
        "  1 │ a = tensor(4.0)\n"
        "    │     ^^^^^^^^^^^ made without requires_grad=True\n"
        "\n"
        "help: a = tensor(4.0, requires_grad=True)      tried: a.grad becomes tensor(2.)\n"
    )
    piped = command("a", text=program, cwd=tmp_path)
    assert piped.returncode == 0 and piped.stdout == done.stdout.replace("chain.expr", "<stdin>")
    (tmp_path / "a").mkdir()  # no program
    assert command("a", text=program, cwd=tmp_path).stdout == piped.stdout
    assert command("-", "a", text=program, cwd=tmp_path).stdout == piped.stdout
    assert "w       fine" in command("-", text=program, cwd=tmp_path).stdout
    assert "there is no file ./gone" in command("./gone", cwd=tmp_path).stderr
    unknown = command("chain.expr", "aa", cwd=tmp_path)
    assert unknown.returncode == 2 and "did you mean a?" in unknown.stderr
    inside = "def run():\n    net = nn.Linear(1, 1)\n    ws = [torch.ones(1, requires_grad=True)]\n"
    unknown = command("nosuch", text=f"{inside}    (net(ws[0])).backward()\nrun()\n", cwd=tmp_path)
    assert "the tensors are ws[0], net.weight, net.bias" in unknown.stderr
    assert command("chain.expr", "a", "b", cwd=tmp_path).returncode == 2
    failing = command("a", text=program + "L.backward()\n1 / 0\n", cwd=tmp_path)
    assert failing.returncode == 3 and "a.grad is None" in failing.stdout
    quick = command("--no-try", "chain.expr", "a", "--format", "json", cwd=tmp_path)
    told = json.loads(quick.stdout)
    assert told["verdict"] == "not-requires-grad" and told["confirmed"] is None
    validator().validate(told)


def test_ordinary_runs_load_nothing_of_it(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom gradcli.pipeline.request import Request\n"
        "from gradcli.pipeline.run import execute\n"
        "execute(Request(b'x = tensor(1.0)', 'p'), None)\n"
        "print([m for m in sys.modules if 'tracing' in m or 'why' in m or 'provenance' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("cut", "cure"),
    [
        ("y = (x * 2 + 1).detach()", "y = x * 2 + 1"),
        ("y = 3 - (x * 2).detach()", "y = 3 - (x * 2)"),
        ("y = torch.detach(x * 2)", "y = x * 2"),
        ("y = (x).data * 2", "y = x * 2"),
        ("y = torch.round(x)", "let the gradient pass: x + (torch.round(x) - x).detach()"),
    ],
)
def test_a_cure_has_no_brackets_to_spare(cut: str, cure: str) -> None:
    text = (
        f"x = torch.tensor([0.4, 2.0], requires_grad=True)\n{cut}\n"
        "loss = (y * torch.ones(2, requires_grad=True)).sum()\nloss.backward()\n"
    )
    trial = ask(text, "x")[1].trial
    assert trial is not None and trial.advice == cure


@pytest.mark.parametrize(
    ("loss", "cure"),
    [
        (
            "torch.nn.functional.binary_cross_entropy(p, torch.zeros(2))",
            "binary_cross_entropy_with_logits, which is given x itself",
        ),
        ("nn.BCELoss()(p, torch.zeros(2))", "BCEWithLogitsLoss, which is given x itself"),
        (
            "(p - 0.5).sum()",
            "smaller numbers: sigmoid is flat far from 0; such as x / x.detach().abs().max()",
        ),
    ],
)
def test_a_sigmoid_that_saturates_is_not_passed_by(loss: str, cure: str) -> None:
    text = (
        "x = torch.tensor([200.0, 300.0], requires_grad=True)\np = torch.sigmoid(x)\n"
        f"loss = {loss}\nloss.backward()\n"
    )
    trial = ask(text, "x")[1].trial
    assert trial is not None and trial.advice == cure and trial.helped


def test_a_pass_that_fails_behind_a_reset() -> None:
    """The reset is not the reason, and the error has the advice."""
    text = """
w = torch.ones(2, requires_grad=True)
state = torch.zeros(2)
for turn in range(2):
    state = (state * w).exp()
    w.grad = None
    state.sum().backward()
"""
    ran, report = ask(text, "w")
    assert report.verdict == "backward-not-called" and report.lines == (7,)
    assert report.trial is None and report.facts == () and ran.error is not None
    assert any("state = state.detach()" in note for note in ran.error.notes)


@pytest.mark.parametrize("imports", ["", "import torch\nfrom torch import nn, optim\n"])
def test_without_a_name_every_leaf_is_judged(tmp_path: Path, imports: str) -> None:
    text = """\
body, head = nn.Linear(1, 2), nn.Linear(2, 1)
unused = torch.ones(2, requires_grad=True)
moved = torch.ones(2, requires_grad=True)
moved = moved * 2
opt = optim.SGD(body.parameters(), lr=0.1)
head(body(torch.ones(1, 1)).detach()).sum().backward()
opt.step()
for p in head.parameters():
    pass
"""
    file = tmp_path / "p.expr"
    file.write_text(imports + text, "utf-8")
    found = json.loads(here("why", str(file), "--format", "json").stdout)
    schema = json.loads((SCHEMA.parent / "gradcli.reasons-1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(found)
    verdicts = {answer["name"]: answer["verdict"] for answer in found["answers"]}
    assert verdicts == {
        "unused": "unused", "body.weight": "detached", "body.bias": "detached",
        "head.weight": "not-stepped", "head.bias": "not-stepped", "moved": "rebound",
    }  # fmt: skip
    for name, verdict in verdicts.items():  # as each is told alone
        alone = json.loads(here("why", str(file), name, "--no-try", "--format", "json").stdout)
        assert alone["verdict"] == verdict, name
    page = here("why", str(file)).stdout
    assert all(f"{name}  " in page for name in verdicts)


def test_leaves_that_need_no_gradient_are_judged_where_none_does(tmp_path: Path) -> None:
    file = tmp_path / "p.expr"
    file.write_text("x = torch.tensor(3.0)\nn = torch.tensor(3)\n", "utf-8")
    answers = json.loads(here("why", str(file), "--format", "json").stdout)["answers"]
    assert [(one["name"], one["verdict"]) for one in answers] == [("x", "not-requires-grad")]
    file.write_text("n = 3\n", "utf-8")
    assert (
        here("why", str(file)).stdout == "no leaf with a name requires grad: nothing to explain\n"
    )


def test_leaves_that_only_a_function_has_names_for_are_judged(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(1, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.body(x).detach())

def main():
    net, scale = Net(), torch.ones(1, requires_grad=True)
    (net(torch.ones(1, 1)) * scale).sum().backward()

main()
"""
    file = tmp_path / "p.expr"
    file.write_text(text, "utf-8")
    answers = json.loads(here("why", str(file), "--format", "json").stdout)["answers"]
    assert {one["name"]: one["verdict"] for one in answers} == {
        "scale": "fine", "net.body.weight": "detached", "net.body.bias": "detached",
        "net.head.weight": "fine", "net.head.bias": "fine",
    }  # fmt: skip


@pytest.mark.parametrize("start", ["", "def main():\n", "def step(s):\n"])
def test_what_was_frozen_and_what_was_bound_again_is_judged(tmp_path: Path, start: str) -> None:
    """Parameters, attributes of objects, items; a cast leaf by the name of what is left of it."""
    text = """\
net = nn.Linear(2, 2)
net.bias.requires_grad_(False)
held = State()
weights = {"w": torch.ones(2, requires_grad=True)}
moved = torch.ones(2, requires_grad=True).double()
(net(held.w) * weights["w"] * moved).sum().backward()
held.w = held.w - 0.1 * held.w.grad
weights["w"] = weights["w"] - 0.1 * weights["w"].grad
net.weight.grad = None
"""
    state = "class State:\n    def __init__(self): self.w = torch.ones(2, requires_grad=True)\n"
    if start:
        text = start + "".join(f"    {line}\n" for line in text.splitlines())
        text += "main()\n" if "main" in start else "step(0)\n"
    file = tmp_path / "p.expr"
    file.write_text(state + text, "utf-8")
    answers = json.loads(here("why", str(file), "--format", "json").stdout)["answers"]
    found = {one["name"]: one["verdict"] for one in answers}
    assert found | {"torch.ones(2, requires_grad=True)": ""} == {
        "net.weight": "cleared", "net.bias": "turned-off", "held.w": "rebound",
        "weights['w']": "rebound", "moved": "cast", "torch.ones(2, requires_grad=True)": "",
    }  # fmt: skip


@pytest.mark.parametrize(("number", "line", "why"), [
    ("0.0", "1 / x", "the slope of 1 / x is infinite there."),
    ("1e16", "(x * x) * (x * x)",
     "at x * x the gradient grows beyond the largest number of float32."),
    ("300.0).half(", "(x * 300).float() * 1000",
     "at x * 300 the gradient grows beyond the largest number of float16."),
])  # fmt: skip
def test_an_infinite_slope_is_told_from_a_product_that_is_too_large(
    number: str, line: str, why: str
) -> None:
    text = f"x = torch.tensor({number}).requires_grad_()\ny = {line}\ny.backward()\n"
    assert ask(text, "x")[1].sentence.partition(": ")[2] == why


def test_a_dropout_within_a_network_is_named() -> None:
    net = "nn.Sequential(nn.Linear(3, 4), nn.Dropout(1.0), nn.Linear(4, 1))"
    text = f"net = {net}\nloss = net(torch.ones(5, 3)).sum()\nloss.backward()\n"
    found = ask(text, "net[0].weight")[1]
    assert (found.verdict, found.sentence.partition(": ")[2]) == (
        "zero-factor", "Dropout in net(torch.ones(5, 3)) multiplies the gradient by 0."
    )  # fmt: skip
    assert found.trial is not None and found.trial.helped
    assert found.trial.advice.startswith("without dropout: net = nn.Sequential(nn.Linear(3, 4), ")


def test_each_place_that_multiplies_by_0_is_told_and_where_the_0_is_from() -> None:
    text = X3 + "gate = torch.relu(torch.ones(3) - 9)\nsoft = gate * 2\n"
    text += "y = (x * soft).sum() + (x * 0).sum() + (x * soft).mean()\ny.backward()\n"
    found = ask(text, "x")[1]
    assert found.verdict == "zero-factor"
    places = [(label.line, label.column, label.text[:21]) for label in found.labels]
    by_0 = "the gradient is multi"
    assert sorted(places) == [
        (2, 8, "all 0 from here on"), (4, 6, by_0), (4, 25, by_0), (4, 41, by_0)
    ]  # fmt: skip
    assert all(label.text[:21] == by_0 for label in found.labels if label.primary)


def test_what_is_still_bad_after_a_fix_has_its_reason() -> None:
    text = "x = tensor([0.0, 4.0], requires_grad=True)\nr = torch.sqrt(x)\n"
    text += "y = torch.where(x > 0, torch.log(x), 0.0)\n(r * y).sum().backward()\n"
    found = ask(text, "x")[1]
    assert found.verdict == "masked-nan" and found.trial is not None
    assert not found.trial.helped
    assert found.trial.outcome.endswith(
        ", for another reason: torch.sqrt(x) makes it on the way back"
    )


@pytest.mark.parametrize(("line", "cure"), [
    ("1 / (x - 1)", "1 / (x - 1 + 1e-6)"), ("1 / x**2", "1 / (x**2 + 1e-6)"),
    ("1 / x.abs()", "1 / (x.abs() + 1e-6)"),
])  # fmt: skip
def test_what_is_divided_by_has_brackets_once(line: str, cure: str) -> None:
    value = 1.0 if "- 1" in line else 0.0
    text = f"x = tensor({value}, requires_grad=True)\ny = {line}\ny.backward()\n"
    trial = ask(text, "x")[1].trial
    assert trial is not None and trial.advice == f"y = {cure}"


def test_a_norm_that_rests_at_zero_says_so() -> None:
    _, report = ask("w = torch.zeros(2, requires_grad=True)\ntorch.norm(w).backward()\n", "w")
    assert report.sentence.endswith(
        "the input of torch.norm(w) is all 0, where PyTorch takes the slope 0."
    )


def test_the_layer_that_blocks_a_gradient_is_named() -> None:
    text = (
        "net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1), nn.ReLU())\n"
        "with torch.no_grad():\n    net[2].bias.fill_(-9.)\n"
        "loss = net(torch.ones(3, 1)).sum()\nloss.backward()\n"
    )
    _, report = ask(text, "net.0.bias")
    assert "ReLU net.3 in net(torch.ones(3, 1)) blocks the gradient" in report.sentence


def test_a_leaf_that_each_turn_computes_anew() -> None:
    """No trial shows what helps there: the leaf that the last turn makes gets no gradient."""
    text = """weight = torch.tensor([[0.5, -1.0], [0.25, 2.0]])
image = torch.tensor([[0.5, 0.25]], requires_grad=True)
for _ in range(2):
    (image @ weight).pow(2).sum().backward()
    step = image.grad.sign()
    image = image + 0.1 * step
    image = image.clamp(0, 1)
"""
    found = ask(text, "image")[1]
    assert (found.verdict, found.lines) == ("rebound", (6, 7))
    assert found.trial is not None and found.trial.helped is None
    assert found.trial.advice.startswith("image = image.clamp(0, 1).detach().requires_grad_()")


def test_a_learning_rate_that_became_zero() -> None:
    text = """net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rates = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma={})
for turn in range(4):
    opt.zero_grad()
    net(torch.ones(1, 2)).pow(2).sum().backward()
    opt.step()
    rates.step()
"""
    found = ask(text.format("0.0"), "net.weight")[1]
    said = "the scheduler of line 3 set the learning rate to 0: the last 3 steps of its optimizer"
    assert any(note.startswith(said) for note in found.facts)
    assert not any("scheduler" in note for note in ask(text.format("0.5"), "net.weight")[1].facts)


def test_a_gradient_that_is_clipped_to_nothing() -> None:
    """It came with another size."""
    text = X3 + "(x ** 2).sum().backward()\ntorch.nn.utils.clip_grad_norm_([x], 1e-8)"
    report = ask(text, "x")[1]
    assert report.verdict == "tiny" and report.lines == (3,)
    assert report.sentence.endswith("line 3 changed it from 6.")


def test_a_plain_chain_is_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What every node handed on takes as much time and memory as the pass itself."""

    def refuse(*_: Any) -> None:
        raise AssertionError("all nodes are laid out")

    monkeypatch.setattr("gradcli.questions.why.gradients.Shares.__init__", refuse)
    text = "x = y = torch.tensor(0.5, requires_grad=True)\nfor i in range(9):\n    y = y * x + 1\n"
    _, report = ask(text + "y.backward()\n", "x")
    assert report.verdict == "fine"
