"""gate: a process that checks programs on request: paths on a line in, facts on lines out.

pytest runs one test after the other, in its own order and perhaps in several processes. The engine
is loaded here, once, and programs are checked as `gradcli check` does it, by processes beside it,
while pytest is busy with what it asked before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..process.ending import begin
from ..recording.facts.check import FileCheck
from ..recording.facts.check_wire import unpacked


class Gate:
    """The process, from the side of the caller."""

    def __init__(self, options: Sequence[str], folder: str, others: int) -> None:
        package = str(Path(__file__).resolve().parents[2])
        known = os.environ.get("PYTHONPATH")
        path = package if not known else f"{package}{os.pathsep}{known}"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gradcli.gate.server", str(others), *options], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self._asked: list[str] = []
        self._known: dict[str, FileCheck] = {}

    def checked(self, name: str, others: Sequence[str] = ()) -> FileCheck | None:
        """One program, and then these, which will be asked for; None where the process is gone."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            if name not in self._asked and name not in self._known:
                names = [name, *others]
                self._process.stdin.write(json.dumps(names).encode("ascii") + b"\n")
                self._process.stdin.flush()
                self._asked.extend(names)
            while name not in self._known:
                fact = unpacked(self._process.stdout.readline())
                if fact is None:
                    return None
                self._known[self._asked.pop(0)] = fact
            return self._known.pop(name)
        except OSError:
            return None

    def close(self) -> None:
        """Closes the input of the process, which then ends: at once where nobody waits for what it
        does."""
        if self._asked:
            self._process.terminate()
        self._process.communicate()


def serve(others: int, options: list[str]) -> None:
    """Answers until the input ends; `others` is how many such processes share the memory."""
    from ..command_line import read
    from ..commands.check import options_of
    from ..questions.check.files import Place
    from ..questions.check.jobs import in_order, load, processes
    from ..recording.facts.check_wire import packed

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what may be printed by accident is no answer
    call = read(["check", *options])
    if call is None:
        raise SystemExit(2)
    common, asked = call.given
    jobs = asked.jobs if others == 1 else 1
    shared = max(jobs, others)
    for_all = options_of(common, asked._replace(jobs=shared), shared)._replace(several=True)
    load(for_all.engine)
    with processes(for_all, jobs) as workers:
        for line in sys.stdin.buffer:
            found = [Place(name, name) for name in json.loads(line)]
            for fact in in_order(workers.checked(found)):
                answers.write(packed(fact))
                answers.flush()


if __name__ == "__main__":
    begin()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(int(sys.argv[1]), sys.argv[2:])
