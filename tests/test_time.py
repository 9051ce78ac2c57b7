"""Tests of the limit of time: it means work, and it ends what the interpreter can't."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pages import error_of
from test_cli import gradcli

from gradcli.diagnostics import LimitReached
from gradcli.process.deadline import CLOCK, START, Clock, begin, deadline, reading
from gradcli.render.last_words import quoting

PLANTED = """
import itertools, re, sys
from gradcli.process import deadline
from gradcli.language.builtins.prelude import PRELUDE
from gradcli.language.values import Builtin
ENDLESS = {
    "iterator": lambda value: max(itertools.repeat(1)),
    "number": lambda value: 7 ** (7 ** 12),
    "pattern": lambda value: re.match("(a*)*b", "a" * 60),
}
call = sys.argv.pop(1)
PRELUDE["abs"] = Builtin("abs", ENDLESS[call])
if call == "iterator":  # which no signal ends: the net need not wait for any
    deadline.NET = 0.2
from gradcli.door import process
process()
"""


def planted(call: str, *words: str, program: str) -> subprocess.CompletedProcess[str]:
    """The command in a process in which `abs` is a call in C that never comes back."""
    return subprocess.run(
        [sys.executable, "-c", PLANTED, call, *words], input=program, capture_output=True,
        text=True, timeout=100, check=False,
    )  # fmt: skip


PARSER = """
import itertools
from gradcli.process import deadline
from gradcli.language import program
deadline.NET = 0.2
from gradcli.door import process
program.parsed = lambda text: max(itertools.repeat(1))
process()
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="timers that need no interpreter")
PROGRAM = "x = 1\nfor i in range(3):\n    y = abs(i)\n"
WORDS = "LimitReached: the limit of 1 second is reached; --timeout raises it"
THIRD = WORDS.replace("1 second", "0.3 seconds")


@LINUX
@pytest.mark.parametrize("command", ["run", "trace"])
def test_an_endless_call_in_c_is_ended_in_words(command: str) -> None:
    done = planted("iterator", command, "--timeout", "0.3", program=PROGRAM)
    assert done.returncode == 4, done.stderr
    assert done.stderr == f"<stdin>:2:1\n  2 | for i in range(3):\n    | ^\n{THIRD}\n"


@LINUX
def test_the_last_words_show_a_long_line_in_part_and_are_harmless(tmp_path: Path) -> None:
    path = tmp_path / "odd\x1b[31m.expr"
    path.write_text("x = '" + "é" * 900 + "'; y = '\u202e'; z = abs(1); " + "y = 2; " * 1000)
    done = planted("iterator", "run", "--timeout", "0.5", str(path), program="")
    place, quoted, mark, words = done.stderr.splitlines()
    assert done.returncode == 4 and words == WORDS.replace("1 second", "0.5 seconds")
    assert place.endswith(r"odd\x1b[31m.expr:1:918") and mark.index("^") == quoted.index("z = abs")
    assert r"'\u202e'; z = abs(1); y = 2; " in quoted and len(quoted) < 80


@LINUX
def test_an_endless_parser_is_ended_in_words() -> None:
    given = [sys.executable, "-c", PARSER, "run", "--timeout", "0.1"]
    done = subprocess.run(given, input=PROGRAM, capture_output=True, text=True, timeout=100)
    words = WORDS.replace("1 second", "0.1 seconds")
    assert (done.returncode, done.stderr) == (4, f"<stdin>:1:1\n{words}\n")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers with signals")
@pytest.mark.parametrize("call", ["number", "pattern"])
def test_a_long_call_that_looks_at_signals_is_ended_where_it_is(call: str) -> None:
    done = planted(call, "run", "--timeout", "0.3", program=PROGRAM)
    assert done.returncode == 4 and done.stderr.startswith("<stdin>:3:9\n"), done.stderr
    assert error_of(done.stderr) == THIRD


@LINUX
def test_a_call_that_waits_for_ever_is_ended_by_the_clock() -> None:
    wait = "import ctypes; from gradcli.process.net import Net; "
    wait += "net = Net('p', 'words\\n', 1000.0, 0.5); net.at(7, 3); ctypes.PyDLL(None).sleep(100)"
    done = subprocess.run([sys.executable, "-c", wait], capture_output=True, check=False)
    assert done.returncode == 4 and done.stderr.split() == [b"p:7:3", b"words"]


@LINUX
def test_a_net_that_is_gone_says_nothing() -> None:
    end = "from gradcli.process.net import Net; import time; "
    end += "net = Net('p', 'words\\n', 1000.0, 0.2); net.gone(); time.sleep(0.4)"
    done = subprocess.run([sys.executable, "-c", end], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="processor time of children")
def test_an_endless_call_in_c_works_no_longer_than_twice_the_limit() -> None:
    import resource

    def used() -> float:
        times = resource.getrusage(resource.RUSAGE_CHILDREN)
        return times.ru_utime + times.ru_stime

    before = used()
    started = planted("iterator", "run", program="x = 1\n")
    between = used()
    ended = planted("iterator", "run", "--timeout", "1", program="abs(1)\n")
    assert (started.returncode, ended.returncode) == (0, 4)
    assert used() - between - (between - before) < 2 * 1 + 0.5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers with signals")
def test_work_that_counts_no_steps_is_ended_by_a_signal() -> None:
    words = re.escape("the limit of 0.1 seconds is reached; --timeout raises it")
    with pytest.raises(LimitReached, match=words), deadline(0.1):
        while True:
            time.process_time()


def test_the_inner_deadline_gives_the_outer_its_timers_back() -> None:
    with pytest.raises(LimitReached, match=r"limit of 0\.2 seconds"), deadline(0.2):
        with deadline(1000.0):
            pass
        while True:
            time.process_time()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers with signals")
def test_an_inner_deadline_does_not_stop_the_outer() -> None:
    begun = time.process_time()
    words = r"limit of 0\.2 seconds"
    with pytest.raises(LimitReached, match=words), deadline(0.2), deadline(1000.0):
        while time.process_time() < begun + 3.0:
            pass


def test_what_was_used_before_the_program_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with deadline(1000.0):
        opened = time.process_time()
        monkeypatch.setattr(time, "process_time", lambda: opened + 900.0)  # it is parsed
        budget = Clock(1000.0)
        monkeypatch.setattr(time, "process_time", lambda: opened + 1000.0 + START + 1.0)
        with pytest.raises(LimitReached, match="limit of 1000 seconds is reached"):
            budget.look()
        monkeypatch.undo()


@LINUX
def test_a_program_that_is_read_is_not_quoted_from_the_one_before() -> None:
    with deadline(1000.0):
        begin("x.expr", quoting(["one = 1"]))
        mark = reading("x.expr")
        assert mark is not None
        mark(2, 1)


def test_no_net_without_a_deadline() -> None:
    assert begin("x.expr", lambda line, column: "") is None


def test_the_clock_is_a_second_larger_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(2.0)
    work, now = clock.work_ends, clock.clock_ends
    monkeypatch.setattr(time, "process_time", lambda: work - 1.0)
    monkeypatch.setattr(time, "monotonic", lambda: now - 0.1)
    clock.look()  # one second of work in twenty of the clock
    monkeypatch.setattr(time, "monotonic", lambda: now + 0.1)
    with pytest.raises(LimitReached, match=rf"limit of {2 * CLOCK} seconds by the clock is"):
        clock.look()
    monkeypatch.setattr(time, "process_time", lambda: work + 0.1)
    with pytest.raises(LimitReached, match="limit of 2 seconds is reached"):
        clock.look()


def test_a_second_of_work_on_a_busy_machine_is_not_ended_by_the_clock(tmp_path: Path) -> None:
    """Stopped for longer than its limit, it has done no work."""
    if not hasattr(signal, "SIGSTOP"):
        pytest.skip("no process can be stopped")
    (tmp_path / "p.expr").write_text("print('on')\nfor i in range(300000):\n    i * 2\nprint(i)\n")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "gradcli", "run", "--timeout", "2", str(tmp_path / "p.expr")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout and process.stderr
        assert process.stdout.readline() == b"on\n"
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(4)
        os.kill(process.pid, signal.SIGCONT)
        assert process.stdout.readline() == b"299999\n", process.stderr.read()
        assert process.wait(60) == 0


@pytest.mark.parametrize(("value", "words"), [("1", "1 second"), ("0.5", "0.5 seconds")])
def test_the_limit_from_above(value: str, words: str) -> None:
    done = gradcli("run", "--timeout", value, stdin="x = 0\nwhile x >= 0:\n    x = x + 1\n")
    assert done.returncode == 4 and "<stdin>:" in done.stderr
    told = WORDS.replace("1 second", words)
    # So busy that a tenth of its time is not its own, it ends by the clock.
    by_clock = WORDS.replace("1 second", f"{float(value) * CLOCK:g} seconds by the clock")
    assert error_of(done.stderr) in (told, by_clock)
