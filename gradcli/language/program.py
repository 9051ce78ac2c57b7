"""language: from text to a checked, frozen program; imports neither numpy nor the engine."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ..diagnostics import (
    Diagnostic,
    ExitStatus,
    Label,
    LimitReached,
    ProgramError,
    Span,
    noted,
)
from ..named import NamedTuple
from ..pattern import pattern
from ..process.memory import collector_paused
from . import names
from .checking import checker_of
from .checking.checker import Checker
from .checking.definitions import unbound_nonlocals
from .checking.imports import late_futures, without_unused
from .names import Scope
from .parser import MemoryUse, endless_fstring, parsed
from .source import Source

# Python's parser needs memory beside the tree that grows with the text: some thousand lines at a
# time parse in half the time of one big text, and are checked while they are in the cache. More
# than fifty chunks would cost more for the blank lines in front of them than they save.
CHUNK_LINES, CHUNKS = 1500, 50
# Lines that can't start a chunk: they belong to the statement before.
_CONTINUES = pattern(r"(?:else|elif|except|finally)\b")
_MEANT = pattern(r"#\s*set:")
_DEFAULT = pattern(r"#\s*set:\s*([^\W\d]\w*)\s*=\s*(.*\S)\s*$")


class SourceLimits(NamedTuple):
    """What is refused before Python's parser sees the text."""

    max_source: int = 8 * 1024 * 1024
    max_nesting: int = 200
    expectations: bool = False  # whether `# expect:` comments become part of the tree


class Default(NamedTuple):
    """A line `# set: name=text` of the comment block at the top."""

    name: str
    text: str
    line: int


class Program(NamedTuple):
    """A checked program. Nothing in it changes after `parse`."""

    source: Source
    body: tuple[ast.stmt, ...]
    module: Scope
    scopes: Mapping[ast.AST, Scope]
    inputs: tuple[str, ...]
    bindings: tuple[str, ...]
    defaults: Mapping[str, Default]
    # Names whose first top-level assignment is a number or a list of numbers, with that value.
    literals: Mapping[str, ast.expr]
    # Imported names that mean one thing in the whole program, with their full dotted name.
    aliases: Mapping[str, str]
    input_nodes: Mapping[str, ast.AST]
    required: frozenset[str]  # inputs that the top level reads in any case
    doubtful: tuple[ast.AST, ...] = ()  # what Python's compiler may warn of
    # Imported names of what is not here, with what reading one says.
    failing: Mapping[str, Diagnostic] = MappingProxyType({})

    @property
    def tree(self) -> ast.Module:
        """The body as Python has it."""
        return ast.Module(list(self.body), [])

    def literal_value(self, name: str) -> Any:
        """The number or list of numbers that the text gives to a name."""
        return ast.literal_eval(self.literals[name])

    def input_span(self, name: str) -> Span:
        """Where an input is used first."""
        return self.source.span_of(self.input_nodes[name])


def parse(
    source: Source, limits: SourceLimits | None = None, known: Collection[str] = ()
) -> Program:
    """Parse and check a whole file; raises ProgramError with the place of what is wrong.

    `known` are names that have a value already: they are inputs also where they are called, and
    where they mean something else without it.
    """
    limits = limits or SourceLimits()
    _limit_size(source, limits)
    with collector_paused():
        try:
            body, checker, literals = _checked(source, limits)
        except ProgramError:
            if source.is_notebook:
                refuse_half_cells(source)
            raise
        if source.cells:
            from .notebook import count_within_cells, mark_echoes, runs_on

            if source.is_notebook and runs_on(body, source.cells):
                refuse_half_cells(source)
            mark_echoes(body, source.text, source.cells)
            if source.is_notebook:
                count_within_cells(body, source.text, source.cells)
        certain, reached = _used(checker)
        names.resolve(checker.module)
        for name, node in checker.module.calls.items():
            if name in known:
                checker.module.uses.setdefault(name, node)
        return _program(source, body, checker, literals, certain, reached, known)


def parse_expression(text: str, name: str, known: Collection[str]) -> Program:
    """A program that is one expression, such as the value of an option."""
    source = Source(text.strip(), name)
    program = parse(source, None, known)
    if len(program.body) != 1 or type(program.body[0]) is not ast.Expr:
        raise source.error("SyntaxError", "this is not one expression", source.span_at(0))
    return program


def _limit_size(source: Source, limits: SourceLimits) -> None:
    size = len(source.text)
    if size <= limits.max_source and not source.text.isascii():
        size = len(source.text.encode("utf-8", "replace"))
    if size > limits.max_source:
        limit = LimitReached(f"limit of {limits.max_source:,} bytes of source", "--max-source")
        raise ProgramError(limit.as_diagnostic(source.name))


# ---------------------------------------------------------------- text to tree


def _checked(source: Source, limits: SourceLimits) -> tuple[list[ast.stmt], Checker, Literals]:
    """The tree, and what is known of it: each piece is looked at while it is in the cache.

    What Python's parser says of any line comes before what the checker says.
    """
    zero = source.text.find("\0")
    if zero >= 0:
        raise source.error(
            "SyntaxError", "source code cannot contain null bytes", source.span_at(zero)
        )
    endless = endless_fstring(source.text)
    if endless is not None:
        place = source.span_at(max(source.text.find(endless), 0))
        raise source.too_deep("an f-string has too many fields for Python's parser", place)
    if limits.expectations and "expect:" in source.text:
        from .expectations import woven

        return _read(source, limits, iter([woven(source, _parsed_piece(source, source.text))]))
    with suppress(_Cut):
        return _read(source, limits, _pieces(source))
    # Not while the error is at hand: it holds all pieces that were parsed.
    return _read(source, limits, iter([_parsed_piece(source, source.text)]))


def _read(
    source: Source, limits: SourceLimits, pieces: Iterator[list[ast.stmt]]
) -> tuple[list[ast.stmt], Checker, Literals]:
    checker, literals = checker_of(source, limits.max_nesting), Literals()
    body: list[ast.stmt] = []
    refused: ProgramError | None = None
    for piece in pieces:
        body.extend(piece)
        if refused is None:
            try:
                checker.block(piece, checker.module, 0)
                literals.read(piece)
            except ProgramError as error:
                refused = error
    if refused is not None:
        raise refused
    unbound_nonlocals(checker)
    late_futures(checker, body)
    left = ", ".join(without_unused(checker, body))
    if left:
        source.notes = (*source.notes, f"imported and never used, so left out: {left}")
    return body, checker, literals


class _Cut(Exception):
    """A cut inside a text or a bracket, or a real error: the whole file decides."""


def _pieces(source: Source) -> Iterator[list[ast.stmt]]:
    """Top-level statements, some thousand lines at a time."""
    lines = source.lines
    if len(lines) <= 4 * CHUNK_LINES:
        yield _parsed_piece(source, source.text)
        return
    start, size = 0, max(CHUNK_LINES, len(lines) // CHUNKS)
    while start < len(lines):
        end = _chunk_end(lines, start + size)
        text = "\n".join(lines[start:end]) + "\n"
        source.comes_to(text, start)
        held = MemoryUse(text)
        # Blank lines in front keep the line numbers; Python's tokenizer passes one in 15 ns.
        try:
            piece = parsed("\n" * start + text)
        except (SyntaxError, RecursionError, ValueError):
            raise _Cut from None
        except MemoryError:
            if held.is_much():
                raise
            raise _Cut from None
        yield piece
        start = end


def _chunk_end(lines: list[str], end: int) -> int:
    """The next line at or after `end` at which a top-level statement may start."""
    while end < len(lines):
        line = lines[end]
        starts = line[:1]
        if (
            (starts.isalpha() or starts == "_")
            and not _CONTINUES.match(line)
            and not lines[end - 1].endswith("\\")
            and not lines[end - 1].startswith("@")
        ):
            return end
        end += 1
    return end


def _parsed_piece(source: Source, text: str) -> list[ast.stmt]:
    source.comes_to(text)
    held = MemoryUse(text)
    try:
        return parsed(text)
    except SyntaxError as error:
        raise _syntax_error(source, error) from None
    except (RecursionError, MemoryError) as error:
        if isinstance(error, MemoryError) and held.is_much():
            raise  # it is not the nesting
        # Python's parser drops at some thousand levels and knows no place.
        words = "the nesting is too deep for Python's parser"
        raise source.too_deep(words, _deepest(source)) from None
    except ValueError as error:  # lone surrogates, or an integer literal with too many digits
        raise source.error("SyntaxError", str(error).partition(";")[0], source.span_at(0)) from None


def refuse_half_cells(source: Source) -> None:
    """The first cell of a notebook that is no program by itself is the error: each runs alone."""
    for start, end in pairwise([*source.cells, len(source.lines)]):
        cell = "\n".join(source.lines[start : end - 1])
        try:
            parsed(cell)
        except SyntaxError as error:
            error.lineno = min((error.lineno or 1) + start, end - 1)
            error.end_lineno = error.end_lineno and error.end_lineno + start
            raise _syntax_error(source, error) from None
        except (ValueError, RecursionError, MemoryError):
            return  # the whole text has met it too


def _syntax_error(source: Source, error: SyntaxError) -> ProgramError:
    line = min(max(error.lineno or 1, 1), len(source.lines))
    width = len(source.line(line))
    column = min(max(error.offset or 1, 1), width + 1)
    end_line, end_column = line, column + 1
    if error.end_lineno == line and (error.end_offset or 0) > column:
        end_column = min(error.end_offset or 0, width + 1)
    span = Span(line, column, end_line, max(end_column, column + 1))
    message = error.msg or "invalid syntax"
    message = re.sub(r"\s*\(<program>, line \d+\)$", "", message)
    kind = type(error).__name__  # IndentationError and TabError keep their names
    text = source.line(line)
    indent = len(text) - len(text.lstrip())
    if isinstance(error, IndentationError) and indent and text.strip():
        span = Span(line, 1, line, indent + 1)  # Python points behind the line
    from .syntax_advice import advice

    notes = tuple(advice(text, message, span))
    return ProgramError(Diagnostic(kind, message, (Label(span, "", True),), notes, source.name))


def _deepest(source: Source) -> Span:
    """The place of the most deeply nested bracket, else the longest line: a fair guess."""
    depth = deepest = place = 0
    for match in re.finditer(r"[()\[\]{}]", source.text):
        depth += 1 if match.group() in "([{" else -1
        if depth > deepest:
            deepest, place = depth, match.start()
    if deepest < 20:
        line = max(range(len(source.lines)), key=lambda number: len(source.lines[number]))
        place = source.line_starts[line]
    return source.span_at(place)


def place_reached(source: Source, error: BaseException) -> Span:
    """Where `parse` was when it ran into a limit: at a node, or in what Python's parser had."""
    place, trace = source.reached, error.__traceback__
    while trace is not None:
        names = trace.tb_frame.f_locals
        for node in (names.get("node"), names.get("statement")):
            if hasattr(node, "lineno"):
                place = source.span_of(node)
        trace = trace.tb_next
    return place


# ---------------------------------------------------------------- names


def _used(checker: Checker) -> tuple[frozenset[str], set[str]]:
    """Names that the top level reads in any case, and names that it leads to at all."""
    module = checker.module
    for name, node in (*module.calls.items(), *module.uses.items()):
        if name in names.NOT_AVAILABLE and name not in module.bound:
            message = f"the Python function '{name}' is not part of the language"
            raise checker.refuse(node, message, type="NameError")
    certain = frozenset(module.uses)
    module.uses = {**checker.perhaps_used, **module.uses}
    module.calls = {**checker.perhaps_called, **module.calls}
    return certain, names.reached(module)


def _program(
    source: Source, body: list[ast.stmt], checker: Checker, literals: Literals,
    certain: frozenset[str], reached: set[str], known: Collection[str],
) -> Program:  # fmt: skip
    module = checker.module
    aliases = {
        name: paths[0]
        for name, paths in checker.imports.items()
        if name not in checker.assigned and len(set(paths)) == 1
    }
    given = defaults(source)
    inputs = _inputs(checker, reached, {*known, *given})
    return Program(
        source=source,
        body=tuple(body),
        module=module,
        scopes=MappingProxyType(checker.scopes),
        inputs=tuple(inputs),
        bindings=tuple(module.bound),
        defaults=MappingProxyType(given),
        literals=MappingProxyType(literals.found),
        aliases=MappingProxyType(aliases),
        input_nodes=MappingProxyType(inputs),
        required=(certain | checker.augmented_only) & inputs.keys(),
        failing=MappingProxyType(checker.failing),
        doubtful=tuple(checker.doubtful),
    )


def _inputs(
    checker: Checker, reached: set[str], known: Collection[str]
) -> dict[str, ast.AST]:  # fmt: skip
    """Names that the top level leads to and that are never bound, in the order of the text; of
    those that mean something in PyTorch, such as `t`, what was given a value."""
    module = checker.module
    found: dict[str, ast.AST] = {}
    for name, node in module.uses.items():
        unbound = name not in module.bound or name in checker.augmented_only
        meant = names.has_meaning(name) and (name not in known or name in names.ROOTS)
        if unbound and name in reached and not meant:
            found[name] = node
    for name in checker.augmented_only:
        if not names.is_known(name):
            found.setdefault(name, module.bound[name])
    return dict(sorted(found.items(), key=lambda item: _place(item[1])))


def _place(node: Any) -> tuple[int, int]:
    return (node.lineno, node.col_offset)


def is_global(scope: Scope, name: str) -> bool:
    """Whether a name used in this scope is looked up in the module."""
    current: Scope | None = scope
    while current is not None and current.kind != "module":
        if name in current.global_names:
            return True
        if name in current.bound or name in current.free:
            return False
        current = current.parent
    return True


class Literals:
    """Names whose first top-level assignment is a number or a list of numbers, with that value."""

    def __init__(self) -> None:
        self.found: dict[str, ast.expr] = {}
        self.seen: set[str] = set()

    def read(self, body: list[ast.stmt]) -> None:
        """Goes on with the next top-level statements."""
        seen, note = self.seen, self.note
        for statement in body:
            kind = type(statement)
            if kind is ast.Assign:
                value = statement.value  # type: ignore[attr-defined]
                for target in statement.targets:  # type: ignore[attr-defined]
                    if type(target) is not ast.Name or type(value) in LITERALS:
                        note(target, value)
                    else:
                        seen.add(target.id)
            elif kind is ast.AnnAssign:
                if statement.value is not None:  # type: ignore[attr-defined]
                    note(statement.target, statement.value)  # type: ignore[attr-defined]
            elif kind is ast.For or kind is ast.AugAssign:
                note(statement.target, None)  # type: ignore[attr-defined]

    def note(self, target: ast.expr, value: ast.expr | None) -> None:
        if type(target) is ast.Name:
            if target.id not in self.seen and value is not None and is_numeric_literal(value):
                self.found[target.id] = value
            self.seen.add(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values: list[Any] = [None] * len(target.elts)
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                values = value.elts
            for item, part in zip(target.elts, values, strict=True):
                self.note(item, part)
        elif type(target) is ast.Starred:
            self.note(target.value, None)


LITERALS = frozenset({ast.Constant, ast.UnaryOp, ast.List})


def is_numeric_literal(node: ast.expr) -> bool:
    """A number, a signed number, or nested lists of them."""
    pending: list[ast.expr] = [node]
    for part in pending:
        if type(part) is ast.List:
            pending.extend(part.elts)
        elif type(part) is ast.UnaryOp and type(part.op) in (ast.USub, ast.UAdd):
            if type(part.operand) is not ast.Constant:
                return False
            pending.append(part.operand)
        elif type(part) is not ast.Constant or type(part.value) not in (int, float):
            return False
    return type(node) is not ast.List or bool(node.elts)


def defaults(source: Source) -> dict[str, Default]:
    """`# set: a=4.0` lines of the comment block at the top, blank lines between them allowed."""
    found: dict[str, Default] = {}
    for number, line in enumerate(source.lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            break
        match = _DEFAULT.match(text)
        if match is not None:
            found[match[1]] = Default(match[1], match[2], number)
        elif _MEANT.match(text):
            raise refused_default(source, number, "expected # set: NAME=VALUE", "# set: a=4.0")
    return found


def refused_default(source: Source, number: int, message: str, advice: str = "") -> ProgramError:
    """An error of such a line, told as one of --set is: it is the same thing."""
    span = Span(number, 1, number, len(source.line(number)) + 1)
    return ProgramError(
        Diagnostic("UsageError", message, (Label(span, "", primary=True),),
                   noted(advice), source.name, ExitStatus.USAGE)
    )  # fmt: skip
