"""Questions: the tensors and nodes that a run left, with the places and names of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..diagnostics import some
from ..language.interpreter import Outcome
from ..language.program import Program
from ..opening import UsageError
from ..pipeline.request import Ran
from ..recording import collect as collecting
from ..recording.collect import Collected
from ..recording.facts import Elsewhere, Place, TensorFact
from ..recording.holding import (
    LOOKED,
    Inside,
    Named,
    inside,
    modules_first,
    named_tensors,
    parameters,
)
from ..recording.names import Names, loop_names
from ..recording.recording import Recording
from ..recording.sides import AnyTensor, elsewhere_of, origin_of, sides

# Functions with passes of their own: what these go over is not what they return.
PASSING = frozenset({"jacobian", "hessian"})
LISTED = 8  # names in an advice


def module_tensors(bindings: Mapping[str, Any], recording: Recording) -> list[Named]:
    """Tensors inside of modules and objects: names, the lines that made them, themselves."""
    lines, leaves = recording.lines, recording.names
    return [
        Named(leaves.lasting(name, tensor), lines.of_birth(tensor) or leaves.line_of(tensor),
              tensor, kind)
        for name, tensor, kind in inside(bindings, AnyTensor)
    ]  # fmt: skip


def leaves_of(program: Program, recording: Recording) -> list[Named]:
    """Leaves by the names that they had; one that never had a name by the words that made it."""
    place_of = place_reader(program)
    found = list(recording.names.leaves)
    for tensor, line, origin in recording.names.nameless():
        place = place_of(origin)
        if place is not None and not place.statement:
            found.append(Named(place.text, line, tensor))
    return found


def collected(
    outcome: Outcome, *, texts: bool, roots: tuple[tuple[Any, int], ...] = (),
    recording: Recording | None = None,
) -> Collected:  # fmt: skip
    """The tensors and nodes that the program's names hold, and what lies below the roots; with a
    recording also parameters of modules, and leaves that only functions knew."""
    inner: list[Named] = []
    leaves: list[Named] = []
    if recording is not None:
        leaves = leaves_of(outcome.program, recording)
        inner = module_tensors(recording.names.reached(outcome.bindings), recording)
    found = collecting.collect(
        outcome.bindings, AnyTensor, lines=outcome.lines, place=places(outcome.program),
        values=not texts, texts=texts, roots=tuple(node for node, _ in roots),
        others=inner, leaves=leaves,
        made=None if recording is None else recording.names.line_of,
        passing=loop_names(outcome.program.body),
    )  # fmt: skip
    if recording is None:
        return found
    names = recording.names
    pairs = zip(found.tensors, found.held, strict=True)
    told = (
        _with_module(fact, found) if fact.requires_grad
        else fact._replace(why_not=names.why_not(tensor))
        for fact, tensor in pairs
    )  # fmt: skip
    return found._replace(tensors=tuple(told))


def line_of(name: str, tensor: Any, ran: Ran) -> int | None:
    """The line that made a leaf, as in `collected`; else the line where the name was bound."""
    assert ran.outcome is not None
    bound = ran.outcome.lines.get(name.partition("[")[0])
    made = tensor.is_leaf and tensor.requires_grad
    return (made and ran.recording.names.line_of(tensor)) or bound


def _with_module(fact: TensorFact, found: Collected) -> TensorFact:
    """A result that came into a list later has the line of its expression, not the list's."""
    place = None if fact.node is None or fact.is_leaf else found.nodes[fact.node].place
    if place is None or "[" not in fact.name:
        return fact
    return fact._replace(line=max(place.line, fact.line or 0))


def numbering(outcome: Outcome, names: Names, roots: tuple[tuple[Any, int], ...]) -> dict[int, int]:
    """The numbers that `collected` gives to nodes, by their identity."""
    graph = collecting.Graph()
    tensors = [tensor for _, tensor in named_tensors(outcome.bindings, AnyTensor)]
    inner = inside(names.reached(outcome.bindings), AnyTensor)
    for tensor in tensors:
        graph.add(grad_fn_of(tensor))
    for node, _ in roots:
        graph.add(node)
    for _, tensor, _ in inner:
        graph.add(grad_fn_of(tensor))
    return graph.ids


def elsewhere(found: Collected) -> tuple[tuple[int, Elsewhere], ...]:
    """The nodes that other files made, with their lines there."""
    if sides.live is None:
        return ()
    places = ((at, elsewhere_of(node)) for at, node in enumerate(found.alive))
    return tuple((at, place) for at, place in places if place is not None)


def grad_fn_of(tensor: AnyTensor) -> Any:
    """The node that made it; None too for a view whose base was changed in a forbidden way."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def index_of(name: str, tensors: tuple[TensorFact, ...], option: str) -> int:
    """The tensor of that name; UsageError says which there are."""
    for i, fact in enumerate(tensors):
        if fact.name == name:
            return i
    raise no_tensor(name, [fact.name for fact in tensors], option)


def no_tensor(name: str, names: Sequence[str], option: str) -> UsageError:
    """The error of a name that no tensor has."""
    message = f"{option} {name}: no tensor has this name when the program ends"
    return UsageError(message, nearest_name(name, names))


def nearest_name(name: str, names: Sequence[str], which: str = "the tensors") -> str:
    """The advice for a name that is none of these."""
    from difflib import get_close_matches

    whole = name.partition("[")[0]
    if whole != name and whole in names:
        return f"{whole} is a tensor, and {name} an element of it: ask for {whole}"
    if near := get_close_matches(name, names, 1, 0.5):
        return f"did you mean {near[0]}?"
    return f"{which} are {some(names, LISTED)}" if names else ""


# ---------------------------------------------------------------- places


def places(program: Program) -> Callable[[Any], Place | None]:
    """Says where in the text a node was made; each expression is looked up once."""
    read = place_reader(program)

    def place_of(node: Any) -> Place | None:
        place = read(origin_of(node))
        if place is None and node.name() == "AsStridedBackward0":
            return place_of(node.next_functions[0][0])  # what changed the base of that view
        if place is not None and place.target and node.name().endswith("CopySlices"):
            return place._replace(target="")  # which names a part, and this node made the whole
        return place

    return place_of


def is_here(origin: Any) -> bool:
    """Whether it is a place of the program's text, and not of an option's."""
    return (
        isinstance(origin, ast.AST)
        and hasattr(origin, "lineno")
        and not hasattr(origin, "of_option")
    )


def place_reader(program: Program) -> Callable[[Any], Place | None]:
    """The same for an origin."""
    known: dict[int, Place | None] = {}
    targets, changed = _targets(program)
    source = program.source

    def place_of(origin: Any) -> Place | None:
        key = id(origin)
        if key in known:
            return known[key]
        place = None
        if is_here(origin) and getattr(origin, "of_source", source) is source:
            span = source.place_of(origin)
            whole = source.span_of(origin)
            before = source.line(whole.line)[: whole.column - 1].rstrip()
            target, plain, parts = targets.get(key, ("", True, ()))
            text, statement = source.words_of(whole), isinstance(origin, ast.stmt)
            if key in changed:
                target, statement = text, True
                text = source.words_of(source.span_of(changed[key]))
            place = Place(span.line, span.column, span.end_line, span.end_column,
                          text, target, statement, plain and before.endswith("="),
                          parts)  # fmt: skip
        known[key] = place
        return place

    return place_of


def _targets(
    program: Program,
) -> tuple[dict[int, tuple[str, bool, tuple[str, ...]]], dict[int, ast.stmt]]:
    """For the value of each assignment to one name, that name; is it NAME = VALUE and no more?
    For that of one to several, those names. And for each NAME[INDEX] the whole of
    NAME[INDEX] = VALUE."""
    found: dict[int, tuple[str, bool, tuple[str, ...]]] = {}
    changed: dict[int, ast.stmt] = {}
    pending: list[Any] = list(program.body)
    for node in pending:
        value = getattr(node, "value", None)
        called = getattr(value, "func", None)
        if getattr(called, "attr", getattr(called, "id", "")) in PASSING:
            continue
        if isinstance(node, ast.Assign):
            target, is_plain = node.targets[0], len(node.targets) == 1
            if isinstance(target, ast.Name):
                found[id(value)] = target.id, is_plain, ()
            elif isinstance(target, ast.Subscript):
                changed[id(target)] = node
            elif isinstance(target, ast.Tuple):
                names = tuple(one.id for one in target.elts if isinstance(one, ast.Name))
                found[id(value)] = "", is_plain, names if len(names) == len(target.elts) else ()
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[id(value)] = node.target.id, False, ()
        for part in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                pending.extend(inner)
    return found, changed


def names_of(found: Collected, bindings: Mapping[str, Any]) -> Callable[[Any], str]:
    """What a node is called at the end: by a tensor that it made, or by the leaf it ends in.

    A module is called by the way that leads to it: `net.0`.
    """
    by_node = {fact.node: fact.name for fact in reversed(found.tensors) if fact.node is not None}
    names = {id(found.alive[number]): name for number, name in by_node.items()}
    pairs = list(parameters(bindings, AnyTensor))
    leaves = {id(t): name for name, t in reversed(pairs)}
    told = [(id(t), fact.name) for fact, t in zip(found.tensors, found.held, strict=True)]
    leaves |= dict(reversed(told))
    modules = module_names(bindings)

    def name_of(node: Any) -> str:
        if hasattr(node, "_get_name"):  # a module's hook
            return modules.get(id(node)) or str(node._get_name())
        variable = getattr(node, "variable", None)
        return names.get(id(node)) or leaves.get(id(variable), "") or collecting.short_name(node)

    return name_of


def module_names(bindings: Mapping[str, Any]) -> dict[int, str]:
    """The names of modules, and of the modules in them, by their identity."""
    found: dict[int, str] = {}
    for name, value in modules_first(bindings):
        if not name.startswith("_"):
            within = Inside(AnyTensor, LOOKED)
            for path, module in within.modules(name, value):
                found.setdefault(id(module), path)
    return found
