"""language: turns what an error of the engine carries into labels and advice about the text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from ...engine.schema.causes import Cause
from ..calls import invoke
from ..explanation import Explanation
from ..places import Bindings, Places
from ..program import Program
from ..values import UNBOUND
from .backward import freed, nan, underived
from .calls import calls
from .damage import changed, damage_advice, saved
from .hooks import hook
from .misfits import misfits
from .operands import operands
from .refused import refused
from .refused_changes import leaf, view
from .roots import constant, root, unused
from .uses import uses

_TOLD: dict[str, Callable[[Explanation, Cause], None]] = {
    "freed": freed, "saved": saved, "changed": changed, "constant": constant,
    "unused": unused, "leaf": leaf, "view": view, "root": root, "nan": nan,
    "underived": underived,
}  # fmt: skip


def explain(
    program: Program, values: Mapping[str, Any], bound_by: Bindings, error: BaseException,
    place: ast.AST,
) -> Explanation:  # fmt: skip
    """Explains the causes of an error in terms of the program's text."""
    places = Places(program, values, bound_by)
    places.local = local_names(places, error.__traceback__, place)
    out = Explanation(places, place)
    with suppress(RuntimeError):  # a view that may not be used any more has no answers
        _explain(out, error)
    out.merge()
    return out


def _explain(out: Explanation, error: BaseException) -> None:
    causes: tuple[Cause, ...] = getattr(error, "causes", ())
    for cause in causes:
        tell = _TOLD.get(cause.kind)
        if tell is not None:
            tell(out, cause)
    if not out.labels and (not causes or causes[0].kind == "shapes"):
        operands(out, error)
    if not causes:
        calls(out, error)
        refused(out, error)
        misfits(out, error)
        uses(out, error)
    hook(out, error.__traceback__)
    if causes and causes[0].kind == "saved":
        damage_advice(out, causes[0], causes[-1])


def local_names(places: Places, trace: TracebackType | None, place: ast.AST) -> dict[str, Any]:
    """What the names of the function around the failing place hold."""
    inner: dict[str, Any] | None = None
    while trace is not None:
        if trace.tb_frame.f_code is invoke.__code__:
            inner = trace.tb_frame.f_locals
        trace = trace.tb_next
    around = (part for part in places.ancestors(place) if part in places.program.scopes)
    function = next((p for p in around if isinstance(p, (ast.FunctionDef, ast.Lambda))), None)
    if inner is None or function is None or "frame" not in inner:
        return {}
    scope, frame = places.program.scopes[function], inner["frame"]
    if inner["function"].name != getattr(function, "name", "<lambda>"):
        return {}  # it was left already, or the call is one that the host made
    found = {}
    for name, slot in scope.slots.items():
        value = frame[slot] if slot < len(frame) else UNBOUND
        if name in scope.cells or name in scope.free:
            value = value[0] if isinstance(value, list) and value else UNBOUND
        if value is not UNBOUND:
            found[name] = value
    return found
