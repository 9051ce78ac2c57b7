"""Tests: what `why` and `flow` say of programs as people ask about them, page by page.

The programs and the pages stand in `programs/answers.txt`; a title begins with the command. Of a
program that PyTorch runs nothing is tried, and all else is the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_here import here
from oracle import oracle
from programs_under import sections

PAGES = sections(Path(__file__).parent / "programs" / "answers.txt")
TRIED = re.compile(r"\n? {6}tried: .*$|\n+note: [^:]*tried[^:]*:.*|\n+note: no automatic.*", re.M)


def page(title: str, folder: Path, *options: str) -> str:
    """What the command prints on standard output."""
    file = folder / "program.py"
    file.write_text(PAGES[title].partition("---\n")[0], "utf-8")
    command, *words = title.partition(" | ")[0].split()
    return here(command, str(file), *words, *options).stdout.replace(f"{folder}/", "")


@pytest.mark.parametrize("title", PAGES)
def test_pages(title: str, tmp_path: Path) -> None:
    assert page(title, tmp_path) == PAGES[title].partition("---\n")[2]


@pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
@pytest.mark.parametrize("title", PAGES)
def test_pytorch_itself(title: str, tmp_path: Path) -> None:
    untried = ["--no-try"] if title.startswith("why") else []
    own = TRIED.sub("", page(title, tmp_path, *untried))
    assert TRIED.sub("", page(title, tmp_path, "--engine", "torch")) == own
