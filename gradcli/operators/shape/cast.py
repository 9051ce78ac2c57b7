"""Operators: the same values as another element type or on another device."""

from __future__ import annotations

from typing import Any

from ...engine.memory.layout import formatted, suggests_channels_last
from ...engine.schema.errors import declared
from ...engine.schema.limits import as_element
from ...engine.schema.operator import composite, operator, warn
from ...engine.tensors.conversion import BY_NAME, converted, default_dtype, device_named, on_library
from ..elementwise.complex_parts import real_part
from ..geometry import broadcast_sizes
from ..reduce.sums import sum_all, sum_to
from .constants import zeros_as
from .shape import is_laid_out

to_copy = operator(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
    node="ToCopyBackward0",
    where="hidden",
    dtype=lambda self, dtype, device: (dtype or self.dtype, device or self.device),
    forward=lambda xp, self, dtype, device: converted(self, dtype, device),
    self=lambda grad, self_kind: _back_to(grad, self_kind),
    acts="pointwise",
    jacobian="identity",
    doc="A copy as another element type or on another device.",
    samples=("x.double()", "d.float()", "x.t().double()", "x.half()", "x.long()"),
)


def _back_to(grad: Any, kind: Any) -> Any:
    """A gradient where and as its tensor is; itself where it is so already."""
    if not kind.dtype.is_complex:
        grad = real_part(grad)
    if _same_type(grad, kind.dtype) and _same_device(grad, kind):
        return grad
    return to_copy(grad, kind.dtype, kind.device)


def _same_device(grad: Any, kind: Any) -> bool:
    if hasattr(grad, "_kind"):
        return bool(grad.device == kind.device)
    if hasattr(type(grad), "__operate__"):  # a symbol lies nowhere
        return True
    return on_library(grad, kind.xp) is grad


to_copy_laid_out = operator(
    "_to_copy.memory_format(Tensor self, *, ScalarType? dtype=None, Device? device=None, "
    "MemoryFormat? memory_format=None) -> Tensor",
    node="ToCopyBackward0",
    where="hidden",
    dtype=lambda self, dtype, device, memory_format: (dtype or self.dtype, device or self.device),
    forward=lambda xp, self, dtype, device, memory_format: formatted(
        converted(self, dtype, device), self, memory_format
    ),
    self=lambda grad, self_kind: _back_to(grad, self_kind),
    acts="pointwise",
    jacobian="identity",
    doc="A copy in the requested memory format.",
    samples=(
        "c[None].to(torch.float64, memory_format=torch.channels_last)",
        "x.t().double(memory_format=torch.contiguous_format).stride()",
        "x.t().float(memory_format=torch.contiguous_format).stride()",
    ),
)


def is_suggested(self: Any, memory_format: Any) -> bool:
    """Is it laid out so? What does not lie channels last counts as contiguous here."""
    if memory_format.name == "contiguous_format":
        return not suggests_channels_last(self._data)
    return is_laid_out(self, memory_format)


def _converted_to(self: Any, dtype: Any, device: Any, copy: bool, memory_format: Any = None) -> Any:
    """The tensor itself where nothing changes."""
    same = dtype is None or dtype is self.dtype
    fits = memory_format is None or is_suggested(self, memory_format)
    if same and (device is None or device == self.device) and not copy and fits:
        return self
    dtype, device = dtype or self.dtype, device or self.device
    if memory_format is not None and memory_format.name != "preserve_format":
        return to_copy_laid_out(self, dtype, device, memory_format)
    return to_copy(self, dtype, device)


to = composite(
    "to.dtype(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor",
    lambda self, dtype, non_blocking, copy, memory_format: _converted_to(
        self, dtype, None, copy, memory_format
    ),
    where="method",
    doc="As another element type; the tensor itself where it has that type already.",
    samples=(
        "x.to(torch.float64)", "x.to(torch.float32)", "x.to(dtype=torch.float64)",
        "x.to(torch.int64)", "x.to(torch.float32, copy=True)", "i.to(torch.float32)",
        "k.to(torch.float32)", "x.to(torch.bool)",
    ),
)  # fmt: skip

composite(
    "to.device(Tensor self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, "
    "bool copy=False, *, MemoryFormat? memory_format=None) -> Tensor",
    lambda self, device, dtype, non_blocking, copy, memory_format: _converted_to(
        self, dtype, device, copy, memory_format
    ),
    where="method",
    doc="On another device, perhaps as another element type.",
    samples=("x.to('cpu')", "x.to('cpu', torch.float64)", "x.to()", "x.to(device='cpu')"),
    errors=("x.to('foo')",),
)

composite(
    "to.other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor",
    lambda self, other, non_blocking, copy, memory_format: _converted_to(
        self, other.dtype, other.device, copy, memory_format
    ),
    where="method",
    doc="As the element type and on the device of another tensor.",
    samples=("x.to(d)", "x.to(y)"),
)

type_as = composite(
    "type_as(Tensor self, Tensor other) -> Tensor",
    lambda self, other: _converted_to(self, other.dtype, other.device, False),
    where="method",
    doc="As the element type of another tensor.",
    samples=("x.type_as(d)", "x.type_as(y)", "i.type_as(x)"),
    errors=("x.type_as(1)",),
)


def _typed(self: Any, dtype: Any) -> Any:
    if dtype is None:
        prefix = "torch.cuda." if self.device.type == "cuda" else "torch."
        prefix += "sparse." if self.is_sparse else ""
        return f"{prefix}{self.dtype.word}Tensor"
    if isinstance(dtype, str):
        word = dtype.removeprefix("torch.").removesuffix("Tensor")
        found = next((d for d in BY_NAME.values() if d.word == word), None)
        if found is None:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = found
    dtype = declared(dtype, "host", dtype)  # a type of the language stands for a class
    if isinstance(dtype, type):
        dtype = getattr(dtype, "dtype", dtype)  # torch.LongTensor
    python = {float: default_dtype(), int: BY_NAME["int64"], bool: BY_NAME["bool"]}
    if isinstance(dtype, type) and dtype in python:
        dtype = python[dtype]
    if not hasattr(type(dtype), "is_floating_point"):
        raise TypeError("dtype must be a type, str, or dtype object")
    return _converted_to(self, dtype, None, False)


type_ = composite(
    "type(Tensor self, any dtype=None, bool non_blocking=False) -> Tensor",
    lambda self, dtype, non_blocking: _typed(self, dtype),
    where="method",
    doc="The name of the tensor's type, or the tensor as another type.",
    samples=(
        "x.type(torch.float64)", "x.type('torch.DoubleTensor')", "x.type()",
        "x.type(torch.float32)",
    ),
    errors=("x.type(3)",),
)  # fmt: skip


def _declare_cast(name: str, dtype: str) -> None:
    composite(
        f"{name}(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
        lambda self, memory_format: _converted_to(self, BY_NAME[dtype], None, False, memory_format),
        where="method",
        doc=f"As {dtype}; the tensor itself where it is that already.",
        samples=tuple(f"{x}.{name}()" for x in ("ik" if dtype.startswith("complex") else "xikd")),
    )


for _name, _dtype in (
    ("float", "float32"),
    ("double", "float64"),
    ("half", "float16"),
    ("bfloat16", "bfloat16"),
    ("long", "int64"),
    ("int", "int32"),
    ("short", "int16"),
    ("char", "int8"),
    ("byte", "uint8"),
    ("bool", "bool"),
    ("cfloat", "complex64"),
    ("cdouble", "complex128"),
):
    _declare_cast(_name, _dtype)

composite(
    "cpu(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    lambda self, memory_format: _converted_to(self, None, device_named("cpu"), False),
    where="method",
    doc="In the host's memory.",
    samples=("x.cpu()",),
)

composite(
    "cuda(Tensor self, Device? device=None, bool non_blocking=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor",
    lambda self, device, non_blocking, memory_format: _converted_to(
        self, None, device or device_named("cuda"), False
    ),
    where="method",
    doc="On a CUDA device.",
    samples=(),
)

# ---- values written over


def _without_imaginary(data: Any, self: Any) -> Any:
    """What a tensor can hold of complex numbers that are written into it."""
    if data.dtype.kind == "c" and self.dtype.kind not in "cb":
        warn("Casting complex values to real discards the imaginary part")
        return data.real
    return data


def _check_fill(self: Any, value: Any) -> None:
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )


operator(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    node="FillBackward1",
    inplace="fill_",
    inplace_node="FillBackward3",
    overlap="copied",
    check=_check_fill,
    forward=lambda xp, self, value: xp.full_like(self, _without_imaginary(xp.asarray(value), self)),
    self=lambda grad: zeros_as(grad),
    value=lambda grad, value_dtype: alike(sum_all(grad), value_dtype),
    where="torch inplace",
    zero="mask",
    doc="Sets every element to the value of a 0-dim tensor.",
    samples=("torch.fill(x, s)", "x.clone().fill_(s)"),
    errors=("x.clone().fill_(v)",),
)

operator(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    node="FillBackward0",
    inplace="fill_",
    inplace_node="FillBackward2",
    overlap="allowed",
    check=lambda self, value: as_element(value, self.dtype),
    forward=lambda xp, self, value: xp.full_like(
        self, xp.asarray(value).astype(self.dtype) if self.dtype.kind == "u" else value
    ),
    self=lambda grad: zeros_as(grad),
    where="torch inplace",
    zero="mask",
    doc="Sets every element to a number.",
    samples=("torch.fill(x, 2.0)", "x.clone().fill_(2)"),
    errors=("x.clone().fill_(1e39)",),
)

composite(
    "detach(Tensor self) -> Tensor",
    lambda self: self.detach(),
    where="torch",
    doc="A view of the same memory that does not belong to the graph.",
    samples=("torch.detach(x)",),
    errors=("torch.detach(1.0)",),
)

composite(
    "detach_(Tensor self) -> Tensor",
    lambda self: self.detach_(),
    where="torch",
    doc="Detaches the tensor itself from the graph.",
    samples=("torch.detach_(x * 2)",),
    errors=("torch.detach_((x * 1)[0])",),
)

zero = operator(
    "zero(Tensor self) -> Tensor",
    node="ZeroBackward0",
    inplace="zero_",
    overlap="allowed",
    where="inplace",
    forward=lambda xp, self: xp.zeros(self.shape, self.dtype),
    self=lambda grad: zeros_as(grad),
    zero="mask",
    doc="Sets every element to 0.",
    samples=("x.clone().zero_()",),
)

composite(
    "resize_(Tensor self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor",
    lambda self, size, memory_format: self._resize(size),
    where="method",
    doc="Another shape over the same memory, or over more.",
    samples=("i.clone().resize_(2)", "k.clone().resize_((3, 2))", "j.clone().resize_(1, 2)"),
    errors=("x.resize_(2)", "x.clone().resize_(2)", "i.clone().resize_(2.0)", "i.resize_()"),
)

composite(
    "resize_as_(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
    lambda self, the_template, memory_format: self._resize(the_template.shape),
    where="torch method",
    doc="The shape of another tensor over the same memory, or over more.",
    samples=("i.clone().resize_as_(k)", "j.clone().resize_as_(j[:2])"),
    errors=("x.resize_as_(v)", "i.clone().resize_as_(2)"),
)

composite(
    "zero_.torch(Tensor self) -> Tensor",
    lambda self: self.zero_(),
    where="torch",
    doc="Sets every element to 0.",
    samples=("torch.zero_(x.clone())",),
)


def alike(grad: Any, dtype: Any) -> Any:
    """A gradient as the element type of the tensor that it belongs to."""
    return grad if _same_type(grad, dtype) else to_copy(grad, dtype, None)


def _same_type(grad: Any, dtype: Any) -> bool:
    mine = grad.dtype
    return mine is dtype or (mine.__class__ is not dtype.__class__ and mine.name == dtype.numpy)


copy = operator(
    "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    node="torch::autograd::CopyBackwards",
    inplace="copy_",
    where="inplace",
    numbers="src",
    check=lambda self, src, non_blocking: _check_copy(self, src),
    forward=lambda xp, self, src, non_blocking: _copied_over(xp, self, src),
    self=lambda grad: zeros_as(grad),
    src=lambda grad, src_shape, src_kind: _back_to(sum_to(grad, src_shape), src_kind),
    zero="mask",
    jacobian="identity",
    doc="Copies the elements of another tensor.",
    samples=(
        "x.clone().copy_(y)", "x.clone().copy_(v)", "x.clone().copy_(d)", "x.clone().copy_(i)",
    ),
    errors=("x.clone().copy_(a)", "v.clone().copy_(x)", "s.clone().copy_(v)", "z.clone().copy_(a)"),
)  # fmt: skip


def _check_copy(self: Any, src: Any) -> None:
    if hasattr(src, "shape"):
        size = tuple(self.shape)
        whole = broadcast_sizes(size, tuple(src.shape))
        if whole != size:
            raise RuntimeError(
                f"output with shape {list(size)} doesn't match the broadcast shape {list(whole)}"
            )


def _copied_over(xp: Any, self: Any, src: Any) -> Any:
    if hasattr(src, "dtype"):
        src = on_library(src, xp)
    data = _without_imaginary(xp.asarray(src), self).astype(self.dtype)
    return data if data.shape == self.shape else xp.broadcast_to(data, self.shape)
