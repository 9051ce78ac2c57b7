"""gate: pytest collects `.expr` files: each is a test, which passes where `gradcli check` passes.

Nothing of gradcli but this file is loaded until there is such a file, and the engine never is: a
process beside pytest runs the programs.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr

if TYPE_CHECKING:
    from _pytest._io import TerminalWriter

    from ..recording.facts.check import FileCheck
    from .server import Gate

SUFFIX = ".expr"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option; --help lists it under a heading of its own."""
    group = parser.getgroup("gradcli", "gradcli: gradients of .expr files")
    group.addoption(
        "--gradcli", default="", metavar="OPTIONS",
        help="options of `gradcli check` for .expr files, in one word: --gradcli='--fail-on zero'. "
        "[tool.gradcli] in pyproject.toml counts too.",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Options that check does not take are an error before anything is collected."""
    if config.getoption("--gradcli"):
        config.stash[_gates] = Gates(config)
        config.stash[_gates].leaves_out("")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A program is a file with one test in it."""
    if file_path.suffix != SUFFIX:
        return None
    gates = parent.config.stash.setdefault(_gates, Gates(parent.config))
    name = gates.name_of(file_path)
    if gates.leaves_out(name):
        return None
    if name.isprintable():
        return ProgramFile.from_parent(parent, path=file_path)
    shown = escaped(name)
    return ProgramFile.from_parent(parent, path=file_path, name=shown, nodeid=shown)


def escaped(text: str) -> str:
    """Foreign text as part of one line: what pytest is given, it writes as it is."""
    from ..render.escape import line, log

    return log(line(text))


def pytest_collection_finish(session: pytest.Session) -> None:
    """The programs that will run are known: they are checked while pytest runs its tests."""
    programs = [item for item in session.items if isinstance(item, Program)]
    if programs and not hasattr(session.config, "workerinput"):  # xdist deals tests out one by one
        gates = session.config.stash[_gates]
        gates.coming = [gates.name_of(item.path) for item in programs]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The time of a program is what its check took, and not what pytest waited for it."""
    report = yield
    if isinstance(item, Program) and call.when == "call":
        report.duration = item.seconds
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """The process beside pytest ends."""
    gates = config.stash.get(_gates, None)
    if gates is not None:
        gates.close()


class Gates:
    """What the programs of this call of pytest are checked for, and who checks them."""

    def __init__(self, config: pytest.Config) -> None:
        self.folder = str(config.invocation_params.dir)
        self.options = shlex.split(config.getoption("--gradcli"))
        self.exclude: list[str] | None = None
        self.gate: Gate | None = None
        self.coming: list[str] = []  # in the order in which they will run

    def name_of(self, path: Path) -> str:
        """A path as check would say it."""
        try:
            name = os.path.relpath(path, self.folder)
        except ValueError:  # on another drive
            return path.as_posix()
        return path.as_posix() if name.startswith("..") else name.replace(os.sep, "/")

    def leaves_out(self, name: str) -> bool:
        """Whether --exclude names it; the options are read for the first program."""
        if self.exclude is None:
            self.exclude = self._read()
        from ..opening import is_excluded

        return is_excluded(name, self.exclude)

    def _read(self) -> list[str]:
        from ..command_line import read

        before = os.getcwd()
        os.chdir(self.folder)  # whose pyproject.toml counts
        try:
            call = read(["check", *self.options])
            if call is None:
                raise pytest.UsageError(f"--gradcli: {_misuse(self.options)}")
        finally:
            os.chdir(before)
        exclude: list[str] = call.given[1].exclude
        return exclude

    def checked(self, name: str) -> FileCheck:
        """One program, checked; where a process has gone, the next one is begun."""
        from .server import Gate

        if self.gate is None:
            others = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
            self.gate = Gate(self.options, self.folder, others)
        at = self.coming.index(name) if name in self.coming else len(self.coming)
        fact = self.gate.checked(name, self.coming[at + 1 :])
        if fact is None:
            self.close()
            name = escaped(name)
            raise RuntimeError(f"the process that checks programs ended while it checked {name}")
        return fact

    def close(self) -> None:
        """Ends the process."""
        if self.gate is not None:
            self.gate.close()
            self.gate = None


_gates = pytest.StashKey[Gates]()


def _misuse(options: list[str]) -> str:
    """What `gradcli check` says of these options."""
    import subprocess
    import sys

    line = [sys.executable, "-P", "-m", "gradcli", "check", *options]
    done = subprocess.run(
        line, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    return done.stderr.strip() or f"{shlex.join(options)} is nothing that check takes"


class ProgramFile(pytest.File):
    """A file with a program."""

    def collect(self) -> Iterator[pytest.Item]:
        yield Program.from_parent(self, name="check")


class Failed(Exception):
    """What does not hold."""

    def __init__(self, fact: FileCheck) -> None:
        super().__init__(fact.problems[0].message if fact.problems else fact.status)
        self.fact = fact


class Program(pytest.Item):
    """One program."""

    seconds = 0.0

    def runtest(self) -> None:
        """Fails where `gradcli check` does."""
        gates = self.config.stash[_gates]
        fact = gates.checked(gates.name_of(self.path))
        self.seconds = fact.seconds
        if fact.exit_code:
            raise Failed(fact)
        if fact.notes:
            self.add_report_section("call", "gradcli", "\n".join(map(escaped, fact.notes)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The page of check."""
        if isinstance(excinfo.value, Failed):
            return Page(excinfo.value.fact)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Where it stands, and what heads a failure."""
        name = self.config.stash[_gates].name_of(self.path)
        return escaped(str(self.path)), None, escaped(name)


class Page(TerminalRepr):
    """A failure, as `gradcli check` prints it."""

    def __init__(self, fact: FileCheck) -> None:
        self.fact = fact
        first = fact.problems[0]
        message = escaped(first.message.partition("\n")[0])
        self.reprcrash = ReprFileLocation(escaped(fact.file), first.line or 1, message)

    def toterminal(self, tw: TerminalWriter) -> None:
        """Writes it."""
        from ..render.check import program_lines
        from ..render.escape import Terminal, log
        from ..render.text import Look

        lines = program_lines(self.fact, Look(tw.hasmarkup, True, max(40, tw.fullwidth)))
        tw.write(log(Terminal("".join(lines))))
