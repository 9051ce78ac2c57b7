"""Operators: the loss of sequences whose alignment is unknown (connectionist classification)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ...engine.tensors.conversion import MEAN, NONE, SUM
from ..conventions import floating_only, full_precision, reduction_number

# The labels of a sequence stand between blanks: blank, a, blank, b, blank. alpha[t, s] is the log
# probability of all ways to have come to place s at time t, beta[t, s] that of all ways on from
# there.


def _log_sum(xp: Any, *parts: Any) -> Any:
    """log(exp(a) + exp(b) + ...), also where all are -inf."""
    most = parts[0]
    for part in parts[1:]:
        most = xp.maximum(most, part)
    safe = xp.where(most == -xp.inf, 0, most)
    total = sum(xp.exp(part - safe) for part in parts)
    return xp.log(total) + safe


def _later(xp: Any, line: Any, steps: int) -> Any:
    """The line moved by some places, -inf moving in."""
    empty = xp.full(min(steps, line.size), -xp.inf, dtype=line.dtype)
    return xp.concatenate([empty, line[: max(line.size - steps, 0)]])


def _labels(xp: Any, targets: Any, lengths: Any, blank: int) -> Iterator[Any]:
    """For each sequence its labels with blanks between."""
    start = 0
    for number, length in enumerate(lengths):
        if targets.ndim == 1:
            labels = targets[start : start + length]
            start += length
        else:
            labels = targets[number, :length]
        widened = xp.full(2 * length + 1, blank, dtype="int64")
        widened[1::2] = labels
        yield widened


def _skips(xp: Any, labels: Any) -> Any:
    """Where the blank in front may be left out: between different labels."""
    skips = xp.zeros(labels.size, dtype="bool")
    skips[3::2] = labels[3::2] != labels[1:-2:2]
    return skips


def _loss(
    xp: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int,
    zero_infinity: bool,
) -> tuple[Any, Any]:  # fmt: skip
    times, batch, _ = log_probs.shape
    width = 2 * max((int(n) for n in target_lengths), default=0) + 1
    alpha = xp.full((batch, times, width), -xp.inf, dtype=log_probs.dtype)
    losses = xp.zeros(batch, dtype=log_probs.dtype)
    for number, labels in enumerate(_labels(xp, targets, target_lengths, blank)):
        last, places = int(input_lengths[number]), labels.size
        emitted = log_probs[:, number, :][:, labels]
        skips = _skips(xp, labels)
        line = xp.full(places, -xp.inf, dtype=log_probs.dtype)
        if last:
            line[:2] = emitted[0, :2]
            alpha[number, 0, :places] = line
        for time in range(1, last):
            over = xp.where(skips, _later(xp, line, 2), -xp.inf)
            line = _log_sum(xp, line, _later(xp, line, 1), over) + emitted[time]
            alpha[number, time, :places] = line
        if not last:
            losses[number] = 0 if places == 1 else xp.inf
        elif places == 1:
            losses[number] = -line[0]
        else:
            losses[number] = -_log_sum(xp, line[-1], line[-2])
    return losses, alpha


def _loss_backward(
    xp: Any, grad: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
    neg_log_likelihood: Any, log_alpha: Any, blank: int, zero_infinity: bool,
) -> Any:  # fmt: skip
    out = xp.zeros_like(log_probs)
    for number, labels in enumerate(_labels(xp, targets, target_lengths, blank)):
        last, loss = int(input_lengths[number]), neg_log_likelihood[number]
        if (zero_infinity and loss == xp.inf) or not last:
            continue
        emitted = log_probs[:last, number, :]
        joint = _backward_lines(xp, emitted[:, labels], _skips(xp, labels))
        joint = joint + log_alpha[number, :last, : labels.size]
        gathered = xp.full(emitted.shape, -xp.inf, dtype=log_probs.dtype)
        for place, label in enumerate(labels):
            gathered[:, label] = _log_sum(xp, gathered[:, label], joint[:, place])
        share = xp.exp(emitted) - xp.exp(gathered + loss - emitted)
        out[:last, number, :] = share * grad[number]
    return out


def _backward_lines(xp: Any, emitted: Any, skips: Any) -> Any:
    """beta, its own emission included."""
    times, places = emitted.shape
    lines = xp.full(emitted.shape, -xp.inf, dtype=emitted.dtype)
    lines[-1, max(places - 2, 0) :] = emitted[-1, max(places - 2, 0) :]
    skips = xp.concatenate([skips[2:], xp.zeros(min(2, places), dtype="bool")])[:places]
    for time in range(times - 2, -1, -1):
        line = lines[time + 1][::-1]
        over = xp.where(skips, _later(xp, line, 2)[::-1], -xp.inf)
        lines[time] = _log_sum(xp, line[::-1], _later(xp, line, 1)[::-1], over) + emitted[time]
    return lines


ctc_backward = operator(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, "
    "bool zero_infinity=False) -> Tensor",
    node="torch::autograd::NotImplemented",
    where="hidden",
    forward=_loss_backward,
    dtype=lambda grad, log_probs, *rest: log_probs.dtype,
    doc="The gradient of ctc_loss.",
    samples=(
        "torch.autograd.grad(F.ctc_loss(c.log_softmax(-1), torch.tensor([[1], [2], [1]]), (2, 2, "
        "2), (1, 1, 1)), c)[0]",
    ),
)

ctc_row = operator(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "int blank=0, bool zero_infinity=False) -> (Tensor result0, Tensor result1)",
    node="CtcLossBackward0",
    where="hidden",
    undifferentiable="result1",
    refuse=floating_only("ctc_loss_cpu") | full_precision("ctc_loss_cpu"),
    forward=_loss,
    log_probs=lambda grads, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity: ctc_backward(  # noqa: E501
        grads[0], log_probs, targets, input_lengths, target_lengths, result0, result1, blank,
        zero_infinity,
    ),
    cost=lambda log_probs, targets, input_lengths, target_lengths, *rest: (
        log_probs.shape[0] * log_probs.shape[1] * (2 * max(target_lengths, default=0) + 1)
    ),
    doc="The loss of each sequence, and the log probabilities of its beginnings.",
    samples=(
        "F.ctc_loss(c.log_softmax(-1), torch.tensor([[1], [2], [1]]), (2, 2, 2), (1, 1, 1))",
    ),
)  # fmt: skip


_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check(log_probs: Any, targets: Any, lengths: Any, widths: Any, blank: int) -> None:
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for "
            f"argument #1 'log_probs' {_CHECKING}"
        )
    times, batch, labels = log_probs.shape
    if not 0 <= blank < labels:
        raise RuntimeError("blank must be in label range")
    for name, given in (("input_lengths", lengths), ("target_lengths", widths)):
        if len(given) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    for name, given in (("input_lengths", lengths), ("target_lengths", widths)):
        for length in given:
            if length < 0:
                raise RuntimeError(
                    f"Expected {name} to have value at least 0, but got value {length} {_CHECKING}"
                )
    _check_targets(targets, widths, batch)
    for length in lengths:
        if length > times:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {times}, but got value {length} "
                f"{_CHECKING}"
            )


def _check_targets(targets: Any, widths: Any, batch: int) -> None:
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument "
            f"#2 'targets' {_CHECKING}"
        )
    needed = sum(widths) if targets.ndim == 1 else batch
    if targets.shape[0] != needed:
        raise RuntimeError(
            f"Expected tensor to have size {needed} at dimension 0, but got size "
            f"{targets.shape[0]} for argument #2 'targets' {_CHECKING}"
        )
    if targets.ndim == 2 and targets.shape[1] < max(widths, default=0):
        raise RuntimeError(
            f"Expected tensor to have size at least {max(widths)} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets' {_CHECKING}"
        )


def _whole(lengths: Any, name: str) -> tuple[int, ...]:
    if hasattr(lengths, "tolist"):
        if lengths.dtype.category != 1:
            raise RuntimeError(f"{name} must be integral")
        lengths = lengths.reshape(-1).tolist()
    return tuple(int(n) for n in (lengths if isinstance(lengths, tuple | list) else [lengths]))


def _ctc(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int,
    reduction: int, zero_infinity: bool,
) -> Any:  # fmt: skip
    if log_probs.dtype.word not in ("Float", "Double"):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{log_probs.dtype.word}'")
    lengths = _whole(input_lengths, "input_lengths")
    widths = _whole(target_lengths, "target_lengths")
    batched = log_probs.ndim == 3
    wide = log_probs if batched else log_probs.unsqueeze(1)
    _check(wide, targets, lengths, widths, blank)
    losses = ctc_row.run(wide, targets, lengths, widths, blank, zero_infinity)[0]
    call = catalogue.functions
    if zero_infinity:
        losses = call["where"](losses == float("inf"), call["zeros_like"](losses), losses)
    if reduction == MEAN:
        counts = call["full"]((len(widths),), 1, dtype=losses.dtype, device=losses.device)
        for place, width in enumerate(widths):
            counts[place] = max(width, 1)
        return (losses / counts).mean()
    if reduction == SUM:
        return losses.sum()
    return losses if batched else losses.squeeze(0)


_SEQUENCES = (
    "c.log_softmax(-1)", "torch.tensor([[1], [2], [1]])", "(2, 2, 2)", "(1, 1, 1)",
)  # fmt: skip
_CALL, _LENGTHS = ", ".join(_SEQUENCES), ", ".join(_SEQUENCES[:2])

for _overload, _kind in (("IntList", "int[]"), ("Tensor", "Tensor")):
    composite(
        f"ctc_loss.{_overload}(Tensor log_probs, Tensor targets, {_kind} input_lengths, "
        f"{_kind} target_lengths, int blank=0, int reduction={MEAN}, bool zero_infinity=False) "
        "-> Tensor",
        _ctc,
        where="torch",
        doc="ctc_loss, the reduction as a number.",
        samples=(f"torch.ctc_loss({_CALL}, 0, {NONE})",),
        errors=(
            f"torch.ctc_loss({_LENGTHS}, [2, 2, 2], torch.tensor([1, 1, 1]), 0, {NONE}, True)",
        ),
    )

composite(
    "ctc_loss.functional(Tensor log_probs, Tensor targets, any input_lengths, "
    "any target_lengths, int blank=0, str reduction='mean', bool zero_infinity=False) -> Tensor",
    lambda log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity: (
        catalogue.functions["ctc_loss"](
            log_probs, targets, input_lengths, target_lengths, blank, reduction_number(reduction),
            zero_infinity,
        )
    ),
    where="functional",
    doc="Minus the log probability of label sequences, summed over all alignments.",
    samples=(
        f"F.ctc_loss({_CALL})", f"F.ctc_loss({_CALL}, reduction='none')",
        f"F.ctc_loss({_CALL}, reduction='sum', zero_infinity=True)",
        "F.ctc_loss(c[:, 0].log_softmax(-1), torch.tensor([1]), (2,), (1,))",
        "F.ctc_loss(c[:, :2].log_softmax(-1), torch.tensor([1, 2, 2]), torch.tensor([2, 2]), "
        "torch.tensor([2, 1]), reduction='none')",
    ),
    errors=(f"F.ctc_loss({_CALL}, blank=3)", f"F.ctc_loss({_CALL}, reduction='foo')"),
)  # fmt: skip
