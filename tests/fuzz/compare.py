"""The fuzzer's judge: where two sides differ, and whether numbers are as close as they can be."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from .sides import Left

# Single precision's own spacing is 6e-8: the sums and products of a program of thirty statements
# carry a few dozen roundings. Both sides round each once, in orders that differ for longer sums.
TOLERANCE = {
    "torch.float32": 1e-5, "torch.float64": 1e-12, "torch.float16": 4e-3, "torch.bfloat16": 3e-2,
    "torch.complex64": 1e-5, "torch.complex128": 1e-12,
}  # fmt: skip
SMALL = 0.01  # what is left where numbers of about one cancel is as exact as they were
PRINTED = 3e-4  # four digits are printed
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|\bnan\b|-?\binf\b")


class Difference(NamedTuple):
    """What differs: the aspect, of which name, and what each side says."""

    aspect: str
    name: str
    ours: Any
    theirs: Any

    @property
    def kind(self) -> str:
        """Differences of one kind are told once: names and numbers left out."""
        both = f"{brief(self.ours)} / {brief(self.theirs)}"
        both = re.sub(r"\b([a-z]+)\d+\b", r"\1", both)
        if self.aspect in ("value", "grad value", "plain"):
            both = ""
        return f"{self.aspect}: {re.sub(r'[0-9]+', '#', both)}"[:200]

    def __str__(self) -> str:
        name = f" of {self.name}" if self.name else ""
        return f"{self.aspect}{name}: here {brief(self.ours)}, PyTorch {brief(self.theirs)}"


class Judgement(NamedTuple):
    """What differs, and how many numbers were the same to the last bit or only close."""

    differences: list[Difference]
    exact: int
    close: int


def brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "..."


def distance(mine: Any, other: Any) -> float:
    """The greatest difference of numbers, in parts of the greatest number; inf if not alike."""
    pairs = list(leaves(mine, other))
    if not pairs or pairs == [None]:
        return 0.0 if pairs == [] and mine == other else math.inf
    scale = most = 0.0
    for pair in pairs:
        if pair is None:
            return math.inf
        a, b = pair
        if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, float):
            if type(a) is not type(b) or a != b:
                return math.inf
        elif math.isfinite(a) and math.isfinite(b):
            scale, most = max(scale, abs(b)), max(most, abs(a - b))
        elif not (a == b or (a != a and b != b)):
            return math.inf
    return most / max(scale, SMALL)


def leaves(mine: Any, other: Any) -> Any:
    """Pairs of numbers at the same places; None where the nesting differs."""
    if isinstance(mine, list) and isinstance(other, list) and len(mine) == len(other):
        for a, b in zip(mine, other):
            yield from leaves(a, b)
    elif isinstance(mine, list) or isinstance(other, list):
        yield None
    elif isinstance(mine, complex) and isinstance(other, complex):
        yield mine.real, other.real
        yield mine.imag, other.imag
    else:
        yield mine, other


class Judge:
    """Compares what two sides left."""

    def __init__(self) -> None:
        self.found: list[Difference] = []
        self.exact = self.close = 0

    def note(self, aspect: str, name: str, mine: Any, other: Any) -> None:
        if mine != other:
            self.found.append(Difference(aspect, name, mine, other))

    def numbers(self, aspect: str, name: str, mine: Any, other: Any, most: float) -> None:
        apart = distance(mine, other)
        if apart == 0.0:
            self.exact += 1
        elif apart <= most:
            self.close += 1
        else:
            self.found.append(Difference(aspect, name, mine, other))

    def tensor(self, name: str, mine: dict[str, Any], other: dict[str, Any], start: str) -> None:
        for aspect in ("broken", "type", "flags", "graph", "node", "strides", "version", "view"):
            self.note(start + aspect, name, mine.get(aspect), other.get(aspect))
        if mine.get("type") == other.get("type") and "value" in mine and "value" in other:
            most = TOLERANCE.get(mine["type"][0], 0.0)
            self.numbers(start + "value", name, mine["value"], other["value"], most)
        if mine.get("grad") and other.get("grad"):
            self.tensor(name, mine["grad"], other["grad"], "grad ")
        else:
            self.note("grad", name, mine.get("grad"), other.get("grad"))

    def text(self, aspect: str, mine: str, other: str) -> None:
        """Printed text; numbers in it may differ in the last digit that is printed."""
        if mine == other:
            return
        lines, others = mine.splitlines(), other.splitlines()
        for place in range(max(len(lines), len(others))):
            a, b = (side[place] if place < len(side) else "(end)" for side in (lines, others))
            if a != b and not printed_alike(a, b):
                self.found.append(Difference(aspect, f"line {place + 1}", a, b))
                return
        self.close += 1

    def sides(self, mine: Left, other: Left) -> None:
        self.note("error", "", mine.error and mine.error[:2], other.error and other.error[:2])
        if mine.error and other.error and mine.error[:2] == other.error[:2]:
            self.note("line of the error", "", mine.error[2], other.error[2])
        self.text("output", mine.output, other.output)
        heard = set(mine.warnings) & set(other.warnings)
        apart = (tuple(w for w in side.warnings if w not in heard) for side in (mine, other))
        self.note("warnings", "", *apart)
        self.note("names", "", list(mine.names), list(other.names))
        for name, a in mine.names.items():
            b = other.names.get(name)
            if b is None:
                continue
            if "plain" in a and "plain" in b:
                self.numbers("plain", name, a["plain"], b["plain"], TOLERANCE["torch.float32"])
            else:
                self.tensor(name, a, b, "")


def words_of(line: str) -> str:
    """What is printed beside numbers."""
    return "".join(_NUMBER.sub("#", line).split())


def printed_alike(mine: str, other: str) -> bool:
    """Two lines with the same words, and numbers that are close."""
    if words_of(mine) != words_of(other):
        return False
    pairs = [
        (float(a), float(b)) for a, b in zip(_NUMBER.findall(mine), _NUMBER.findall(other))
    ]  # fmt: skip
    scale = max((abs(b) for _, b in pairs if math.isfinite(b)), default=0.0)
    return all(
        a == b or (a != a and b != b) or abs(a - b) <= PRINTED * max(scale, 1.0) for a, b in pairs
    )


def judged(mine: Left, other: Left) -> Judgement:
    judge = Judge()
    judge.sides(mine, other)
    order = {"error": 0, "line of the error": 1}
    judge.found.sort(key=lambda difference: order.get(difference.aspect, 2))
    return Judgement(judge.found, judge.exact, judge.close)
