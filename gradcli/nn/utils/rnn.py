"""Library: torch.nn.utils.rnn: sequences of several lengths, padded or packed."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from ...engine.schema.dtypes import int64
from ...engine.schema.mode import state
from ...engine.tensors.construct import as_tensor
from ...engine.tensors.tensor import Tensor
from ...operators import catalogue

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


def _run(name: str, *arguments: Any, **options: Any) -> Any:
    return catalogue.functions[name](*arguments, **options)


def invert_permutation(permutation: Any) -> Any:
    """Where each place went."""
    if permutation is None:
        return None
    places = _run("arange", permutation.numel(), device=permutation.device)
    return _run("empty_like", permutation).scatter_(0, permutation, places)


class PackedSequence(tuple[Any, ...]):
    """The steps of several sequences one after another, and how many sequences have each."""

    __slots__ = ()
    _torch_name = "torch.nn.utils.rnn.PackedSequence"
    _fields = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
    PUBLIC = (
        *_fields, "to", "cpu", "cuda", "double", "float", "half", "long", "int", "short", "char",
        "byte", "pin_memory", "is_cuda", "is_pinned",
    )  # fmt: skip

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Any:  # fmt: skip
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence "
                "and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, (data, batch_sizes, sorted_indices, unsorted_indices))

    data = property(itemgetter(0))
    batch_sizes = property(itemgetter(1))
    sorted_indices = property(itemgetter(2))
    unsorted_indices = property(itemgetter(3))

    def with_data(self, data: Any) -> PackedSequence:
        return PackedSequence(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self.with_data(data)

    def cpu(self) -> PackedSequence:
        return self.to("cpu")

    def cuda(self, *args: Any) -> PackedSequence:
        return self.to(*(args or ("cuda",)))

    def double(self) -> PackedSequence:
        return self.with_data(self.data.double())

    def float(self) -> PackedSequence:
        return self.with_data(self.data.float())

    def half(self) -> PackedSequence:
        return self.with_data(self.data.half())

    def long(self) -> PackedSequence:
        return self.with_data(self.data.long())

    def int(self) -> PackedSequence:
        return self.with_data(self.data.int())

    def short(self) -> PackedSequence:
        return self.with_data(self.data.short())

    def char(self) -> PackedSequence:
        return self.with_data(self.data.char())

    def byte(self) -> PackedSequence:
        return self.with_data(self.data.byte())

    def pin_memory(self) -> PackedSequence:
        return self

    @property
    def is_cuda(self) -> bool:
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        return False

    def __repr__(self) -> str:
        parts = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"PackedSequence({', '.join(parts)})"


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    lengths = as_tensor(lengths, dtype=int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    on_device = lengths.to(input.device)
    data, batch_sizes = _run("_pack_padded_sequence", input, on_device, batch_first)
    return PackedSequence(data, batch_sizes.cpu(), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    if not isinstance(sequence, PackedSequence):
        kind = type(sequence).__name__
        raise AttributeError(f"'{kind}' object has no attribute 'batch_sizes'")
    longest = sequence.batch_sizes.shape[0]
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {longest}"
        )
    padded, lengths = _run(
        "_pad_packed_sequence", sequence.data, sequence.batch_sizes, batch_first, padding_value,
        -1 if total_length is None else total_length,
    )  # fmt: skip
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:  # fmt: skip
    given = list(sequences) if isinstance(sequences, Tensor) else state.taken(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    first, longest = given[0], max(value.shape[0] for value in given)
    size = (len(given), longest) if batch_first else (longest, len(given))
    like = {"dtype": first.dtype, "device": first.device}
    padded = _run("full", (*size, *first.shape[1:]), padding_value, **like)
    for place, value in enumerate(given):
        start = 0 if padding_side == "right" else longest - value.shape[0]
        row = padded.select(0 if batch_first else 1, place)
        row.narrow(0, start, value.shape[0]).copy_(value)
    return padded


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = _run("arange", padded_sequences.shape[1], device=lengths.device)
    rows = zip(padded_sequences, lengths, strict=False)
    return [sequence[places < length] for sequence, length in rows]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    given = state.taken(sequences)
    lengths = [value.shape[0] for value in given]
    return pack_padded_sequence(pad_sequence(given), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
