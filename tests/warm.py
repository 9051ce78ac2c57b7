"""Tests: the command in a process of its own that need not load anything first.

Starting Python and NumPy is most of what a small command takes, and a thousand tests start one. So
a process that has loaded what commands load, and run nothing, forks for each. Tests of the start
itself and of closed streams start Python; with GRADCLI_COLD=1 all do that need no terminal.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PATIENCE = 120.0  # seconds
PIPE = 1 << 16  # what a pipe holds until it is read
NUMBER = struct.Struct("i")
# The rooms of which a command loads what it needs, and operators of nearly every program.
ROOMS = ("cli", "command_line", "commands", "pipeline", "questions", "render")
OPERATORS = ("elementwise.arithmetic", "reduce.reduce", "reduce.sums", "shape.cast", "shape.shape",
             "shape.squeeze")  # fmt: skip


def python(file: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A script that imports PyTorch, run by Python."""
    done = run([str(file)], folder=folder, script=True)
    assert done.returncode == 0, done.stderr
    return done


def run(
    words: Sequence[str], environment: Mapping[str, str] = os.environ, stdin: str | None = None,
    folder: Path | None = None, joined: bool = False, script: bool = False,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """gradcli with these words, or a script, in this folder; messages may be joined to what is
    printed."""
    if not _forks(environment, stdin):
        return _cold(words, environment, stdin, folder, joined, script)
    given = os.open(os.devnull, os.O_RDONLY) if stdin is None else _written(stdin)
    (out, into_out), (errors, into_errors) = os.pipe(), os.pipe()
    ends = given, into_out, into_out if joined else into_errors
    with started(words, environment, folder, ends, script) as ended:
        for end in (given, into_out, into_errors):
            os.close(end)
        told = [text.decode("utf-8") for text in _read(words, out, errors)]
    return subprocess.CompletedProcess(words, ended[0], *told)


@contextlib.contextmanager
def started(
    words: Sequence[str], environment: Mapping[str, str], folder: Path | None,
    ends: Sequence[int], script: bool = False,
) -> Iterator[list[int]]:  # fmt: skip
    """While gradcli runs with these words: it reads the first of three ends and writes to the
    others. In the list is at last how it ended."""
    request = {
        "words": words, "script": script, "folder": str(folder or Path.cwd()),
        "environment": dict(environment),
    }  # fmt: skip
    live = "torch" in words or script
    server = _server(live)
    _send(server, request, list(ends))
    ended: list[int] = []
    try:
        yield ended
        ended += NUMBER.unpack(server.recv(NUMBER.size))
    except BaseException:
        _servers.pop(live).close()  # its child may run on
        raise


def _forks(environment: Mapping[str, str], stdin: str | None) -> bool:
    """What Python itself reads at its start is as here, and no more comes than a pipe holds."""
    alike = _read_at_start(environment) == _read_at_start(os.environ)
    if os.environ.get("GRADCLI_COLD"):
        return False
    return hasattr(os, "fork") and alike and len((stdin or "").encode()) < PIPE


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    names = ("PYTHON", "LC_", "LANG")
    found = {name: text for name, text in environment.items() if name.startswith(names)}
    return {name: text for name, text in found.items() if text != str(ROOT)}


def _cold(
    words: Sequence[str], environment: Mapping[str, str], stdin: str | None, folder: Path | None,
    joined: bool, script: bool,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    path = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
    program = [] if script else ["-m", "gradcli"]
    return subprocess.run(
        [sys.executable, *program, *words], cwd=folder, check=False, encoding="utf-8",
        env={**environment, "PYTHONPATH": path}, timeout=PATIENCE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if joined else subprocess.PIPE, **given,
    )  # fmt: skip


def _written(text: str) -> int:
    given, taken = os.pipe()
    os.write(taken, text.encode())
    os.close(taken)
    return given


def _read(words: Sequence[str], *ends: int) -> list[bytes]:
    """All that comes out of these, until the last process that holds their other ends is gone."""
    found = dict.fromkeys(ends, b"")
    until = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as waiting:
        for end in ends:
            waiting.register(end, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(until - time.monotonic())
            if not ready:
                raise subprocess.TimeoutExpired(words, PATIENCE)
            for key, _ in ready:
                piece = os.read(key.fd, PIPE)
                found[key.fd] += piece
                if not piece:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return list(found.values())


_servers: dict[bool, socket.socket] = {}


def _server(live: bool) -> socket.socket:
    """The process that forks; another one has loaded PyTorch too."""
    if live not in _servers:
        here, there = socket.socketpair()
        process = subprocess.Popen(
            [sys.executable, __file__, str(there.fileno()), *["torch"] * live],
            pass_fds=[there.fileno()], env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT,
        )  # fmt: skip
        there.close()
        _servers[live] = here
        atexit.register(_over, here, process)
    return _servers[live]


def _over(server: socket.socket, process: subprocess.Popen[bytes]) -> None:
    server.close()
    process.wait()


def _send(server: socket.socket, request: Any, ends: list[int]) -> None:
    text = json.dumps(request).encode()
    socket.send_fds(server, [NUMBER.pack(len(text))], ends)
    server.sendall(text)


# ---------------------------------------------------------------- in the process that forks


def serve(asked: socket.socket) -> None:
    """Forks for each request, until nobody can ask any more."""
    while True:
        head, ends, _, _ = socket.recv_fds(asked, NUMBER.size, 3)
        if not head:
            return
        text = b""
        while len(text) < NUMBER.unpack(head)[0]:
            text += asked.recv(PIPE)
        child = os.fork()
        if not child:
            asked.close()
            _become(json.loads(text), ends)
        for end in ends:
            os.close(end)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            asked.sendall(NUMBER.pack(ended))


def _become(request: Any, ends: list[int]) -> None:
    """The program, as Python would have started it."""
    from gradcli.door import process

    for place, end in enumerate(ends):
        os.dup2(end, place)
        os.close(end)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [*([] if request["script"] else ["gradcli"]), *request["words"]]
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    if not request["script"]:
        process()
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.exit()


def load(*others: str) -> None:
    """What commands load, all of a room; of the others what is installed."""
    for name in others:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in OPERATORS:
        importlib.import_module(f"gradcli.operators.{name}")
    for room in ROOMS:
        place = getattr(importlib.import_module(f"gradcli.{room}"), "__path__", ())
        for module in pkgutil.walk_packages(place, f"gradcli.{room}."):
            importlib.import_module(module.name)


if __name__ == "__main__":
    load(*sys.argv[2:])
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection)
