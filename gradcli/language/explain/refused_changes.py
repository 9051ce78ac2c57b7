"""language: changes in place that PyTorch refuses: of leaves, of views, beside hooks of modules."""

from __future__ import annotations

import ast
from typing import Any

from ...engine.schema.causes import Cause
from ..explanation import Explanation, is_alone, line_before, replaced, suffixed
from .damage import LONGEST, base_name, flagged, made_here, new_results, out_of_place

# What a view is that may not change, and what is said of the call that made it.
VIEWS = {
    "multi": ("one of several views that one call gave", "the views are made here"),
    "function": ("a view that a Function returned", "the Function returns its input itself"),
}
HOOKED = "BackwardHookFunctionBackward"


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


def view(out: Explanation, cause: Cause) -> None:
    """A view that may not change in place: one of several that one call gave, or what a Function
    of the program gave back of its input."""
    places, place, node = out.places, out.place, cause.node
    said = VIEWS.get(cause.detail["creation"])
    if said is None or node is None:
        return
    if node.name() == HOOKED:
        _hooked(out)
        return
    shown = places.name_of(cause.detail["tensor"]) or base_name(place) or "it"
    out.primary = f"{shown} is {said[0]}"
    if node.origin is not place:
        own = cause.detail["creation"] == "function" and _made_view(cause.detail["tensor"], node)
        out.put(node.origin, "the Function returns a view of its own tensor" if own else said[1])
    if cause.origin is not None:  # it was changed by another name, or while gradients were off
        out.put(cause.origin, f"changes the memory of {shown}")
        edits = suffixed(places, node.origin, ".clone()")
        out.advise(f".clone() behind {places.text(node.origin, LONGEST) or 'what makes it'}", edits)
        return
    statement = places.statement(place)
    plain = None if statement is None else out_of_place(out, statement, place)
    line = places.line(place)
    if statement is not None and plain is not None:
        text = f"{plain} on line {line}, which makes a new tensor"
        out.advise(text, replaced(places, statement, plain))
    name = base_name(place if not isinstance(place, ast.AugAssign) else place.target)
    if statement is not None and name is not None:
        text = f"{name} = {name}.clone()"
        edits = line_before(places, statement, text)
        advise = out.or_else if plain is not None else out.advise
        advise(f"{text} before line {line}, which changes a copy", edits)


def _made_view(tensor: Any, node: Any) -> bool:
    """Whether what a Function returned is a view of a tensor that its forward made."""
    base = tensor._base
    own = base._grad_fn
    return not any(
        edge is not None and (edge is own or getattr(edge, "variable", None) is base)
        for edge in node.edges
    )


def _hooked(out: Explanation) -> None:
    """Full backward hooks stand on views of what a module is given and gives back."""
    places = out.places
    out.primary = "changes in place what a module with a full backward hook was given or returned"
    calls = {id(part): part for part in places.parents.values() if isinstance(part, ast.Call)}
    for call in calls.values():
        if (called := places.called(call)) and called[0].startswith("register_full_backward"):
            out.put(call, "the hook stands on a view of it")
    if flagged(out):
        new_results(out)
    else:
        out.advise("an operation that makes a new tensor, such as F.relu in place of F.relu_")
