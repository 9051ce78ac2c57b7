"""Questions: the verdict on cuts of the graph: its words, its places, the edits that try it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...diagnostics import Edit
from ...named import NamedTuple
from ..provenance.values import Step, name_of
from .case import SHORT, Case, Finding, Remark, Trial
from .cut_edits import is_elsewhere, within_graph
from .cuts import verdict_of
from .edits import advised, replace, with_keyword, without

SWITCHES = (ast.Call, ast.Name, ast.Attribute, ast.stmt)  # what can switch gradients off
MOST = 6  # places of one verdict


class CutWords(NamedTuple):
    """What is said of one kind of cut: at its place, in the sentence of a verdict, as advice."""

    remark: str
    sentence: str
    advice: str = "compute it with tensors that stay in the graph"


WORDS = {
    "detached": CutWords("leaves the graph here", "{cut} takes it out of the graph"),
    "data": CutWords(".data is outside of the graph", "{cut} is outside of the graph"),
    "item": CutWords(
        "a Python number has no graph", "{cut} makes it a Python number, which has no graph"
    ),
    "copied": CutWords(
        "copies the numbers into a new leaf, without the graph",
        "{cut} copies the numbers and leaves the graph behind",
        "torch.stack or the tensor itself instead of a copy",
    ),
    "integer": CutWords(
        "an integer has no gradient",
        "{cut} is an integer, and integers have no gradient",
        "compute with what was chosen, or with softmax weights, not with its place",
    ),
    "comparison": CutWords(
        "a comparison has no gradient",
        "{cut} is a comparison, which has no gradient",
        "a smooth function such as sigmoid instead of the comparison",
    ),
    "no-grad": CutWords(
        "computed while gradients were off",
        "{cut} was computed while gradients were off",
        "move the line out of the part without gradients",
    ),
    "grad-call": CutWords(
        "made without create_graph=True, so no graph leads to it",
        "{cut} was made without create_graph=True",
        "create_graph=True in the call",
    ),
    "sampled": CutWords(
        "draws numbers outside of the graph",
        "{cut} draws numbers, and no graph leads through a draw",
        "rsample(), or, where there is none, a loss of log_prob() of what was drawn",
    ),
}


def cut_finding(
    case: Case, found: list[Step], beginning: str, behind: Iterable[Step] = ()
) -> Finding:
    """The verdict for cuts: that of the first, with all places of its kind; `behind` come later."""
    verdict = verdict_of(found[0])
    same: list[Step] = []
    for step in found:
        known = any(step.node is other.node for other in same)
        if verdict_of(step) == verdict and not known and len(same) < MOST:
            same.append(step)
    marked = _marked(case, same[0].node) if verdict == "no-grad" else None
    if marked is not None:
        return _not_differentiable(case, beginning, *marked)
    cut = case.words(same[0])
    sentence = f"{beginning}{WORDS[verdict].sentence.format(cut=cut)}."
    finding = Finding(_reported(verdict, same[0]), sentence)
    edits: list[Edit] = []
    for step in same:
        finding.causes.append(Remark(step.node, WORDS[verdict].remark))
        edits += within_graph(case, verdict, step)
    if not edits and verdict != "no-grad":
        _advise(case, verdict, same[0], finding, [])
        return finding
    if verdict == "no-grad":
        for step in same:
            _switched(case, step, finding, edits)
    statement = case.statement(same[0].node)
    for step in behind:
        if any(step.node is remark.node for remark in (*finding.causes, *finding.others)):
            continue
        if verdict_of(step) != verdict or case.statement(step.node) is not statement:
            finding.others.append(Remark(step.node, f"and then: {WORDS[verdict_of(step)].remark}"))
        more = within_graph(case, verdict_of(step), step)
        if not more and verdict == verdict_of(step) == "comparison":
            finding.advice = _of_scores(case, same[0].node)
            return finding
        edits += [one for one in more if not any(one.span.overlaps(e.span) for e in edits)]
    turned_on = _turned_on(case, same[0].node) if edits else []
    edits += [edit for statement in turned_on for edit in without(case, statement)]
    _advise(case, verdict, same[0], finding, edits)
    for trial in finding.trials if turned_on else ():
        left_out = f"{trial.advice}, and leave out: {case.text(turned_on[0])}"
        finding.trials[finding.trials.index(trial)] = trial._replace(advice=left_out)
    return finding


def _reported(verdict: str, step: Step) -> str:
    """A draw is told in words of its own, and is one of numbers or without gradients."""
    drawn = "integer" if step.kind == "integer" else "no-grad"
    return drawn if verdict == "sampled" else verdict


def _turned_on(case: Case, node: ast.AST) -> list[ast.stmt]:
    """loss.requires_grad = True behind a cut: only leaves take it, and a loss then is none."""
    line = case.line(node)
    switches = [part for part in case.provenance.attributes if part.attr == "requires_grad"]
    if not switches:
        return []
    stored = [p for p in case.provenance.parts if isinstance(p, ast.Name)]
    bound = {p.id for p in stored if type(p.ctx) is ast.Store and case.line(p) >= line}
    assigned = [
        statement
        for part in switches
        if name_of(part.value) in bound and case.line(part) >= line
        and part in getattr(statement := case.statement(part), "targets", ())
    ]  # fmt: skip
    return [statement for statement in assigned if statement is not None]


def _marked(case: Case, node: ast.AST) -> tuple[str, ast.Call] | None:
    """Where the forward of a Function that a place is in marks what it returns."""
    for part in case.ancestors(node):
        owner = case.parents.get(id(part))
        if isinstance(part, ast.FunctionDef) and isinstance(owner, ast.ClassDef):
            for call in ast.walk(part):
                if isinstance(call, ast.Call) and name_of(call) == "mark_non_differentiable":
                    return owner.name, call
    return None


def _not_differentiable(case: Case, beginning: str, owner: str, call: ast.Call) -> Finding:
    """Within forward gradients are always off; but for this, what it returns is in the graph."""
    sentence = f"{beginning}{owner}.forward marks its output as not differentiable."
    finding = Finding("detached", sentence, [Remark(call, "this output leaves the graph")])
    statement = case.statement(call)
    if isinstance(statement, ast.Expr):
        advice = f"leave out: {case.text(statement)}"
        finding.trials.append(Trial(advice, tuple(without(case, statement))))
    return finding


def _of_scores(case: Case, node: ast.AST) -> str:
    """What is compared and then counted: the share of right answers."""
    scores = node.left if isinstance(node, ast.Compare) else node
    what = case.text(scores, SHORT)
    return f"a loss of {what} itself, such as a cross entropy: a count of answers has no slope"


def _switched(case: Case, step: Step, finding: Finding, edits: list[Edit]) -> None:
    """What had switched gradients off: a `with`, a decorator, a call."""
    switch = decorator_of(case, step.node) or step.switch
    if switch is not None and switch is step.switch:
        switch = decorator_of(case, switch) or switch
    if not isinstance(switch, SWITCHES) or any(
        switch is one.node and one.kind == "tensor" for one in case.steps
    ):
        switch = None  # it is only the first of what was computed without them
    if switch is None and (calls := _reentrant(case)):
        finding.causes += [Remark(call, _run_again(case, call)) for call in calls]
        edits += [
            edit for call in calls for edit in with_keyword(case, call, "use_reentrant", "False")
        ]
        return
    if switch is None or switch is step.node or not case.is_here(switch):
        return
    if any(remark.node is switch for remark in finding.causes):
        return
    text, given = case.whole(switch), switch.args[0] if isinstance(switch, ast.Call) and (
        switch.args
    ) else None  # fmt: skip
    asked = given is not None and not isinstance(given, ast.Constant)
    off = f": {case.text(given)} is False" if asked else ""
    finding.causes.append(Remark(switch, f"switches gradients off{off}"))
    if given is not None and asked:
        edits.append(replace(case, given, "True"))
    for word, other in (
        ("no_grad", "enable_grad"), ("inference_mode", "enable_grad"),
        ("set_grad_enabled(False)", "set_grad_enabled(True)"),
    ):  # fmt: skip
        if word in text:
            edits.append(replace(case, switch, text.replace(word, other)))
            break


def _run_again(case: Case, call: ast.Call) -> str:
    """What a reentrant checkpoint does with what its function uses beside its inputs."""
    made = [step for step in case.steps if step.node is call and step.tracked]
    later = "backward() runs it again" if made else "no input requires grad"
    return f"runs it without gradients, and {later}"


def _reentrant(case: Case) -> list[ast.Call]:
    """The calls of a checkpoint that runs its function without gradients."""
    return [
        part for part in case.provenance.parts
        if isinstance(part, ast.Call) and name_of(part).startswith("checkpoint") and any(
            word.arg == "use_reentrant" and ast.unparse(word.value) != "False"
            for word in part.keywords
        )
    ]  # fmt: skip


def decorator_of(case: Case, node: ast.AST) -> ast.AST | None:
    """@torch.no_grad() on a function around a place."""
    for part in case.ancestors(node):
        if isinstance(part, ast.FunctionDef):
            for item in part.decorator_list:
                word = name_of(item)
                if word in ("no_grad", "inference_mode", "set_grad_enabled"):
                    return item
    return None


def _advise(case: Case, verdict: str, step: Step, finding: Finding, edits: list[Edit]) -> None:
    finding.advice = WORDS[verdict].advice
    if is_elsewhere(step) and verdict in ("detached", "data", "item"):
        finding.advice = f"leave out {case.words(step)}"
    if not edits:
        return
    if verdict == "no-grad":
        advice = _switched_on(case, step, finding)
    else:
        advice = advised(case, step.node, [e for e in edits if _inside(case, step, e)] or edits)
    finding.trials.append(Trial(advice, tuple(edits)))
    if verdict == "detached":
        finding.trials += _detached_before(case, step, edits, advice)


def _detached_before(case: Case, step: Step, edits: list[Edit], advice: str) -> list[Trial]:
    """fake = net(z).detach(): only its last use is meant to lead back, as that of a generator's
    loss; those before it, of a discriminator's, take it without its graph."""
    statement = case.statement(step.node)
    if not isinstance(statement, ast.Assign) or statement.value is not step.node:
        return []
    name, own = ast.unparse(statement.targets[0]), case.function_of(statement)
    uses = [
        part for part in case.provenance.parts
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        and case.function_of(part) is own and case.line(part) > case.line(statement)
    ]  # fmt: skip
    early = sorted(uses, key=case.line)[:-1]
    if not early:
        return []
    lines = ", ".join(str(line) for line in dict.fromkeys(map(case.line, early)))
    more = [replace(case, part, f"{name}.detach()") for part in early]
    where = f"{advice}, and {name}.detach() on line {lines}"
    return [Trial(where, (*edits, *more))]


def _switched_on(case: Case, step: Step, finding: Finding) -> str:
    """What to do about a switch: a decorator is left out, a call is taken back."""
    line, marked = case.line(step.node), [remark.node for remark in finding.causes]
    owner = case.parents.get(id(marked[-1]))
    if marked[-1] in getattr(owner, "decorator_list", ()):
        return f"leave out: @{case.text(marked[-1])}"
    statement = case.statement(marked[-1])
    if (call := marked[-1]) in _reentrant(case):
        return advised(case, call, with_keyword(case, call, "use_reentrant", "False"))
    if name_of(marked[-1]) == "set_grad_enabled" and isinstance(statement, ast.Expr):
        if case.function_of(statement) is not case.function_of(step.node):
            return f"with torch.no_grad(): around what line {case.line(statement)} is meant for"
        return f"torch.set_grad_enabled(True) before line {line}"
    return WORDS["no-grad"].advice


def _inside(case: Case, step: Step, edit: Edit) -> bool:
    """Whether an edit lies in the statement of a step."""
    statement = case.statement(step.node)
    return statement is not None and case.span(statement).contains(edit.span)
