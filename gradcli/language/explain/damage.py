"""language: errors of operations in place: what was saved where, what changed it, a way around."""

from __future__ import annotations

import ast

from ...engine.causes import Cause
from ...operators import catalogue
from ..explained import (
    Explanation,
    again,
    is_alone,
    line_after,
    line_before,
    replaced,
)
from ..places import saved_text
from .backward import carried_names

LONGEST = 40  # characters of a piece of code in an advice


def saved(out: Explanation, cause: Cause) -> None:
    """The operation that saved a tensor for backward."""
    places, version = out.places, cause.detail["version"]
    if cause.node is None:
        text = "saved"
    else:
        key = cause.detail["name"]
        what = saved_text(places, cause.node, key) or _held(out, cause) or f"its {key}"
        text = f"{cause.node.name().split('::')[-1]} saved {what}"
    out.put(cause.origin, f"{text} for backward here (version {version})")
    out.primary = f"needs version {version}"


def _held(out: Explanation, cause: Cause) -> str | None:
    """The name of the tensor that was saved, or of the one that it is a view of."""
    tensor = cause.detail["tensor"]
    if tensor is None:
        return None
    name = out.places.name_of(tensor)
    if name is None and tensor._base is not None:
        base = out.places.name_of(tensor._base)
        return None if base is None else f"a view of {base}"
    return name


def changed(out: Explanation, cause: Cause) -> None:
    """The operation that changed it last."""
    last = " last" if cause.detail["times"] > 1 else ""
    out.put(cause.origin, f"changed{last} here (version {cause.detail['version']})")


def damage_advice(out: Explanation, saved: Cause, changed: Cause) -> None:
    """How the saved tensor could stay as it was."""
    places = out.places
    line, statement = places.line(changed.origin), places.statement(changed.origin)
    if line is None or statement is None:
        return
    called = places.called(changed.origin)
    if saved.detail["leaf"] or (called is not None and called[0] == "step"):
        _compute_again(out, saved, changed)
        return
    _change_a_copy(out, saved)
    times = changed.detail["times"]
    if times > 1:
        out.advise(f"out-of-place operations for the {times} changes, the last on line {line}")
        return
    for word in changed.origin.keywords if isinstance(changed.origin, ast.Call) else ():
        if word.arg == "inplace":
            edits = replaced(places, word.value, "False")
            out.advise(f"inplace=False on line {line}, which makes a new tensor", edits)
            return
    plain = _out_of_place(out, statement, changed.origin)
    if plain is not None:
        code = plain if len(plain) <= LONGEST else f"{plain.partition('(')[0]}(...)"
        text = f"{code} on line {line}, which makes a new tensor"
        out.advise(text, replaced(places, statement, plain))
        return
    target = changed.origin
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    if isinstance(changed.origin, ast.Subscript) and isinstance(target, ast.Name):
        copied = f"{target.id} = {target.id}.clone()"
        out.advise(f"{copied} before line {line}", line_before(places, statement, copied))
    else:
        out.advise(f"change a .clone() on line {line}, or use an out-of-place operation")


def _change_a_copy(out: Explanation, saved: Cause) -> None:
    """A name for a copy, once its tensor is saved: what follows changes the copy."""
    places = out.places
    name = None if saved.node is None else saved_text(places, saved.node, saved.detail["name"])
    statement = places.statement(saved.origin)
    if statement is not None and name is not None and name.isidentifier():
        text = f"{name} = {name}.clone()"
        line = places.line(statement)
        out.or_else(f"{text} after line {line}", line_after(places, statement, text))


def _compute_again(out: Explanation, saved: Cause, changed: Cause) -> None:
    """Only no_grad lets a leaf change, and it has to stay a leaf: backward goes first."""
    places, place = out.places, out.place
    line, made = places.line(changed.origin), places.line(saved.origin)
    assert line is not None
    if places.runs_once(saved.origin):
        first, last = places.statement(saved.origin), places.statement(changed.origin)
        text = None if first is None else again(places, [first])
        edits = None if text is None else line_after(places, _outermost(out, last), text)
        out.advise(f"compute line {made} again after line {line}", edits)
        out.advise(f"backward before line {line}")
    elif line > (places.line(place) or line):
        loop = places.loop_around(place)
        if loop is None or not places.share_a_loop(saved.origin, place):
            return
        names = carried_names(out, loop)
        if names and len(names) <= 3:
            text = "; ".join(f"{name} = {name}.detach()" for name in names)
            edits = line_after(places, loop.body[-1], text)
            out.advise(f"{text} at the end of each turn", edits)
        else:
            out.advise(".detach() what a turn takes over from the turn before")
    else:
        out.advise(f"backward before line {line}")


def _outermost(out: Explanation, statement: ast.stmt | None) -> ast.stmt | None:
    """The `with` block around a statement, where it stands in one."""
    if statement is None:
        return None
    around = [part for part in out.places.ancestors(statement) if isinstance(part, ast.With)]
    return around[-1] if around else statement


def _out_of_place(out: Explanation, statement: ast.stmt, origin: object) -> str | None:
    """`a = a * 2` for `a *= 2`, `a = a.mul(2)` for `a.mul_(2)`."""
    text: str | None = None
    if out.places.text(statement, 2 * LONGEST) is None:
        return None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        name = statement.target.id
        value = ast.BinOp(ast.Name(name), statement.op, statement.value)
        text = f"{name} = {ast.unparse(value)}"
    elif isinstance(statement, ast.Expr) and isinstance(origin, ast.Call):
        function = origin.func
        if statement.value is origin and isinstance(function, ast.Attribute):
            word = function.attr.removesuffix("_")
            if isinstance(function.value, ast.Name) and word in catalogue.methods:
                call = ast.Call(ast.Attribute(function.value, word), origin.args, origin.keywords)
                text = f"{function.value.id} = {ast.unparse(call)}"
    return text if text is not None and (len(text) <= LONGEST or "(" in text) else None


def leaf(out: Explanation, cause: Cause) -> None:
    """A leaf that requires grad was about to be changed in place."""
    places, place = out.places, out.place
    tensor = cause.detail["tensor"]
    name = places.name_of(tensor)
    if cause.detail["view"]:
        what = f"the leaf {name}" if name else "a leaf"
        out.primary = f"a view of {what}, which requires grad"
    else:
        out.primary = f"{name or 'it'} is a leaf that requires grad"
    if name is not None:
        made_here(out, name, f"{name} is made here")
    statement = places.statement(place)
    text = None if statement is None else places.text(statement, LONGEST)
    if isinstance(statement, (ast.Expr, ast.AugAssign, ast.Assign)) and text is not None:
        inside = f"with torch.no_grad(): {text}"
        alone = is_alone(places, statement)
        out.advise(inside, replaced(places, statement, inside) if alone else None)
    else:
        out.advise("change it inside of with torch.no_grad():")


def made_here(out: Explanation, name: str, text: str) -> None:
    """A label on what gave a name the value that it holds."""
    places = out.places
    if name.partition("[")[0] in places.local:
        return
    value = places.bound_value(name)
    if value is not None:
        out.put(value, text)
    elif name in places.bound_by:
        out.put(places.bound_by[name], text)
