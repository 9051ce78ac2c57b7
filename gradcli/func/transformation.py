"""Func: an active transformation, and the methods that its carriers get."""

from __future__ import annotations

from typing import Any

from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.mode import sequence_so_far, state
from . import batching, pushing
from .batched import Batched
from .captured import check_change, mark
from .carrier import CONDUCT, Conduct
from .dual import Dual
from .printing import carrier_text, dual_text, tracked_text
from .reverse import gradients_of_carriers

CONDUCT[Batched] = Conduct(batching.operate, batching.manufacture, carrier_text)
CONDUCT[Dual] = Conduct(pushing.operate, pushing.manufacture, dual_text)

RANDOM_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


class Level:
    """One open transformation; a context manager."""

    __slots__ = (
        "kind", "number", "samples", "randomness", "pairs", "arguments", "run", "start",
        "inference",
    )  # fmt: skip

    def __init__(self, kind: str, samples: int = 0, randomness: str = "") -> None:
        self.kind, self.samples, self.randomness = kind, samples, randomness
        self.number = self.run = 0
        self.start = sequence_so_far()  # what is made during it has a higher number
        self.pairs: list[tuple[Any, Any]] = []  # aliases, and what they stand for
        self.arguments: frozenset[int] = frozenset()  # the identities of tensors that were given

    def __enter__(self) -> Level:
        self.number = len(TRANSFORMS.stack) + 1
        TRANSFORMS.stack.append(self)
        TRANSFORMS.levels += 1
        TRANSFORMS.opened += 1
        self.run = TRANSFORMS.opened
        self.inference = state.inference
        if self.kind != "vmap":
            state.inference = False  # derivatives are recorded, whatever is around
        _refresh()
        return self

    def __exit__(self, *error: object) -> None:
        TRANSFORMS.stack.pop()
        TRANSFORMS.levels -= 1
        state.inference = self.inference
        _refresh()


def _refresh() -> None:
    """What the engine asks for while a transformation is open; random functions only where a vmap
    forbids them."""
    stack = TRANSFORMS.stack
    TRANSFORMS.forbid = _refuse if stack else None
    TRANSFORMS.gradients = gradients_of_carriers if TRANSFORMS.levels else None
    TRANSFORMS.text = tracked_text if any(level.kind == "grad" for level in stack) else None
    forbidden = any(level.randomness == "error" for level in stack if level.kind == "vmap")
    TRANSFORMS.draw = _forbid if forbidden else None
    tracked = any(level.kind != "vmap" for level in stack)
    TRANSFORMS.change = check_change if tracked else None
    state.go_inside(mark if tracked else None)


def _forbid() -> None:
    raise RuntimeError(RANDOM_ERROR)


def _refuse(what: str) -> None:
    """Inside a transformed function gradients are the transformation's business."""
    raise RuntimeError(REFUSED[what])


REFUSED = {
    "backward": (
        "backward() called inside a functorch transform. This is not supported, please use "
        "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
        "transforms."
    ),
    "requires_grad_": (
        "You are attempting to call Tensor.requires_grad_() (or perhaps using "
        "torch.autograd.functional.* APIs) inside of a function being transformed by a functorch "
        "transform. This is unsupported, please attempt to use the functorch transforms (e.g. "
        "grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
        "transformed instead."
    ),
}
