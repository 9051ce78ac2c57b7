"""Tests of the start: what a command loads, and what its help says."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from pkgutil import walk_packages

import pytest
from test_cli import ROOT, answer, home  # noqa: F401

import gradcli
from gradcli.process.modules import Finder, Loader

CHECKED = py_compile.PycInvalidationMode.CHECKED_HASH


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


NETWORK = "from torchvision import models\nprint(models.resnet18(num_classes=2).fc.bias.shape)\n"


@pytest.mark.parametrize(
    ("words", "text", "printed"),
    [
        (("-c", "import gradcli.nn as nn; print(nn.Linear(2, 3))"), "",
         "Linear(in_features=2, out_features=3, bias=True)"),
        (("-c", "from gradcli.distributions import Normal; print(Normal(0., 1.).mean)"), "",
         "tensor(0.)"),
        (("-c", "import gradcli.backends.cudnn as c, gradcli; from gradcli.linalg import norm, svd;"
          "from gradcli.nn.modules.linear import Linear; from gradcli.fft import *;"
          "c.benchmark = True; print(rfft(gradcli.ones(1)), gradcli.backends.cudnn.benchmark,"
          "svd is gradcli.linalg.svd, Linear is gradcli.nn.Linear)"), "",
         "tensor([1.+0.j]) True True True"),
        (("-m", "gradcli", "run", "-"), NETWORK, "torch.Size([2])"),
    ],
)  # fmt: skip
def test_whatever_comes_first_has_whole_tensors(
    words: tuple[str, ...], text: str, printed: str
) -> None:
    done = subprocess.run([sys.executable, *words], input=text, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)  # fmt: skip
    assert done.stdout == f"{printed}\n"


def test_what_is_no_module_is_not_found() -> None:
    for name, words in (
        ("gradcli.nosuch", "No module named 'gradcli.nosuch'"),
        ("gradcli.linalg.nosuch", "No module named 'gradcli.linalg.nosuch'"),
    ):
        with pytest.raises(ModuleNotFoundError, match=words):
            import_module(name)
    with pytest.raises(ImportError, match=r"cannot import name 'nosuch' from 'gradcli\.linalg'"):
        exec("from gradcli.linalg import nosuch")


def test_help_fits_and_teaches() -> None:
    for words in ((), ("run",), ("trace",), ("grad",)):
        page = answer(*words, "--help")
        assert max(map(len, page.splitlines())) <= 96
        assert "gradcli " in page
    assert "gradcli 0." in answer("--version")


def test_the_finder_finds_what_python_finds() -> None:
    for module in walk_packages(gradcli.__path__, "gradcli."):
        package = module.name.rpartition(".")[0]
        path = import_module(package).__path__
        expected = PathFinder.find_spec(module.name, path)
        found = Finder.find_spec(module.name, path)
        assert found is not None and expected is not None
        for what in ("name", "origin", "cached", "submodule_search_locations", "parent"):
            assert getattr(found, what) == getattr(expected, what), module.name
    assert Finder.find_spec("gradcli.absent", gradcli.__path__) is None
    assert Finder.find_spec("gradcli.named", ["/nowhere.zip/gradcli"]) is None
    assert Finder.find_spec("json.decoder", json.__path__) is None
    assert Finder.find_spec("gradcli", None) is None


def test_bytecode_is_taken_while_it_is_that_of_the_source(tmp_path: Path) -> None:
    def answer_of(path: Path) -> object:
        code = Loader("gradcli.part", str(path), path.stat()).get_code("gradcli.part")
        assert code is not None and code.co_filename == str(path)
        found: dict[str, object] = {}
        exec(code, found)
        return found["answer"]

    path = tmp_path / "part.py"
    path.write_text("answer = 1\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    kept = Path(py_compile.compile(str(path), doraise=True) or "")
    assert answer_of(path) == 1
    path.write_text("answer = 2\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert answer_of(path) == 1  # as Python: time and size are the same
    os.utime(path, (1_000_000_001, 1_000_000_001))
    assert answer_of(path) == 2
    path.write_text("answer = 10\n")
    assert answer_of(path) == 10
    kept.write_bytes(b"no bytecode")
    assert answer_of(path) == 10
    py_compile.compile(str(path), doraise=True, invalidation_mode=CHECKED)
    path.write_text("answer = 11\n")
    assert answer_of(path) == 11
    shutil.copytree(tmp_path, tmp_path / "moved")
    assert answer_of(tmp_path / "moved" / "part.py") == 11


WITHOUT_FORK = """
from gradcli.questions.check import jobs
jobs.CAN_FORK = False
from gradcli.door import process
process()
"""


@pytest.mark.parametrize(
    "words",
    [("-m", "gradcli", "trace", "p.expr"), ("-m", "gradcli", "check", "."),
     ("-P", "-c", WITHOUT_FORK, "check", "p.expr")],
)  # fmt: skip
def test_no_file_beside_a_program_is_a_module(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "p.expr").write_text("x = torch.ones(2, requires_grad=True)\n(x * x).sum()\n")
    for name in ("typing", "numpy", "ast", "json", "ctypes", "datetime", "pickle"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\nraise SystemExit(99)\n")
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
