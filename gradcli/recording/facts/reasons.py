"""Recording: the facts of `gradcli why`: one verdict on one gradient."""

from __future__ import annotations

from ...named import NamedTuple
from .basic import ErrorFact, LabelFact, Nested


class TrialFact(NamedTuple):
    """Advice that was tried, and its effect. `helped` is None if that is unknown."""

    advice: str
    helped: bool | None
    outcome: str = ""


class WhyReport(NamedTuple):
    """Why a gradient is what it is.

    `sentence` says it in words, `labels` point at the program, `lines` are those that caused it,
    the nearest cause first among the labels. `grad` is the requested gradient: of the
    whole tensor or of one `element`.
    """

    file: str
    device: str
    name: str
    element: tuple[int, ...] | None = None
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    grad: Nested | None = None
    grad_text: str | None = None
    verdict: str = ""
    sentence: str = ""
    labels: tuple[LabelFact, ...] = ()
    lines: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    trial: TrialFact | None = None
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
