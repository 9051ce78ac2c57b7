"""Live: large tensors as they were: not copied until they change."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any
from weakref import ref

from ..recording.facts import Spread
from ..recording.measures import address_of
from ..recording.numbers import beside_nan
from ..recording.snapshot import Summary

WHOLE = 4096  # elements of a tensor that is recorded with all its numbers
ROOM = 512 * 2**20  # bytes of larger tensors that are held as they are, until they are looked at
COPIED, COPIES = 2**20, 2**26  # elements of a copy, bytes of those that nobody prints in full
MOST = 10_000  # pieces of memory that they lie in


class Large:
    """A large tensor as it was: the tensor itself, until it is changed in place."""

    __slots__ = ("tensor", "version", "summary", "copy", "__weakref__")

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.version = tensor, version_of(tensor)
        self.summary: Any = None
        self.copy: Any = None

    def settle(self, largest: int = WHOLE) -> None:
        """Copies it or sums it up: its memory is about to change, or is asked back."""
        tensor, self.tensor = self.tensor, None
        if tensor is None:
            return
        if version_of(tensor) != self.version:
            self.summary = Summary(tuple(tensor.shape), None, dtype_word(tensor))
        elif tensor.numel() <= largest:
            self.copy = tensor.clone()
        else:
            self.summary = summary(tensor)

    def shrink(self) -> None:
        """Gives up the copy of what is told without its numbers."""
        self.restored()
        self.copy = None

    def restored(self) -> Any:
        """What a page shows of it: the tensor as it was, or a summary."""
        self.settle()
        copy = self.copy
        if copy is not None and copy.numel() <= WHOLE:
            return copy
        if self.summary is None:
            self.summary = summary(copy)
        return self.summary


class Larges:
    """Those that are held as they are."""

    def __init__(self, strided: Any) -> None:
        self.strided = strided  # the layout of those that have memory
        self.by_address: dict[int, list[ref[Large]]] = {}  # of their memory
        self.unsorted: list[ref[Large]] = []  # those not read since
        self.room: deque[tuple[int, ref[Large]]] = deque()
        self.bytes = self.copied = 0
        self.copies: deque[tuple[int, ref[Large]]] = deque()

    def hold(self, tensor: Any) -> Large:
        """It is kept as it is, until it changes or there is no room."""
        large = Large(tensor)
        known, size = ref(large), tensor.numel() * tensor.itemsize
        self.unsorted.append(known)
        self.room.append((size, known))
        self.bytes += size
        while self.bytes > ROOM:
            size, old = self.room.popleft()
            self.bytes -= size
            gone = old()
            if gone is not None:
                gone.settle()
        if len(self.unsorted) > MOST:
            self._sort()
        return large

    def _sort(self) -> None:
        """Most of what is held is gone before anything changes: its memory is read late."""
        fresh, self.unsorted = self.unsorted, []
        for known in fresh:
            large = known()
            if large is not None and large.tensor is not None:
                self.by_address.setdefault(address_of(large.tensor), []).append(known)
        if len(self.by_address) > MOST:
            alive = ((at, [one for one in held if one() is not None])
                     for at, held in self.by_address.items())  # fmt: skip
            self.by_address = {at: held for at, held in alive if held}

    def changing(self, tensor: Any) -> None:
        """Large tensors that were kept as they are, and share this memory, are summed up now."""
        if self.unsorted:
            self._sort()
        if self.by_address and tensor.layout is self.strided:
            for known in self.by_address.pop(address_of(tensor), ()):
                large = known()
                if large is not None:
                    self._copy(large, known)

    def _copy(self, large: Large, known: ref[Large]) -> None:
        """Of what is too large for a page the last copies are kept, for who computes with them."""
        large.settle(COPIED)
        if large.copy is not None and large.copy.numel() > WHOLE:
            self.copied += large.copy.nbytes
            self.copies.append((large.copy.nbytes, known))
        while self.copied > COPIES:
            size, known = self.copies.popleft()
            self.copied -= size
            if (old := known()) is not None:
                old.shrink()


class Piece:
    """A small tensor as it was, in memory that it shares with others."""

    __slots__ = ("whole", "end", "shape")

    def __init__(self, whole: Any, end: int, shape: Any) -> None:
        self.whole, self.end, self.shape = whole, end, shape

    def restored(self) -> Any:
        """What a page shows of it."""
        return self.whole[self.end - self.shape.numel() : self.end].reshape(self.shape)


def packed(tensors: Sequence[Any], flatten: Callable[[Sequence[Any]], Any]) -> Sequence[Any]:
    """Copies of small tensors in one piece of memory, where they are of one kind: that is made, and
    gone, sooner than many small pieces. Of a single one PyTorch's flattening is no copy."""
    kinds = {one.dtype for one in tensors}
    try:
        if len(tensors) > 1 and len(kinds) == 1 and tensors[0].is_floating_point():
            whole, ends = flatten(tensors), accumulate(one.numel() for one in tensors)
            return [Piece(whole, end, one.shape) for one, end in zip(tensors, ends, strict=True)]
    except RuntimeError:  # some are sparse, or on another device
        pass
    return [one.detach().clone() for one in tensors]


class Before:
    """Answers a tensor as it was in a pass, where it is a leaf that has changed since, or lies in
    the memory of one."""

    def __init__(self, leaves: Iterable[tuple[Any, Any, Any]]) -> None:
        self.held: dict[int, tuple[Any, Any]] = {}
        for leaf, known, _ in leaves:
            copy = known.copy if isinstance(known, Large) else known
            if isinstance(copy, type(leaf.data)) and copy.stride() == leaf.stride():
                self.held[leaf.untyped_storage().data_ptr()] = leaf, copy

    def __call__(self, tensor: Any) -> Any:
        if tensor.is_sparse:
            return tensor
        leaf, copy = self.held.get(tensor.untyped_storage().data_ptr(), (None, None))
        if leaf is None or tensor.dtype != copy.dtype:
            return tensor
        start = tensor.storage_offset() - leaf.storage_offset()
        try:
            return copy.as_strided(tensor.size(), tensor.stride(), start)
        except RuntimeError:  # it reaches beyond the leaf
            return tensor


def version_of(tensor: Any) -> int:
    try:
        return tensor._version
    except RuntimeError:  # made in inference mode
        return -1


def dtype_word(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def summary(tensor: Any) -> Summary:
    """Its shape, its least and its greatest number."""
    shape, dtype = tuple(tensor.shape), dtype_word(tensor)
    if tensor.dtype.is_complex:
        found = summary(tensor.abs()).range
        return Summary(shape, found and found._replace(mean=None, of="abs"), dtype)
    if not tensor.numel() or not tensor.dtype.is_floating_point:
        return Summary(shape, None, dtype)
    low, high = (float(end) for end in tensor.aminmax())
    if low != low:
        rest = tensor[tensor == tensor]
        return Summary(shape, beside_nan(*rest.aminmax()) if rest.numel() else beside_nan(), dtype)
    mean, norm = float(tensor.mean()), float(tensor.norm())
    return Summary(shape, Spread(low, high, mean, norm), dtype)
