"""Utils: torch.testing: assert_close and its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from typing import Any

from ..engine.schema.errors import type_name
from ..engine.tensors.construct import tensor
from ..engine.tensors.tensor import Tensor

# Relative and absolute, by the type of the elements; of whole numbers nothing is allowed.
ALLOWED = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
# What assert_allclose, which is older, allows of the same.
ALLOWED_BEFORE = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
OF_PYTHON = {float: "float64", complex: "complex128"}


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: Any = True, rtol: Any = None, atol: Any = None,
    equal_nan: Any = False, check_device: Any = True, check_dtype: Any = True,
    check_layout: Any = True, check_stride: Any = False, msg: Any = None,
) -> None:  # fmt: skip
    if (rtol is None) != (atol is None):
        other = "atol" if atol is None else "rtol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {other}."
        )
    tolerances = None if rtol is None else (rtol, atol)
    flags = {"dtype": check_dtype, "device": check_device, "stride": check_stride}
    for first, second, where in _pairs(actual, expected, ""):
        found = _difference(first, second, tolerances, bool(equal_nan), flags)
        if found is not None:
            text = found + (f"\n\nThe failure occurred for item {where}" if where else "")
            raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def assert_allclose(
    actual: Any, expected: Any, rtol: Any = None, atol: Any = None, equal_nan: Any = True,
    msg: Any = "",
) -> None:  # fmt: skip
    first, second = (
        value if isinstance(value, Tensor) else tensor(value) for value in (actual, expected)
    )
    if rtol is None and atol is None:
        one, two = (ALLOWED_BEFORE.get(value.dtype.name, (0.0, 0.0)) for value in (first, second))
        rtol, atol = max(one[0], two[0]), max(one[1], two[1])
    assert_close(
        first, second, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True,
        check_dtype=False, check_stride=False, msg=msg or None,
    )  # fmt: skip


def _pairs(actual: Any, expected: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    """What is compared, container inside out, and its place."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            missing = sorted(set(expected) - set(actual), key=str)
            more = sorted(set(actual) - set(expected), key=str)
            raise AssertionError(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {more}"
            )
        for key in actual:
            yield from _pairs(actual[key], expected[key], f"{where}[{key!r}]")
    elif all(
        isinstance(value, Sequence) and type(value) is not str for value in (actual, expected)
    ):
        if len(actual) != len(expected):
            raise AssertionError(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            )
        for place, pair in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(*pair, f"{where}[{place}]")
    else:
        yield actual, expected, where


def _difference(
    first: Any, second: Any, tolerances: Any, equal_nan: bool, flags: dict[str, Any]
) -> str | None:
    """What is wrong with a pair, or None."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return _of_tensors(first, second, tolerances, equal_nan, flags)
    numbers = (bool, int, float, complex)
    if type(first) in numbers and type(second) in numbers:
        if flags["dtype"] and type(first) is not type(second):
            return f"The (d)types do not match: {type(first)} != {type(second)}."
        if type(first) is bool and type(second) is bool:
            return None if first is second else f"Booleans mismatch: {first} is not {second}"
        kinds = [
            ALLOWED.get(OF_PYTHON.get(type(value), ""), (0.0, 0.0)) for value in (first, second)
        ]
        rtol, atol = tolerances or (max(k[0] for k in kinds), max(k[1] for k in kinds))
        return _of_numbers(first, second, rtol, atol, equal_nan)
    if first is None or second is None:
        return None if first is second else f"None mismatch: {first} is not {second}"
    raise TypeError(
        f"No comparison pair was able to handle inputs of type <class '{type_name(first)}'> and "
        f"<class '{type_name(second)}'>."
    )


def _of_numbers(first: Any, second: Any, rtol: float, atol: float, equal_nan: bool) -> str | None:
    same = first == second or (equal_nan and first != first and second != second)
    apart = abs(first - second)
    ends = [abs(value) for value in (first, second)]
    if same or (all(map(isfinite, ends)) and apart <= atol + rtol * abs(second)):
        return None
    relative = apart / abs(second) if second else float("inf")
    return _scalars_message(first, second, apart, relative, rtol, atol)


def _scalars_message(
    first: Any, second: Any, apart: Any, relative: Any, rtol: float, atol: float
) -> str:
    exact = not rtol and not atol
    allowed = ("", "") if exact else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        f"Expected {second} but got {first}.\nAbsolute difference: {apart}{allowed[0]}\n"
        f"Relative difference: {relative}{allowed[1]}"
    )


def _of_tensors(
    first: Any, second: Any, tolerances: Any, equal_nan: bool, flags: dict[str, Any]
) -> str | None:
    asked = [
        (True, "shape", first.shape, second.shape),
        (flags["device"], "device", first.device, second.device),
        (flags["dtype"], "dtype", first.dtype, second.dtype),
        (flags["stride"], "stride()", first.stride(), second.stride()),
    ]
    for is_asked, word, one, two in asked:
        if is_asked and one != two:
            return f"The values for attribute '{word}' do not match: {one} != {two}."
    kinds = [ALLOWED.get(value.dtype.name, (0.0, 0.0)) for value in (first, second)]
    rtol, atol = tolerances or (max(k[0] for k in kinds), max(k[1] for k in kinds))
    one, two = _comparable(first.detach(), second.detach())
    near = one.isclose(two, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(near.all()):
        return None
    if not first.dim():
        apart = (one - two).abs().item()
        expected, got = two.item(), one.item()
        relative = apart / abs(expected) if expected else float("inf")
        relative = float("nan") if isnan(abs(apart)) else relative
        return _scalars_message(got, expected, apart, relative, rtol, atol)
    return _tensors_message(one, two, near, rtol, atol)


def _comparable(first: Any, second: Any) -> tuple[Any, Any]:
    """In one type: whole numbers in the longest, others where both meet."""
    if first.dtype != second.dtype:
        met = (first.flatten()[:0] + second.flatten()[:0]).dtype
        first, second = first.to(met), second.to(met)
    if first.dtype.name not in ALLOWED:
        first, second = first.long(), second.long()
    return first, second


def _tensors_message(one: Any, two: Any, near: Any, rtol: float, atol: float) -> str:
    exact = not rtol and not atol
    wrong = int((~near).sum().item())
    apart = (one - two).abs()
    apart[near] = 0
    relative = apart / two.abs()
    relative[near] = 0
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n",
        f"Mismatched elements: {wrong} / {near.numel()} ({wrong / near.numel():.1%})",
    ]
    for word, part, most in (("absolute", apart, atol), ("relative", relative, rtol)):
        place = int(part.flatten().argmax().item())
        index = _index(place, tuple(part.shape))
        allowed = "" if exact else f" (up to {most} allowed)"
        value = part.flatten()[place].item()
        lines.append(f"Greatest {word} difference: {value} at index {index}{allowed}")
    return "\n".join(lines)


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    found = []
    for size in reversed(shape):
        found.append(place % size)
        place //= size
    return tuple(reversed(found))
