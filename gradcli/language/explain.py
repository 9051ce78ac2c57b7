"""language: what an error of the engine knows, as labels in the program's text and advice."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from ..diagnostics import Label, Span
from ..engine.causes import Cause
from ..engine.tensor import Tensor
from ..operators import catalogue
from .constants import reasons, with_keyword
from .places import Places, saved_text

_ROOM = __file__.rpartition("explain.py")[0]
_ABOUT_SHAPES = re.compile(r"\b(?:sizes?|shapes?|dimensions?)\b", re.IGNORECASE)
LONGEST = 40  # characters of a piece of code in an advice


@dataclass(eq=False)
class Explanation:
    """What is said at the failing place, at others, and what to do."""

    primary: str = ""
    labels: list[Label] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def explain(places: Places, error: BaseException, place: ast.AST) -> Explanation:
    """Everything that the causes of an error tell about the program's text."""
    out = Explanation()
    causes: tuple[Cause, ...] = getattr(error, "causes", ())
    for cause in causes:
        tell = _TOLD.get(cause.kind)
        if tell is not None:
            tell(places, cause, place, out)
    if isinstance(error, (RuntimeError, ValueError, IndexError, TypeError)) and not out.labels:
        if any(cause.kind == "shapes" for cause in causes) or _ABOUT_SHAPES.search(str(error)):
            if not causes or causes[0].kind == "shapes":
                _operand_shapes(places, error, place, out)
    saved = next((cause for cause in causes if cause.kind == "saved"), None)
    if saved is not None:
        out.notes.extend(_damage_advice(places, saved, causes[-1], place))
    out.labels = _merged(out, places.span(place))
    return out


def _merged(out: Explanation, failing: Span | None) -> list[Label]:
    """One label for each place; what concerns the failing place is said there."""
    texts: dict[Span, list[str]] = {}
    for label in out.labels:
        if label.text not in texts.setdefault(label.span, []):
            texts[label.span].append(label.text)
    if failing is not None and failing in texts:
        out.primary = "; ".join([*texts.pop(failing), *([out.primary] if out.primary else [])])
    return [Label(span, "; ".join(said)) for span, said in texts.items()]


def _put(places: Places, out: Explanation, origin: object, text: str) -> None:
    span = places.span(origin)
    if span is not None:
        out.labels.append(Label(span, text))


def _node_text(places: Places, node: Any) -> str:
    """MulBackward0 (w4 * c, line 5)"""
    name = node.name().split("::")[-1]
    line = places.line(node.origin)
    if line is None:
        return name
    text = places.text(node.origin)
    return f"{name} (line {line})" if text is None else f"{name} ({text}, line {line})"


# ---------------------------------------------------------------- a second time through the graph


def _freed(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    out.primary = "needs it again" if isinstance(place, ast.Call) else "it is no longer there"
    held = dict.fromkeys(
        saved_text(places, cause.node, key) or key for key in cause.detail["names"]
    )
    what = f": {', '.join(held)}" if held else ""
    again = cause.origin is place
    when = " the time before" if again else ""
    text = f"freed{when} what {_node_text(places, cause.node)} had saved{what}"
    _put(places, out, cause.origin, text)
    call, line = cause.origin, places.line(cause.origin)
    called = places.called(call)
    if line is None or called is None or called[0] not in ("backward", "grad"):
        return
    assert isinstance(call, ast.Call)
    given = [word.arg for word in call.keywords]
    code = places.text(call, LONGEST)
    if code is None or None in given or "retain_graph" in given or len(call.args) > 2:
        advice = f"do: retain_graph=True in the call on line {line}"
    else:
        advice = f"do: {with_keyword(code, 'retain_graph=True')} on line {line}"
    made = places.line(cause.node.origin)
    out.notes.append(advice)
    if again and places.share_a_loop(cause.node.origin, place):
        out.notes.append(CARRIED.replace("do: ", "do: or "))
    elif again and made is not None and places.runs_once(cause.node.origin):
        out.notes.append(f"do: or compute line {made} again before each backward")


# ---------------------------------------------------------------- changed in place


def _saved(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    version = cause.detail["version"]
    if cause.node is None:
        text = "saved"
    else:
        key = cause.detail["name"]
        what = saved_text(places, cause.node, key) or f"its {key}"
        text = f"{cause.node.name().split('::')[-1]} saved {what}"
    _put(places, out, cause.origin, f"{text} for backward here (version {version})")
    out.primary = f"needs version {version}"


def _changed(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    last = " last" if cause.detail["times"] > 1 else ""
    _put(places, out, cause.origin, f"changed{last} here (version {cause.detail['version']})")


CARRIED = "do: .detach() what a turn takes over from the turn before"


def _damage_advice(places: Places, saved: Cause, changed: Cause, place: ast.AST) -> Iterator[str]:
    """How the saved tensor could stay as it was."""
    line, made = places.line(changed.origin), places.line(saved.origin)
    statement = places.statement(changed.origin)
    if line is None or statement is None:
        return
    called = places.called(changed.origin)
    if saved.detail["leaf"] or (called is not None and called[0] == "step"):
        # Only no_grad lets a leaf change, and it has to stay a leaf.
        if places.runs_once(saved.origin):
            yield f"do: backward before line {line}, or compute line {made} again after it"
        elif line > (places.line(place) or line):
            if places.share_a_loop(saved.origin, place):
                yield CARRIED
        else:
            yield f"do: backward before line {line}"
        return
    times = changed.detail["times"]
    if times > 1:
        yield f"do: out-of-place operations for the {times} changes, the last on line {line}"
        return
    plain = _out_of_place(places, statement, changed.origin)
    if plain is not None:
        yield f"do: {plain} on line {line}, which makes a new tensor"
        return
    target = changed.origin
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    if isinstance(changed.origin, ast.Subscript) and isinstance(target, ast.Name):
        yield f"do: {target.id} = {target.id}.clone() before line {line}"
    else:
        yield f"do: change a .clone() on line {line}, or use an out-of-place operation"


def _out_of_place(places: Places, statement: ast.stmt, origin: object) -> str | None:
    """`a = a * 2` for `a *= 2`, `a = a.mul(2)` for `a.mul_(2)`."""
    text: str | None = None
    if places.text(statement, LONGEST) is None:
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
    return text if text is not None and len(text) <= LONGEST else None


def _leaf(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    tensor = cause.detail["tensor"]
    name = places.name_of(tensor)
    shown = name or "it"
    if cause.detail["view"]:
        leaf = f"the leaf {name}" if name else "a leaf"
        out.primary = f"a view of {leaf}, which requires grad"
    else:
        out.primary = f"{shown} is a leaf that requires grad"
    if name is not None:
        _made_here(places, name, out, f"{name} is made here")
    statement = places.statement(place)
    text = None if statement is None else places.text(statement, LONGEST)
    if isinstance(statement, (ast.Expr, ast.AugAssign, ast.Assign)) and text is not None:
        out.notes.append(f"do: with torch.no_grad(): {text}")
    else:
        out.notes.append("do: change it inside of with torch.no_grad():")


def _made_here(places: Places, name: str, out: Explanation, text: str) -> None:
    """A label on what gave a name the value that it holds."""
    value = places.bound_value(name)
    if value is not None:
        _put(places, out, value, text)
    elif name in places.bound_by:
        _put(places, out, places.bound_by[name], text)


# ---------------------------------------------------------------- roots and inputs


def _constant(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    tensor = cause.detail["tensor"]
    name = places.name_of(tensor)
    root = _root_expression(places, place)
    shown = name or (None if root is None else places.text(root)) or "it"
    out.primary = f"{shown} does not require grad"
    if name is None and root is not None:
        found = reasons(places, root, None)
    else:
        found = [] if name is None else reasons(places, ast.Name(name, ast.Load()), tensor)
    for reason in found:
        _put(places, out, reason.node, reason.text)
    made = [reason for reason in found if reason.is_leaf]
    if len(made) > 1:
        lines = " or ".join(f"line {places.line(reason.node)}" for reason in made)
        out.notes.append(f"do: requires_grad=True on {lines}, whichever is to have a gradient")
        return
    out.notes.extend(f"do: {reason.advice}" for reason in found if reason.advice is not None)


def _root_expression(places: Places, place: ast.AST) -> ast.expr | None:
    """x in x.backward(), where the text says it."""
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute):
        if place.func.attr == "backward" and not places.is_space(place.func.value):
            return place.func.value
    return None


def _root(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    tensor = cause.detail["tensor"]
    name = places.name_of(tensor)
    shape = list(tensor.shape)
    root = _root_expression(places, place)
    text = name if root is None else places.text(root)
    out.primary = f"{text or 'it'} has the shape {shape}"
    if text is not None and isinstance(root, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp)):
        text = f"({text})"
    called = places.called(place)
    word = "grad_outputs" if called is not None and called[0] == "grad" else "a gradient"
    if text is None:
        out.notes.append(f"do: .sum() before it, or {word} of the shape {shape}")
    elif root is not None:
        out.notes.append(f"do: {text}.sum().backward(), or {word} of the shape {shape}")
    else:
        out.notes.append(f"do: {text}.sum() instead of {text}, or {word} of the shape {shape}")


def _unused(places: Places, cause: Cause, place: ast.AST, out: Explanation) -> None:
    name = places.name_of(cause.detail["tensor"])
    shown = name or f"the input at index {cause.detail['index']}"
    out.primary = f"the graph does not reach {shown}"
    if name is not None:
        _made_here(places, name, out, f"{name} is made here")
    out.notes.append(f"do: allow_unused=True, which gives None for {shown}")


# ---------------------------------------------------------------- shapes


def _operand_shapes(places: Places, error: BaseException, place: ast.AST, out: Explanation) -> None:
    called = places.called(place)
    if called is not None and called[0] in ("backward", "grad"):
        return
    pairs = list(zip(places.operands(place), _arguments(error.__traceback__), strict=False))
    told = [shape for cause in getattr(error, "causes", ()) for shape in cause.detail["shapes"]]
    if called is not None and told:  # a network's inner layer failed: its input says nothing
        if not any(isinstance(v, Tensor) and tuple(v.shape) in told for _, v in pairs):
            return
    for operand, value in pairs:  # a call that was made in another way than the text says
        known = places.tensor(operand)
        if isinstance(value, Tensor) and isinstance(operand, ast.Constant):
            return
        if known is not None and known is not value:
            return
    for operand, value in pairs:
        if isinstance(value, Tensor):
            _put(places, out, operand, f"shape {list(value.shape)}")


def _arguments(trace: TracebackType | None) -> list[Any]:
    """What the innermost operation of the program was called with, from the engine's own frame."""
    inner: TracebackType | None = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(_ROOM):
            inner = trace.tb_next
        trace = trace.tb_next
    if inner is None:
        return []
    frame = inner.tb_frame
    code = frame.f_code
    found = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & 0x04:  # *arguments
        rest = frame.f_locals.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        found.extend(rest if isinstance(rest, tuple) else ())
    return found[1:] if code.co_name == "__call__" else found


_TOLD: dict[str, Callable[[Places, Cause, ast.AST, Explanation], None]] = {
    "freed": _freed, "saved": _saved, "changed": _changed, "constant": _constant,
    "unused": _unused, "leaf": _leaf, "root": _root,
}  # fmt: skip
