"""Tests of limits: each from both sides, and each tells the place that was running."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
from command_here import here
from confined import run
from pages import error_of
from test_cli import gradcli

from gradcli.diagnostics import Diagnostic, ExitStatus, LimitReached
from gradcli.language import program
from gradcli.language.checking.checker import Checker
from gradcli.pipeline.request import Limits, Ran, Request
from gradcli.pipeline.run import execute

PLACES = (Path(__file__).parent / "programs" / "limits.txt").read_text("utf-8").split("\n----\n")
SMALL = Limits(max_steps=20_000, max_memory=60_000_000, max_output=1000, max_depth=50)


def ran(text: str, limits: Limits) -> Ran:
    return execute(Request(text.encode(), "p.expr", limits=limits), lambda words: None)


def reached(error: Diagnostic | None) -> str:
    """What is told of a limit, and where."""
    assert error is not None and error.span is not None
    assert error.type == "LimitReached" and error.exit_status is ExitStatus.LIMIT_REACHED
    return f"{error.span.line}:{error.span.column} {error.message}"


@pytest.mark.parametrize("case", PLACES)
def test_whoever_meets_a_limit_knows_the_place(case: str) -> None:
    """Limits met in hooks, comprehensions, methods, decorators, while text is made, ..."""
    place, _, text = case.partition("\n")
    assert reached(ran(text, SMALL).error).startswith(place + " the limit of ")


RECURSION = "def f(n):\n    return n if n == 0 else f(n - 1)\nf(49)\n"
NODES = "x = torch.ones(1, requires_grad=True)\nfor i in range(30): x = x * 2\n"
HOOKED = "x = torch.ones(1, requires_grad=True)\ndef h(g):\n    with torch.enable_grad():\n"
HOOKED += "        for i in range(9): x * 2\n"
HOOKED += "x.register_hook(h)\n(x * 2).backward()\n"


@pytest.mark.parametrize(
    ("text", "limit", "least", "told"),
    [
        ("for i in range(100): x = i\n", "max_steps", 201, "1:1 the limit of 200 steps"),
        ("x = 0\nwhile x < 50: x += 1\n", "max_steps", 102, "2:1 the limit of 101 steps"),
        (NODES, "max_nodes", 30, "2:1 the limit of 29 nodes"),
        (HOOKED, "max_nodes", 10, "6:1 the limit of 9 nodes"),
        ("x = 'a' * 1000000\n", "max_memory", 1_000_000, "1:5 the limit of 999,999 bytes"),
        ("y = 1; x = torch.zeros(250)\n", "max_memory", 1000, "1:12 the limit of 999 bytes"),
        ("print('x' * 9)\n", "max_output", 10, "1:1 the limit of 9 bytes of output"),
        ("if True:\n    print('x' * 9)\n", "max_output", 10, "2:5 the limit of 9 bytes of output"),
        (RECURSION, "max_depth", 50, "2:29 the limit of 49 nested calls"),
    ],
)  # fmt: skip
def test_each_limit_from_both_sides(text: str, limit: str, least: int, told: str) -> None:
    assert ran(text, Limits()._replace(**{limit: least})).error is None
    option = "--" + limit.replace("_", "-")
    below = ran(text, Limits()._replace(**{limit: least - 1})).error
    assert reached(below) == f"{told} is reached; {option} raises it"


def test_the_size_of_the_source_from_both_sides() -> None:
    assert ran("x = 1\n", Limits(max_source=6)).error is None
    error = ran("x = 1\n", Limits(max_source=5)).error
    assert error is not None and error.exit_status is ExitStatus.LIMIT_REACHED
    assert (error.file, error.message) == (
        "p.expr", "the limit of 5 bytes of source is reached; --max-source raises it"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("most", "more", "column"),
    [("x = " + "-" * 199 + "1", "x = " + "-" * 200 + "1", 205),
     ("x = (1)" + ".real" * 198, "x = (1)" + ".real" * 199, 6)],
)  # fmt: skip
def test_nesting_from_both_sides(most: str, more: str, column: int) -> None:
    assert ran(most, Limits()).error is None
    told = f"1:{column} the limit of 200 levels of nesting is reached"
    assert reached(ran(more, Limits()).error) == told


@pytest.mark.parametrize(
    ("text", "piece", "place"),
    [
        ("x = 1\ny = " + "1+" * 99 + "1\nz = 2\n", 1, (2, 1)),  # most of a text is one line
        ("x = 1\n" * 9000, 3, (3001, 1)),  # a long one is parsed in pieces
        ("x = 1\n" * 9000 + "y = " + "1+" * 9000 + "1\n", 7, (9001, 1)),
    ],
)
@pytest.mark.parametrize("raised", [MemoryError(), LimitReached("limit of 1 second", "--timeout")])
def test_a_limit_that_pythons_parser_meets_names_the_line(
    text: str, piece: int, place: tuple[int, int], raised: BaseException,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    given: list[str] = []

    def endless(part: str) -> list[ast.stmt]:
        given.append(part)
        if len(given) == piece:
            raise raised
        return ast.parse(part).body

    monkeypatch.setattr(program, "parsed", endless)
    monkeypatch.setattr(program.MemoryUse, "is_much", lambda held: True)
    error = ran(text, Limits()).error
    assert error is not None and error.span is not None and error.type == "LimitReached"
    assert (error.file, error.span.line, error.span.column) == ("p.expr", *place)


def test_a_limit_while_the_tree_is_checked_names_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    def visit(checker: Checker, node: ast.AST, scope: object, depth: int) -> None:
        if isinstance(node, ast.Call):
            raise MemoryError

    monkeypatch.setattr(Checker, "visit", visit)
    error = ran("a = 1\nx = 2; b = f(3)\n", Limits(max_memory=10**8)).error
    assert reached(error).startswith("2:12 the limit of 100,000,000 bytes is reached")


@pytest.mark.parametrize(
    ("where", "place"), [("Comparison._tensor", 2), ("paired", 3), ("trace_report", 3)]
)
def test_a_limit_in_a_comparison_names_the_line(
    where: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tensor that is compared; else the statement that ran last."""

    def short(*given: object, exact: bool = True) -> None:
        raise MemoryError

    monkeypatch.setattr(f"gradcli.questions.diff.{where}", short)
    file = tmp_path / "p.expr"
    file.write_text("\nx = torch.ones(2)\ny = x * 2\n")
    done = here("diff", str(file), "--dtype", "float32,float64")
    assert done.returncode == 4 and done.stderr.startswith(f"{file}:{place}:1\n"), done.stderr


def test_the_node_count_is_not_used_up_by_looking() -> None:
    """A long program with few nodes looks at their number often."""
    text = "x = torch.ones(1, requires_grad=True)\nfor i in range(20000): y = i\n"
    assert ran(text, Limits(max_nodes=10)).error is None


CHECKED = "x = torch.ones(2, requires_grad=True, dtype=torch.float64)\n"
FUNCTION = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
"""


@pytest.mark.parametrize("end", ["y = Twice.apply(x).sum()\n", "Twice.apply(x).sum().backward()\n"])
def test_a_limit_in_the_numeric_part_of_check_names_the_result(end: str, tmp_path: Path) -> None:
    """The difference quotients run the program's own functions again, within its limits."""
    text = FUNCTION + CHECKED + end
    steps = ran(text, Limits()).outcome.steps  # type: ignore[union-attr]
    (tmp_path / "p.expr").write_text(text)
    done = gradcli("check", str(tmp_path / "p.expr"), "--max-steps", str(steps), "-f", "json")
    assert done.returncode == 4, done.stdout
    (problem,) = json.loads(done.stdout)["files"][0]["problems"]
    assert problem["line"] is not None and "--max-steps raises it" in problem["message"]


HOOK = "x = torch.ones(2, requires_grad=True)\ndef h(g):\n    {}\n"
HOOK += "x.register_hook(h)\ny = (x * x).sum()\n"


@pytest.mark.parametrize("command", ["grad", "paths", "step"])
@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("while True: pass", 4, "LimitReached: the limit of 100,000 steps is reached"),
        ("h(g)", 4, "LimitReached: the limit of 1,000 nested calls is reached"),
        ("torch.zeros(10**13)", 4, "LimitReached: the limit of "),
        ("return {}['a']", 3, "KeyError: 'a'"),
        ("return g.nope", 3, "AttributeError: 'Tensor' object has no attribute 'nope'"),
        ("raise RuntimeError('no')", 3, "RuntimeError: no"),
        ("1 / 0", 3, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_hook_that_runs_after_the_program_is_the_programs_own(
    command: str, body: str, status: int, words: str
) -> None:
    wanted = {"grad": ("--wrt", "x"), "paths": ("--of", "y", "--wrt", "x"), "step": ("--of", "y")}
    text = HOOK.replace("{}", body, 1)
    done = gradcli(command, *wanted[command], "--max-steps", "100000", stdin=text)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("<stdin>:3:") and error_of(done.stderr).startswith(words)


def test_where_the_stack_is_full_first_the_sentence_says_so() -> None:
    error = ran("def f(n): return f(n + 1)\nf(0)\n", Limits(max_depth=50_000)).error
    words = "1:18 the limit of Python's stack (before that of 50,000 nested calls) is reached"
    assert reached(error).startswith((words, words.replace("1:18", "1:20")))


NESTED_PASSES = """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            F.apply(torch.ones(1, requires_grad=True)).backward()
        return g
F.apply(torch.ones(1, requires_grad=True)).backward()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system's limit of memory holds on Linux")
def test_memory_is_looked_at_where_calls_are_nested() -> None:
    """What the host needs for a call is not asked for; Python dies where it gets no frame."""
    took = run("trace", "-", "--max-depth", "1e6", "--max-memory", "250MB", text=NESTED_PASSES)
    assert took.status == 4, took
    assert "LimitReached: the limit of 250,000,000 bytes is reached; --max-mem" in took.errors
