"""Operators: activations as torch.nn.functional offers them, with `inplace=True`."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, warn
from ..elementwise.activation import (
    celu,
    elu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    relu,
    threshold,
)
from ..elementwise.activation_smooth import mish, rrelu_with_noise, silu

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _face(row: Any, *more: Any) -> Any:
    """A body (input, *arguments, inplace) that runs the row or its in-place twin.

    `more` are arguments that the row takes and the function does not have.
    """
    twin = catalogue.row(row.name + "_")

    def body(input: Any, *arguments: Any) -> Any:
        *given, inplace = arguments
        return (twin if inplace else row).run(input, *given, *more)

    return body


def _declare(name: str, parameters: str, row: Any, samples: tuple[str, ...], *more: Any) -> None:
    composite(
        f"{name}.functional(Tensor input, {parameters}bool inplace=False) -> Tensor",
        _face(row, *more),
        where="functional",
        doc=row.doc,
        samples=samples,
    )


def _declare_twin(name: str, parameters: str, row: Any, *more: Any) -> None:
    """The in-place form under a name of its own."""
    twin = catalogue.row(row.name + "_")
    composite(
        f"{name}_.functional(Tensor input{parameters}) -> Tensor",
        lambda input, *given: twin.run(input, *given, *more),
        where="functional torch" if name == "celu" else "functional",  # no method has this name
        doc=f"In-place form of {name}.",
        samples=(f"F.{name}_(x * 1{', 0.1, 0.2' if name == 'threshold' else ''})",),
    )


_declare("relu", "", relu, ("F.relu(x)", "F.relu(x * 1, inplace=True)"))
_declare(
    "threshold", "Scalar threshold, Scalar value, ", threshold,
    ("F.threshold(x, 0.1, 2.0)", "F.threshold(x * 1, 0.1, 2.0, True)"),
)  # fmt: skip
_declare(
    "leaky_relu", "Scalar negative_slope=0.01, ", leaky_relu,
    ("F.leaky_relu(x)", "F.leaky_relu(x * 1, 0.2, True)"),
)  # fmt: skip
_declare(
    "elu", "Scalar alpha=1.0, ", elu, ("F.elu(x)", "F.elu(x * 1, 0.5, True)"), 1, 1
)  # fmt: skip
_declare("celu", "Scalar alpha=1.0, ", celu, ("F.celu(x)", "F.celu(x * 1, inplace=True)"))
_declare(
    "hardtanh", "Scalar min_val=-1.0, Scalar max_val=1.0, ", hardtanh,
    ("F.hardtanh(x)", "F.hardtanh(x * 1, -0.5, 0.5, True)"),
)  # fmt: skip
_declare("hardsigmoid", "", hardsigmoid, ("F.hardsigmoid(x)",))
_declare("hardswish", "", hardswish, ("F.hardswish(x)", "F.hardswish(x * 1, True)"))
_declare("silu", "", silu, ("F.silu(x)", "F.silu(x * 1, True)"))
_declare("mish", "", mish, ("F.mish(x)", "F.mish(x * 1, True)"))


def _elu_like(input: Any, inplace: bool, alpha: float, scale: float) -> Any:
    row = catalogue.row("elu_") if inplace else elu
    return row.run(input, alpha, scale, 1)


composite(
    "selu.functional(Tensor input, bool inplace=False) -> Tensor",
    lambda input, inplace: _elu_like(input, inplace, _SELU_ALPHA, _SELU_SCALE),
    where="functional",
    doc="elu with the alpha and scale that keep mean and variance.",
    samples=("F.selu(x)", "F.selu(x * 1, inplace=True)"),
)

composite(
    "selu_(Tensor self) -> Tensor",
    lambda self: _elu_like(self, True, _SELU_ALPHA, _SELU_SCALE),
    where="torch functional",
    doc="In-place form of selu.",
    samples=("torch.selu_(x * 1)",),
)

composite(
    "relu6(Tensor input, bool inplace=False) -> Tensor",
    lambda input, inplace: (catalogue.row("hardtanh_") if inplace else hardtanh).run(input, 0, 6),
    where="functional",
    smooth="torch.nn.functional.leaky_relu(input)",
    doc="input clamped to [0, 6].",
    computes="clamp(input, 0, 6)",
    corners=("F.relu6(tensor([0., 6.]))",),
    samples=("F.relu6(x)", "F.relu6(x * 4, True)"),
)


def _rrelu(
    input: Any, lower: float, upper: float, training: bool, inplace: bool, generator: Any = None
) -> Any:
    if not lower <= upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    noise = input.new_empty(tuple(input.shape))
    if training:
        below = input.detach() <= 0
        drawn = noise.double().new_empty((int(below.sum().item()),))
        drawn.uniform_(lower, upper, generator=generator)
        noise.fill_(1)
        noise[below] = drawn.to(noise.dtype)
    row = catalogue.row("rrelu_with_noise_") if inplace else rrelu_with_noise
    return row.run(input, noise, lower, upper, training)


composite(
    "rrelu.functional(Tensor input, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False, bool inplace=False) -> Tensor",
    _rrelu,
    where="functional",
    doc="leaky_relu with a slope drawn for each element in training, their mean otherwise.",
    samples=("F.rrelu(x)", "F.rrelu(x, 0.2, 0.4)"),
)

composite(
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False, Generator? generator=None) -> Tensor",
    lambda self, lower, upper, training, generator: _rrelu(
        self, lower, upper, training, False, generator
    ),
    where="torch",
    doc="leaky_relu with a slope drawn for each element in training, their mean otherwise.",
    samples=("torch.rrelu(x)",),
)

composite(
    "rrelu_(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False, Generator? generator=None) -> Tensor",
    lambda self, lower, upper, training, generator: _rrelu(
        self, lower, upper, training, True, generator
    ),
    where="torch functional",
    doc="In-place form of rrelu.",
    samples=("torch.rrelu_(x * 1)",),
)

composite(
    "softsign(Tensor input) -> Tensor",
    lambda input: input / (input.abs() + 1),
    where="functional",
    doc="input / (1 + abs(input)).",
    computes="input/(1 + abs(input))",
    corners=("F.softsign(tensor(0.))",),
    samples=("F.softsign(x)",),
)

composite(
    "tanhshrink(Tensor input) -> Tensor",
    lambda input: input - input.tanh(),
    where="functional",
    doc="input - tanh(input).",
    computes="input - tanh(input)",
    samples=("F.tanhshrink(x)",),
)

composite(
    "sigmoid.functional(Tensor input) -> Tensor",
    lambda input: input.sigmoid(),
    where="functional",
    doc="1 / (1 + exp(-input)).",
    computes="1/(1 + exp(-input))",
    samples=("F.sigmoid(x)",),
)

composite(
    "tanh.functional(Tensor input) -> Tensor",
    lambda input: input.tanh(),
    where="functional",
    doc="The hyperbolic tangent.",
    computes="(exp(input) - exp(-input))/(exp(input) + exp(-input))",
    samples=("F.tanh(x)",),
)


def _gumbel_softmax(logits: Any, tau: Any, hard: bool, eps: float, dim: int) -> Any:
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    gumbels = -logits.new_empty(tuple(logits.shape)).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = logits.new_zeros(tuple(logits.shape)).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


composite(
    "gumbel_softmax(Tensor logits, any tau=1, bool hard=False, float eps=1e-10, int dim=-1) "
    "-> Tensor",
    _gumbel_softmax,
    where="functional",
    doc="A sample of the relaxed categorical distribution with these logits.",
    samples=(
        "F.gumbel_softmax(x)",
        "F.gumbel_softmax(x, tau=0.5, hard=True, dim=0)",
        "F.gumbel_softmax(x, tau=s)",
    ),
    errors=("F.gumbel_softmax(x, dim=2)",),
)

_declare_twin("relu", "", relu)
_declare_twin("threshold", ", Scalar threshold, Scalar value", threshold)
_declare_twin("leaky_relu", ", Scalar negative_slope=0.01", leaky_relu)
_declare_twin("elu", ", Scalar alpha=1.0", elu, 1, 1)
_declare_twin("celu", ", Scalar alpha=1.0", celu)
_declare_twin("hardtanh", ", Scalar min_val=-1.0, Scalar max_val=1.0", hardtanh)
