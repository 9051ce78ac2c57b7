"""Operators: sequences of several lengths, packed step by step, and padded again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import Late
from ..shape.constants import zeros_of
from ..shape.join import cat, stack
from ..shape.select import slice_

transpose = Late("transpose.int")


def _check(input: Any, lengths: Any, batch_first: bool) -> None:
    if lengths.ndim != 1 or lengths.dtype.name != "int64":
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D "
            f"{lengths.device} {lengths.dtype.word} tensor"
        )
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    given, count = lengths.tolist(), input.shape[0 if batch_first else 1]
    if len(given) != count:
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{len(given)} (batch_size={count})"
        )
    if given[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if any(after > before for before, after in pairwise(given)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    steps = input.shape[1 if batch_first else 0]
    if given[0] > steps:
        raise RuntimeError(f"'lengths' has {given[0]}, and the input has {steps} steps only")


def _packed(xp: Any, input: Any, lengths: Any, batch_first: bool) -> tuple[Any, Any]:
    steps = xp.swapaxes(input, 0, 1) if batch_first else input
    sizes = (lengths > xp.arange(int(lengths[0]))[:, None]).sum(1)
    rows = [step[:size] for step, size in zip(steps, sizes.tolist(), strict=False)]
    return xp.concatenate(rows), sizes.astype("int64")


def _unpacked(grad: Any, sizes: Any, shape: Any, batch_first: bool) -> Any:
    """Each step's rows back in their place, zeros below them."""
    steps, count, *rest = (shape[1], shape[0], *shape[2:]) if batch_first else shape
    sizes, rows, start = sizes.tolist(), [], 0
    for size in (*sizes, *[0] * (steps - len(sizes))):
        part = slice_(grad, 0, start, start + size, 1)
        rows.append(cat([part, zeros_of(grad, (count - size, *rest))], 0))
        start += size
    padded = stack(rows, 0)
    return transpose(padded, 0, 1) if batch_first else padded


operator(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> "
    "(Tensor result0, Tensor result1)",
    node="PackPaddedSequenceBackward0",
    where="torch",
    check=_check,
    forward=_packed,
    input=lambda grads, result1, input_sym_sizes, batch_first: _unpacked(
        grads[0], result1, input_sym_sizes, batch_first
    ),
    doc="The steps of sequences of several lengths one after another, without the padding.",
    samples=(
        "torch._pack_padded_sequence(c, torch.tensor([2, 1, 1]), False)[0]",
        "torch._pack_padded_sequence(c, torch.tensor([3, 1]), True)[0]",
    ),
    errors=(
        "torch._pack_padded_sequence(c, torch.tensor([1, 2, 1]), False)",
        "torch._pack_padded_sequence(c, torch.tensor([2, 1]), False)",
        "torch._pack_padded_sequence(c, torch.tensor([2, 1, 0]), False)",
        "torch._pack_padded_sequence(c, torch.tensor([2., 1., 1.]), False)",
    ),
)


def sizes_of(batch_sizes: Any) -> list[int]:
    """How many sequences have each step."""
    if batch_sizes.ndim != 1 or batch_sizes.dtype.name != "int64" or not batch_sizes.numel():
        raise RuntimeError("batch_sizes should be a 1D CPU int64 tensor that is not empty")
    sizes: list[int] = batch_sizes.tolist()
    if min(sizes) <= 0 or any(after > before for before, after in pairwise(sizes)):
        raise RuntimeError("batch_sizes should be positive numbers in decreasing order")
    return sizes


def _padded(
    data: Any, batch_sizes: Any, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Any, Any]:
    sizes = sizes_of(batch_sizes)
    if 0 < total_length < len(sizes):
        raise RuntimeError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {len(sizes)}"
        )
    functions, rest = catalogue.functions, data.shape[1:]
    shape = (max(total_length, len(sizes)), sizes[0], *rest)
    output = functions["full"](shape, padding_value, dtype=data.dtype, device=data.device)
    start, since = 0, 0
    for step, (size, after) in enumerate(zip(sizes, [*sizes[1:], 0], strict=True), start=1):
        if after != size:  # so many steps have rows of the same sequences
            rows = data[start : start + size * (step - since)]
            output[since:step][:, :size].copy_(rows.view((step - since, size, *rest)))
            start, since = start + size * (step - since), step
    numbers = functions["arange"](sizes[0], device=batch_sizes.device).unsqueeze(1)
    return output.transpose(0, 1) if batch_first else output, batch_sizes.gt(numbers).sum(1)


composite(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
    "Scalar padding_value, int total_length) -> (Tensor, Tensor)",
    _padded,
    where="torch",
    doc="Packed sequences side by side again, filled up to one length.",
    samples=(
        "torch._pad_packed_sequence(x, torch.tensor([1, 1]), False, 0.5, -1)[0]",
        "torch._pad_packed_sequence(c[0], torch.tensor([2, 1]), True, 0, 4)[0]",
    ),
)
