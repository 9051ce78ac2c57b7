"""Tests of `gradcli check`: each program in a process of its own, and a report whatever happens."""

from __future__ import annotations

import faulthandler
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_here import here as gradcli
from test_check import GOOD, document, home, write  # noqa: F401
from test_cli import Done, gradcli as process

from gradcli.questions.check import files, jobs
from gradcli.recording.facts import ErrorFact, LabelFact
from gradcli.recording.facts.check import EdgeCheck, FileCheck, LeafCheck, Problem
from gradcli.recording.facts.check_wire import packed, unpacked

FORMS = ("text", "json", "junit", "github")

# ---------------------------------------------------------------- what becomes of a process


def planted(monkeypatch: pytest.MonkeyPatch, name: str, deed: Callable[[], Any]) -> None:
    """The process that checks this program does that instead."""
    ordinary = files.check

    def check(path: str | None, called: str, data: bytes, options: Any) -> FileCheck:
        if called == name:
            deed()
        return ordinary(path, called, data, options)

    monkeypatch.setattr(files, "check", check)


def kill(number: int) -> Callable[[], None]:
    def deed() -> None:
        faulthandler.disable()  # pytest's
        os.kill(os.getpid(), number)

    return deed


DEEDS: dict[str, tuple[Callable[[], Any], int, str]] = {
    "crash": (kill(signal.SIGSEGV), 70, "ended by SIGSEGV"),
    "abort": (kill(signal.SIGABRT), 70, "ended by SIGABRT"),
    "no memory": (kill(signal.SIGKILL), 4, "because memory ran out"),
    "exit": (lambda: os._exit(0), 70, "ended with status 0"),
    "the net's exit": (lambda: os._exit(4), 4, "of 60 seconds is reached; --timeout raises it"),
    "endless in C": (lambda: max(itertools.count()), 4, "is reached; --timeout raises it"),
    "interrupt": (lambda: (_ for _ in ()).throw(KeyboardInterrupt), 70, "ended with status 70"),
    "system exit": (lambda: sys.exit(0), 70, "ended with status 70"),
    "an error of ours": (lambda: [][1], 70, "InternalError"),
    "what it prints": (lambda: [print("raw \x1b[31m"), os.write(1, b"raw"), os.write(2, b"raw")],
                       0, ""),
}  # fmt: skip


@pytest.mark.skipif(not jobs.CAN_FORK, reason="what is planted here is inherited by a fork")
@pytest.mark.parametrize("count", ["1", "2"])
@pytest.mark.parametrize("name", DEEDS)
def test_the_others_go_on(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, name: str, count: str  # noqa: F811
) -> None:  # fmt: skip
    for file in ("a", "b", "c"):
        write(home, f"{file}.expr", GOOD)
    deed, code, words = DEEDS[name]
    planted(monkeypatch, "b.expr", deed)
    limit = "0.2" if name == "endless in C" else "60"
    doc, done = document("a.expr", "b.expr", "c.expr", "--jobs", count, "--timeout", limit)
    assert [file["exit_code"] for file in doc["files"]] == [0, code, 0]
    assert done.returncode == code
    said = " ".join(problem["message"] for problem in doc["files"][1]["problems"])
    assert words in said and "\n" not in said
    assert "raw" not in done.stdout + done.stderr + "".join(capfd.readouterr())


def test_the_place_is_reported_whatever_ended_the_process(
    home: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    """The statement that was running is known to the command, and not to the dead process alone."""
    from gradcli.language.interpreter import Machine

    ordinary = Machine.statements

    def statements(machine: Machine, budget: Any) -> None:
        ordinary(machine, budget)
        kill(signal.SIGSEGV)()

    monkeypatch.setattr(Machine, "statements", statements)
    write(home, "a.expr", "x = 1\n\nif x:\n    y = 2\n")
    doc, _ = document("a.expr")
    problem = doc["files"][0]["problems"][0]
    assert (problem["line"], problem["column"]) == (3, 1)
    for form in ("text", "junit"):
        assert "a.expr:3:1" in gradcli("check", "a.expr", "--format", form).stdout
    assert "line=3," in gradcli("check", "a.expr", "--format", "github").stdout


@pytest.mark.parametrize("form", FORMS)
def test_the_report_is_written_in_every_form(
    home: Path, monkeypatch: pytest.MonkeyPatch, form: str  # noqa: F811
) -> None:  # fmt: skip
    write(home, "a.expr", GOOD)
    write(home, "b.expr", GOOD)
    planted(monkeypatch, "a.expr", kill(signal.SIGSEGV))
    done = gradcli("check", "a.expr", "b.expr", "gone.expr", "--format", form, "-o", "report")
    assert done.returncode == 70
    report = (home / "report").read_text()
    assert ("SIGSEGV" in report and "b.expr" in report.replace("'", "")) or form == "github"
    assert "there is no file gone.expr" in report


def test_a_process_that_sleeps_is_ended(
    home: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    write(home, "a.expr", GOOD)
    planted(monkeypatch, "a.expr", lambda: time.sleep(10**6))
    monkeypatch.setattr(jobs, "clock", lambda options: 0.5)
    doc, _ = document("a.expr")
    assert doc["files"][0]["status"] == "limit"


def test_the_clock_is_wider_than_the_limit() -> None:
    options = jobs.CheckOptions()
    assert jobs.clock(options) > 2 * options.limits.timeout


def test_no_room_for_a_process(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    write(home, "a.expr", GOOD)

    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fork)
    doc, done = document("a.expr", "a.expr")
    assert done.returncode == 4 and "no room" in doc["files"][0]["problems"][0]["message"]


def test_few_files_may_be_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """As many work as the system has room for."""
    for name in "abcd":
        write(home, f"{name}.expr", GOOD)
    pipe, made = os.pipe, []

    def few() -> tuple[int, int]:
        if len(made) == 7:  # two processes, and a third that gets one of its three
            raise OSError(24, "Too many open files")
        made.append(1)
        return pipe()

    monkeypatch.setattr(os, "pipe", few)
    doc, done = document(*(f"{name}.expr" for name in "abcd"), "-j", "4")
    assert done.returncode == 0 and [file["status"] for file in doc["files"]] == ["passed"] * 4


# ---------------------------------------------------------------- what ends with a program

CHANGES = """\
torch.set_default_dtype(torch.float64)
torch.set_printoptions(precision=2, sci_mode=True)
torch.manual_seed(7)
torch.rand(3)
torch.set_grad_enabled(False)
x = torch.ones(2, requires_grad=True)
for i in range(5):
    h = x.register_hook(lambda g: g)
    print(h, x.data_ptr(), (lambda: 0))
torch.nn.init.kaiming_normal_(torch.nn.Linear(2, 2).weight)
"""
PROBE = """\
x = torch.tensor([1.0, 2.5], requires_grad=True)
y = x * 3
print(y, y.dtype, y.grad_fn, torch.rand(2), torch.is_grad_enabled())
print(x.register_hook(lambda g: g).id, x.data_ptr(), lambda: 0, torch.initial_seed())
class Net(torch.nn.Module):
    pass
print(Net(), object if False else type(x), hash(1.0))
y.sum().backward()
print(x.grad, y.grad_fn.name())
"""


def outputs(done: Done[str]) -> dict[str, str]:
    return {file["file"]: file["output"] for file in json.loads(done.stdout)["files"]}


@pytest.mark.parametrize("way", ["1", "3", "started"])
def test_nothing_is_left_by_a_program(
    home: Path, monkeypatch: pytest.MonkeyPatch, way: str  # noqa: F811
) -> None:  # fmt: skip
    for name, text in (("a", CHANGES), ("probe", PROBE), ("z", CHANGES)):
        write(home, f"{name}.expr", text)
    if way == "started":
        monkeypatch.setattr(jobs, "CAN_FORK", False)
        done = gradcli("check", ".", "--format", "json")
    else:
        done = process("check", ".", "--format", "json", "--jobs", way)
    assert done.returncode == 0
    assert outputs(done)["./probe.expr"] == process("run", "probe.expr").stdout != ""
    assert outputs(done)["./a.expr"] == outputs(done)["./z.expr"] != ""


@pytest.mark.skipif(not jobs.CAN_FORK, reason="processes are started for each program there")
def test_a_process_goes_on_only_behind_a_program_that_ended_by_itself(
    home: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    """`a` passes, `b` has an error, `c` reaches a limit, `e` leaves memory behind."""
    ordinary, left = files.check, []

    def check(path: str | None, name: str, data: bytes, options: Any) -> FileCheck:
        if name == "./e.expr":
            left.append(b"x" * 8 * jobs.LEFT_BEHIND)
        return ordinary(path, name, data, options)._replace(notes=(str(os.getpid()),))

    monkeypatch.setattr(files, "check", check)
    write(home, "c.expr", "while True:\n    pass\n")
    write(home, "b.expr", "print(1 / 0)\n")
    for name in "adefg":
        write(home, f"{name}.expr", GOOD)
    doc, _ = document("./", "--max-steps", "20000")
    assert [file["exit_code"] for file in doc["files"]] == [0, 3, 4, 0, 0, 0, 0]
    a, b, c, d, e, f, g = (file["notes"][0] for file in doc["files"])
    assert a == b == c != d == e != f == g and f != a


def test_a_limit_ends_with_its_program(home: Path) -> None:  # noqa: F811
    for number in range(3):
        write(home, f"{number}.expr", "x = torch.ones(300000)\nwhile True:\n    pass\n")
    write(home, "9.expr", GOOD)
    doc, _ = document(".", "--max-steps", "20000")
    assert [file["exit_code"] for file in doc["files"]] == [4, 4, 4, 0]


def test_the_same_bytes_for_every_number_of_jobs(home: Path) -> None:  # noqa: F811
    for number in range(7):
        write(home, f"{number}.expr", GOOD if number % 3 else f"print({number} / 0)\n")
    for form in ("text", "json"):
        pages = [gradcli("check", ".", "-j", count, "--format", form).stdout
                 for count in ("0", "1", "2", "40")]  # fmt: skip
        assert pages == [pages[0]] * 4


# ---------------------------------------------------------------- the end of the command


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command(home: Path, number: int) -> None:  # noqa: F811
    for name in "ab":
        write(home, f"{name}.expr", "while True:\n    pass\n")
    command = subprocess.Popen(
        [sys.executable, "-m", "gradcli", "check", ".", "-j", "2", "--timeout", "600"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while len(children(command.pid)) < 2:
        assert command.poll() is None
        time.sleep(0.02)
    workers = children(command.pid)
    command.send_signal(number)
    _, errors = command.communicate()
    assert b"Traceback" not in errors
    assert command.returncode == (130 if number == signal.SIGINT else -number)
    while any(map(is_running, workers)):  # the test's own limit ends a wait in vain
        time.sleep(0.02)


# ---------------------------------------------------------------- the line between them

FACT = FileCheck(
    "a\udcff.expr", "failed", 1,
    (Problem("gradient", "d", 1, 2, 1, 3, ("x",), ("y", "z")),), ("note",),
    (LeafCheck("y", 2, "x", 1, (2, 3), "float32", "different", 1, 6, 2, (0, 1), float("nan"),
               float("inf"), "kink", (EdgeCheck("n", "a", (), 1.0, 2.5, "c", "t", 1, 2, 3, 4),),
               ("nan",), True),
     LeafCheck("y", None, "x", None, (), "float32", "equal", 1, 1, 0, None, None, None, "")),
    "equal", "a.out", 3, "as PyTorch", "printed \x1b \ud800 \0\n", ("w",),
    ErrorFact("E", "m", 1, 2, 3, 4, (LabelFact(1, 2, 3, 4, "l", True),), ("n",)), "text",
)  # fmt: skip


def test_facts_come_back_as_they_were() -> None:
    assert repr(unpacked(packed(FACT))) == repr(FACT)  # nan is not equal to itself
    assert unpacked(packed(FileCheck("a", "passed", 0))) == FileCheck("a", "passed", 0)


def changed(place: int, value: Any) -> bytes:
    row = json.loads(packed(FACT))
    row[place] = value
    return json.dumps(row).encode()


FORGED = {
    "nothing": b"", "no line": b"\n", "no JSON": b"[1,\n", "a number": b"7\n", "null": b"null\n",
    "an object": b'{"file": "a"}\n', "too short": b'["a"]\n', "deep": b"[" * 100_000 + b"\n",
    "a number for a name": changed(0, 7), "a text for a code": changed(2, "0"),
    "a truth for a code": changed(2, True), "a fraction for a code": changed(2, 0.5),
    "a list for a text": changed(1, ["passed"]), "an object for a list": changed(3, {"a": 1}),
    "a text for a list": changed(4, "note"), "one field too many": changed(3, [[1] * 9]),
    "null in a list": changed(4, [None]), "a huge number": b'["a", "passed", ' + b"9" * 9999 + b"]",
    "not UTF-8": b"\xff\xfe\n", "a pickle": pickle.dumps(tuple(FACT)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_no_answer_is_none(name: str) -> None:
    assert unpacked(FORGED[name]) is None


def test_an_answer_about_another_file_is_none(
    home: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    write(home, "a.expr", GOOD)
    monkeypatch.setattr(files, "check", lambda *asked: FileCheck("b.expr", "passed", 0))
    doc, done = document("a.expr")
    assert done.returncode == 70 and doc["files"][0]["file"] == "a.expr"


def test_an_endless_answer_is_cut(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    write(home, "a.expr", GOOD)
    monkeypatch.setattr(jobs, "packed", lambda fact: b"x" * 66 * jobs.PIECE)
    done = gradcli("check", "a.expr", "--max-output", "1", "--max-source", "100")
    assert done.returncode == 70 and "bytes of answer" in done.stdout
