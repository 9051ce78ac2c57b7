"""Questions: a run's error as plain facts."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..recording.facts import ErrorFact, LabelFact


def error_fact(error: Diagnostic | None) -> ErrorFact | None:
    """A diagnostic as plain facts."""
    if error is None:
        return None
    error = error.bounded()
    labels = tuple(
        LabelFact(label.span.line, label.span.column, label.span.end_line, label.span.end_column,
                  label.text, label.primary)
        for label in error.labels
    )  # fmt: skip
    span = error.span
    fact = ErrorFact(error.type, error.message, labels=labels, notes=error.notes)
    if span is None:
        return fact
    return fact._replace(
        line=span.line, column=span.column, end_line=span.end_line, end_column=span.end_column
    )
