"""Tests of `[tool.gradcli]` in pyproject.toml, and of `gradcli help`."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check import GOOD, gradcli, home, write

__all__ = ["home"]
UNUSED = GOOD + "z = tensor(1.0, requires_grad=True)\n"


def settings(home: Path, text: str) -> None:
    write(home, "pyproject.toml", f"[project]\nname = 'formulas'\n[tool.gradcli]\n{text}\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 0), ("fail-on = ['none']", 1), ("fail-on = 'none,zero'", 1), ("require-record = true", 1),
     ("require-record = false", 0), ("exclude = ['a.*']", 2), ("max-steps = 1", 4),
     ("timeout = '30s'\njobs = 2\nrtol = 1e-3", 0)],
)  # fmt: skip
def test_settings_are_options(home: Path, text: str, code: int) -> None:
    write(home, "a.expr", UNUSED)
    settings(home, text)
    assert gradcli("check", "a.expr").returncode == code


def test_the_line_wins_and_lists_are_added_to(home: Path) -> None:
    write(home, "a.expr", UNUSED)
    settings(home, "fail-on = ['none']\nmax-steps = 1")
    assert gradcli("check", "a.expr", "--max-steps", "1000").returncode == 1
    done = gradcli("check", "a.expr", "--max-steps", "1000", "--allow", "none", "-qq")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_nearest_table_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(home, "fail-on = ['none']")
    path = write(home, "in/side/a.expr", UNUSED)
    write(home, "in/pyproject.toml", "[project]\nname = 'gradcli'\n")
    monkeypatch.chdir(path.parent)
    assert gradcli("check", "a.expr").returncode == 1
    assert gradcli("run", "a.expr").returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("fail_on = ['none']", "has no setting fail_on; did you mean fail-on?"),
     ("colour = 3", "has no setting colour"), ("fail-on = ['many']", "fail-on in [tool.gradcli]: "),
     ("fail-on = [3.5, []]", "fail-on"), ("require-record = 'yes'", "true or false is expected"),
     ("jobs = 'many'", "jobs in [tool.gradcli]: 'many' is not a whole number"),
     ("update = true", "--update is for the command line only"),
     ("against = 'torch'", "--against is for the command line only"),
     ("junit = 'a.expr'", "--junit is for the command line only"), ("= 3", "can't be read")],
)  # fmt: skip
def test_what_is_no_setting_is_an_error(home: Path, text: str, said: str) -> None:
    write(home, "a.expr", GOOD)
    settings(home, text)
    done = gradcli("check", "a.expr")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and "pyproject.toml" in done.stderr
    assert gradcli("check", "--help").returncode == 0 and gradcli("run", "a.expr").returncode == 0


def test_help_is_a_command() -> None:
    assert gradcli("help").stdout == gradcli("--help").stdout
    assert gradcli("help", "check").stdout == gradcli("check", "--help").stdout
    done = gradcli("help", "chek")
    assert done.returncode == 2 and "check" in done.stderr
