"""Operators: padding by a constant, by reflection, by the edge's value, or around in a circle."""

from __future__ import annotations

from typing import Any

from ...engine.schema.limits import as_element
from ...engine.schema.operator import Reduced, catalogue, composite, operator
from ...numerics.reduced_kernels import add_at
from ..conventions import unimplemented
from ..index.adding import add_rows
from ..shape.constants import zeros_of

# ---- constants; negative sizes cut


def _pairs(pad: Any, ndim: int) -> list[tuple[int, int]]:
    """Padding before and after each dimension, from PyTorch's order: the last dimension first."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


def _constant(xp: Any, x: Any, pad: Any, value: float) -> Any:
    pairs = _pairs(pad, x.ndim)
    cut = tuple(
        slice(max(0, -before), size - max(0, -after))
        for (before, after), size in zip(pairs, x.shape, strict=True)
    )
    grown = [(max(0, before), max(0, after)) for before, after in pairs]
    return xp.pad(x[cut], grown, constant_values=value)


def _check_constant(self: Any, pad: Any, value: float) -> None:
    as_element(value, self.dtype)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)} while the input has {self.ndim} dimensions."
        )
    for (before, after), size in zip(_pairs(pad, self.ndim), self.shape, strict=True):
        if size + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")


constant_pad_nd = operator(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    node="ConstantPadNdBackward0",
    where="torch",
    layout="channels",
    forward=_constant,
    self=lambda grad, pad: constant_pad_nd(grad, tuple(-size for size in pad), 0),
    check=_check_constant,
    cost=lambda self, pad, value: _padded_numel(self.shape, pad),
    jacobian="placement",
    doc="Widens dimensions by a constant, the last dimension first.",
    samples=("F.pad(x, (1, 1))", "F.pad(x, (1, 0, 0, 2), value=3.0)", "F.pad(x, (-1, 1))"),
)


def _padded_numel(shape: Any, pad: Any) -> int:
    count = 1
    for size, (before, after) in zip(shape, _pairs(pad, len(shape)), strict=True):
        count *= max(0, size + before + after)
    return count


# ---- reflection and replication: every element of the result has a place it comes from


def _sources(xp: Any, size: int, before: int, after: int, mode: str) -> Any:
    place = xp.arange(-before, size + after)
    if mode == "replicate":
        return xp.clip(place, 0, size - 1)
    place = abs(place)
    return size - 1 - abs(size - 1 - place)


def _taken(xp: Any, x: Any, padding: Any, mode: str) -> Any:
    pairs = _pairs(padding, x.ndim)
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            x = xp.take(x, _sources(xp, x.shape[axis], before, after, mode), axis=axis)
    return x


def _returned(xp: Any, grad: Any, x: Any, padding: Any, mode: str) -> Any:
    pairs = _pairs(padding, x.ndim)
    for axis, (before, after) in enumerate(pairs):
        if not before and not after:
            continue
        shape = list(grad.shape)
        shape[axis] = x.shape[axis]
        out = xp.zeros(shape, dtype=grad.dtype)
        places = _sources(xp, x.shape[axis], before, after, mode)
        add_rows(xp, xp.moveaxis(out, axis, 0), places, xp.moveaxis(grad, axis, 0))
        grad = out
    return grad


def _returned_one_by_one(kind: Any, grad: Any, x: Any, padding: Any, mode: str) -> Any:
    """The same in reduced precision: each sum is rounded."""
    places = kind.xp.arange(x.size).reshape(x.shape)
    target = kind.xp.zeros(x.size, dtype=grad.dtype)
    return add_at(kind, target, _taken(kind.xp, places, padding, mode), grad).reshape(x.shape)


def _check_reflection(self: Any, padding: Any) -> None:
    for place in range(0, len(padding), 2):
        dim = self.ndim - 1 - place // 2
        before, after = padding[place], padding[place + 1]
        if before >= self.shape[dim] or after >= self.shape[dim]:
            raise RuntimeError(
                f"Argument #{4 + place}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {dim} of input "
                f"{list(self.shape)}"
            )
    _check_width(self, padding)


def _check_width(self: Any, padding: Any) -> None:
    """Padding that is negative leaves something of one dimension."""
    size = self.shape[-1]
    if len(padding) == 2 and size and size + sum(padding) < 1:
        raise RuntimeError(
            f"input (W: {size}) is too small. Calculated output W: {size + sum(padding)}"
        )


def _declare(mode: str, ndim: int) -> Any:
    word = {"reflect": "reflection", "replicate": "replication"}[mode]
    node = f"{word.capitalize()}Pad{ndim}DBackward"
    name = f"{word}_pad{ndim}d"
    image = "c" if ndim < 3 else "c[None]"

    def again(grad: Any, padding: Any) -> Any:
        return forward(grad, padding)

    backward = operator(
        f"{name}_backward(Tensor grad_output, Tensor self, int[] padding) -> Tensor",
        node=node + "Backward0",
        where="hidden",
        forward=lambda xp, grad_output, self, padding: _returned(
            xp, grad_output, self, padding, mode
        ),
        reduced=Reduced(
            lambda kind, grad_output, self, padding: _returned_one_by_one(
                kind, grad_output, self, padding, mode
            )
        ),
        grad_output=lambda grad, padding: again(grad, padding),
        self=lambda grad, self_shape: zeros_of(grad, self_shape),
        doc="Adds each gradient to the element that was copied.",
        samples=(f"torch.autograd.grad(F.pad({image}, {(1, 1) * ndim}, '{mode}').sum(), c)[0]",),
    )
    forward = operator(
        f"{name}(Tensor self, int[] padding) -> Tensor",
        node=node + "0",
        where="hidden",
        forward=lambda xp, self, padding: _taken(xp, self, padding, mode),
        self=lambda grad, self, padding: backward(grad, self, padding),
        check=_check_reflection if mode == "reflect" else _check_width,
        refuse=unimplemented(name, "Bool"),
        cost=lambda self, padding: _padded_numel(self.shape, padding),
        doc="Widens dimensions by elements of the input itself.",
        samples=(f"F.pad({image}, {(1, 1) * ndim}, '{mode}')",),
    )
    return forward


_BY_MODE = {
    (mode, ndim): _declare(mode, ndim) for mode in ("reflect", "replicate") for ndim in (1, 2, 3)
}


def _circular(input: Any, pad: Any) -> Any:
    """PyTorch fills an empty tensor: the input in the middle, then each side from the other."""
    pairs = _pairs(pad, input.ndim)
    shape = [
        size + before + after for size, (before, after) in zip(input.shape, pairs, strict=True)
    ]
    for size, pair in zip(input.shape, pairs, strict=True):
        if max(pair) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + sum(pair) < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    part = catalogue.row("slice.Tensor").run
    out = input.new_empty(shape)
    inside, source = out, input
    for dim in range(2 if len(pad) // 2 == input.ndim - 2 else 1, input.ndim):
        (before, after), size = pairs[dim], input.shape[dim]
        source = part(source, dim, max(-before, 0), size - max(-after, 0), 1)
        inside = part(inside, dim, max(before, 0), shape[dim] - max(after, 0), 1)
    inside.copy_(source)
    for dim in range(input.ndim - 1, 0, -1):
        (before, after), length = pairs[dim], shape[dim]
        if before > 0:
            end = length - max(after, 0)
            part(out, dim, 0, before, 1).copy_(part(out, dim, end - before, end, 1))
        if after > 0:
            start = max(before, 0)
            target = part(out, dim, length - after, length, 1)
            target.copy_(part(out, dim, start, start + after, 1))
    return out


def _pad(input: Any, pad: Any, mode: str, value: float | None) -> Any:
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > input.ndim * 2:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad_nd.run(input, tuple(pad), 0 if value is None else value)
    if value not in (None, 0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    ndim = len(pad) // 2
    if ndim not in (1, 2, 3) or input.ndim not in (ndim + 1, ndim + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _circular(input, pad)
    return _BY_MODE[mode, ndim].run(input, tuple(pad))


composite(
    "pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor",
    _pad,
    where="functional",
    doc="Widens dimensions, the last one first, by a constant or by the input's own elements.",
    samples=(
        "F.pad(x, (1, 1))",
        "F.pad(x, (1, 0), mode='reflect')",
        "F.pad(x, (2, 1), mode='replicate')",
    ),
    errors=(
        "F.pad(x, (1,))", "F.pad(x, (1, 1), mode='mirror')", "F.pad(x, (5, 5), mode='reflect')",
    ),
)  # fmt: skip
