"""Operators: tensors made of numbers: constants, ranges, identities, triangles' indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, factory, warn
from ...engine.tensors.conversion import dtype_of_number, tensor_of

OPTIONS = "ScalarType? dtype=None, Device? device=None, bool requires_grad=False"


# ---- one value everywhere

zeros = factory(
    f"zeros(int[] size, *, {OPTIONS}) -> Tensor",
    lambda xp, size, dtype: xp.zeros(size, dtype),
    doc="Zeros.",
    samples=(
        "torch.zeros(2, 3)", "torch.zeros((2,))", "torch.zeros(())",
        "torch.zeros(2, dtype=torch.int64)", "torch.zeros([2, 3], requires_grad=True)",
    ),
    errors=("torch.zeros('a')", "torch.zeros(2.0)"),
)  # fmt: skip

ones = factory(
    f"ones(int[] size, *, {OPTIONS}) -> Tensor",
    lambda xp, size, dtype: xp.ones(size, dtype),
    doc="Ones.",
    samples=(
        "torch.ones(2, 3)", "torch.ones((2,), dtype=torch.float64)",
        "torch.ones(2, requires_grad=True)",
    ),
    errors=("torch.ones('a')", "torch.ones(2, dtype=torch.int64, requires_grad=True)"),
)  # fmt: skip

empty = factory(
    f"empty(int[] size, *, {OPTIONS}) -> Tensor",
    lambda xp, size, dtype: xp.zeros(size, dtype),
    doc="An uninitialized tensor; gradcli fills it with zeros, so that every run prints the same.",
    samples=("torch.empty(2, 3).shape", "torch.empty(2, dtype=torch.int64).dtype"),
)

full = factory(
    f"full(int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    lambda xp, size, fill_value, dtype: xp.full(size, fill_value, dtype),
    dtype=lambda size, fill_value, *rest: dtype_of_number(fill_value),
    doc="A tensor filled with one number, whose type decides the dtype.",
    samples=(
        "torch.full((2,), 1)", "torch.full((2, 3), 1.5)", "torch.full((2,), True)",
        "torch.full((), 2, dtype=torch.float64)", "torch.full([2], 0.5, requires_grad=True)",
    ),
    errors=("torch.full(2, 1)", "torch.full((2,), 'a')"),
)  # fmt: skip

scalar_tensor = factory(
    f"scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
    lambda xp, s, dtype: xp.asarray(s).astype(dtype),
    doc="A number as a 0-dim tensor of the default element type.",
    samples=("torch.scalar_tensor(2)", "torch.scalar_tensor(2.5, dtype=torch.float64)"),
)


def _declare_constant(name: str, value: int) -> None:
    """The forms that take size or type from another tensor."""
    factory(
        f"{name}_like(Tensor self, *, {OPTIONS}) -> Tensor",
        lambda xp, self, dtype: xp.full(self.shape, value, dtype=dtype),
        dtype="like",
        doc=f"A tensor of another one's size and type, filled with {value}.",
        samples=(
            f"torch.{name}_like(x)",
            f"torch.{name}_like(i, dtype=torch.float64)",
            f"torch.{name}_like(x.t()).stride()",
            f"torch.{name}_like(z.expand(2, 3)).stride()",
            f"torch.{name}_like(x.t(), memory_format=torch.contiguous_format).stride()",
            f"torch.{name}_like(x, requires_grad=True)",
        )
        if name != "empty"
        else ("torch.empty_like(x).shape",),
        errors=(f"torch.{name}_like(1.0)", f"torch.{name}_like(i, requires_grad=True)"),
    )
    factory(
        f"new_{name}(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
        lambda xp, self, size, dtype: xp.full(size, value, dtype),
        dtype="like",
        where="method",
        doc=f"A tensor of another one's type, filled with {value}.",
        samples=(
            f"x.new_{name}(2, 3)",
            f"i.new_{name}((2,))",
            f"x.new_{name}(2, dtype=torch.int64)",
        )
        if name != "empty"
        else ("x.new_empty(2).shape",),
    )


_declare_constant("zeros", 0)
_declare_constant("ones", 1)
_declare_constant("empty", 0)

full_like = factory(
    f"full_like(Tensor self, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    lambda xp, self, fill_value, dtype: xp.full(
        self.shape, xp.asarray(fill_value).astype(dtype), dtype=dtype
    ),
    dtype="like",
    doc="A tensor of another one's size and type, filled with a number.",
    samples=(
        "torch.full_like(x, 2)", "torch.full_like(i, 2.5)",
        "torch.full_like(x, 1, dtype=torch.int64)",
    ),
    errors=("torch.full_like(x, 'a')",),
)  # fmt: skip

factory(
    f"new_full(Tensor self, int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    lambda xp, self, size, fill_value, dtype: xp.full(size, fill_value).astype(dtype),
    dtype="like",
    where="method",
    doc="A tensor of another one's type, filled with a number.",
    samples=("x.new_full((2,), 3)", "i.new_full((2, 1), 3.5)"),
)

composite(
    f"new_tensor(Tensor self, any data, *, {OPTIONS}) -> Tensor",
    lambda self, data, dtype, device, requires_grad: tensor_of(
        data, dtype or self.dtype, device or self.device, requires_grad
    ),
    where="method",
    doc="torch.tensor with another tensor's type and device.",
    samples=("x.new_tensor([1, 2])", "i.new_tensor([1.5, 2.5])"),
)

# ---- ranges

MOST_WHOLE = 2.0**63


def _check_range(start: Any, end: Any, step: Any) -> None:
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _range_length(start: Any, end: Any, step: Any) -> int:
    _check_range(start, end, step)
    if all(isinstance(v, int) for v in (start, end, step)):
        return max(-((start - end) // step), 0)
    count = (end - start) / step
    if count >= MOST_WHOLE:
        raise RuntimeError("invalid size, possible overflow?")
    return math.ceil(count)


def _whole(number: Any) -> int:
    """A number as an int64."""
    if not -MOST_WHOLE <= number < MOST_WHOLE:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(number)


def _ranged(xp: Any, start: Any, end: Any, step: Any, dtype: Any) -> Any:
    """PyTorch's vector kernel rounds the start of each block to the type before it steps on."""
    if dtype.kind == "c":
        word = "ComplexFloat" if dtype.itemsize == 8 else "ComplexDouble"
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{word}'")
    count = _range_length(start, end, step)
    steps = xp.arange(count)
    if dtype.kind != "f":
        first, stride = _whole(start), _whole(step)
        if dtype.itemsize == 8:  # int64 counts in whole numbers only
            if not stride:
                raise ValueError("step must be nonzero")
            steps = xp.arange(max(-((first - _whole(end)) // stride), 0))
        return (steps * stride + first).astype(dtype)
    values = steps * float(step) + float(start)
    lanes = 32 // dtype.itemsize
    whole = count - count % (2 * lanes)
    if whole and dtype.itemsize in (4, 8):
        bases = values[:whole:lanes].astype(dtype).astype("float64")
        blocks = bases[:, None] + xp.arange(lanes) * float(step)
        values = xp.concatenate([blocks.reshape(-1), values[whole:]])
    return values.astype(dtype)


def _range_dtype(*arguments: Any) -> Any:
    """Whole numbers give int64, one floating number the default type."""
    numbers = [v for v in arguments[:3] if v.__class__ in (int, float, bool)]
    floating = next((v for v in numbers if isinstance(v, float)), None)
    return dtype_of_number(0 if floating is None else floating)


arange = factory(
    f"arange(Scalar end, *, {OPTIONS}) -> Tensor",
    lambda xp, end, dtype: _ranged(xp, 0, end, 1, dtype),
    dtype=lambda end, *rest: _range_dtype(end),
    cost=lambda end, *rest: _range_length(0, end, 1),
    doc="0, 1, 2 ... up to but not including the end.",
    samples=(
        "torch.arange(3)", "torch.arange(3.0)", "torch.arange(5, dtype=torch.float32)",
        "torch.arange(n)", "torch.arange(2.5)", "torch.arange(3.0, requires_grad=True)",
        "torch.arange(0)",
    ),
    errors=("torch.arange(-1)", "torch.arange(float('nan'))", "torch.arange(float('inf'))"),
)  # fmt: skip

factory(
    f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    lambda xp, start, end, dtype: _ranged(xp, start, end, 1, dtype),
    dtype=lambda start, end, *rest: _range_dtype(start, end),
    cost=lambda start, end, *rest: _range_length(start, end, 1),
    doc="Numbers from start up to but not including end, in steps of 1.",
    samples=("torch.arange(1, 4)", "torch.arange(0.5, 3)", "torch.arange(start=1, end=4)"),
    errors=("torch.arange(3, 1)",),
)

factory(
    f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    _ranged,
    dtype=lambda start, end, step, *rest: _range_dtype(start, end, step),
    cost=lambda start, end, step, *rest: _range_length(start, end, step),
    doc="Numbers from start up to but not including end, in equal steps.",
    samples=(
        "torch.arange(1, 3, 0.5)", "torch.arange(3, 0, -1)", "torch.arange(0, 1, 0.1)",
        "torch.arange(1, 10, step=3)",
    ),
    errors=("torch.arange(1, 3, 0)", "torch.arange(1, 3, -1)"),
)  # fmt: skip

factory(
    f"range(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    lambda xp, start, end, step, dtype: _ranged_through(xp, start, end, step, dtype),
    cost=lambda start, end, step, *rest: _range_length(start, end, step) + 1,
    doc="Numbers from start to end inclusive, always floating (deprecated; use arange).",
    samples=(
        "torch.range(1, 4)", "torch.range(0, 1, 0.25)", "torch.range(4, 1, -1)",
        "torch.range(1, 4, dtype=torch.int64)", "torch.range(1.5, 4)",
    ),
    errors=("torch.range(1, 4, 0)", "torch.range(1, 4, -1)"),
)  # fmt: skip


def _ranged_through(xp: Any, start: Any, end: Any, step: Any, dtype: Any) -> Any:
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end)."
    )
    _check_range(start, end, step)
    count = math.floor((end - start) / step) + 1
    return (xp.arange(count) * step + start).astype(dtype)


def _check_steps(steps: int) -> int:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return steps


def _spaced(xp: Any, start: Any, end: Any, steps: int, dtype: Any) -> Any:
    """Counted from the start in the first half, from the end in the second, as PyTorch does."""
    _check_steps(steps)
    if dtype.kind == "c":
        step = (end - start) / max(steps - 1, 1)
        places = xp.arange(steps)
        from_end = end - (steps - places - 1) * step
        return xp.where(places < max(steps // 2, 1), start + places * step, from_end).astype(dtype)
    work = dtype
    if dtype.kind != "f":  # whole ends, and steps between them
        dtype, start, end = xp.dtype("float64"), int(start), int(end)
    kind = dtype.type
    start, end = kind(start), kind(end)
    if steps == 1:
        return xp.full(1, start).astype(work)
    step = kind((end - start) / kind(max(steps - 1, 1)))
    places = xp.arange(steps)
    half = steps // 2
    # The product and the sum are rounded once, as a fused multiply-add does.
    ahead = (places[:half].astype("float64") * float(step) + float(start)).astype(dtype)
    behind = (float(end) - (steps - places[half:] - 1).astype("float64") * float(step)).astype(
        dtype
    )
    return xp.concatenate([ahead, behind]).astype(work)


linspace = factory(
    f"linspace(Scalar start, Scalar end, int steps, *, {OPTIONS}) -> Tensor",
    _spaced,
    dtype=lambda start, end, *rest: dtype_of_number(
        1j if complex in (start.__class__, end.__class__) else 1.0
    ),
    cost=lambda start, end, steps, *rest: _check_steps(steps),
    doc="Evenly spaced numbers from start to end, both included.",
    samples=(
        "torch.linspace(0, 1, 5)", "torch.linspace(0, 1, 1)", "torch.linspace(-1, 2.5, 7)",
        "torch.linspace(0, 10, 5, dtype=torch.int64)", "torch.linspace(start=0, end=1, steps=3)",
        "torch.linspace(0, 1, 0)",
    ),
    errors=("torch.linspace(0, 1, -1)",),
)  # fmt: skip

composite(
    f"linspace.tensors(Tensor start, Tensor end, int steps, *, {OPTIONS}) -> Tensor",
    lambda start, end, steps, dtype, device, requires_grad: linspace.run(
        *_ends("linspace", start, end), steps, dtype, device, requires_grad, None, None, False, None
    ),
    numbers="start, end",
    where="torch",
    doc="linspace between 0-dim tensors.",
    samples=("torch.linspace(s.detach(), t.detach(), 4)", "torch.linspace(s, 2, 4)"),
    errors=("torch.linspace(v, 1, 3)", "torch.linspace(0, x, 3)", "torch.linspace('a', 1, 3)"),
)


def _ends(name: str, start: Any, end: Any) -> list[Any]:
    """Tensors of one number as that number."""
    told = " and ".join(
        f"{word} with {value.ndim} dimension(s)"
        for word, value in (("start", start), ("end", end))
        if hasattr(value, "ndim")
    )
    if any(getattr(value, "ndim", 0) for value in (start, end)):
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {told}."
        )
    return [value.item() if hasattr(value, "item") else value for value in (start, end)]


def _log_spaced(xp: Any, start: Any, end: Any, steps: int, base: float, dtype: Any) -> Any:
    if dtype.kind != "f":
        start, end = int(start), int(end)
    exponents = _spaced(xp, start, end, steps, xp.dtype("float64"))
    return (float(base) ** exponents).astype(dtype)


logspace = factory(
    f"logspace(Scalar start, Scalar end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor",
    _log_spaced,
    cost=lambda start, end, steps, *rest: _check_steps(steps),
    doc="Powers of a base with evenly spaced exponents.",
    samples=(
        "torch.logspace(0, 2, 3)", "torch.logspace(0, 3, 4, base=2)", "torch.logspace(-1, 1, 5)",
    ),
    errors=("torch.logspace(0, 1, -1)",),
)  # fmt: skip

composite(
    "logspace.tensors(Tensor start, Tensor end, int steps, float base=10.0, *, "
    f"{OPTIONS}) -> Tensor",
    lambda start, end, steps, base, dtype, device, requires_grad: logspace.run(
        *_ends("logspace", start, end),
        steps,
        base,
        dtype,
        device,
        requires_grad,
        None,
        None,
        False,
        None,
    ),
    numbers="start, end",
    where="torch",
    doc="logspace between 0-dim tensors.",
    samples=("torch.logspace(s, 2, 4)",),
)

# ---- matrices of a pattern


def _check_side(name: str, length: int) -> None:
    if length < 0:
        raise RuntimeError(f"{name} must be greater or equal to 0, got {length}")


def _identity(xp: Any, n: int, m: int, dtype: Any) -> Any:
    _check_side("n", n)
    _check_side("m", m)
    return xp.eye(n, m, dtype=dtype)


eye = factory(
    f"eye(int n, *, {OPTIONS}) -> Tensor",
    lambda xp, n, dtype: _identity(xp, n, n, dtype),
    cost=lambda n, *rest: max(n, 0) ** 2,
    doc="An identity matrix.",
    samples=("torch.eye(3)", "torch.eye(2, dtype=torch.int64)", "torch.eye(n)"),
    errors=("torch.eye(-1)",),
)

factory(
    f"eye.m(int n, int m, *, {OPTIONS}) -> Tensor",
    _identity,
    cost=lambda n, m, *rest: max(n, 0) * max(m, 0),
    doc="Ones on the diagonal of a matrix that need not be square.",
    samples=("torch.eye(2, 3)",),
    errors=("torch.eye(2, -1)",),
)


def _triangle(xp: Any, kind: str, row: int, col: int, offset: int, dtype: Any) -> Any:
    for name, value in (("row", row), ("col", col)):
        if value < 0:
            raise RuntimeError(f"{name} must be non-negative, got{value}")
    places = getattr(xp, f"{kind}_indices")(row, offset, col)
    return xp.stack(places).astype(dtype)


for _kind in ("tril", "triu"):
    factory(
        f"{_kind}_indices(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor",
        lambda xp, row, col, offset, dtype, kind=_kind: _triangle(
            xp, kind, row, col, offset, dtype
        ),
        dtype="int64",
        cost=lambda row, col, *rest: 2 * max(row, 0) * max(col, 0),
        doc=f"The positions of the {'lower' if _kind == 'tril' else 'upper'} triangle of a matrix.",
        samples=(f"torch.{_kind}_indices(3, 3)", f"torch.{_kind}_indices(3, 4, 1)"),
        errors=(f"torch.{_kind}_indices(-1, 3)",),
    )

empty_strided = factory(
    f"empty_strided(int[] size, int[] stride, *, {OPTIONS}) -> Tensor",
    lambda xp, size, stride, dtype: _zeros_strided(xp, size, stride, dtype),
    doc="An uninitialized tensor with the given strides; gradcli fills it with zeros.",
    samples=("torch.empty_strided((2, 2), (1, 2)).stride()",),
)


def _zeros_strided(xp: Any, size: Sequence[int], stride: Sequence[int], dtype: Any) -> Any:
    order = sorted(range(len(size)), key=lambda dim: -stride[dim])
    memory = xp.zeros([size[dim] for dim in order], dtype)
    return memory.transpose([order.index(dim) for dim in range(len(size))])
