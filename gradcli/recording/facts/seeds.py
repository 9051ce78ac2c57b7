"""Recording: facts about the gradients that a backward pass starts with."""

from __future__ import annotations

from ...named import NamedTuple
from .basic import Nested, Spread


class SeedFact(NamedTuple):
    """The gradient that a pass begins with at one root: the v of a vector-Jacobian product.

    `name` is the root's, `shape` that of both. `is_one` says that it is the single number 1, with
    which `y.backward()` begins. A large one has no text and no value, only a range. `symbol` is
    what pages call it, where it is not 1: no name of the program.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    text: str
    range: Spread | None
    value: Nested | None
    is_one: bool
    symbol: str = "v"
