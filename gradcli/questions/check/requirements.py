"""Questions: what a program must contain so that there is something to check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...recording.facts.check import FileCheck, LeafCheck, Problem

if TYPE_CHECKING:
    from .options import CheckOptions

COMPARED = ("equal", "different", "float32")  # the other words for a leaf say that it was not
UNCHECKED = "nothing was checked: no record, no gradient, no assert"


def missing(fact: FileCheck, options: CheckOptions) -> Iterator[Problem]:
    """What --require-record and --require-gradient ask for and a program lacks."""
    if options.require_record and fact.recorded == "missing":
        advice = f"help: gradcli check --update {fact.file} writes one"
        if fact.recorded_file is None:
            advice = "help: only a program in a file has a recorded answer"
        yield Problem("record", "there is no recorded answer", advice=(advice,))
    if not options.require_gradient or fact.error is not None:  # it is meant to end in an error
        return
    if not any(_is_compared(leaf) for leaf in fact.leaves):
        said = "no gradient was checked"
        reasons = [note for note in fact.notes if not note.startswith("no recorded answer")]
        why = "no result requires grad" if not fact.leaves else "; ".join(reasons)
        yield Problem("gradient", f"{said}: {why}")


def _is_compared(leaf: LeafCheck) -> bool:
    return leaf.status in COMPARED


def unchecked(fact: FileCheck) -> FileCheck:
    """A program that passes because nothing in it can fail says so."""
    return fact if fact.is_checked else fact._replace(notes=(*fact.notes, UNCHECKED))
