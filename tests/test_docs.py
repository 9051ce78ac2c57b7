"""Tests of README.md and docs/: every command shown is run, every output shown is the real one.

`pytest tests/test_docs.py --record` writes the outputs anew.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from oracle import oracle
from test_expressions import level

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# ```console: `$ command` and what it prints. ```expr, then ```output: a program and what it prints.
CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"(?<=^```expr\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
ANSWERED = re.compile(
    r"(?<=^```expr\n)(?P<program>.*?)^```\n+(?:[^`\n][^\n]*\n+)?^```output\n(?P<output>.*?)(?=^```$)",
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A shell in which `gradcli` is the one under test."""
    folder = tmp_path_factory.mktemp("bin")
    shim = folder / "gradcli"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradcli "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}


# One gradcli, by words that a shell would hand on as they are; what it reads, and who reads it.
COMMAND = re.compile(
    r"""((?P<given>(?:printf|echo)\ '[^']*')\ \|\ )?
    gradcli\ (?P<words>(?:[\w\s.,:/=+\[\]-]|'[^']*')*?)
    (?P<then>;\ .*|\ (?P<joined>2>&1\ )?\|(?P<reader>.*))?""", re.VERBOSE
)  # fmt: skip


def shell(command: str, environment: dict[str, str]) -> str:
    found = COMMAND.fullmatch(command)
    if found is None:
        return bash(command, environment)
    given = found["given"] and bash(found["given"], environment)
    joined = found["reader"] is None or found["joined"] is not None
    done = warm.run(shlex.split(found["words"]), environment, given, ROOT, joined)
    if found["reader"] is not None:
        return (done.stderr or "") + bash(found["reader"], environment, done.stdout)
    ended = f"(exit {done.returncode}){found['then']}"
    return done.stdout + (bash(ended, environment) if found["then"] else "")


def bash(command: str, environment: dict[str, str], given: str = "") -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def answered(block: str, environment: dict[str, str]) -> str:
    """A console block with the real outputs in it; a line `...` in an output stays: a cut."""
    parts = re.split(r"^(\$ .*\n)", block, flags=re.MULTILINE)
    text = parts[0]
    for command, shown in zip(parts[1::2], parts[2::2], strict=True):
        printed = shell(command[2:].strip(), environment)
        tail = shown.removesuffix("\n").rpartition("\n")[2]
        if tail == "...":
            kept = shown.count("\n") - 1
            printed = "".join(printed.splitlines(keepends=True)[:kept]) + "...\n"
        gap = "\n" if shown.endswith("\n\n") and printed and not printed.endswith("\n\n") else ""
        text += command + printed + gap
    return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands(page: Path, environment: dict[str, str]) -> None:
    text = page.read_text("utf-8")
    real = CONSOLE.sub(lambda match: answered(match[0], environment), text)
    if oracle.recording:
        page.write_text(real, encoding="utf-8")
    assert real.splitlines() == text.splitlines() or oracle.recording


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_programs(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    text = page.read_text("utf-8")
    programs = list(ANSWERED.finditer(text))
    assert len(PROGRAM.findall(text)) == len(programs), "a program without an output block"
    for number, match in reversed(list(enumerate(programs))):
        file = tmp_path / f"program{number}.expr"
        file.write_text(match["program"], encoding="utf-8")
        printed = shell(f"gradcli run {file}", environment)
        assert level(printed) == oracle.ask("program_output", match["program"])
        text = text[: match.start("output")] + printed + text[match.end("output") :]
    if oracle.recording:
        page.write_text(text, encoding="utf-8")
    assert text == page.read_text("utf-8")


def test_python_blocks(tmp_path: Path) -> None:
    """What a block prints is what the comments behind its print calls say."""
    text = "".join(page.read_text("utf-8") for page in PAGES)
    blocks = [b for b in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "gradcli" in b]
    assert blocks
    for block in blocks:
        if "import torch\n" in block and not oracle.has_torch:
            continue
        said = re.findall(r"print\(.*\)  # (.*)", block)
        (tmp_path / "block.py").write_text(block, "utf-8")
        assert warm.python("block.py", tmp_path).stdout.splitlines() == said


# A function that the engine writes from a row: ```python title="run of tanh.default".
WRITTEN = re.compile(r'^```python title="(\w+ of [\w.]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)
WRITE = """
import linecache, sys
import gradcli as torch
torch.tensor([1.0, 2.0], requires_grad=True).tanh().neg().sum().backward()
sys.stdout.writelines(linecache.getlines(sys.argv[1]))
"""


def test_functions_that_the_engine_writes(environment: dict[str, str]) -> None:
    shown = WRITTEN.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert len(shown) == 2
    for name, text in shown:
        words = [sys.executable, "-c", WRITE, f"<gradcli {name}>"]
        written = subprocess.check_output(words, text=True, env=environment)
        assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(written))


PICTURES = re.compile(r"^(gradcli .* --format svg -o )(docs/pictures/\S+)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """The command that stands beside a picture makes it again, byte for byte."""
    for command, target in PICTURES.findall(page.read_text("utf-8")):
        made = ROOT / target if oracle.recording else tmp_path / Path(target).name
        printed = shell(f"{command}{made}", environment)
        assert made.read_bytes() == (ROOT / target).read_bytes(), printed


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_gate_runs_what_the_readme_says() -> None:
    gate, readme = ((ROOT / name).read_text("utf-8") for name in (".ci/run", "README.md"))
    for command in ("pip install -e '.[dev]'", "pytest -n auto"):
        assert command in readme
        assert all(word in gate for word in command.split())
