"""Questions: the run as far as a pass, where nothing that a graph needs was changed yet.

An optimizer's step changes in place what the graph was computed from, and PyTorch then refuses to
go back through it. The program runs again, and stops behind the pass.
"""

from __future__ import annotations

from collections.abc import Callable

from ..engine.graph.node import Node
from ..engine.schema.run_state import as_new
from ..engine.tensors.saved import is_outdated
from ..opening import UsageError
from ..pipeline.request import Ran
from ..recording.below import nodes_below
from ..recording.sides import is_live, node_of
from .graph import collected
from .meaning import result_of, with_expressions
from .shown_pass import Stop, passes_there


def unchanged(
    ran: Ran, of: tuple[str, ...], number: int | None, again: Callable[[Stop], Ran]
) -> Ran:
    """The run with what --of names. If the program changed what that was computed from, and with
    the number of a pass, it is another run, which `again` began and which stopped behind a pass."""
    passes = ran.recording.passes
    if number is not None and number > passes.count and ran.error is None:
        raise UsageError(f"--pass {number}: {passes_there(passes.count)}")
    if ran.error is not None or not passes.count or not ran.recording.lines.changes:
        return ran
    if ran.request.engine == "torch":  # what a program does may not be done twice
        if number is None:
            return ran
        raise UsageError("--of and --pass: PyTorch's run is not repeated up to a pass",
                         "without --of the answer is about the pass; without --pass --of is "
                         "computed at the end")  # fmt: skip
    made = passes.nodes  # what --of evaluates comes behind them
    ran = with_expressions(ran, of)
    name, nodes = _graph_of(ran, of, made)
    if number is None and not nodes:
        return ran
    stop = Stop(number, passes.count, 0 if number else nodes)
    try:
        with as_new():
            stopped = with_expressions(again(stop), of)
    except UsageError:  # a name that the program binds later
        return ran
    one = stop.behind
    if one is None or stopped.error is not None:
        return ran
    notes = ran.notes
    if number is None:
        said = "later the program changed in place what it was computed from"
        notes = (*notes, f"{name} is as it was after pass {one.number}: {said}")
    return stopped._replace(
        printed=ran.printed, warnings=ran.warnings, warning_places=ran.warning_places, notes=notes
    )


def _graph_of(ran: Ran, of: tuple[str, ...], made: int) -> tuple[str, int]:
    """The result's name; how many nodes the program had made when its graph was whole, and 0 if
    nothing that the graph saved was changed since."""
    assert ran.outcome is not None
    found = collected(ran.outcome, texts=False, recording=ran.recording)
    at = result_of(found, of)
    if at is None or is_live(found.held[at]):
        return "", 0
    below = list(nodes_below([node_of(found.held[at])]))
    first = ran.recording.passes.first_node
    numbers = [node.sequence - first + 1 for node in below if type(node) is Node]
    stale = any(map(is_outdated, below))
    return found.tensors[at].name, max((n for n in numbers if stale and n <= made), default=0)
