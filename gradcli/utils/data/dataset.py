"""Utils: torch.utils.data: data sets, indexed and iterable, and parts of them."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...engine.schema.mode import state
from ...numerics.random import default_generator
from .extensible import Extensible
from .sampler import permutation


class Dataset(Extensible):
    """Examples by index."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class TensorDataset(Dataset):
    """Rows of tensors that belong together."""

    PUBLIC = ("tensors",)

    def __init__(self, *tensors: Any) -> None:
        if any(tensors[0].shape[0] != tensor.shape[0] for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> Any:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset):
    """Examples of several data sets side by side: tuples, or dictionaries by keyword."""

    PUBLIC = ("datasets",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        parts = args or tuple(kwargs.values())
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __len__(self) -> int:
        return self._length


class Subset(Dataset):
    PUBLIC = ("dataset", "indices")

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    PUBLIC = ("datasets", "cumulative_sizes")

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = state.taken(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(len(part) for part in self.datasets))

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        for part in self.datasets:
            if index < len(part):
                return part[index]
            index -= len(part)
        raise IndexError("list index out of range")

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class IterableDataset(Dataset):
    """Examples in the order in which they come."""

    def __add__(self, other: Dataset) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...


class ChainDataset(IterableDataset):
    """Iterable data sets, one after the other."""

    PUBLIC = ("datasets",)

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from part

    def __len__(self) -> int:
        total = 0
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            total += len(part)  # type: ignore[arg-type]
        return total


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Any = default_generator
) -> list[Subset]:
    """Parts of a data set, of given lengths or shares, examples drawn at random."""
    total, lengths = len(dataset), state.taken(lengths)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for place, share in enumerate(lengths):
            if not 0 <= share <= 1:
                raise ValueError(f"Fraction at index {place} is not between 0 and 1")
        counts = [math.floor(total * share) for share in lengths]
        for place in range(total - sum(counts)):
            counts[place % len(counts)] += 1
        for place, count in enumerate(counts):
            if count == 0:
                state.warn(
                    f"Length of split at index {place} is 0. This might result in an empty dataset."
                )
        lengths = counts
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order, start, parts = permutation(total, generator), 0, []
    for length in lengths:
        parts.append(Subset(dataset, order[start : start + int(length)]))
        start += int(length)
    return parts
