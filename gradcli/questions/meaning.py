"""Questions: the tensor that a name means: whatever a page prints can be asked for."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

from ..opening import UsageError
from ..pipeline.request import Ran
from ..recording.collect import Collected, results
from ..recording.holding import named_tensors, parameters
from ..recording.passes import Pass
from ..recording.sides import AnyTensor, node_of, origin_of
from .asked_names import AskedNames
from .graph import index_of, is_here, leaves_of
from .question import at_path
from .seeds import seed_facts
from .shown_pass import chosen


def tensor_named(text: str, ran: Ran) -> AnyTensor | None:
    """The tensor of a name, or None: a global name, `weights[0]`, `net.0.weight` of a network that
    a function has too, what another function or an earlier `y#1` stood for, and the words that made
    a leaf without a name."""
    assert ran.outcome is not None
    bindings = ran.outcome.bindings
    reached = ran.recording.names.reached(bindings)
    both = chain(named_tensors(bindings, AnyTensor), parameters(reached, AnyTensor))
    if (found := next((tensor for name, tensor in both if name == text), None)) is not None:
        return found
    asked = ran.recording.find(AskedNames)
    if asked is not None and (history := asked.tensors(text)):
        return history[-1]
    leaves = leaves_of(ran.outcome.program, ran.recording)
    found = next((leaf.tensor for leaf in leaves if leaf.name == text), None)
    return at_path(text, reached) if found is None else found


def as_in_pass(ran: Ran, of: tuple[str, ...]) -> Pass | None:
    """The last pass where --of names what it began at, with a one, and something was changed since:
    computed anew the gradients would be refused, or others."""
    one = chosen(ran.recording.passes, None)
    if one is None or ran.outcome is None or ran.error is not None or len(of) != 1:
        return None
    if len(one.roots) != 1 or one.changes == ran.recording.lines.changes:
        return None
    root, named = one.roots[0], tensor_named(of[0], ran)
    same = named is not None and node_of(named) is node_of(root) is not None
    same = same and named is not None and named.output_nr == root.output_nr
    return one if same and seed_facts(of, one.gradients)[0].is_one else None


def with_expressions(ran: Ran, of: tuple[str, ...]) -> Ran:
    """The run with what --of names beside its tensors, expressions such as z.sum() too."""
    outcome = ran.outcome
    if outcome is None or ran.error is not None:
        return ran
    known = {name for name, _ in named_tensors(outcome.bindings, AnyTensor)}
    found: dict[str, Any] = {}
    for text in of:
        if text in known:
            continue
        value: Any = tensor_named(text, ran)
        if value is None and "#" not in text and not re.fullmatch(r"[\w.]+", text):
            with outcome.again():
                value = outcome.evaluate(text, "--of")
            if not isinstance(value, AnyTensor):
                raise UsageError(f"--of {text}: its value is not a tensor")
        if value is not None:
            found[text] = value
    origins = {text: origin_of(node) for text, value in found.items()
               if (node := node_of(value)) is not None}  # fmt: skip
    made = {text: origin for text, origin in origins.items() if is_here(origin)}
    return ran._replace(outcome=outcome.with_bindings(found, made)) if found else ran


def result_of(found: Collected, of: tuple[str, ...]) -> int | None:
    """What --of names; else, of what nothing else uses, what was assigned last."""
    if len(of) > 1:
        raise UsageError("--of takes one result here", "gradcli grad FILE --of " + of[-1])
    if of:
        return index_of(of[0], found.tensors, "--of")
    unused = results(found.tensors, found.nodes)
    if not unused:
        leaves = [i for i, fact in enumerate(found.tensors)
                  if fact.requires_grad and fact.kind == "tensor"]  # fmt: skip
        return leaves[-1] if leaves else None
    return max(unused, key=lambda i: (found.tensors[i].line or 0, i))
