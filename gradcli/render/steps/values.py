"""Render: gradients and derivatives in a step: numbers, small tensors, sizes."""

from __future__ import annotations

import re
from math import inf

from ...recording.facts.steps import ValueFact
from ..table import ends, measures, truths
from ..text import width_of

SMALL = 64  # elements of a tensor that is written out
TALL = 8  # lines of a tensor that is written out
_ELEMENT = re.compile(r"(?<![\w.])-?(?:nan|inf|\d[\d.]*(?:e[+-]\d+)?)(?![\w])")
WHATEVER = "local 0 gives 0, whatever comes"
_NUMBER = re.compile(r"tensor\((.*?)(?:, (?:dtype|device)=.*)?\)", re.DOTALL)


def is_small(value: ValueFact, most: float = SMALL) -> bool:
    """Whether it is written out rather than told by its size."""
    count = 1
    for size in value.shape:
        count *= size
    if value.text is None or count > most:
        return False
    return most > SMALL or value.text.count("\n") < TALL


def lines_of(value: ValueFact, most: float = SMALL, room: float = inf) -> list[str]:
    """PyTorch's text without `tensor(...)` around it; its shape and range where it has very many
    elements, or lines of more columns than there is room for."""
    if value.text is None or not is_small(value, most):
        return [size_of(value)]
    lines = _printed(value, value.text)
    is_wide = value.range is not None and max(map(width_of, lines)) > room
    return [size_of(value)] if is_wide else lines


def _printed(value: ValueFact, text: str) -> list[str]:
    if value.is_number:
        match = _NUMBER.fullmatch(text)
        return [_trimmed(match[1])] if match is not None else [text]
    end = text.rfind("]") + 1
    if text.count("tensor(") > 1:  # a sparse one, which prints its parts
        end += 1
    first, *others = text[len("tensor(") : end].split("\n")
    return [first, *(line.removeprefix(" " * len("tensor(")) for line in others)]


def _trimmed(number: str) -> str:
    """-20. as -20, 0.2500 as 0.25; 3.0000 stays: it is near 3, and no whole number."""
    if "e" in number or "." not in number or number.endswith(".0000"):
        return number
    return number.rstrip("0").rstrip(".")


def size_of(value: ValueFact) -> str:
    """[64, 10] from -0.31 to 0.42"""
    shape = str(list(value.shape))
    if value.range is None:
        return shape if value.text is not None else f"{shape}, too large to be kept"
    if value.range.of == "bool":
        return f"{shape} {truths(value.range)}"
    low, high = ends(value.range, 4)
    if value.range.of == "abs":
        shape += " abs"
    if value.range.has_nan and low != "nan":
        return f"{shape} with nan, and from {low} to {high}"
    if low == high:
        return f"{shape} all {low}"
    mean, norm = measures(value.range, 4)
    more = (f", mean {mean}" if mean else "") + (f", norm {norm}" if norm else "")
    return f"{shape} from {low} to {high}{more}"


def is_masked(given: ValueFact | None, product: ValueFact) -> bool:
    """Whether a NaN or an infinity came somewhere, and a 0 went on: no product is that."""
    if given is None or given.text is None or product.text is None:
        return False
    if "nan" not in given.text and "inf" not in given.text:
        return False
    came, went = _ELEMENT.findall(given.text), _ELEMENT.findall(product.text)
    came = came * len(went) if given.is_number else came
    pairs = zip(came, went, strict=False) if len(came) == len(went) else ()
    return any("n" in one and other.strip("-0.e+") == "" for one, other in pairs)


def beside(blocks: list[tuple[str, list[str]]], room: int) -> list[str] | None:
    """Tensors beside each other, each with a sign before it; None where they are too wide."""
    widths = [max(map(width_of, lines)) for _, lines in blocks]
    signs = [f"{sign} " if sign else "" for sign, _ in blocks]
    between = "  " if any(len(lines) > 1 for _, lines in blocks) else " "
    if sum(widths) + sum(map(len, signs)) + len(between) * (len(blocks) - 1) > room:
        return None
    rows = []
    for i in range(max(len(lines) for _, lines in blocks)):
        row = ""
        for (_, lines), sign, width in zip(blocks, signs, widths, strict=True):
            text = lines[i] if i < len(lines) else ""
            shown = sign if i == 0 else " " * len(sign)
            gap = between if row else ""
            row += gap + shown + text + " " * (width - width_of(text))
        rows.append(row.rstrip())
    return rows
