"""Tests of `gradcli paths`: counts, products, shares, sums, formulas; text and document."""

from __future__ import annotations

import builtins
import json
import math
import time
from pathlib import Path
from typing import Any

import paths_programs
import pytest
from oracle import oracle, question
from program_generator import program as tensor_program
from schemas import fits
from test_cli import TWO_PATHS, gradcli

from gradcli.opening import UsageError
from gradcli.pipeline.request import Request
from gradcli.pipeline.run import execute
from gradcli.questions.paths import Options, paths_report, recorded
from gradcli.recording.facts.paths import PathsReport
from gradcli.render import (
    json as documents,  # noqa: F401  (the package loads without the engine)
    paths as page,
)
from gradcli.render.json import paths as document
from gradcli.render.text import Look

SCHEMA = Path(__file__).parent.parent / "gradcli" / "schemas" / "gradcli.paths-1.json"
ROUNDS = """\
a = tensor(2.0, requires_grad=True)
y = a
for i in range(30):
    y = y * y * 0.5
"""
LAYER = """\
W = tensor([[0.1, 0.2], [0.3, -0.4]], requires_grad=True)
x = tensor([1.0, 2.0])

def layer(v):
    h = W @ v
    return h.tanh()

y = layer(x) + layer(x * 2)
L = y.sum()
"""


def report(
    text: str, wrt: str, of: str | None = None, *, sets: tuple[str, ...] = (),
    seed: str | None = None, **asked: Any,
) -> PathsReport:  # fmt: skip
    request = Request(
        text.encode(), "x.expr", wrt=(wrt,), sets=sets, holds_graph=True, placeholders=True
    )
    wanted = Options((of,) if of else (), (wrt,), seed, **asked)
    ran, found = paths_report(recorded(request, None, wanted), wanted)
    assert ran.error is None or found.error is not None
    return found


def printed(found: PathsReport, width: int = 80, unicode: bool = True) -> str:
    return str(page.text(found, Look(False, unicode, width)))


def parsed(found: PathsReport) -> Any:
    doc = json.loads("".join(document.paths(found)))
    fits(doc, "gradcli.paths-1")
    return doc


# ---------------------------------------------------------------- the example


def test_two_paths() -> None:
    doc = parsed(report(TWO_PATHS, "a", "L"))
    assert (doc["of"], doc["wrt"], doc["count"], doc["edge_count"]) == ("L", "a", 2, 2)
    assert doc["paths"] == [
        {"names": ["L", "d", "c", "a"], "derivatives": [-1, 7, 5], "product": -35,
         "share": 35 / 53, "against": False},
        {"names": ["L", "d", "b", "a"], "derivatives": [-1, 9, 2], "product": -18,
         "share": 18 / 53, "against": False},
    ]  # fmt: skip
    assert (doc["sum"], doc["reverse"], doc["equal"]) == (-53, -53, True)
    assert doc["formula"]["text"] == "-(w3*w1 + w4*w2)"
    assert doc["formula"]["numbers"] == "-(9*2 + 7*5)"


def test_two_paths_as_a_page() -> None:
    assert (
        printed(report(TWO_PATHS, "a", "L"))
        == """\
dL/da = -53, the sum of 2 paths

  L ─(-1)→ d ─(7)→ c ─(5)→ a   -1 · 7 · 5 = -35   66 %
  L ─(-1)→ d ─(9)→ b ─(2)→ a   -1 · 9 · 2 = -18   34 %
                                            ───
                                            -53   reverse mode: -53, equal

dL/da = -(w3*w1 + w4*w2)
      = -(9*2 + 7*5)
"""
    )


def test_ascii() -> None:
    text = printed(report(TWO_PATHS, "a", "L"), unicode=False)
    assert text.isascii()
    assert "L -(-1)-> d -(7)-> c -(5)-> a   -1 * 7 * 5 = -35" in text


def test_edges() -> None:
    found = report(TWO_PATHS, "a", "L", edges=True)
    assert [path.names for path in found.paths] == [
        ("L", "d", "w4 * c", "c", "a"), ("L", "d", "w3 * b", "b", "a"),
    ]  # fmt: skip
    assert [path.product for path in found.paths] == [-35, -18]


def test_symbolic_names_every_local_derivative() -> None:
    found = report(TWO_PATHS, "a", "L", formula=True)
    assert found.formula is not None
    assert [(of, wrt, text) for of, wrt, text, _ in found.formula.steps] == [
        ("L", "d", "-1"), ("d", "b", "w3"), ("d", "c", "w4"), ("b", "a", "w1"), ("c", "a", "w2"),
    ]  # fmt: skip
    assert "  dd/dc = w4\n" in printed(found)


# ---------------------------------------------------------------- names


def names_of(text: str, wrt: str, of: str | None = None) -> list[tuple[str, ...]]:
    return [path.names for path in report(text, wrt, of).paths]


def test_a_name_bound_again_is_another_tensor() -> None:
    text = "a = tensor(2.0, requires_grad=True)\ny = a * 3\ny = y * y\nL = y + 1\n"
    assert names_of(text, "a") == [("L", "y#2", "y#1", "a")]
    assert names_of(text, "y#1") == [("L", "y#2", "y#1")]
    assert names_of(text, "y") == [("L", "y#2")]
    assert names_of(text, "a", "y#1") == [("y#1", "a")]


def test_the_result_itself_under_the_name_of_its_leaf() -> None:
    text = "x = tensor(3.0, requires_grad=True)\nx = x * x\n"
    found = report(text, "x", "x")
    assert [path.names for path in found.paths] == [("x#2", "x#1")]
    assert found.sum == 6


def test_items_of_lists_and_names_inside_functions() -> None:
    text = """\
ws = [tensor(float(i), requires_grad=True) for i in range(3)]
def half(v):
    part = v * v
    return part / 2
L = half(ws[1]) + half(ws[2] * 3)
"""
    assert names_of(text, "ws[1]") == [("L", "part#1", "ws[1]")]
    assert names_of(text, "ws[2]") == [("L", "part#2", "v#2", "ws[2]")]


def test_parameters_of_modules() -> None:
    text = "net = nn.Sequential(nn.Linear(2, 1))\nloss = net(ones(1, 2)).sum()\n"
    found = report(text, "net[0].weight")
    assert found.equal and found.paths[0].names[-1] == "net.0.weight"
    assert report(text, "net.0.weight").sum == found.sum


def test_a_local_tensor_that_is_gone() -> None:
    text = "a = tensor(2.0, requires_grad=True)\ndef f(x):\n    h = x * 3\n"
    text += "    return h * h\nL = f(a)\n"
    found = report(text, "h")
    assert found.paths[0].names == ("L", "h") and found.sum == 12 and found.equal
    assert names_of(text, "a", "h") == [("h", "a")]


def test_private_names_count_where_they_are_requested() -> None:
    text = "a = tensor(2.0, requires_grad=True)\n_t = a * 3\nL = _t * _t\n"
    assert names_of(text, "a") == [("L", "a")]
    assert names_of(text, "_t") == [("L", "_t")]


def test_several_tensors_of_one_name_are_reported() -> None:
    text = "x = tensor(3.0, requires_grad=True)\nx = x * 2\nL = x * x\n"
    assert "x stands for 2 tensors on the way; --wrt x#1 asks for another" in printed(
        report(text, "x", "L")
    )


@pytest.mark.parametrize(
    ("wrt", "message"),
    [("nope", "no tensor that requires grad"), ("n", "it is an integer"), ("y#5", "stood for 1"),
     ("k", "does not require grad"), ("f.weight", "does not require grad")],
)  # fmt: skip
def test_names_that_cannot_be_requested(wrt: str, message: str) -> None:
    text = "a = tensor(2.0, requires_grad=True)\nn = int(3)\nk = tensor([1])\ny = a * n\n"
    text += "f = nn.Linear(1, 1).requires_grad_(False)\n"
    with pytest.raises(UsageError, match=message):
        report(text, wrt)


# ---------------------------------------------------------------- large counts


def test_a_thousand_million_paths() -> None:
    began = time.process_time()
    found = report(ROUNDS, "a", "y", edges=True)
    assert time.process_time() - began < 5
    doc = parsed(found)
    assert (doc["count"], doc["edge_count"]) == (1, 2**30)
    assert (doc["sum"], doc["reverse"], doc["equal"]) == (2**30, 2**30, True)
    assert len(doc["paths"]) == 20 and {path["product"] for path in doc["paths"]} == {1}


def test_as_many_paths_through_names() -> None:
    text = "a = tensor(1.0, requires_grad=True)\ny = a\nfor i in range(30):\n    b = y * 1.0\n"
    text += "    c = y * 1.0\n    y = b + c\n"
    found = report(text, "a", "y", top=3)
    assert found.path_count == 2**30 and found.sum == 2**30 and found.equal


def test_counts_of_thousands_of_digits() -> None:
    text = "a = tensor(1.0, requires_grad=True)\ny = a\nfor i in range(15000):\n    y = y + y\n"
    found = report(text + "    y = y * 0.5\n", "a", "y", edges=True, top=1)
    doc = "".join(document.paths(found))
    digits = doc.partition('"edge_count": ')[2].partition(",")[0]
    assert len(digits) == 4516 and digits.startswith("281796")
    assert "the sum of about 2.82e4515 paths" in printed(found)


def test_ten_thousand_nodes_are_quick() -> None:
    text = "a = tensor(1.0, requires_grad=True)\ny = a\nfor i in range(2500):\n"
    text += "    b = y * 0.6\n    c = y * 0.4\n    y = b + c\nL = y * 1.0\n"
    began = time.process_time()
    found = report(text, "a", "L")
    spent = time.process_time() - began
    assert len(found.paths) == 20 and found.equal
    assert spent < 10  # seconds of the processor, of which it takes about 0.4


def test_a_deep_chain() -> None:
    text = "a = tensor(1.0, requires_grad=True)\ny = a\nfor i in range(30000):\n    y = y + 1\n"
    found = report(text, "a", "y", top=1)
    assert found.path_count == 1 and found.sum == 1 and len(found.paths[0].names) == 30001
    assert len(printed(found).splitlines()) < 12


def test_the_largest_come_first() -> None:
    text = "a = tensor(1.0, requires_grad=True)\n"
    text += "\n".join(f"t{i} = a * {(i * 7) % 31 - 15}.0" for i in range(31))
    text += "\nL = " + " + ".join(f"t{i}" for i in range(31)) + "\n"
    found = report(text, "a", "L", top=7)
    sizes = [abs(path.product) for path in found.paths]  # type: ignore[arg-type]
    assert sizes == [15, 15, 14, 14, 13, 13, 12]
    assert "and 24 more, in the sum as well; --top N lists N" in printed(found)


# ---------------------------------------------------------------- cancelling, hooks, NaN


def test_cancelling_paths_are_flagged() -> None:
    text = "a = tensor(2.0, requires_grad=True)\nb = a * 3\nc = a * 3\nL = b - c\n"
    found = report(text, "a")
    assert found.sum == 0 and found.equal
    assert [path.against for path in found.paths] == [True, True]
    assert [path.share for path in found.paths] == [None, None]
    assert printed(found).count("cancels") == 2


def test_shares_of_a_partly_cancelled_sum() -> None:
    text = "a = tensor(2.0, requires_grad=True)\nb = a * 3\nc = a ** 2\nL = b - c * 1.5\n"
    found = report(text, "a")
    assert [path.share for path in found.paths] == [2, -1]
    assert [path.against for path in found.paths] == [False, True]


def test_a_hook_makes_it_unequal(tmp_path: Path) -> None:
    text = "a = tensor(2.0, requires_grad=True)\nb = a * 3\nb.register_hook(lambda g: g * 2)\n"
    found = report(text + "L = b * b\n", "a")
    assert (found.sum, found.reverse, found.equal, found.hooked) == (36, 72, False, ("b",))
    assert "b has a hook that changes the gradient on its way" in printed(found)
    path = tmp_path / "hooked.expr"
    path.write_text(text + "L = b * b\n")
    assert gradcli("paths", str(path), "--wrt", "a").returncode == 1


def test_a_hook_prints_once(tmp_path: Path) -> None:
    path = tmp_path / "hooked.expr"
    path.write_text(
        "a = tensor(2.0, requires_grad=True)\nb = a * 3\n"
        "b.register_hook(lambda g: print('printed by a hook'))\nb.backward()\n"
    )
    for more in ((), ("--of", "b")):
        out = gradcli("paths", str(path), "--wrt", "a", *more).stdout
        assert out.splitlines().count("printed by a hook") == 1
    assert (
        json.loads(gradcli("paths", str(path), "--wrt", "a", "--format", "json").stdout)["output"]
        == "printed by a hook\n"
    )


@pytest.mark.parametrize("value", ["0.0", "float('inf')", "float('nan')"])
def test_what_is_not_finite(value: str) -> None:
    found = report(f"a = tensor({value}, requires_grad=True)\nb = a.log()\nL = b * b\n", "a")
    assert found.equal is True
    parsed(found)


def test_overflow_in_float32_is_distinguished() -> None:
    text = "a = tensor(1.0, requires_grad=True)\nb = a * 1e30\nc = b * 1e30\nL = c * 1e-30\n"
    assert report(text, "a").equal in (True, False)
    assert report(text.replace("1.0,", "1.0, dtype=torch.float64,"), "a").equal is True


# ---------------------------------------------------------------- without values


def test_question_marks() -> None:
    found = report("b = w1 * a\nc = w2 * a\nd = w3 * b + w4 * c\nL = 10 - d\n", "a")
    text = printed(found)
    assert "L ─(-1)→ d ─(?)→ b ─(?)→ a   ?" in text
    assert text.endswith("\ndL/da = -(w3*w1 + w4*w2)\n")
    doc = parsed(found)
    assert doc["sum"] is None and doc["equal"] is None
    assert doc["paths"][0]["derivatives"] == [-1, None, None]


def test_only_what_needs_them_is_unknown() -> None:
    text = "b = w * a\nL = b * 2\n"
    found = report(text, "a", sets=("w=3.0",))
    assert [step.derivative for step in found.paths[0].steps] == [2, 3]
    assert found.sum == 6


# ---------------------------------------------------------------- no way


def test_no_path(tmp_path: Path) -> None:
    text = "a = tensor(2.0, requires_grad=True)\nb = tensor(3.0, requires_grad=True)\nL = a * a\n"
    found = report(text, "b", "L")
    doc = parsed(found)
    assert doc["count"] == 0 and doc["paths"] == [] and doc["reverse"] is None
    assert "dL/db: no path, since L does not depend on b" in printed(found)
    (tmp_path / "x.expr").write_text(text)
    assert gradcli("paths", str(tmp_path / "x.expr"), "--wrt", "b", "--of", "L").returncode == 0


def test_the_result_itself() -> None:
    found = report("a = tensor(2.0, requires_grad=True)\nL = a * a\n", "L", "L")
    assert found.sum == 1 and found.equal


# ---------------------------------------------------------------- properties


SEEDS = range(48)


def numbers_of(found: PathsReport) -> Any:
    return found.sum if found.sum is not None else 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_of_scalars(seed: int) -> None:
    """Sums and counts, walked one by one too; what runs over edges runs over names as well; the
    formula, run by PyTorch, is the gradient."""
    text = paths_programs.program(seed)
    for wrt in ("a", "b", "c"):
        named = report(text, wrt, "L", top=5000, formula=True)
        edges = report(text, wrt, "L", top=5000, edges=True)
        assert named.equal and edges.equal, text
        if not named.path_count:
            continue
        assert named.path_count == len(named.paths) and edges.edge_count == len(edges.paths), text
        assert named.edge_count == edges.edge_count == brute_force(text, wrt), text
        total = math.fsum(path.product for path in named.paths)  # type: ignore[misc]
        assert math.isclose(total, numbers_of(named), rel_tol=1e-5, abs_tol=1e-5), text
        sizes = [abs(path.product) for path in named.paths]  # type: ignore[arg-type]
        assert sizes == sorted(sizes, reverse=True), text
        known = {name for path in named.paths for name in path.names}
        projected: dict[tuple[str, ...], float] = {}
        for path in edges.paths:
            key = tuple(name for name in path.names if name in known)
            projected[key] = projected.get(key, 0.0) + path.product  # type: ignore[operator]
        assert set(projected) == {path.names for path in named.paths}, text
        for path in named.paths:
            product: Any = path.product
            assert math.isclose(projected[path.names], product, rel_tol=1e-4, abs_tol=1e-4), text
        assert named.formula is not None, f"{named.no_formula}\n{text}"
        lines = named.formula.program.split("\n")
        theirs, ours = oracle.ask("gradient_and_formula", text, "L", wrt, lines)
        assert close(theirs, ours), f"{text}{named.formula.program}"


def brute_force(text: str, wrt: str) -> int:
    """The number of paths, walked one by one."""
    request = Request(text.encode(), "x.expr", holds_graph=True)
    bindings = execute(request, None).outcome.bindings  # type: ignore[union-attr]
    leaf = bindings[wrt]
    count, pending = 0, [bindings["L"].grad_fn]
    while pending:
        node = pending.pop()
        if getattr(node, "variable", None) is leaf:
            count += 1
        pending.extend(child for child, _ in node.next_functions if child is not None)
    return count


@question
def gradient_and_formula(lib: Any, text: str, of: str, wrt: str, lines: list[str]) -> Any:
    """The gradient, and what the formula gives when it is appended to the program."""
    names = {name: getattr(lib, name) for name in dir(lib)
             if not name.startswith("_") and not hasattr(builtins, name)}  # fmt: skip
    names |= {"torch": lib, "F": lib.nn.functional, "nn": lib.nn}
    exec(compile(text, "program", "exec"), names)
    of_tensor, leaf = names[of], names[wrt]
    (gradient,) = lib.autograd.grad(of_tensor, [leaf], retain_graph=True, allow_unused=True)
    for line in lines[:-1]:
        exec(compile(line, "formula", "exec"), names)
    value = lib.as_tensor(eval(compile(lines[-1], "formula", "eval"), names))
    return [gradient.reshape(-1).tolist(), value.detach().reshape(-1).tolist()]


def close(one: list[float], other: list[float]) -> bool:
    most = max(map(abs, one), default=0.0)
    return len(one) == len(other) and all(
        math.isclose(x, y, rel_tol=1e-3, abs_tol=1e-4 * max(1.0, most))
        for x, y in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_programs_of_tensors(first: int) -> None:
    """Whatever the shapes: the paths' sum is reverse mode's gradient, and so are the formulas."""
    told = 0
    for seed in range(first, first + 20):
        text = tensor_program(seed).split("loss.backward()")[0].split("g, = torch")[0]
        for wrt in ("p", "q"):
            for edges in (False, True):
                try:
                    found = report(text, wrt, "loss", edges=edges, formula=not edges, top=3)
                except UsageError:  # the loss has no gradient at all
                    continue
                if found.error is not None:  # changed in place: PyTorch's error
                    continue
                assert found.equal, text
                if found.formula is not None and found.path_count:
                    told += 1
                    lines = found.formula.program.split("\n")
                    theirs, ours = oracle.ask("gradient_and_formula", text, "loss", wrt, lines)
                    assert close(theirs, ours), f"{text}{found.formula.program}"
    assert told > 10


@pytest.mark.parametrize("made", ["x ** 2", "Double.apply(x)", "(x * 1).clone().mul_(x)"])
def test_a_program_fails_where_it_fails_without_the_question(made: str) -> None:
    """A graph is held aside; a second pass through it ends in PyTorch's error all the same."""
    text = f"""
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]

x = torch.tensor(2.0, requires_grad=True)
y = {made}
y.backward()
"""
    assert report(text, "x").reverse == 4.0
    failed = report(text + "y.backward()\n", "x")
    assert failed.error is not None and "a second time" in failed.error.message
    assert report(text.replace("backward()", "backward(retain_graph=True)", 1), "x").reverse == 4.0
