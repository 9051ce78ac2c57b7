"""Tests of what runs while an error is told, and of how much is told: at most one screen."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from command_here import here
from pages import error_of
from test_cli import gradcli

from gradcli.diagnostics import MOST, MOST_LINES, bounded
from gradcli.pipeline.request import Limits, Request
from gradcli.pipeline.run import execute

LINES, CHARACTERS = 24, 6000


def ended(text: str) -> tuple[int, str, str]:
    """Exit status, place and last line of a program's error."""
    limits = Limits(max_steps=20_000, max_output=1000)
    error = execute(Request(text.encode(), "p.expr", limits=limits), lambda words: None).error
    assert error is not None and error.span is not None
    place = f"{error.span.line}:{error.span.column}"
    return int(error.exit_status), place, f"{error.type}: {error.message}"


def with_str(body: str, name: str = "__str__") -> str:
    """An error whose message is the program's own code."""
    return f"class E(Exception):\n    def {name}(self):\n        {body}\nraise E(1)\n"


def with_repr(body: str) -> str:
    return f"class A:\n    def __repr__(self):\n        {body}\nraise KeyError(A())\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (with_str("return 1 / 0"), (3, "3:16", "ZeroDivisionError: division by zero")),
        (with_str("raise ValueError('own')"), (3, "3:9", "ValueError: own")),
        (with_str("raise E(2)"), (3, "3:9", "E: <exception str() failed>")),
        (with_str("return 5"), (3, "4:1", "TypeError: __str__ returned non-string (type int)")),
        (with_str("return self.nope"),
         (3, "3:21", "AttributeError: 'E' object has no attribute 'nope'")),
        (with_str("while True: pass"),
         (4, "3:9", "LimitReached: the limit of 20,000 steps is reached; --max-steps raises it")),
        (with_str("return str(self)"),
         (4, "3:16", "LimitReached: the limit of 1,000 nested calls is reached; --max-depth "
                     "raises it")),
        (with_str("return 'a' * 10**13"),
         (4, "3:16", "LimitReached: the limit of 4,294,967,296 bytes is reached; --max-memory "
                     "raises it")),
        (with_str("while True: print('hello')"),
         (4, "3:21", "LimitReached: the limit of 1,000 bytes of output is reached; --max-output "
                     "raises it")),
        (with_repr("raise ValueError('own')"), (3, "3:9", "ValueError: own")),
        (with_repr("while True: pass"),
         (4, "3:9", "LimitReached: the limit of 20,000 steps is reached; --max-steps raises it")),
        (with_repr("return 1"), (3, "4:1", "TypeError: __repr__ returned non-string (type int)")),
        (with_str("return 1 / 0").replace("raise E(1)", "assert False, E(1)"),
         (3, "3:16", "ZeroDivisionError: division by zero")),
        ("raise ValueError(10**5000)\n",
         (3, "1:1", "ValueError: Exceeds the limit (4300 digits) for integer string conversion; "
                    "use sys.set_int_max_str_digits() to increase the limit")),
        ("x = {}\nx[10**5000]\n",
         (3, "2:1", "ValueError: Exceeds the limit (4300 digits) for integer string conversion; "
                    "use sys.set_int_max_str_digits() to increase the limit")),
        ("x = 10**5000\nassert x < 0\n", (3, "2:8", "AssertionError: ")),
        ("x = {10**5000: 1}\nx['a']\n", (3, "2:1", "KeyError: 'a'")),
        ("x = [1]\nx[10**5000]\n",
         (3, "2:1", "IndexError: cannot fit 'int' into an index-sized integer")),
    ],
)  # fmt: skip
def test_what_goes_wrong_while_an_error_is_reported(
    text: str, told: tuple[int, str, str]
) -> None:  # fmt: skip
    assert ended(text) == told


def test_an_error_in_a_generator_that_is_given_up_is_a_warning() -> None:
    text = "def g():\n    try: yield 1\n    finally: 1 / 0\nprint(next(g()))\n"
    ran = execute(Request(text.encode(), "p.expr"), lambda words: None)
    words = "Exception ignored in a generator that was given up: ZeroDivisionError"
    assert (ran.error, ran.warnings, ran.printed) == (None, (words,), ["1\n"])


def test_the_next_program_hears_nothing_of_a_generator_that_is_left() -> None:
    """One in a circle is collected at any time; it does not go on then."""
    collected: set[int] = set()
    for last in ("print('late'); 1 / 0", "\n        while True: pass"):
        text = f"def g():\n    try: yield 1\n    finally: {last}\n"
        circle = "class C: pass\nc = C()\nc.me, c.g = c, g()\nprint(next(c.g))\n"
        for program in (text + circle, "print(2)\nprint(3)\n"):
            ran = execute(
                Request(program.encode(), "p.expr"), lambda words: collected.add(gc.collect())
            )
            assert (ran.error, ran.warnings) == (None, ()) and "late\n" not in ran.printed
            del ran


MILLION = 10**6
BIG = {
    "message": f"raise ValueError('x' * {MILLION})\n",
    "lines": f"raise ValueError('x\\n' * {MILLION})\n",
    "assertion": f"assert 0, 'x' * {MILLION}\n",
    "escapes": f"raise ValueError('\\x1b' * {MILLION})\n",
    "wide": f"raise ValueError('\\u6f22' * {MILLION})\n",
    "own str": with_str(f"return 'a' * {MILLION}"),
    "key": f"x = {{}}\nx['k' * {MILLION}]\n",
    "name": "x" * MILLION + "\n",
    "names": "".join(f"y{i} = a{i} * 2\n" for i in range(3000)),
    "attribute": "x = 1\nx." + "y" * MILLION + "\n",
    "member": "torch." + "y" * MILLION + "()\n",
    "keyword": "torch.ones(2, " + "k" * MILLION + "=1)\n",
    "own keyword": "def f(a):\n    return a\nf(" + "k" * MILLION + "=1)\n",
    "import": "import " + "k" * MILLION + "\n",
    "from": "from torch import " + "k" * MILLION + "\n",
    "text": "x = 'a" + "b" * MILLION + "\n",
    "syntax": "x = " + "1 + " * 200_000 + "\n",
    "element": "x = [" + "1, " * 200_000 + "1/0]\n",
    "8 MB": "x = ['" + "a" * (8 * 2**20 - 100) + "', y]\n",
    "class": "class " + "K" * MILLION + "(Exception):\n    pass\nraise " + "K" * MILLION + "()\n",
    "function": "def " + "f" * MILLION + "():\n    1/0\n" + "f" * MILLION + "()\n",
    "parameters": "def f(" + ", ".join(f"a{i}" for i in range(5000)) + "):\n    return 1\nf()\n",
    "decorator": "@" + "f" * MILLION + "\ndef g():\n    pass\n",
    "shape": "torch.ones(2).reshape([3] * 100000)\n",
    "arguments": "torch.add(*([1] * 100000))\n",
    "state": "nn.Linear(1, 1).load_state_dict({'k' + str(i): 1 for i in range(100000)})\n",
    "device": f"torch.ones(2, device='x' * {MILLION})\n",
    "causes": "def f(n):\n    try:\n        if n == 0:\n            raise ValueError('x')\n"
              "        f(n - 1)\n    except ValueError as e:\n        raise ValueError(n) from e\n"
              "f(300)\n",
    "set": "# set: x=@" + "n" * MILLION + "\ny = x\n",
    "brackets": "x = " + "(" * 100_000 + "\n",
    "minus": "x = " + "-" * MILLION + "1\n",
    "indent": "if 1:\n" + " " * 100_000 + "x = 1\n  y = 2\n",
}  # fmt: skip


IN_CHECK = ("message", "name", "set", "causes", "element")  # the others are told by the same code


@pytest.mark.parametrize(
    ("command", "case"), [*(("run", case) for case in BIG), *(("check", case) for case in IN_CHECK)]
)
def test_a_message_is_one_screen(case: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(BIG[case])
    done = here(command, str(tmp_path / "p.expr"))
    page = done.stderr if command == "run" else done.stdout + done.stderr
    assert done.returncode in (1, 2, 3, 4) and "InternalE" not in page
    assert len(page.splitlines()) <= LINES and len(page) <= CHARACTERS


def test_the_rest_of_a_message_is_counted() -> None:
    done = gradcli("run", stdin="raise ValueError('x' * 12000)\n")
    error = error_of(done.stderr)
    kept = error.count("x")
    assert error == f"ValueError: {'x' * kept}… and {12000 - kept:,} more characters"


@pytest.mark.parametrize(
    "text", ["", "a" * MOST, "a\n" * (MOST_LINES - 1), "a" * 10**6, "\n" * 99, "\x1b" * 9999, "é\t"]
)
def test_what_fits_is_left_alone(text: str) -> None:
    once = bounded(text)
    assert bounded(once) == once and len(once) <= MOST and once.count("\n") < MOST_LINES
    printable = text.replace("\n", "").isprintable()
    if len(text) <= MOST and text.count("\n") < MOST_LINES and (printable or len(text) < 100):
        assert once == text


# ---------------------------------------------------------------- whose error it is

PLANTED = """
def forward(self, input):
    {line}
"""
WITH_LINEAR = "net = nn.Linear(2, 2)\ny = net(torch.ones(2))\n"


@pytest.mark.parametrize(
    "line",
    ["return undefined", "return self._nothing(input)", "return input._no_such_method()",
     "import math; return math.sinus(input)"],
)  # fmt: skip
def test_a_mistake_in_a_class_of_the_library_is_ours(
    line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from gradcli.nn import linear

    planted: dict[str, Any] = {}
    exec(compile(PLANTED.format(line=line), linear.__file__, "exec"), planted)
    monkeypatch.setattr(linear.Linear, "forward", planted["forward"])
    (tmp_path / "p.expr").write_text(WITH_LINEAR)
    for command in ("run", "trace"):
        done = here(command, str(tmp_path / "p.expr"))
        assert done.returncode == 70, done.stderr
        assert "this is a bug in gradcli" in done.stderr and "nn/linear.py" in done.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("m = nn.LSTM(3, 2)\ny = m([1, 2])\n", "AttributeError: 'list' object"),
        ("m = nn.Linear(3, 2)\ny = m('a')\n", "TypeError: linear(): argument 'input'"),
        ("m = nn.MultiheadAttention(4, 2)\ny = m(torch.ones(1, 1, 4), None, 3)\n", "NoneType"),
        ("w = torch.tensor(1., requires_grad=True)\nopt = torch.optim.Adam([w])\n"
         "opt.param_groups[0]['betas'] = 3\n(w * 2).backward()\nopt.step()\n", "TypeError"),
        ("m = nn.Linear(3, 2)\ny = m.no_such_layer\n", "AttributeError"),
        ("x = torch.ones(1, requires_grad=True)\nx.exp().grad_fn._saved_other\n", "AttributeError"),
    ],
)  # fmt: skip
def test_what_a_program_gives_to_a_class_of_the_library_is_its_own_error(
    text: str, told: str
) -> None:
    status, place, said = ended(text)
    last = text.count("\n")
    assert status == 3 and place.startswith(f"{last}:") and told in said


def test_what_a_parser_of_arguments_says_is_one_screen_and_counts_as_output() -> None:
    text = "import argparse\nargparse.ArgumentParser(prog='x' * 9000).error('y' * 9000)\n"
    done = gradcli("run", stdin=text)
    assert done.returncode == 3 and "note: xxx" in done.stderr and len(done.stderr) < 3000
    assert "more characters" in done.stderr
    done = gradcli("run", "--max-output", "10KB", stdin=text)
    assert done.returncode == 4 and "--max-output raises it" in done.stderr
