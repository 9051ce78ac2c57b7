"""Tests of what is remembered of the declarations: it changes nothing but the time of a start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "gradcli"

DESCRIBE = """\
import json, sys
from gradcli.operators import catalogue as c
found = {}
for face in ("functions", "methods", "properties"):
    for name, function in sorted(getattr(c, face).items()):
        found[face + " " + name] = [function.name, *(o.signature.text for o in function.overloads)]
found["rows"] = sorted(c.rows)
print(json.dumps(found))
"""
LOADED = """\
import json, sys
import gradcli as torch
x = torch.tensor(2.0, requires_grad=True)
(x.tanh() * x).backward()
print(json.dumps([x.grad.item(), sorted(m for m in sys.modules if "gradcli.operators." in m)]))
"""
ROW = """

operator(
    "doubled_for_a_test(Tensor self) -> Tensor",
    node="DoubledBackward0",
    forward=lambda xp, self: self + self,
    self=lambda grad: grad + grad,
    doc="Twice the tensor.",
)
"""


def ask(folder: Path, code: str, **variables: str) -> object:
    """What a fresh process with this copy of the package prints."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder,
        env={**kept, "PYTHONPATH": str(folder), **variables},
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("copy")
    shutil.copytree(HOUSE, home / "gradcli", ignore=shutil.ignore_patterns("__pycache__"))
    return home


def index_of(folder: Path) -> Path:
    return folder / "gradcli" / "operators" / "__pycache__" / "rooms.index"


def test_names_and_overloads_are_the_same(folder: Path) -> None:
    everything = ask(folder, DESCRIBE, PYTHONDONTWRITEBYTECODE="1")
    assert not index_of(folder).exists(), "written against the wish"
    assert ask(folder, DESCRIBE) == everything and index_of(folder).exists()
    assert ask(folder, DESCRIBE) == everything, "what is read when somebody asks"


def test_few_files_are_read(folder: Path) -> None:
    ask(folder, DESCRIBE)
    gradient, loaded = ask(folder, LOADED)  # type: ignore[misc]
    assert abs(gradient - 1.1053293) < 1e-6
    assert 0 < len(loaded) < len(list((HOUSE / "operators").rglob("*.py"))) / 3


def test_a_new_row_is_known_at_once(folder: Path) -> None:
    ask(folder, DESCRIBE)
    room = folder / "gradcli" / "operators" / "elementwise" / "hyperbolic.py"
    before = room.read_text("utf-8")
    room.write_text(before + ROW, "utf-8")
    try:
        found = ask(folder, DESCRIBE)
        assert "functions doubled_for_a_test" in found  # type: ignore[operator]
    finally:
        room.write_text(before, "utf-8")


@pytest.mark.parametrize("damage", [b"", b"\x00", b"i\x01\x00\x00\x00", b"not marshalled at all"])
def test_a_damaged_file_is_written_anew(folder: Path, damage: bytes) -> None:
    right = ask(folder, DESCRIBE)
    index_of(folder).write_bytes(damage)
    assert ask(folder, DESCRIBE) == right
    assert index_of(folder).stat().st_size > 10_000


def test_a_folder_that_takes_no_file(folder: Path) -> None:
    right = ask(folder, DESCRIBE)
    cache = index_of(folder).parent
    shutil.rmtree(cache)
    cache.write_text("in the way")
    try:
        assert ask(folder, DESCRIBE) == right
    finally:
        cache.unlink()
