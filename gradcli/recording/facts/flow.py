"""Recording: what `gradcli flow` answers: the passes of a run, its leaves, and verdicts."""

from __future__ import annotations

from typing import NamedTuple

from .basic import ErrorFact


class FlowPass(NamedTuple):
    """One backward pass.

    `kind` is "backward" or "grad", `loss` the root where it is a single number, `norm` that of all
    gradients that came to leaves, `largest` whose gradient was the largest, `changed` which leaf
    changed most before the next pass, measured against itself.
    """

    number: int
    line: int | None
    kind: str
    root: str
    loss: float | None
    norm: float
    largest: str | None = None
    largest_norm: float | None = None
    changed: str | None = None
    change: float | None = None
    failed: bool = False


class FlowLeaf(NamedTuple):
    """One leaf over all passes.

    `curve` holds the largest norms of groups of passes, `first` and `last` the norms of the first
    and the last one; `zeros` is the share of elements of all gradients that were 0, `bad` how many
    gradients had a NaN or an infinity, `unchanged` the share of its own elements that are as they
    were. `update` is the mean of norm(change) / norm(value) over `updates`; None: unknown.
    """

    name: str
    line: int | None
    shape: tuple[int, ...]
    optimised: bool
    passes: int = 0
    first: float | None = None
    last: float | None = None
    largest: float | None = None
    curve: tuple[float, ...] = ()
    zeros: float | None = None
    bad: int = 0
    first_bad: int | None = None
    unchanged: float | None = None
    updates: int | None = None
    update: float | None = None
    verdicts: tuple[str, ...] = ()


class FlowGradient(NamedTuple):
    """What came to one leaf in the requested pass; `change` as in a FlowPass: None with
    `changed` where it was 0 before, so that there is no ratio."""

    name: str
    line: int | None
    shape: tuple[int, ...]
    norm: float
    largest: float
    zeros: float
    bad: int
    weight: float
    change: float | None = None
    changed: bool = False


class VerdictFact(NamedTuple):
    """Something that is wrong with these leaves, or at a place of the program, in words, with the
    lines that it is about, and what to do where no command says more."""

    verdict: str
    names: tuple[str, ...]
    sentence: str
    lines: tuple[int, ...]
    help: str | None = None


class FlowReport(NamedTuple):
    """All of it. Of very many passes the first and the last are kept; `total` counts all."""

    file: str
    device: str
    total: int = 0
    passes: tuple[FlowPass, ...] = ()
    leaves: tuple[FlowLeaf, ...] = ()
    others: int = 0  # leaves that are not listed: too many, or gone without a name
    verdicts: tuple[VerdictFact, ...] = ()
    one: FlowPass | None = None
    gradients: tuple[FlowGradient, ...] = ()
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
