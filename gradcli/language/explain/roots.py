"""language: errors of where a backward pass starts and ends: constants, shapes, unused tensors."""

from __future__ import annotations

import ast
from typing import Any

from ...diagnostics import Edit
from ...engine.schema.causes import Cause
from ...engine.tensors.tensor import Tensor
from ...recording.nearest import furthest
from ...recording.sides import origin_of
from ..cut_reasons import reasons
from ..explanation import (
    ENCLOSED,
    Explanation,
    line_after,
    replaced,
    suffixed,
    with_argument,
)
from ..places import Places
from .damage import made_here


def constant(out: Explanation, cause: Cause) -> None:
    """A tensor that should have a gradient and does not require one: where the graph was cut."""
    places, tensor = out.places, cause.detail["tensor"]
    name = places.name_of(tensor)
    expression = _root_expression(places, out.place) or _first_argument(places, out.place)
    shown = name or (None if expression is None else places.text(expression)) or "it"
    out.primary = f"{shown} does not require grad"
    if name is None and expression is not None:
        found = reasons(places, expression, None)
    else:
        found = [] if name is None else reasons(places, ast.Name(name, ast.Load()), tensor)
    cuts = [reason for reason in found if not reason.is_leaf]
    found = cuts or found  # what was cut off had a gradient; a constant beside it is no reason
    for reason in found:
        out.put(reason.node, reason.text)
    made = [reason for reason in found if reason.is_leaf]
    if name is not None and made and _input_of_grad(out, name):
        return
    if len(made) > 1:
        lines = " or ".join(f"line {places.line(reason.node)}" for reason in made)
        out.advise(f"requires_grad=True on {lines}, whichever is to have a gradient")
        return
    choices = [reason for reason in found if reason.is_choice]
    advised: dict[str, list[Edit] | None] = {}
    for reason in choices or found:  # a detach() beside a choice may well be meant
        if reason.advice is not None:
            before = advised.setdefault(reason.advice, [])
            known = before is not None and reason.edits is not None
            advised[reason.advice] = [*(before or ()), *(reason.edits or ())] if known else None
    for text, edits in advised.items():
        out.advise(text, edits)
    if any(reason.is_linear for reason in found):
        _constant_part(out, expression)


def _input_of_grad(out: Explanation, name: str) -> bool:
    """autograd.grad(y, x) asks for x itself: it has to require grad before y is computed of it."""
    places, called = out.places, out.places.called(out.place)
    if called is None or called[0] != "grad" or not isinstance(out.place, ast.Call):
        return False
    named = [word.value for word in out.place.keywords if word.arg == "inputs"]
    inputs = {ast.unparse(node) for node in (*called[1][1:2], *named)}
    statement = places.statement(places.bound_value(name))
    if name not in inputs or not isinstance(statement, ast.Assign):
        return False
    text = f"{name}.requires_grad_()"
    edits = line_after(places, statement, text)
    out.advise(f"{text} after line {statement.lineno}", edits)
    return True


def _constant_part(out: Explanation, expression: ast.expr | None) -> None:
    """The derivative of a linear function is a constant, whose derivative is 0."""
    places, called = out.places, out.places.called(out.place)
    variable = called[1][1] if called is not None and len(called[1]) > 1 else None
    text = None if expression is None else places.text(expression)
    if text is None or not isinstance(variable, ast.Name):
        return
    whole = f"{text} + 0 * {variable.id}.sum()"
    edits = replaced(places, expression, whole)
    out.advise(f"{whole} has a graph, and its derivative is the 0 that this one has", edits)


def _root_expression(places: Places, place: ast.AST) -> ast.expr | None:
    """x in x.backward() and in autograd.grad(x, ...), where the text says it."""
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute):
        if place.func.attr == "backward" and not places.is_space(place.func.value):
            return place.func.value
    return None


def _first_argument(places: Places, place: ast.AST) -> ast.expr | None:
    """x in torch.autograd.grad(x, ...) and torch.autograd.backward(x)."""
    called = places.called(place)
    if called is None or called[0] not in ("grad", "backward") or not isinstance(place, ast.Call):
        return None
    named = [word.value for word in place.keywords if word.arg in ("outputs", "tensors")]
    if not called[1] and not named:
        return None
    first = called[1][0] if called[1] else named[0]
    return None if isinstance(first, (ast.List, ast.Tuple)) else first


def root(out: Explanation, cause: Cause) -> None:
    """A backward pass from several elements without a gradient of its own."""
    places, tensor = out.places, cause.detail["tensor"]
    name = places.name_of(tensor)
    shape = list(tensor.shape)
    expression = _root_expression(places, out.place)
    text = name if expression is None else places.text(expression)
    out.primary = f"{text or 'it'} has the shape {shape}"
    start = expression or _first_argument(places, out.place)
    edits = None if start is None else suffixed(places, start, ".sum()")
    if text is not None and isinstance(expression, ENCLOSED):
        text = f"({text})"
    called = places.called(out.place)
    word = "grad_outputs" if called is not None and called[0] == "grad" else "a gradient"
    if text is None:
        out.advise(f".sum() before it, or {word} of the shape {shape}", edits)
    elif expression is not None:
        out.advise(f"{text}.sum().backward(), or {word} of the shape {shape}", edits)
    else:
        out.advise(f"{text}.sum() instead of {text}, or {word} of the shape {shape}", edits)


def unused(out: Explanation, cause: Cause) -> None:
    """An input of autograd.grad that the graph does not reach."""
    places, tensor = out.places, cause.detail["tensor"]
    name = places.name_of(tensor)
    shown = name or f"the input at index {cause.detail['index']}"
    out.primary = f"the graph does not reach {shown}"
    after = _created_after(out, tensor)
    whole = None if name is None else _whole_of(out, name)
    if name is not None:
        own = "made here" if whole is None else f"a new tensor, made of {whole}"
        made_here(out, name, after or f"{name} is {own}")
    if after is None:
        _came_as_far(out, shown, tensor)
    call = out.place if isinstance(out.place, ast.Call) else None
    if tensor.grad_fn is not None:
        _copy_of(out, cause.detail["index"])
        if name is not None and call is not None and _part_of(out, call, name, whole):
            return
    given = {word.arg for word in call.keywords} if call is not None else set()
    edits = None
    if call is not None and not given & {"allow_unused", None} and len(call.args) < 6:
        edits = with_argument(places, call, "allow_unused=True")
    if edits and name is not None and _is_slope_of(out, name):
        out.primary = f"the slope does not depend on {name}, so its own slope is 0"
        zeros = with_argument(places, call, "materialize_grads=True")
        out.advise(f"materialize_grads=True, which gives zeros for {name}", zeros)
        return
    out.advise(f"allow_unused=True, which gives None for {shown}", edits)


def _whole_of(out: Explanation, name: str) -> str | None:
    """xt of `x = xt[:, 0:1]`."""
    made = out.places.bound_value(name)
    whole = made.value if isinstance(made, ast.Subscript) else None
    return whole.id if isinstance(whole, ast.Name) else None


def _part_of(out: Explanation, call: ast.Call, name: str, whole: str | None) -> bool:
    """The derivative by a part of what the root was computed from: that part of its derivative."""
    places, made, owner = out.places, out.places.bound_value(name), out.places.parents.get(id(call))
    inputs = call.args[1] if len(call.args) > 1 else None
    if whole is None or made is None or not isinstance(inputs, ast.Name):
        return False
    if not isinstance(owner, ast.Subscript) or ast.unparse(owner.slice) != "0":
        return False
    part = ast.unparse(made)[len(whole) :]
    edits = [*(replaced(places, inputs, whole) or ()), *(suffixed(places, owner, part) or ())]
    out.advise(f"the derivative by {whole}, and its part {part}", edits)
    return True


def _is_slope_of(out: Explanation, name: str) -> bool:
    """Whether the root is itself a derivative by that tensor: of what is linear in it."""
    root = _first_argument(out.places, out.place)
    if any(isinstance(part, ast.ClassDef) and "Function" in ast.unparse(part).partition(":")[0]
           for part in out.places.program.body):  # fmt: skip
        return False  # its backward may have lost the graph
    for part in () if root is None else ast.walk(root):
        made = out.places.bound_value(part.id) if isinstance(part, ast.Name) else None
        for call in () if made is None else ast.walk(made):
            called = out.places.called(call)
            if called is not None and called[0] == "grad" and len(called[1]) > 1:
                if any(getattr(one, "id", "") == name for one in ast.walk(called[1][1])):
                    return True
    return False


def _copy_of(out: Explanation, index: int) -> None:
    """`w.clone()` in the place of w: a new tensor, which the root does not come from."""
    called = out.places.called(out.place)
    inputs = called[1][1] if called is not None and len(called[1]) > 1 else None
    if isinstance(inputs, (ast.List, ast.Tuple)):
        inputs = inputs.elts[index] if index < len(inputs.elts) else None
    made = None if inputs is None else out.places.called(inputs)
    if inputs is None or made is None or not isinstance(inputs, ast.Call) or not made[1]:
        return
    text = out.places.text(made[1][0], LONGEST)
    if text is not None:
        out.put(inputs, "a new tensor, made in this call")
        out.advise(f"{text} itself", replaced(out.places, inputs, text))


LONGEST = 60


def _came_as_far(out: Explanation, shown: str, tensor: Any) -> None:
    """A label on the last named tensor that was computed from it."""
    held = {**out.places.values, **out.places.local}
    named = [(name, value) for name, value in held.items() if value.__class__ is Tensor]
    place = furthest(tensor, [value for _, value in named])
    if place is not None:
        name, last = named[place]
        out.put(origin_of(last.grad_fn), f"{shown} came as far as {name}")


def _created_after(out: Explanation, tensor: Any) -> str | None:
    """A tensor younger than the root is surely not in its graph."""
    start = _first_argument(out.places, out.place)
    if not isinstance(start, ast.Name) or tensor.grad_fn is None:
        return None
    table = out.places.local if start.id in out.places.local else out.places.values
    node = getattr(table.get(start.id), "grad_fn", None)
    if node is None or node.sequence > tensor.grad_fn.sequence:
        return None
    line = out.places.line(node.origin)
    where = "" if line is None else f" (line {line})"
    return f"made after {start.id}{where}, so {start.id} can't depend on it"
