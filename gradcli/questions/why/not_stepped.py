"""Questions: a gradient that no optimizer uses: none that stepped has the tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

from ...opening import UsageError
from ...recording.modules import is_module
from ...recording.optimizers import Optimizer, groups_of, rate_of
from ...recording.sides import array_of, is_leaf, is_parameter
from ..provenance.values import name_of
from ..question import question_of
from .case import Case, Finding, Remark, Trial
from .edits import advised, insert_after, wrap

ROUNDING = 1e-6  # of a number: a smaller step is lost


def not_stepped_finding(case: Case) -> Finding | None:
    """Optimizers of other tensors, where nothing changes this one."""
    tensor, made = case.tensor, case.passes.optimizers.all
    if not is_leaf(tensor) or case.passes.leaf_values.is_updated(tensor):
        return None
    if not any(one.steps for one in made):  # a single pass may be there to be looked at
        resting = [one for one in made if one.has(tensor)]
        passes = sum(entry.kind == "add" for entry in case.entries)
        return _resting(case, resting[-1]) if resting and passes > 1 else None
    own = next((one for one in made if one.steps and one.has(tensor)), None)
    if own is not None:
        return _unchanged(case, own) if case.passes.leaf_values.is_followed(tensor) else None
    if any(case.value in one.roots for one in case.passes.passes):
        return None  # a loss whose requires_grad was switched on
    if not is_parameter(tensor) and any(one.of_modules for one in made) and _is_input(case):
        return None
    unregistered = _unregistered(case)
    if unregistered is not None:
        return unregistered
    resting = [one for one in made if one.has(tensor)]
    return _resting(case, resting[-1]) if resting else _left_out(case, made)


def _unchanged(case: Case, one: Optimizer) -> Finding | None:
    """Its optimizer steps, and it stays as it was at its first gradient."""
    name = case.name
    said = f"{name}.grad is there, but {name} has not changed since the first one: its optimizer"
    finding = Finding("not-updated", said, [Remark(one.origin, f"steps on {name}")])
    if one.idle == one.steps:
        finding.sentence += " finds no gradient when it steps."
        last = case.entries[-1].origin if case.entries else None
        if one.cleared_at is not None:
            cleared = f"line {one.cleared_at} clears gradients between backward() and step()"
            finding.facts.append(cleared)
        if case.is_here(last):
            finding.others.append(Remark(last, "computes it"))
            finding.advice = f"step() after line {case.line(last)}, and zero_grad() before it"
    elif rate_of(one, case.tensor) == 0:
        finding.sentence += " has the learning rate 0."
        finding.advice = "a learning rate above 0"
        _scheduled(case, one, finding)
    elif _is_lost(case, one):
        finding.sentence += " changes it by less than its last digit."
        finding.advice = "a larger learning rate"
    else:
        return None  # the program gave it back its values
    return finding


def _scheduled(case: Case, one: Optimizer, finding: Finding) -> None:
    """Says that the optimizer was made with another rate; the only scheduler is the cause."""
    first = [group.get("initial_lr", 0) for group in groups_of(one, case.tensor)]
    if not any(first):
        return
    finding.sentence = f"{finding.sentence[:-1]}, to which a scheduler has changed it."
    made = _schedulers(case)
    if len(made) == 1:
        finding.causes.insert(0, Remark(made[0], "changes the learning rate"))
        finding.advice = "a scheduler that gives a learning rate above 0"


def _schedulers(case: Case) -> list[ast.Call]:
    return [node for body in case.program.body for node in ast.walk(body)
            if isinstance(node, ast.Call) and SCHEDULER.search(name_of(node))]  # fmt: skip


def frozen_finding(case: Case) -> Finding | None:
    """It was frozen when it had a gradient, and its optimizer goes on with that."""
    off = next((mark for mark in reversed(case.marks) if not mark.on), None)
    own = [one for one in case.passes.optimizers.all
           if one.has(case.tensor) and id(case.tensor) in one.frozen]  # fmt: skip
    if case.tensor.requires_grad or off is None or not own or not _moves(case, own[-1]):
        return None
    name, line = case.name, case.line(off.node)
    finding = Finding(
        "turned-off",
        f"{name} does not require grad since line {line}, but {name}.grad is there still, so its "
        "optimizer goes on changing it.",
        [Remark(off.node, "turns it off")],
    )
    if case.is_here(own[-1].origin):
        finding.others.append(Remark(own[-1].origin, "steps on all whose .grad is not None"))
    finding.advice = f"{case.code}.grad = None when it is frozen, as zero_grad() does by default"
    return finding


def _moves(case: Case, one: Optimizer) -> bool:
    """Whether a step changes it: by its gradient, by what is left of earlier ones, by decay."""
    groups = groups_of(one, case.tensor)
    if rate_of(one, case.tensor) == 0:
        return False
    return bool((array_of(case.gradient) != 0).any()) or any(
        group.get("momentum", 1) or group.get("weight_decay", 0) for group in groups
    )


def at_rest(case: Case) -> Iterator[str]:
    """The optimizer has stepped, and the last of its steps have the learning rate 0."""
    for one in case.passes.optimizers.all:
        if one.has(case.tensor) and 1 < one.resting < one.steps:
            made = _schedulers(case)
            where = f"the scheduler of line {made[0].lineno}" if len(made) == 1 else "the program"
            yield (f"{where} set the learning rate to 0: the last {one.resting} steps of its "
                   "optimizer change nothing")  # fmt: skip


def given_back(case: Case) -> Iterator[str]:
    """What undoes all steps: weights of another network, or of the beginning, are written back."""
    tensor, line = case.tensor, case.ran.recording.lines.of_change(case.tensor)
    own = [one for one in case.passes.optimizers.all if one.steps > 1 and one.has(tensor)]
    values = case.passes.leaf_values
    if not own or own[0].idle == own[0].steps or _is_lost(case, own[0]):
        return
    steps = {getattr(node, "lineno", 0) for body in case.program.body for node in ast.walk(body)
             if isinstance(node, ast.Call) and name_of(node) == "step"}  # fmt: skip
    if values.is_followed(tensor) and not values.is_updated(tensor) and line not in (None, *steps):
        yield (f"line {line} gives {case.name} the values again that it had at its first "
               "gradient: no step lasts")  # fmt: skip


def _is_lost(case: Case, one: Optimizer) -> bool:
    """Whether a step is too small for the digits of a tensor; one of the learning rate 0 is."""
    rates = [float(group.get("lr", 1.0)) for group in groups_of(one, case.tensor)]
    value, gradient = array_of(case.tensor), array_of(case.gradient)
    step = max(rates, default=1.0) * max(1.0, float(abs(gradient).max()))
    return step < ROUNDING * float(abs(value).min())


def _is_input(case: Case) -> bool:
    """Whether modules are called with it: the input of a network is rarely trained."""
    for step in case.users.get(case.value, ()):
        references = [case.flow.value(source).tensor for source in step.live]
        tensors = [None if reference is None else reference() for reference in references]
        if isinstance(step.node, ast.Call) and any(
            t is not None and is_parameter(t) for t in tensors
        ):
            return True
    return False


def _resting(case: Case, one: Optimizer) -> Finding:
    name = case.name
    sentence = f"{name}.grad is there, but the optimizer that has {name} never stepped."
    finding = Finding("not-stepped", sentence)
    if case.is_here(one.origin):
        finding.causes.append(Remark(one.origin, f"has {name}, and no step() was called on it"))
    finding.advice = "call step() on this optimizer after backward"
    made = case.statement(one.origin)
    call = case.statement(case.added[-1].origin) if case.added else None
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    if isinstance(target, ast.Name) and isinstance(call, ast.Expr) and case.is_here(call):
        step = f"{target.id}.step()"
        edits = (insert_after(case, call, f"; {step}"),)
        finding.trials.append(Trial(f"{step} after line {case.line(call)}", edits))
    return finding


# What registers the parts of a plain list or dictionary, where they are parameters or modules.
REGISTERED = {
    "list": ("ParameterList", "ModuleList"), "dictionary": ("ParameterDict", "ModuleDict"),
}  # fmt: skip
KINDS: dict[type[ast.expr], str] = {
    ast.List: "list", ast.ListComp: "list", ast.Tuple: "list",
    ast.Dict: "dictionary", ast.DictComp: "dictionary",
}  # fmt: skip
HELD: dict[type, str] = {list: "list", tuple: "list", dict: "dictionary"}
SCHEDULER = re.compile(r"(LR|Restarts|OnPlateau|Scheduler|^get_\w*schedule\w*)$")  # functions
INDEXED = re.compile(r"\.(\w+)(?:\.\d+|\[)")  # layers in net.layers[0].weight


def _unregistered(case: Case) -> Finding | None:
    """It was made in a list that is an attribute of a module, whose parameters() can't see it."""
    if not is_parameter(case.tensor):
        return _plain_tensor(case)
    made = case.made
    statement = _plain(case, made and case.statement(made.node)) or _held_in(case)
    path, kind = _held_elsewhere(case) if statement is None else ("", _kind(statement.value))
    if not kind:
        return None
    finding = Finding(
        "not-registered",
        f"{case.name}.grad is there, but no optimizer has {case.name}: a module does not see "
        f"parameters in a plain {kind}.",
    )
    word = REGISTERED[kind][not case.name.endswith("]")]
    if statement is None:
        finding.causes += _left_out(case, case.passes.optimizers.all).causes
        finding.advice = f"nn.{word} instead of the plain {kind} {path}"
        return finding
    finding.causes.append(Remark(statement.value, f"a plain {kind}, which registers nothing"))
    target, value = case.whole(statement.targets[0]), case.text(statement.value, 200)
    finding.advice = f"{target} = nn.{word}({value})"
    return finding


def _plain_tensor(case: Case) -> Finding | None:
    """A tensor that is an attribute of a module, and no parameter of it."""
    assert case.ran.outcome is not None
    owner, found = case.name.rpartition(".")[0], None
    with suppress(UsageError):
        found = question_of(owner, case.ran.outcome.bindings, case.flow.inside()).value
    statement = None if case.made is None else case.statement(case.made.node)
    if not is_module(found) or not isinstance(statement, ast.Assign):
        return None
    name = case.name
    finding = Finding(
        "not-registered",
        f"{name}.grad is there, but no optimizer has {name}: a module does not see a tensor that "
        "is no nn.Parameter.",
    )
    finding.causes.append(Remark(statement.value, "a plain tensor, which registers nothing"))
    edits = wrap(case, statement.value, "nn.Parameter(", ")")
    finding.advice = advised(case, statement.value, edits)
    return finding


def _held_elsewhere(case: Case) -> tuple[str, str]:
    """The list or dictionary of a module that its name leads through, and its kind; or nothing."""
    assert case.ran.outcome is not None
    names = case.ran.outcome.bindings, case.flow.inside()
    for match in INDEXED.finditer(case.name):
        owner, path = case.name[: match.start()], case.name[: match.end(1)]
        kind = HELD.get(type(question_of(path, *names).value), "")
        if kind and is_module(question_of(owner, *names).value):
            return path, kind
    return "", ""


def _kind(value: ast.expr) -> str:
    """Whether an expression makes a list or a dictionary; empty if neither."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return {"list": "list", "dict": "dictionary"}.get(value.func.id, "")
    return KINDS.get(type(value), "")


def _plain(case: Case, statement: ast.stmt | None) -> ast.Assign | None:
    """`self.layers = [...]` in a class."""
    if not isinstance(statement, ast.Assign) or not _kind(statement.value):
        return None
    inside = any(isinstance(part, ast.ClassDef) for part in case.ancestors(statement))
    return statement if inside and isinstance(statement.targets[0], ast.Attribute) else None


def _held_in(case: Case) -> ast.Assign | None:
    """The list that its name leads through, where no other line binds that attribute."""
    for name in INDEXED.findall(case.name):
        bound = [node for body in case.program.body for node in ast.walk(body)
                 if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
                 and node.targets[0].attr == name]  # fmt: skip
        if len(bound) == 1 and _plain(case, bound[0]):
            return bound[0]
    return None


def _left_out(case: Case, made: list[Optimizer]) -> Finding:
    name = case.name
    sentence = f"{name}.grad is there, but no optimizer that stepped has {name}: it never changes."
    finding = Finding("not-stepped", sentence)
    stepped = [one for one in made if one.steps and case.is_here(one.origin)]
    if stepped:
        near = [one for one in stepped if _is_near(case, one)] or stepped
        finding.causes.append(Remark(near[-1].origin, f"made without {name}"))
        finding.advice = f"give {case.code} to this optimizer too"
        before, place = case.passes.optimizers.before(case.tensor)
        place = place if case.made is None else case.made.node
        if near[-1] in before and case.is_here(place):
            _made_later(case, finding, place)
    return finding


def _made_later(case: Case, finding: Finding, node: ast.AST) -> None:
    """A layer that took the place of what the optimizer has: a new head, a weight set anew."""
    finding.others.append(Remark(node, f"{case.name} is made after the optimizer"))
    method = next((p for p in case.ancestors(node) if isinstance(p, ast.FunctionDef)), None)
    if method is not None and method.name == "forward":  # each call makes it anew
        finding.others[-1] = Remark(node, f"makes a new {case.name} in each call")
        finding.advice = "compute with a plain tensor there, such as F.linear(x, weight * mask)"
    elif any(isinstance(part, (ast.For, ast.While)) for part in case.ancestors(node)):
        finding.advice = f"change {case.code} in place, within torch.no_grad()"
    else:
        finding.advice = f"make the optimizer after line {case.line(node)}"


def _is_near(case: Case, one: Optimizer) -> bool:
    """Whether it has a tensor of the same module or list: `net.0.bias` for `net.0.weight`."""
    head = case.name.rpartition(".")[0] or case.name.partition("[")[0]
    while head:
        if any(_below(case.names.get(known, ""), head) for known in one.held):
            return True
        head = head.rpartition(".")[0]
    return False


def _below(name: str, head: str) -> bool:
    return name.startswith((f"{head}.", f"{head}["))
