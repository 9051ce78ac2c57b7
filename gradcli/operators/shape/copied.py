"""Operators: views as copies: permute_copy and its like, with the gradients of the views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.schema.operator import Row, operator
from .shape import expand, view, view_dtype
from .squeeze import squeeze, squeeze_dim, unsqueeze
from .transposed import permute, t, transpose


def _copying(forward: Callable[..., Any]) -> Callable[..., Any]:
    return lambda xp, *args: forward(xp, *args).copy()


def _declare(view: Row, *samples: str) -> None:
    name, _, rest = str(view.signature).partition("(")
    first, _, overload = name.partition(".")
    operator(
        f"{first}_copy{'.' if overload else ''}{overload}({rest}",
        node=f"{view.node}_copy",
        where="torch",
        check=view.check,
        forward=_copying(view.forward),
        self=view.formulas[0].function,
        acts=view.acts,
        zero=view.zero,
        jacobian=view.jacobian,
        doc=f"{view.doc.removesuffix('.')}, as a copy.",
        samples=samples,
    )


_declare(permute, "torch.permute_copy(x, (1, 0))", "torch.permute_copy(c, (2, 0, 1))")
_declare(transpose, "torch.transpose_copy(c, 0, 2)")
_declare(t, "torch.t_copy(x)")
_declare(unsqueeze, "torch.unsqueeze_copy(x, 1)")
_declare(squeeze, "torch.squeeze_copy(x[:1])")
_declare(squeeze_dim, "torch.squeeze_copy(x[:1], 0)")
_declare(view, "torch.view_copy(x, (6,))", "torch.view_copy(x, (3, -1))")
_declare(expand, "torch.expand_copy(x, (2, 2, 3))")
operator(
    "view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor",
    where="torch",
    dtype=lambda self, dtype: dtype,
    check=view_dtype.check,
    forward=_copying(view_dtype.forward),
    reduced=view_dtype.reduced,
    doc=f"{view_dtype.doc.removesuffix('.')}, as a copy.",
    samples=("torch.view_copy(x.detach(), torch.int32)", "torch.view_copy(i, torch.float64)"),
)
