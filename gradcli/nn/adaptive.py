"""Library: the softmax over many classes of which most are rare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..named import NamedTuple
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module


class _ASMoutput(NamedTuple):
    """What the module returns: the log probability of each target, and the loss."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    PUBLIC = (
        "in_features", "n_classes", "cutoffs", "div_value", "head_bias", "shortlist_size",
        "n_clusters", "head_size", "head", "tail", "reset_parameters", "log_prob", "predict",
    )  # fmt: skip

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        given = list(cutoffs)
        if not given:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = given == sorted(set(given)) and all(int(one) == one for one in given)
        if not rising or given[0] <= 0 or given[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*given, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = given[0], len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        made = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for place, (start, stop) in enumerate(self._clusters(), 1):
            hidden = int(in_features // div_value**place)
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **made),
                    Linear(hidden, stop - start, bias=False, **made),
                )
            )

    def _clusters(self) -> list[tuple[int, int]]:
        """Of each cluster its first class, and the first behind it."""
        return list(zip(self.cutoffs, self.cutoffs[1:], strict=False))

    def reset_parameters(self) -> None:
        self.head.reset_parameters()
        for layer in self.tail.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        _check_sizes(input_, target_)
        batched = target_.ndim > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        output, columns = input.new_zeros(len(target)), target.new_empty(len(target))
        used = 0
        for place, (low, high) in enumerate([(0, self.cutoffs[0]), *self._clusters()]):
            mask = (target >= low) & (target < high)
            rows = mask.nonzero().squeeze()
            used += rows.numel()
            if not rows.numel():
                continue
            if place == 0:
                columns.index_copy_(0, rows, target[mask])
                continue
            relative = target[mask] - low
            scores = self.tail[place - 1](input.index_select(0, rows)).log_softmax(dim=1)
            columns.index_fill_(0, rows, self.shortlist_size + place - 1)
            output.index_copy_(0, rows, scores.gather(1, relative.unsqueeze(1)).squeeze(1))
        if used != len(target):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        scores = self.head(input).log_softmax(dim=1)
        output += scores.gather(1, columns.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _full(self, input: Any, head: Any) -> Any:
        """The log probabilities of all classes, from what the head says."""
        out = input.new_empty((head.shape[0], self.n_classes))
        scores = head.log_softmax(dim=1)
        out[:, : self.shortlist_size] = scores[:, : self.shortlist_size]
        for place, (start, stop) in enumerate(self._clusters()):
            within = self.tail[place](input).log_softmax(dim=1)
            out[:, start:stop] = within + scores[:, self.shortlist_size + place].unsqueeze(1)
        return out

    def log_prob(self, input: Any) -> Any:
        """The log probabilities of all classes: (N, in_features) to (N, n_classes)."""
        return self._full(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The likeliest class of each row: (N, in_features) to (N)."""
        head = self.head(input)
        output = head.argmax(dim=1)
        rare = output >= self.shortlist_size
        if rare.all():
            return self._full(input, head).argmax(dim=1)
        if rare.any():
            output[rare] = self._full(input[rare], head[rare]).argmax(dim=1)
        return output


def _check_sizes(input: Any, target: Any) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with size {input.shape}"
        )
