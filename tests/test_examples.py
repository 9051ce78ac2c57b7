"""Tests of `gradcli examples`, of --example, of `grad --value` and of words that `ops` takes."""

from __future__ import annotations

import json
import tomllib

import pytest
from command_here import here
from test_check import ROOT, home, write

__all__ = ["home"]
TWO_PATHS = ROOT / "expressions" / "chain_rule" / "two_paths.expr"


def test_examples_are_listed_and_printed() -> None:
    listed = here("examples").stdout
    assert all(path.stem in listed for path in (ROOT / "expressions").rglob("*.expr"))
    assert here("examples", "two_paths").stdout == TWO_PATHS.read_text("utf-8")
    document = json.loads(here("examples", "two_paths", "--format", "json").stdout)
    assert document["examples"][0]["program"] == TWO_PATHS.read_text("utf-8")


def test_names_of_examples_are_unique() -> None:
    names = [path.stem for path in (ROOT / "expressions").rglob("*.expr")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("command", [("trace",), ("run",), ("grad", "--wrt", "a"), ("flow",)])
def test_an_example_in_the_place_of_a_file(command: tuple[str, ...]) -> None:
    by_name = here(*command, "--example", "two_paths").stdout
    assert by_name == here(*command, str(TWO_PATHS)).stdout != ""


def test_no_such_example() -> None:
    done = here("trace", "--example", "tow_paths")
    assert done.returncode == 2 and done.stderr.endswith("help: did you mean two_paths?\n")
    done = here("trace", str(TWO_PATHS), "--example", "two_paths")
    assert done.returncode == 2 and "--example takes the place of" in done.stderr


def test_the_wheel_holds_the_examples() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"expressions": "gradcli/expressions"}


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [("y = x**2\n", ["--set", "x=0.1"], "0.2\n"),
     ("y = (x**2).sum()\nprint('said')\n", ["--set", "x=[1.0,2.5]"], "[2.0, 5.0]\n"),
     ("y = x * w\n", ["--set", "x=3.0", "--set", "w=0.7", "--wrt", "w,x"], "3.0\n0.7\n"),
     ("y = x.sqrt()\n", ["--set", "x=0.0"], "inf\n"),
     ("y = x * 0.1\n", ["--set", "x=1.0", "--dtype", "float64"], "0.1\n")],
)  # fmt: skip
def test_the_number_alone(home: object, text: str, words: list[str], shown: str) -> None:
    write(home, "a.expr", text)  # type: ignore[arg-type]
    assert here("grad", "a.expr", "--value", *words).stdout == shown


@pytest.mark.parametrize(
    ("words", "name"),
    [("@", "torch.matmul"), ("+", "torch.add"), ("**", "torch.pow"), ("arc cosine", "torch.acos"),
     ("nn.Linear", "torch.nn.functional.linear"), ("cumulative sum", "torch.cumsum"),
     ("torch.nn.LayerNorm", "torch.nn.functional.layer_norm"), ("nn.ReLU", "nn.functional.relu"),
     ("nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy"),
     ("cross entropy", "torch.nn.functional.cross_entropy"), ("batch norm", "torch.batch_norm"),
     ("matrix product", "torch.matmul")],
)  # fmt: skip
def test_words_for_operators(words: str, name: str) -> None:
    assert name in here("ops", words).stdout.partition("\n\n")[0]


def test_words_without_quotes() -> None:
    assert here("ops", "cross", "entropy").stdout == here("ops", "cross entropy").stdout
    page = here("ops", "along a dimension").stdout
    assert "grad_fn" not in page and page.count("\n") > 4  # many are listed, a line each


@pytest.mark.parametrize("command", ["run", "trace", "check"])
def test_limits_have_a_heading_of_their_own(command: str) -> None:
    page = here(command, "--help").stdout
    options, limits = page.partition("\nLimits:\n")[::2]
    assert "--max-memory" in limits and "--max-" not in options and "--format" not in limits
