"""Live: a Python error as a diagnostic: its place in the text, and the calls that led there."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable

from ..diagnostics import Diagnostic, Label, LimitReached, ProgramError, Span
from .library import is_installed
from .text import CALLER, Text

TRIGGERED = re.compile(r"\s*\(Triggered internally at .*?\)\s*$")
MOST_CALLS = 4


def diagnostic_of(
    raised: BaseException, text: Text, causes: Iterable[tuple[ast.AST, str]] = ()
) -> Diagnostic:
    """An error of the program at its place, what explains it and the calls that led there beside
    it."""
    if isinstance(raised, ProgramError):
        return raised.diagnostic
    labels: dict[Span, Label] = {}
    called = ""
    for node, line, function in reversed(list(text.traceback_nodes(raised.__traceback__))):
        span = _span(text, node, line)
        said = f"calls {called}" if labels else ""
        labels.setdefault(span, Label(span, said, primary=not labels))
        called = function
    for node, words in causes:
        span = text.source.place_of(node)
        known = labels.get(span, Label(span, ""))
        labels[span] = known if known.text else known._replace(text=words)
    elsewhere = _elsewhere(raised, text)
    if labels and elsewhere:
        first, label = next(iter(labels.items()))
        labels[first] = label._replace(text="; ".join(filter(None, (label.text, elsewhere))))
    message = TRIGGERED.sub("", str(raised))
    kept = tuple(labels.values())[:MOST_CALLS]
    if isinstance(raised, LimitReached):
        return raised.as_diagnostic(text.source.name, *kept)
    return Diagnostic(type(raised).__name__, message, kept, (), text.source.name)


def _elsewhere(raised: BaseException, text: Text) -> str:
    """The line of another file of the program that the text had called."""
    found, traceback = "", raised.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        filename = code.co_filename
        if filename == text.filename:
            found = found if code.co_name == CALLER else ""
        elif not is_installed(filename):
            found = f"raised on line {traceback.tb_lineno} of {os.path.basename(filename)}"
        traceback = traceback.tb_next
    return found


def _span(text: Text, node: ast.AST | None, line: int) -> Span:
    source = text.source
    if node is not None:
        return source.place_of(node.test if isinstance(node, ast.Assert) else node)
    written = source.line(line)
    start = len(written) - len(written.lstrip()) + 1
    return Span(line, start, line, max(start + 1, len(written.rstrip()) + 1))
