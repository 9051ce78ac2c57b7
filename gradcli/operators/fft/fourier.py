"""Operators: discrete Fourier transforms, of one dimension and of several (torch.fft)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import element_strides, relaid, strides_in_order
from ...engine.schema.dtypes import FLOATING, complex_of, default_dtype, real_of
from ...engine.schema.operator import composite, factory, operator
from ..conventions import REDUCED, native, wrap_dim
from ..elementwise.complex_parts import conj, conj_physical_row, conj_row, real_part
from ..geometry import elements_along
from ..linalg.decompose import write_over
from ..nn.padding import constant_pad_nd
from ..shape.constants import zeros_of
from ..shape.select import slice_
from ..shape.shape import alias

NONE, BY_ROOT, BY_COUNT = 0, 1, 2  # how a transform is scaled, as nodes save it


def _scaled(xp: Any, array: Any, normalization: int, count: int) -> Any:
    if normalization == NONE or not count:
        return array
    return array * array.real.dtype.type(1 / count if normalization == BY_COUNT else 1 / count**0.5)


def _complex_kernel(xp: Any, self: Any, dim: Any, normalization: int, forward: bool) -> Any:
    if not dim or not self.size:
        return self.copy()
    axes = tuple(dim)
    # "forward" keeps the library from scaling an inverse transform, as "backward" does ahead
    out = xp.fft.fftn(self, axes=axes) if forward else xp.fft.ifftn(self, axes=axes, norm="forward")
    out = _scaled(xp, out, normalization, elements_along(self.shape, dim))
    return _laid_out(out, element_strides(self), _farthest_first(element_strides(self), dim))


def _to_complex_kernel(xp: Any, self: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    out = (xp.fft.rfftn if onesided else xp.fft.fftn)(self, axes=tuple(dim))
    out = _scaled(xp, out, normalization, elements_along(self.shape, dim))
    strides = element_strides(self)
    return _laid_out(out, strides, [*_farthest_first(strides, dim[:-1]), dim[-1]])


def _to_real_kernel(xp: Any, self: Any, dim: Any, normalization: int, last_dim_size: int) -> Any:
    sizes = [*(self.shape[place] for place in dim[:-1]), last_dim_size]
    out = xp.fft.irfftn(self, s=sizes, axes=tuple(dim), norm="forward")
    out = _scaled(xp, out, normalization, elements_along(sizes, range(len(sizes))))
    strides = element_strides(self)
    if len(dim) > 1:  # PyTorch transforms complex numbers first, then the last dimension
        order = _order(strides, _farthest_first(strides, dim[:-1]))
        strides = strides_in_order(self.shape, order)
    return _laid_out(out, strides, dim[-1:])


def _farthest_first(strides: Sequence[int], dims: Sequence[int]) -> list[int]:
    """Dimensions that are transformed, by how far apart their elements lie."""
    wrapped = [dim % len(strides) for dim in dims]
    return sorted(wrapped, key=lambda dim: -strides[dim])


def _order(strides: Sequence[int], dims: Sequence[int]) -> list[int]:
    """The order in which a transform's result lies, the closest dimension first: what was
    transformed, then the others by their own strides."""
    wrapped = [dim % len(strides) for dim in dims]
    others = _farthest_first(strides, [dim for dim in range(len(strides)) if dim not in wrapped])
    return [*reversed(wrapped), *reversed(others)]


def _laid_out(out: Any, strides: Sequence[int], dims: Sequence[int]) -> Any:
    return relaid(out, strides_in_order(out.shape, _order(strides, dims)))


complex_transform = operator(
    "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
    node="FftC2CBackward0",
    where="hidden",
    forward=_complex_kernel,
    self=lambda grad, dim, normalization, forward: complex_transform(
        grad, dim, normalization, not forward
    ),
    doc="The transform of complex numbers.",
    samples=("torch.fft.fft2(x)", "torch.fft.ifftn(torch.complex(x, y))"),
)


def _from_real_gradient(grad: Any, dim: Any, normalization: int, onesided: bool, size: int) -> Any:
    """Onesided: the half that was left out had no influence, so its gradient is zero."""
    last = dim[-1] % grad.ndim
    if onesided and size > grad.shape[last]:
        sizes = tuple(size if place == last else n for place, n in enumerate(grad.shape))
        whole = zeros_of(grad, sizes)
        write_over(slice_(whole, last, 0, grad.shape[last], 1), grad)
        grad = whole
    return real_part(complex_transform(grad, dim, normalization, False))


from_real = operator(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    node="FftR2CBackward0",
    where="hidden",
    dtype=lambda self, *rest: complex_of(self.dtype),
    refuse={
        word: (RuntimeError, f"MKL FFT doesn't support tensors of type: {word}") for word in REDUCED
    },
    forward=_to_complex_kernel,
    self=lambda grad, self, dim, normalization, onesided: _from_real_gradient(
        grad, dim, normalization, onesided, self.shape[dim[-1]]
    ),
    doc="The transform of real numbers, its second half left out when onesided.",
    samples=("torch.fft.rfft(x)", "torch.fft.fft(x)"),
)


def _to_real_gradient(grad: Any, dim: Any, normalization: int) -> Any:
    """Entries whose mirror image was left out count twice."""
    half = from_real(grad, dim, normalization, True)
    last = dim[-1] % grad.ndim
    doubled = grad.shape[last] - half.shape[last]
    if doubled > 0:
        place = slice_(half, last, 1, 1 + doubled, 1)
        if hasattr(place, "mul_"):
            place.mul_(2)
        else:
            place *= 2
    return half


to_real = operator(
    "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
    node="FftC2RBackward0",
    where="hidden",
    dtype=lambda self, *rest: real_of(self.dtype),
    cost=lambda self, dim, normalization, last_dim_size: (
        elements_along(self.shape, range(self.ndim)) // max(self.shape[dim[-1]], 1) * last_dim_size
    ),
    forward=_to_real_kernel,
    self=lambda grad, dim, normalization: _to_real_gradient(grad, dim, normalization),
    doc="The transform back to real numbers, from the first half alone.",
    samples=("torch.fft.irfft(x)", "torch.fft.hfft(x)"),
)

# ---- arguments


def _normalization(norm: str | None, forward: bool) -> int:
    if norm is None or norm == "backward":
        return NONE if forward else BY_COUNT
    if norm == "forward":
        return BY_COUNT if forward else NONE
    if norm == "ortho":
        return BY_ROOT
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _promoted(self: Any, to_complex: bool = False) -> Any:
    if self.dtype.is_reduced:
        raise RuntimeError(f"Unsupported dtype {self.dtype.word}")
    dtype = self.dtype if self.dtype.category >= FLOATING else default_dtype()
    return self.to(complex_of(dtype) if to_complex else dtype)


def _resized(self: Any, dims: Sequence[int], sizes: Sequence[int]) -> Any:
    """Each dimension cut, or padded with zeros, to its size."""
    pads = [0] * (2 * self.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        if size == -1:
            continue
        have = self.shape[dim]
        if have < size:
            pads[2 * (self.ndim - 1 - dim % self.ndim) + 1] = size - have
        elif have > size:
            self = slice_(self, dim, 0, size, 1)
    return constant_pad_nd.run(self, tuple(pads), 0) if any(pads) else self


def _check_points(count: int) -> int:
    if count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")
    return count


def _check_real(self: Any, name: str) -> None:
    if self.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {self.dtype.word}")


def _check_real_valued(self: Any, name: str) -> None:
    """The same of several dimensions, in words of their own."""
    if self.dtype.is_complex:
        word = self.dtype.word
        raise RuntimeError(
            f"{name} expects a real-valued input tensor, but got {word}"
            if name == "rfftn"
            else f"Only supports floating-point dtypes, but found: {word}"
        )


def _wrapped(dim: int, ndim: int) -> int:
    """A dimension counted from the front; here a number has none."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)


def _along(self: Any, n: int | None, dim: int) -> tuple[Any, int]:
    """One dimension, converted to n points."""
    place = _wrapped(dim, self.ndim)
    points = _check_points(self.shape[place] if n is None else n)
    return (self if n is None else _resized(self, [place], [points])), place


def _one(name: str, forward: bool, onesided: bool) -> Any:
    """fft, ifft, rfft, ihfft."""

    def body(self: Any, n: int | None, dim: int, norm: str | None) -> Any:
        if onesided:
            _check_real(self, name)
        input, place = _along(_promoted(self), n, dim)
        normalization = _normalization(norm, forward)
        if input.dtype.is_complex:
            return complex_transform.run(input, (place,), normalization, forward)
        out = from_real.run(input, (place,), normalization, onesided)
        return out if forward else conj_row(out)

    return native(body)


def _one_to_real(forward: bool) -> Any:
    """irfft, hfft."""

    def body(self: Any, n: int | None, dim: int, norm: str | None) -> Any:
        input = _promoted(self, True)
        place = _wrapped(dim, input.ndim)
        points = _check_points(2 * (input.shape[place] - 1) if n is None else n)
        if n is not None:
            input = _resized(input, [place], [points // 2 + 1])
        input = conj(input) if forward else input
        return to_real.run(input, (place,), _normalization(norm, forward), points)

    return native(body)


def _dims_and_sizes(self: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    if dim is not None:
        dims = tuple(_wrapped(place, self.ndim) for place in dim)
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    elif s is not None:
        if len(s) > self.ndim:
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {self.ndim} dimensions."
            )
        dims = tuple(range(self.ndim - len(s), self.ndim))
    else:
        dims = tuple(range(self.ndim))
    if s is not None and len(s) != len(dims):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    given = [-1] * len(dims) if s is None else list(s)
    sizes = [self.shape[d] if n == -1 else n for d, n in zip(dims, given, strict=True)]
    for size in sizes:
        _check_points(size)
    return dims, sizes


def _halved(name: str, self: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int], int]:
    """For transforms to real numbers the last size is that of the answer."""
    dims, sizes = _dims_and_sizes(self, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = s[-1] if s is not None and s[-1] != -1 else 2 * (self.shape[dims[-1]] - 1)
    _check_points(last)
    return dims, [*sizes[:-1], last // 2 + 1], last


def _several(forward: bool) -> Any:
    """fftn, ifftn."""

    def body(self: Any, s: Any, dim: Any, norm: str | None) -> Any:
        dims, sizes = _dims_and_sizes(self, s, dim)
        input = _resized(_promoted(self, True), dims, sizes)
        if not dims:
            return alias(input)
        return complex_transform.run(input, dims, _normalization(norm, forward), forward)

    return native(body)


def _rfftn(self: Any, s: Any, dim: Any, norm: str | None) -> Any:
    _check_real_valued(self, "rfftn")
    dims, sizes = _dims_and_sizes(self, s, dim)
    if not dims:
        raise RuntimeError("rfftn must transform at least one axis")
    input = _resized(_promoted(self), dims, sizes)
    return from_real.run(input, dims, _normalization(norm, True), True)


def _several_to_real(name: str, forward: bool) -> Any:
    """irfftn; hfftn transforms all dimensions but the last ahead first."""

    def body(self: Any, s: Any, dim: Any, norm: str | None) -> Any:
        dims, sizes, last = _halved(name, self, s, dim)
        input = _resized(_promoted(self, True), dims, sizes)
        normalization = _normalization(norm, forward)
        if not forward:
            return to_real.run(input, dims, normalization, last)
        if len(dims) > 1:
            input = complex_transform.run(input, dims[:-1], normalization, True)
        return to_real.run(conj_row(input), dims[-1:], normalization, last)

    return native(body)


def _ihfftn(self: Any, s: Any, dim: Any, norm: str | None) -> Any:
    _check_real_valued(self, "ihfftn")
    dims, sizes = _dims_and_sizes(self, s, dim)
    if not dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    input = _resized(_promoted(self), dims, sizes)
    normalization = _normalization(norm, False)
    half = from_real.run(input, dims[-1:], normalization, True)
    if len(dims) == 1:
        return conj_row(half)
    return complex_transform.run(conj_physical_row(half), dims[:-1], normalization, False)


# ---- their names

_ONE = {
    "fft": (_one("fft", True, False), "Discrete Fourier transform along a dimension."),
    "ifft": (_one("ifft", False, False), "Inverse discrete Fourier transform along a dimension."),
    "rfft": (
        _one("rfft", True, True),
        "Discrete Fourier transform of real numbers, half of it.",
    ),
    "ihfft": (_one("ihfft", False, True), "The inverse of hfft."),
    "irfft": (
        _one_to_real(False),
        "Inverse of rfft: real numbers of half a transform.",
    ),
    "hfft": (_one_to_real(True), "The transform of a signal whose spectrum is real."),
}
_ERRORS = {
    "fft": ("torch.fft.fft(x, norm='foo')", "torch.fft.fft(x, n=0)", "torch.fft.fft(x, dim=2)"),
    "rfft": ("torch.fft.rfft(torch.complex(x, y))",),
    "ihfft": ("torch.fft.ihfft(torch.complex(x, y))",),
    "irfft": ("torch.fft.irfft(x[:, :1])",),
}
for _name, (_body, _doc) in _ONE.items():
    _operand = "x" if _name in ("rfft", "ihfft") else "torch.complex(x, y)"
    composite(
        f"{_name}(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
        _body,
        where="fft",
        doc=_doc,
        samples=(
            f"torch.fft.{_name}(x)", f"torch.fft.{_name}({_operand}, n=4, norm='ortho')",
            f"torch.fft.{_name}(x, 2, 0, 'forward')",
        ),
        errors=_ERRORS.get(_name, ()),
    )  # fmt: skip

_SEVERAL = {
    "fft": (_several(True), "The discrete Fourier transform of several dimensions."),
    "ifft": (_several(False), "The inverse of fftn."),
    "rfft": (native(_rfftn), "The transform of real numbers, the last one halved."),
    "irfft": (_several_to_real("irfftn", False), "The inverse of rfftn."),
    "hfft": (_several_to_real("hfftn", True), "The transform of what has a real spectrum."),
    "ihfft": (native(_ihfftn), "The inverse of hfftn."),
}
for _name, (_body, _doc) in _SEVERAL.items():
    composite(
        f"{_name}n(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        _body,
        where="fft",
        doc=_doc,
        samples=(
            f"torch.fft.{_name}n(x)", f"torch.fft.{_name}n(x, s=(4, 2), norm='ortho')",
            f"torch.fft.{_name}n(x, dim=0)",
        ),
        errors=(f"torch.fft.{_name}n(x, dim=(0, 0))", f"torch.fft.{_name}n(x, s=(2, 2, 2))",
                f"torch.fft.{_name}(s)"),
    )  # fmt: skip
    composite(
        f"{_name}2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
        _body,
        where="fft",
        doc=f"{_doc[:-1]}, over two of them.",
        samples=(f"torch.fft.{_name}2(x)", f"torch.fft.{_name}2(c, dim=(0, 2), norm='forward')"),
    )

# ---- frequencies and their order


def _shifted(self: Any, dim: Any, half: Any) -> Any:
    dims = tuple(range(self.ndim)) if dim is None else tuple(wrap_dim(d, self.ndim) for d in dim)
    return self.roll(tuple(half(self.shape[d]) for d in dims), dims)


for _name, _half, _doc in (
    ("fftshift", lambda size: size // 2, "Frequency zero moved to the middle."),
    ("ifftshift", lambda size: (size + 1) // 2, "The inverse of fftshift."),
):
    composite(
        f"{_name}(Tensor self, int[1]? dim=None) -> Tensor",
        lambda self, dim, half=_half: _shifted(self, dim, half),
        where="fft",
        doc=_doc,
        samples=(f"torch.fft.{_name}(x)", f"torch.fft.{_name}(v)", f"torch.fft.{_name}(x, 1)"),
    )


def _frequencies(xp: Any, n: int, d: float, dtype: Any, halved: bool) -> Any:
    count = int(n / 2) + 1 if halved else n  # cut off towards zero, as C++ divides
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    steps = xp.arange(count, dtype=dtype)
    if not halved:
        steps[(n + 1) // 2 :] -= n
    return steps * dtype.type(1.0 / (n * d) if n * d else xp.inf)


for _name, _halved_, _doc in (
    ("fftfreq", False, "The frequencies that fft's entries belong to."),
    ("rfftfreq", True, "The frequencies that rfft's entries belong to."),
):
    factory(
        f"{_name}(int n, float d=1.0, *, ScalarType? dtype=None, Device? device=None, "
        "bool requires_grad=False) -> Tensor",
        lambda xp, n, d, dtype, halved=_halved_: _frequencies(xp, n, d, xp.dtype(dtype), halved),
        cost=lambda n, *rest: 2 * max(n, 0),
        where="fft",
        doc=_doc,
        samples=(f"torch.fft.{_name}(5)", f"torch.fft.{_name}(4, 0.5)", f"torch.fft.{_name}(0)"),
        errors=(f"torch.fft.{_name}(-5)",),
    )
