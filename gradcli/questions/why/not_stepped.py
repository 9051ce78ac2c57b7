"""Questions: a gradient that no optimizer uses: none that stepped has the tensor."""

from __future__ import annotations

import ast

from ...recording.optimizers import Optimizer
from ...recording.sides import is_leaf, is_parameter
from .case import Case, Finding, Remark
from .values import name_of


def not_stepped_finding(case: Case) -> Finding | None:
    """Optimizers of other tensors, where nothing changes this one."""
    tensor, made = case.tensor, case.passes.optimizers.all
    if not is_leaf(tensor) or not any(one.steps for one in made):
        return None
    if case.passes.is_updated(tensor) or any(one.steps and one.has(tensor) for one in made):
        return None
    if any(case.value in one.roots for one in case.passes.passes):
        return None  # a loss whose requires_grad was switched on
    if not is_parameter(tensor) and any(one.of_modules for one in made) and _is_input(case):
        return None
    unregistered = _unregistered(case)
    if unregistered is not None:
        return unregistered
    resting = [one for one in made if one.has(tensor)]
    return _resting(case, resting[-1]) if resting else _left_out(case, made)


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
    return finding


# What registers the parts of a plain list or dictionary, where they are parameters or modules.
REGISTERED: dict[type[ast.expr], tuple[str, str]] = {
    ast.List: ("ParameterList", "ModuleList"), ast.ListComp: ("ParameterList", "ModuleList"),
    ast.Tuple: ("ParameterList", "ModuleList"), ast.Dict: ("ParameterDict", "ModuleDict"),
    ast.DictComp: ("ParameterDict", "ModuleDict"),
}  # fmt: skip


def _unregistered(case: Case) -> Finding | None:
    """It was made in a list that is an attribute of a module, whose parameters() can't see it."""
    made = case.made
    if made is None or not is_parameter(case.tensor):
        return None
    statement = case.statement(made.node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign):
        return None
    classes = REGISTERED.get(type(statement.value))
    inside = any(isinstance(part, ast.ClassDef) for part in case.ancestors(statement))
    if classes is None or not inside:
        return None
    kind = "dictionary" if classes[0].endswith("Dict") else "list"
    word = classes[name_of(made.node) != "Parameter"]
    finding = Finding(
        "not-registered",
        f"{case.name}.grad is there, but no optimizer has {case.name}: a module does not see "
        f"parameters in a plain {kind}.",
        [Remark(statement.value, f"a plain {kind}, which registers nothing")],
    )
    finding.advice = f"{case.whole(target)} = nn.{word}({case.text(statement.value, 200)})"
    return finding


def _left_out(case: Case, made: list[Optimizer]) -> Finding:
    name = case.name
    sentence = f"{name}.grad is there, but no optimizer that stepped has {name}: it never changes."
    finding = Finding("not-stepped", sentence)
    stepped = [one for one in made if one.steps and case.is_here(one.origin)]
    if stepped:
        near = [one for one in stepped if _is_near(case, one)] or stepped
        finding.causes.append(Remark(near[-1].origin, f"made without {name}"))
        finding.advice = f"give {case.code} to this optimizer too"
    return finding


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
