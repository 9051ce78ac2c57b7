"""Questions: why a tensor that requires grad got no gradient: which passes missed it."""

from __future__ import annotations

import ast
from typing import Any

from ...recording.below import nodes_below
from ...recording.sides import (
    edges_of,
    is_differentiable,
    is_end,
    node_of,
    origin_of,
    sequence_of,
    users_class,
)
from ..provenance.passes import Applied, Pass
from ..provenance.values import Mark, Step, name_of
from .captured import captured_finding
from .case import Case, Finding, Remark, Trial
from .cut_findings import cut_finding
from .cuts import DERIVATIVES, by_strength, choosing, cuts, further, trained, verdict_of
from .edits import advised, bound_again, call_on, first, insert_after, replace, then, without
from .gradients import returned_of
from .overwritten import overwritten_finding


def leaf_finding(case: Case) -> Finding:
    """A tensor that requires grad and has none."""
    passes, refusals = case.passes.passes, case.passes.refusals
    if not passes and not refusals:
        return uncalled(case)
    off = _turned_off(case)
    if off is not None:
        return off
    reached = [one for one in passes if case.reached(one)]
    stored = [one for one in reached if not one.known.captures]
    for one in reversed(stored):
        finding = _excluded(case, one) or _stopped(case, one)
        if finding is not None:
            return finding
    captured = [one for one in reached if one.known.captures]
    broken = [one for one in stored if one.known.failed]
    if captured:
        calls = [one.origin for one in captured[-4:]]
        found = _without_slope(case, captured[-4:]) or _cut_since(case, captured[-1])
        if found is not None or not broken or broken[-1].number < captured[-1].number:
            return found or captured_finding(case, *calls)
    if broken:
        return broken_finding(case, broken[-1])
    return _apart(case)


# ---------------------------------------------------------------- no pass at all


def uncalled(case: Case) -> Finding:
    """Nothing went back through the graph."""
    name = case.name
    asked = derivative_calls(case)
    if asked:
        return captured_finding(case, asked[-1].node)
    finding = Finding("backward-not-called", case.none("backward was never called."))
    if case.passes.shapeless:
        return _shapeless(case, *case.passes.shapeless[-1])
    error = case.ran.error
    if error is not None and error.span is not None:
        finding.sentence = case.none(
            f"the program failed on line {error.span.line}, before any backward."
        )
        finding.causes.append(Remark(error.span, "fails here"))
        return finding
    result = _result(case)
    if result is None:
        finding.causes += [Remark(s.node, f"{name} is made here") for s in [case.made] if s]
        finding.advice = "call backward() on what you computed"
        return finding
    called = case.called(result.out)
    finding.causes.append(Remark(result.node, f"{called} depends on {name}; no backward from it"))
    reference = result.tensor
    tensor = None if reference is None else reference()
    if tensor is None or not called.isidentifier():
        finding.advice = "call backward() on the result"
        return finding
    text = f"{called}.backward()" if tensor.numel() == 1 else f"{called}.sum().backward()"
    last = case.program.body[-1]
    finding.trials.append(Trial(text, (insert_after(case, last, f"\n{text}"),)))
    return finding


def derivative_calls(case: Case) -> list[Step]:
    """Calls that were given the tensor and answer derivatives: torch.func.grad(f)(x)."""
    return [s for s in case.users.get(case.value, ()) if _derives(s.node)]


def _derives(node: ast.AST) -> bool:
    """grad(f)(x), and vmap(grad(f))(x)."""
    made = ast.walk(node.func) if isinstance(node, ast.Call) else ()
    inner = {name_of(part) for part in made if isinstance(part, ast.Call)}
    return name_of(node) in DERIVATIVES or not inner.isdisjoint(DERIVATIVES)


def _shapeless(case: Case, call: Any, root: int) -> Finding:
    """backward() of something with several elements."""
    line = case.line(call)
    sentence = case.none(f"backward on line {line} failed: {case.called(root)} is not a scalar.")
    finding = Finding("backward-not-called", sentence, [Remark(call, "fails")])
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if name_of(call) == "backward" and not call.args:
            edits = call_on(case, call.func.value, ".sum()")
            text = advised(case, call, edits)
            finding.trials.append(Trial(text, tuple(edits)))
    return finding


def _result(case: Case) -> Step | None:
    """The last thing that came from the tensor along the graph, which nothing else used."""
    reach = case.along([case.value], live_only=True)
    used = {source for step in case.steps for source in step.live}
    ends = [s for s in case.steps if s.out in reach and s.out not in used and s.out != case.value]
    named = [s for s in ends if case.called(s.out).isidentifier()]
    found = named or ends
    return found[-1] if found else None


# ---------------------------------------------------------------- turned off for the pass


def _turned_off(case: Case) -> Finding | None:
    """requires_grad was off while a pass came by, although it is on now."""
    off: Mark | None = None
    for mark in case.marks:
        if mark.kind != "requires_grad_":
            continue
        if not mark.on:
            off = mark
        elif off is not None:
            when = _missed(case, off, mark)
            if when is not None:
                line = case.line(off.node)
                sentence = case.none(
                    f"its requires_grad was off, from line {line} on, when {when}."
                )
                finding = Finding("turned-off", sentence, [Remark(off.node, "turns it off")])
                statement = case.statement(off.node)
                advice = f"leave out: {case.text(statement or off.node)}"
                finding.trials.append(Trial(advice, tuple(without(case, statement))))
                return finding
            off = None
    return None


def _missed(case: Case, off: Mark, on: Mark) -> str | None:
    """What came by between the two: a pass, or else all that used the tensor."""
    passes = case.passes.passes
    if any(case.reached(one) for one in passes if off.passes < one.number <= on.passes):
        return "backward came"
    within = [step for step in case.users.get(case.value, ())
              if off.steps <= step.out < on.steps]  # fmt: skip
    if not within or any(case.reached(one) for one in passes):
        return None
    line = case.line(within[-1].node)
    return "it was used" if line is None else f"line {line} used it"


# ---------------------------------------------------------------- reached, and yet nothing


def _excluded(case: Case, one: Pass) -> Finding | None:
    """backward(inputs=...) without it."""
    if one.known.inputs is None or one.known.captures:
        return None
    if one.known.asks_for(case.tensor):
        return None
    name, call = case.name, one.origin
    sentence = case.none(f"backward was asked for other inputs only, and {name} is none of them.")
    finding = Finding("left-out", sentence)
    if not case.is_here(call):
        return finding
    given = next((k.value for k in call.keywords if k.arg == "inputs"), None)
    finding.causes.append(Remark(given or call, f"without {name}"))
    if given is not None:
        if isinstance(given, (ast.List, ast.Tuple)) and given.elts:
            inner = ", ".join(case.whole(item) for item in given.elts)
            text = f"[{inner}, {case.code}]"
        else:
            star = "" if len(one.known.inputs) == 1 and isinstance(given, ast.Name) else "*"
            text = f"[{star}{case.whole(given)}, {case.code}]"
        for words in dict.fromkeys((text, text.replace("[", "[*", 1).replace("**", "*"))):
            edits = [replace(case, given, words)]
            finding.trials.append(Trial(advised(case, given, edits), tuple(edits)))
    return finding


def _stopped(case: Case, one: Pass) -> Finding | None:
    """A node on the way gave no gradient on: a user's function that returned None."""
    if one.applied is None:
        return None
    ways = _towards(case, one)
    for applied in one.applied.values():
        for place, edge in enumerate(edges_of(applied.node)):
            if edge is None or edge not in ways or place >= len(applied.results):
                continue
            if applied.results[place] is None and any(g is not None for g in applied.grads):
                return _returned_none(case, applied, place)
    return None


def _towards(case: Case, one: Pass) -> set[Any]:
    """The nodes of a pass from which the tensor can be reached, its own end among them."""
    order = list(nodes_below(node for node, _ in one.nodes))
    own = node_of(case.tensor)
    ways = {node for node in order
            if node is own or getattr(node, "variable", None) is case.tensor}  # fmt: skip
    inner = [node for node in order if not is_end(node)]
    for node in sorted(inner, key=sequence_of):
        if any(edge is not None and edge in ways for edge in edges_of(node)):
            ways.add(node)
    return ways


def _returned_none(case: Case, applied: Applied, place: int) -> Finding:
    name = case.name
    node = str(applied.node.name()).rpartition("::")[2]
    sentence = case.none(f"{node} passed no gradient to it.")
    finding = Finding("function-returned-none", sentence)
    origin = origin_of(applied.node)
    returned, value = returned_of(case, applied, place)
    if returned is None:
        if case.is_here(origin):
            finding.causes.append(Remark(origin, "blocks the gradient"))
        return finding
    owner = users_class(applied.node)
    finding.sentence = case.none(f"{owner}.backward returned None for it.")
    finding.causes.append(Remark(value or returned, "no gradient is returned here"))
    if case.is_here(origin):
        finding.others.append(Remark(origin, f"{name} goes through here"))
    given = _incoming(case, returned)
    if value is None and given is not None and not isinstance(returned, ast.Return):
        made = _last_name(returned, given)
        edits = then(case, case.statement(returned), f"return {made or given}")
        advice = f"return {made}" if made else "return a gradient for each input"
        finding.trials.append(Trial(advice, tuple(edits)))
    if value is not None and given is not None:
        edits = [replace(case, value, given)]
        advice = f"return a gradient there, such as {given} times the local derivative"
        finding.trials.append(Trial(advice, tuple(edits)))
    return finding


def _last_name(statement: ast.AST, given: str) -> str | None:
    """What the last statement of a function that returns nothing has computed of its gradient."""
    if not any(isinstance(part, ast.Name) and part.id == given for part in ast.walk(statement)):
        return None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        target = statement.target
    else:
        return None
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    if not all(isinstance(name, ast.Name) for name in names):
        return None
    return ", ".join(ast.unparse(name) for name in names)


def _incoming(case: Case, node: ast.AST) -> str | None:
    """What a user's backward calls the gradient that it is given."""
    for part in case.ancestors(node):
        if isinstance(part, ast.FunctionDef):
            names = [argument.arg for argument in part.args.args]
            return names[1] if len(names) > 1 else None
    return None


def broken_finding(case: Case, one: Pass) -> Finding:
    """A pass that ended in an error before it came here."""
    sentence = case.none(f"backward on line {case.line(one.origin)} failed before it reached it.")
    finding = Finding("backward-not-called", sentence)
    finding.causes.append(Remark(one.origin, "fails"))
    error = case.ran.error
    if error is not None and error.line == case.line(one.origin):
        finding.others += [Remark(label.span, label.text) for label in error.labels[1:]]
    return finding


# ---------------------------------------------------------------- not reached


def _without_slope(case: Case, captured: list[Pass]) -> Finding | None:
    """Derivatives with a graph went into what a later pass came from, and that graph does not lead
    to the tensor: the last bias has no part in a slope."""
    later = [one for one in case.passes.passes if one.number > captured[-1].number
             and not one.known.captures and not one.known.failed]  # fmt: skip
    if not later or not all(one.known.creates for one in captured):
        return None
    asked = any(one.known.asks_for(case.tensor) for one in captured)
    behind = case.behind(later[-1].roots)
    used = {id(step.node) for step in case.steps if step.out in behind}
    calls = {id(one.origin): one.origin for one in captured if id(one.origin) in used}
    apart = asked and calls and not cuts(case, [case.value], list(later[-1].roots))
    finding = _unused(case) if apart else _apart(case)
    if not calls or finding.verdict != "unused":
        return finding if calls and not asked else None
    root = _root_name(case, later[-1])
    finding.sentence = case.none(
        f"{root} is computed from a derivative that does not depend on {case.name}."
    )
    finding.causes[:-1] = [Remark(call, f"the same, whatever {case.name} is")
                           for call in calls.values()]  # fmt: skip
    finding.causes[-1] = Remark(later[-1].origin, f"goes back from {root}")
    return finding


def _apart(case: Case) -> Finding:
    """No graph leads from any root to the tensor: cut on the way, or not used."""
    name = case.name
    anew = _bound_anew(case)
    if anew is not None:
        return anew
    case.passes = case.passes.before_steps_of(case.tensor)
    passes, refusals = case.passes.passes, case.passes.refusals
    roots = [root for one in passes for root in one.roots] + [root for _, root in refusals]
    late = _required_late(case)
    if late is not None:
        return late
    asked = derivative_calls(case)
    if asked:
        return captured_finding(case, asked[-1].node)
    found = trained(case, cuts(case, [case.value], roots))
    if found:
        begin = case.none(f"on the way into {goal(case)}, ")
        weak = choosing(case, found, roots)
        first_one, *others = [
            cut_finding(case, group, begin, further(case, group, [case.value], roots, weak))
            for group in by_strength(found, passes[-1].since if passes else 0, weak)
        ]
        first_one.instead = others
        return first_one
    tested = _only_tested(case)
    if tested:
        node = tested[0].node
        sentence = case.none(f"{name} only decides which way the program takes.")
        finding = Finding("comparison", sentence, [Remark(node, "a comparison has no gradient")])
        finding.advice = "a smooth function such as sigmoid or torch.where with both branches"
        return finding
    return overwritten_finding(case, roots, goal(case)) or _unused(case)


def _cut_since(case: Case, captured: Pass) -> Finding | None:
    """What keeps a backward() behind the calls that return gradients from the tensor."""
    last, refusals = case.passes.passes[-1], case.passes.refusals
    roots = [] if last.known.captures else list(last.roots)
    if refusals and captured.known.creates and last is captured:
        roots = [refusals[-1][1]]  # what came out of the call had a graph, and lost it since
    met = cuts(case, [case.value], roots)
    found = [step for step in met if verdict_of(step) in ("detached", "data", "item", "copied")]
    found = found or [step for step in met if verdict_of(step) == "grad-call"]
    into = case.called(roots[-1]) if roots else ""
    return cut_finding(case, found, case.none(f"on the way into {into}, ")) if found else None


def _bound_anew(case: Case) -> Finding | None:
    """Its name meant another leaf until the last pass was over."""
    name, passes, step = case.name, case.passes.passes, case.step_of(case.value)
    if not passes or case.passes.refusals or step is None or step.out < passes[-1].step:
        return None
    node = step.node
    held = [tensor for _, _, tensor in case.flow.bindings.get(name, ())]
    if not case.is_here(node) or all(
        tensor is case.tensor or not tensor.requires_grad for tensor in held
    ):
        return None
    sentence = case.none(f"on line {case.line(node)} {name} was rebound to a new tensor.")
    finding = Finding("rebound", sentence, [Remark(node, f"{name} is bound again")])
    finding.facts.append("no backward was called since")
    former = [one for one in held if one is not case.tensor and one.requires_grad]
    numbered = case.ran.recording.names.numbered(former[-1])
    if numbered:
        finding.facts.append(f"the last pass came to {numbered}: gradcli why FILE {numbered}")
    finding.advice = f"call backward() on what is computed from {name}"
    return finding


def goal(case: Case) -> str:
    """What the last pass went back from, or would have."""
    passes, refusals = case.passes.passes, case.passes.refusals
    if passes and not (passes[-1].known.captures and refusals):
        return _root_name(case, passes[-1])
    return case.called(refusals[-1][1])


def _required_late(case: Case) -> Finding | None:
    """requires_grad_() came after the tensor was used."""
    marks = [m for m in case.marks if m.kind == "requires_grad_" and m.on]
    if not marks or case.flow.value(case.value).tracked:
        return None
    mark = marks[-1]
    uses = [s for s in case.users.get(case.value, ()) if case.value in s.dead]
    early = [s for s in uses if s.out < mark.steps]
    if not early:
        return None
    name, line = case.name, case.line(mark.node)
    used = case.line(early[-1].node)
    sentence = case.none(f"{name} did not require grad yet when line {used} used it.")
    finding = Finding("not-requires-grad", sentence)
    finding.causes.append(Remark(mark.node, "requires grad from here on"))
    finding.causes.append(Remark(early[-1].node, f"used {name} before"))
    edits = first(case, case.statement(early[0].node), case.whole(mark.node))
    advice = f"{case.text(mark.node)} before line {case.line(early[0].node)}, not on line {line}"
    finding.trials.append(Trial(advice, tuple(edits)))
    return finding


def _only_tested(case: Case) -> list[Step]:
    """Comparisons that decide an `if`, where the tensor's numbers do nothing else."""
    alive = case.along([case.value], live_only=False)
    found = []
    for step in case.steps:
        if step.out not in alive or verdict_of(step) not in ("comparison", "item") or step.tracked:
            continue
        for part in case.ancestors(step.node):
            parent = case.parents.get(id(part))
            if isinstance(parent, ast.NamedExpr):
                break  # its number has a name
            if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and parent.test is part:
                found.append(step)
                break
    return found


def _unused(case: Case) -> Finding:
    name, made = case.name, case.made
    if case.flow.is_full:
        sentence = case.none(
            "the program created more values than are kept: the reason is unknown."
        )
        return Finding("unexplained", sentence)
    passes = [p for p in case.passes.passes if case.is_here(p.origin)]
    call = (
        passes[-1].origin
        if passes
        else case.passes.refusals[-1][0]
        if case.passes.refusals
        else None
    )
    root = _root_name(case, passes[-1]) if passes else "the result"
    finding = Finding("unused", case.none(f"{root} was not computed from {name}."))
    if made is not None:
        finding.causes.append(Remark(made.node, f"{name} is made here"))
    if call is not None:
        finding.causes.append(Remark(call, f"goes back from {root}, which does not use {name}"))
    result = _result(case)
    if result is not None:
        finding.others.append(Remark(result.node, f"the furthest that {name} came"))
        statement = case.statement(result.node)
        edits = bound_again(case, statement)
        if edits and statement is not None:
            text = advised(case, statement, edits)
            finding.trials.append(Trial(text, tuple(edits), "nonzero"))
        finding.trials += _added(case, call, result)
    finding.advice = f"use {name} in what {root} is computed from, or leave it out"
    return finding


def _added(case: Case, call: Any, result: Step) -> list[Trial]:
    """What came from the tensor, added to what backward is called on: a part that was forgotten."""
    part = case.called(result.out)
    reference = result.tensor
    tensor = None if reference is None else reference()
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)) or call.args:
        return []
    assert case.ran.outcome is not None
    held: Any = case.ran.outcome.bindings.get(part)
    if tensor is None or held is not tensor:
        return []  # the name means something else by now
    if not part.isidentifier() or name_of(call) != "backward":
        return []
    if not is_differentiable(tensor) or case.line(result.node) > case.line(call):
        return []
    root = call.func.value
    summed = part if tensor.numel() == 1 else f"{part}.sum()"
    text = f"({case.whole(root)} + {summed})"
    edits = [replace(case, root, text)]
    return [Trial(f"{advised(case, call, edits)}, if {part} belongs to it", tuple(edits))]


def _root_name(case: Case, one: Pass) -> str:
    call = one.origin
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if name_of(call) == "backward":
            text = case.text(call.func.value, 24)
            if text not in ("torch.autograd", "autograd"):
                return text
    return case.called(one.roots[0]) if one.roots else "the result"
