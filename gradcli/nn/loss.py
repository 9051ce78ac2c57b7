"""Library: loss modules."""

from __future__ import annotations

from typing import Any

from ..engine.schema.mode import state
from ..engine.schema.settable import Takes
from . import functional
from .configured import Configured

_OLD = (("size_average", None), ("reduce", None), ("reduction", "mean"))


class _Loss(Configured):
    """Losses share `reduction` and the two older flags that it replaced."""

    PUBLIC = ("reduction",)
    SETTINGS = _OLD
    PASSED = ("reduction",)
    INPUTS = ("input", "target")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        size_average = self.__dict__.pop("size_average", None)
        reduce = self.__dict__.pop("reduce", None)
        if size_average is not None or reduce is not None:
            average = True if size_average is None else size_average
            self.reduction = "none" if reduce is False else "mean" if average else "sum"
            state.warn(
                "size_average and reduce args will be deprecated, please use "
                f"reduction='{self.reduction}' instead."
            )


class MSELoss(_Loss):
    FUNCTION = "mse_loss"


class L1Loss(_Loss):
    FUNCTION = "l1_loss"


class SmoothL1Loss(_Loss):
    PUBLIC = ("beta",)
    SETTINGS = (*_OLD, ("beta", 1.0))
    PASSED = ("reduction", "beta")
    FUNCTION = "smooth_l1_loss"


class HuberLoss(_Loss):
    PUBLIC = ("delta",)
    SETTINGS = (("reduction", "mean"), ("delta", 1.0))
    PASSED = ("reduction", "delta")
    FUNCTION = "huber_loss"


class _WeightedLoss(_Loss):
    """The weight is part of the module's state."""

    PUBLIC = ("weight",)
    SETTINGS = (("weight", None), *_OLD)

    def _settle(self) -> None:
        weight = self.__dict__.pop("weight", None)
        if "weight" not in self._buffers:
            self.register_buffer("weight", weight)


class NLLLoss(_WeightedLoss):
    PUBLIC = ("ignore_index",)
    SETTINGS = (
        ("weight", None), ("size_average", None), ("ignore_index", -100), ("reduce", None),
        ("reduction", "mean"),
    )  # fmt: skip
    PASSED = ("weight", "ignore_index", "reduction")
    FUNCTION = "nll_loss"


class CrossEntropyLoss(_WeightedLoss):
    PUBLIC = ("ignore_index", "label_smoothing")
    SETTINGS = (*NLLLoss.SETTINGS, ("label_smoothing", 0.0))
    PASSED = ("weight", "ignore_index", "reduction", "label_smoothing")
    FUNCTION = "cross_entropy"


class BCELoss(_WeightedLoss):
    PASSED = ("weight", "reduction")
    FUNCTION = "binary_cross_entropy"


class BCEWithLogitsLoss(_WeightedLoss):
    PUBLIC = ("pos_weight",)
    SETTINGS = (("weight", None), *_OLD, ("pos_weight", None))
    PASSED = ("weight", "reduction", "pos_weight")
    FUNCTION = "binary_cross_entropy_with_logits"

    def _settle(self) -> None:
        super()._settle()
        pos_weight = self.__dict__.pop("pos_weight", None)
        if "pos_weight" not in self._buffers:
            self.register_buffer("pos_weight", pos_weight)


class KLDivLoss(_Loss):
    PUBLIC = ("log_target",)
    SETTINGS = (*_OLD, ("log_target", False))
    PASSED = ("reduction", "log_target")
    FUNCTION = "kl_div"


class PoissonNLLLoss(_Loss):
    PUBLIC = ("log_input", "full", "eps")
    SETTINGS = (
        ("log_input", True), ("full", False), ("size_average", None), ("eps", 1e-8),
        ("reduce", None), ("reduction", "mean"),
    )  # fmt: skip
    PASSED = ("log_input", "full", "eps", "reduction")
    FUNCTION = "poisson_nll_loss"
    INPUTS = ("log_input", "target")


class GaussianNLLLoss(_Loss):
    PUBLIC = ("full", "eps")
    SETTINGS = (("full", False), ("eps", 1e-6), ("reduction", "mean"))
    PASSED = ("full", "eps", "reduction")
    FUNCTION = "gaussian_nll_loss"
    INPUTS = ("input", "target", "var")


class SoftMarginLoss(_Loss):
    FUNCTION = "soft_margin_loss"


class HingeEmbeddingLoss(_Loss):
    PUBLIC = ("margin",)
    SETTINGS = (("margin", 1.0), *_OLD)
    PASSED = ("margin", "reduction")
    FUNCTION = "hinge_embedding_loss"


class _MarginLoss(_Loss):
    PUBLIC = ("margin",)
    SETTINGS = (("margin", 0.0), *_OLD)
    PASSED = ("margin", "reduction")
    INPUTS = ("input1", "input2", "target")


class MarginRankingLoss(_MarginLoss):
    FUNCTION = "margin_ranking_loss"


class CosineEmbeddingLoss(_MarginLoss):
    FUNCTION = "cosine_embedding_loss"


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")


class TripletMarginLoss(_Loss):
    PUBLIC = ("margin", "p", "eps", "swap")
    SETTINGS = (("margin", 1.0), ("p", 2.0), ("eps", 1e-6), ("swap", False), *_OLD)
    PASSED = ("margin", "p", "eps", "swap", "reduction")
    FUNCTION = "triplet_margin_loss"
    INPUTS = ("anchor", "positive", "negative")

    def _settle(self) -> None:
        _check_margin("TripletMarginLoss", self.margin)


class TripletMarginWithDistanceLoss(_Loss):
    PUBLIC = ("margin", "swap", "distance_function")
    TAKES = {"distance_function": Takes.CALLABLE}
    SETTINGS = (
        ("distance_function", None), ("margin", 1.0), ("swap", False), ("reduction", "mean"),
    )  # fmt: skip
    PASSED = ("distance_function", "margin", "swap", "reduction")
    FUNCTION = "triplet_margin_with_distance_loss"
    INPUTS = ("anchor", "positive", "negative")

    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(distance_function, margin, swap, reduction)
        _check_margin("TripletMarginWithDistanceLoss", margin)
        if distance_function is None:
            self.distance_function = PairwiseDistance()


class MultiMarginLoss(_WeightedLoss):
    PUBLIC = ("p", "margin")
    SETTINGS = (("p", 1), ("margin", 1.0), ("weight", None), *_OLD)
    PASSED = ("p", "margin", "weight", "reduction")
    FUNCTION = "multi_margin_loss"

    def _settle(self) -> None:
        if self.p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if self.weight is not None and self.weight.dim() != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, got "
                f"{self.weight.dim()}D instead"
            )


class MultiLabelMarginLoss(_Loss):
    FUNCTION = "multilabel_margin_loss"


class MultiLabelSoftMarginLoss(_WeightedLoss):
    PASSED = ("weight", "reduction")
    FUNCTION = "multilabel_soft_margin_loss"


class CTCLoss(_Loss):
    PUBLIC = ("blank", "zero_infinity")
    SETTINGS = (("blank", 0), ("reduction", "mean"), ("zero_infinity", False))
    PASSED = ("blank", "reduction", "zero_infinity")
    FUNCTION = "ctc_loss"
    INPUTS = ("log_probs", "targets", "input_lengths", "target_lengths")


class CosineSimilarity(Configured):
    PUBLIC = ("dim", "eps")
    SETTINGS = (("dim", 1), ("eps", 1e-8))
    PASSED = ("dim", "eps")
    FUNCTION = "cosine_similarity"
    INPUTS = ("x1", "x2")


class PairwiseDistance(Configured):
    PUBLIC = ("norm", "eps", "keepdim")
    SETTINGS = (("p", 2.0), ("eps", 1e-6), ("keepdim", False))

    def _settle(self) -> None:
        self.norm = self.__dict__.pop("p")

    def forward(self, x1: Any, x2: Any) -> Any:
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
