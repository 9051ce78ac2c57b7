"""Operators: the norm of each window (torch.nn.functional.lp_pool1d and its like)."""

from __future__ import annotations

from math import prod
from typing import Any

from ...engine.schema.operator import catalogue, composite


def _sizes(value: Any, ndim: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,) * ndim


def _pool(ndim: int) -> Any:
    average = f"nn.functional.avg_pool{ndim}d"

    def body(input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
        powers = input.pow(norm_type)
        call = catalogue.functions
        out = call[average](powers, kernel_size, stride, 0, ceil_mode)
        sign, positive = call["sign"](out), call["nn.functional.relu"](call["abs"](out))
        # PyTorch takes the windows of one dimension for a number, the others for pairs.
        elements = kernel_size if ndim == 1 else prod(_sizes(kernel_size, ndim))
        return (sign * positive).mul(elements).pow(1.0 / norm_type)

    return body


for _ndim, _x in ((1, "c"), (2, "c[None]"), (3, "c[None, None]")):
    composite(
        f"lp_pool{_ndim}d(Tensor input, Scalar norm_type, any kernel_size, any stride=None, "
        "bool ceil_mode=False) -> Tensor",
        _pool(_ndim),
        where="functional",
        doc="The norm of each window.",
        samples=(
            f"F.lp_pool{_ndim}d({_x}, 2, 2)",
            f"F.lp_pool{_ndim}d({_x}, 3.0, 2, stride=1, ceil_mode=True)",
        ),
        errors={1: ("F.lp_pool1d(v, 2, 2)",), 3: ("F.lp_pool3d(x, 2, 2)",)}.get(_ndim, ()),
    )
