"""Utils: torch.utils.data: samplers: the indices of examples, in an order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.schema.dtypes import float64, int64
from ...engine.schema.mode import state
from ...numerics.random import Generator
from ...operators import catalogue
from .extensible import Extensible


def permutation(count: int, generator: Any) -> list[int]:
    drawn = catalogue.functions["randperm"](count, generator=generator)
    return drawn.tolist()


def seed(generator: Any = None) -> int:
    empty = catalogue.functions["empty"]((), dtype=int64)
    return int(empty.random_(generator=generator).item())


_SWITCH = "{0} should be a boolean value, but got {0}={1}"


def _check_count(count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(
            f"num_samples should be a positive integer value, but got num_samples={count}"
        )


class Sampler(Extensible):
    """The indices of examples, in an order."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


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
        if not isinstance(replacement, bool):
            raise TypeError(_SWITCH.format("replacement", replacement))
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples
        _check_count(self.num_samples)

    def __iter__(self) -> Iterator[int]:
        count, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator().manual_seed(seed())
        if not self.replacement:
            for _ in range(self.num_samples // count):
                yield from permutation(count, generator)
            yield from permutation(count, generator)[: self.num_samples % count]
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
        for place in permutation(len(self.indices), self.generator):
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    PUBLIC = ("weights", "num_samples", "replacement", "generator")

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        from ...engine.tensors.construct import as_tensor

        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(_SWITCH.format("replacement", replacement))
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
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
        if not isinstance(drop_last, bool):
            raise ValueError(_SWITCH.format("drop_last", drop_last))
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
