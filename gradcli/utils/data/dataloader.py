"""Utils: torch.utils.data: loaders: batches of a data set, in the order of a sampler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...engine.schema.class_name import NamedInTorch
from ...engine.schema.mode import state
from ...engine.schema.settable import Takes
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, seed


class Fixed:
    """An attribute that is set once, when the loader is made."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, loader: Any, owner: type) -> Any:
        return self if loader is None else loader.__dict__[self.name]

    def __set__(self, loader: Any, value: Any) -> None:
        if self.name in loader.__dict__:
            raise ValueError(
                f"{self.name} attribute should not be set after {type(loader).__name__} is "
                "initialized"
            )
        loader.__dict__[self.name] = value


def get_worker_info() -> None:
    """None: there are no worker processes."""


class DataLoader(metaclass=NamedInTorch):
    """Batches of a data set; read in this process, whatever number of workers is requested."""

    PUBLIC = (
        "dataset", "batch_size", "drop_last", "sampler", "batch_sampler", "generator",
        "collate_fn", "num_workers", "pin_memory", "timeout", "prefetch_factor",
        "persistent_workers",
    )  # fmt: skip
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    EXTENSIBLE = True
    _torch_home = "torch.utils.data.dataloader."
    dataset, batch_size, drop_last = Fixed(), Fixed(), Fixed()
    sampler, batch_sampler, persistent_workers = Fixed(), Fixed(), Fixed()

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Any = None, *,
        prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        self.dataset, self.generator = dataset, generator
        self._set_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.pin_memory = pin_memory
        self._is_iterable = isinstance(dataset, IterableDataset)
        if self._is_iterable:
            _check_unspecified(
                shuffle=shuffle or None, sampler=sampler, batch_sampler=batch_sampler
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
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None and not self._is_iterable:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn = collate_fn or (
            default_convert if batch_sampler is None else default_collate
        )

    def _set_workers(
        self, count: int, timeout: float, prefetch_factor: int | None, persistent: bool
    ) -> None:
        if count < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable "
                "multiprocessing."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if count == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to "
                "None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent and count == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.num_workers, self.timeout, self.persistent_workers = count, timeout, persistent
        self.prefetch_factor = 2 if count and prefetch_factor is None else prefetch_factor

    def __iter__(self) -> Iterator[Any]:
        seed(self.generator)  # PyTorch draws one for workers, with or without them
        if self._is_iterable:
            return map(self.collate_fn, self._examples(iter(self.dataset)))
        numbers = self.sampler if self.batch_sampler is None else self.batch_sampler
        return map(self._read, iter(numbers))

    def _examples(self, examples: Iterator[Any]) -> Iterator[Any]:
        """The examples of an iterable data set, or lists of them."""
        if self.batch_size is None:
            yield from examples
            return
        while batch := state.taken(itertools.islice(examples, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def _read(self, numbers: Any) -> Any:
        if self.batch_sampler is None:
            return self.collate_fn(self.dataset[numbers])
        return self.collate_fn([self.dataset[number] for number in numbers])

    def __len__(self) -> int:
        if not self._is_iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_unspecified(**options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
