"""Live: the text being recorded: which of its expressions a running frame is at."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from types import CodeType, FrameType, FunctionType
from typing import Any

from ..diagnostics import Span
from ..language.source import Source
from ..recording.facts.basic import Elsewhere

OURS, PYTHON = os.path.dirname(os.path.dirname(__file__)), os.path.dirname(os.__file__)
PACKAGES = "site-packages", "dist-packages"
CALLER = "<recorded>"  # the name of what calls PyTorch in the program's place
SHORT = 40  # characters of an expression that is quoted
MOST = 10_000  # places in other files
DEEPEST = 200  # frames between the text and an operation
ASSIGNED, ENDED = re.compile(r"\s*([^\W\d]\w*)\s*=\s*"), re.compile(r"\s*(#.*)?\s*")


def _call(function: Any, args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Spot:
    """A place in the text, and a caller that stands there: what PyTorch warns of while it runs is
    counted and told at the line of the program."""

    __slots__ = ("node", "call", "is_reported", "elsewhere")

    def __init__(
        self, node: ast.AST | None, call: Callable[..., Any], *, is_reported: bool = False,
        elsewhere: Elsewhere | None = None,
    ) -> None:  # fmt: skip
        self.node, self.call = node, call
        self.is_reported = is_reported  # by rewritten code, expression by expression
        self.elsewhere = elsewhere


NOWHERE = Spot(None, _call)
CELL = "<ipython-input"
NO_POSITION = (None,) * 4
NOBODY = None, NOWHERE  # calls a module


class Text:
    """A source with its tree, found again in the frames that run it."""

    def __init__(
        self, source: Source, tree: ast.Module, filename: str, folder: str | None = None
    ) -> None:
        self.source, self.tree, self.filename = source, tree, filename
        self.folder = os.path.dirname(filename) if folder is None else folder
        self._index: dict[tuple[int, int, int, int], ast.AST] | None = None
        # By identity, for the hash of a code is made of all its constants.
        self._codes: dict[int, tuple[CodeType, dict[int, Spot]]] = {}
        self.libraries: tuple[str, ...] = (OURS,)  # folders whose code is nowhere by itself
        self._others: dict[int, tuple[CodeType, bool]] = {}  # codes of other files, by identity
        self._inner: dict[tuple[int, int, int], tuple[CodeType, Spot, Spot]] = {}
        # Calls of modules that are running: the frame that makes each, and where the text is then.
        self.callers: list[tuple[FrameType, Spot]] = []
        self.told: dict[int, CodeType] = {}  # what runs rewritten, by its identity
        self.plain: list[CodeType] = []  # of the other files that run rewritten
        self.on_place: Callable[[FrameType], None] | None = None  # a place that is new

    def tells(self, code: CodeType) -> None:
        """This code is rewritten, and that of the functions in it."""
        self.told.update((id(one), one) for one in (code, *codes_of(code)))

    def imports(self, plain: CodeType, code: CodeType) -> None:
        """The code of another file, and what runs in its place."""
        self.plain.append(plain)
        self.tells(code)

    def forget(self) -> None:
        """Nothing runs it any more. Rewritten code holds who listened, and Python collects no
        circle that code is a part of."""
        for held in (self.told, self._codes, self._others, self._inner):
            held.clear()
        self.plain.clear()

    def frame(self, start: FrameType | None) -> FrameType | None:
        """The innermost frame of the text, from this one outwards."""
        filename = self.filename
        for _ in range(DEEPEST):
            if start is None:
                return None
            code = start.f_code
            if code.co_filename == filename and code.co_name != CALLER:
                return start
            start = start.f_back
        return None

    def frames(self, start: FrameType | None) -> Iterator[FrameType]:
        """Those of the text, from this one outwards."""
        while (frame := self.frame(start)) is not None:
            yield frame
            start = frame.f_back

    def spot(self, frame: FrameType | None) -> Spot:
        """Where the text is, seen from a frame that it called. Behind the frame of a module's call
        the text stands still until the module returns."""
        filename, callers = self.filename, self.callers
        caller, standing = callers[-1] if callers else NOBODY
        found, inner = NOWHERE, None
        for _ in range(DEEPEST):
            if frame is None:
                break
            if frame is caller:
                found = standing
                break
            code = frame.f_code
            if code.co_filename == filename and code.co_name != CALLER:
                found = self._spot_at(frame)
                break
            if inner is None and (self._others.get(id(code)) or self._other(code))[1]:
                inner = frame
            frame = frame.f_back
        return found if inner is None else self._within(found, inner)

    def _other(self, code: CodeType) -> tuple[CodeType, bool]:
        """Whether a code is of another file of the program, or of a library that it calls."""
        name = code.co_filename
        is_file = not name.startswith(("<", *self.libraries)) or name.startswith(CELL)
        is_one = code.co_name != CALLER and is_file
        found = self._others[id(code)] = code, is_one
        return found

    def _within(self, spot: Spot, frame: FrameType) -> Spot:
        """The same place of the text, with a caller that stands where another file calls."""
        key = id(frame.f_code), frame.f_lasti, id(spot)
        known = self._inner.get(key)
        if known is None:
            if len(self._inner) >= MOST:
                self._inner.clear()
            made = Spot(spot.node, self._caller(frame), is_reported=spot.is_reported,
                        elsewhere=self._elsewhere(frame))  # fmt: skip
            known = self._inner[key] = frame.f_code, spot, made
        return known[2]

    def _elsewhere(self, frame: FrameType | None) -> Elsewhere | None:
        """The innermost place in a file that is not PyTorch's or Python's; None in the text."""
        while frame is not None and frame.f_code.co_filename != self.filename:
            name = frame.f_code.co_filename
            is_library = is_of_package(name)
            is_python = name.startswith(PYTHON) and not is_library
            if not is_python and self._other(frame.f_code)[1]:
                shown = cell_of(name) or self.shown(name)
                source, target = _expression(frame)
                return Elsewhere(shown, frame.f_lineno, source, is_library, target)
            frame = frame.f_back
        return None

    def shown(self, filename: str) -> str:
        """Another file by the way from the program's folder, else by its name alone."""
        folder = os.path.join(self.folder, "")
        own = os.path.isabs(folder) and filename.startswith(folder)
        return filename.removeprefix(folder) if own else os.path.basename(filename)

    def _spot_at(self, frame: FrameType) -> Spot:
        """Where a frame of the text is."""
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            known = self._codes[id(code)] = code, {}
        spot = known[1].get(frame.f_lasti)
        if spot is None:
            node = self.node_at(code, frame.f_lasti)
            told = id(code) in self.told
            spot = known[1][frame.f_lasti] = Spot(node, self._caller(frame), is_reported=told)
            if self.on_place is not None and not told:
                self.on_place(frame)
        return spot

    def _caller(self, frame: FrameType) -> Callable[..., Any]:
        code = _call.__code__.replace(
            co_filename=frame.f_code.co_filename, co_firstlineno=frame.f_lineno - 1, co_name=CALLER
        )
        return FunctionType(code, frame.f_globals, CALLER)

    def node_at(self, code: CodeType, instruction: int) -> ast.AST | None:
        """The expression that an instruction belongs to."""
        for place, found in enumerate(code.co_positions()):
            if place == instruction // 2:
                line, end_line, column, end_column = found
                if None in found:  # as under -X no_debug_ranges
                    return None if line is None else self._on_line(line)
                node = self.index.get((line, column, end_line, end_column))  # type: ignore[arg-type]
                return node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node
        return None

    def _on_line(self, line: int) -> ast.AST | None:
        """What the innermost statement on a line computes."""
        found: ast.AST | None = None
        for node in ast.walk(self.tree):  # the outer ones first
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                found = node
        for part in ("value", "iter", "test"):
            found = getattr(found, part, None) or found
        return found

    @property
    def index(self) -> dict[tuple[int, int, int, int], ast.AST]:
        """Expressions and statements by their place; of several in one place the innermost."""
        if self._index is None:
            self._index = {}
            for node in ast.walk(self.tree):
                if isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None:
                    key = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset or 0
                    self._index[key] = node
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    method = node.func  # Python has the call of a method begin with its name
                    line, column = method.end_lineno or 0, method.end_col_offset or 0
                    if line != method.value.end_lineno or line != node.lineno:
                        start = column - len(method.attr.encode())
                        key = line, start, node.end_lineno or 0, node.end_col_offset or 0
                        self._index.setdefault(key, node)
        return self._index

    def words(self, place: Any) -> str:
        """What is at a place of the text, and on which line; of long words only the line."""
        source = self.source
        if not isinstance(place, ast.expr) or getattr(place, "of_source", source) is not source:
            return ""
        span = source.span_of(place)
        words = source.text_of(span)
        line = f"line {span.line}"
        return line if len(words) > SHORT or "\n" in words else f"{words}, {line}"

    def traceback_nodes(self, traceback: Any) -> Iterator[tuple[ast.AST | None, int, str]]:
        """The places of the text that an error came through: expression, line, function."""
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename == self.filename and code.co_name != CALLER:
                node = self.node_at(code, traceback.tb_lasti)
                yield node, traceback.tb_lineno, code.co_name
            traceback = traceback.tb_next


def parsed(source: Source) -> ast.Module:
    """Python's tree of the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.text)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        span = Span(line, column, error.end_lineno or line, max(error.end_offset or 0, column + 1))
        raise source.error("SyntaxError", error.msg, span) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise source.error("SyntaxError", str(error), source.span_at(0)) from None


def is_of_package(filename: str) -> bool:
    """Whether a file belongs to what is installed."""
    return any(f"{os.sep}{part}{os.sep}" in filename for part in PACKAGES)


def cell_of(filename: str) -> str:
    """A notebook's cell by its number, as a reader calls it; empty for a file."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    words = None if shell is None else shell.compile.format_code_name(filename)
    return "" if words is None else " ".join(words)


def _expression(frame: FrameType) -> tuple[str, str]:
    """What a frame of another file computes at the moment, in one line, and the name that the text
    gives to its value."""
    positions = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, end_line, start, end = next(positions, NO_POSITION)
    if line is None or end_line is None or start is None or end is None:
        return "", ""
    name = frame.f_code.co_filename
    lines = [linecache.getline(name, at).encode() for at in range(line, end_line + 1)]
    behind = lines[-1][end:].decode(errors="replace")  # columns are bytes
    lines[-1] = lines[-1][:end]
    before = lines[0][:start].decode(errors="replace")
    lines[0] = lines[0][start:]
    target = ASSIGNED.fullmatch(before) if ENDED.fullmatch(behind) else None
    source = " ".join(one.decode(errors="replace").strip() for one in lines)
    return source, "" if target is None else target[1]


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """The code of the functions in it."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_of(constant)
