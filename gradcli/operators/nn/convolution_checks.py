"""Operators: what a convolution asks of its operands, in PyTorch's order and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..conventions import INTEGERS

SIDES = ("depth", "height", "width")


def check_input(input: Any, name: str, ndim: int) -> None:
    """With a batch or without."""
    if input.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input.shape)}"
        )


def check_weight(weight: Any) -> None:
    """It says how many dimensions are meant."""
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")


def expanded(setting: Sequence[int], name: str, weight: Any) -> tuple[int, ...]:
    """A setting for each dimension of the weight."""
    dims = weight.ndim - 2
    if len(setting) == 1:
        return tuple(setting) * dims
    if len(setting) != dims:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the "
            f"convolution dimensions, but got {name}={list(setting)}"
        )
    return tuple(setting)


def check_same(x: Any, weight: Any, padding: str) -> None:
    """What is asked where the padding is a word, before it becomes numbers."""
    if x.ndim != weight.ndim and padding == "same":
        raise RuntimeError(_dimensions(x, f"{list(weight.shape)}", weight.ndim))


def _dimensions(x: Any, shape: str, count: int) -> str:
    return (
        f"Expected {count}-dimensional input for {count}-dimensional weight{shape}, but got "
        f"{x.ndim}-dimensional input of size {list(x.shape)} instead"
    )


def check_groups(groups: int) -> None:
    """At least one."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def check_operands(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, extra: Any,
    groups: int, transposed: bool,
) -> None:  # fmt: skip
    """Types and sizes; `extra` is the padding of the output."""
    for wrong, words in (
        (min(padding) < 0, "negative padding is not supported"),
        (min(extra) < 0, "negative output_padding is not supported"),
        (min(stride) <= 0, "non-positive stride is not supported"),
        (min(dilation) < 0, "dilation should be greater than zero"),
    ):
        if wrong:
            raise RuntimeError(words)
    if x.ndim != weight.ndim:
        raise RuntimeError(_dimensions(x, f" {list(weight.shape)}", weight.ndim))
    _check_channels(x, weight, bias, groups, transposed)
    if not transposed:
        _check_reach(x, weight, padding, dilation)
    _check_types(x, weight, bias, transposed)
    _check_kernel(weight, transposed)
    _check_dilation(dilation, transposed)
    if transposed:
        _check_extra(extra, stride, dilation)
    if 0 in x.shape[2:] and 0 not in x.shape[:2]:
        shape = _image(x.shape)
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}"
        )


def _image(shape: Sequence[int]) -> list[int]:
    """PyTorch takes a line for an image of one row."""
    return [*shape[:2], 1, shape[2]] if len(shape) == 3 else list(shape)


def _check_channels(x: Any, weight: Any, bias: Any, groups: int, transposed: bool) -> None:
    sizes = list(weight.shape)
    if sizes[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {sizes} instead"
        )
    if sizes[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{sizes}] instead"
        )
    expected, given = sizes[1] * groups, f"Given groups={groups}, weight"
    outputs, alone = sizes[0], "Given weight"
    if transposed:
        expected, outputs = outputs, expected
        given = alone = "Given transposed=1, weight"
    if x.shape[1] != expected:
        raise RuntimeError(
            f"{given} of size {sizes}, expected input{list(x.shape)} to have {expected} channels, "
            f"but got {x.shape[1]} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"{alone} of size {sizes}, expected bias to be 1-dimensional with {outputs} elements, "
            f"but got bias of size {list(bias.shape)} instead"
        )


def _check_reach(x: Any, weight: Any, padding: Any, dilation: Any) -> None:
    wide = [size + 2 * p for size, p in zip(x.shape[2:], padding, strict=True)]
    spans = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(span > size for span, size in zip(spans, wide, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({_crossed(wide)}). Kernel size: "
            f"({_crossed(spans)}). Kernel size can't be greater than actual input size"
        )


def _crossed(sizes: Any) -> str:
    return " x ".join(str(size) for size in sizes)


def _check_types(x: Any, weight: Any, bias: Any, transposed: bool) -> None:
    if x.device == weight.device:
        if x.dtype.name == "bool" and (bias is None or bias.dtype is x.dtype):
            name = "compute_columns3d" if x.ndim == 5 else "slow_conv2d_cpu"
            if not transposed:
                raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
        if bias is not None and bias.dtype is not x.dtype and not transposed:
            raise RuntimeError(
                f"Input type ({x.dtype.c_word}) and bias type ({bias.dtype.c_word}) should be the "
                "same"
            )
        if x.dtype is weight.dtype:
            if transposed and x.dtype.word in (*INTEGERS[:-1], "Bool"):
                name = f"slow_conv_transpose{max(x.ndim - 2, 2)}d_out_cpu"
                raise NotImplementedError(f"\"{name}\" not implemented for '{x.dtype.word}'")
            return
        images = x.dtype.name == "float32" and x.ndim < 5 and x.shape[0] > 1  # oneDNN's
        if not images:
            words = x.dtype.word, weight.dtype.word
            raise RuntimeError(f"expected scalar type {words[0]} but found {words[1]}")
    either = ""
    if x.device.type == "cpu":
        either = " or input should be a MKLDNN tensor and weight is a dense tensor"
    raise RuntimeError(
        f"Input type ({x.type()}) and weight type ({weight.type()}) should be the same{either}"
    )


def _check_kernel(weight: Any, transposed: bool) -> None:
    sizes = _image(weight.shape)[2:]
    if 0 not in sizes:
        return
    if len(sizes) == 3 and transposed:
        raise RuntimeError(
            "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x "
            f"kernel_width) tensor expected for weight, but got: {list(weight.shape)}"
        )
    told = f" kernel_height: {sizes[0]} kernel_width: {sizes[1]}"
    if len(sizes) == 3:
        told = f": {_crossed(sizes)} (TxHxW)"
    raise RuntimeError(f"kernel size should be greater than zero, but got{told}")


def _check_dilation(dilation: Sequence[int], transposed: bool) -> None:
    """That of an image at least: a line is one of one row."""
    if min(dilation) > 0:
        return
    sizes = [1, *dilation] if len(dilation) == 1 else list(dilation)
    told = str(sizes)
    if transposed:
        names = zip(SIDES[-len(sizes) :], sizes, strict=True)
        told = ", ".join(f"dilation_{name}: {size}" for name, size in names)
    raise RuntimeError(f"dilation should be greater than zero, but got {told}")


def _check_extra(extra: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> None:
    """What is added at the far end must be filled by some stride."""
    if all(e < s or e < d for e, s, d in zip(extra, stride, dilation, strict=True)):
        return
    line = len(extra) == 1
    told = " ".join(
        f"{word}_{name}: {size}"
        for word, sizes, one in (
            ("output_padding", extra, 0), ("stride", stride, 1), ("dilation", dilation, 1)
        )
        for name, size in zip(
            SIDES[-2:] if line else SIDES[-len(extra) :], (one, *sizes) if line else sizes,
            strict=True,
        )
    )  # fmt: skip
    raise RuntimeError(
        f"output padding must be smaller than either stride or dilation, but got {told}"
    )
