"""Recording: the facts of `gradcli trace --views`: shared memory and in-place changes."""

from __future__ import annotations

from ...named import NamedTuple


class ViewFact(NamedTuple):
    """A tensor with a name: where it lies in its memory, in elements. `base` is the tensor that it
    is a view of, empty where it is none; tensors with the same number `memory` share it."""

    name: str
    others: tuple[str, ...]  # names of the same tensor
    shape: tuple[int, ...]
    base: str
    offset: int
    strides: tuple[int, ...]
    version: int | None  # None in inference mode, which counts none
    memory: int


class WriteFact(NamedTuple):
    """A change in place: of which tensor, by which expression; the versions before and after it,
    None where its version does not count it: x.data.add_(1). `seen` are the other names whose
    memory it changed."""

    name: str
    line: int | None
    source: str
    before: int | None
    after: int | None
    seen: tuple[str, ...] = ()


class ViewsFact(NamedTuple):
    """All of it; of very many changes the first ones, `changes` in all. `nameless` are those of
    tensors that no name leads to, such as an optimizer's."""

    views: tuple[ViewFact, ...] = ()
    writes: tuple[WriteFact, ...] = ()
    changes: int = 0
    nameless: int = 0

    def shared(self) -> tuple[ViewFact, ...]:
        """Those that are views, share memory, or were changed."""
        count: dict[int, int] = {}
        for fact in self.views:
            count[fact.memory] = count.get(fact.memory, 0) + 1
        return tuple(
            fact for fact in self.views if fact.base or fact.version or count[fact.memory] > 1
        )
