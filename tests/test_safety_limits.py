"""Tests of safety: whatever a program's work is made of, the limits hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import ROOT
from test_safety import outcome_of

from gradcli.diagnostics import ExitStatus
from gradcli.engine.schema.mode import state
from gradcli.language.budget import Budget

HOGS = r'''
while True: pass
----
for i in range(10 ** 12): pass
----
def f(): return f()
f()
----
f = lambda: f()
f()
----
7 ** (3 * 10 ** 7)
----
10 ** 10 ** 10
----
1 << 10 ** 12
----
x = 3
for i in range(100): x = x * x
----
x = 3
while True: x *= x
----
"a" * 10 ** 12
----
[0] * 10 ** 12
----
10 ** 12 * (1, 2)
----
s = "ab"
while True: s += s
----
s = [1]
while True: s += s
----
s = [1]
while True: s = s + s
----
s = [1]
while True: s.extend(s)
----
s = [1]
for x in s: s.append(x)
----
sum(range(10 ** 12))
----
max(range(10 ** 12))
----
list(range(10 ** 12))
----
sorted(range(10 ** 12))
----
set(range(10 ** 12))
----
dict.fromkeys(range(10 ** 12))
----
None in range(10 ** 12)
----
any(False for _ in range(10 ** 12))
----
[x for x in range(10 ** 12)]
----
tuple(map(str, range(10 ** 12)))
----
"".join(str(i) for i in range(10 ** 12))
----
f"{1:>100000000000}"
----
f"{1.5:.100000000000f}"
----
"%100000000000d" % 1
----
"%*d" % (10 ** 11, 1)
----
"{:>{w}}".format(1, w=10 ** 11)
----
"x".ljust(10 ** 12)
----
"x".zfill(10 ** 12)
----
"\t".expandtabs(10 ** 12)
----
s = "a" * 1000000
while True: s = s.replace("a", "aa")
----
a, b = [1], [1]
for _ in range(60): a, b = [a, a], [b, b]
a == b
----
a = [1]
for _ in range(60): a = [a, a]
print(a)
----
a, b = (1,), (1,)
for _ in range(60): a, b = (a, a), (b, b)
a < b
----
a, b = [1], [1]
for _ in range(60): a, b = [a, a], [b, b]
[a].index(b)
----
t = (1,)
for _ in range(200000): t = (t,)
{t: 1}
----
math.factorial(10 ** 8)
----
math.comb(10 ** 8, 5 * 10 ** 7)
----
pow(3, 10 ** 3000, 10 ** 6000)
----
torch.ones(10 ** 6, 10 ** 6)
----
while True: print("x" * 1000)
----
try:
    while True: pass
except Exception:
    print("caught")
finally:
    print("finally")
----
while True:
    try:
        [0] * 10 ** 12
    except:
        print("caught")
----
def f():
    try:
        return f()
    except Exception:
        return f()
f()
----
f = lambda x: x
for _ in range(100000):
    f = (lambda g: lambda x: g(x))(f)
f(1)
----
f = lambda x: x
for _ in range(20000):
    f = torch.no_grad()(f)
f(1)
----
g = iter([1])
for _ in range(100000):
    g = (x for x in g)
next(g)
----
g = iter([1])
for _ in range(100000):
    g = zip(g)
next(g)
----
g = iter([1])
for _ in range(100000):
    g = map(str, g)
next(g)
----
g = iter([1])
for _ in range(100000):
    g = enumerate(g)
next(g)
----
gs = [iter([1])]
for _ in range(100000):
    gs.append((lambda inner: (next(inner) for _ in [1]))(gs[-1]))
next(gs[-1])
----
class A:
    def __init__(self, inner): self.inner = inner
    def __add__(self, other): return self.inner + other
a = 1
for _ in range(100000): a = A(a)
a + 1
----
class A:
    def __init__(self, inner): self.inner = inner
    def __repr__(self): return repr(self.inner)
a = 1
for _ in range(100000): a = A(a)
print(a)
----
m = nn.ReLU()
for _ in range(100000): m = nn.Sequential(m)
m(torch.ones(1))
----
class A:
    def __iter__(self): return self
    def __next__(self): return 1
list(A())
----
x = []
while True: x = [x]
----
@torch.no_grad()
def f(): return f()
f()
----
x = torch.ones(1, requires_grad=True)
@torch.enable_grad()
def again(g): (x * 2).sum().backward()
x.register_hook(again)
(x * 2).sum().backward()
'''.strip("\n").split("\n----\n")  # fmt: skip


@pytest.mark.parametrize("text", HOGS, ids=range(len(HOGS)))
def test_limits_hold(text: str) -> None:
    budget = Budget(max_steps=300_000, timeout=10.0, max_memory=1 << 28, max_output=100_000)
    before, state.reserve = state.reserve, budget.charge_bytes
    try:
        out, error = outcome_of("import math\n" + text, budget)
    finally:
        state.reserve = before
    assert error is not None
    assert error.exit_status is ExitStatus.LIMIT_REACHED, error
    options = "--max-", "--timeout", "Python's stack"
    assert any(option in error.message for option in options), error.message
    assert "caught" not in out and "finally" not in out
    assert error.line is not None


DEEP = r'''
x = []
for _ in range(200000): x = [x]
print(x)
----
x, y = [], []
for _ in range(100000): x, y = [x], [y]
print(x == y)
----
x = ()
for _ in range(200000): x = (x,)
print(x < x, x == x, [x] == [x])
----
d = {}
for _ in range(100000): d = {"a": d}
print(d)
----
x = []
for _ in range(100000): x = [x]
torch.tensor(x)
----
m = nn.ReLU()
for _ in range(20000): m = nn.Sequential(m)
print(m)
----
m = nn.ReLU()
for _ in range(5000): m = nn.Sequential(m)
print(len(list(m.modules())))
'''.strip("\n").split("\n----\n")  # fmt: skip


@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
def test_deep_values_do_not_kill_the_process(text: str) -> None:
    """In a process of their own: what goes wrong here is a crash."""
    script = (
        "import sys\n"
        "from gradcli.language.budget import Budget\n"
        "from gradcli.language.interpreter import run\n"
        "from gradcli.language.program import parse\n"
        "from gradcli.language.source import Source\n"
        "o = run(parse(Source(sys.stdin.read())), {}, "
        "budget=Budget(timeout=8, max_steps=3_000_000))\n"
        "print('alive', o.error and o.error.type)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=text, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "alive" in done.stdout


def test_a_limit_names_option_and_line() -> None:
    _, error = outcome_of("x = 1\nwhile True:\n    x += 1\n", Budget(max_steps=1000))
    assert error is not None and error.line in (2, 3)
    assert error.message == "the limit of 1,000 steps is reached; --max-steps raises it"
    _, error = outcome_of("def f(n):\n    return f(n + 1)\nf(0)\n", Budget(max_depth=50))
    assert error is not None and error.line == 2 and "--max-depth" in error.message


def test_depth_of_a_thousand_calls() -> None:
    text = """
    def f(n):
        for i in range(1):
            if n > 0:
                with torch.no_grad():
                    return 1 + max([f(n - 1), 0])
        return 0
    print(f(950))
    """
    assert outcome_of(text) == ("950\n", None)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses hold on Linux")
@pytest.mark.parametrize(
    ("most", "text"),
    [(48 << 20, "1"), (72 << 20, "1"), (90 << 20, "1"), (99 << 20, "1"),
     (300 << 20, "x = torch.ones(10**8)"),
     (300 << 20, "x = [" + "1," * 3_000_000 + "]")],
)  # fmt: skip
@pytest.mark.parametrize("command", ["trace", "check"])
def test_a_limit_of_the_system_is_called_so(
    command: str, most: int, text: str, tmp_path: Path
) -> None:
    """The first are so small that NumPy does not load: its libraries end the process, or fail."""
    (tmp_path / "p.expr").write_text(text)
    line = f"ulimit -v {most >> 10} && exec {sys.executable} -m gradcli {command} p.expr"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)  # fmt: skip
    assert done.returncode == 4, done.stderr
    words = f"LimitReached: the limit of {most:,} bytes is reached; ulimit -v raises it"
    assert words in done.stdout + done.stderr
