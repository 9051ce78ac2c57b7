"""Questions: where the way from one value to another leaves the graph, and by what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from ...recording.sides import is_parameter
from ..cure import Edit
from .case import SHORT, Case, Finding, Remark, Trial
from .cut_edits import elsewhere, within_graph
from .edits import advised, replace, with_keyword, without
from .passes import Pass
from .rebound import CASTS
from .values import Step, name_of

COPIES = frozenset(
    "tensor as_tensor Tensor FloatTensor DoubleTensor HalfTensor asarray new_tensor Parameter "
    "from_numpy deepcopy scalar_tensor array".split()
)
SAMPLES = frozenset({"sample", "sample_n"})
DERIVATIVES = frozenset("grad jacobian hessian vjp jvp hvp vhp jacrev jacfwd".split())
WEAK = ("comparison", "integer")
CHOICES = ("bool", "integer")
SWITCHES = (ast.Call, ast.Name, ast.Attribute, ast.stmt)  # what can switch gradients off
MOST = 6  # places of one verdict
ADVICE = {
    "integer": "compute with what was chosen, or with softmax weights, not with its place",
    "comparison": "a smooth function such as sigmoid instead of the comparison",
    "copied": "torch.stack or the tensor itself instead of a copy",
    "no-grad": "move the line out of the part without gradients",
    "grad-call": "create_graph=True in the call",
    "sampled": "rsample(), or, where there is none, a loss of log_prob() of what was drawn",
}

WORDS = {
    "detached": "leaves the graph here",
    "data": ".data is outside of the graph",
    "item": "a Python number has no graph",
    "copied": "copies the numbers into a new leaf, without the graph",
    "integer": "an integer has no gradient",
    "comparison": "a comparison has no gradient",
    "no-grad": "computed while gradients were off",
    "grad-call": "made without create_graph=True, so no graph leads to it",
    "sampled": "draws numbers outside of the graph",
}
TOLD = {
    "detached": "{cut} takes it out of the graph",
    "data": "{cut} is outside of the graph",
    "item": "{cut} makes it a Python number, which has no graph",
    "copied": "{cut} copies the numbers and leaves the graph behind",
    "integer": "{cut} is an integer, and integers have no gradient",
    "comparison": "{cut} is a comparison, which has no gradient",
    "no-grad": "{cut} was computed while gradients were off",
    "grad-call": "{cut} was made without create_graph=True",
    "sampled": "{cut} draws numbers, and no graph leads through a draw",
}


def verdict_of(step: Step) -> str:
    """What a dead way is called, by the expression that it leads through."""
    node, word = step.node, word_of(step)
    if name_of(node) in SAMPLES:  # under PyTorch the operations inside are seen too
        return "sampled"
    if name_of(node) == "checkpoint":  # runs without gradients, and makes no node of its own then
        return "detached"
    if word in ("detach", "detach_"):
        return "detached"
    if word == "data" and (isinstance(node, ast.Attribute) or elsewhere(step)):
        return "data"
    if step.kind == "number":
        return "comparison" if isinstance(node, (ast.Compare, ast.BoolOp)) else "item"
    if step.kind == "bool":
        return "integer" if word == "bool" or word in CASTS else "comparison"
    if step.kind == "integer":
        return "integer"
    if word in COPIES:
        return "copied"
    if word in DERIVATIVES:
        return "grad-call"
    made = None if step.tensor is None else step.tensor()
    if made is not None and is_parameter(made):  # of a module that another file copies
        return "copied"
    return "detached" if step.enabled else "no-grad"


def word_of(step: Step) -> str:
    """What lost the graph: the operation, where another file does it in what is called."""
    return step.inner.word.strip("_") if step.inner and step.inner.place else name_of(step.node)


def cuts(case: Case, start: Iterable[int], ends: list[int]) -> list[Step]:
    """The steps on the ways from some values to others where the graph ends, in their order."""
    alive = case.along(start, live_only=True)
    behind = case.behind(ends)
    met = map(case.step_of, alive & behind)
    if not any(step.live or step.dead for step in met if step is not None):
        return _ends_of_graph(case, alive, behind)
    # A way that joins the graph again, as the condition of a where does, cuts nothing off.
    leading, pending = set(ends), [end for end in ends if end not in alive]
    for value in pending:
        step = case.step_of(value)
        for source in () if step is None else (*step.live, *step.dead):
            if source not in leading and source not in alive:
                leading.add(source)
                pending.append(source)
    return _ends_of_graph(case, alive, leading)


def cuts_beside(case: Case, one: Pass) -> list[Step]:
    """Those of other ways from the tensor into what a pass that reached it went back from; a
    comparison or an integer only chooses."""
    alive = case.along([case.value], live_only=True)
    found = _ends_of_graph(case, alive, case.behind(one.roots))
    return [
        step for step in found if step.out >= one.since and verdict_of(step) not in WEAK
        and not _in_forward(case, step.node)
    ]  # fmt: skip


def _in_forward(case: Case, node: ast.AST) -> bool:
    """Whether a place is in the forward of a Function, which never records gradients."""
    return any(
        isinstance(part, ast.ClassDef) and any(name_of(base) == "Function" for base in part.bases)
        for part in case.ancestors(node)
    )


def _ends_of_graph(case: Case, alive: set[int], leading: Set[int]) -> list[Step]:
    using = {step.out: step for value in alive for step in case.users.get(value, ())}
    return [
        step
        for _, step in sorted(using.items())
        if step.out in leading
        and step.out not in alive
        and any(source in alive for source in step.dead)
        and not (step.tracked and verdict_of(step) == "grad-call")  # its graph leads elsewhere
    ]


def trained(case: Case, found: list[Step]) -> list[Step]:
    """Of several copies of a module those that gradients came to, if there are such: a target
    network beside them is meant to have none."""
    copies = {step.out for step in found if name_of(step.node) == "deepcopy"}
    reached = {
        out for out in copies
        if (tensor := case.flow.alive(out)) is not None and case.passes.entries_of(tensor)
    }  # fmt: skip
    return [step for step in found if step.out not in copies - reached] if reached else found


def cut_behind(case: Case, value: int) -> Step | None:
    """The nearest step behind a value at which something that required grad lost it."""
    seen, pending = {value}, [value]
    for current in pending:
        step = case.step_of(current)
        if step is None or step.tracked:
            continue
        for source in step.dead:
            if case.flow.value(source).tracked and not case.turned_off(source, step.out):
                return step
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return None


def further(
    case: Case, found: list[Step], start: Iterable[int], ends: list[int],
    weak: Set[int] = frozenset(),
) -> list[Step]:  # fmt: skip
    """The cuts that come behind these: x.item() makes a number, and tensor() copies it; none of
    `weak` values that belong to others."""
    alive = case.along(start, live_only=True) | {step.out for step in found}
    leading = case.behind(ends) - (weak - alive)
    behind: list[Step] = []
    first = min(step.out for step in found)
    for step in case.steps:
        sources = (*step.live, *step.dead)
        if step.out > first and step.out in leading and not alive.isdisjoint(sources):
            alive.add(step.out)
            known = any(step is other for other in found)
            if not known and not any(source in alive for source in step.live):
                if verdict_of(step) != "detached" or name_of(step.node).startswith("detach"):
                    behind.append(step)
    return behind[:MOST]


def by_strength(found: list[Step], last: int = 0, weak: Set[int] = frozenset()) -> list[list[Step]]:
    """Cuts of one kind each: the deliberate ones first. A copy of a module is meant to be one, and
    a comparison may only choose a branch, as may what only `weak` values lead on. What was computed
    for the last pass, from the value `last` on, goes before older values: a rollout of a policy may
    well have no graph."""
    groups: dict[tuple[str, bool], list[Step]] = {}
    for step in found:
        kind = verdict_of(step), name_of(step.node) == "deepcopy"
        groups.setdefault(kind, []).append(step)

    def rank(kind: tuple[str, bool]) -> tuple[bool, bool, bool]:
        only_chooses = kind[0] in WEAK or all(step.out in weak for step in groups[kind])
        return only_chooses, kind[1], all(step.out < last for step in groups[kind])

    return [groups[kind] for kind in sorted(groups, key=rank)]


def choosing(case: Case, found: list[Step], ends: list[int]) -> set[int]:
    """The values of cuts whose every way into the results leads through an integer or a mask."""
    leading, weak = case.behind(ends), set[int]()
    for step in found:
        seen, pending = {step.out}, [step.out]
        for value in pending:
            for user in case.users.get(value, ()):
                if user.out in leading and user.out not in seen and user.kind not in CHOICES:
                    seen.add(user.out)
                    pending.append(user.out)
        if seen.isdisjoint(ends):
            weak.add(step.out)
    return weak


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
    cut = elsewhere(same[0]) or case.text(same[0].node)
    sentence = f"{beginning}{TOLD[verdict].format(cut=cut)}."
    finding = Finding(_reported(verdict, same[0]), sentence)
    edits: list[Edit] = []
    for step in same:
        finding.causes.append(Remark(step.node, WORDS[verdict]))
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
            finding.others.append(Remark(step.node, f"and then: {WORDS[verdict_of(step)]}"))
        more = within_graph(case, verdict_of(step), step)
        if not more and verdict == verdict_of(step) == "comparison":
            finding.advice = _of_scores(case, same[0].node)
            return finding
        edits += [edit for edit in more if not _overlaps(edit, edits)]
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
        finding.causes += [Remark(call, "runs it without gradients, and no input requires grad")
                           for call in calls]  # fmt: skip
        edits += [
            edit for call in calls for edit in with_keyword(case, call, "use_reentrant", "False")
        ]
        return
    if switch is None or switch is step.node or not case.is_here(switch):
        return
    if any(remark.node is switch for remark in finding.causes):
        return
    finding.causes.append(Remark(switch, "switches gradients off"))
    text = case.whole(switch)
    for word, other in (
        ("no_grad", "enable_grad"), ("inference_mode", "enable_grad"),
        ("set_grad_enabled(False)", "set_grad_enabled(True)"),
    ):  # fmt: skip
        if word in text:
            edits.append(replace(case, switch, text.replace(word, other)))
            break


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
    finding.advice = ADVICE.get(verdict, "compute it with tensors that stay in the graph")
    if elsewhere(step) and verdict in ("detached", "data", "item"):
        finding.advice = f"leave out {elsewhere(step)}"
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
    return ADVICE["no-grad"]


def _overlaps(edit: Edit, others: list[Edit]) -> bool:
    """Whether an edit touches what another one changes."""
    start, end = _ends(edit)
    return any(start < theirs[1] and theirs[0] < end for theirs in map(_ends, others))


def _ends(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    span = edit[0]
    return (span.line, span.column), (span.end_line, span.end_column)


def _inside(case: Case, step: Step, edit: Edit) -> bool:
    """Whether an edit lies in the statement of a step."""
    statement = case.statement(step.node)
    if statement is None:
        return False
    span = case.span(statement)
    return (span.line, span.column) <= (edit[0].line, edit[0].column) and (
        (edit[0].end_line, edit[0].end_column) <= (span.end_line, span.end_column)
    )
