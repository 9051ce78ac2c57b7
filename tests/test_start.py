"""Tests of the start: what a command loads, and what its help says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import ROOT, answer, home  # noqa: F401


def modules_after(*words: str) -> set[str]:
    code = (
        "import sys\nfrom gradcli.door import main\n"
        f"sys.argv = ['gradcli', *{list(words)!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(' '.join(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)  # fmt: skip
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("trace", "--help"), ()])
def test_what_help_loads(words: tuple[str, ...]) -> None:
    loaded = modules_after(*words)
    ours = {name for name in loaded if name.startswith("gradcli")}
    assert not {"numpy", "rich", "pydantic", "cupy", "json"} & loaded
    heavy = {"engine", "operators", "language", "pipeline", "questions", "recording", "namespace"}
    assert not {name.split(".")[1] for name in ours if "." in name} & heavy


def test_what_a_run_loads(home: Path) -> None:  # noqa: F811
    loaded = modules_after("run", "two_paths.expr")
    assert not {"rich", "typer", "pydantic", "cupy", "scipy", "json", "torch"} & loaded
    assert not {"gradcli.recording.facts", "gradcli.questions.trace"} & loaded
    # To know a bare name as PyTorch's, no package of PyTorch's has to list its own.
    assert not {"gradcli.nn.init", "gradcli.optim", "gradcli.distributions"} & loaded
    assert not {"rich", "scipy", "json"} & modules_after("trace", "two_paths.expr")
    assert "scipy" not in modules_after("ops", "tanh")


@pytest.mark.parametrize("words", [
    ("trace",), ("grad",), ("paths", "--wrt", "a"), ("flow",), ("step",), ("show", "-o", "x.svg"),
])  # fmt: skip
def test_what_a_question_loads(home: Path, words: tuple[str, ...]) -> None:  # noqa: F811
    """Neither what runs PyTorch nor what another question is answered by."""
    loaded = modules_after(words[0], "two_paths.expr", *words[1:])
    others = ("gradcli.live", "gradcli.questions.why", "gradcli.questions.provenance")
    assert not [name for name in loaded if name.startswith(others)]


def test_a_wrong_program_waits_for_no_library(home: Path) -> None:  # noqa: F811
    (home / "wrong.expr").write_text("x = torch.tensor(1.0)\ny = = x\n")
    loaded = modules_after("run", "wrong.expr")
    assert not {"numpy", "gradcli.engine.tensors.tensor", "gradcli.operators"} & loaded


def test_who_loads_scipy(home: Path) -> None:  # noqa: F811
    program = "x = torch.tensor([[1.5]], requires_grad=True)\n{}.sum().backward()\n"
    ordinary = "(x.det() + x.erf() + x.inverse() + F.gelu(x) + F.kl_div(x, x.detach()))"
    (home / "ordinary.expr").write_text(program.format(ordinary))
    (home / "gamma.expr").write_text(program.format("torch.lgamma(x)"))
    assert "scipy" not in modules_after("run", "ordinary.expr")
    assert "scipy" in modules_after("run", "gamma.expr")


def test_help_fits_and_teaches() -> None:
    for words in ((), ("run",), ("trace",), ("grad",)):
        page = answer(*words, "--help")
        assert max(map(len, page.splitlines())) <= 96
        assert "gradcli " in page
    assert "gradcli 0." in answer("--version")
