"""Tests: the calls of PyTorch's operator database that must fail, as JSON, and run again from it.

A call is recorded with its tensors, so that it can be made where PyTorch is not installed.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy
from oracle import question, torch

import gradcli
from gradcli import namespace

LARGEST = 300  # elements of a tensor that is written down
COMPLEX = frozenset({"complex64", "complex128"})


class Unwritable(Exception):
    """A call that holds something which is no plain value."""


@question
def misuses_of(library: Any, name: str) -> list[Any]:
    """The calls of an entry that must fail, by the function's name, and how they end."""
    entry = _entries().get(name)
    function = None if entry is None else named(library, entry.op)
    if entry is None or function is None or entry.error_inputs_func is None:
        return []
    found = []
    library.manual_seed(0)
    for error in entry.error_inputs("cpu"):
        sample = error.sample_input
        try:
            call = written([sample.input, list(sample.args), sample.kwargs])
        except Unwritable:
            continue
        found.append([function, call, ended(entry.op, sample.input, sample.args, sample.kwargs)])
    return found


@functools.cache
def _entries() -> dict[str, Any]:
    import op_database

    return {op_database.identity(entry): entry for entry in op_database.load()}


def named(library: Any, function: Any) -> str | None:
    """The dotted name of a function; "Tensor.add" is a method."""
    known = _names(library).get(id(function))
    if known is not None:
        return known
    name = getattr(function, "__name__", "")
    plain = name and not name.startswith("__") and getattr(library.Tensor, name, None) is function
    return f"Tensor.{name}" if plain else None


@functools.cache
def _names(library: Any) -> dict[int, str]:
    """The shortest name of everything that stands under the same one here and there."""
    found: dict[int, str] = {}
    for name in sorted(namespace.names(), key=len):
        theirs: Any = library
        for part in name.split("."):
            theirs = getattr(theirs, part, None)
        if callable(theirs):
            found.setdefault(id(theirs), name)
    return found


def ended(function: Callable[..., Any], first: Any, args: Any, kwargs: Any) -> str:
    """The error in one line; "" where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(first, *args, **kwargs)
        except Exception as error:
            return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return ""


# ---- values as JSON


def written(value: Any) -> Any:
    """A value that JSON holds; what it has no word for is an object with one key."""
    if isinstance(value, torch.Tensor):
        return {"tensor": _tensor(value)}
    if isinstance(value, torch.layout) and value is not torch.strided:
        raise Unwritable
    if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return {"word": str(value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, tuple):
        return {"tuple": [written(item) for item in value]}
    if isinstance(value, list):
        return [written(item) for item in value]
    if isinstance(value, dict):
        return {"dict": {key: written(item) for key, item in value.items()}}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise Unwritable


def _tensor(value: Any) -> Any:
    if value.is_sparse or value.device.type != "cpu" or value.layout is not torch.strided:
        raise Unwritable
    name = str(value.dtype).removeprefix("torch.")
    if value.ndim > 32 or value.numel() > LARGEST:
        raise Unwritable
    numbers = value.detach().resolve_conj().resolve_neg()
    flat = torch.view_as_real(numbers) if name in COMPLEX else numbers
    return [name, list(value.shape), value.requires_grad,
            [_number(item) for item in flat.reshape(-1).tolist()]]  # fmt: skip


def _number(value: Any) -> Any:
    finite = not isinstance(value, float) or abs(value) < float("inf")
    return value if finite else str(value)


def read(value: Any) -> Any:
    """The value again, for gradcli."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "tensor":
        return _read_tensor(*held)
    if kind == "word":
        return _word(held)
    if kind == "complex":
        return complex(*held)
    if kind == "tuple":
        return tuple(read(item) for item in held)
    return {key: read(item) for key, item in held.items()}


def _word(text: str) -> Any:
    name = text.removeprefix("torch.")
    return getattr(gradcli, name) if hasattr(gradcli, name) else gradcli.device(text)


def _read_tensor(name: str, shape: list[int], requires_grad: bool, numbers: list[Any]) -> Any:
    flat = [float(item) if isinstance(item, str) else item for item in numbers]
    if name in COMPLEX:
        flat = [complex(*pair) for pair in zip(flat[::2], flat[1::2], strict=True)]
    kind = "float32" if name in ("bfloat16", "float16") else name
    made = gradcli.from_numpy(numpy.array(flat, dtype=kind).reshape(shape))
    made = made.to(getattr(gradcli, name))
    return made.requires_grad_() if requires_grad else made


def ours(function: str, call: Any) -> str:
    """How gradcli ends the call."""
    first, args, kwargs = read(call)
    if function.startswith("Tensor."):
        found = getattr(gradcli.Tensor, function.removeprefix("Tensor."))
    else:
        found = namespace.resolve(function)
    return ended(found, first, args, kwargs)
