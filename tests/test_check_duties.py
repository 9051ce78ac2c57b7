"""Tests of `gradcli check`: NaN fails, what was not checked is said, asserts show operands."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check import GOOD, document, gradcli, home, problems, write

from gradcli.diagnostics import most_urgent

__all__ = ["home"]
INFINITE = "x = tensor(0.0, requires_grad=True)\ny = x.sqrt()\ny.backward()\n"
MASKED = "x = tensor([0.0, 1.0], requires_grad=True)\ny = torch.where(x > 0, x.sqrt(), x).sum()\n"


def test_nan_and_infinity_fail_by_themselves(home: Path) -> None:
    write(home, "a.expr", INFINITE)
    assert problems("a.expr") == [("inf", "x.grad is inf", 2)]
    assert problems("a.expr", "--allow", "inf") == []
    assert problems("a.expr", "--allow", "nan") != []
    write(home, "a.expr", "# check: allow inf\n" + INFINITE)
    assert problems("a.expr") == []


@pytest.mark.parametrize("end", ["", "y.backward()\n"])
def test_a_nan_is_reported_once(home: Path, end: str) -> None:
    """The difference quotients find it, with its cause; the gate says nothing more."""
    write(home, "a.expr", MASKED + end)
    assert [kind for kind, _, _ in problems("a.expr")] == ["gradient"]
    assert problems("a.expr", "--allow", "nan") == []
    assert [kind for kind, _, _ in problems("a.expr", "--no-numeric")] == (["nan"] if end else [])


def test_a_mask_of_infinities_is_no_failure(home: Path) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\n"
    text += "y = x.masked_fill(tensor([True, False]), float('-inf'))\n"
    write(home, "a.expr", text)
    assert problems("a.expr") == []
    assert [kind for kind, _, _ in problems("a.expr", "--fail-on", "inf")] == ["inf"]
    write(home, "a.expr", text + "z = y.sum()\nz.backward()\n")
    assert ("inf", "z is inf", 2) in problems("a.expr")


@pytest.mark.parametrize("text", ["", "# nothing\n", "y = 3\n", "x = torch.ones(2)\nprint(x)\n"])
def test_what_was_not_checked_is_reported(home: Path, text: str) -> None:
    write(home, "a.expr", text)
    done = gradcli("check", "a.expr")
    assert done.returncode == 0
    assert "nothing was checked: no record, no gradient, no assert" in done.stdout
    assert done.stdout.endswith("1 program: 1 passed (1 not checked at all)\n")
    doc, _ = document("a.expr")
    assert doc["files"][0]["checked"] is False


@pytest.mark.parametrize("text", [GOOD, "assert True\n", "# check: raises ValueError\nint('a')\n"])
def test_what_was_checked_is_not(home: Path, text: str) -> None:
    write(home, "a.expr", text)
    assert "not checked" not in gradcli("check", "a.expr").stdout
    assert document("a.expr")[0]["files"][0]["checked"] is True


def test_what_is_required(home: Path) -> None:
    write(home, "a.expr", GOOD)
    (found,) = problems("a.expr", "--require-record")
    assert found == ("record", "there is no recorded answer", None)
    assert problems("a.expr", "--require-gradient") == []
    assert problems("a.expr", "--require-record", "--update") == []
    assert problems("a.expr", "--require-record") == []
    write(home, "b.expr", "assert 1 < 2\n")
    said = "no gradient was checked: no result requires grad"
    assert problems("b.expr", "--require-gradient") == [("gradient", said, None)]
    write(home, "c.expr", "# check: raises RuntimeError\ntensor(1.0).backward()\n")
    assert problems("c.expr", "--require-gradient") == []
    write(home, "d.expr", "x = tensor(0.0, requires_grad=True)\nx.sqrt().backward()\n")
    said = "d(x.sqrt())/dx: the gradient is inf, and difference quotients give no finite slope"
    why = [f"no gradient was checked: {said} either"]
    assert [words for kind, words, _ in problems("d.expr", "--require-gradient")
            if kind == "gradient"] == why  # fmt: skip
    summary = gradcli("check", "d.expr").stdout.splitlines()[-1]
    assert summary == "1 program: 1 failed; 1 gradient could not be compared"
    done = gradcli("check", "a.expr", "--require-gradient", "--no-numeric")
    assert (done.returncode, done.stdout) == (2, "")


def test_no_program_is_wrong_usage(home: Path) -> None:
    (home / "empty").mkdir()
    assert gradcli("check", "empty").returncode == 2
    assert gradcli("check").returncode == 2


def test_of_several_ends_the_most_urgent_counts(home: Path) -> None:
    """A finding is acted on; a limit says only that there is no answer."""
    write(home, "p/limit.expr", "while True:\n    pass\n")
    assert gradcli("check", "p", "--max-steps", "1000").returncode == 4
    write(home, "p/wrong.expr", "assert 1 > 2\n")
    assert gradcli("check", "p", "--max-steps", "1000").returncode == 1
    assert most_urgent([]) == 0
    pairs = {(4, 1): 1, (1, 3): 3, (2, 1): 2, (5, 1): 1, (4, 5): 5, (70, 3): 70}
    assert {pair: most_urgent([0, *pair]) for pair in pairs} == pairs


X = "x = tensor([1.0, 2.0], requires_grad=True)\n(x**2).sum().backward()\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (X + "assert torch.equal(x.grad, x * 3)",
         ["x.grad: tensor([2., 4.])", "x * 3: tensor([3., 6.])",
          "note: 2 of 2 elements differ, by at most 2, at [1]"]),
        (X + "assert (x.grad == x + 1).all()",
         ["x.grad: tensor([2., 4.])", "x + 1: tensor([2., 3.])",
          "note: 1 of 2 elements differs, by at most 1, at [1]"]),
        (X + "assert torch.equal(x.grad, x[:1])",
         ["x[:1]: tensor([1.])", "note: the shapes are [2] and [1]"]),
        (X + "assert x.grad.sum().item() == 7", ["x.grad.sum().item(): 6.0"]),
        (X + "assert x.shape == (3,)", ["x.shape: torch.Size([2])"]),
        (X + "assert x.dtype == torch.float64", ["x.dtype: torch.float32"]),
        (X + "assert x.grad.isnan().any()", ["x.grad: tensor([2., 4.])"]),
        (X + "assert x.tolist() == [1.0, 3.0]", ["x.tolist(): [1.0, 2.0]"]),
        (X + "assert dict(a=2) == {'a': (1,)}", ["dict(a=2): {'a': 2}"]),
        (X + "assert x.grad.numpy().sum() > 7", ["x.grad.numpy().sum(): np.float32(6.0)"]),
        (X + "assert not x.requires_grad or x.grad is None", ["x.grad: tensor([2., 4.])"]),
        ("a = torch.zeros(30, 4)\nb = a.clone()\nb[3, 1] = float('nan')\nassert torch.equal(a, b)",
         ["a: Tensor [30, 4]", "note: 1 of 120 elements differs, at [3, 1]"]),
        ("def f(v):\n    w = v + 1\n    assert w * 2 > 10, f'no: {w}'\nf(2)",
         ["w * 2: 6", "w: 3", "AssertionError: no: 3"]),
        ("torch.manual_seed(3)\nassert torch.rand(1).item() > 2", ["torch.rand(1).item(): 0.0"]),
    ],
)  # fmt: skip
def test_a_failed_assert_shows_both_sides(home: Path, text: str, told: list[str]) -> None:
    write(home, "a.expr", text)
    done = gradcli("check", "a.expr")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 1
    for line in told:
        assert any(shown.startswith(line) for shown in lines), (line, done.stdout)


def test_operands_are_computed_once_and_not_kept(home: Path) -> None:
    text = "n = []\ndef f(v):\n    n.append(v)\n    return v\n"
    text += "for i in range(3):\n    assert f(i) < 2, len(n)\n"
    write(home, "a.expr", text)
    assert problems("a.expr") == [("assert", "AssertionError: 3", 6)]
    big = "for _ in range(20):\n    assert torch.ones(1000, 1000).sum() > torch.zeros(2).sum()\n"
    write(home, "a.expr", big)
    assert gradcli("check", "a.expr", "--max-memory", "12MB").returncode == 0


def test_two_that_came_from_one_place_share_its_frame(home: Path) -> None:
    write(home, "a.expr", "x = torch.tensor(100., requires_grad=True)\ny = torch.exp(x)\n"
          "y.backward()\n")  # fmt: skip
    page = gradcli("check", "a.expr").stdout
    assert page.count("inf from here on") == 1
    assert "  inf: y is inf\n  inf: x.grad is inf\n" in page
