"""Recording: facts that the facts of all questions are made of."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...named import NamedTuple

Number: TypeAlias = "float | int | bool | complex"
Nested: TypeAlias = "Number | tuple[Nested, ...]"
Edge: TypeAlias = "tuple[int, int] | None"
FEW = 6  # numbers that are shown one by one


class Place(NamedTuple):
    """An expression of the program; `target` is the name that its value was assigned to.

    `statement` is true for `y += x` and its like, which name their target themselves; `plain` says
    that the text has TARGET = EXPRESSION, and not y: Tensor = EXPRESSION or y = (EXPRESSION).
    `parts` are the names of a, b = EXPRESSION.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    target: str = ""
    statement: bool = False
    plain: bool = True
    parts: tuple[str, ...] = ()

    def named(self, name: str) -> str:
        """NAME = EXPRESSION where the text has that, else NAME: EXPRESSION."""
        if self.statement or not name:
            return self.text
        bound = [part.partition("#")[0] for part in name.split(", ")]
        is_there = self.plain and bound == ([self.target] if self.target else [*self.parts])
        return f"{name} = {self.text}" if is_there else f"{name}: {self.text}"


class Elsewhere(NamedTuple):
    """An expression of another file, which one of the program has called."""

    file: str  # within the program's folder the way from there, else its name alone
    line: int
    source: str  # empty where Python did not keep where it ends
    is_library: bool
    target: str = ""  # of TARGET = SOURCE

    @property
    def words(self) -> str:
        return f"line {self.line} of {self.file}"

    @property
    def named(self) -> str:
        return f"{self.target} = {self.source}" if self.target else self.source

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Spread(NamedTuple):
    """What sums up several numbers; mean and norm only of many. Where there is a NaN, these two are
    NaN, and the ends those of the other numbers. Complex numbers have no order: the ends are those
    of their magnitudes. Of truth values the mean says which part of them is True."""

    low: float
    high: float
    mean: float | None = None
    norm: float | None = None
    of: Literal["", "abs", "bool"] = ""

    @property
    def has_nan(self) -> bool:
        return self.norm is not None and self.norm != self.norm


class TensorFact(NamedTuple):
    """A tensor that a global name holds when the program ends.

    `value` and `grad` are the numbers, `text` and `grad_text` what PyTorch prints for them
    (of the values alone), the ranges their least and greatest number where there are several.
    What was not requested is None.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool
    grad_fn: str | None
    node: int | None
    output_nr: int
    line: int | None
    value: Nested | None = None
    grad: Nested | None = None
    has_grad: bool = False
    text: str | None = None
    grad_text: str | None = None
    range: Spread | None = None
    grad_range: Spread | None = None
    kind: str = "tensor"  # "leaf": no global name holds it; of a module: "parameter", "buffer"
    why_not: str = ""  # why it does not require grad, where that is known
    passing: bool = False  # the name is a loop's: it held other tensors before
    first: int | None = None  # the place of the first name of the same tensor, among all
    layout: str = "strided"


class EventFact(NamedTuple):
    """A hook that ran: the gradient that it was given and the one that went on (None: the same).

    `kind` is what it is registered on: "tensor", "node pre", "node", "post accumulate",
    "module pre", "module". `line` is where it was registered, `backward` the call that ran it.
    """

    name: str
    hook: str
    before: str
    after: str | None
    kind: str = "tensor"
    line: int | None = None
    backward: int | None = None


class LabelFact(NamedTuple):
    """A remark on a piece of the program that has to do with its error."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    primary: bool


class ErrorFact(NamedTuple):
    """How the program failed."""

    type: str
    message: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    labels: tuple[LabelFact, ...] = ()
    notes: tuple[str, ...] = ()


class ShownPass(NamedTuple):
    """The backward pass that is told about: its number of how many (0 if that is not known), and
    the call that ran it."""

    number: int
    of: int
    line: int | None = None
    source: str = ""
    failed: bool = False
    ended: bool = False  # told is not what it did, but what there was when it had ended


def grad_name(name: str, element: tuple[int, ...] | None) -> str:
    """x.grad, or x.grad[0, 1] where an element is asked for."""
    return f"{name}.grad{'' if element is None else list(element)}"
