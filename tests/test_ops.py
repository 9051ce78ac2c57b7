"""Tests of `gradcli ops`: every declaration is told, its example runs, the reference is current."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from detailed import everything, without_examples
from schemas import fits

from gradcli.engine.schema.operator import Row
from gradcli.operators import catalogue
from gradcli.questions.ops.detail import detail
from gradcli.questions.ops.rows import is_form, matching, named, near, operators
from gradcli.recording.facts.operators import CatalogueFact
from gradcli.render import ops as page, ops_pages
from gradcli.render.json.ops import ops as document
from gradcli.render.text import Look

ROOT = Path(__file__).parent.parent
WIDE = Look(width=10_000)


def ops(*words: str) -> subprocess.CompletedProcess[str]:
    return warm.run(["ops", *words])


@pytest.fixture(scope="module", name="everything")
def all_of_them() -> CatalogueFact:
    return everything()


def test_every_declaration_is_listed() -> None:
    listed = {overload.key for fact in operators() for overload in fact.overloads}
    missing = {
        key
        for key, row in catalogue.rows.items()
        if isinstance(row, Row) and key not in listed and not key.startswith("__")
        if not is_form(row)
    }
    assert missing == set()


def test_the_list_loads_no_array_library() -> None:
    code = (
        "import sys; sys.argv = ['gradcli', 'ops']\n"
        "from gradcli.door import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('numpy' in sys.modules, 'rich' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr == "False False\n"
    assert "TanhBackward0" in done.stdout


def test_derivatives_have_formulas(everything: CatalogueFact) -> None:
    """A formula for nearly all: what has none is computed by a kernel that no formula opens."""
    kernels = {
        overload.key
        for fact in everything.operators
        for overload in fact.overloads
        if fact.face != "hidden"
        for derivative in overload.derivatives
        if not derivative.formula
    }
    assert len(kernels) <= 8, sorted(kernels)
    silent = {
        overload.key
        for fact in everything.operators
        for overload in fact.overloads
        if fact.face != "hidden" and overload.arguments and not overload.derivatives
    }
    assert silent <= {"zeta.other_scalar"}  # its derivative is an error


def test_examples_run(everything: CatalogueFact) -> None:
    without = [
        overload.key
        for fact in everything.operators
        for overload in fact.overloads
        if overload.samples and overload.example is None
    ]
    assert without == []


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("tanh", "grad*(1 - result**2)"),
        ("sin", "grad*cos(self)"),
        ("sqrt", "grad/(2*result)"),
        ("exp", "grad*result"),
        ("sigmoid", "grad*(1 - result)*result"),
        ("log", "grad/self"),
    ],
)
def test_formulas(name: str, formula: str) -> None:
    (fact,) = [fact for fact in named(name) if fact.face == "torch"]
    (overload,) = detail(CatalogueFact((fact,), True), examples=False).operators[0].overloads
    assert [derivative.formula for derivative in overload.derivatives] == [formula]


def test_long_formulas_name_what_they_repeat(everything: CatalogueFact) -> None:
    """Where a name stands, its piece is told; what is put back in gives the whole formula."""
    told = [
        derivative.formula
        for fact in everything.operators
        for overload in fact.overloads
        for derivative in overload.derivatives
        if ", where t1 = " in derivative.formula
    ]
    assert len(told) > 5
    for text in told:
        formula, _, rest = text.partition(", where ")
        pieces = dict(re.findall(r"(t\d+) = (.*?)(?=, t\d+ = |$)", rest))
        for name in sorted(pieces, key=lambda name: -int(name[1:])):
            whole = " ".join([formula, *pieces.values()])
            assert len(re.findall(rf"\b{name}\b", whole)) > 1, text
        assert set(re.findall(r"\bt\d+\b", text)) == set(pieces)


def test_patterns_list_what_looks_like_them() -> None:
    done = ops("log1*", "relu?")
    names = [line.split()[0] for line in done.stdout.splitlines() if "Backward0" in line]
    assert {"log10", "log1p"} <= set(names)
    assert "nn.functional.relu6" in done.stdout and "example" not in done.stdout
    assert ops("zzz*").stderr.endswith("\nhelp: gradcli ops\n")
    assert ops("rleu").stderr.endswith("\nhelp: gradcli ops relu\n")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("torch.sin", "sin"),
        ("Tensor.view", "view"),
        ("F.relu", "nn.functional.relu"),
        ("linalg.norm", "linalg.norm"),
        ("mul_", "mul"),
        ("TanhBackward0", "tanh"),
        ("mul.Tensor", "mul"),
        ("aten::cos", "cos"),
    ],
)
def test_names(name: str, found: str) -> None:
    assert found in [fact.name for fact in named(name)]


def test_misspelt_names() -> None:
    assert "tanh" in near("tahn")
    done = ops("tahn")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith("UsageError: there is no operator 'tahn'")
    assert ops("--filter", "no such thing").returncode == 2
    assert near("qwertz") == ()


def test_functions_of_numpy() -> None:
    (fact,) = named("np.mean")
    assert (fact.name, fact.face, fact.nodes) == ("numpy.mean", "numpy", ())
    (overload,) = fact.overloads
    assert overload.signature == "mean(a, axis=None, dtype=None, out=None, keepdims=False)"
    assert named("numpy.random.randn")[0].name == "numpy.random.randn"
    assert named("np.nosuch") == () and near("np.maen")[0] == "np.mean"


def test_filter() -> None:
    names = [fact.name for fact in matching(["softmax"], None)]
    assert {"softmax", "log_softmax", "nn.functional.softmax"} <= set(names)
    assert all(fact.face == "linalg" or fact.calls for fact in matching([], "linalg"))


def test_document(everything: CatalogueFact) -> None:
    text = "".join(document(everything))
    fits(json.loads(text), "gradcli.ops-1")
    fits(json.loads("".join(document(CatalogueFact(operators(), False)))), "gradcli.ops-1")
    done = ops("tanh", "--format", "json")
    fits(json.loads(done.stdout), "gradcli.ops-1")
    assert done.returncode == 0


def test_page() -> None:
    done = ops("tanh")
    assert done.returncode == 0
    assert "    grad of self    grad*(1 - result**2)\n" in done.stdout
    assert "tensor([[ 0.5098, -0.8568,  0.9377]," in done.stdout
    assert "".join(page.text(CatalogueFact(matching(["tanh"], None), False), WIDE)).count("\n") > 5


def test_reference_is_current() -> None:
    """docs/operators/: `gradcli ops --format markdown -o docs/operators` makes its pages."""
    facts = without_examples()
    assert [fact.name for fact in facts.operators] == [fact.name for fact in matching([], None)]
    pages = ops_pages.pages(facts)
    folder = ROOT / "docs/operators"
    assert sorted(pages) == sorted(path.name for path in folder.iterdir())
    assert {fact.group for fact in facts.operators} == set(ops_pages.GROUPS)
    for name, pieces in pages.items():
        assert (folder / name).read_text("utf-8") == "".join(pieces), (
            "run: gradcli ops --format markdown -o docs/operators"
        )


PHRASES = {
    "matrix multiplication": "matmul", "hyperbolic tangent": "tanh", "inverse sine": "asin",
    "natural logarithm": "log", "square root": "sqrt", "absolute value": "abs",
    "mean squared error": "nn.functional.mse_loss", "determinant": "det",
    "least squares": "linalg.lstsq", "swish": "nn.functional.silu",
    "inverse fourier transform": "fft.ifft", "error function": "erf",
    "standard deviation": "std", "outer product": "outer", "dot product": "dot",
    "upper triangle": "triu", "modulo": "remainder", "cosine similarity": "cosine_similarity",
    "qr decomposition": "linalg.qr", "index of the largest": "argmax",
    "remove dimensions of size one": "squeeze", "cross product": "cross",
    "cumulative product": "cumprod", "rectified linear unit": "relu",
    "negative log likelihood": "nn.functional.nll_loss", "identity matrix": "eye",
    "kronecker product": "kron", "solve linear system": "linalg.solve",
    "largest integer below": "floor", "log sum exp": "logsumexp", "top k": "topk",
    "permute dimensions": "permute", "degrees to radians": "deg2rad", "is nan": "isnan",
    "running maximum": "cummax", "covariance": "cov",
    "linear interpolation": "lerp", "gather": "gather", "numerical gradient": "gradient",
}  # fmt: skip


def test_words_find_operators() -> None:
    """Each phrase has the operator among its first three; words that fit nothing find nothing."""
    from gradcli.questions.ops.rows import named
    from gradcli.questions.ops.search import by_words

    for phrase, name in PHRASES.items():
        found = named(phrase.replace(" ", "_")) or by_words(phrase)
        assert name in [fact.name for fact in found[:3]], phrase
    for word in ("sotfmax", "reluu", "weight decay", "foo bar", "loss of sleep"):
        assert not by_words(word), word


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_list_has_a_description_of_every_operator(width: int) -> None:
    look = Look(width=width)
    rows = "".join(page.text(CatalogueFact(operators(), False), look)).splitlines()
    assert max(map(len, rows)) <= width
    assert not [row for row in rows if row.rstrip("… ").isidentifier() and row.endswith("…")]
    absolute = next(row for row in rows if row.startswith("abs "))
    assert "Absolute value, element" in absolute
