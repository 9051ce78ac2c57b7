"""language: errors of a second backward and of anomaly mode: which call, node and lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...engine.graph.node import SavedOutput
from ...engine.schema.causes import Cause
from ...engine.tensors.tensor import Tensor
from ...recording.below import nodes_below
from ..cut_reasons import with_keyword
from ..explanation import (
    Explanation,
    again,
    line_before,
    node_words,
    replaced,
    with_argument,
)
from ..places import Places, input_text, saved_text
from .carried import CARRIED, by_name, by_state
from .collected import by_collection, by_constructor, by_gradient

LONGEST = 40  # characters of a piece of code in an advice
MOST_NODES, MOST_LINES = 10_000, 3
RETAINED, RECORDED = "retain_graph=True", "create_graph=True"
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


def freed(out: Explanation, cause: Cause) -> None:
    """A backward pass needs what an earlier call has freed."""
    places, place, node = out.places, out.place, cause.node
    same = cause.origin is place
    out.primary = "needs it again" if isinstance(place, ast.Call) else "it is no longer there"
    held = dict.fromkeys(saved_text(places, node, key) or key for key in cause.detail["names"])
    what = f": {', '.join(held)}" if held else ""
    freeing = "the previous call freed" if same else "freed"
    if same and isinstance(place, ast.Call):
        out.primary = "this call needs it again"
    out.put(cause.origin, f"{freeing} what {node_words(places, node)} had saved{what}")
    if same and (by_state(out, node) or by_constructor(out, node) or by_collection(out, node)):
        return
    loop = places.loop_around(place) if same else None
    if loop is not None and places.line(node.origin) and not _runs_within(places, node, loop):
        out.put(node.origin, f"made once, before the loop on line {loop.lineno}")
    called = places.called(cause.origin)
    if places.line(cause.origin) is None or called is None or called[0] not in ("backward", "grad"):
        return
    carried = loop is not None and _runs_within(places, node, loop)
    if carried and not by_name(out) and not by_gradient(out, node):
        out.advise(CARRIED)
    recorded = called[0] == "grad" and _recorded(out, cause.origin)
    condition = ", where its result is to be a constant" if recorded else ""
    _retain(out, cause.origin, called[0] == "backward", carried, condition)
    if loop is not None:
        if not carried:
            _within(out, node, loop)
    elif not same:
        _detached(out, cause)
    elif places.runs_once(node.origin):
        out.advise(f"compute line {places.line(node.origin)} again before each backward")


def underived(out: Explanation, cause: Cause) -> None:
    """A pass comes to an operation that has no derivative."""
    out.primary = "goes back to it"
    out.put(cause.origin, "this has no derivative")
    out.advise("another function, or detach() where no gradient is to go back")


def _runs_within(places: Places, node: Any, loop: ast.AST) -> bool:
    """Stands a node's place in the loop, or in a function, which any turn may call?"""
    around = list(places.ancestors(node.origin)) if isinstance(node.origin, ast.AST) else []
    inside = next((part for part in around if isinstance(part, _FUNCTIONS)), None)
    return loop in around or inside not in (None, *places.ancestors(loop))


def _retain(out: Explanation, call: Any, is_backward: bool, carried: bool, condition: str) -> None:
    """The call that freed may keep instead."""
    places, line = out.places, out.places.line(call)
    added = ""
    if is_backward and isinstance(out.place, ast.Call):
        one, two = _root_of(places, call), _root_of(places, out.place)
        added = "the same gradients are then added again"
        if one is not None and one != two:
            added = "gradients of both calls then add up"
        elif _is_another(places, out.place, one):
            added = "gradients of all calls then add up"
    if carried:
        added = "each turn then goes back through all turns before"
    given = [word.arg for word in call.keywords]
    if None in given or "retain_graph" in given or len(call.args) > 2:
        known = next((word.value for word in call.keywords if word.arg == "retain_graph"), None)
        edits = replaced(places, known, "True")
        out.advise(f"{RETAINED} in the call on line {line}", edits, added)
        return
    _with_word(out, call, RETAINED, condition, added)


def _recorded(out: Explanation, call: Any) -> bool:
    """A derivative that is computed with, as in a differential equation, may need a graph."""
    places, made = out.places, out.places.statement(call)
    if not isinstance(made, ast.Assign) or not places.is_walked:
        return False
    around = (part for part in places.ancestors(made) if isinstance(part, ast.FunctionDef))
    scope = next(around, places.program)
    bound = {part.id for target in made.targets for part in _names(target)}
    used = (part for statement in scope.body for part in _names(statement))
    if not any(part.id in bound and part.lineno > made.lineno for part in used):
        return False
    _with_word(out, call, RECORDED)
    return True


def _with_word(
    out: Explanation, call: Any, word: str, condition: str = "", added: str = ""
) -> None:
    """One more keyword in a call."""
    line, code = out.places.line(call), out.places.text(call, LONGEST)
    changed = f"{word} in the call" if code is None else with_keyword(code, word)
    edits = with_argument(out.places, call, word)
    out.advise(f"{changed} on line {line}{condition}", edits, added)


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    return (part for part in ast.walk(tree) if isinstance(part, ast.Name))


def _detached(out: Explanation, cause: Cause) -> None:
    """One of the losses may have been meant to leave alone what both use."""
    places = out.places
    made, first = places.statement(cause.node.origin), places.statement(cause.origin)
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    if made is None or first is None or not isinstance(target, ast.Name):
        return
    name, loop = target.id, places.loop_around(made)
    around = loop.body if loop is not None else places.program.body
    last = places.statement(out.place) or first
    found: list[ast.Name] = []
    calls: list[tuple[Any, ast.stmt]] = [(cause.origin, first), (out.place, last)]
    one_root = len({_root_of(places, call) for call, _ in calls}) == 1
    for call, end in calls[:1] if one_root else calls:
        between = [part for part in around if made.lineno < part.lineno <= end.lineno]
        rest = [part for part in between if call is cause.origin or _leads_to(places, call, part)]
        used = [
            node for part in rest for node in ast.walk(part)
            if isinstance(node, ast.Name) and node.id == name
        ]  # fmt: skip
        if len(used) == 1 and _is_operand(places, used[0], call, one_root):
            found.append(used[0])
    for node in found[:1]:
        cut, line = f"{name}.detach()", places.line(node)
        text = f"{cut} on line {line}, if that loss is to leave line {made.lineno} alone"
        out.advise(text, replaced(places, node, cut))


def _leads_to(places: Places, call: Any, statement: ast.stmt) -> bool:
    """Whether a statement binds the name that a backward call starts from."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return _root_of(places, call) in [*map(ast.unparse, targets)]


def _is_operand(places: Places, node: ast.Name, call: Any, of_call: bool) -> bool:
    """An argument of another call, or of an operator: no method of its own."""
    around = places.parents.get(id(node))
    if isinstance(around, ast.Call):
        return around is not call and node in around.args
    return not of_call and isinstance(around, (ast.BinOp, ast.UnaryOp))


def _is_another(places: Places, call: ast.AST, root: str | None) -> bool:
    """Whether a name stands for another tensor in each turn of the loop around a call."""
    loop = places.loop_around(call)
    return loop is not None and any(
        loop in places.ancestors(node) for node in places.bindings.get(root or "", ())
    )


def _root_of(places: Places, call: ast.AST) -> str | None:
    """What a backward call starts from, as text."""
    called = places.called(call)
    return None if called is None or not called[1] else places.text(called[1][0], 10 * LONGEST)


def _within(out: Explanation, node: Any, loop: ast.For | ast.While) -> None:
    """The statements that made the graph, once more in each turn of the loop."""
    places = out.places
    made = sorted(
        {
            id(statement): statement
            for origin in _origins(_root_node(out) or node)
            if (statement := places.statement(origin)) is not None
            and loop not in places.ancestors(statement)
        }.values(),
        key=lambda statement: statement.lineno,
    )
    if not made or len(made) > MOST_LINES:
        return
    lines = list(dict.fromkeys(str(statement.lineno) for statement in made))
    words = f"lines {', '.join(lines[:-1])} and {lines[-1]}" if lines[1:] else f"line {lines[0]}"
    text = again(places, made)
    edits = None if text is None else line_before(places, loop.body[0], text)
    out.advise(f"compute {words} within the loop, so that each backward has its own graph", edits)


def _origins(root: Any) -> Iterator[ast.AST]:
    """Where the nodes of a graph were made, as far as they are in a text."""
    for node in nodes_below([root], MOST_NODES):
        if isinstance(node.origin, ast.AST) and node.edges:
            yield node.origin


def _root_node(out: Explanation) -> Any:
    """The node at which the failing backward call starts, where a name says it."""
    called = out.places.called(out.place)
    root = called[1][0] if called is not None and called[1] else None
    if not isinstance(root, ast.Name):
        return None
    table = out.places.local if root.id in out.places.local else out.places.values
    return getattr(table.get(root.id), "grad_fn", None)


# ---------------------------------------------------------------- anomaly mode


def nan(out: Explanation, cause: Cause) -> None:
    """Anomaly mode has met a NaN: the node that made it, from what, and where NaN was before."""
    places, node, detail = out.places, cause.node, cause.detail
    result = _flat(detail["result"])
    at = _first_nan(result)
    operand = input_text(places, node, detail["place"])
    of = f" in the gradient of {operand}" if operand else ""
    where = f" at element {at}" if len(result) > 1 else ""
    facts: dict[str, None] = {}
    for grad in map(_flat, detail["grads"]):
        if _first_nan(grad) is not None:
            facts["the incoming gradient is nan already"] = None
        elif at is not None and len(grad) == len(result):
            facts[f"the incoming gradient is {grad[at]:.6g}"] = None
    was_nan = False
    for key, values in _saved(node, detail["saved"]):
        was_nan = was_nan or _first_nan(values) is not None
        if at is not None and len(values) == len(result):
            facts[f"{saved_text(places, node, key) or key} is {values[at]:.6g}"] = None
    name = node.name().split("::")[-1]
    why = f", where {' and '.join(facts)}" if facts else ""
    out.put(cause.origin, f"{name}: nan{of}{where}{why}")
    out.primary = "runs into nan"
    before = next(_nan_below(node), None) if was_nan else None
    if before is not None:
        out.put(before.origin, "nan in the forward pass already: look here first")


def _saved(node: Any, held: Any) -> Iterator[tuple[str, list[float]]]:
    """The names of what a node had saved, and the numbers."""
    keys = getattr(getattr(node, "row", None), "saved_keys", ())
    for key, value in zip(keys, held if isinstance(held, tuple) else (), strict=False):
        yield key, _flat(value)


def _nan_below(root: Any) -> Iterator[Any]:
    """The nodes furthest down the graph that have saved a NaN."""
    found = [
        node for node in nodes_below([root], MOST_NODES)
        if node is not root and any(_first_nan(_flat(v)) is not None for v in saved_values(node))
    ]  # fmt: skip
    yield from sorted(found, key=lambda node: int(node.sequence))


def saved_values(node: Any) -> Iterator[Any]:
    """The tensors that a node still holds."""
    yield from node.saved if isinstance(node.saved, tuple) else ()


def _flat(value: Any) -> list[float]:
    """The floating numbers of a tensor, an array or a saved output; nothing for anything else."""
    if isinstance(value, Tensor):
        value = value._data
    elif isinstance(value, SavedOutput):
        value = value.data
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind != "f" or value.size > MOST_NODES:
        return []
    return [float(number) for number in value.reshape(-1).tolist()]


def _first_nan(numbers: list[float]) -> int | None:
    return next((place for place, number in enumerate(numbers) if number != number), None)
