"""Questions: names that once referred to a leaf: rebound to a computed tensor, or cast."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...diagnostics import Edit
from ...language.explain.carried import in_place, steps
from ..provenance.values import Step, name_of
from .case import Case, Finding, Remark, Trial
from .edits import advised, call_on, insert_before, replace, then

CASTS = frozenset(
    "to type double float half bfloat16 cuda cpu type_as cfloat cdouble float64 float32".split()
)


BINDS_ELSEWHERE = (ast.Expr, ast.Return)  # what it calls, or who called it, sets the name


def rebound_finding(case: Case) -> Finding | None:
    """The name means something computed now: by a cast, or from what it meant before."""
    made = case.made
    if made is None or case.tensor.retains_grad:
        return None
    cast = _cast(case, made)
    before = _before(case)
    if cast is not None:
        return _cast_finding(case, cast)
    if before is None:
        return None
    return _rebound_finding(case, *before)


def _cast(case: Case, made: Step) -> Step | None:
    """The conversion that made the tensor of a leaf; of anything else it is just computed."""
    if name_of(made.node) not in CASTS or len(made.live) != 1:
        return None
    return made


def _before(case: Case) -> tuple[Any, list[Any]] | None:
    """(what bound the name to a leaf, the statements that have rebound it since)."""
    if not case.name.isidentifier():
        return _before_here(case)
    held = case.flow.bindings.get(case.name, [])
    place = next((i for i, one in enumerate(held) if one[2] is case.tensor), None)
    inside = _before_inside(case) if place is None else None
    if inside is not None:
        return inside
    behind = case.behind([case.value])
    for number, node, tensor in reversed(held[: place or 0]):
        if number in behind and tensor.requires_grad and tensor.grad_fn is None:
            later = held[held.index((number, node, tensor)) + 1 : (place or 0) + 1]
            return node, list({id(one[1]): _statement(case, one[1]) for one in later}.values())
    return None if place else _before_here(case)


def _before_here(case: Case) -> tuple[Any, list[Any]] | None:
    """The same of an attribute or an item, whose bindings are not kept: by the statement alone."""
    made = case.made
    statement = None if made is None else case.statement(made.node)
    given = _set_to(statement, case.name.rpartition(".")[2])
    if made is not None and isinstance(statement, BINDS_ELSEWHERE) and _was_leaf(case, made):
        return None, [_taker(case, statement)]
    if given is not None and _of_lost_leaf(case, given):
        return None, [statement]
    for target, value in _bound(statement):
        text, last = ast.unparse(target), case.name.rpartition(".")[2]
        is_attribute = isinstance(target, ast.Attribute) and target.attr == last != case.name
        is_item = _is_item(case.name, target)
        if is_item and _is_update(value) and _is_of(case, statement, target, value):
            return None, [statement]
        if text == case.name or is_attribute or is_item:
            read = [part for part in ast.walk(value) if isinstance(part, type(target))]
            if any(ast.unparse(part) == text for part in read) and _of_lost_leaf(case, value):
                return None, [statement]
    return None


def _taker(case: Case, statement: ast.stmt) -> ast.stmt:
    """The assignment that gives the name what a function returns; if there is no such one, or
    several, the return itself."""
    outer = (part for part in case.ancestors(statement) if isinstance(part, ast.FunctionDef))
    function, last = next(outer, None), case.name.rpartition(".")[2]
    found = [
        part
        for part in case.provenance.parts
        if isinstance(part, ast.Assign)
        and function is not None
        and isinstance(statement, ast.Return)
        and any(isinstance(call, ast.Call) and name_of(call) == function.name
                for call in ast.walk(part.value))
        and any(ast.unparse(target) == case.name or _is_item(case.name, target)
                or (isinstance(target, ast.Attribute) and target.attr == last)
                for whole in part.targets for target in getattr(whole, "elts", [whole]))
    ]  # fmt: skip
    return found[0] if len(found) == 1 else statement


def _is_item(name: str, target: ast.expr) -> bool:
    """params[k], or all of params, for params['w']"""
    if isinstance(target, ast.Subscript):
        whole = target.value
        return not isinstance(target.slice, ast.Constant) and _is_item(name, whole)
    return name.endswith("]") and name.startswith(f"{ast.unparse(target)}[")


def _is_update(value: ast.expr) -> bool:
    """p - lr * p.grad, of each p too"""
    value = value.elt if isinstance(value, ast.ListComp) else value
    return isinstance(value, ast.BinOp) and f"{ast.unparse(value.left)}.grad" in ast.unparse(value)


def _is_of(case: Case, statement: Any, target: ast.expr, value: ast.expr) -> bool:
    """Whether what changes the items of a container goes over its items."""
    whole = ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
    loops = [part.iter for part in case.ancestors(statement) if isinstance(part, ast.For)]
    return any(isinstance(part, ast.expr) and ast.unparse(part) == whole
               for source in (value, *loops) for part in ast.walk(source))  # fmt: skip


def _set_to(statement: Any, attribute: str) -> ast.expr | None:
    """What setattr(owner, attribute, value) gives it; the name may be computed."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not (isinstance(call, ast.Call) and name_of(call) == "setattr" and len(call.args) == 3):
        return None
    name = call.args[1]
    other = isinstance(name, ast.Constant) and name.value != attribute
    return None if other else call.args[2]


def _bound(statement: Any) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, with what each is given: a, b = 1, 2."""
    if isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            if len(target.elts) == len(value.elts):
                yield from zip(target.elts, value.elts, strict=True)
                return
        yield target, value


def _of_lost_leaf(case: Case, value: ast.expr) -> bool:
    """Whether an expression computed the tensor of a leaf that has no name any more."""
    return any(_is_lost(case, leaf) for leaf in _leaves_of(case, value))


def made_of_lost(case: Case, value: ast.expr) -> list[Any]:
    """Where the leaves were made, if an expression made all that it computed the tensor of, and no
    name is left for any of them: `torch.randn(3, requires_grad=True) / 2`."""
    within = {id(part) for part in ast.walk(value)}
    leaves = _leaves_of(case, value)
    made = [step.node for step in map(case.step_of, leaves) if step is not None]
    if len(made) < len(leaves) or not all(id(node) in within for node in made):
        return []
    return made if all(_is_lost(case, leaf) for leaf in leaves) else []


def _leaves_of(case: Case, value: ast.expr) -> list[int]:
    """The leaves that require grad, and what has no leaf in this expression."""
    within = {id(part) for part in ast.walk(value)}
    pending, found = [case.value], []
    for one in pending:
        step = case.step_of(one)
        if step is not None and step.live:
            pending += step.live if id(step.node) in within else ()
        elif case.flow.value(one).tracked:
            found.append(one)
    return found


def _is_lost(case: Case, leaf: int) -> bool:
    reference = case.flow.value(leaf).tensor
    tensor = None if reference is None else reference()
    return tensor is None or id(tensor) not in case.names


def _was_leaf(case: Case, made: Step) -> bool:
    """Whether an earlier pass had come to a leaf behind the tensor, of its shape, that has no name
    any more."""
    earlier = {one.number for one in case.passes.passes if not case.reached(one)}
    for tensor in map(case.flow.alive, case.behind([made.out])):
        if tensor is None or tensor.grad_fn is not None or tensor.shape != case.tensor.shape:
            continue
        entries = () if id(tensor) in case.names else case.passes.entries_of(tensor)
        if any(entry.number in earlier for entry in entries):
            return True
    return False


def _before_inside(case: Case) -> tuple[Any, list[Any]] | None:
    """The same of a name of a function; another function's name like it is another."""
    every = case.flow.bound_inside.get(case.name, ())
    given = (one[1] for one in every if one[0] == case.value and not isinstance(one[1], ast.arg))
    scope = case.function_of(next(given, None))
    held = [one for one in every if case.function_of(one[1]) is scope]
    place = next((i for i, one in enumerate(held) if one[0] == case.value), None)
    behind = case.behind([case.value])
    for earlier in reversed(range(place or 0)):
        number, node, is_leaf = held[earlier]
        if is_leaf and number in behind and number != case.value:
            later = held[earlier + 1 : (place or 0) + 1]
            return node, list({id(one[1]): _statement(case, one[1]) for one in later}.values())
    return None


def _statement(case: Case, node: ast.AST) -> ast.AST:
    return case.statement(node) or node


def _cast_finding(case: Case, made: Step) -> Finding:
    called = name_of(made.node)
    sentence = case.none(f"{called}() made a new tensor, which is not a leaf.")
    source = case.flow.value(made.live[0])
    leaf = source.tensor() if source.tensor is not None else None
    moved = leaf is not None and leaf.device != case.tensor.device
    copied = "a copy on another device" if moved else "a copy of another type"
    finding = Finding("cast", sentence, [Remark(made.node, f"{copied}, computed")])
    if leaf is not None and leaf.grad_fn is None and id(leaf) in case.names:
        finding.facts.append(f"the leaf is {case.names[id(leaf)]}")
    maker = case.step_of(made.live[0])
    if maker is not None and case.is_here(maker.node):
        finding.others.append(Remark(maker.node, "the leaf"))
    edits = call_on(case, made.node, ".detach().requires_grad_()")
    finding.trials.append(Trial(advised(case, made.node, edits), tuple(edits)))
    return finding


def _rebound_finding(case: Case, leaf: Any, statements: list[Any]) -> Finding:
    name, statement = case.name, statements[0]
    line = case.line(statement)
    sentence = case.none(
        f"on line {line} {name} was rebound to a computed tensor, which is not a leaf."
    )
    finding = Finding("rebound", sentence)
    for one in statements[:4]:
        finding.causes.append(Remark(one, f"{name} is bound again"))
    if leaf is not None:
        finding.others.append(Remark(leaf, "the leaf that it meant before"))
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.ListComp) and _is_update(value):
        each = replace(case, value.elt, f"({case.whole(value.elt)}).detach().requires_grad_()")
        finding.advice = advised(case, statement, [each])
        return finding
    if isinstance(value, ast.Call) and case.made is not None:
        given = case.statement(case.made.node)
        if isinstance(given, ast.Return) and given.value is not None and _is_update(given.value):
            edits = call_on(case, value, ".detach().requires_grad_()")
            finding.trials.append(Trial(advised(case, statement, edits), tuple(edits)))
    update = update_trial(case, statement)
    anew = _anew(case, statements[-1]) if update is None else None
    if anew is not None:
        finding.advice = anew
        return finding
    for trial in (update, _renamed(case, statement)):
        if trial is not None:
            finding.trials.append(trial)
    if not finding.trials:
        edits = then(case, statement, f"{case.code}.retain_grad()")
        if edits:
            advice = f"{case.code}.retain_grad() after line {line}"
            finding.trials.append(Trial(advice, tuple(edits)))
    return finding


def update_trial(case: Case, statement: Any, bare: bool = False) -> Trial | None:
    """x = x - lr * x.grad is an update: in place, and under no_grad (where `bare` is not)."""
    value = _set_to(statement, case.name.rpartition(".")[2])
    name = case.name if value is None else case.whole(getattr(value, "left", value))
    if value is None and isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        name = case.whole(target)
        if isinstance(value, ast.BinOp) and _is_item(case.name, target):
            name = case.whole(value.left)
    if value is None or not _reads_gradient(case, statement, name):
        return None
    signs = {ast.Sub: "-=", ast.Add: "+="}
    if not isinstance(value, ast.BinOp) or type(value.op) not in signs:
        return None
    if case.whole(value.left) != name:
        return None
    update = f"{name} {signs[type(value.op)]} {case.whole(value.right)}"
    if bare:
        return Trial(update, (replace(case, statement, update),))
    indent = " " * (case.span(statement).column - 1)
    text = f"with torch.no_grad():\n{indent}    {update}"
    edits = (replace(case, statement, text),)
    return Trial(f"with torch.no_grad(): {update}", edits)


def _reads_gradient(case: Case, statement: Any, name: str) -> bool:
    """x.grad in the statement, or a name that was given it: g = x.grad"""
    gradient = f"{name}.grad"
    if gradient in case.whole(statement):
        return True
    read = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
    return any(
        isinstance(part, ast.Assign)
        and case.whole(part.value) == gradient
        and any(isinstance(target, ast.Name) and target.id in read for target in part.targets)
        for part in case.provenance.parts
    )


def _anew(case: Case, last: Any) -> str | None:
    """A turn of a loop that computes the tensor of the next one. No trial shows what it is worth:
    to the leaf that the last turn makes, no pass comes."""
    if not isinstance(last, ast.Assign) or not isinstance(last.targets[0], ast.Name):
        return None
    loops = [part for part in case.ancestors(last) if isinstance(part, (ast.For, ast.While))]
    change = in_place(last, ast.unparse(last.targets[0]))
    if change is not None and any(map(steps, loops)):
        return f"with torch.no_grad(): {change}, which leaves {case.name} to the optimizer"
    inside = (part for loop in loops for part in ast.walk(loop) if isinstance(part, ast.Call))
    if not any(name_of(call) in ("backward", "grad") for call in inside):
        return None
    text = advised(case, last, call_on(case, last.value, ".detach().requires_grad_()"))
    return f"{text}, so that each turn has a leaf"


def _renamed(case: Case, statement: Any) -> Trial | None:
    """What is computed under a name of its own, from the first rebinding on."""
    if not isinstance(statement, ast.Assign) or not case.name.isidentifier():
        return None
    if case.function_of(statement) is not None:
        return None  # its names are those of each call
    top = next((part for part in case.program.body if part in case.ancestors(statement)), None)
    target = statement.targets[0]
    if top is None or not isinstance(target, ast.Name):
        return None
    fresh = _fresh(case)
    later: list[ast.AST] = list(case.program.body[case.program.body.index(top) + 1 :])
    if top is statement:
        edits: list[Edit] = [replace(case, target, fresh)]
        advice = f"{advised(case, statement, edits)}, and {fresh} below"
    else:
        edits = [insert_before(case, top, f"{fresh} = {case.name}\n")]
        advice = f"{fresh} = {case.name} before line {case.line(top)}, and {fresh} from there on"
        later.insert(0, top)
    edits += [replace(case, node, fresh) for node in _global_uses(later, case.name)]
    return Trial(advice, tuple(edits))


def _global_uses(parts: list[ast.AST], name: str) -> Iterator[ast.Name]:
    """Where the global name is used; not in functions that have a name of their own like it."""
    pending = list(parts)
    for node in pending:
        if isinstance(node, ast.Name) and node.id == name:
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)) or not _has_own(node, name):
            pending.extend(ast.iter_child_nodes(node))


def _has_own(function: ast.FunctionDef | ast.Lambda, name: str) -> bool:
    every = list(ast.walk(function))
    if any(isinstance(node, ast.Global) and name in node.names for node in every):
        return False
    return any(isinstance(node, ast.arg) and node.arg == name for node in every) or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in every
    )


def _fresh(case: Case) -> str:
    taken = set(case.program.bindings) | set(case.program.inputs)
    number = 2
    while f"{case.name}{number}" in taken:
        number += 1
    return f"{case.name}{number}"
