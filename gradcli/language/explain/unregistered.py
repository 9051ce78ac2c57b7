"""language: an optimizer without parameters: where a program keeps them, and what used them up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...engine.tensors.invented_names import kept_on
from ...engine.tensors.tensor import Tensor
from ...nn.module import Module
from ..explanation import Explanation, replaced

LONGEST = 80  # characters of an expression that advice repeats
MOST = 3  # layers that an advice names
# What a container holds: the words for it, and the module that takes the place of a list or dict.
HOLDERS = {
    (list, True): ("layers", "ModuleList"), (list, False): ("tensors", "ParameterList"),
    (dict, True): ("layers", "ModuleDict"), (dict, False): ("tensors", "ParameterDict"),
}  # fmt: skip


def unregistered(out: Explanation) -> None:
    """optim.SGD(net.parameters()) of a net whose parameters() gives none."""
    given = _optimizer_argument(out)
    if isinstance(given, ast.Name) and _used_up(out, given):
        return
    asked = None if given is None else _parameters_call(given)
    if asked is None:
        return
    module, owner = out.places.value_of(asked.func.value), out.places.text(asked.func.value)
    if not isinstance(module, Module) or owner is None:
        return
    if any(True for _ in module.parameters()):
        _frozen(out, module, owner, asked)
        return
    for name, value in kept_on(module).items():
        if isinstance(value, Tensor) and value.requires_grad:
            out.put(asked, f"{owner}.{name} is a tensor, and no Parameter")
            _wrapped(out, f"{owner}.{name}: a tensor", name, "Parameter")
            return
        kind = type(value) if isinstance(value, (list, dict)) else None
        held = [*(value.values() if kind is dict else value)] if kind is not None else []
        layers = any(isinstance(part, Module) for part in held)
        if kind is not None and (layers or any(_learns(part) for part in held)):
            what, holder = HOLDERS[kind, layers]
            plain = f"a {kind.__name__} of {what}"
            looks = f"parameters() does not look into {kind.__name__}s"
            out.put(asked, f"{owner}.{name} is {plain}, and {looks}")
            if kind is list or all(isinstance(key, str) for key in value):
                _wrapped(out, f"{owner}.{name}: {plain}", name, holder)
            else:
                out.advise(f"torch.nn.{holder}, whose keys are strings")
            return
    _local(out, module, owner, asked)


def _optimizer_argument(out: Explanation) -> ast.expr | None:
    """What the optimizer was given."""
    call = out.place if isinstance(out.place, ast.Call) else None
    named = [word.value for word in call.keywords if word.arg == "params"] if call else []
    return next(iter([*call.args[:1], *named]), None) if call else None


def _parameters_call(given: ast.expr) -> Any:
    """The call of parameters() in it."""
    calls = (part for part in ast.walk(given) if isinstance(part, ast.Call))
    return next((part for part in calls if isinstance(part.func, ast.Attribute)
                 and part.func.attr in ("parameters", "named_parameters")), None)  # fmt: skip


def _learns(value: object) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _used_up(out: Explanation, given: ast.Name) -> bool:
    """`params = net.parameters()` that something else went through before."""
    places = out.places
    made = places.bound_value(given.id)
    asked = None if made is None else _parameters_call(made)
    text = None if made is None else places.text(made, LONGEST)
    reads = [
        part for statement in places.program.body for part in ast.walk(statement)
        if isinstance(part, ast.Name) and part.id == given.id and type(part.ctx) is ast.Load
        and made is not None and made.lineno <= part.lineno < given.lineno
    ]  # fmt: skip
    if made is not None and asked is not None and text is not None and reads:
        first = min(reads, key=lambda part: part.lineno)
        call = next((part for part in places.ancestors(first) if isinstance(part, ast.Call)), first)
        out.put(call, "goes through it: nothing is left")
        out.put(made, "gives each parameter once")
        out.advise(f"{given.id} = list({text})", replaced(places, made, f"list({text})"))
    return bool(reads)


def _frozen(out: Explanation, module: Module, owner: str, asked: ast.Call) -> None:
    """filter(lambda p: p.requires_grad, net.parameters()) of parameters that are all frozen."""
    if not any(part.requires_grad for part in module.parameters()):
        out.put(asked, f"no parameter of {owner} requires grad")


def _wrapped(out: Explanation, label: str, name: str, holder: str) -> None:
    for node in _assigned_to(out, name):
        text = out.places.text(node, LONGEST)
        out.put(node, label)
        if text is not None:
            whole = f"torch.nn.{holder}({text})"
            out.advise(whole, replaced(out.places, node, whole))


def _assigned_to(out: Explanation, name: str) -> list[ast.expr]:
    """What the program assigns to self.name, where it does so once."""
    found = {
        id(node.value): node.value
        for node in out.places.parents.values()
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == name for t in node.targets)
    }
    return list(found.values()) if len(found) == 1 else []


def _local(out: Explanation, module: Module, owner: str, asked: ast.Call) -> None:
    """`fc = nn.Linear(2, 3)` in __init__: a name that is gone when __init__ ends."""
    names = {kind.__name__ for kind in type(module).__mro__}
    for part in out.places.program.body:
        if not isinstance(part, ast.ClassDef) or part.name not in names:
            continue
        first, made = _layers(part)
        if first is None or not made:
            continue
        out.put(asked, f"{owner} has no layers of its own")
        for node in [*made.values()][:MOST]:
            out.put(node, "only a local name of __init__")
        edits = [
            edit for node in ast.walk(part)
            if isinstance(node, ast.Name) and node.id in made
            for edit in replaced(out.places, node, f"{first}.{node.id}") or ()
        ]  # fmt: skip
        named = ", ".join(f"{first}.{name}" for name in [*made][:MOST])
        more = ", ..." if len(made) > MOST else ""
        out.advise(f"{named}{more} in __init__ and in forward", edits)
        return


def _layers(owner: ast.ClassDef) -> tuple[str | None, dict[str, ast.Name]]:
    """The first parameter of __init__, and its own names that it gives a layer: a call of a class
    by its name."""
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__" and method.args.args:
            found = {
                target.id: target for node in _own(method)
                for target in node.targets
                if isinstance(target, ast.Name) and isinstance(node.value, ast.Call)
                and _word(node.value.func)[:1].isupper()
            }  # fmt: skip
            return method.args.args[0].arg, found
    return None, {}


def _own(method: ast.FunctionDef) -> Iterator[ast.Assign]:
    return (node for node in ast.walk(method) if isinstance(node, ast.Assign))


def _word(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))
