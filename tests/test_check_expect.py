"""Tests of `# expect:` beside a line: conditions and errors that `gradcli check` looks at."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check import document, gradcli, home, problems, write

__all__ = ["home"]
X = "x = tensor([1.0, 2.0], requires_grad=True)\ny = (x**2).sum()\n"
HOLD = {
    "a condition": X + "y.backward()  # expect: x.grad == tensor([2., 4.])\n",
    "none": X.replace("\n", "  # expect: x.grad is None\n", 1),
    "below": X + "y.backward()\n# expect: x.grad == x * 2\n# expect: x.grad.shape == (2,)\n",
    "a number for all": X + "z = x * 0  # expect: z == 0\n",
    "each turn": "for i in range(3):\n    z = i * 2  # expect: z == i + i\n# expect: z == 4\n",
    "in a function": "def f(v):\n    w = v * 2\n    return w  # expect: w == v + v\nf(3)\n",
    "two": "a = 1; b = 2  # expect: a < b\n",
    "a text": "s = '# expect: no'\nt = '''\n# expect: no\n'''  # expect: len(s) == 12\n",
    "letters": "s = 'ö'; t = 'ü'  # expect: s + t == 'öü'\n",
    "an error": X + "x.backward()  # expect: raises RuntimeError\n",
    "its base": "[][1]  # expect: raises LookupError\n",
    "its words": X + "x.backward()  # expect: raises RuntimeError: scalar outputs\n",
    "its own": "class Bad(ValueError):\n    pass\nraise Bad('no')  # expect: raises Bad: no\n",
    "a handled error": "try:\n    int('a')  # expect: raises ValueError\nexcept ValueError:\n"
    "    n = 1\n# expect: n == 1\n",
    "in a with": "with torch.no_grad():\n    z = torch.ones(1)  # expect: not z.requires_grad\n",
}  # fmt: skip
FAIL = {
    "a condition": (X + "y.backward()  # expect: x.grad == tensor([2., 5.])\n",
                    "x.grad == tensor([2., 5.]): it does not hold", 3),
    "shapes": ("x = torch.ones(3, 2)  # expect: x == torch.ones(2)\n",
               "x == torch.ones(2): it does not hold", 1),
    "one turn": ("for i in range(5):\n    z = i  # expect: z < 4\n", "z < 4: it does not hold", 2),
    "no condition": ("x = 3  # expect: x + 4\n", "x + 4: it is neither True nor False, but 7", 1),
    "an error in it": ("x = 3  # expect: x.foo == 3\n", "x.foo == 3: AttributeError", 1),
    "no error": ("x = 3  # expect: raises ValueError\n",
                 "raises ValueError: nothing was raised", 1),
    "other words": ("int('a')  # expect: raises ValueError: literally\n",
                    "raises ValueError: literally: the error is ValueError: invalid literal", 1),
    "not reached": ("if 1 > 2:\n    x = 3  # expect: x == 3\n",
                    "x == 3: the program did not reach this line", 2),
    "another, handled": ("try:\n    int('a')  # expect: raises KeyError\nexcept ValueError:\n"
                         "    pass\n", "raises KeyError: the program did not reach this line,", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLD)
def test_what_holds(home: Path, name: str) -> None:
    write(home, "a.expr", HOLD[name])
    doc, done = document("a.expr")
    (file,) = doc["files"]
    assert (done.returncode, file["problems"]) == (0, [])
    assert file["expectations"] > 0 and file["checked"]


@pytest.mark.parametrize("name", FAIL)
def test_what_does_not_hold(home: Path, name: str) -> None:
    text, message, line = FAIL[name]
    write(home, "a.expr", text)
    (found,) = problems("a.expr")
    assert (found[0], found[2]) == ("expect", line) and found[1].startswith(message), found


def test_all_are_reported_and_the_program_goes_on(home: Path) -> None:
    write(home, "a.expr", "x = 1  # expect: x == 2\nprint(x)\ny = 3  # expect: y == 4\n")
    doc, done = document("a.expr")
    assert [p["line"] for p in doc["files"][0]["problems"]] == [1, 3] and done.returncode == 1
    assert doc["files"][0]["output"] == "1\n"


def test_both_sides_are_shown(home: Path) -> None:
    write(home, "a.expr", X + "y.backward()  # expect: x.grad == x * 3\n")
    said = [line.strip() for line in gradcli("check", "a.expr").stdout.splitlines()]
    assert "x.grad: tensor([2., 4.])" in said
    assert any(line.startswith("x * 3: tensor([3., 6.]") for line in said)
    assert "2 of 2 elements differ, by at most 2, at [1]" in said


def test_another_error_is_an_error(home: Path) -> None:
    write(home, "a.expr", "int('a')  # expect: raises KeyError\n")
    kinds = [kind for kind, _, _ in problems("a.expr")]
    assert kinds == ["error", "expect"] and gradcli("check", "a.expr").returncode == 3


def test_the_error_is_in_the_record(home: Path) -> None:
    write(home, "a.expr", "print(1)\nint('a')  # expect: raises ValueError\n")
    assert gradcli("check", "a.expr", "--update").returncode == 0
    assert (home / "a.out").read_text().splitlines()[1].startswith("ValueError: invalid literal")
    assert gradcli("check", "a.expr").returncode == 0
    write(home, "a.expr", "print(1)\nint('b')  # expect: raises ValueError\n")
    assert [kind for kind, _, _ in problems("a.expr")] == ["output"]


@pytest.mark.parametrize(
    "text",
    ["", "hello world", "x = 3", "raises", "raises 5", "raises RuntimeEror", "x, 3", "(x",
     "x) or (x", "y := 3", "yield", "import os", "open('a')", "x.__class__ == 3"],
)  # fmt: skip
def test_unknown_forms_are_errors_with_their_line(home: Path, text: str) -> None:
    write(home, "a.expr", f"x = 1\ny = 2  # expect: {text}\n")
    (found,) = [p for p in problems("a.expr") if p[0] in ("error", "expect")]
    assert found[2] == 2 and gradcli("check", "a.expr").returncode in (1, 3)
    assert found[0] == ("expect" if text in ("open('a')", "x.__class__ == 3") else "error")


@pytest.mark.parametrize(
    "text",
    ["# expect: x == 1\nx = 1\n", "for i in range(3):  # expect: i == 0\n    pass\n",
     "x = (1,  # expect: x\n     2)\n", "x = 1\n    # expect: x == 1\n"],
)  # fmt: skip
def test_beside_no_statement(home: Path, text: str) -> None:
    write(home, "a.expr", text)
    (found,) = problems("a.expr")
    assert found[0] == "error" and "expectation" in found[1]


def test_only_check_looks_at_them(home: Path) -> None:
    write(home, "a.expr", "x = 1  # expect: hello world\nprint(x)\n")
    done = gradcli("run", "a.expr")
    assert (done.returncode, done.stdout) == (0, "1\n")


def test_they_are_under_the_limits(home: Path) -> None:
    text = "def f():\n    while True:\n        pass\nx = 1  # expect: f() == 1\n"
    write(home, "a.expr", text)
    assert gradcli("check", "a.expr", "--max-steps", "10000").returncode == 4
    write(home, "a.expr", "x = 1  # expect: torch.ones(10**9).sum() > 1\n")
    assert gradcli("check", "a.expr", "--max-memory", "100MB").returncode == 4


def test_more_than_anybody_reads_is_counted(home: Path) -> None:
    (home / "a.expr").write_text("".join(f"x{i} = {i} # expect: x{i} < 0\n" for i in range(400)))
    done = gradcli("check", "a.expr")
    assert done.returncode == 1 and done.stdout.count("expect: ") == 51 + 50
    assert "expect: ... and 350 more problems" in done.stdout
