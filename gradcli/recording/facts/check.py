"""Recording: the facts of `gradcli check`: what passed, what failed, and where."""

from __future__ import annotations

from ...named import NamedTuple
from .basic import ErrorFact

Element = tuple[int, ...]


class EdgeCheck(NamedTuple):
    """One operation whose own derivative does not agree with difference quotients.

    `analytic` is what the operation hands back for this element, `numeric` the quotient.
    """

    node: str
    argument: str
    element: Element
    analytic: float
    numeric: float
    cause: str
    text: str
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None


class LeafCheck(NamedTuple):
    """The gradient of one result with respect to one leaf, against difference quotients.

    `status` is equal, different, kink (there is no derivative), float32 (the program's own
    precision loses the gradient), unclear (no step size gives a quotient to rely on) or undefined
    (both are NaN). `elements` of `total` were perturbed one by one, all together along
    `directions`. What follows is about the element with the largest difference. `words` tell of
    the whole gradient: nan, inf, zero; a result of several numbers is `weighted`, and the gradient
    is that of the weighted sum. `by` says how the slopes were found: complex step or differences.
    """

    result: str
    result_line: int | None
    leaf: str
    line: int | None
    shape: tuple[int, ...]
    dtype: str
    status: str
    elements: int
    total: int
    directions: int
    element: Element | None
    analytic: float | None
    numeric: float | None
    cause: str
    edges: tuple[EdgeCheck, ...] = ()
    words: tuple[str, ...] = ()
    weighted: bool = False
    by: str = "differences"


class Problem(NamedTuple):
    """Something that does not hold: what kind, one line of words, lines that show it, a place.

    `kind` is assert, expect, output, record, gradient, kink, nan, inf, none, zero, stale, repeat,
    against, or error. `label` is said of the place.
    """

    kind: str
    message: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    shown: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    label: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All that is said of it, for formats that draw no place."""
        label = (self.label,) if self.label else ()
        return (self.message, *label, *self.shown, *self.advice)


class FileCheck(NamedTuple):
    """One program. `status` is passed, failed, error or limit; `exit_code` what it alone would be.

    `asserts` counts the assert statements of the program, `expectations` the `# expect:` comments;
    `recorded` says how the recorded answer compares: equal, different, missing, written or
    unchanged (by --update); `change` shows what was written, before and after. `kinks` are the
    operations that have no derivative where they stand.
    """

    file: str
    status: str
    exit_code: int
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    leaves: tuple[LeafCheck, ...] = ()
    recorded: str = "missing"
    recorded_file: str | None = None
    asserts: int = 0
    against: str | None = None
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
    text: str = ""  # of the program, for its lines to be shown
    seconds: float = 0.0  # by the clock
    expectations: int = 0
    change: tuple[str, ...] = ()
    kinks: tuple[EdgeCheck, ...] = ()

    @property
    def is_checked(self) -> bool:
        """Whether anything in it could have failed: a record, a gradient, an assert, an error."""
        return bool(
            self.problems or self.leaves or self.asserts or self.expectations
            or self.recorded != "missing"
            or self.against is not None or self.error is not None
        )  # fmt: skip


class CheckReport(NamedTuple):
    """What `gradcli check` answers."""

    device: str
    files: tuple[FileCheck, ...]
    exit_code: int
