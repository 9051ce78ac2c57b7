"""language: `# expect:` comments: parsed as expressions of the program, at their line.

    y.backward()        # expect: x.grad == tensor([2., 4.])
    y.backward()        # expect: raises RuntimeError: a second time

Expectations become statements of the tree, so that they are checked, resolved and limited like the
program itself. They never stop the program: a log keeps those that did not hold.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..diagnostics import ProgramError, Span
from ..named import NamedTuple
from . import names
from .compile.operand_values import operands_of
from .source import Source

MARK = re.compile(r"#\s*expect:(.*)$")
RAISES = re.compile(r"raises\b\s*(.*)$")
ERROR = re.compile(r"([^\W\d][\w.]*)\s*(?::\s*(\S.*))?$")
FORMS = (
    "help: # expect: x.grad == tensor([2., 4.]) or another condition",
    "help: # expect: raises RuntimeError, or with a part of its message: raises RuntimeError: size",
)
JUMPS = (ast.Return, ast.Break, ast.Continue)  # what stands behind them does not run
BLOCKS = ("body", "orelse", "handlers", "cases", "finalbody")


class Expectation(NamedTuple):
    """One comment; of `raises` the type of the error, and a part of its message."""

    text: str
    span: Span
    raises: str | None = None
    words: str = ""


class Failure(NamedTuple):
    """What did not hold, the first time: why, and what its operands were."""

    why: str
    shown: tuple[str, ...] = ()


class Log:
    """The results of the expectations of a run."""

    def __init__(self, expectations: tuple[Expectation, ...]) -> None:
        self.expectations = expectations
        self.reached: set[Expectation] = set()
        self.failures: dict[Expectation, Failure] = {}
        self.expected: BaseException | None = None  # the error that came last where one was due
        self.ends_as_expected = False

    def tell(self, expectation: Expectation, failure: Failure | None) -> None:
        """The program came to it; of what does not hold the first time counts."""
        self.reached.add(expectation)
        if failure is not None:
            self.failures.setdefault(expectation, failure)

    def over(self, error: BaseException) -> None:
        """The error that ended the program."""
        self.ends_as_expected = error is self.expected


class ExpectationStep(NamedTuple):
    """A statement in the tree that reports to the log: a condition, or how an error came."""

    what: str  # holds, met, or missed
    expectation: Expectation


def woven(source: Source, body: list[ast.stmt]) -> list[ast.stmt]:
    """The tree with the expectations in it; source.expectations lists them."""
    comments = dict(_comments(source, body))
    if not comments:
        return body
    nodes = (node for part in body for node in ast.walk(part))
    own = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    found: list[Expectation] = []
    last: dict[int, int] = {}  # for each block, where the latest statement is in it
    for place, comment in _placed(source, body, comments):
        expectation, condition = _read(source, own, comment)
        found.append(expectation)
        _put(place, expectation, condition, last)
    source.expectations = tuple(sorted(found, key=lambda expectation: expectation.span.line))
    return body


# ---------------------------------------------------------------- where comments stand


class Place(NamedTuple):
    """A statement in the block that it belongs to."""

    block: list[Any]
    statement: ast.stmt


Comment = tuple[int, int, str]  # line, column of the text, the text


def _comments(source: Source, body: list[ast.stmt]) -> Iterator[tuple[int, Comment]]:
    """The comments by line; a text that looks like one is none."""
    texts = _lines_of_texts(body)
    for number, line in enumerate(source.lines, 1):
        match = MARK.search(line)
        if match is None:
            continue
        held = (end for start, end in texts.get(number, ()) if start <= match.start())
        inside = [end for end in held if end > match.start()]
        if inside:
            match = MARK.search(line, max(inside)) if max(inside) < len(line) else None
        if match is not None:
            text = match[1].strip()
            start = match.start(1) + len(match[1]) - len(match[1].lstrip()) + 1
            yield number, (number, start, text)


def _lines_of_texts(body: list[ast.stmt]) -> dict[int, list[tuple[int, int]]]:
    """For each line the columns, from 0, that texts of the program cover."""
    found: dict[int, list[tuple[int, int]]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
            ):
                last = node.end_lineno or node.lineno
                for line in range(node.lineno, last + 1):
                    start = node.col_offset if line == node.lineno else 0
                    end = (node.end_col_offset or 0) if line == last else 1 << 30
                    found.setdefault(line, []).append((start, end))
    return found


def _placed(
    source: Source, body: list[ast.stmt], comments: dict[int, Comment]
) -> Iterator[tuple[Place, Comment]]:
    """Each comment with its statement: the one that ends on its line, or the one above it."""
    places = list(_statements(body))
    above = _Above(places)
    beside = {place.statement.end_lineno: place for place in places}  # the innermost and last
    for line, comment in comments.items():
        text = source.line(line)
        if not text.lstrip().startswith("#"):
            place = beside.get(line)
            if place is None:
                words = "an expectation stands at the end of a statement, or on a line below it"
                raise _wrong(source, comment, words)
        else:
            place = above.at(line, len(text) - len(text.lstrip()))
            if place is None:
                raise _wrong(source, comment, "no statement stands above this expectation")
        yield place, comment


class _Above:
    """The statements that end above a line, which moves down."""

    def __init__(self, places: list[Place]) -> None:
        self.waiting = sorted(places, key=_end_of, reverse=True)
        self.last: dict[int, Place] = {}  # by indentation: the one that begins last
        self.latest = 0  # line on which one of them begins

    def at(self, line: int, indent: int) -> Place | None:
        """The one above a comment of this indentation, in the block that it continues."""
        while self.waiting and _end_of(self.waiting[-1]) < line:
            place = self.waiting.pop()
            begins, indentation = place.statement.lineno, place.statement.col_offset
            known = self.last.get(indentation)
            if known is None or known.statement.lineno < begins:
                self.last[indentation] = place
            self.latest = max(self.latest, begins)
        found = self.last.get(indent)
        return None if found is None or self.latest > _end_of(found) else found


def _end_of(place: Place) -> int:
    return place.statement.end_lineno or 0


def _statements(block: list[Any]) -> Iterator[Place]:
    """Every statement with its block, a block before what is in it."""
    pending = [block]
    while pending:
        here = pending.pop()
        for item in here:
            if isinstance(item, ast.stmt):
                yield Place(here, item)
            inner = (getattr(item, name, None) for name in BLOCKS)
            pending.extend(part for part in inner if isinstance(part, list) and part)


# ---------------------------------------------------------------- what they say


def _wrong(source: Source, comment: Comment, words: str, *notes: str) -> ProgramError:
    line, start, text = comment
    span = Span(line, start, line, start + max(len(text), 1))
    return source.error("SyntaxError", words, span, *(notes or FORMS))


def _read(source: Source, own: set[str], comment: Comment) -> tuple[Expectation, ast.expr | None]:
    """What a comment expects, with the tree of its condition."""
    line, start, text = comment
    span = Span(line, start, line, start + max(len(text), 1))
    raises = RAISES.match(text)
    if raises is None or re.match(r"raises\s*(?:[=!<>.\[(]|(?:is|in|and|or|not)\b)", text):
        return Expectation(text, span), _expression(source, comment)
    error = ERROR.match(raises[1])
    if error is None:
        raise _wrong(source, comment, "`raises` needs the type of an error")
    _known(source, comment, own, error[1])
    return Expectation(text, span, error[1], error[2] or ""), None


def _known(source: Source, comment: Comment, own: set[str], name: str) -> None:
    """An error of Python, of PyTorch, or a class of the program."""
    if "." in name or name in names.ERROR_NAMES:
        return
    if name not in own:
        near = names.suggestion(name, sorted({*names.ERROR_NAMES, *own}))
        notes = (f"help: did you mean {near}?",) if near else ()
        raise _wrong(source, comment, f"no error has the name {name}", *notes)


def _expression(source: Source, comment: Comment) -> ast.expr:
    """The tree of a condition, with its places in the program's text."""
    line, start, text = comment
    try:
        tree = ast.parse(text, "<expectation>", "eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise _wrong(source, comment, "this is neither a condition nor `raises`") from None
    if isinstance(tree, (ast.Tuple, ast.GeneratorExp, ast.NamedExpr, ast.Yield, ast.YieldFrom)):
        raise _wrong(source, comment, "an expectation is one condition")
    said = text.encode("utf-8", "replace")
    before = len(source.line(line)[: start - 1].encode("utf-8", "replace"))
    operand: Any
    for operand in operands_of(tree):  # told in the words of the text
        operand.code = said[operand.col_offset : operand.end_col_offset].decode()
    node: Any
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset += before
            node.end_col_offset += before
    return tree


# ---------------------------------------------------------------- into the tree


def _put(
    place: Place, expectation: Expectation, tree: ast.expr | None, last: dict[int, int]
) -> None:
    block, statement = place
    start = last.get(id(block), 0)
    places = chain(range(start, len(block)), range(start))
    at = next(n for n in places if getattr(block[n], "tries", block[n]) is statement)
    last[id(block)] = at
    if tree is None:
        block[at] = _attempt(block[at], expectation)
        block[at].tries = statement
        return
    condition = _telling("holds", expectation, tree)
    while at + 1 < len(block) and hasattr(block[at + 1], "expectation_step"):
        at += 1  # several are in the order of the text
    block.insert(at if isinstance(statement, JUMPS) else at + 1, condition)


def _attempt(statement: ast.stmt, expectation: Expectation) -> ast.Try:
    """try: STATEMENT / except TYPE: report, raise / else: report"""
    error = ast.parse(expectation.raises or "", "<expectation>", "eval").body
    again = ast.Raise(exc=None, cause=None)
    handler = ast.ExceptHandler(type=error, name=None, body=[_telling("met", expectation), again])
    tried = ast.Try(body=[statement], handlers=[handler], orelse=[_telling("missed", expectation)],
                    finalbody=[])  # fmt: skip
    mark: Any = _telling("met", expectation)
    for node in (*ast.walk(error), again, handler):
        ast.copy_location(node, mark)
    ast.copy_location(tried, statement)
    return tried


def _telling(what: str, expectation: Expectation, value: ast.expr | None = None) -> ast.Expr:
    span = expectation.span
    places: dict[str, Any] = {
        "lineno": span.line, "end_lineno": span.line,
        "col_offset": span.column - 1, "end_col_offset": span.end_column - 1,
    }  # fmt: skip
    node = ast.Expr(value=value or ast.Constant(value=None, **places), **places)
    node.expectation_step = ExpectationStep(what, expectation)  # type: ignore[attr-defined]
    return node
