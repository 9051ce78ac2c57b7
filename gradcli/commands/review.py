"""commands: `gradcli check --review`: recorded answers, accepted one by one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..opening import UsageError
from ..output import tell
from ..render.escape import Terminal, block
from .environment import Environment

if TYPE_CHECKING:
    from ..recording.facts.check import FileCheck

QUESTION = "record this answer? [y]es, [n]o, [a]ll, [q]uit: "


def ready(env: Environment) -> None:
    """Who is asked must be there."""
    if sys.stdin is None or not sys.stdin.isatty() or env.common.format != "text":
        raise UsageError("--review asks on a terminal, and answers in text",
                         "--update records every answer without asking")  # fmt: skip


def reviewed(facts: Iterable[FileCheck]) -> Iterator[FileCheck]:
    """The facts, after those whose answer is new or another one were asked about."""
    from ..questions.check.answer import change_of, is_pending, recorded

    answer = ""
    for fact in facts:
        if not is_pending(fact) or answer == "q":
            yield fact
            continue
        if answer != "a":
            lines = "".join(f"  {line}\n" for line in change_of(fact))
            tell(block(f"{fact.file} prints\n{lines}"))
            answer = _read_answer()
        yield recorded(fact) if answer in ("y", "a") else fact


def _read_answer() -> str:
    """The first letter of what is answered; who goes away quits."""
    while True:
        tell(Terminal(QUESTION))
        line = sys.stdin.readline()
        word = line.strip().lower()[:1]
        if not line:
            return "q"
        if word in ("y", "n", "a", "q"):
            return word
