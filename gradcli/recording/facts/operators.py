"""Recording: facts of the catalogue: operators, their overloads, derivatives, examples."""

from __future__ import annotations

from typing import NamedTuple


class DerivativeFact(NamedTuple):
    """The gradient of some arguments; `formula` is empty where the text does not show it."""

    inputs: tuple[str, ...]
    formula: str


class ExampleFact(NamedTuple):
    """A program that calls the overload, and what it prints."""

    program: str
    output: str


class EdgeFact(NamedTuple):
    """What a call at a tie, at a zero, at a bound gives, and the gradient of each operand."""

    call: str
    result: str
    gradients: tuple[str, ...]


class ConductFact(NamedTuple):
    """What runs of the samples show.

    `types`: for the type of the operands the type of the result, empty where it is refused.
    `memory`: "new", "view", "self", "written", or several of them. `orders`: "first and second"
    and the like. `parts`: (operator, node) that a composed operator ran, in order.
    """

    types: tuple[tuple[str, str], ...] = ()
    memory: tuple[str, ...] = ()
    orders: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    requires_grad: bool = True


class OverloadFact(NamedTuple):
    """One declaration. `kind`: operator (makes a node), composed (of others), creation, arrays."""

    key: str
    signature: str
    kind: str
    doc: str
    grad_fn: str
    saved: tuple[str, ...]
    inplace: str
    inplace_grad_fn: str
    view: bool
    arguments: tuple[str, ...]  # those with a derivative
    samples: tuple[str, ...]
    promotes: bool = False  # several operands meet in one type and shape
    derivatives: tuple[DerivativeFact, ...] = ()
    example: ExampleFact | None = None
    computes: str = ""  # what it computes as a formula of simpler operators
    conduct: ConductFact = ConductFact()
    edges: tuple[EdgeFact, ...] = ()

    @property
    def made_of(self) -> tuple[str, ...]:
        """The nodes that a composed operator makes in its example."""
        return tuple(node for _, node in self.conduct.parts) if self.kind == "composed" else ()


class OperatorFact(NamedTuple):
    """What one name stands for. `calls` are the ways to write it: torch.sin, Tensor.sin."""

    name: str
    face: str
    calls: tuple[str, ...]
    overloads: tuple[OverloadFact, ...]
    group: str = ""  # the folder of its declaration: elementwise, reduce, linalg

    @property
    def doc(self) -> str:
        return self.overloads[0].doc

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes, each once."""
        return tuple(dict.fromkeys(o.grad_fn for o in self.overloads if o.grad_fn))

    @property
    def inplace(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(o.inplace for o in self.overloads if o.inplace))


class CatalogueFact(NamedTuple):
    """The requested operators. `detailed`: with derivatives and examples."""

    operators: tuple[OperatorFact, ...]
    detailed: bool
    asked: tuple[str, ...] = ()
