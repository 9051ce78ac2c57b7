"""Tests of which programs `gradcli check` takes, and of recording answers one by one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from schemas import SCHEMAS
from test_check import GOOD, ROOT, WRONG, document, gradcli, home, write

__all__ = ["home"]


@pytest.fixture(autouse=True)
def memory(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    return path / "gradcli" / "failed.json"


def checked(*words: str) -> list[str]:
    """The programs that are checked, by name."""
    doc, _ = document(*words)
    return [Path(file["file"]).stem for file in doc["files"]]


def git(*words: str) -> None:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run([*line, *words], check=True, capture_output=True)


def test_changed_since_a_revision(home: Path) -> None:
    for name in ("same", "text", "answer", "data"):
        write(home, f"in/{name}.expr", GOOD)
    write(home, "in/data.expr", "# set: w=@data.csv\n" + GOOD)
    write(home, "in/data.csv", "1.0\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    assert checked("in", "--changed-since", "HEAD") == []
    write(home, "in/text.expr", GOOD + "\n")
    write(home, "in/answer.out", "tensor(6.)\n")
    write(home, "in/data.csv", "2.0\n")
    write(home, "in/new file.expr", GOOD)
    git("add", "in/text.expr")
    expected = ["answer", "data", "new file", "text"]
    assert sorted(checked("in", "--changed-since", "HEAD")) == expected
    git("commit", "-m", "b")
    assert sorted(checked("in", "--changed-since", "HEAD")) == ["answer", "data", "new file"]
    assert sorted(checked("in", "--changed-since", "HEAD~1")) == expected


def test_a_repository_names_no_command_that_git_starts(home: Path) -> None:
    write(home, "a.expr", GOOD)
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    write(home, "monitor", "#!/bin/sh\ntouch ran\n")
    (home / "monitor").chmod(0o755)
    git("config", "core.fsmonitor", str(home / "monitor"))
    assert checked(".", "--changed-since", "HEAD") == []
    assert not (home / "ran").exists()


def test_what_waits_or_is_no_name_does_not_stop_the_selection(home: Path) -> None:
    write(home, "a.expr", GOOD)
    write(home, "b.expr", "# set: x=@a\0b.npy\n" + GOOD)
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    write(home, "a.expr", GOOD + "\n")
    os.mkfifo("pipe.expr")
    assert checked("a.expr", "b.expr", "pipe.expr", "--changed-since", "HEAD") == ["a"]


def test_nothing_has_changed(home: Path) -> None:
    write(home, "a.expr", GOOD)
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    done = gradcli("check", "a.expr", "--changed-since", "HEAD")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "note: no program has changed since HEAD\n"


@pytest.mark.parametrize("revision", ["nowhere", "--output=a.expr", ""])
def test_no_revision(home: Path, revision: str) -> None:
    write(home, "a.expr", GOOD)
    git("init")
    done = gradcli("check", "a.expr", "--changed-since", revision)
    assert done.returncode == 2 and "--changed-since" in done.stderr
    assert (home / "a.expr").read_text() == GOOD


def test_no_repository(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "a.expr", GOOD)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(home.parent))
    done = gradcli("check", "a.expr", "--changed-since", "HEAD")
    assert done.returncode == 2 and "not a git repository" in done.stderr


def test_what_failed_last(home: Path, memory: Path) -> None:
    write(home, "in/a.expr", GOOD)
    write(home, "in/b.expr", WRONG)
    write(home, "in/c.expr", "raise ValueError('c')\n")
    done = gradcli("check", "in/a.expr", "--lf")
    assert done.returncode == 0 and "none of these failed the last time" in done.stderr
    assert not memory.exists()
    gradcli("check", "in")
    assert checked("in", "--last-failed") == ["b", "c"]
    write(home, "in/b.expr", GOOD)
    gradcli("check", "in/b.expr")
    assert checked("in", "--lf") == ["c"]
    write(home, "in/c.expr", GOOD)
    assert checked("in", "--lf") == ["c"] and json.loads(memory.read_text()) == {}
    for damaged in ("[nonsense", json.dumps({str(home): [["in/a.expr"]]}), "[" * 100_000):
        memory.write_text(damaged)
        assert checked("in", "--lf") == ["a", "b", "c"]


def test_as_many_jobs_as_processors(home: Path) -> None:
    write(home, "a.expr", GOOD)
    write(home, "b.expr", GOOD)
    assert gradcli("check", ".", "-j", "auto").stdout == gradcli("check", ".").stdout
    write(home, "pyproject.toml", "[tool.gradcli]\njobs = 'auto'")
    assert gradcli("check", ".").returncode == 0


def test_update_shows_what_it_writes(home: Path) -> None:
    write(home, "a.expr", GOOD)
    done = gradcli("check", "--update", "a.expr")
    assert "recorded" in done.stdout and "\n  +tensor(6.)\n" in done.stdout
    write(home, "a.out", "tensor(7.)\n")
    done = gradcli("check", "--update", "a.expr")
    assert "\n  -tensor(7.)\n  +tensor(6.)\n" in done.stdout
    done = gradcli("check", "--update", "a.expr")
    assert "tensor" not in done.stdout


def reviewed(home: Path, answers: str, *words: str) -> str:
    """What a terminal shows of a review that gets these answers."""
    ours, theirs = pty.openpty()
    os.write(ours, answers.encode())
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "check", "--review", *words], stdin=theirs,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", cwd=home, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    os.close(theirs)
    os.close(ours)
    return done.stdout


def test_review_asks_one_by_one(home: Path) -> None:
    for name in "abcd":
        write(home, f"{name}.expr", GOOD)
        write(home, f"{name}.out", "tensor(7.)\n")
    write(home, "c.out", "tensor(6.)\n")
    write(home, "wrong.expr", WRONG)
    shown = reviewed(home, "x\ny\nn\nq\n", ".")
    records = {name: (home / f"{name}.out").read_text() for name in "abcd"}
    assert records == {
        "a": "tensor(6.)\n", "b": "tensor(7.)\n", "c": "tensor(6.)\n", "d": "tensor(7.)\n",
    }  # fmt: skip
    assert shown.count("record this answer?") == 4  # x is no answer
    assert "  -tensor(7.)\n  +tensor(6.)\n" in shown and not (home / "wrong.out").exists()
    assert "5 programs: 2 passed, 3 failed" in shown
    reviewed(home, "a\n", ".")
    assert {(home / f"{name}.out").read_text() for name in "abcd"} == {"tensor(6.)\n"}


def test_review_needs_somebody_to_ask(home: Path) -> None:
    write(home, "a.expr", GOOD)
    done = gradcli("check", "a.expr", "--review", stdin="y\n")
    assert done.returncode == 2 and "--review asks on a terminal" in done.stderr
    assert gradcli("check", "a.expr", "--review", "--update").returncode == 2


MAKERS = {  # program: the line and the column of the operation that makes the bad number
    "x = tensor([4., -1.], requires_grad=True)\nh = x * 2\ny = h.sqrt()\nL = y.sum()\n"
    "L.backward()\n": ("nan", 3, 5),
    "x = tensor([1., 0.], requires_grad=True)\ny = 1 / x\nz = y * 2\nL = z.sum()\n"
    "L.backward()\n": ("inf", 2, 5),
    "x = tensor(0., requires_grad=True)\ny = x * 3\nz = y.sqrt()\nL = z * 2\nL.backward()\n":
    ("inf", 3, 5),
}  # fmt: skip


@pytest.mark.parametrize("text", MAKERS)
def test_a_bad_number_points_at_what_made_it(home: Path, text: str) -> None:
    kind, line, column = MAKERS[text]
    write(home, "a.expr", text)
    doc, _ = document("a.expr", "--no-numeric")
    found = [p for p in doc["files"][0]["problems"] if p["kind"] == kind]
    assert found and {(p["line"], p["column"]) for p in found} == {(line, column)}
    done = gradcli(
        "check", "a.expr", "--no-numeric", "--github", "--junit", "r.xml", "--sarif", "s"
    )
    assert f"  a.expr:{line}:{column}\n" in done.stdout
    assert f"::error file=a.expr,line={line},endLine={line},col={column}," in done.stdout
    assert f' line="{line}"' in (home / "r.xml").read_text("utf-8")
    report = json.loads((home / "s").read_text("utf-8"))
    places = [result["locations"][0]["physicalLocation"]["region"]["startLine"]
              for result in report["runs"][0]["results"] if result["level"] == "error"]  # fmt: skip
    assert set(places) == {line}


def test_sarif_is_valid(home: Path) -> None:
    write(home, "a b.expr", WRONG)
    write(home, "c.expr", next(iter(MAKERS)))
    write(home, "d.expr", "x = = 1\n")
    gradcli("check", ".", "missing.expr", "--sarif", "s")
    schema = json.loads((SCHEMAS / "sarif-1.json").read_text("utf-8"))
    document = json.loads((home / "s").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert len(document["runs"][0]["results"]) >= 5
    document["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)
