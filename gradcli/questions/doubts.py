"""Questions: losses that nobody means, in words: what is compared, what is normalised twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from ..opening import UsageError
from ..pipeline.request import Ran
from ..recording.facts import Place
from ..recording.losses import Doubt, squeezed, together
from ..recording.modules import is_module, named_parameters
from .graph import place_reader
from .question import question_of

SIZES = re.compile(
    r"Using a target size \(torch\.Size\(\[([\d, ]*)\]\)\) that is different to the input size "
    r"\(torch\.Size\(\[([\d, ]*)\]\)\)"
)
TWICE = {"softmax": "softmax twice", "sigmoid": "sigmoid twice"}


class Worry(NamedTuple):
    """A doubt about a loss: its verdict, the place that it is about, a sentence, the lines.

    `target` is the operand that has another shape than it should, and `remedy` what gives it that.
    """

    doubt: Doubt
    verdict: str
    place: Place
    sentence: str
    advice: str
    lines: tuple[int, ...] = ()
    target: ast.expr | None = None
    remedy: str = ""


def worries(ran: Ran) -> list[Worry]:
    """What there is to say about the losses of a run, each place once."""
    if ran.program is None:
        return []
    read, found = place_reader(ran.program), dict[tuple[str, int], Worry]()
    for doubt in [*ran.recording.losses.doubts, *_divergences(ran)]:
        place = read(doubt.place)
        told = None if place is None else _WORDS[doubt.kind](doubt, place, read, ran)
        if told is not None:
            found.setdefault((doubt.kind, id(doubt.place)), told)
    return list(found.values())


def _divergences(ran: Ran) -> Iterator[Doubt]:
    """kl_div of what a softmax gave, by the text: it is computed by several operations."""
    assert ran.program is not None
    nodes = [node for body in ran.program.body for node in ast.walk(body)]
    assigned = [
        (target.id if isinstance(target, ast.Name) else getattr(target, "attr", ""), node.value)
        for node in nodes if isinstance(node, ast.Assign) for target in node.targets
    ]  # fmt: skip
    losses = {name for name, value in assigned if _word(value) == "KLDivLoss"} | {"kl_div"}
    passes = [*ran.recording.losses.known.values()]
    for node in nodes:
        if not isinstance(node, ast.Call) or len(node.args) < 2 or _word(node) not in losses:
            if not (isinstance(node, ast.Call) and _word(node.func) == "KLDivLoss" and node.args):
                continue
        given: ast.expr | None = node.args[0]
        if isinstance(given, ast.Name):
            bound = [value for name, value in assigned if name == given.id]
            given = bound[0] if len(bound) == 1 else None
        after = [one for one in passes if getattr(one, "lineno", 0) >= node.lineno] or passes
        if isinstance(given, ast.Call) and _word(given) == "softmax" and after:
            yield Doubt("not-log", after[0], node, given, "softmax")


def _word(node: ast.AST | None) -> str:
    """The last word of what a call calls, or of a name."""
    node = node.func if isinstance(node, ast.Call) else node
    return str(getattr(node, "attr", getattr(node, "id", "")))


Reader = Callable[[Any], Place | None]


def _broadcast(doubt: Doubt, place: Place, read: Reader, ran: Ran) -> Worry | None:
    shapes = doubt.shapes or _warned(ran)
    if len(shapes) != 2 or squeezed(shapes[0]) != squeezed(shapes[1]):
        return None
    target = _operands(doubt.place)[doubt.number : doubt.number + 1]
    own, other = shapes[doubt.number], shapes[1 - doubt.number]
    remedy = f".reshape({list(other)})"
    if (*own, 1) == other:
        remedy = f".unsqueeze({len(own)})"
    elif (*other, 1) == own:
        remedy = f".squeeze({len(other)})"
    size = list(together(*shapes))
    sentence = (
        f"the shapes {list(other)} and {list(own)} broadcast to {size}: each prediction is "
        "compared with every target"
    )
    what = place if not target else read(target[0])
    advice = f"{what.text if what and target else 'the target'}{remedy}, which has one for each"
    return Worry(doubt, "broadcast", place, sentence, advice, (place.line,),
                 target[0] if target else None, remedy)  # fmt: skip


def _twice(doubt: Doubt, place: Place, read: Reader, ran: Ran) -> Worry | None:
    inner = read(doubt.inner)
    if inner is None:
        return None
    word = "log_softmax" if doubt.word == "softmax" else "sigmoid"
    first = inner.text if normalises(inner.text) else f"a {doubt.word} in {inner.text}"
    where = "" if inner.line == place.line else f" on line {inner.line}"
    sentence = (
        f"it applies {word} to what {first}{where} has normalised already, so that gradients are "
        "small and the loss stays large"
    )
    advice = "give the loss the scores of the last layer, and normalise them only to read them"
    lines = tuple(dict.fromkeys((inner.line, place.line)))
    return Worry(doubt, TWICE[doubt.word], place, sentence, advice, lines)


def normalises(text: str) -> bool:
    """Whether an expression calls softmax or sigmoid itself."""
    called = text.partition("(")[0].rpartition(".")[2]
    return called in ("softmax", "sigmoid") or text.endswith((".sigmoid()", ".softmax()"))


def _not_log(doubt: Doubt, place: Place, read: Reader, ran: Ran) -> Worry:
    given = "probabilities" if doubt.word else "scores above 0"
    sentence = (
        f"it expects logarithms of probabilities and is given {given}, so that the loss falls "
        "below 0 and means nothing"
    )
    advice = "log_softmax before it, or cross_entropy of the scores"
    inner = read(doubt.inner)
    lines = (place.line,) if inner is None else (place.line, inner.line)
    return Worry(doubt, "no logarithm", place, sentence, advice, tuple(dict.fromkeys(lines)))


def _dimension(doubt: Doubt, place: Place, read: Reader, ran: Ran) -> Worry | None:
    inner = read(doubt.inner)
    if inner is None:
        return None
    over = "the samples" if doubt.number == 0 else f"dimension {doubt.number}"
    sentence = (
        f"it takes classes along dimension 1, and {inner.text} on line {inner.line} normalises "
        f"over {over}"
    )
    lines = tuple(dict.fromkeys((inner.line, place.line)))
    return Worry(doubt, "another dimension", place, sentence, "normalise along dimension 1", lines)


def _resting(doubt: Doubt, place: Place, read: Reader, ran: Ran) -> Worry:
    call = eval_call(ran)
    told = None if call is None else read(call)
    line = None if told is None else told.line
    since = "" if line is None else f" since line {line} called eval()"
    sentence = (
        f"from pass {doubt.number} on, line {place.line} trains in eval mode{since}: dropout is "
        "off, and batch norm keeps its statistics"
    )
    lines = (place.line,) if line is None else (line, place.line)
    return Worry(doubt, "eval mode", place, sentence, "train() before each epoch", lines)


_WORDS: dict[str, Callable[[Doubt, Place, Reader, Ran], Worry | None]] = {
    "broadcast": _broadcast, "twice": _twice, "not-log": _not_log, "resting": _resting,
    "dimension": _dimension,
}  # fmt: skip


def _warned(ran: Ran) -> tuple[tuple[int, ...], ...]:
    """The sizes that PyTorch's warning about a loss names, input and target."""
    for words in ran.warnings:
        if (sizes := SIZES.search(words)) is not None:
            target, given = (tuple(int(n) for n in part.split(", ") if n)
                             for part in sizes.groups())  # fmt: skip
            return given, target
    return ()


def _operands(node: Any) -> list[ast.expr]:
    """What a difference or a loss compares, prediction and target."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        return node.args[:2]
    return []


def eval_call(ran: Ran) -> ast.Call | None:
    """The call of eval() that ended the training of a network, where only one can have."""
    if ran.program is None or ran.outcome is None:
        return None
    found = []
    for node in (node for statement in ran.program.body for node in ast.walk(statement)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "eval" and not node.args:
            owner: Any = None
            with suppress(UsageError):
                owner = question_of(ast.unparse(node.func.value), ran.outcome.bindings, {}).value
            if not is_module(owner) or any(p.requires_grad for _, p in named_parameters(owner)):
                found.append(node)
    return found[0] if len(found) == 1 else None
