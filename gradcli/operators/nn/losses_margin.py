"""Operators: losses with a margin, as torch.nn.functional offers them."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import composite
from ...engine.tensors.conversion import NONE
from ..conventions import constant, native, reduced, reduction_number, shape_text
from ..geometry import broadcast_sizes
from ..linalg.distance import pairwise
from ..shape.constants import number_as
from .loss_classes import multi_margin_loss, multilabel_margin_loss
from .loss_regression import soft_margin_loss

_OLD = "bool? size_average=None, "
_REDUCE = "bool? reduce=None, str reduction='mean'"


def _soft_margin(input: Any, target: Any, size_average: Any, reduce: Any, reduction: str) -> Any:
    from ...engine.tensors.promotion import broadcast_message

    number = reduction_number(reduction, size_average, reduce)
    constant("soft_margin_loss", target=target)
    if broadcast_message(input.shape, target.shape) is None:
        sizes = broadcast_sizes(input.shape, target.shape)
        if sizes != input.shape:  # PyTorch's kernel works in a copy of the input
            raise RuntimeError(
                f"output with shape {list(input.shape)} doesn't match the broadcast shape "
                f"{list(sizes)}"
            )
    return soft_margin_loss.run(input, target, number)


composite(
    f"soft_margin_loss(Tensor input, Tensor target, {_OLD}{_REDUCE}) -> Tensor",
    _soft_margin,
    where="functional",
    doc="log(1 + exp(-target * input)), for targets of 1 and -1.",
    samples=("F.soft_margin_loss(x, y.detach().sign())",),
)


def _hinge(
    input: Any, target: Any, margin: float, size_average: Any, reduce: Any, reduction: str
) -> Any:
    number = reduction_number(reduction, size_average, reduce)
    return native(_hinge_kernel)(input, target, margin, number)


def _hinge_kernel(input: Any, target: Any, margin: float, number: int) -> Any:
    clamped = (number_as(input, margin) - input).clamp_min(0)
    apart = _where(target != 1, clamped, 0.0)
    together = _where(target != -1, input, 0.0)
    return reduced(apart + together, number)


def _where(condition: Any, self: Any, other: Any) -> Any:
    return self.where(condition, number_as(self, other))


composite(
    f"hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, {_OLD}{_REDUCE}) "
    "-> Tensor",
    _hinge,
    where="functional",
    doc="The input where the target is 1, max(0, margin - input) where it is -1.",
    computes="where(target == 1, input, clamp(margin - input, min=0)).mean()",
    corners=("F.hinge_embedding_loss(tensor([1.]), tensor([-1.]).detach())",),
    samples=("F.hinge_embedding_loss(x, y.detach().sign())",),
)


def _margin_ranking(
    input1: Any, input2: Any, target: Any, margin: float, size_average: Any, reduce: Any,
    reduction: str,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    if input1.ndim != target.ndim or input1.ndim != input2.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {shape_text(input1)}, input2: {shape_text(input2)}, "
            f"target: {shape_text(target)} "
        )
    return native(_margin_ranking_kernel)(input1, input2, target, margin, number)


def _margin_ranking_kernel(
    input1: Any, input2: Any, target: Any, margin: float, number: int
) -> Any:
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), number)


composite(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, "
    f"{_OLD}{_REDUCE}) -> Tensor",
    _margin_ranking,
    where="functional",
    doc="max(0, -target * (input1 - input2) + margin).",
    computes="clamp(margin - target*(input1 - input2), min=0).mean()",
    corners=("F.margin_ranking_loss(tensor([1.]), tensor([1.]), tensor([1.]).detach())",),
    samples=("F.margin_ranking_loss(x, y, u.detach().sign(), margin=0.1)",),
    errors=("F.margin_ranking_loss(x, y, v)",),
)


def _cosine_embedding(
    input1: Any, input2: Any, target: Any, margin: float, size_average: Any, reduce: Any,
    reduction: str,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    if target.ndim not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input1.ndim != 2:
        raise RuntimeError(
            "1D target tensor expects 2D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    if target.ndim == 0 and input1.ndim != 1:
        raise RuntimeError(
            "0D target tensor expects 1D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    return native(_cosine_embedding_kernel)(input1, input2, target, margin, number)


def _cosine_embedding_kernel(
    input1: Any, input2: Any, target: Any, margin: float, number: int
) -> Any:
    dim = target.ndim
    product = (input1 * input2).sum(dim)
    square1 = (input1 * input1).sum(dim) + 1e-12
    square2 = (input2 * input2).sum(dim) + 1e-12
    cosine = product / (square1 * square2).sqrt()
    distance, excess = number_as(cosine, 1) - cosine, (cosine - margin).clamp_min(0)
    together = _where(target == 1, distance, 0.0)
    return reduced(together + _where(target == -1, excess, 0.0), number)


composite(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, "
    f"{_OLD}{_REDUCE}) -> Tensor",
    _cosine_embedding,
    where="functional",
    doc="1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.",
    corners=(
        "F.cosine_embedding_loss(tensor([[1., 0.]]), tensor([[0., 1.]]), tensor([-1.]).detach())",
    ),
    samples=("F.cosine_embedding_loss(x, y, torch.tensor([1, -1]))",),
    errors=("F.cosine_embedding_loss(x, y, i)",),
)


def _triplet(
    anchor: Any, positive: Any, negative: Any, margin: float, p: float, eps: float, swap: bool,
    size_average: Any, reduce: Any, reduction: str,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return native(_triplet_kernel)(anchor, positive, negative, margin, p, eps, swap, number)


def _check_dimensions(anchor: Any, positive: Any, negative: Any) -> None:
    sizes = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(sizes)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {sizes[0]}D, positive {sizes[1]}D, and negative "
            f"{sizes[2]}D inputs"
        )


def _triplet_kernel(
    anchor: Any, positive: Any, negative: Any, margin: float, p: float, eps: float, swap: bool,
    number: int,
) -> Any:  # fmt: skip
    _check_dimensions(anchor, positive, negative)
    near = pairwise(anchor, positive, p, eps, False)
    far = pairwise(anchor, negative, p, eps, False)
    if swap:
        far = far.minimum(pairwise(positive, negative, p, eps, False))
    return reduced((near + margin - far).clamp_min(0), number)


composite(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, "
    f"float p=2, float eps=1e-06, bool swap=False, {_OLD}{_REDUCE}) -> Tensor",
    _triplet,
    where="functional",
    doc="max(0, margin + distance to the positive - distance to the negative).",
    computes="clamp(pairwise_distance(anchor, positive, p, eps) - pairwise_distance(anchor, "
    "negative, p, eps) + margin, min=0).mean()",
    corners=("F.triplet_margin_loss(tensor([[1.]]), tensor([[1.]]), tensor([[1.]]))",),
    samples=("F.triplet_margin_loss(x, y, p)", "F.triplet_margin_loss(x, y, p, swap=True)"),
    errors=("F.triplet_margin_loss(x, y, p, margin=-1.0)",),
)


def _triplet_with_distance(
    anchor: Any, positive: Any, negative: Any, distance_function: Any, margin: float,
    swap: bool, reduction: str,
) -> Any:  # fmt: skip
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    number = reduction_number(reduction)
    _check_dimensions(anchor, positive, negative)
    apart = distance_function or (
        lambda first, second: native(pairwise)(first, second, 2.0, 1e-6, False)
    )
    near, far = apart(anchor, positive), apart(anchor, negative)
    if swap:
        far = far.minimum(apart(positive, negative))
    loss = (margin + near - far).clamp_min(0)
    return reduced(loss, number) if number != NONE else loss


composite(
    "triplet_margin_with_distance_loss(Tensor anchor, Tensor positive, Tensor negative, *, "
    "any distance_function=None, float margin=1.0, bool swap=False, str reduction='mean') "
    "-> Tensor",
    _triplet_with_distance,
    where="functional",
    doc="triplet_margin_loss with a distance function of the caller's.",
    samples=("F.triplet_margin_with_distance_loss(x, y, p)",),
)


def _multi_margin(
    input: Any, target: Any, p: Any, margin: Any, weight: Any, size_average: Any, reduce: Any,
    reduction: str,
) -> Any:  # fmt: skip
    number = reduction_number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    return multi_margin_loss.run(input, target, p, margin, weight, number)


composite(
    "multi_margin_loss(Tensor input, Tensor target, Scalar p=1, Scalar margin=1.0, "
    f"Tensor? weight=None, {_OLD}{_REDUCE}) -> Tensor",
    _multi_margin,
    where="functional",
    doc="How far each other class reaches into the margin below the target's class.",
    corners=("F.multi_margin_loss(tensor([[1., 0.]]), tensor([0]))",),
    samples=("F.multi_margin_loss(a, j)", "F.multi_margin_loss(a, j, p=2)"),
    errors=("F.multi_margin_loss(a, j + 3)",),
)


def _multilabel_margin(
    input: Any, target: Any, size_average: Any, reduce: Any, reduction: str
) -> Any:
    number = reduction_number(reduction, size_average, reduce)
    return multilabel_margin_loss.run(input, target, number)[0]


composite(
    f"multilabel_margin_loss(Tensor input, Tensor target, {_OLD}{_REDUCE}) -> Tensor",
    _multilabel_margin,
    where="functional",
    doc="How far the other classes reach into the margin below each listed class.",
    samples=("F.multilabel_margin_loss(v, j)",),
)


def _multilabel_soft_margin(
    input: Any, target: Any, weight: Any, size_average: Any, reduce: Any, reduction: str
) -> Any:
    from ..elementwise.activation_smooth import log_sigmoid

    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    loss = loss if weight is None else loss * weight
    loss = loss.sum(dim=input.ndim - 1) / input.shape[-1]
    if size_average is None is reduce and reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return reduced(loss, reduction_number(reduction, size_average, reduce))


composite(
    "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, "
    f"{_OLD}{_REDUCE}) -> Tensor",
    _multilabel_soft_margin,
    where="functional",
    doc="binary_cross_entropy_with_logits, averaged over the classes of each row.",
    samples=("F.multilabel_soft_margin_loss(x, u.detach().abs())",),
)
