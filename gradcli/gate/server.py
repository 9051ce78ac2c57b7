"""gate: a process that checks programs on request: a path on each line in, its facts on a line out.

pytest asks one program at a time, in its own order and perhaps in several processes. The engine is
loaded here, once, and programs are checked as `gradcli check` does it, by processes beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..recording.facts.check import FileCheck
from ..recording.facts.check_wire import unpacked


class Gate:
    """The process, from the side of the caller."""

    def __init__(self, options: Sequence[str], folder: str, others: int) -> None:
        package = str(Path(__file__).resolve().parents[2])
        known = os.environ.get("PYTHONPATH")
        path = package if not known else f"{package}{os.pathsep}{known}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gradcli.gate.server", str(others), *options], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    def checked(self, name: str) -> FileCheck | None:
        """One program; None where the process is gone."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(name).encode("ascii") + b"\n")
            self._process.stdin.flush()
            return unpacked(self._process.stdout.readline())
        except OSError:
            return None

    def close(self) -> None:
        """Closes the input of the process, which then ends."""
        self._process.communicate()


def serve(others: int, options: list[str]) -> None:
    """Answers until the input ends; `others` is how many such processes share the memory."""
    from ..commands.check import options_of
    from ..questions.check.files import Place
    from ..questions.check.jobs import load, processes
    from ..reading import read
    from ..recording.facts.check_wire import packed

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what may be printed by accident is no answer
    call = read(["check", *options])
    if call is None:
        raise SystemExit(2)
    common, asked = call.given
    for_all = options_of(common, asked._replace(jobs=others), others)._replace(several=True)
    load()
    with processes(for_all, 1) as workers:
        for line in sys.stdin.buffer:
            name = json.loads(line)
            for _, fact in workers.checked([Place(name, name)]):
                answers.write(packed(fact))
            answers.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(int(sys.argv[1]), sys.argv[2:])
