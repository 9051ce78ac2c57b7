"""Tests: programs that reach for the host, each of which must end with an error of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_here import here
from programs_under import sections
from test_cli import gradcli

from gradcli.diagnostics import Diagnostic, ExitStatus, ProgramError
from gradcli.engine.schema.mode import state
from gradcli.language.budget import Budget
from gradcli.language.interpreter import run
from gradcli.language.program import parse
from gradcli.language.source import Source

PROGRAMS = Path(__file__).parent / "programs"
ATTACKS = sections(PROGRAMS / "attacks.txt") | sections(PROGRAMS / "escapes.txt")
# What shows that something of the host was reached, or that the library took a program's code for
# its own.
OF_THE_HOST = re.compile(r"gradcli|builtins|<module 'o|uid=|0x[0-9a-f]*7f[0-9a-f]{6}|called|handed")


def outcome_of(text: str) -> tuple[str, Diagnostic | None]:
    out: list[str] = []
    try:
        outcome = run(parse(Source(text)), {}, write=out.append)
    except ProgramError as error:
        return "", error.diagnostic
    return "".join(out), outcome.error


@pytest.mark.parametrize("title", ATTACKS)
def test_no_attack_succeeds(title: str) -> None:
    out, error = outcome_of(ATTACKS[title])
    assert not OF_THE_HOST.search(out), out
    if title.endswith("(harmless)"):
        assert error is None, error
        return
    assert error is not None, out
    assert error.exit_status is ExitStatus.PROGRAM_ERROR
    assert error.span is not None
    assert not OF_THE_HOST.search(error.message), error.message


# Every method that an answer might be tempted to call, and that the program itself never does.
ENDLESS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
    def forward(self, x): return self.layer(x)
""" + "".join(
    f"    def {name}(self, *a, **k):\n        while True: pass\n"
    for name in (
        "named_parameters parameters named_modules modules children named_children buffers "
        "state_dict extra_repr __len__ __iter__ __getitem__ __getattr__ __eq__ __hash__ __repr__ "
        "__str__ __bool__ __contains__"
    ).split()
) + """
class Box:
    def __hash__(self): return 1
""" + "".join(
    f"    def {name}(self, *a, **k):\n        while True: pass\n"
    for name in "__eq__ __repr__ __str__ __len__ __bool__ __iter__ __float__ __index__".split()
) + """
net, box = Net(), Box()
kept = {Box(): net, "x": [Box(), net]}
x = torch.ones(1, 2, requires_grad=True)
x.box = box
y = net(x).sum()
y.backward()
"""  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["run", "trace", "trace --saved --all", "trace --format json", "grad --wrt x", "step",
     "paths --of y --wrt x", "why", "check --no-numeric", "trace --profile", "flow"],
)  # fmt: skip
def test_an_answer_runs_no_method_of_the_program(line: str, tmp_path: Path) -> None:
    file = tmp_path / "endless.expr"
    file.write_text(ENDLESS)
    name, *options = line.split()
    names = ["x"] if name == "why" else []
    ended = here(name, str(file), *names, *options, "--max-steps", "100000")
    assert ended.returncode == 0, ended.stderr


# Views of more elements than can be looked at, one after another; some overlap.
BOUNDLESS = """
a = torch.ones(2000, requires_grad=True)
x = a[:1].expand(10 ** 12)
z = x[:, None].expand(10 ** 12, 3)
w = a.expand(10 ** 9, 2000)
v = a.as_strided((1000, 10 ** 9), (1, 0))
c = torch.ones(1).expand(10 ** 12)
y = a[0] * 2
y.backward()
"""


@pytest.mark.parametrize(
    "line",
    ["run", "trace", "trace --saved --all", "trace --stats", "trace --profile", "grad --wrt a",
     "step", "paths --of y --wrt a", "why a", "flow", "check --no-numeric", "trace --format svg"],
)  # fmt: skip
def test_an_answer_looks_once_at_what_is_repeated(line: str, tmp_path: Path) -> None:
    file = tmp_path / "boundless.expr"
    file.write_text(BOUNDLESS)
    name, *options = line.split()
    ended = here(name, str(file), *options, "--max-steps", "100000", "--max-memory", "64MiB")
    needs_all = name in ("grad", "step", "check")  # their facts hold every value
    assert ended.returncode == (4 if needs_all else 0), ended.stderr


HOSTILE_VALUES = """
class A:
    def __repr__(self):
        while True: pass
a = [1]
for _ in range(60): a = [a, a]
x = torch.ones(2, requires_grad=True)
"""
RETURNED = ("A()", "a", "[x, a]", "(g, A())", "'a' * 10**8", "x.register_hook(print)", "iter([1])")


@pytest.mark.parametrize("value", RETURNED)
@pytest.mark.parametrize("line", ["trace", "trace --format json", "show --no-open"])
def test_what_a_hook_should_not_return_is_reported_by_its_type(
    value: str, line: str, tmp_path: Path
) -> None:
    """It is not printed: that may be the program's own code, endless, or an address of ours."""
    file, page = tmp_path / "p.expr", tmp_path / "page.html"
    file.write_text(
        f"{HOSTILE_VALUES}x.register_hook(lambda g: {value})\n(x * 2).sum().backward()\n"
    )
    given = ["--out", str(page)] if line.startswith("show") else []
    name, *options = line.split()
    ended = here(name, str(file), *options, *given, "--max-steps", "100000")
    assert ended.returncode == 3 and "hook returned '" in ended.stderr, ended.stderr
    told = ended.stdout + (page.read_text("utf-8") if given else "")
    assert not re.search(r"gradcli\.engine|object at 0x|aaaaaaaaaa", told)


DIGITS = "9" * 5000  # more than int() takes


@pytest.mark.parametrize("name", ["step", "flow", "trace", "grad", "paths"])
@pytest.mark.parametrize("number", ["²", DIGITS, "-1", "1e99", ""])
def test_a_number_of_a_pass_that_is_none(name: str, number: str, tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text("x = torch.ones(2, requires_grad=True)\n")
    ended = gradcli(name, str(tmp_path / "p.expr"), "--pass", number)
    assert ended.returncode == 2 and len(ended.stderr) < 2000, ended.stderr


@pytest.mark.parametrize("cell", ["²", DIGITS, "0", "9"])
def test_a_cell_that_is_none(cell: str, tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "x = 1"}]}')
    ended = here("run", f"{tmp_path}/n.ipynb:{cell}")
    assert ended.returncode in (2, 3) and len(ended.stderr) < 2500, ended.stderr


@pytest.mark.parametrize("amount", ["1e99TB", "99999999999999999999"])
def test_more_memory_than_any_machine_has(amount: str) -> None:
    assert gradcli("run", "-", "--max-memory", amount, stdin="print(1)\n").stdout == "1\n"


# What PyTorch's and Python's own messages call a value.
CALLED = {
    "torch.device('cpu')": "torch.device", "torch.float32": "torch.dtype",
    "torch.ones(2).shape": "torch.Size", "torch.strided": "torch.layout",
    "torch.contiguous_format": "torch.memory_format", "torch.Generator()": "torch._C.Generator",
    "torch.ones(2).untyped_storage()": "torch.storage.UntypedStorage",
    "x.sin().grad_fn": "SinBackward0", "Own.apply(x).grad_fn": "OwnBackward",
    "np.float32(1).dtype": "numpy.dtype", "np.random.default_rng(0)":
    "numpy.random._generator.Generator",
}  # fmt: skip
OWN = """
import numpy as np
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v): return v * 2
    @staticmethod
    def backward(ctx, g): return g
x = torch.ones(2, requires_grad=True)
v = {value}
for ask in (lambda: torch.sin(v), lambda: [1][v], lambda: -v):
    try:
        ask()
    except TypeError as error:
        print(error)
"""


@pytest.mark.parametrize("value", CALLED)
def test_messages_call_a_value_as_pytorch_does(value: str) -> None:
    out, error = outcome_of(OWN.replace("{value}", value))
    assert error is None and out.splitlines() == [
        f"sin(): argument 'input' (position 1) must be Tensor, not {CALLED[value]}",
        f"list indices must be integers or slices, not {CALLED[value]}",
        f"bad operand type for unary -: '{CALLED[value]}'",
    ]


def test_arguments_that_do_not_fit_are_reported_by_public_names() -> None:
    out, error = outcome_of("""
import numpy as np
for call in (lambda: torch.no_grad()(1, 2), lambda: np.float32(1, nosuch=1),
             lambda: np.int64(1).item(z=1), lambda: torch.device("cpu", 1, 2),
             lambda: nn.ReLU(1, 2, 3), lambda: nn.ReLU().extra_repr(1),
             lambda: torch.Generator().manual_seed()):
    try:
        print(call())
    except TypeError as error:
        print(error)
""")
    assert error is None and out.splitlines() == [
        "_DecoratorContextManager.__call__() takes 2 positional arguments but 3 were given",
        "numpy.float32.__new__() got an unexpected keyword argument 'nosuch'",
        "numpy.int64.item() got an unexpected keyword argument 'z'",
        "device.__init__() takes from 1 to 3 positional arguments but 4 were given",
        "ReLU.__init__() takes from 1 to 2 positional arguments but 4 were given",
        "ReLU.extra_repr() takes 1 positional argument but 2 were given",
        "Generator.manual_seed() missing 1 required positional argument: 'seed'",
    ]


FORMATS = {
    "f'{datetime.now():%H:%M}'": "00:00", "'{:%Y}'.format(datetime.now())": "2026",
    "format(date.today(), '%d')": "01", "f'{Colour.RED:>12}'": "  Colour.RED",
    "f'{Count.ONE:03d}'": "001", "f'{Count.ONE:>3}'": "  1",
}  # fmt: skip
HOSTILE_FORMATS = {
    "f'{datetime.now():%99999999999Y}'": 4, "f'{Colour.RED:>999999999999}'": 4,
    "f'{Count.ONE:999999999999999999999d}'": 4, "f'{datetime.now():%9Y}'": 3,
    "format(date.today(), '%Y' * 501)": 3, "f'{Colour.RED:d}'": 3, "f'{timedelta(1):>9}'": 3,
}  # fmt: skip
START = """
import enum
from datetime import date, datetime, timedelta
class Colour(enum.Enum):
    RED = 1
class Count(enum.IntEnum):
    ONE = 1
"""


@pytest.mark.parametrize("text", FORMATS)
def test_formats_of_moments_and_members(text: str) -> None:
    assert outcome_of(f"{START}print({text})") == (FORMATS[text] + "\n", None)


@pytest.mark.parametrize("text", HOSTILE_FORMATS)
def test_formats_that_ask_for_too_much(text: str) -> None:
    out, error = outcome_of(f"{START}print({text})")
    assert out == "" and error is not None and error.exit_status == HOSTILE_FORMATS[text]


HOSTILE = sections(Path(__file__).parent / "programs" / "hostile.txt")


@pytest.mark.parametrize("title", HOSTILE)
def test_whatever_it_wants_it_ends_as_documented(
    title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each title begins with the exit code; no limit that is met here depends on the clock."""
    expected = int(title.partition(" ")[0])
    budget = Budget(max_memory=16 << 20, max_steps=100_000)
    monkeypatch.setattr(state, "reserve", budget.charge_bytes)
    monkeypatch.setattr(state, "charge", budget.charge)
    try:
        program = parse(Source(HOSTILE[title]))
        error = run(program, {}, budget=budget, write=lambda words: None).error
    except ProgramError as refused:
        error = refused.diagnostic
    assert (0 if error is None else error.exit_status) == expected
    if error is not None:
        assert not re.search(r"gradcli|0x7|'_meta'|InternalError|Registered", error.message)
        assert len(error.bounded().message) < 4000


INVALID = """
g = torch.Generator()
state = g.get_state()
state[{start}:{end}] = torch.tensor({bytes}, dtype=torch.uint8)
g.set_state(state)
"""


@pytest.mark.parametrize(
    ("start", "new"),
    [(8, [0, 0, 0, 0]), (8, [255] * 4), (8, [113, 2, 0, 0]), (12, [0] * 4), (16, [113, 2]),
     (16, [0, 202, 154, 59])],
)  # fmt: skip
def test_a_state_that_leads_out_of_the_words_is_invalid(start: int, new: list[int]) -> None:
    """NumPy would read memory of the process there, or end it."""
    text = INVALID.format(start=start, end=start + len(new), bytes=new)
    _, error = outcome_of(text)
    assert error is not None and error.message == "Invalid mt19937 state"


@pytest.mark.parametrize(("body", "status"), [("while True: pass", 4), ("1 / 0", 0), ("'a'", 0)])
def test_what_unpacks_a_saved_tensor_is_the_programs(
    body: str, status: int, tmp_path: Path
) -> None:
    """A page about saved tensors asks it, within the limits of the run."""
    (tmp_path / "p.expr").write_text(
        f"x = torch.ones(2, requires_grad=True)\ndef unpack(p):\n    {body}\n"
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):\n"
        "    y = (x * x).sum()\n"
    )
    ended = here("trace", str(tmp_path / "p.expr"), "--saved", "--max-steps", "10000")
    assert ended.returncode == status, ended.stderr
    assert status == 0 or "p.expr:3:" in ended.stderr
