"""Tests of the language: Python's own answers without tensors; places, names, inputs."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from oracle import oracle, question
from programs_under import sections

from gradcli.diagnostics import Diagnostic, ExitStatus, ProgramError
from gradcli.engine.schema.mode import state
from gradcli.language import grammar
from gradcli.language.budget import Budget
from gradcli.language.builtins.types import host_type
from gradcli.language.interpreter import Machine, Outcome, run
from gradcli.language.program import SourceLimits, parse
from gradcli.language.source import Source
from gradcli.namespace import names, resolve
from gradcli.recording.recording import Recording
from gradcli.recording.spectator import Spectator

# Programs without tensors: each must print and fail exactly as under Python itself.
_TEXT = (Path(__file__).parent / "programs" / "language.txt").read_text("utf-8")
PROGRAMS = _TEXT.strip("\n").split("\n----\n")
# Python 3.11's words are ours; later ones have others for these.
NEW_WORDS = {"max([])": (3, 12), "x = None\nx.attr = 3": (3, 13)}
# Programs with tensors: each must print and fail as under PyTorch.
TENSORS = {
    title: text
    for name in ("tensors", "distributions")
    for title, text in sections(Path(__file__).parent / "programs" / f"{name}.txt").items()
}


def level(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def under_python(text: str) -> tuple[str, tuple[str, str] | None]:
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "program", "exec"), {"__name__": "__main__"})
        except Exception as raised:
            error = (type(raised).__name__, str(raised))
    return level(out.getvalue()), error


def ran(text: str, budget: Budget | None = None, **inputs: Any) -> tuple[str, Outcome]:
    out: list[str] = []
    outcome = run(parse(Source(text)), inputs, budget=budget, write=out.append)
    return "".join(out), outcome


def printed(text: str, **inputs: Any) -> str:
    out, outcome = ran(text, **inputs)
    assert outcome.error is None, outcome.error
    return out


def refused(text: str) -> Diagnostic:
    with pytest.raises(ProgramError) as raised:
        parse(Source(text))
    return raised.value.diagnostic


def failed(text: str, budget: Budget | None = None) -> Diagnostic:
    _, outcome = ran(text, budget)
    assert outcome.error is not None
    return outcome.error


@pytest.mark.parametrize("text", PROGRAMS, ids=range(len(PROGRAMS)))
def test_as_under_python(text: str) -> None:
    if sys.version_info >= NEW_WORDS.get(text, (4,)):
        pytest.skip("this Python has other words for it")
    out, outcome = ran(text)
    error = outcome.error
    told = None if error is None else (error.type, error.message)
    assert (level(out), told) == under_python(text)


@pytest.mark.parametrize("title", TENSORS)
def test_as_under_pytorch(title: str) -> None:
    theirs = oracle.ask("program", TENSORS[title])
    out, outcome = ran(TENSORS[title])
    error = outcome.error
    told = None if error is None else f"{error.type}: {error.message}"
    assert (re.sub(r" at 0x[0-9a-f]+", "", out), told) == (theirs["output"], theirs["error"])


@question
def classes_as_printed(torch: Any, names: list[str]) -> list[str]:
    return [str(functools.reduce(getattr, name.split("."), torch)) for name in names]


def test_classes_print_as_pytorchs() -> None:
    """print(type(model)): the module in which PyTorch keeps the class."""
    homes = ("nn", "optim", "optim.lr_scheduler", "autograd")
    listed = [name for name in sorted(names()) if name.rpartition(".")[0] in homes]
    ours = {name: resolve(name) for name in listed}
    classes = [name for name, found in ours.items() if isinstance(found, type)]
    theirs = oracle.ask("classes_as_printed", classes)
    assert [host_type(ours[name]).text for name in classes] == theirs


# ---------------------------------------------------------------- grammar


def test_every_node_type_is_decided() -> None:
    """A node type that a new Python brings fails here, and not for a user."""
    abstract = {"AST", "mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop",
                "cmpop", "excepthandler", "pattern", "type_ignore", "type_param",
                "slice"}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = {
            name for name in dir(ast)
            if isinstance(getattr(ast, name), type) and issubclass(getattr(ast, name), ast.AST)
            and not name.startswith("_")
        }  # fmt: skip
    decided = {kind.__name__ for kind in grammar.ALLOWED} | set(grammar.REFUSED)
    assert known - abstract - decided == set()


@pytest.mark.parametrize(
    ("text", "said", "instead"),
    [
        ("async def f(): return [x async for x in y]", "'async for' in a", ""),
        ("def f():\n    async for x in y: pass", "'async for' outside async function", ""),
        ("async with y: pass", "'async with' outside async function", ""),
        ("async def f(): yield from g()", "'yield from' inside async function", ""),
        ("def f(): await g()", "'await' outside async function", ""),
        ("def f():\n    x[(yield 1)] = 2", "'yield' in this place", "a line of its own"),
        ("def f():\n    1 < 2 < (yield 1)", "'yield' in this place", "a line of its own"),
        ("x = (await f())", "'await' outside function", ""),
        ("return 3", "'return' outside function", ""),
        ("break", "'break' outside loop", ""),
        ("*a = [1]", "starred assignment target", ""),
        ("def f():\n    x = 1\n    global x", "name 'x' is assigned to before global", ""),
        ("def f():\n    print(x)\n    global x", "name 'x' is used prior to global", ""),
        ("def f(x):\n    global x", "name 'x' is parameter and global", ""),
        ("x = a.__globals__", "'__globals__'", ""),
        ("x = ().__class__.__basicsize__", "'__basicsize__'", ""),
        ("__builtins__ = 1", "'__builtins__'", ""),
    ],
)
def test_refused_with_a_place(text: str, said: str, instead: str) -> None:
    diagnostic = refused(text)
    assert said in diagnostic.message
    assert instead in " ".join((diagnostic.message, *diagnostic.notes))
    assert diagnostic.span is not None
    assert diagnostic.exit_status is ExitStatus.PROGRAM_ERROR


def test_syntax_error_has_pythons_words_and_place() -> None:
    diagnostic = refused("x = 1\ny = (1,\nz = 2")
    assert (diagnostic.type, diagnostic.message) == ("SyntaxError", "'(' was never closed")
    assert diagnostic.span is not None and (diagnostic.span.line, diagnostic.span.column) == (2, 5)
    assert refused("if 1:\nx = 2").type == "IndentationError"


def test_columns_count_characters() -> None:
    diagnostic = failed('é = "日本"; x = é + 1')
    assert diagnostic.span is not None
    assert (diagnostic.span.column, diagnostic.span.end_column) == (15, 20)


def test_not_utf8() -> None:
    with pytest.raises(ProgramError) as raised:
        Source.from_bytes(b"x = 1\ny = '\xff'\n", "a.expr")
    assert "line 2" in raised.value.diagnostic.message


@pytest.mark.parametrize(
    "text",
    ["x=" + "(" * 150 + "1" + ")" * 150, "x=" + "[" * 199 + "]" * 199, "x=" + "+".join(["1"] * 900),
     "x=" + "1 if 0 else " * 150 + "2"],
)  # fmt: skip
def test_nesting_that_passes(text: str) -> None:
    _, outcome = ran(text)
    assert outcome.error is None


@pytest.mark.parametrize(
    "text",
    ["x=" + "-" * 100_000 + "1", "x=" + "(" * 5000 + ")" * 5000, "x=" + "+".join(["1"] * 100_000),
     "x=" + "not " * 300 + "1", "x=" + "lambda: " * 300 + "1", "x=y" + "[0]" * 300,
     "f" + "()" * 300, "x=" + "{1:" * 150 + "2" + "}" * 150 + "[0]" * 100],
)  # fmt: skip
def test_nesting_that_does_not(text: str) -> None:
    diagnostic = refused(text)
    assert diagnostic.type in ("SyntaxError", "LimitReached", "NameError")
    assert diagnostic.span is not None


def test_source_limit() -> None:
    with pytest.raises(ProgramError) as raised:
        parse(Source("x = 1\n" * 100), SourceLimits(max_source=100))
    assert raised.value.diagnostic.exit_status is ExitStatus.LIMIT_REACHED


def test_chunks_join_without_a_seam() -> None:
    """Long programs are parsed in pieces: strings, brackets and decorators may lie on a seam."""
    filler = "x = 1\n" * 4998
    for piece in (
        's = """a\nb = 3\n"""\n',
        "t = (1,\n2)\n",
        "def f():\n    pass\n",
        "if x:\n    y = 1\nelse:\n    y = 2\n",
    ):
        program = parse(Source(filler + piece + filler + "q = undefined_name\n"))
        whole = ast.parse(filler + piece + filler + "q = undefined_name\n").body
        assert len(program.body) == len(whole)
        assert [n.lineno for n in program.body] == [n.lineno for n in whole]
    line = refused(filler * 3 + "x = )\n").span
    assert line is not None and line.line == 4998 * 3 + 1


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "message", "near"),
    [
        ("x = torch.sinn(1)", "module 'torch' has no attribute 'sinn'", "torch.sin"),
        ("x = torch.nn.Linea(1)", "module 'torch.nn' has no attribute 'Linea'", "torch.nn.Linear"),
        ("y = tensro(2.0)", "name 'tensro' is not defined", "tensor"),
        ("def total(): return 1\nx = totla()", "name 'totla' is not defined", "total"),
        ("from torch import sinn", "cannot import name 'sinn' from 'torch'", "torch.sin"),
        ("import socket", "No module named 'socket'", "--engine torch"),
        ("exec('x')", "the Python function 'exec' is not part of the language", ""),
    ],
)
def test_unknown_names(text: str, message: str, near: str) -> None:
    diagnostic = failed(text) if "import" not in text and "exec" not in text else refused(text)
    assert diagnostic.message == message
    assert near in " ".join(diagnostic.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 5\nx is 5", "literal"),
        ("assert (1, 'said')", "assertion is always true"),
        ("x = [(1, 2) (3, 4)]", "perhaps you missed a comma"),
    ],
)
def test_python_warns_before_the_program_runs(text: str, words: str) -> None:
    warned: list[str] = []
    before, state.warn = state.warn, lambda text, *more: warned.append(str(text))
    try:
        ran(text)
    finally:
        state.warn = before
    assert len(warned) == 1 and words in warned[0]


def test_unknown_names_stop_the_line_that_uses_them() -> None:
    """As in Python: what stands before is done, and a program may catch the error."""
    out, outcome = ran(
        "print(1)\ntry:\n    torch.sinn\nexcept AttributeError as e:\n    print(e)\nnow(2)"
    )
    assert out == "1\nmodule 'torch' has no attribute 'sinn'\n"
    assert outcome.error is not None
    assert outcome.error.message == "name 'now' is not defined"
    assert outcome.error.span is not None and outcome.error.span.line == 6


def test_inputs_in_the_order_of_the_text() -> None:
    program = parse(Source("b = w1 * a\nf = lambda q: q + z\nw += 1\nprint([k for k in xs])"))
    assert program.inputs == ("w1", "a", "z", "w", "xs")
    assert program.bindings == ("b", "f", "w")


def test_missing_inputs_are_named_with_the_command() -> None:
    _, outcome = ran("b = w1 * a")
    assert outcome.error is not None
    assert outcome.error.message == "the inputs 'w1', 'a' have no value"
    assert outcome.error.notes == ("help: --set w1=1.0 --set a=1.0",)


def test_defaults_of_the_first_comment_block() -> None:
    program = parse(Source("# title\n# set: a=4.0\n\n#set: b = [1, 2]\nx = a\n# set: c=1\n"))
    assert {name: item.text for name, item in program.defaults.items()} == {
        "a": "4.0",
        "b": "[1, 2]",
    }


def test_literals_become_inputs() -> None:
    program = parse(Source("x = 3.0\nys = [1, -2.5]\nz = x\nx = 4.0\na, b = 1, 2.0"))
    assert {name: program.literal_value(name) for name in program.literals} == {
        "x": 3.0, "ys": [1, -2.5], "a": 1, "b": 2.0,
    }  # fmt: skip
    out: list[str] = []
    run(
        parse(Source("x = 3.0\nprint(x)\nx = 5\nprint(x)")),
        {},
        write=out.append,
        overrides={"x": 7},
    )
    assert "".join(out) == "7\n5\n"


def test_flat_names_and_builtins() -> None:
    assert (
        printed("print(ones(2).sum().item(), sum([1, 2]), torch.sum(torch.ones(2)).item())")
        == "2.0 3 2.0\n"
    )
    assert printed("sigmoid = lambda t: t * 0\nprint(sigmoid(3), float(2))") == "0 2.0\n"


# ---------------------------------------------------------------- errors with places


def test_error_names_the_innermost_expression() -> None:
    text = "x = torch.ones(2)\ny = 1 + (x @ torch.ones(3)) * 2"
    diagnostic = failed(text)
    source = Source(text)
    assert diagnostic.span is not None
    assert source.text_of(diagnostic.span) == "x @ torch.ones(3)"


def test_calls_are_labelled() -> None:
    diagnostic = failed("def f(t):\n    return t / 0\ndef g(t):\n    return f(t)\ng(1)")
    assert [(label.span.line, label.text) for label in diagnostic.labels] == [
        (2, ""), (4, "called from here"), (5, "called from here"),
    ]  # fmt: skip


def test_attribute_suggestion() -> None:
    diagnostic = failed("x = torch.ones(2)\nx.backwrd()")
    assert diagnostic.message == "'Tensor' object has no attribute 'backwrd'"
    assert diagnostic.notes == ("help: did you mean 'backward'?",)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = 5\nx()", "x()"),
        ("x = [1]\ny = x[3] + 1", "x[3]"),
        ("for a, b in [1]: pass", "a, b"),
        ("y = later\nlater = 1", "later"),
        ("x = {}\nprint(x['k'])", "x['k']"),
        ("x = torch.ones(2)\nif x: pass", "x"),
        ("assert 1 == 2, 'no'", "1 == 2"),
        ("print(f'{1/0}')", "1/0"),
        ("x = None\nx.grad = 1", "grad"),
        ("del nothing\nnothing = 1", "nothing"),
        ("raise ValueError('a')", "raise ValueError('a')"),
        ("with 5: pass", "5"),
        ("x = {[1]: 2}", "{[1]: 2}"),
        ("x = [v / 0 for v in (1,)]", "v / 0"),
    ],
)
def test_places(text: str, place: str) -> None:
    diagnostic = failed(text)
    assert diagnostic.span is not None
    assert Source(text).text_of(diagnostic.span) == place


def test_outcome_knows_lines_and_calls() -> None:
    _, outcome = ran(
        "w = torch.ones(1, requires_grad=True)\ny = w * 2\ny.sum().backward()\nw = w * 3\n_h = 1\n"
    )
    assert list(outcome.bindings) == ["w", "y", "_h"]
    assert outcome.lines == {"w": 4, "y": 2, "_h": 5}
    (call,) = outcome.backward_calls
    assert call.span.line == 3
    node = outcome.bindings["y"].grad_fn
    assert outcome.text_of(node.origin) == "w * 2"
    assert outcome.evaluate("y.sum().item() + 1") == 3.0


# ---------------------------------------------------------------- tensors


def test_grad_modes_and_decorators() -> None:
    text = """
x = torch.ones(1, requires_grad=True)
@torch.no_grad()
def f(t): return t * 2
with torch.no_grad(), torch.enable_grad():
    a = x * 2
with torch.set_grad_enabled(False) as g:
    b = x * 2
print(f(x).requires_grad, a.requires_grad, b.requires_grad, (x * 2).requires_grad)
"""
    assert printed(text) == "False True False True\n"


def test_modules_of_the_program() -> None:
    text = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first = nn.Linear(2, n)
        self.scale = nn.Parameter(torch.ones(1))
        self.n = n
        self._calls = 0
    def forward(self, x):
        self._calls += 1
        return self.first(x).sum() * self.scale
net = Net(3)
y = net(torch.ones(2, 2))
y.backward()
print([n for n, p in net.named_parameters()], net.n, net._calls, net.first.weight.grad.shape)
print(net)
net.zero_grad()
print(net.scale.grad, isinstance(net, nn.Module), net.training, type(net).__name__)
"""
    assert printed(text) == (
        "['scale', 'first.weight', 'first.bias'] 3 1 torch.Size([3, 2])\n"
        "Net(\n  (first): Linear(in_features=2, out_features=3, bias=True)\n)\n"
        "None True True Net\n"
    )


def test_functions_of_autograd() -> None:
    text = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.k = 3
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.k * x ** 2
x = torch.tensor(2.0, requires_grad=True)
y = Cube.apply(x)
y.backward()
print(y.grad_fn.name(), y.item(), x.grad.item())
"""
    assert printed(text) == "CubeBackward 8.0 12.0\n"


def test_hooks_are_called_with_the_programs_functions() -> None:
    text = """
seen = []
x = torch.tensor(3.0, requires_grad=True)
x.register_hook(seen.append)
h = x.register_hook(lambda g: g * 2)
(x * 2).backward()
h.remove()
print(len(seen), x.grad.item())
"""
    assert printed(text) == "1 4.0\n"


def test_data_pointers_and_addresses_are_stable() -> None:
    text = "x = torch.ones(2, requires_grad=True)\nv = x.view(2)\ny = x * 2\n"
    text += "print(x.data_ptr() == v.data_ptr(), x.data_ptr() == y.data_ptr(), y.grad_fn, "
    text += "y.grad_fn, v.grad_fn)"
    first, second = printed(text), printed(text)
    assert first == second
    assert first.startswith("True False <MulBackward0 object at 0x000000000001> <MulBackward0")


def test_on_bind_hears_of_global_names() -> None:
    heard: list[tuple[str, Any]] = []
    program = parse(Source("x = 1\nfor i in range(2): y = i\ndef f():\n    z = 1\nf()"))
    machine = Machine(program, {}, {})
    machine.globals.on_bind_of = lambda name: lambda name, value: heard.append((name, value))
    machine.run(Budget(), lambda text: None)
    assert [name for name, _ in heard] == ["x", "i", "y", "i", "y", "f"]


def test_who_wishes_for_one_name_is_told_of_no_other() -> None:
    class One(Spectator):
        def __init__(self, *wished: str) -> None:
            self.wished = frozenset(wished) or None
            self.heard: list[str] = []

        def bound(self, name: str, value: Any) -> None:
            self.heard.append(name)

    every, some = One(), One("y")
    recording = Recording()
    recording.attach(every, some)
    machine = Machine(parse(Source("x = 1\ny = x\nx = y")), {}, {})
    machine.globals.on_bind_of = recording.on_bind_of
    machine.run(Budget(), lambda text: None)
    assert (every.heard, some.heard) == (["x", "y", "x"], ["y"])


def test_namespace_values() -> None:
    text = "G = torch.nn.functional\nprint(G.relu(torch.tensor(2.0)).item(), torch.pi)"
    assert printed(text) == f"2.0 {resolve('pi')}\n"


def test_straight_line_is_linear() -> None:
    """Twice the statements take about twice the time: no step looks at the whole program again."""

    def seconds(count: int) -> float:
        text = "a = 0.5\ny0 = 1.0\n" + "".join(f"y{i + 1} = y{i} * a + 1.0\n" for i in range(count))
        before = time.process_time()
        _, outcome = ran(text)
        assert outcome.error is None
        return time.process_time() - before

    seconds(1000)
    small, large = min(seconds(3000) for _ in range(3)), min(seconds(12000) for _ in range(2))
    assert large < 12 * small


def test_the_parsing_half_loads_no_numpy() -> None:
    script = (
        "import sys\n"
        "import gradcli.language.program, gradcli.language.source\n"
        "assert not {'numpy', 'rich', 'gradcli.engine'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
