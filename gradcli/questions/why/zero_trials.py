"""Questions: trials that cure a zero gradient or prove its cause."""

from __future__ import annotations

import ast
import re
from typing import Any

from ...diagnostics import Edit
from ...recording.sides import elsewhere_of
from ..declared import alone_of, zero_of
from ..provenance.values import name_of
from .case import Case, Trial
from .edits import advised, call_on, first, is_needed, is_space, operand, replace, without, wrap
from .gradients import Share
from .smooth import operands, relative, shared_out


def zero_trials(case: Case, verdict: str, origin: Any, share: Share | None) -> list[Trial]:
    """The advice for a verdict at one place."""
    if not case.is_here(origin):
        return []
    if share is not None and elsewhere_of(share.applied.node) is not None:
        inner = _operand(case, origin) if verdict == "flat" else None
        is_own = inner is not None and case.whole(inner) == case.code
        return _straight(case, origin)[:1] if is_own else []
    if share is not None and case.provenance.layers.drops(share.applied.node):
        return _undropped(case)
    saturates = share is not None and zero_of(share.applied.node) == "saturates"
    make = _MAKERS.get("saturates" if verdict == "flat" and saturates else verdict)
    return [] if make is None else make(case, origin)


def _left_out(case: Case, origin: Any) -> list[Trial]:
    statement = case.statement(origin)
    edits = [] if is_needed(case, statement, origin) else without(case, statement)
    advice = f"leave out: {case.text(statement or origin)}"
    return [Trial(advice, tuple(edits), "nonzero")] if edits else []


def read_before(case: Case, reset: Any, call: Any, goal: str) -> list[Trial]:
    """To read the gradient before it is reset: in a loop each turn needs the reset, so what is
    tried makes it in front of the pass."""
    statement = case.statement(reset)
    edits = without(case, statement)
    if edits and len(case.passes.passes) > 1 and case.is_here(call):
        edits += first(case, case.statement(call), f"{case.code}.grad = None")
    advice = f"read {case.name}.grad before line {case.line(reset)}"
    return [Trial(advice, tuple(edits), goal)] if edits else []


def _straight(case: Case, origin: Any) -> list[Trial]:
    """The straight-through form: the rounded value forward, the plain slope backward."""
    inner = _operand(case, origin)
    if inner is None:
        return []
    text, own = case.whole(inner), case.whole(origin)
    through = f"({text} + ({own} - {operand(text)}).detach())"
    edits = [replace(case, origin, through)]
    trials = [Trial(f"let the gradient pass: {through[1:-1]}", tuple(edits), "nonzero")]
    if isinstance(inner, ast.Name):  # of a whole network, whose result has another shape
        smaller = f"({text} - {text}.mean(0)) / {text}.std(0)"
        owned = isinstance(case.parents.get(id(inner)), ast.Attribute)
        edits = [replace(case, inner, f"({smaller})" if owned else smaller)]
        trials.append(Trial(f"smaller numbers: {smaller} for {text}", tuple(edits), "nonzero"))
    return trials


# Losses of what a sigmoid gives, and those of what it is given.
_OF_LOGITS = {
    "binary_cross_entropy": "binary_cross_entropy_with_logits", "BCELoss": "BCEWithLogitsLoss",
}  # fmt: skip


def _within_bounds(case: Case, origin: Any) -> list[Trial]:
    """The loss of what a sigmoid is given, which does not saturate; else smaller numbers."""
    inner, word = _operand(case, origin), name_of(origin)
    if inner is None:
        return []
    text, trials = case.whole(inner), []
    losses = [
        part
        for statement in case.program.body
        for part in ast.walk(statement)
        if isinstance(part, (ast.Name, ast.Attribute)) and _word(part) in _OF_LOGITS
    ]
    if losses and word == "sigmoid":
        edits = [replace(case, origin, text if isinstance(inner, ast.Name) else f"({text})")]
        for part in losses:
            whole, own = case.whole(part), _word(part)
            edits.append(replace(case, part, whole.removesuffix(own) + _OF_LOGITS[own]))
        advice = f"{_OF_LOGITS[_word(losses[0])]}, which is given {case.text(inner)} itself"
        trials.append(Trial(advice, tuple(edits), "nonzero"))
    outer = case.parents.get(id(origin))
    if isinstance(outer, ast.Call) and name_of(outer) == "log" and word == "sigmoid":
        edits = [replace(case, outer, f"torch.nn.functional.logsigmoid({text})")]
        trials.append(Trial(advised(case, outer, edits), tuple(edits), "nonzero"))
    scaled = f"{operand(text)} / {operand(text)}.detach().abs().max()"
    advice = f"smaller numbers: {word} is flat far from 0; such as {scaled}"
    owned = isinstance(case.parents.get(id(inner)), ast.Attribute)  # x of x.exp()
    trials.append(
        Trial(advice, (replace(case, inner, f"({scaled})" if owned else scaled),), "nonzero")
    )
    return trials


def _for_one(case: Case, origin: Any) -> list[Trial]:
    """sigmoid for the softmax of one element."""
    inner, relative_of_one = _operand(case, origin), alone_of(name_of(origin))
    if inner is None or not relative_of_one:
        return []
    edits = [replace(case, origin, f"{relative_of_one}({case.whole(inner)})")]
    return [Trial(advised(case, origin, edits), tuple(edits), "nonzero")]


def _curved(case: Case, origin: Any) -> list[Trial]:
    """softplus for relu, which has no second derivative."""
    inner = _operand(case, origin)
    if inner is None or not relative(case, name_of(origin), [inner]):
        edits = _other_layers(case, "Softplus")
        return (
            [Trial("nn.Softplus() instead of nn.ReLU()", tuple(edits), "nonzero")] if edits else []
        )
    edits = [replace(case, origin, f"torch.nn.functional.softplus({case.whole(inner)})")]
    return [Trial(advised(case, origin, edits), tuple(edits), "nonzero")]


def _leaky(case: Case, origin: Any) -> list[Trial]:
    """leaky_relu for relu."""
    word = name_of(origin)
    if isinstance(origin, ast.Call):
        inner = _operand(case, origin)
        text = "" if inner is None else relative(case, word, [inner])
        if text:
            edits = [replace(case, origin, text)]
            advice = advised(case, origin, edits)
            if "F." in case.source.text or "import torch" not in case.source.text:
                advice = advice.replace("torch.nn.functional", "F")
            one = Trial(advice, tuple(edits), "nonzero")
            return [one, *_each_leaky(case, word), *_straight(case, origin)]
    edits = _other_layers(case, "LeakyReLU")
    return [Trial("nn.LeakyReLU() instead of nn.ReLU()", tuple(edits), "nonzero")] if edits else []


def _each_leaky(case: Case, word: str) -> list[Trial]:
    """The same for every call of this name: one layer behind another may block too."""
    calls = [part for statement in case.program.body for part in ast.walk(statement)
             if isinstance(part, ast.Call) and name_of(part) == word]  # fmt: skip
    made = [(call, _operand(case, call)) for call in calls]
    edits = [replace(case, call.func, text.partition("(")[0]) for call, inner in made
             if inner is not None and (text := relative(case, word, [inner]))
             and call.args[:1] == [inner]]  # fmt: skip
    if len(edits) < 2:
        return []
    told = edits[0].text.rpartition(".")[2]
    return [Trial(f"{told} instead of each {word}", tuple(edits), "nonzero")]


def _word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _other_layers(case: Case, other: str) -> list[Edit]:
    """Other layers in the place of nn.ReLU."""
    return [
        replace(
            case, part, other if isinstance(part, ast.Name) else f"{case.whole(part.value)}.{other}"
        )
        for statement in case.program.body
        for part in ast.walk(statement)
        if isinstance(part, (ast.Name, ast.Attribute)) and _word(part) in ("ReLU", "ReLU6")
    ]


def _other_branch(case: Case, origin: Any) -> list[Trial]:
    """The mask turned over: not a cure, but a proof."""
    if isinstance(origin, ast.Call) and name_of(origin) == "where" and len(origin.args) == 3:
        condition = origin.args[0]
    elif isinstance(origin, ast.Call) and name_of(origin).startswith("masked_fill"):
        condition = origin.args[0]
    elif isinstance(origin, ast.Call):
        return shared_out(case, origin)
    else:
        compared = [p for p in ast.walk(origin) if isinstance(p, ast.Compare)]
        compared = compared or _compared(case, origin)
        if len(compared) != 1:
            return []
        condition = compared[0]
    edits = wrap(case, condition, "~(", ")")
    return [Trial(f"~({case.text(condition, 24)}) takes the other side", tuple(edits), "proof")]


def _undropped(case: Case) -> list[Trial]:
    """No dropout, where the program makes one module of it."""
    made = [part for statement in case.program.body for part in ast.walk(statement)
            if isinstance(part, ast.Call) and "Dropout" in name_of(part)]  # fmt: skip
    if len(made) != 1:
        return []
    edits = [replace(case, made[0], "torch.nn.Identity()")]
    return [Trial(f"without dropout: {advised(case, made[0], edits)}", tuple(edits), "nonzero")]


def _compared(case: Case, origin: Any) -> list[ast.Compare]:
    """The comparisons that made an operand, on lines of their own."""
    nodes = (made.node for made in case.outside(origin))
    return list(dict.fromkeys(node for node in nodes if isinstance(node, ast.Compare)))


def _other_factor(case: Case, origin: Any) -> list[Trial]:
    """A factor other than 0."""
    found: list[tuple[str, list[Edit]]] = []
    if isinstance(origin, ast.BinOp) and isinstance(origin.op, (ast.Mult, ast.MatMult)):
        for side in (origin.right, origin.left):
            if isinstance(side, ast.Constant):
                found.append((f"a factor other than {case.whole(side)}",
                              [replace(case, side, "1.0")]))  # fmt: skip
            else:
                found.append((f"a factor other than 0 for {case.text(side, 24)}",
                              wrap(case, side, "(", " + 1.0)")))  # fmt: skip
    elif isinstance(origin, ast.BinOp) and isinstance(origin.op, ast.Pow):
        if isinstance(origin.right, ast.Constant) and origin.right.value == 0:
            found.append(("an exponent other than 0", [replace(case, origin.right, "2")]))
        found.append((f"another value of {case.text(origin.left, 24)}: its slope is 0 there",
                      wrap(case, origin.left, "(", " + 1.0)")))  # fmt: skip
    return [Trial(advice, tuple(edits), "nonzero") for advice, edits in found]


def _one_share(case: Case, origin: Any) -> list[Trial]:
    """One of the shares alone."""
    named = [p for p in ast.walk(origin) if isinstance(p, ast.Name) and p.id == case.name]
    if named:
        edits = [replace(case, named[-1], f"{case.name}.detach()")]
        place = f" of line {case.line(origin)}" if len(named) == 1 else ""
        return [Trial(f"without the share{place or ' of ' + case.name}", tuple(edits), "nonzero")]
    if not isinstance(origin, ast.BinOp):
        return []
    edits = wrap(case, origin.right, "(", ").detach()")
    advice = f"without the share of {case.text(origin.right, 24)}"
    return [Trial(advice, tuple(edits), "nonzero")]


def without_share(case: Case, origin: Any) -> list[Trial]:
    """What a share came through as a constant: old = policy(state).detach()"""
    statement = case.statement(origin)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return []
    edits = call_on(case, statement.value, ".detach()")
    advice = f"{advised(case, statement, edits)}, if it is meant as a constant"
    return [Trial(advice, tuple(edits), "nonzero")]


def _operand(case: Case, origin: Any) -> ast.expr | None:
    """x of torch.round(x), x.round(), round(x)."""
    if not isinstance(origin, ast.Call):
        return None
    function = origin.func
    if isinstance(function, ast.Attribute) and not is_space(case, function.value):
        return function.value
    return origin.args[0] if origin.args else None


def _reparametrised(case: Case, origin: Any) -> list[Trial]:
    """mean + std * noise, which has a slope, for a draw."""
    given = operands(origin) if isinstance(origin, ast.Call) and not origin.keywords else []
    text = relative(case, name_of(origin), given)
    if not text:
        return []
    text = re.sub(r"(?<!\w)\((\w+)\)", r"\1", text)
    statement = case.statement(origin)
    alone = isinstance(statement, ast.Assign) and statement.value is origin
    edits = [replace(case, origin, text if alone else f"({text})")]
    return [Trial(advised(case, origin, edits), tuple(edits), "nonzero")]


_MAKERS = {
    "drawn": _reparametrised,
    "alone": _for_one, "constant": _curved,
    "cleared": _left_out, "hook": _left_out, "flat": _straight, "dead-relu": _leaky,
    "saturates": _within_bounds,
    "masked": _other_branch, "zero-factor": _other_factor, "cancelled": _one_share,
}  # fmt: skip
