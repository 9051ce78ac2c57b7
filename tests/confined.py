"""Tests: the command in a process of its own, and what that process took: time, memory, its end.

A process that has loaded everything forks one child for each question: a fresh command costs some
milliseconds then, and the system tells what each child took, whatever became of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from typing import Any, NamedTuple

MOST_SECONDS = 60  # of processor time; the system ends a child that takes more


class Taken(NamedTuple):
    """How a command ended, and what it took."""

    status: int  # a negative number is the signal that ended it
    seconds: float  # of processor time
    peak: int  # bytes that lay in memory at once, beyond what was loaded before
    out: str
    errors: str


class Server:
    """Asks the forking process; it starts with the first question."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def run(self, *words: str, text: str = "") -> Taken:
        """`gradcli words`, with a text on standard input."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps([words, text]), file=self.process.stdin, flush=True)
        return Taken(*json.loads(self.process.stdout.readline()))


server = Server()
run = server.run


def _serve() -> None:
    import resource

    from gradcli.commands import NAMES, module_of
    from gradcli.language import interpreter  # noqa: F401 - loaded once for all
    from gradcli.language.budget import memory_in_use
    from gradcli.pipeline import run, running  # noqa: F401
    from gradcli.render import error, text  # noqa: F401

    for name in NAMES:
        module_of(name)
    for line in sys.stdin:
        words, given = json.loads(line)
        with ExitStack() as stack:
            into, out, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            into.write(given.encode("utf-8", "surrogatepass"))
            into.seek(0)
            loaded = memory_in_use()[0]
            child = os.fork()
            if child == 0:
                resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 5))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                for number, file in enumerate((into, out, errors)):
                    os.dup2(file.fileno(), number)
                _command(words)
            _, ended, used = os.wait4(child, 0)
            answer = (
                os.waitstatus_to_exitcode(ended), used.ru_utime + used.ru_stime,
                used.ru_maxrss * 1024 - loaded, _head(out), _head(errors),
            )  # fmt: skip
        print(json.dumps(answer), flush=True)


def _command(words: list[str]) -> None:
    from gradcli.door import process

    sys.argv = ["gradcli", *words]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
    try:
        process()
    finally:
        os._exit(99)  # no way leads back into the loop of the parent


def _head(file: Any) -> str:
    file.seek(0)
    text: bytes = file.read(20_000)
    return text.decode("utf-8", "backslashreplace")


if __name__ == "__main__":
    _serve()
