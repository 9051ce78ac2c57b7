"""Utils: torch.utils.data: data sets, samplers, loaders, batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..engine.class_name import NamedInTorch
from ..engine.dtypes import float64, int64
from ..engine.mode import state
from ..engine.numpy_wrappers import WrappedNumber
from ..engine.settable import Takes
from ..engine.tensor import Tensor
from ..numerics.random import Generator, default_generator
from ..operators import catalogue


def _permutation(count: int, generator: Any) -> list[int]:
    drawn = catalogue.functions["randperm"](count, generator=generator)
    return drawn.tolist()  # type: ignore[no-any-return]


def _seed(generator: Any = None) -> int:
    empty = catalogue.functions["empty"]((), dtype=int64)
    return int(empty.random_(generator=generator).item())


class _Extensible(metaclass=NamedInTorch):
    """What a program's own classes may build on."""

    EXTENSIBLE = True
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    PUBLIC: tuple[str, ...] = ("__len__", "__getitem__", "__iter__")

    def __init__(self) -> None:
        """Nothing to keep; programs call it all the same."""


class Dataset(_Extensible):
    """Examples by their number."""

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
    order, start, parts = _permutation(total, generator), 0, []
    for length in lengths:
        parts.append(Subset(dataset, order[start : start + int(length)]))
        start += int(length)
    return parts


# ---- the order of reading


class Sampler(_Extensible):
    """The numbers of examples, in an order."""


class SequentialSampler(Sampler):
    PUBLIC = ("data_source",)

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    PUBLIC = ("data_source", "replacement", "num_samples", "generator")

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None,
        generator: Any = None,
    ) -> None:  # fmt: skip
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples
        if not isinstance(self.num_samples, int) or self.num_samples < 0:
            raise ValueError(
                "num_samples should be a non-negative integer value, but got "
                f"num_samples={self.num_samples}"
            )

    def __iter__(self) -> Iterator[int]:
        count, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator().manual_seed(_seed())
        if not self.replacement:
            for _ in range(self.num_samples // count):
                yield from _permutation(count, generator)
            yield from _permutation(count, generator)[: self.num_samples % count]
            return
        draw = catalogue.functions["randint"]
        for start in range(0, self.num_samples + 1, 32):
            size = min(32, self.num_samples - start)
            yield from draw(count, (size,), generator=generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    PUBLIC = ("indices", "generator")

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for place in _permutation(len(self.indices), self.generator):
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    PUBLIC = ("weights", "num_samples", "replacement", "generator")

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        from ..engine.construct import tensor

        given = weights.tolist() if isinstance(weights, Tensor) else state.taken(weights)  # type: ignore[attr-defined]
        self.weights = tensor(given, dtype=float64)
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        draw = catalogue.functions["multinomial"]
        drawn = draw(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    PUBLIC = ("sampler", "batch_size", "drop_last")

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := state.taken(itertools.islice(numbers, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


# ---- batches


def default_collate(batch: Any) -> Any:
    """A list of examples as one of their kind: tensors stacked, numbers as a tensor."""
    from ..engine.construct import as_tensor, is_array, tensor

    first = batch[0]
    if is_array(first):
        return default_collate([as_tensor(item) for item in batch])
    if isinstance(first, WrappedNumber):
        return as_tensor(list(batch))
    if isinstance(first, Tensor):
        return catalogue.functions["stack"](list(batch), 0)
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if isinstance(first, tuple | list):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(column) for column in zip(*batch, strict=True)]
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}"
    )


def _one(example: Any) -> Any:
    from ..engine.construct import as_tensor, is_array, tensor

    if is_array(example) or isinstance(example, WrappedNumber):
        return as_tensor(example)
    return tensor(example) if isinstance(example, int | float) else example


class DataLoader(metaclass=NamedInTorch):
    """Batches of a data set; read in this process, whatever number of workers is requested."""

    PUBLIC = (
        "dataset", "batch_size", "drop_last", "sampler", "batch_sampler", "generator",
        "collate_fn", "num_workers",
    )  # fmt: skip
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    home = "torch.utils.data.dataloader."

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: Any = None, **others: Any,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable "
                "multiprocessing."
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
        self.dataset, self.generator, self.num_workers = dataset, generator, num_workers
        if sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        if collate_fn is None:
            collate_fn = _one if batch_sampler is None else default_collate
        self.collate_fn = collate_fn

    def __iter__(self) -> Iterator[Any]:
        numbers = self.sampler if self.batch_sampler is None else self.batch_sampler
        _seed(self.generator)  # PyTorch draws one for workers, with or without them
        return map(self._read, iter(numbers))

    def _read(self, numbers: Any) -> Any:
        if self.batch_sampler is None:
            return self.collate_fn(self.dataset[numbers])
        return self.collate_fn([self.dataset[number] for number in numbers])

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
