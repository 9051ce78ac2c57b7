"""language: errors of in-place operations: what was saved where, what changed it, a fix."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...diagnostics import Edit
from ...engine.schema.causes import Cause
from ...operators import catalogue
from ..explanation import (
    Explanation,
    again,
    line_after,
    line_before,
    replaced,
    suffixed,
)
from ..places import Places, saved_text
from .carried import CARRIED, by_name

LONGEST = 40  # characters of a piece of code in an advice
MOST_AGAIN = 3  # statements that an advice repeats


def saved(out: Explanation, cause: Cause) -> None:
    """The operation that saved a tensor for backward."""
    places, version = out.places, cause.detail["version"]
    if cause.node is None:
        text = "saved"
    else:
        key = cause.detail["name"]
        unnamed = "a tensor" if key is None else f"its {key}"
        what = saved_text(places, cause.node, key) or _saved_name(out, cause) or unnamed
        text = f"{cause.node.name().split('::')[-1]} saved {what}"
    out.put(cause.origin, f"{text} for backward here (version {version})")
    out.primary = f"needs version {version}"


def _saved_name(out: Explanation, cause: Cause) -> str | None:
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
    if _of_itself(out, statement, saved, changed):
        return
    _change_a_copy(out, saved)
    if changed.detail["times"] > 1:
        _several(out, saved, changed)
        return
    for word in changed.origin.keywords if isinstance(changed.origin, ast.Call) else ():
        if word.arg == "inplace":
            edits = replaced(places, word.value, "False")
            out.advise(f"inplace=False on line {line}, which makes a new tensor", edits)
            return
    if isinstance(changed.origin, ast.Call) and flagged(out):
        new_results(out)
        _given_a_copy(out, changed.origin, out.or_else)
        return
    plain = out_of_place(out, statement, changed.origin)
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
    elif not _given_a_copy(out, changed.origin, out.advise) and not _of_a_copy(out, changed):
        out.advise(f"change a .clone() on line {line}, or use an out-of-place operation")


def _of_a_copy(out: Explanation, changed: Cause) -> bool:
    """z.zero_() of `z = y.detach()`, which has the memory of y."""
    target = _changed_name(changed.origin)
    made = out.places.bound_value(target.id) if isinstance(target, ast.Name) else None
    text = None if made is None else out.places.text(made)
    if made is None or text is None or not isinstance(made, (ast.Call, ast.Attribute)):
        return False
    edits = suffixed(out.places, made, ".clone()")
    out.advise(
        f"{text}.clone() on line {out.places.line(made)}, which has memory of its own", edits
    )
    return True


def _several(out: Explanation, saved: Cause, changed: Cause) -> None:
    """The first change is not known, only the last: what the text does to the same name is."""
    places, statement = out.places, out.places.statement(changed.origin)
    line, times = places.line(changed.origin), changed.detail["times"]
    out.advise(f"out-of-place operations for the {times} changes, the last on line {line}")
    target = _changed_name(changed.origin)
    text = None if target is None else places.text(target)
    if statement is None or text is None:
        return
    siblings = [one for one in _siblings(places, statement) if _changed_text(one) == text]
    ways = [(one, plain) for one in siblings if (plain := out_of_place(out, one, _value(one)))]
    for chosen in (ways[:1], ways) if len(ways) > 1 else (ways,):
        edits = [edit for one, plain in chosen for edit in replaced(places, one, plain) or ()]
        said = "; ".join(f"{plain} on line {one.lineno}" for one, plain in chosen[:MOST_AGAIN])
        out.or_else(f"{said}, which makes a new tensor", edits)
    if not isinstance(target, ast.Subscript):
        before = _outside(places, statement, saved.origin)
        copied = f"{text} = {text}.clone()"
        out.or_else(f"{copied} before line {before.lineno}, so that what follows changes a copy",
                    line_before(places, before, copied))  # fmt: skip


def _siblings(places: Places, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the same function, or of the program's top level."""
    around = (part for part in places.ancestors(statement) if isinstance(part, ast.FunctionDef))
    function = next(around, None)
    bodies = places.program.body if function is None else [function]
    return [node for body in bodies for node in ast.walk(body) if isinstance(node, ast.stmt)]


def _value(statement: ast.stmt) -> object:
    return statement.value if isinstance(statement, ast.Expr) else statement


def _changed_text(statement: ast.stmt) -> str | None:
    target = _changed_name(_value(statement))
    return None if target is None else ast.unparse(target)


def _changed_name(origin: object) -> ast.expr | None:
    """What a change in place is about: x of x[i] = 1, x += 1, x.add_(1), relu(x, inplace=True)."""
    if isinstance(origin, ast.AugAssign):
        origin = origin.target
    elif isinstance(origin, ast.Call):
        method = isinstance(origin.func, ast.Attribute) and origin.func.attr.endswith("_")
        given = origin.args[0] if origin.args else None
        origin = origin.func.value if method and isinstance(origin.func, ast.Attribute) else given
    while isinstance(origin, ast.Subscript):
        origin = origin.value
    return origin if isinstance(origin, (ast.Name, ast.Attribute)) else None


def _outside(places: Places, statement: ast.stmt, origin: object) -> ast.stmt:
    """The outermost loop around a statement that does not hold the other place, or itself."""
    for part in places.ancestors(statement):
        if isinstance(part, ast.FunctionDef) or any(node is origin for node in ast.walk(part)):
            break
        if isinstance(part, (ast.For, ast.While)):
            statement = part
    return statement


def flagged(out: Explanation) -> list[ast.keyword]:
    """The places of the text that say inplace=True."""
    return [
        part for part in out.places.parents.values() for part in getattr(part, "keywords", ())
        if part.arg == "inplace" and getattr(part.value, "value", None) is True
    ]  # fmt: skip


def _given_a_copy(
    out: Explanation, call: object, advise: Callable[[str, list[Edit] | None], None]
) -> bool:
    """act(y.clone()) for act(y), which changes what it is given."""
    if (
        not isinstance(call, ast.Call)
        or len(call.args) != 1
        or isinstance(call.args[0], ast.Starred)
    ):
        return False
    given, line = call.args[0], out.places.line(call)
    edits = suffixed(out.places, given, ".clone()")
    text = out.places.text(given)
    if edits is None or text is None:
        return False
    copied = f"{text}.clone()" if len(edits) == 1 else f"({text}).clone()"
    called = out.places.text(call.func) or "this call"
    advise(f"{copied} on line {line}: {called} changes what it is given", edits)
    return True


def _of_itself(out: Explanation, statement: ast.stmt, saved: Cause, changed: Cause) -> bool:
    """x[i] = x[i] * v: what was saved of x is overwritten by the statement itself."""
    places, line = out.places, out.places.line(statement)
    if statement is not places.statement(saved.origin):
        return False
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
        target = ast.unparse(statement.target)
        copy = ast.Call(ast.Attribute(statement.target, "clone"), [], [])
        text = f"{target} = {ast.unparse(ast.BinOp(copy, statement.op, statement.value))}"
        out.advise(f"{text} on line {line}", replaced(places, statement, text))
        return True
    if not isinstance(changed.origin, ast.Subscript) or not isinstance(saved.origin, ast.AST):
        return False
    name = base_name(changed.origin)
    read = [
        (line, node)
        for part in _writing(out, name)
        for node in ast.walk(part.value)
        if isinstance(node, ast.Subscript) and base_name(node.value) == name
        and (line := places.line(part)) is not None
    ]  # fmt: skip
    edits = [edit for _, node in read for edit in suffixed(places, node, ".clone()") or ()]
    if not any(node in ast.walk(saved.origin) for _, node in read) or not edits:
        return False
    copies = ", ".join(dict.fromkeys(f"{ast.unparse(node)}.clone()" for _, node in read))
    lines = list(dict.fromkeys(str(line) for line, _ in read))
    where = f"lines {', '.join(lines[:-1])} and {lines[-1]}" if lines[1:] else f"line {lines[0]}"
    out.advise(f"{copies} on {where}: a copy is saved, which nothing changes", edits)
    return True


def _writing(out: Explanation, name: str | None) -> list[ast.Assign]:
    """The assignments to parts of a name."""
    return [
        node
        for statement in out.places.program.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
        and base_name(node.targets[0]) == name
    ]  # fmt: skip


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
        if not _other_steps(out, changed):
            _go_back_before(out, changed)
        if not _compute_way_again(out, saved, changed):
            out.advise(f"compute line {made} again after line {line}")
    elif line > (places.line(place) or line):
        loop = places.loop_around(place)
        if loop is None or not places.share_a_loop(saved.origin, place):
            return
        if not by_name(out):
            out.advise(CARRIED)
    elif not _compute_way_again(out, saved, changed) and not _save_a_copy(out, saved, changed):
        out.advise(f"backward before line {line}")


def _save_a_copy(out: Explanation, saved: Cause, changed: Cause) -> bool:
    """A weight that the same call uses and then changes: x @ w.clone()."""
    places, target = out.places, _changed_name(changed.origin)
    text = None if target is None else places.text(target)
    used = saved.origin if isinstance(saved.origin, ast.AST) else None
    inside = [part for part in places.ancestors(used) if isinstance(part, ast.FunctionDef)] if (
        used is not None) else []  # fmt: skip
    if text is None or used is None or not inside or out.place in ast.walk(inside[0]):
        return False
    found = [part for part in ast.walk(used) if isinstance(part, (ast.Name, ast.Attribute))
             and ast.unparse(part) == text]  # fmt: skip
    edits = [edit for part in found for edit in suffixed(places, part, ".clone()") or ()]
    if edits:
        line = places.line(used)
        out.advise(f"{text}.clone() on line {line}: a copy is saved, which nothing changes", edits)
    return bool(edits)


def _other_steps(out: Explanation, changed: Cause) -> bool:
    """Whether another optimizer than the one that changed it steps, which is to have the gradients
    of this pass alone."""
    owners = {
        ast.unparse(called[1][0]) for part in out.places.parents.values()
        if (called := out.places.called(part)) is not None and called[0] == "step" and called[1]
    }  # fmt: skip
    own = out.places.called(changed.origin)
    return own is not None and own[0] == "step" and bool(owners - {ast.unparse(own[1][0])})


def _go_back_before(out: Explanation, changed: Cause) -> None:
    """The backward call in front of what changes a leaf: two losses, and then one step."""
    places = out.places
    own, last = places.statement(out.place), _outermost(out, places.statement(changed.origin))
    text = None if own is None else places.text(own)
    edits = None if text is None else line_before(places, last, text)
    moved = [*edits, *(replaced(places, own, "pass") or ())] if edits else None
    out.advise(f"backward before line {places.line(last)}", moved)


def _compute_way_again(out: Explanation, saved: Cause, changed: Cause) -> bool:
    """What one turn computes before a step of the optimizer, and goes back from behind it: what a
    discriminator makes of a fake, for the generator."""
    places, place = out.places, out.place
    first = places.statement(saved.origin)
    above = list(places.ancestors(changed.origin)) if isinstance(changed.origin, ast.AST) else []
    block = next((body for body in _bodies(places, place) if first in body), [])
    last = next((statement for statement in block if statement in above), None)
    root = place.func.value if isinstance(place, ast.Call) and isinstance(
        place.func, ast.Attribute
    ) else None  # fmt: skip
    if root is None or first is None or last is None:
        return False
    wanted, way = _names(root), list[ast.stmt]()
    for statement in reversed(block[block.index(first) : block.index(last)]):
        bound = {node.id for node in ast.walk(statement)
                 if isinstance(node, ast.Name) and type(node.ctx) is ast.Store}  # fmt: skip
        if bound & wanted and isinstance(statement, ast.Assign):
            way.insert(0, statement)
            wanted |= _names(statement.value)
    if first not in way:
        return False
    line, text = places.line(changed.origin), again(places, way)
    if text is not None and len(way) <= MOST_AGAIN:
        out.advise(f"{text} again after line {line}", line_after(places, last, text))
    else:
        lines = ", ".join(str(statement.lineno) for statement in way)
        edits = None if text is None else line_after(places, last, text)
        out.advise(f"compute again after line {line} what stands on line {lines}", edits)
    return True


def _bodies(places: Places, node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements around a place, the innermost first."""
    for part in places.ancestors(node):
        yield from (body for name in ("body", "orelse", "finalbody")
                    if isinstance(body := getattr(part, name, None), list))  # fmt: skip
    yield list(places.program.body)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _outermost(out: Explanation, statement: ast.stmt | None) -> ast.stmt | None:
    """The `with` block around a statement, where it is in one."""
    if statement is None:
        return None
    around = [part for part in out.places.ancestors(statement) if isinstance(part, ast.With)]
    return around[-1] if around else statement


def out_of_place(out: Explanation, statement: ast.stmt, origin: object) -> str | None:
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


def new_results(out: Explanation) -> None:
    """Layers that make a new tensor of what they are given."""
    flags = {id(word): word for word in flagged(out)}.values()
    edits = [edit for word in flags for edit in replaced(out.places, word.value, "False") or ()]
    lines = ", ".join(map(str, sorted({word.value.lineno for word in flags})))
    out.advise(f"inplace=False on line {lines}", edits)


def base_name(node: ast.AST) -> str | None:
    """x of x[i], x.T and x.add_(1)."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


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
