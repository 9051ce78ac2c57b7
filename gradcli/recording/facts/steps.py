"""Recording: the facts of `gradcli step`: backward passes, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...named import NamedTuple
from .basic import Elsewhere, ErrorFact, EventFact, Nested, Place, Spread, TensorFact


class ValueFact(NamedTuple):
    """A gradient or a derivative. `text` is what PyTorch prints, `value` the numbers; both are
    None where it was too large to be kept."""

    shape: tuple[int, ...]
    dtype: str
    text: str | None = None
    value: Nested | None = None
    range: Spread | None = None

    @property
    def is_number(self) -> bool:
        """One number, without dimensions."""
        return self.shape == ()


class PartFact(NamedTuple):
    """A gradient that was handed to a node: by which step (0: the pass began with it)."""

    step: int
    value: ValueFact


class LocalFact(NamedTuple):
    """The local derivative of a node with respect to one input; `text` is what the program calls
    it, such as the other factor of a product.

    The kinds: "number"; "row", all derivatives of a single number; "elementwise", of each element
    with respect to the element at its place (`words` say how it is summed where it was
    broadcast); "structure", where only `words` say what the vector-Jacobian product does.
    """

    kind: str
    value: ValueFact | None = None
    words: str = ""
    text: str = ""


class EdgeFact(NamedTuple):
    """What a node did for one of its inputs.

    `then` is "handed on" (it goes to step `step`), "stored" (in the `.grad` of a leaf, at that
    step), "waits" (more has to come for that leaf; `step` then stores the sum), "kept back" (no
    input that was requested lies behind), "nothing" (no gradient was computed, or the pass stopped
    before it arrived), "constant" (the input does not require grad).
    """

    name: str
    node_name: str
    local: LocalFact | None
    product: ValueFact | None
    then: str
    step: int | None = None
    is_leaf: bool = False
    place: int = 0  # among the inputs of the node


class StepFact(NamedTuple):
    """One node of a pass.

    `grads` are the incoming gradients, one for each output, None where none came; `parts` what
    each is the sum of; `used` are the gradients after the hooks, where these changed something.
    `outcome` is "ran", "stored" (a leaf's .grad was added to), "captured" (autograd.grad answers
    it), "reached" (nothing behind it was requested), "no gradient", "failed", "frozen" (a leaf
    that no longer requires grad) or "skipped" (another one into whose .grad nothing went).
    `is_derived` tells a node that a pass with create_graph made; `outputs` are what the results of
    one with several are called.
    """

    number: int
    name: str
    node_name: str
    is_leaf: bool
    place: Place | None
    line: int | None
    grads: tuple[ValueFact | None, ...]
    parts: tuple[Sequence[PartFact], ...]
    used: tuple[ValueFact | None, ...] | None
    edges: tuple[EdgeFact, ...]
    hooks: tuple[EventFact, ...]
    outcome: str
    before: ValueFact | None = None
    after: ValueFact | None = None
    retained: bool = False
    freed: tuple[str, ...] = ()
    is_derived: bool = False
    id: int | None = None  # of the node, in `gradcli trace` of the same pass
    outputs: tuple[str, ...] = ()
    elsewhere: Elsewhere | None = None


class RootFact(NamedTuple):
    """What a pass began with: a tensor and the gradient for it; `is_one`: the number 1."""

    name: str
    value: ValueFact
    is_one: bool = True
    symbol: str = "v"


class WalkFact(NamedTuple):
    """One pass. `kinds` has equal numbers for steps that look alike (no JSON tells them); the facts
    of the steps are made when they are read."""

    number: int
    line: int | None
    text: str
    is_grad: bool
    retained: bool
    created: bool
    failed: bool
    roots: tuple[RootFact, ...]
    kinds: Sequence[int]
    steps: Sequence[StepFact]
    names: Sequence[str]
    node_names: Sequence[str]
    bytes: int = 0
    freed: int = 0
    same_as: int | None = None  # an earlier pass that ran the same nodes in the same order
    ids: tuple[int | None, ...] = ()  # of the steps' nodes
    others: Mapping[str, int] = {}  # names at the end, and the places of what made their tensors

    def places(self) -> dict[int, int]:
        """Where the step of each node stands among the steps."""
        return {number: place for place, number in enumerate(self.ids) if number is not None}


class StepsReport(NamedTuple):
    """What `gradcli step` answers."""

    file: str
    device: str
    of: TensorFact | None = None
    walks: tuple[WalkFact, ...] = ()
    passes: int = 0
    output: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorFact | None = None
