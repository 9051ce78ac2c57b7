"""Questions: why a gradient is None: what the run did, or did not do, with this tensor."""

from __future__ import annotations

import ast
from typing import Any

from ...diagnostics import UNASKED
from ...recording.modules import is_module, named_buffers
from ...recording.sides import is_differentiable, is_parameter
from ..provenance.values import Mark, name_of
from .captured import captured_finding, is_of_graph
from .case import Case, Finding, Remark, Trial
from .cut_findings import cut_finding
from .cuts import cut_behind
from .edits import advised, call_on, first, floating, is_needed, replace, requiring, then, without
from .leaf import broken_finding, derivative_calls, leaf_finding, uncalled
from .rebound import made_of_lost, rebound_finding, update_trial
from .zero_trials import read_before


def none_finding(case: Case) -> Finding:
    """The one cause that counts most."""
    if _comes_no_more(case):
        case.passes = case.passes.since(case.entries[-1].number)
    else:
        cleared = cleared_finding(case)
        if cleared is not None:
            return cleared
    if not case.tensor.requires_grad:
        return constant_finding(case)
    if case.tensor.grad_fn is None:
        return leaf_finding(case)
    return inner_finding(case)


# ---------------------------------------------------------------- cleared


def _comes_no_more(case: Case) -> bool:
    """Whether the call that once brought a gradient ran again behind its clearing, and brought
    none: a loop that no longer reaches the tensor."""
    entries = case.entries
    if not entries or entries[-1].kind != "clear":
        return False
    callers = [entry.origin for entry in entries if entry.kind == "add"]
    if case.passes.refusals and any(case.passes.refusals[-1][0] is one for one in callers):
        return True
    return any(
        any(one.origin is caller for caller in callers)
        for one in case.passes.passes
        if one.number > entries[-1].number and not one.known.failed
    )


def cleared_finding(case: Case) -> Finding | None:
    """There was a gradient, and it was set to None; nothing was added since."""
    entries = case.entries
    if not entries or entries[-1].kind != "clear" or not case.is_here(entries[-1].origin):
        return None
    last = case.passes.passes[-1] if case.passes.passes else None
    if last is not None and last.known.failed and last.number > entries[-1].number:
        return broken_finding(case, last)
    added = next((e for e in reversed(entries[:-1]) if e.kind != "clear"), None)
    node = entries[-1].origin
    sentence = case.none(f"it was set to None on line {case.line(node)}.")
    finding = Finding("cleared", sentence, [Remark(node, f"sets {case.name}.grad to None")])
    if added is not None and case.is_here(added.origin):
        finding.others.append(Remark(added.origin, "had given it a value"))
    statement = case.statement(node)
    if added is not None and _steps_without(case):
        finding.facts.append(
            "so the optimizer finds no gradient when it steps, and changes nothing"
        )
        if statement is case.statement(added.origin):
            finding.advice = "in what this line calls: zero_grad() before backward(), not behind it"
            return finding
        text = case.whole(statement or node)
        edits = first(case, case.statement(added.origin), text)
        if isinstance(statement, ast.Expr) and edits:
            advice = f"{text} in front of line {case.line(added.origin)}, before backward()"
            finding.trials.append(Trial(advice, (*edits, *without(case, statement))))
            return finding
    if statement is not None:
        finding.trials += read_before(case, node, None if added is None else added.origin, "there")
        if not finding.trials:
            finding.advice = f"read {case.name}.grad before line {case.line(node)}"
    return finding


def _steps_without(case: Case) -> bool:
    """Whether the optimizers that have the tensor found no gradient in any of their steps."""
    own = [one for one in case.passes.optimizers.all if one.steps and one.has(case.tensor)]
    return bool(own) and all(one.idle == one.steps for one in own)


# ---------------------------------------------------------------- no grad required


def constant_finding(case: Case) -> Finding:
    """A tensor that does not require grad: turned off, cut off, or never asked to."""
    name = case.name
    off = next((m for m in reversed(case.marks) if not m.on or m.kind == "detach_"), None)
    if off is not None and _was_on(case, off):
        return _off_finding(case, off)
    asked = [step.node for step in derivative_calls(case) if not is_of_graph(step.node)]
    if asked and all(one.known.captures for one in case.passes.passes):
        return captured_finding(case, *asked[-4:])
    cut = cut_behind(case, case.value)
    if cut is not None:
        finding = cut_finding(case, [cut], case.none(f"{name} does not require grad, for "))
        finding.trials = [_with_retained_grad(case, trial) for trial in finding.trials]
        update = update_trial(case, case.statement(cut.node), bare=finding.verdict == "no-grad")
        if update is not None:
            finding.trials.insert(0, update)
        return finding
    return _of_frozen(case) or _never(case)


def _of_frozen(case: Case) -> Finding | None:
    """What it was computed from had required grad before: a layer that is frozen."""
    marks = [(value, mark) for value in sorted(case.behind([case.value]))
             if (mark := case.turned_off(value, case.value)) is not None]  # fmt: skip
    if not marks:
        return None
    value, mark = marks[0]
    sentence = f"the requires_grad of {case.called(value)} was turned off on line"
    finding = Finding("turned-off", case.none(f"{sentence} {case.line(mark.node)}."))
    finding.causes += [
        Remark(node, "turns it off") for node in dict.fromkeys(m.node for _, m in marks)
    ]
    statement = case.statement(mark.node)
    trial = Trial(
        f"leave out: {case.text(statement or mark.node)}", tuple(without(case, statement))
    )
    finding.trials.append(_with_retained_grad(case, trial))
    return finding


def _with_retained_grad(case: Case, trial: Trial) -> Trial:
    """Without the cut it is an inner tensor, which has to be asked to keep its gradient."""
    statement = case.bound_by()
    edits = then(case, statement, f"{case.code}.retain_grad()")
    return trial._replace(edits=(*trial.edits, *edits))


def _was_on(case: Case, mark: Mark) -> bool:
    """Whether the tensor required grad before it was turned off."""
    if mark.kind == "detach_" or case.flow.value(case.value).tracked:
        return True
    return is_parameter(case.tensor) or any(m.on for m in case.marks if m.steps <= mark.steps)


def _off_finding(case: Case, mark: Mark) -> Finding:
    name, node = case.name, mark.node
    statement = case.statement(node)
    if mark.kind == "detach_":
        sentence = case.none(f"detach_() took {name} out of the graph.")
        finding = Finding("detached", sentence, [Remark(node, "leaves the graph here")])
        if isinstance(statement, ast.Expr):
            edits = (replace(case, statement, f"{case.code}.retain_grad()"),)
            finding.trials.append(Trial(f"{name}.detach() where it is used", edits))
            return finding
    else:
        line = case.line(node)
        sentence = case.none(f"its requires_grad was turned off on line {line}.")
        finding = Finding("turned-off", sentence, [Remark(node, "turns it off")])
    if not is_needed(case, statement, node):
        finding.trials.append(
            Trial(f"leave out: {case.text(statement or node)}", tuple(without(case, statement)))
        )
    return finding


def _never(case: Case) -> Finding:
    """Made without requires_grad=True, like everything that it was computed from."""
    name = case.name
    makers = _makers(case)
    sentence = case.none(f"{name} does not require grad, so backward had nothing to store there.")
    own = case.made
    node = own.node if own is not None else makers[0] if makers else None
    if node is None:
        finding = Finding("not-requires-grad", sentence)
        if name in case.ran.request.no_grad:
            finding.sentence = case.none(f"--no-grad {name} was given.")
            finding.advice = f"leave out --no-grad {name}"
            return finding
        finding.advice = f"{name}.requires_grad_() before it is used"
        return finding
    buffer = _buffer(case)
    if buffer is not None:
        return buffer
    behind = [maker for maker in makers if maker is not node]
    if behind:
        sentence = case.none(f"{name} does not require grad, for it was computed from constants.")
    whole = "False" in case.whole(node) and "requires_grad" in case.whole(node)
    said = "made with requires_grad=False" if whole else UNASKED
    finding = Finding("not-requires-grad", sentence)
    finding.causes.append(Remark(node, "computed from constants" if behind else said))
    finding.causes += [Remark(maker, UNASKED) for maker in behind[:3]]
    if ".grad" in case.whole(node):
        finding.sentence = case.none(f"{name} is a gradient itself, and requires none.")
        return finding
    value = _value(case, node)
    differentiable = is_differentiable(case.tensor)
    edits = requiring(case, value, differentiable)
    if edits:
        finding.trials.append(Trial(advised(case, value, edits), tuple(edits)))
    elif differentiable:
        finding.advice = f"{name}.requires_grad_() before it is used"
    else:
        kind = str(case.tensor.dtype).removeprefix("torch.")
        finding.advice = f"a floating type: {name} is {kind}, and only floats can require grad"
        edits = floating(case, value) if isinstance(value, ast.Call) else []
    return finding


def _buffer(case: Case) -> Finding | None:
    """A buffer is no parameter: a layer updates its own, and the program may have meant one."""
    path, _, name = case.code.rpartition(".")
    made = case.made
    registers = [
        part
        for statement in case.program.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Call) and name_of(part) == "register_buffer"
        and part.args and isinstance(part.args[0], ast.Constant) and part.args[0].value == name
    ]  # fmt: skip
    if registers:
        sentence = case.none(f"{case.name} is a buffer, and only parameters get gradients.")
        finding = Finding(
            "not-requires-grad", sentence, [Remark(registers[0], "makes it a buffer")]
        )
        if len(registers[0].args) > 1:
            text = f"self.{name} = nn.Parameter({case.whole(registers[0].args[1])})"
            finding.trials.append(Trial(text, (replace(case, registers[0], text),)))
        return finding
    if not path or made is None or not _is_buffer(case):
        return None
    sentence = case.none(f"{case.name} is a buffer, which the layer itself updates in forward.")
    finding = Finding("not-requires-grad", sentence, [Remark(made.node, "the layer is made here")])
    finding.advice = f"nothing: no gradient is needed for it; {path}.eval() stops the updates"
    return finding


def _is_buffer(case: Case) -> bool:
    assert case.ran.outcome is not None
    modules = filter(is_module, case.ran.outcome.bindings.values())
    return any(one is case.tensor for module in modules for _, one in named_buffers(module))


def _value(case: Case, node: ast.AST) -> ast.AST:
    """The maker itself, for an input or a name the statement's value."""
    statement = case.statement(node)
    if isinstance(node, ast.Name) and isinstance(statement, ast.Assign):
        if node in statement.targets:
            return statement.value
    return node


def _makers(case: Case) -> list[Any]:
    """The expressions without sources that the tensor's numbers came from."""
    found: list[Any] = []
    seen, pending = {case.value}, [case.value]
    for value in pending:
        step = case.step_of(value)
        if step is None:
            continue
        sources = (*step.live, *step.dead)
        if not sources and not any(step.node is other for other in found):
            found.append(step.node)
        for source in sources:
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return found


# ---------------------------------------------------------------- inner tensors


def inner_finding(case: Case) -> Finding:
    """A tensor that was computed: no leaf, so it keeps a gradient only when asked to."""
    name = case.name
    asked = [p for p in case.passes.passes if p.known.captures and p.known.asks_for(case.tensor)]
    if asked:
        return captured_finding(case, *(one.origin for one in asked))
    retained = [mark for mark in case.marks if mark.kind == "retain_grad"]
    if not case.tensor.retains_grad or not retained:
        found = rebound_finding(case)
        return found if found is not None else _plain(case)
    mark = retained[0]
    reached = [p for p in case.passes.passes if case.reached(p)]
    early = [p for p in reached if p.number <= mark.passes]
    if early and len(early) == len(reached):
        return _late(case, mark, early[-1].origin)
    if not case.passes.passes and not case.passes.refusals:
        return uncalled(case)
    if not reached:
        return leaf_finding(case)
    finding = leaf_finding(case)
    finding.sentence = finding.sentence or f"{name}.grad is None."
    return finding


def _late(case: Case, mark: Mark, backward: Any) -> Finding:
    name, line = case.name, case.line(mark.node)
    sentence = case.none(f"retain_grad() on line {line} came after the backward pass.")
    finding = Finding("retained-too-late", sentence, [Remark(mark.node, "too late for it")])
    if case.is_here(backward):
        finding.causes.append(Remark(backward, f"passed {name} before"))
    made = case.made
    statement = None if made is None else case.statement(made.node)
    edits = then(case, statement, f"{case.code}.retain_grad()")
    if not edits or not name.isidentifier():
        edits = first(case, case.statement(backward), f"{case.code}.retain_grad()")
    finding.trials.append(
        Trial(f"{case.code}.retain_grad() before line {case.line(backward)}", tuple(edits))
    )
    return finding


def _plain(case: Case) -> Finding:
    """Nothing asked it to keep its gradient."""
    name, made = case.name, case.made
    sentence = case.none(f"{name} is not a leaf, and only leaves keep their gradient.")
    finding = Finding("non-leaf", sentence)
    if made is not None:
        assert case.tensor.grad_fn is not None
        kind = str(case.tensor.grad_fn.name()).rpartition("::")[2]
        statement = case.bound_by()
        value = statement.value if isinstance(statement, ast.Assign) else made.node
        finding.causes.append(Remark(value, f"computed, by {kind}"))
        if value is not made.node and case.line(value) != case.line(made.node):
            finding.others.append(Remark(made.node, "by this"))
        finding.trials += _as_leaf(case, finding, statement)
        advice = f"{case.code}.retain_grad() after line {case.line(value)}"
        edits = then(case, statement, f"{case.code}.retain_grad()") or _before_backward(case)
        if made.inner is not None and made.inner.place:
            advice = f"{case.code}.retain_grad() after {made.inner.place}"
            finding.causes[0] = Remark(value, f"computed on {made.inner.place}, by {kind}")
        finding.trials.append(Trial(advice, tuple(edits)))
    parts = _computed_of(case)
    if parts:
        finding.trials.clear()
        finding.sentence = case.none(f"{name} is computed of {' and '.join(parts)}.")
        finding.advice = (
            f"{' and '.join(f'{part}.grad' for part in parts)}: these are the parameters"
        )
        return finding
    if not case.passes.passes and not case.passes.refusals:
        finding.facts.append("no backward was called either")
    elif not any(case.reached(one) for one in case.passes.passes):
        other = leaf_finding(case)  # two causes: asking it to keep its gradient alone gives none
        finding.trials.clear()
        finding.advice = f"{case.code}.retain_grad(), once a gradient comes to it"
        why = other.sentence.partition(" is None")[2]
        finding.facts.append(f"no backward pass reached it either{why}")
        finding.others += other.causes[:2]
    return finding


def _computed_of(case: Case) -> list[str]:
    """The parameters of a module that its weight is computed of: weight_g, weight_v, weight_orig,
    parametrizations.weight.original."""
    path, _, word = case.name.rpartition(".")
    starts = (f"{case.name}_", f"{path}.parametrizations.{word}.") if path else ()
    return sorted(name for name in case.names.values() if name.startswith(starts)) if path else []


def _as_leaf(case: Case, finding: Finding, statement: Any) -> list[Trial]:
    """A leaf that was made and computed with in one expression: the result was meant."""
    if not isinstance(statement, ast.Assign):
        return []
    made = made_of_lost(case, statement.value)
    if not made:
        return []
    finding.sentence = case.none(f"{case.name} was computed from a leaf, and is none itself.")
    finding.others += [Remark(node, "the leaf, which has no name") for node in made]
    edits = call_on(case, statement.value, ".detach().requires_grad_()")
    return [Trial(advised(case, statement.value, edits), tuple(edits))]


def _before_backward(case: Case) -> list[Any]:
    """Asks right before the backward call."""
    for one in case.passes.passes:
        statement = case.statement(one.origin)
        if statement is not None and not one.known.captures:
            return first(case, statement, f"{case.code}.retain_grad()")
    return []
