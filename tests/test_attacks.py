"""Tests: programs that reach for the host, each of which must end with an error of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs_under import sections

from gradcli.diagnostics import Diagnostic, ExitStatus, ProgramError
from gradcli.language.interpreter import run
from gradcli.language.program import parse
from gradcli.language.source import Source

ATTACKS = sections(Path(__file__).parent / "programs" / "attacks.txt")
# What shows that something of the host was reached, or that the library took a program's code for
# its own.
OF_THE_HOST = re.compile(r"gradcli|builtins|<module 'o|uid=|0x[0-9a-f]*7f[0-9a-f]{6}|called|handed")


def outcome_of(text: str) -> tuple[str, Diagnostic | None]:
    out: list[str] = []
    try:
        outcome = run(parse(Source(text)), {}, write=out.append)
    except ProgramError as error:
        return "", error.diagnostic
    return "".join(out), outcome.error


@pytest.mark.parametrize("title", ATTACKS)
def test_no_attack_succeeds(title: str) -> None:
    out, error = outcome_of(ATTACKS[title])
    assert not OF_THE_HOST.search(out), out
    if title.endswith("(harmless)"):
        assert error is None, error
        return
    assert error is not None, out
    assert error.exit_status is ExitStatus.PROGRAM_ERROR
    assert error.span is not None
    assert not OF_THE_HOST.search(error.message), error.message
