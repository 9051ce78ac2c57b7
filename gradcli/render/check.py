"""Render: the page of `gradcli check`: a line for each program, below it what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..diagnostics import Diagnostic, Label, Span
from ..recording.facts.check import FileCheck, Problem
from .error import in_cell, text as error_text
from .escape import Terminal
from .text import Cell, Line, Look, cell, counted, cut, ellipsis, pad, paint, width_of, wrap

DETAILS = 26  # columns that the details get at least
UNKNOWN = ("undefined", "unclear")  # of a gradient: no quotient to compare it with
WORDS = {"passed": "passed", "failed": "FAILED", "error": "ERROR", "limit": "LIMIT"}
STYLES = {"passed": "good", "failed": "error", "error": "error", "limit": "error"}


def pieces(
    facts: Iterable[FileCheck], names: Sequence[str], look: Look, *, quiet: bool = False
) -> Iterator[Terminal]:
    """The page, program by program as they are done; `quiet` leaves out those that passed."""
    longest = max((width_of(cell(name).text) for name in names), default=0)
    wide = longest if look.whole else max(12, min(longest, look.width - DETAILS - 10))
    done: list[FileCheck] = []
    gap: list[Line] = []
    for fact in facts:
        done.append(fact)
        if quiet and fact.status == "passed":
            continue
        gap = [()]
        yield paint([_row(fact, wide, look)], look)
        yield from program_lines(fact, look)
    yield paint([*gap, (Cell(summary(done)),)] if done else [], look)


def program_lines(fact: FileCheck, look: Look) -> Iterator[Terminal]:
    """What is to be said of one program: notes, then what does not hold."""
    for note in fact.notes:
        if is_reported(note):
            yield paint(_wrapped("note: ", note, look), look)
    narrow = look._replace(width=look.width - 2)
    for line in paint(
        [_difference_line(line, narrow, "output") for line in fact.change], narrow
    ).splitlines():
        yield Terminal(f"  {line}\n")
    before: tuple[object, ...] = ()
    for problem in fact.problems:
        diagnostic = diagnostic_of(fact, problem)
        place = diagnostic.labels, problem.shown
        if before == place and diagnostic.labels:  # the frame above shows this one's place too
            diagnostic, problem = (
                diagnostic._replace(labels=(), file=""),
                problem._replace(shown=()),
            )
        before = place
        yield _problem(fact, problem, diagnostic, look)


def is_reported(note: str) -> bool:
    """Whether a note says more than the row of the program does."""
    return not note.startswith("no ")


def annotated(fact: FileCheck) -> Iterator[Problem]:
    """The problems, for formats that point into files: a place in a cell of a notebook, whose file
    has other lines, is said in words."""
    for problem in fact.problems:
        if ".ipynb" in fact.file and problem.line is not None:
            place = in_cell(problem.line, fact.text.split("\n"))
            words = f"{place}: {problem.message}"
            problem = Problem(problem.kind, words, None, None, None, None, *problem[6:])
        yield problem


def slowest(done: Sequence[FileCheck], count: int) -> Terminal:
    """The programs that took longest, by the clock."""
    ranked = sorted(done, key=lambda fact: -fact.seconds)[:count]
    rows = "".join(f"{fact.seconds:8.2f} s  {cell(fact.file).text}\n" for fact in ranked)
    return Terminal(f"slowest {counted(len(ranked), 'program')}:\n{rows}")


def _row(fact: FileCheck, wide: int, look: Look) -> Line:
    room = look.width - 10 - wide
    name = _end_of(cell(fact.file).text, wide, ellipsis(look))
    return (
        Cell(pad(WORDS[fact.status], 8), STYLES[fact.status]),
        Cell(pad(name, wide) + "  "),
        Cell(look.fit(_details(fact), room), "dim"),
    )


def _end_of(path: str, wide: int, mark: str) -> str:
    """A long path is shortened at its start."""
    return path if width_of(path) <= wide else mark + cut(path[::-1], wide - len(mark), "")[::-1]


def _details(fact: FileCheck) -> str:
    """What was looked at, in a few words."""
    if fact.status in ("error", "limit"):
        return ""
    parts = [{
        "equal": "same output", "different": "other output", "missing": "no record",
        "written": "recorded", "unchanged": "same output",
    }[fact.recorded]]  # fmt: skip
    if fact.asserts:
        parts.append(counted(fact.asserts, "assert"))
    if fact.expectations:
        parts.append(counted(fact.expectations, "expectation"))
    if fact.leaves:
        parts.append(counted(len(fact.leaves), "gradient"))
    elif not fact.problems:
        parts.append("no gradients")
    if fact.against is not None:
        parts[0] = fact.against  # more than the output is compared then
    return ", ".join(parts)


def _wrapped(head: str, words: str, look: Look) -> list[Line]:
    lines = wrap(cell(words).text, look.width - 10 - len(head)) or [""]
    return [
        (Cell(" " * 10 + (head if number == 0 else " " * len(head)), "dim"), Cell(line, "dim"))
        for number, line in enumerate(lines)
    ]


def diagnostic_of(fact: FileCheck, problem: Problem) -> Diagnostic:
    """The problem in the form of an error: place, source line with carets, advice, what it is."""
    kind, message = problem.kind, problem.message
    if kind in ("error", "assert"):
        kind, _, message = problem.message.partition(": ")
    span = _span(problem, fact.text)
    labels = () if span is None else (Label(span, problem.label, True),)
    return Diagnostic(kind, message, labels, problem.advice, fact.file)


def _span(problem: Problem, text: str) -> Span | None:
    """The place, in the text or, without a text, by line and column alone."""
    source = text.split("\n")
    number = problem.line
    if number is None or (text and not 0 < number <= len(source)):
        return None
    if problem.column is None:
        line = source[number - 1] if text else ""
        return Span(number, len(line) - len(line.lstrip()) + 1, number, len(line.rstrip()) + 1)
    end = problem.end_column or problem.column + 1
    return Span(number, problem.column, problem.end_line or number, end)


def _problem(fact: FileCheck, problem: Problem, diagnostic: Diagnostic, look: Look) -> Terminal:
    narrow = look._replace(width=look.width - 2)
    page = error_text(diagnostic, fact.text or None, narrow)
    if problem.shown:  # between the source line and the advice
        end = diagnostic._replace(labels=(), file="")
        last = error_text(end, None, narrow)
        lines = [_difference_line(line, narrow, problem.kind) for line in problem.shown]
        shown = paint(lines, narrow)
        page = Terminal(page.removesuffix(last) + shown + last)
    return Terminal("".join(f"  {line}\n" for line in page.splitlines()))


def _difference_line(line: str, look: Look, kind: str) -> Line:
    """A line of a difference."""
    style = ""
    if kind in ("output", "against"):
        style = {"+": "good", "-": "mark", "@": "note"}.get(line[:1], "")
    return (Cell(look.fit(cell(line).text, look.width), style),)


def summary(done: Sequence[FileCheck]) -> str:
    """How many of each: the last line."""
    numbers = {word: sum(fact.status == word for fact in done) for word in STYLES}
    said = {"passed": "passed", "failed": "failed", "error": "with an error",
            "limit": "over a limit"}  # fmt: skip
    parts = [f"{number} {said[word]}" for word, number in numbers.items() if number]
    unchecked = sum(not fact.is_checked for fact in done)
    if unchecked:
        parts[0] += f" ({unchecked} not checked at all)"
    line = f"{counted(len(done), 'program')}: {', '.join(parts)}"
    statuses = [leaf.status for fact in done for leaf in fact.leaves]
    kinks, unknown = (sum(map(statuses.count, words)) for words in (("kink",), UNKNOWN))
    if len(statuses) > kinks + unknown:
        line += f"; {agreeing(statuses.count('equal'), len(statuses) - kinks - unknown)}"
    line += f"; {counted(kinks, 'gradient')} at a kink" if kinks else ""
    return line + (f"; {counted(unknown, 'gradient')} could not be compared" if unknown else "")


def agreeing(agree: int, total: int) -> str:
    """12 of 14 gradients agree; of a single one without a fraction."""
    if total == 1:
        return "1 gradient agrees" if agree else "1 gradient differs"
    return f"{agree:,} of {total:,} gradients {'agrees' if agree == 1 else 'agree'}"
