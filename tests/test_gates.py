"""Tests of where gates live: bash, pytest, pre-commit and the GitHub Action give one verdict."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_check import GOOD, ROOT, WRONG, gradcli, home, write

from gradcli.gate.server import Gate
from gradcli.questions.check.jobs import CAN_FORK

__all__ = ["home"]
PLUGIN = "gradcli.gate.pytest_plugin"
PROGRAMS = {
    "good": GOOD,
    "wrong_backward": WRONG,
    "assert_fails": GOOD + "assert x.grad == 5\n",
    "expectation_fails": GOOD + "# expect: x.grad is None\n",
    "other_output": GOOD,
    "nan": "x = tensor([0.0], requires_grad=True)\n(x.sqrt() * 0).sum().backward()\n",
    "program_error": "y = undefined_name + 1\n",
    "syntax_error": "x = = 1\n",
    "limit": "while True:\n    pass\n",
    "unchecked": "x = 1\n",
    "meant_to_fail": "# check: raises RuntimeError\nx = tensor(1.0)\nx.backward()\n",
}
OPTIONS = ["--max-steps", "10000"]


@pytest.fixture
def folder(home: Path) -> Path:
    for name, text in PROGRAMS.items():
        write(home, f"formulas/{name}.expr", text)
    write(home, "formulas/other_output.out", "tensor(7.)\n")
    return home


def ran(home: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    known = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        words, cwd=home, capture_output=True, encoding="utf-8", check=False,
        env={**known, "PATH": path, "PYTHONPATH": str(ROOT), **variables},
    )  # fmt: skip


def by_pytest(home: Path, *words: str, junit: str = "r.xml") -> subprocess.CompletedProcess[str]:
    """Pytest with the plugin, whether or not the installation that runs it knows it."""
    known = any(point.value == PLUGIN for point in entry_points(group="pytest11"))
    plugin = [] if known else ["-p", PLUGIN]
    return ran(home, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist",
               *plugin, "--junitxml", junit, *words)  # fmt: skip


def verdicts(home: Path) -> dict[str, bool]:
    """Of each program whether it passes, by check."""
    document = json.loads(gradcli("check", "formulas", *OPTIONS, "--format", "json").stdout)
    return {Path(file["file"]).stem: file["exit_code"] == 0 for file in document["files"]}


def test_check_and_pytest_agree(folder: Path) -> None:
    done = by_pytest(folder, "formulas", f"--gradcli={' '.join(OPTIONS)}")
    cases = ElementTree.parse(folder / "r.xml").getroot().iter("testcase")
    found = {case.attrib["classname"].split(".")[1]: len(case) == 0 for case in cases}
    expected = verdicts(folder)
    assert found == expected and done.returncode == 1
    assert {name for name, passes in expected.items() if passes} == {
        "good", "unchecked", "meant_to_fail",
    }  # fmt: skip
    page = gradcli("check", "formulas/wrong_backward.expr").stdout
    told = page.partition("\n")[2].partition("\n\n")[0]  # without its row and the summary
    assert "the backward of Square is wrong" in told and told in done.stdout
    assert "FAILED formulas/assert_fails.expr::check - AssertionError" in done.stdout


def test_pytest_reads_the_settings_and_the_options(folder: Path) -> None:
    left_out = ["*_*.expr", "nan.expr", "limit.expr", "unchecked.expr"]
    settings = f"[tool.gradcli]\nexclude = {left_out}\nfail-on = ['zero']"
    write(folder, "pyproject.toml", settings)
    write(folder, "formulas/g.expr", "x = tensor(0., requires_grad=True)\n(x**2).backward()\n")
    done = by_pytest(folder, "formulas", "-q")
    assert "1 failed, 1 passed" in done.stdout and "x.grad is all zero" in done.stdout
    done = by_pytest(folder, "formulas", "-q", "--gradcli=--allow zero")
    assert "2 passed" in done.stdout
    done = by_pytest(folder, "formulas", "-q", "--gradcli=--fail-on many")
    assert done.returncode == 4 and "'many' is not one of" in done.stderr


def test_pytest_without_programs_loads_nothing(home: Path) -> None:
    write(home, "test_it.py", "import sys\ndef test_it():\n    found = sorted(m for m in "
          "sys.modules if m.startswith('gradcli') or m in ('numpy', 'typer', 'rich'))\n"
          f"    assert found == ['gradcli', 'gradcli.gate', '{PLUGIN}']\n")  # fmt: skip
    done = by_pytest(home, "-q")
    assert done.returncode == 0, done.stdout


def test_the_engine_stays_out_of_pytest(home: Path) -> None:
    write(home, "a.expr", GOOD)
    write(home, "test_it.py", "import sys\ndef test_it():\n    assert 'numpy' not in sys.modules\n")
    done = by_pytest(home, "-q", "a.expr", "test_it.py")
    assert "2 passed" in done.stdout, done.stdout


def test_programs_are_checked_ahead(home: Path) -> None:
    """Whatever the order in which they are asked for, and whether once or twice."""
    for name in "abc":
        write(home, f"{name}.expr", GOOD if name != "b" else WRONG)
    gate = Gate([], str(home), 1)
    try:
        asked = [gate.checked("a.expr", ["b.expr", "c.expr"])]
        asked += [gate.checked(f"{name}.expr") for name in "cba"]
    finally:
        gate.close()
    assert [fact and (fact.file, fact.status) for fact in asked] == [
        ("a.expr", "passed"), ("c.expr", "passed"), ("b.expr", "failed"), ("a.expr", "passed"),
    ]  # fmt: skip


def test_pytest_stops_at_the_first_failure(folder: Path) -> None:
    write(folder, "formulas/zz_slow.expr", "for i in range(2_000_000):\n    x = i\n")
    done = by_pytest(folder, "formulas", "-x", "-q", f"--gradcli={' '.join(OPTIONS)}")
    assert done.returncode == 1 and "1 failed in" in done.stdout.splitlines()[-1], done.stdout


@pytest.mark.skipif(not CAN_FORK, reason="each program has a process of its own")
@pytest.mark.parametrize("words", [("-q",), ("-q", "-p", "xdist", "-n", "1")])
def test_what_a_stranger_wrote_reaches_no_report_of_pytest_as_it_is(
    home: Path, words: tuple[str, ...]
) -> None:
    (home / "formulas").mkdir()
    for name in (b"\x1b[31m.expr", b"two\nlines.expr", b"\xff.expr", "\u202e.expr".encode()):
        (home / "formulas" / os.fsdecode(name)).write_text("assert False")
    for place, text in enumerate(("\\x1b[2J", "a\\rb", "\\u202e", "\\0", "##[error]a")):
        write(home, f"formulas/{place}.expr", f"raise ValueError('{text}')")
    done = by_pytest(home, "formulas", *words)
    document = (home / "r.xml").read_text("utf-8")
    assert len(list(ElementTree.fromstring(document).iter("failure"))) == 9
    for text in (done.stdout, document):
        assert "##[" not in text
        assert all(line.isprintable() for line in text.split("\n"))


def test_one_process_checks_many_programs(home: Path) -> None:
    names = [write(home, f"p{number}.expr", GOOD).name for number in range(20)]
    counted = (
        "import os, sys\nfrom gradcli.gate import server\nfork, forks = os.fork, []\n"
        "os.fork = lambda: forks.append(1) or fork()\nserver.serve(1, [])\n"
        "sys.stderr.write(f'{len(forks)} processes')\n"
    )
    done = subprocess.run([sys.executable, "-c", counted], input=json.dumps(names) + "\n", cwd=home,
                          capture_output=True, encoding="utf-8", check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert len(done.stdout.splitlines()) == 20 and done.stderr == "1 processes", done.stderr


def test_the_entry_point_is_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"gradcli": PLUGIN}
    assert hasattr(import_module(PLUGIN), "pytest_collect_file")


def field(text: str, name: str) -> str:
    """A line of YAML that holds one plain value."""
    found = re.search(rf"^[ -]*{name}: (.*)$", text, re.M)
    assert found is not None
    return found[1]


def test_pre_commit(folder: Path) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entry, files = field(hook, "entry").split(), re.compile(field(hook, "files"))
    passed = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*"))
              if path.is_file() and files.search(path.name)]  # fmt: skip
    assert len(passed) == len(PROGRAMS) and entry[0] == "gradcli"
    done = ran(folder, sys.executable, "-m", *entry, *passed, GRADCLI_MAX_STEPS="10000")
    same = gradcli("check", "-q", "formulas", *OPTIONS)
    assert (done.returncode, done.stdout) == (same.returncode, same.stdout)
    good = ran(folder, sys.executable, "-m", *entry, "formulas/good.expr")
    assert (good.returncode, good.stdout) == (0, "1 program: 1 passed; 1 gradient agrees\n")


def acted(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The Action's own entry."""
    return ran(folder, "bash", str(ROOT / ".ci" / "action"), **variables)


def test_the_action(folder: Path) -> None:
    done = acted(
        folder, CHECK_PATHS="formulas\n", CHECK_OPTIONS=" ".join(OPTIONS), CHECK_SARIF="r.sarif",
        GITHUB_OUTPUT="out", GITHUB_STEP_SUMMARY="summary",
    )  # fmt: skip
    same = gradcli("check", "formulas", *OPTIONS, "--github")
    assert done.returncode == same.returncode and done.stderr == ""
    stop, *lines = done.stdout.splitlines()
    token = stop.removeprefix("::stop-commands::")
    assert len(token) == 32 and f"::{token}::" in lines
    lines.remove(f"::{token}::")
    assert lines == same.stdout.splitlines()
    assert (folder / "out").read_text() == f"exit-code={done.returncode}\n"
    summary = (folder / "summary").read_text("utf-8")
    assert summary == "".join(f"    {s}\n" for s in lines if not s.startswith("::"))
    assert json.loads((folder / "r.sarif").read_text("utf-8"))["version"] == "2.1.0"


def test_words_of_the_action_are_never_code(home: Path) -> None:
    write(home, "two words.expr", GOOD)
    write(home, "c.expr", GOOD)
    done = acted(home, CHECK_PATHS="two words.expr\n$(touch made).expr\nc.expr",
                 CHECK_OPTIONS="--exclude '$(touch made)*' --exclude c.expr")  # fmt: skip
    assert done.returncode == 0 and "1 program: 1 passed" in done.stdout
    assert not (home / "made").exists()


def test_the_action_hands_every_input_to_its_entry() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    declared = set(re.findall(r"^  ([\w-]+):$", text.partition("\noutputs:")[0], re.M))
    assert declared == set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    script = (ROOT / ".ci" / "action").read_text("utf-8")
    assert set(re.findall(r"CHECK_\w+", text)) == set(re.findall(r"CHECK_\w+", script))
