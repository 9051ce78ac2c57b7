"""Questions: a gradient that is right, of a loss that nobody means."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...diagnostics import Edit
from ..doubts import Worry, eval_call, worries
from ..provenance.values import name_of
from ..slips import slips
from .case import Case, Finding, Remark, Trial
from .edits import advised, call_on, is_space, replace

VERDICTS = {"broadcast": "broadcast", "softmax twice": "softmax-twice", "eval mode": "eval-mode",
            "sigmoid twice": "sigmoid-twice", "no logarithm": "no-logarithm",
            "another dimension": "softmax-dimension"}  # fmt: skip
LAYERS = {"softmax": "Softmax", "sigmoid": "Sigmoid"}
LOGARITHMS = {"Softmax": "LogSoftmax", "softmax": "log_softmax"}
OF_SCORES = {"NLLLoss": "CrossEntropyLoss", "nll_loss": "cross_entropy"}


def doubtful(case: Case, finding: Finding) -> Finding:
    """In place of a verdict that finds nothing wrong; lines without an effect are added to all."""
    if finding.verdict in ("fine", "large", "tiny"):
        calls = [entry.origin for entry in case.entries if entry.kind == "add"]
        for worry in worries(case.ran):
            if any(worry.doubt.call is call for call in calls):
                finding = _finding(case, worry)
                break
    for slip in slips(case.ran):
        text, line = case.text(slip.node), case.line(slip.node)
        if any(case.line(remark.node) == line for remark in finding.causes):
            continue  # the verdict is about it
        word = "has no effect" if slip.verdict == "no effect" else f"is {slip.verdict}"
        finding.facts.append(f"line {line}: {text} {word}: {slip.sentence}")
    finding.facts += _dropped(case)
    return finding


def _dropped(case: Case) -> Iterator[str]:
    """Gradients that most calls compute in vain: zero_grad() in each turn, step() in some."""
    account = case.ran.recording.ledger.accounts.get(id(case.tensor))
    if account is None or account.tensor is not case.tensor:
        return
    for call, resets in account.dropped.items():
        spent, (reset, _) = account.spent[call], resets.most_common(1)[0]
        times = resets.total()
        if spent and times >= max(2, spent) and None not in (call, reset):
            yield (f"line {reset} clears what {times} of {times + spent} calls on line {call} "
                   f"computed, before anything updates {case.name} with it")  # fmt: skip


def _finding(case: Case, worry: Worry) -> Finding:
    doubt, place = worry.doubt, worry.place
    sentence = f"{case.name}.grad is there, but {place.text} on line {place.line} is in doubt: "
    finding = Finding(VERDICTS[worry.verdict], f"{sentence}{worry.sentence}.")
    finding.advice = worry.advice
    _MAKERS[doubt.kind](case, worry, finding)
    return finding


def _broadcast(case: Case, worry: Worry, finding: Finding) -> None:
    finding.causes.append(Remark(worry.doubt.place, "compares each with all"))
    target = worry.target
    if target is not None and case.is_here(target):
        edits = call_on(case, target, worry.remedy)
        finding.trials.append(Trial(advised(case, worry.doubt.place, edits), tuple(edits)))


def _twice(case: Case, worry: Worry, finding: Finding) -> None:
    doubt = worry.doubt
    finding.causes.append(Remark(doubt.place, f"applies {doubt.word} once more"))
    finding.others.append(Remark(doubt.inner, f"a {doubt.word} in here"))
    if isinstance(doubt.inner, ast.Call) and name_of(doubt.inner) == doubt.word:
        edits = _without(case, doubt.inner)
        advice = advised(case, doubt.inner, edits)
    else:
        layer = LAYERS[doubt.word]
        edits, advice = _renamed(case, {layer: "Identity"}), f"leave out: nn.{layer}"
    if edits:
        finding.trials.append(Trial(advice, tuple(edits)))


def _not_log(case: Case, worry: Worry, finding: Finding) -> None:
    doubt = worry.doubt
    finding.causes.append(Remark(doubt.place, "expects logarithms of probabilities"))
    if doubt.inner is not doubt.place:
        finding.others.append(
            Remark(doubt.inner, "gives probabilities" if doubt.word else "gives scores")
        )
    if isinstance(doubt.inner, ast.Call) and name_of(doubt.inner) == "softmax":
        function = case.whole(doubt.inner.func)
        edits = [replace(case, doubt.inner.func, f"{function.removesuffix('softmax')}log_softmax")]
        finding.trials.append(Trial("log_softmax instead of softmax", tuple(edits)))
        return
    for names in (LOGARITHMS, OF_SCORES) if doubt.word else (OF_SCORES,):
        edits = _renamed(case, names)
        if edits:
            old, new = next((old, new) for old, new in names.items() if old in case.source.text)
            finding.trials.append(Trial(f"{new} instead of {old}", tuple(edits)))
            break


def _resting(case: Case, worry: Worry, finding: Finding) -> None:
    finding.sentence = f"{case.name}.grad is there, but {worry.sentence}."
    call = eval_call(case.ran)
    if call is not None:
        finding.causes.append(Remark(call, "from here on it is in eval mode"))
    finding.causes.append(Remark(worry.doubt.place, "trains in eval mode"))


def _dimension(case: Case, worry: Worry, finding: Finding) -> None:
    doubt = worry.doubt
    finding.causes.append(Remark(doubt.inner, f"normalises along dimension {doubt.number}"))
    finding.others.append(Remark(doubt.place, "takes classes along dimension 1"))
    calls = [doubt.inner] if isinstance(doubt.inner, ast.Call) else []
    calls += [part for statement in case.program.body for part in ast.walk(statement)
              if isinstance(part, ast.Call) and name_of(part) in LOGARITHMS]  # fmt: skip
    calls += [part for statement in case.program.body for part in ast.walk(statement)
              if isinstance(part, ast.Call) and name_of(part) in LOGARITHMS.values()]  # fmt: skip
    for call in calls:
        named = [word.value for word in call.keywords if word.arg in ("dim", "axis")]
        written = named or [one for one in call.args if ast.unparse(one) == str(doubt.number)]
        if written:
            edits = [replace(case, written[0], "1")]
            finding.trials.append(Trial(advised(case, call, edits), tuple(edits)))
            return


_MAKERS = {
    "dimension": _dimension,
    "broadcast": _broadcast,
    "twice": _twice,
    "not-log": _not_log,
    "resting": _resting,
}


def _without(case: Case, node: ast.Call) -> list[Edit]:
    """The scores in place of their softmax."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    given = next(iter(node.args), None)
    if isinstance(given, ast.Constant | ast.UnaryOp):  # x.softmax(-1), not self.softmax(x)
        given = None
    if given is None and owner is not None and not is_space(case, owner):
        given = owner
    return [] if given is None else [replace(case, node, case.whole(given))]


def _renamed(case: Case, names: dict[str, str]) -> list[Edit]:
    """Calls of these names, with the others; nothing where there is more than one such call."""
    found = [part.func for statement in case.program.body for part in ast.walk(statement)
             if isinstance(part, ast.Call) and not isinstance(part.func, ast.Call)
             and name_of(part) in names]  # fmt: skip
    if len(found) != 1:
        return []
    text, old = case.whole(found[0]), name_of(found[0])
    return [replace(case, found[0], text.removesuffix(old) + names[old])]
