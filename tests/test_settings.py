"""Tests of `[tool.gradcli]` in pyproject.toml, and of `gradcli help`."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check import GOOD, gradcli, home, write

from gradcli.commands.check import COMMAND, _jobs
from gradcli.commands.settings import words_of
from gradcli.options import memory_size
from gradcli.process.memory import Standard

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
     ("junit = 'a.expr'", "--junit is for the command line only"),
     ("data = '/'", "--data is for the command line only"),
     ("set = ['x= @/a.npy']", "names a file"),
     ("device = 'cuda'", "--device is for the command line only"),
     ("timeout = '2m'", "2m is more than 60s; the caller may allow it: --timeout 2m"),
     ("max-steps = 1e12", "or GRADCLI_MAX_STEPS"), ("max-output = '17MiB'", "more than 16MiB"),
     ("rtol = -1", "rtol in [tool.gradcli]: '-1' is not a tolerance"),
     ("atol = nan", "'nan' is not a tolerance"),
     ("quiet = 1000000000", "quiet in [tool.gradcli]: a number from 0 to 9 is expected"),
     ("quiet = inf", "a number from 0 to 9 is expected"),
     ("a." * 40_000 + "b = 1", "can't be read: a key has too many parts"),
    ("a = " + "[" * 60_000, "can't be read: it is nested too deeply"),
     ("#" * (1 << 17), "can't be read: it has more than 131,072 bytes"),
     ("= 3", "can't be read")],
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


def words(home: Path, text: str, *line: str) -> list[str]:
    settings(home, text)
    return words_of(COMMAND.every, line)


def test_a_limit_of_the_file_is_never_higher_than_the_callers(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert words(home, "timeout = '2m'", "--timeout=3m") == []  # the caller's word holds
    monkeypatch.setenv("GRADCLI_TIMEOUT", "5s")
    assert words(home, "timeout = '30s'") == []
    assert words(home, "timeout = '2s'") == ["--timeout=2s"]
    monkeypatch.setenv("GRADCLI_TIMEOUT", "10m")
    assert words(home, "timeout = '2m'") == ["--timeout=2m"]
    monkeypatch.setenv("GRADCLI_TIMEOUT", "never")
    assert words(home, "timeout = '2m'") == []


def test_memory_and_processes_of_the_file_stay_within_the_machine(home: Path) -> None:
    processors = _jobs("auto")
    assert words(home, "jobs = 100000") == [f"--jobs={processors}"]
    assert words(home, "jobs = 1") == ["--jobs=1"]
    (word,) = words(home, "max-memory = '900GiB'")
    assert memory_size(word.partition("=")[2]) == memory_size("standard")
    (word,) = words(home, "max-memory = '1MiB'")
    least = memory_size(word.partition("=")[2])
    assert isinstance(least, Standard) and least == 1 << 20
