"""Recording: the facts of `gradcli paths`: chain-rule paths, their derivatives, their sum."""

from __future__ import annotations

from ...named import NamedTuple
from .basic import ErrorFact, Nested, ShownPass
from .seeds import SeedFact


class StepFact(NamedTuple):
    """One edge of a path.

    `derivative` is the local derivative where both ends are single numbers, None where its value
    is not known (an input has none) or where it is a matrix. Then `structure` says what kind of
    matrix, `shape` how large it is, `passed` what leaves the edge towards the leaf, and `jacobian`
    has all its numbers where they were requested.
    """

    derivative: float | None
    known: bool = True
    structure: str = ""
    shape: tuple[int, int] | None = None
    passed: Nested | None = None
    passed_text: str = ""
    jacobian: Nested | None = None
    jacobian_text: str = ""


class PathFact(NamedTuple):
    """One path from the result down: n names, n - 1 steps, what they multiply to."""

    names: tuple[str, ...]
    steps: tuple[StepFact, ...]
    product: Nested | None
    share: float | None
    against: bool = False  # it works against the sum of all


class FormulaFact(NamedTuple):
    """The gradient as a formula in the names of the program.

    `lines` bind what the formula needs and no name holds at the end of the program, `text` is the
    formula itself and `latex` the same for a page; `numbers` has the names' values put in. `steps`
    are the formulas of local derivatives: (from, to, formula, the same for a page). `aliases` say
    which of the tensors of one name a name means here: ("y", "y#3").
    """

    text: str
    lines: tuple[tuple[str, str], ...] = ()
    numbers: str = ""
    latex: str = ""
    latex_lines: tuple[tuple[str, str], ...] = ()
    latex_numbers: str = ""
    steps: tuple[tuple[str, str, str, str], ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def program(self) -> str:
        """What computes the gradient when it is appended to the program."""
        return "\n".join([*(f"{name} = {value}" for name, value in self.lines), self.text])


class PathsReport(NamedTuple):
    """What `gradcli paths` answers: one result, one name, every way between them.

    `single` is true where everything on the way is one number. `element` is the index of the one
    element of the requested Jacobian.
    """

    file: str
    device: str
    of: str = ""
    wrt: str = ""
    of_shape: tuple[int, ...] = ()
    wrt_shape: tuple[int, ...] = ()
    dtype: str = "float32"
    by_edges: bool = False
    single: bool = True
    jacobian: bool = False
    element: tuple[int, ...] | None = None
    path_count: int = 0
    edge_count: int = 0
    paths: tuple[PathFact, ...] = ()
    by_estimate: bool = False
    sum: Nested | None = None
    sum_text: str = ""
    reverse: Nested | None = None
    reverse_text: str = ""
    equal: bool | None = None
    hooked: tuple[str, ...] = ()
    formula: FormulaFact | None = None
    no_formula: str = ""
    symbolic: bool = False  # formulas were requested
    page_names: tuple[tuple[str, str], ...] = ()  # names, and how a page of LaTeX has them
    others: tuple[str, ...] = ()  # tensors of the same name that could have been meant
    reason: str = ""
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
    missing: tuple[str, ...] = ()
    seeds: tuple[SeedFact, ...] = ()  # what the gradient begins with, at each root
    shown: ShownPass | None = None  # the pass whose paths they are, or behind which they were
