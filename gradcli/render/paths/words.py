"""Render: the words of `gradcli paths` that its pages share: numbers, counts, names, strokes."""

from __future__ import annotations

from math import log10

from ...named import NamedTuple
from ...recording.facts.paths import PathFact, PathsReport
from ..seeds import differential, gradient
from ..text import counted

INDENT = "  "
LONG = 12  # edges of a path that are all drawn
KEPT = 3  # edges drawn at each end of a longer one
DIGITS = 30  # a longer count is shown as a power of ten


class Strokes(NamedTuple):
    """The characters that paths are drawn with."""

    line: str
    arrow: str
    times: str
    rule: str
    fold: str


UNICODE = Strokes("─", "→", " · ", "─", "⋯")
ASCII = Strokes("-", "->", " * ", "-", "...")


def number(value: object) -> str:
    """A number for a reader: six digits."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.6g}"
    if isinstance(value, complex):
        return f"{value:.6g}"
    return str(value)


def whole(count: int) -> str:
    """A count with separators; of very many digits only the size."""
    if count.bit_length() < 3 * DIGITS:
        return f"{count:,}"
    power = log10(count)
    return f"about {10 ** (power % 1):.2f}e{int(power)}"


def derivative_of(report: PathsReport, times: str = "·") -> str:
    """How the gradient is called: dL/da, dL/dW[1,0], v·dy/dx."""
    if len(report.seeds) == 1 and report.element is None:
        return gradient(report.seeds, report.wrt, times)
    if len(report.seeds) > 1:
        return f"{differential(report.of)}/{differential(report.wrt)}"
    wrt = f"d{report.wrt}"
    of = differential(report.of)
    if report.element is not None:
        outer = len(report.element) - len(report.wrt_shape)
        index = [str(i) for i in report.element]
        of += f"[{','.join(index[:outer])}]" if outer > 0 else ""
        wrt += f"[{','.join(index[max(outer, 0) :])}]" if report.wrt_shape else ""
    return f"{of}/{wrt}"


def against_text(path: PathFact) -> str:
    """What is said of a path that works against the others."""
    return "cancels" if path.against else ""


def share_text(share: float | None) -> str:
    """Per cent of the whole."""
    if share is None:
        return ""
    percent = 100 * share
    if 0 < abs(percent) < 0.5:
        return f"{percent:.1g} %" if abs(percent) >= 0.01 else "<0.01 %"
    if 99.5 <= percent < 100 - 1e-9:
        return ">99 %"
    return f"{percent:,.0f} %" if abs(percent) < 1e6 else f"{percent:.1e} %"


def folded(pairs: list[tuple[str, str]], strokes: Strokes) -> list[tuple[str, str]]:
    """The middle of a long path in one word."""
    if len(pairs) <= LONG + 1:
        return pairs
    left = len(pairs) - 1 - 2 * KEPT
    fold = (f"{strokes.fold} {counted(left, 'edge')} {strokes.fold}", "")
    return [*pairs[: KEPT + 1], fold, *pairs[-KEPT:]]
