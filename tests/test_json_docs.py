"""Tests of docs/json.md: the recipes for jq print what stands there, where jq is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
import warm

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "json.md").read_text("utf-8")
RECIPES = re.findall(r"^```text\n\$ (gradcli (?:.*\n)+?)((?:[^ `].*\n)*)```$", PAGE, re.M)


@cache
def document(asked: str) -> str:
    """What the command prints; several recipes read the same."""
    done = warm.run(asked.split()[1:], folder=ROOT)
    assert done.stderr == ""
    return done.stdout


def test_there_are_ten_recipes() -> None:
    assert len(RECIPES) == 10 and all("jq " in command for command, _ in RECIPES)


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize(("command", "shown"), RECIPES)
def test_recipes(command: str, shown: str) -> None:
    asked, _, recipe = command.partition("|")
    done = subprocess.run(
        ["bash", "-c", recipe], input=document(asked), cwd=ROOT, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.stdout == shown


def test_every_schema_is_printed_by_its_name() -> None:
    from command_here import here

    names = here("schema").stdout.split()
    files = {path.name for path in Path(ROOT / "gradcli" / "schemas").glob("*.json")}
    assert {name.replace("/", "-") + ".json" for name in names} == files
    for name in names:
        printed = here("schema", name).stdout
        assert printed == (ROOT / "gradcli/schemas" / f"{name.replace('/', '-')}.json").read_text()
    assert here("schema", "trace").stdout == here("schema", "gradcli.trace/1").stdout
    missing = here("schema", "tracy")
    assert missing.returncode == 2 and "there is no schema tracy" in missing.stderr
