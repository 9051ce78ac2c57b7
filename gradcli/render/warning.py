"""Render: the warnings of a program, each with its line and the command that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..diagnostics import CellLine
from .error import wrapped
from .escape import Terminal, block
from .text import Look

# What a warning speaks of, and the command that shows more of it.
ANSWERS = (
    (
        "attribute of a Tensor that is not a leaf",
        "gradcli why {file} NAME, for the tensor that was asked, or gradcli trace {file} "
        "--retain-grad all",
    ),
    ("`lr_scheduler.step()` before `optimizer.step()`", "gradcli flow {file}"),
    ("None of the inputs have requires_grad=True", "gradcli trace {file}, which says why not"),
    (
        "Using backward() with create_graph=True",
        "gradcli trace {file}, which names the cycle",
    ),
    ("Error detected in", "gradcli why {file} NAME, for the tensor whose gradient is NaN"),
    ("Full backward hook is firing", "gradcli trace {file}, which lists the hooks that ran"),
)

SIZES = re.compile(
    r"Using a target size \(torch\.Size\(\[([\d, ]*)\]\)\) that is different to the input size "
    r"\(torch\.Size\(\[([\d, ]*)\]\)\)"
)


FURTHER = re.compile(r"\n(?=[^\n])")  # a line that is not empty begins

Warned = tuple[str, tuple[int | None, str]]  # words, their line, the name of the category


def text(warnings: Iterable[Warned], file: str, look: Look) -> Terminal:
    """`chain.expr:3: UserWarning: ...`, and help where a command has the answer; on a terminal
    long sentences are wrapped."""
    return Terminal("".join(_one(*warned, file, look) for warned in warnings))


def _one(words: str, about: tuple[int | None, str], file: str, look: Look) -> Terminal:
    line, category = about
    place = "" if line is None else f"{file}:{line}: "
    if isinstance(line, CellLine):
        place = f"{file}, cell {line.cell}, line {line.within}: "
    command = next((told for part, told in ANSWERS if part in words), _same_size(words))
    told = f"{place}{category}: " + FURTHER.sub("\n  ", words)
    if command is not None:
        told += f"\nhelp: {command.format(file=file)}"
    return block(f"{told if look.whole else wrapped(told, 0, look.width)}\n")


def _same_size(words: str) -> str | None:
    """What a loss advises whose target has another size than its input."""
    sizes = SIZES.search(words)
    if sizes is None:
        return None
    target, given = (part.split(", ") if part else [] for part in sizes.groups())
    if [*target, "1"] == given:
        return f"target.unsqueeze({len(target)}), or input.squeeze({len(target)}), in the loss"
    if [*given, "1"] == target:
        return f"target.squeeze({len(given)}), or input.unsqueeze({len(given)}), in the loss"
    return "gradcli trace {file}, which has a column of shapes"
