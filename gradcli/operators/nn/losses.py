"""Operators: losses as torch.nn.functional offers them, and those that PyTorch composes."""

from __future__ import annotations

import math
from typing import Any

from ...engine.schema.mode import no_grad
from ...engine.schema.operator import composite, warn
from ...engine.tensors.conversion import MEAN, NONE, SUM
from ..conventions import native, reduced, reduction_number, shape_text
from ..reduce.softmax import log_softmax_data
from ..shape.constants import number_as
from .loss_binary import binary_cross_entropy, binary_cross_entropy_with_logits
from .loss_classes import nll_loss_nd
from .loss_regression import huber_loss, mse_loss, smooth_l1_loss

_OLD = "bool? size_average=None, "
_REDUCE = "bool? reduce=None, str reduction='mean'"


def _same_sizes(input: Any, target: Any) -> tuple[Any, Any]:
    """Both at their common size, with PyTorch's warning where that changes one of them."""
    if tuple(target.shape) != tuple(input.shape):
        warn(
            f"Using a target size ({shape_text(target)}) that is different to the input size "
            f"({shape_text(input)}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size."
        )
        input, target = _broadcast(input, target)
    return input, target


def _broadcast(*tensors: Any) -> list[Any]:
    from ..shape.shape import broadcast_tensors

    return list(broadcast_tensors(list(tensors)))


def _weighted(loss: Any, weight: Any, reduction: str) -> Any:
    """A weight for each element: the mean divides by their sum."""
    loss = loss * weight
    if reduction == "sum":
        return loss.sum()
    return loss if reduction == "none" else loss.sum() / weight.sum()


def _mse_loss(
    input: Any, target: Any, size_average: Any, reduce: Any, reduction: str, weight: Any
) -> Any:
    input, target = _same_sizes(input, target)
    number = reduction_number(reduction, size_average, reduce)
    if weight is not None:
        return _weighted((input - target) ** 2, weight, reduction)
    return mse_loss.run(input, target, number)


def _l1_loss(
    input: Any, target: Any, size_average: Any, reduce: Any, reduction: str, weight: Any
) -> Any:
    input, target = _same_sizes(input, target)
    number = reduction_number(reduction, size_average, reduce)
    loss = (input - target).abs()
    return reduced(loss, number) if weight is None else _weighted(loss, weight, reduction)


def _smooth_l1_loss(
    input: Any, target: Any, size_average: Any, reduce: Any, reduction: str, beta: float
) -> Any:
    input, target = _same_sizes(input, target)
    number = reduction_number(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return reduced((input - target).abs(), number)
    return smooth_l1_loss.run(input, target, number, beta)


def _huber_loss(input: Any, target: Any, reduction: str, delta: float, weight: Any) -> Any:
    input, target = _same_sizes(input, target)
    number = reduction_number(reduction)
    if weight is None:
        return huber_loss.run(input, target, number, delta)
    loss = huber_loss.run(input, target, NONE, delta) * weight
    return loss if number == NONE else loss.sum() if number == SUM else loss.mean()


composite(
    f"mse_loss(Tensor input, Tensor target, {_OLD}{_REDUCE}, Tensor? weight=None) -> Tensor",
    _mse_loss,
    where="functional",
    doc="Mean squared error; or the sum of the squared differences, or each of them.",
    samples=("F.mse_loss(x, y)", "F.mse_loss(x, y, reduction='sum')", "F.mse_loss(x, v)"),
    errors=("F.mse_loss(x, y, reduction='total')", "F.mse_loss(i, i)"),
)

composite(
    f"l1_loss(Tensor input, Tensor target, {_OLD}{_REDUCE}, Tensor? weight=None) -> Tensor",
    _l1_loss,
    where="functional",
    doc="The absolute difference: its mean, its sum, or of each element.",
    computes="abs(input - target).mean()",
    corners=("F.l1_loss(tensor([1.]), tensor([1.]))",),
    samples=("F.l1_loss(x, y)", "F.l1_loss(x, y, reduction='none')"),
    errors=("F.l1_loss(x, torch.ones(4))",),
)

composite(
    f"smooth_l1_loss(Tensor input, Tensor target, {_OLD}{_REDUCE}, float beta=1.0) -> Tensor",
    _smooth_l1_loss,
    where="functional",
    doc="Half a square below beta, the absolute difference above.",
    corners=("F.smooth_l1_loss(tensor([1., -1.]), tensor([0., 0.]).detach(), reduction='sum')",),
    samples=("F.smooth_l1_loss(x, y)", "F.smooth_l1_loss(x, y, beta=0.5, reduction='sum')"),
    errors=("F.smooth_l1_loss(x, y, beta=-1.0)",),
)

composite(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, "
    "Tensor? weight=None) -> Tensor",
    _huber_loss,
    where="functional",
    doc="Half a square below delta, delta times the rest above.",
    corners=("F.huber_loss(tensor([1., -1.]), tensor([0., 0.]).detach(), 'sum')",),
    samples=("F.huber_loss(x, y)", "F.huber_loss(x, y, delta=0.5, reduction='none')"),
    errors=("F.huber_loss(x, y, delta=0.0)",),
)

# ---- class numbers


def _nll(
    input: Any, target: Any, weight: Any, size_average: Any, ignore_index: int,
    reduce: Any, reduction: str,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    return nll_loss_nd(input, target, weight, number, ignore_index)


composite(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, "
    "int ignore_index=-100, bool? reduce=None, str reduction='mean') -> Tensor",
    _nll,
    where="functional",
    doc="Negative log likelihood: minus the input at each row's target class.",
    computes="-input.gather(1, target.unsqueeze(1)).mean()",
    corners=("F.nll_loss(tensor([[-1., -2.]]), tensor([-100]))",),
    samples=("F.nll_loss(a, j)", "F.nll_loss(a, j, v.detach(), ignore_index=1)"),
    errors=("F.nll_loss(a, j + 3)", "F.nll_loss(x, j)", "F.nll_loss(x, x)"),
)


def _smoothed(
    logp: Any, target: Any, weight: Any, number: int, ignore_index: int, smoothing: float
) -> Any:
    dim = 0 if logp.ndim == 1 else 1
    nll = nll_loss_nd(logp, target, weight, number, ignore_index)
    if weight is None:
        smooth = -logp.sum(dim)
    else:
        shape = [1] * logp.ndim
        shape[dim] = weight.shape[0]
        smooth = -(logp * weight.view(shape)).sum(dim)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if number == SUM:
        smooth = smooth.sum()
    elif number == MEAN and weight is None:
        smooth = smooth.sum() / (~ignored).sum()
    elif number == MEAN:
        smooth = smooth.sum() / weight.gather(0, target.masked_select(~ignored)).sum()
    return nll * (1 - smoothing) + smooth * (smoothing / logp.shape[dim])


def _of_probabilities(logp: Any, target: Any, weight: Any, number: int, smoothing: float) -> Any:
    dim = 0 if logp.ndim == 1 else 1
    classes = logp.shape[dim]
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    loss = logp * target
    if weight is not None:
        shape = [1] * logp.ndim
        shape[dim] = weight.shape[0]
        loss = loss * weight.view(shape)
    if number == NONE:
        return -loss.sum(dim)
    total = -loss.sum()
    return total if number == SUM else total / (logp.numel() // classes)


def _cross_entropy(
    input: Any, target: Any, weight: Any, size_average: Any, ignore_index: int,
    reduce: Any, reduction: str, label_smoothing: float,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    dim = 0 if input.ndim == 1 else 1
    if tuple(input.shape) == tuple(target.shape):
        if not target.is_floating_point():
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{target.dtype.word}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        logp = log_softmax_data(input, dim, False)
        return native(_of_probabilities)(logp, target, weight, number, label_smoothing)
    logp = log_softmax_data(input, dim, False)
    if label_smoothing > 0:
        return native(_smoothed)(logp, target, weight, number, ignore_index, label_smoothing)
    return nll_loss_nd(logp, target, weight, number, ignore_index)


composite(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, "
    "int ignore_index=-100, bool? reduce=None, str reduction='mean', "
    "float label_smoothing=0.0) -> Tensor",
    _cross_entropy,
    where="functional",
    doc="nll_loss of log_softmax, against class numbers or class probabilities.",
    computes="-log_softmax(input, 1).gather(1, target.unsqueeze(1)).mean()",
    corners=("F.cross_entropy(tensor([[1., 2.]]), tensor([-100]))",),
    samples=(
        "F.cross_entropy(a, j)",
        "F.cross_entropy(a, j, label_smoothing=0.1)",
        "F.cross_entropy(x, torch.softmax(y, 1))",
        "F.cross_entropy(a, j, weight=v.detach().abs(), reduction='sum')",
    ),
    errors=(
        "F.cross_entropy(a, j + 3)",
        "F.cross_entropy(s, j)",
        "F.cross_entropy(x, j)",
        "F.cross_entropy(i, i)",
    ),
)

# ---- probabilities and logits


def _bce(
    input: Any, target: Any, weight: Any, size_average: Any, reduce: Any, reduction: str
) -> Any:
    number = reduction_number(reduction, size_average, reduce)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(
            f"Using a target size ({shape_text(target)}) that is different to the input size "
            f"({shape_text(input)}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(_broadcast_shape(target, weight))
    return binary_cross_entropy.run(input, target, weight, number)


def _broadcast_shape(first: Any, second: Any) -> list[int]:
    return list(_broadcast(first.detach(), second.detach())[0].shape)


def _bce_logits(
    input: Any, target: Any, weight: Any, size_average: Any, reduce: Any, reduction: str,
    pos_weight: Any,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(
            f"Target size ({shape_text(target)}) must be the same as input size "
            f"({shape_text(input)})"
        )
    return binary_cross_entropy_with_logits.run(input, target, weight, pos_weight, number)


composite(
    f"binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, {_OLD}{_REDUCE}) "
    "-> Tensor",
    _bce,
    where="functional",
    doc="-(target * log(input) + (1 - target) * log(1 - input)).",
    corners=("F.binary_cross_entropy(tensor([0., 1.]), tensor([1., 1.]).detach())",),
    samples=("F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y))",),
    errors=("F.binary_cross_entropy(p + 2, u.abs())", "F.binary_cross_entropy(u, v)"),
)

composite(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
    f"{_OLD}{_REDUCE}, Tensor? pos_weight=None) -> Tensor",
    _bce_logits,
    where="functional",
    doc="binary_cross_entropy of sigmoid(input), stable for large inputs.",
    samples=(
        "F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))",
        "F.binary_cross_entropy_with_logits(x, u.abs(), torch.ones(3), pos_weight=torch.ones(3))",
    ),
    errors=("F.binary_cross_entropy_with_logits(x, v)",),
)


def _kl_div_kernel(input: Any, target: Any, number: int, log_target: bool) -> Any:
    if input.dtype.is_complex or target.dtype.is_complex:
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    # PyTorch's compiler works out the right operand first, and the order of nodes shows it.
    right = target - input if log_target else target * input
    loss = target.exp() * right if log_target else target.xlogy(target) - right
    return reduced(loss, number)


def _kl_div(
    input: Any, target: Any, size_average: Any, reduce: Any, reduction: str, log_target: bool
) -> Any:
    if size_average is not None or reduce is not None:
        number = reduction_number(reduction, size_average, reduce)
    else:
        if reduction == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                "major release."
            )
        number = SUM if reduction == "batchmean" else reduction_number(reduction)
    loss = native(_kl_div_kernel)(input, target, number, log_target)
    if reduction == "batchmean" and input.ndim:
        loss = loss / input.shape[0]
    return loss


composite(
    f"kl_div(Tensor input, Tensor target, {_OLD}{_REDUCE}, bool log_target=False) -> Tensor",
    _kl_div,
    where="functional",
    doc="The divergence of target from the distribution whose logarithm is input.",
    computes="(target*(log(target) - input)).mean()",
    corners=("F.kl_div(tensor([-1.]), tensor([0.]), reduction='sum')",),
    samples=(
        "F.kl_div(x, p, reduction='batchmean')",
        "F.kl_div(x, y, log_target=True, reduction='sum')",
        "F.kl_div(x, p)",
    ),
    errors=("F.kl_div(i, i, reduction='sum')",),
)


def _poisson(
    input: Any, target: Any, log_input: bool, full: bool, size_average: Any, eps: float,
    reduce: Any, reduction: str,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    return native(_poisson_kernel)(input, target, log_input, full, eps, number)


def _poisson_kernel(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, number: int
) -> Any:
    if log_input:
        product = target * input  # the right operand first, as PyTorch's compiler has it
        loss = input.exp() - product
    else:
        loss = input - target * (input + eps).log()
    if full:
        half = (target * (2 * math.pi)).log() * 0.5
        stirling = target * target.log() - target + half
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, number)


composite(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, "
    f"{_OLD}float eps=1e-08, {_REDUCE}) -> Tensor",
    _poisson,
    where="functional",
    doc="The negative log-likelihood of counts under a Poisson distribution.",
    computes="(exp(input) - target*input).mean()",
    samples=(
        "F.poisson_nll_loss(x, p)",
        "F.poisson_nll_loss(p, q * 2, log_input=False, full=True, reduction='sum')",
    ),
)


def _gaussian(input: Any, target: Any, var: Any, full: bool, eps: float, reduction: str) -> Any:
    if isinstance(var, int | float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = number_as(input, var) * input.new_ones(tuple(input.shape))
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    elif tuple(var.shape) != tuple(input.shape):
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = var.unsqueeze(-1)
        elif tuple(input.shape[:-1]) != tuple(var.shape[:-1]) or var.shape[-1] != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction_number(reduction))


composite(
    "gaussian_nll_loss(Tensor input, Tensor target, any var, any full=False, float eps=1e-06, "
    "str reduction='mean') -> Tensor",
    _gaussian,
    where="functional",
    doc="The negative log-likelihood under a Gaussian with this variance.",
    computes="((log(var) + (input - target)**2/var)/2).mean()",
    samples=("F.gaussian_nll_loss(x, y, p)", "F.gaussian_nll_loss(x, y, p, full=True)"),
    errors=("F.gaussian_nll_loss(x, y, -p)",),
)
