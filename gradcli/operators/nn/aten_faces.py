"""Operators: losses and norms that PyTorch offers under torch too, with its internal arguments."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite

_REDUCTIONS = ("none", "mean", "sum")  # under torch it is "none" where nothing is said


def _declare(name: str, parameters: str, sample: str, **renamed: str) -> None:
    """A function whose reduction is a number, by the one of torch.nn.functional."""
    names = [part.split("=")[0].split()[-1] for part in parameters.split(", ") if part != "*"]

    def body(*arguments: Any) -> Any:
        given = {renamed.get(n, n): v for n, v in zip(names, arguments, strict=True)}
        given["reduction"] = _REDUCTIONS[given["reduction"]]
        return catalogue.functions[f"nn.functional.{name}"](**given)

    composite(
        f"{name}.torch({parameters}) -> Tensor",
        body,
        where="torch",
        doc=f"torch.nn.functional.{name}, its reduction as a number: 0 none, 1 mean, 2 sum.",
        samples=(sample,),
    )


_declare(
    "binary_cross_entropy_with_logits",
    "Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=0",
    "torch.binary_cross_entropy_with_logits(x, p.data, reduction=2)", self="input",
)  # fmt: skip
_declare(
    "cosine_embedding_loss",
    "Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=0",
    "torch.cosine_embedding_loss(x, y, torch.tensor([1, -1]), 0.2, 0)",
)
_declare(
    "hinge_embedding_loss", "Tensor self, Tensor target, float margin=1.0, int reduction=0",
    "torch.hinge_embedding_loss(x, y.data.sign())", self="input",
)  # fmt: skip
_declare(
    "kl_div", "Tensor self, Tensor target, int reduction=0, *, bool log_target=False",
    "torch.kl_div(x, p, 2)", self="input",
)  # fmt: skip
_declare(
    "margin_ranking_loss",
    "Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=0",
    "torch.margin_ranking_loss(x, y, p.data.sign(), 0.1)",
)
_declare(
    "poisson_nll_loss",
    "Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction",
    "torch.poisson_nll_loss(x, p, True, False, 1e-8, 1)",
)
_declare(
    "triplet_margin_loss",
    "Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "
    "float eps=1e-06, bool swap=False, int reduction=0",
    "torch.triplet_margin_loss(x, y, p)",
)


def _batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float, cudnn_enabled: bool,
) -> Any:  # fmt: skip
    return catalogue.functions["nn.functional.batch_norm"](
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


composite(
    "batch_norm.torch(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    _batch_norm,
    where="torch",
    doc="torch.nn.functional.batch_norm, its arguments in another order.",
    samples=("torch.batch_norm(x, v, w, None, None, True, 0.1, 1e-5, False)",),
)


def _instance_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Any:  # fmt: skip
    return catalogue.functions["nn.functional.instance_norm"](
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


composite(
    "instance_norm.torch(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) "
    "-> Tensor",
    _instance_norm,
    where="torch",
    doc="torch.nn.functional.instance_norm, its arguments in another order.",
    samples=("torch.instance_norm(c, None, None, None, None, True, 0.1, 1e-5, False)",),
)


def _fill_diagonal(self: Any, fill_value: Any, wrap: bool) -> Any:
    sizes, strides = tuple(self.shape), self.stride()
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    length, step, offset = min(sizes), sum(strides), self.storage_offset()
    self.as_strided((length,), (step,), offset).fill_(fill_value)
    rows, columns = sizes[:2]
    if wrap and len(sizes) == 2 and rows > columns + 1:
        beyond = -(-self.numel() // (columns + 1)) - length
        start = offset + strides[0] * (columns + 1)
        self.as_strided((beyond,), (step,), start).fill_(fill_value)
    return self


composite(
    "fill_diagonal_(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor",
    _fill_diagonal,
    where="method",
    doc="Writes one number on the main diagonal.",
    samples=(
        "a.clone().fill_diagonal_(2.0)",
        "(torch.ones(7, 3) * s).fill_diagonal_(0, wrap=True)",
        "(torch.ones(2, 2, 2) * s).fill_diagonal_(0)",
    ),
    errors=("(v * 1).fill_diagonal_(0)", "(c * 1).fill_diagonal_(0)", "a.fill_diagonal_(0)"),
)
