"""diagnostics: what can be wrong with a program, as plain data (nothing here prints)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from .named import NamedTuple

CELL_MARK = "# %% cell "  # the line above each cell in the text that a notebook becomes


class CellLine(int):
    """A line of the text that a notebook becomes; in words, it counts within its cell."""

    cell: str
    within: int

    @classmethod
    def of(cls, line: int, cell: str, start: int) -> CellLine:
        """The line, the cell's number, and the line of the mark above the cell."""
        made = cls(line)
        made.cell, made.within = cell, line - start
        return made

    def __str__(self) -> str:
        return f"{self.within} of cell {self.cell}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class ExitStatus(IntEnum):
    """The exit codes of the command."""

    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    PROGRAM_ERROR = 3
    LIMIT_REACHED = 4
    MISSING_DEVICE = 5
    DEFECT = 70
    INTERRUPTED = 130


# From no reason to act to the best: what was found is acted on before what stayed undecided.
_URGENCY: tuple[int, ...] = (
    ExitStatus.OK, ExitStatus.LIMIT_REACHED, ExitStatus.MISSING_DEVICE, ExitStatus.CHECK_FAILED,
    ExitStatus.USAGE, ExitStatus.PROGRAM_ERROR, ExitStatus.DEFECT, ExitStatus.INTERRUPTED,
)  # fmt: skip


def most_urgent(statuses: Iterable[int]) -> int:
    """Of several exit codes the one that a reader must act on first; 0 where there is none."""
    return int(max(statuses, key=_urgency, default=ExitStatus.OK))


def _urgency(status: int) -> int:
    return _URGENCY.index(status) if status in _URGENCY else len(_URGENCY)


def noted(advice: str) -> tuple[str, ...]:
    """Advice as a diagnostic has it."""
    return (f"help: {advice}",) if advice else ()


class Span(NamedTuple):
    """A piece of the source: 1-based lines and columns in characters, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> Span:
        """The empty piece in front of it."""
        return self.head(0)

    @property
    def end(self) -> Span:
        """The empty piece behind it."""
        return self.tail(0)

    def head(self, count: int) -> Span:
        """Its first characters."""
        return Span(self.line, self.column, self.line, self.column + count)

    def tail(self, count: int) -> Span:
        """Its last characters."""
        return Span(self.end_line, self.end_column - count, self.end_line, self.end_column)

    def contains(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


class Edit(NamedTuple):
    """A change of the source: what comes in the place of a piece; an empty one is an insertion."""

    span: Span
    text: str


CALLED_FROM = "called from here"  # the label of the calls that led to a place
UNASKED = "made without requires_grad=True"  # that of a constant


class Label(NamedTuple):
    """A remark on a piece of the source; the primary one carries the carets."""

    span: Span
    text: str
    primary: bool = False


class Cure(NamedTuple):
    """Advice that can be tried: the note that gives it, and what it replaces in the source.

    `added` is called where a gradient is added to an existing one. A last resort is given only
    where it is tried and passes and nothing else does.
    """

    note: str
    edits: tuple[Edit, ...]
    added: str = ""
    last_resort: bool = False


MOST, MOST_LINES = 1600, 16  # characters and lines of a message


def command(*words: str) -> str:
    """A command line of gradcli as a shell takes it."""
    return " ".join(("gradcli", *map(_quoted, words)))


def _quoted(word: str) -> str:
    """In the quotes that need no others: `shlex.quote` writes `d['k']` as `'d['"'"'k'"'"']'`."""
    if word and all(sign.isalnum() or sign in "@%+=:,./-_" for sign in word):
        return word
    if "'" in word and not any(sign in '"$`\\!' for sign in word):
        return f'"{word}"'
    return "'" + word.replace("'", "'\"'\"'") + "'"


def some(words: Sequence[str], most: int) -> str:
    """a, b, c and 5 more."""
    left = len(words) - most
    return ", ".join(words[:most]) + (f" and {left:,} more" if left > 0 else "")


def bounded(text: str, most: int = MOST) -> str:
    """The text, if it is no longer; else its start, and how much there is more."""
    lines = text.split("\n", MOST_LINES)
    kept = text if len(lines) <= MOST_LINES else "\n".join(lines[:MOST_LINES])
    if not kept[:most].replace("\n", "").replace("\t", "").isprintable():
        most //= 4  # escaped, a character takes up to ten
    if len(kept) > most or len(kept) < len(text):
        kept = kept[: most - 60]
        left = len(text) - len(kept)
        return f"{kept}… and {left:,} more character{'s' * (left != 1)}"
    return text


class Diagnostic(NamedTuple):
    """One error as it is reported: labels, then type and message, then advice.

    A note may have several lines, a table; the first says what it is.
    """

    type: str
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    file: str = "<input>"
    exit_status: ExitStatus = ExitStatus.PROGRAM_ERROR
    cures: tuple[Cure, ...] = ()

    @property
    def span(self) -> Span | None:
        """Where the error is: the span of the primary label, else of the first one."""
        for label in self.labels:
            if label.primary:
                return label.span
        return self.labels[0].span if self.labels else None

    @property
    def line(self) -> int | None:
        span = self.span
        return span.line if span is not None else None

    @property
    def is_bare(self) -> bool:
        """Whether it has nothing beside its own place and words."""
        return sum(label.text != CALLED_FROM for label in self.labels) < 2 and not self.notes

    @property
    def is_of_constants(self) -> bool:
        """Whether all that it says beside that is of constants, which may have been something else
        before."""
        texts = [label.text for label in self.labels if label.text != CALLED_FROM]
        return UNASKED in texts and sum(text != UNASKED for text in texts) < 2

    def bounded(self) -> Diagnostic:
        """The same on one screen; what does not fit is counted."""
        labels = tuple(label._replace(text=bounded(label.text, 200)) for label in self.labels[:8])
        notes = tuple(bounded(note, 600) for note in self.notes[:8])
        for what, left in (("places", len(self.labels) - 8), ("notes", len(self.notes) - 8)):
            if left > 0:
                notes += (f"note: {left:,} more {what} are left out",)
        return self._replace(
            type=bounded(self.type, 100), message=bounded(self.message), labels=labels,
            notes=notes, file=bounded(self.file, 200),
        )  # fmt: skip


class ProgramError(Exception):
    """Carries the diagnostic of a program that can't be parsed, checked or run to its end."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(f"{diagnostic.type}: {diagnostic.message}")
        self.diagnostic = diagnostic


class Enough(BaseException):
    """Who watches a run has seen what it wanted: the run ends here, as it is.

    Not an Exception: no `except` of a program matches it.
    """


class LimitReached(BaseException):
    """A limit ended the run. Not an Exception: no `except` of a program matches it."""

    def __init__(self, limit: str, option: str | None) -> None:
        raises = "no option raises it" if option is None else f"{option} raises it"
        super().__init__(f"the {limit} is reached; {raises}")
        self.limit = limit
        self.option = option

    def as_diagnostic(self, file: str, *labels: Label) -> Diagnostic:
        """As a diagnostic: where it was reached; the message says which option raises it."""
        return Diagnostic("LimitReached", str(self), labels, (), file, ExitStatus.LIMIT_REACHED)
