"""Tests of the reports of `gradcli check` beside its text, and of what is checked at all."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from schemas import SCHEMAS, fits
from test_check import GOOD, WRONG, gradcli, home, tree, write

__all__ = ["home"]


@pytest.fixture
def folder(home: Path) -> Path:
    write(home, "p/good.expr", GOOD)
    write(home, "p/wrong <ö>.expr", WRONG)
    write(home, "p/draft/bad.expr", "raise ValueError('\\x1b')\n")
    return home


def test_text_and_reports_at_once(folder: Path) -> None:
    plain = gradcli("check", "p")
    done = gradcli("check", "p", "--junit", "r.xml", "--sarif", "r.sarif", "--github")
    assert done.returncode == plain.returncode == 3
    assert done.stdout.startswith(plain.stdout)
    annotations = done.stdout.removeprefix(plain.stdout).splitlines()
    assert len(annotations) == 2 and all(line.startswith("::error file=") for line in annotations)
    suites = tree(ElementTree.parse(folder / "r.xml").getroot())
    fits(suites, "junit-1")
    cases = [case["attributes"] for case in suites["children"][0]["children"]]
    assert [(case["file"], case.get("line")) for case in cases] == [
        ("p/good.expr", None), ("p/wrong <ö>.expr", "11"), ("p/draft/bad.expr", "1"),
    ]  # fmt: skip
    assert all(float(case["time"]) > 0 for case in cases)


def test_what_an_error_says_of_its_place_is_in_every_report(home: Path) -> None:
    file = home / "p.expr"
    file.write_text("x = torch.ones(2)\nx.sum().backward()\n", "utf-8")
    done = gradcli("check", "p.expr", "--sarif", "r.sarif", "--github")
    assert (
        "│ ^^^^^^^^^^^^^^^^^^ x.sum() does not require grad\n  line 1: made without" in done.stdout
    )
    result = json.loads((home / "r.sarif").read_text("utf-8"))["runs"][0]["results"][0]
    for words in (result["message"]["text"].replace("\n", "%0A"), done.stdout):
        assert "%0Ax.sum() does not require grad%0Aline 1: made without" in words
    shown = json.loads(gradcli("check", "p.expr", "-f", "json").stdout)["files"][0]["problems"][0]
    assert shown["shown"][0] == "x.sum() does not require grad" and "label" not in shown


def test_sarif(folder: Path) -> None:
    gradcli("check", "p", "--sarif", "r.sarif")
    text = (folder / "r.sarif").read_text("utf-8")
    document = json.loads(text)
    (run,) = document["runs"]
    assert document["version"] == "2.1.0" and "\\u001b" not in text
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    wrong, bad = run["results"]
    assert (wrong["ruleId"], wrong["level"]) == ("gradient", "error") and wrong["ruleId"] in rules
    place = wrong["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "p/wrong%20%3C%C3%B6%3E.expr"
    assert place["region"] == {"startLine": 11, "startColumn": 5, "endLine": 11, "endColumn": 20}
    assert bad["ruleId"] == "error" and bad["message"]["text"].startswith("ValueError")
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 3}]


def test_every_kind_of_problem_has_a_rule() -> None:
    from gradcli.render.sarif import RULES

    schema = json.loads((SCHEMAS / "gradcli.check-1.json").read_text("utf-8"))
    file = schema["properties"]["files"]["items"]["properties"]
    kinds = file["problems"]["items"]["properties"]["kind"]["enum"]
    assert {*kinds, "note"} == set(RULES)


def test_annotations_beside_a_document(folder: Path) -> None:
    done = gradcli("check", "p", "--github", "--format", "json")
    json.loads(done.stdout)
    assert done.stderr.startswith("::error file=")
    done = gradcli("check", "p", "--github", "-o", "page.txt")
    assert done.stdout == "" and done.stderr.startswith("::error file=")


def test_no_line_of_a_log_is_a_command(home: Path) -> None:
    """GitHub's runner takes `::` behind white space for one, and `##[` anywhere in a line."""
    words = "a\\n::error::b\\n\\u00a0::stop-commands::c\\nd ##[add-mask]e ##vso[task.x]f ##g"
    write(home, "p/##[debug]bad.expr", f"print('::error::h')\nassert 0, '{words}'\n")
    write(home, "p/##[debug]bad.out", "##[add-mask]i\n")
    (home / "p" / "##[debug]l").symlink_to("/etc")
    done = gradcli("check", "p", "--github", "--durations", "1")
    lines = (done.stdout + done.stderr).splitlines()
    annotations = [line for line in lines if line.startswith("::error file=")]
    others = [line for line in lines if line not in annotations]
    assert len(annotations) == 2
    assert not any(line.lstrip().startswith("::") or "##[" in line or "##vso[" in line
                   for line in others)  # fmt: skip
    said = "\n".join(others)
    assert "  \\x3a:error::b\n  \u00a0\\x3a:stop-commands::c\n" in said and "+::error::h" in said
    assert "d \\x23#[add-mask]e \\x23#vso[task.x]f ##g" in said
    assert all(name in said for name in ("\\x23#[debug]l is a link", "-\\x23#[add-mask]i"))


@pytest.mark.parametrize("words", [("--format", "json"), ("--sarif", "/dev/stdout", "-qq")])
def test_no_string_of_a_document_is_a_command(home: Path, words: tuple[str, ...]) -> None:
    text = "print('##vso[task.x]a ## b')\nassert 0, 'c ##[add-mask]d'\n"
    write(home, "p/##[debug]bad.expr", text)
    done = gradcli("check", "p", *words)
    assert "##[" not in done.stdout and "##vso[" not in done.stdout
    said = json.dumps(json.loads(done.stdout))
    assert "c ##[add-mask]d" in said
    if words[0] == "--format":
        assert "##vso[task.x]a ## b" in said and "p/##[debug]bad.expr" in said


def test_no_line_of_junits_document_is_a_command(home: Path) -> None:
    words = "##vso[task.x]a\n ::error::k"
    write(home, "p/##[debug]bad.expr", f"assert 0, {words!r}\n")
    done = gradcli("check", "p", "--format", "junit")
    assert "##" not in done.stdout
    assert not any(line.lstrip().startswith("::") for line in done.stdout.splitlines())
    case = next(ElementTree.fromstring(done.stdout).iter("testcase"))
    assert case.get("name") == "##[debug]bad.expr" and words in "".join(case.itertext())


@pytest.mark.parametrize(
    "words",
    [("--junit", "nowhere/r.xml"), ("--sarif", "p/good.expr"), ("--junit", "a", "--sarif", "a"),
     ("--junit", "a", "-o", "a")],
)  # fmt: skip
def test_reports_that_cannot_be_written(folder: Path, words: tuple[str, ...]) -> None:
    done = gradcli("check", "p", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert (folder / "p/good.expr").read_text() == GOOD


@pytest.mark.parametrize(
    ("patterns", "left"),
    [(["draft"], 2), (["p/draft/*"], 2), (["*.expr", "x"], None), (["bad.expr", "wrong*"], 1),
     (["draft/"], 2), (["./p/draft"], 2), (["p"], None), (["nothing"], 3)],
)  # fmt: skip
def test_exclude(folder: Path, patterns: list[str], left: int | None) -> None:
    words = [word for pattern in patterns for word in ("--exclude", pattern)]
    done = gradcli("check", "p", *words)
    if left is None:
        assert (done.returncode, done.stdout) == (2, "")
    else:
        assert f"{left} program{'s' if left > 1 else ''}: " in done.stdout


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_stop_at_the_first_failure(folder: Path, jobs: str) -> None:
    done = gradcli("check", "p", "-x", "--jobs", jobs)
    assert done.returncode == 1 and "bad.expr" not in done.stdout
    assert done.stdout.endswith("2 programs: 1 passed, 1 failed; 1 of 2 gradients agrees\n")
    assert done.stderr == "note: stopped at the first failure: 1 not checked\n"


def test_the_slowest(folder: Path) -> None:
    done = gradcli("check", "p", "--durations", "2")
    head, *rows = done.stdout.splitlines()[-3:]
    assert head == "slowest 2 programs:" and all(" s  p/" in row for row in rows)
