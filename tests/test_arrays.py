"""Tests: what `import numpy as np` gives a program, compared with NumPy line by line."""

from __future__ import annotations

import ast
import tracemalloc
from pathlib import Path

import pytest
from oracle import oracle
from programs_under import sections
from test_language import level, ran
from test_pasted import pasted

from gradcli.diagnostics import ExitStatus
from gradcli.engine.schema.mode import state
from gradcli.language.budget import Budget

SECTIONS = sections(Path(__file__).parent / "programs" / "arrays.txt")
FIRST = "import math\nimport numpy as np\nimport torch\n"


def program(lines: str) -> str:
    """Each line shows its value by itself, or what went wrong; `;;` stands between statements."""
    return FIRST + "".join(map(_shown, lines.strip().splitlines()))


def _shown(line: str) -> str:
    try:
        ast.parse(line, mode="eval")
        body = f"    value = {line}\n    print(type(value).__name__, repr(value), '|', value)\n"
    except SyntaxError:
        body = "".join(f"    {statement.strip()}\n" for statement in line.split(";;"))
    said = "    print(type(error).__name__, error)\n"
    return f"try:\n{body}except Exception as error:\n{said}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", SECTIONS)
def test_the_same_text_prints_the_same(title: str) -> None:
    text = program(SECTIONS[title])
    out, outcome = ran(text)
    assert outcome.error is None
    assert [level(out), None] == oracle.ask(pasted.__name__, text)


# Each takes more than there is, by itself or in a loop that NumPy runs.
HOGS = """
np.zeros(10**12)
np.zeros((10**6, 10**6), dtype=bool)
np.zeros(np.array([10**6, 10**6]))
np.zeros([np.array(10**6), np.int64(10**6)])
np.ones(10**12)
np.full(10**11, 1)
np.full(10**6, 'a' * 10**4)
np.empty(10**12)
np.ndarray((10**6, 10**6))
np.zeros_like(a, shape=(10**12,))
np.zeros(10**6, dtype='U100000')
np.arange(1e18)
np.arange(np.array(10**12))
np.arange(0, 1e12 + 1e12j, 1)
np.arange(0, 1, 1e-12)
np.linspace(0, 1, 10**12)
np.linspace(a, a, 10**9)
np.eye(10**6)
np.eye(np.array(10**6))
np.eye(10, 10**12)
np.identity(10**6)
np.tri(10**6)
np.tril_indices(10**6)
np.diag(np.zeros(10**6))
np.diag([1], 10**7)
np.vander(np.zeros(10**6))
np.vander([1, 2], 10**12)
np.indices((10**6, 10**6))
np.meshgrid(np.zeros(10**6), np.zeros(10**6))
np.tile(a, 10**12)
np.tile(a, (10**6, 10**6))
np.repeat(a, 10**12)
np.repeat(a, [10**10, 10**10, 1])
a.repeat(10**12)
np.resize(a, 10**12)
np.pad(a, 10**12)
np.pad(np.zeros((10, 10)), 10**6)
np.outer(np.zeros(10**6), np.zeros(10**6))
np.subtract(np.zeros((10**6, 1)), np.zeros(10**6))
np.zeros((10**6, 1)) - np.zeros(10**6)
np.zeros((10**6, 1)) == np.zeros(10**6)
np.broadcast_to(1.0, (10**6, 10**6)) + 1
np.broadcast_to(1.0, (10**6, 10**6)).copy()
np.broadcast_to(1.0, (10**6, 10**6)).tolist()
np.broadcast_to(1.0, (10**6, 10**6)).sum()
np.broadcast_to(1.0, (10**6, 10**6)).reshape(-1)
np.broadcast_to(1, (10**6, 10**6))[True]
np.array([np.broadcast_to(1.0, 10**12)])
np.where(np.zeros((10**6, 1)), np.zeros(10**6), 1)
np.select([np.zeros((10**6, 1), dtype=bool)], [np.zeros(10**6)])
np.einsum('i,j->ij', np.zeros(10**6), np.zeros(10**6))
np.einsum('i,j,k,l', np.zeros(999), np.zeros(999), np.zeros(999), np.zeros(999))
np.einsum('a,b,c,d->', np.zeros(10**4), np.zeros(10**4), np.zeros(10**4), np.zeros(10**4))
np.tensordot(np.zeros(10**6), np.zeros(10**6), 0)
np.kron(np.zeros(10**6), np.zeros(10**6))
np.inner(np.zeros((10**6, 1)), np.zeros((10**6, 1)))
np.dot(np.zeros((10**6, 1)), np.zeros((1, 10**6)))
np.zeros((10**6, 1)) @ np.zeros((1, 10**6))
np.matmul(np.zeros((10**6, 1)), np.zeros((1, 10**6)))
np.linalg.inv(np.broadcast_to(1.0, (10**5, 10**5)))
np.linalg.svd(np.zeros((10**6, 1)))
np.linalg.matrix_power(np.zeros((10**5, 10**5)), 2)
np.fft.fft(a, 10**12)
np.fft.fftfreq(10**12)
np.fft.fft2(np.zeros((2, 2)), s=(10**6, 10**6))
np.convolve(np.zeros(10**7), np.zeros(10**7))
np.diff(a, n=10**12)
np.polyfit(np.zeros(10**6), np.zeros(10**6), 10**5)
np.cov(np.zeros((10**6, 2)))
np.histogram(a, 10**12)
np.histogram(a, np.array(10**12))
np.histogram2d(a, a, 10**6)
np.bincount([10**12])
np.bincount([1], minlength=10**12)
np.quantile(np.zeros((10**6, 2)), np.zeros(10**6), axis=1)
np.roll(np.zeros((0,) + (2,) * 40), (1,) * 40, tuple(range(1, 41)))
np.array_split(a, 10**10)
np.unravel_index(np.broadcast_to(0, 10**12), (1,) * 10)
np.take(np.zeros((2, 10**6)), np.zeros(10**6, dtype=int), axis=0)
np.zeros((2, 10**6))[np.zeros(10**6, dtype=int)]
np.random.rand(10**6, 10**6)
np.random.randn(10**12)
np.random.normal(size=10**12)
np.random.normal(np.zeros((10**6, 1)), np.ones(10**6))
np.random.randint(0, 5, 10**12)
np.random.choice(5, 10**12)
np.random.choice(10**11, 3, replace=False)
np.random.permutation(10**11)
np.random.multivariate_normal(np.zeros(2), np.eye(2), 10**12)
np.random.dirichlet([1, 2], 10**12)
np.random.default_rng(1).random(10**12)
np.random.default_rng(1).integers(0, 9, (10**6, 10**6))
np.random.default_rng(1).spawn(10**10)
np.vectorize(lambda v: v)(np.broadcast_to(1, 10**12))
np.apply_along_axis(lambda v: v, 0, np.broadcast_to(1, (1, 10**12)))
np.fromfunction(lambda i, j: i, (10**6, 10**6))
np.fromiter((i for i in range(10**12)), float)
[0] * np.int64(10**12)
np.int64(10**12) * 'ab'
list(np.broadcast_to(1, 10**12))
[v for v in np.broadcast_to(1, (10**12,))]
sum(np.broadcast_to(1, 10**12))
1 in np.broadcast_to(0, 10**12)
torch.tensor(np.broadcast_to(1.0, 10**12))
np.set_printoptions(threshold=10**15) ;; print(np.broadcast_to(1, 10**9))
np.set_printoptions(threshold=10**15) ;; f"{np.broadcast_to(1, 10**9)}"
np.array_str(np.broadcast_to(1, (10**6,) * 2), 10**5) ;; np.array2string(np.zeros(10**8), threshold=10**15)
np.append(a, np.broadcast_to(1, 10**12))
np.r_[0:10**12]
np.r_[0:1:1e12j]
np.c_[np.broadcast_to(1, 10**12), np.broadcast_to(1, 10**12)]
np.mgrid[0:10**6, 0:10**6]
np.ogrid[0:10**12]
np.add.outer(np.zeros(10**6), np.zeros(10**6))
np.add.reduce(np.broadcast_to(1, 10**12))
np.add.accumulate(np.broadcast_to(1, 10**12))
np.add.at(np.zeros(1), np.broadcast_to(0, 10**12), 1)
""".strip().splitlines()  # noqa: E501


@pytest.mark.parametrize("line", HOGS)
def test_what_takes_too_much_is_stopped_before_it_begins(line: str) -> None:
    body = "".join(f"    {statement.strip()}\n" for statement in line.split(";;"))
    text = f"{FIRST}a = np.zeros(3)\ntry:\n{body}except Exception as error:\n    print(error)\n"
    budget = Budget(max_steps=100_000, timeout=30.0, max_memory=1 << 29)
    asked = state.reserve, state.charge
    state.reserve, state.charge = budget.charge_bytes, budget.charge
    tracemalloc.start()
    try:
        out, outcome = ran(text, budget)
    finally:
        state.reserve, state.charge = asked
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert outcome.error is not None, out
    assert outcome.error.exit_status is ExitStatus.LIMIT_REACHED, outcome.error
    assert peak < budget.max_memory
