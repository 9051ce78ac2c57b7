"""Questions: `gradcli grad --order` and `--mode`: Jacobians and Hessians, by names, both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

from ...diagnostics import Diagnostic
from ...opening import UsageError
from ...pipeline.prepared import prepared
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...pipeline.values import grad_output
from ...recording.below import leaves_below
from ...recording.collect import Collected
from ...recording.facts import GradientFact, GradReport, TensorFact
from ...recording.facts.derivatives import DerivativesFact
from ...recording.numbers import numbers, text_of
from ...recording.sides import AnyTensor, edge_of, is_live, node_of
from ...recording.snapshot import as_tensor
from ..check.numeric.tape import Tape, Unrepeatable, recording
from ..errors import error_fact
from ..grad import FAILURES, NOTHING_REQUIRES_GRAD, Wanted, failure, named_in
from ..grad_pass import root_of
from ..graph import collected
from ..interventions import Interventions, complain, watching
from ..ledger import tensor_names
from ..meaning import result_of, with_expressions
from ..shown_pass import chosen, keep, root_nodes
from .compared import agreement
from .matrices import Axis, blocks, hessians, jacobian_of
from .modes import Derivatives, by_forward, by_reverse, by_the_graph, filled, on_tape

MOST = 1_000_000  # derivatives


class Options(NamedTuple):
    """What is differentiated, with respect to what, how often and in which mode."""

    of: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()
    grad_output: str | None = None
    order: int | None = None
    mode: str | None = None
    number: int | None = None  # of a pass of the program
    texts: bool = True


class Recorded(NamedTuple):
    """A run, and the operations that it put into the graph."""

    ran: Ran
    tape: Tape


def recorded(
    request: Request,
    write: Callable[[str], None] | None,
    interventions: Interventions,
    options: Options,
) -> Recorded:
    """The run whose result is differentiated."""
    tape = Tape()
    watched = watching(interventions, values=True)
    keep(watched.passes, options.number)
    with recording(tape):
        return Recorded(execute(request, write, watched), tape)


def derivatives_report(done: Recorded, options: Options) -> tuple[Ran, GradReport]:
    """Matrices, or the gradients of a single number; an error ends up in what is returned."""
    ran = done.ran
    report = GradReport(ran.request.name, ran.request.device, None, "", output=ran.output,
                        warnings=ran.warnings)  # fmt: skip
    if ran.outcome is None or ran.error is not None:
        return ran, report._replace(error=error_fact(ran.error))
    with prepared(ran.request), recording(done.tape):
        ran = with_expressions(ran, options.of)
    result = _result(ran, options)
    if result is None:
        message = "no result requires grad: nothing to differentiate"
        error = Diagnostic("RuntimeError", message, (), (NOTHING_REQUIRES_GRAD,), ran.request.name)
        return ran._replace(error=error), report._replace(error=error_fact(error))
    fact, tensor, text, found = result
    report = report._replace(of=fact, of_text=text)
    try:
        with prepared(ran.request):
            report = _Derivation(done._replace(ran=ran), options, fact, tensor, found).answered(
                report
            )
    except FAILURES as raised:
        error = failure(raised, fact.name, fact.shape, fact.line, ran)
        return ran._replace(error=error), report._replace(error=error_fact(error))
    complain(ran.recording)
    return ran, report._replace(output=ran.output)


def _result(ran: Ran, options: Options) -> tuple[TensorFact, Any, str, Collected] | None:
    """What --of names, else the root of the pass, else what nothing else uses."""
    assert ran.outcome is not None
    one = None if options.of else chosen(ran.recording.passes, options.number)
    if one is None:
        found = collected(ran.outcome, texts=False, recording=ran.recording)
        at = result_of(found, options.of)
        if at is None:
            return None
        return found.tensors[at], found.held[at], repr(found.held[at]), found
    roots = root_nodes(one)
    found = collected(ran.outcome, texts=False, roots=roots, recording=ran.recording)
    fact, text = root_of(ran, one, found)
    return fact, one.roots[0], text, found


class _Derivation:
    """One result and the tensors that it is differentiated by."""

    def __init__(
        self, done: Recorded, options: Options, of: TensorFact, tensor: Any, found: Collected
    ) -> None:
        self.ran, self.tape, self.options = done.ran, done.tape, options
        self.of, self.tensor, self.found = of, tensor, found
        self.notes: list[str] = []
        self.wanted = list(self._wanted())
        self.tensors = [item.tensor for item in self.wanted]
        self.seed = self._seed()
        label = of.name if self.seed is None else f"({options.grad_output} * {of.name}).sum()"
        self.axis = Axis(label, () if self.seed is not None else tuple(tensor.shape))
        self.axes = [Axis(item.name, tuple(item.tensor.shape)) for item in self.wanted]

    def answered(self, report: GradReport) -> GradReport:
        """The matrices; without --order the gradients of a single number."""
        order = self.options.order or 1
        self._bound(order)
        mode = self.options.mode or "reverse"
        found = self._derivatives(mode, order)
        one = found.get("reverse") or found["forward"]
        told = DerivativesFact(order, mode, notes=tuple(self.notes))
        if len(found) == 2:
            both = found["forward"], found["reverse"]
            told = told._replace(agreement=agreement(*both, self.axis, self.axes))
        if self.options.order is None and not self.axis.shape:
            facts = tuple(self._gradients(one))
            return report._replace(gradients=facts, derivatives=told)
        texts = self.options.texts
        told = told._replace(
            jacobian=jacobian_of(one.first, self.axis, self.axes, texts=texts),
            blocks=blocks(one.first, self.axes),
        )
        if order > 1:
            told = told._replace(
                hessians=hessians(one.second, self.axis, self.axes, texts=texts),
                second=tuple(block for row, axis in zip(one.second, self.axes, strict=True)
                             for block in blocks(row, self.axes, axis.name)),
            )  # fmt: skip
        return report._replace(derivatives=told)

    def _derivatives(self, mode: str, order: int) -> dict[str, Derivatives]:
        """In each requested mode."""
        if is_live(self.tensor):
            if mode != "reverse":
                raise UsageError(f"--mode {mode}: PyTorch's own graph can only be walked back",
                                 "--engine own has forward mode")  # fmt: skip
            return {"reverse": by_the_graph(self.tensor, self.tensors, self.seed, order)}
        try:
            function, inputs = on_tape(self.tape, self.tensor, self.tensors, self.seed)
        except Unrepeatable as error:
            if mode != "reverse":
                raise RuntimeError(f"there is no forward mode here: {error}") from None
            return {"reverse": by_the_graph(self.tensor, self.tensors, self.seed, order)}
        if self.ran.recording.hooks.has_changes:
            self.notes.append("the program's hooks are left out: these are the derivatives of "
                              "what was computed")  # fmt: skip
        ways = {"forward": by_forward, "reverse": by_reverse}
        modes = ways if mode == "both" else (mode,)
        shape = self.axis.shape
        return {name: filled(ways[name], function, inputs, order, shape) for name in modes}

    def _gradients(self, found: Derivatives) -> Iterator[GradientFact]:
        """As `gradcli grad` prints them."""
        for item, block in zip(self.wanted, found.first, strict=True):
            shape = tuple(item.tensor.shape)
            dtype = str(item.tensor.dtype).removeprefix("torch.")
            gradient = as_tensor(block.reshape(shape))
            yield GradientFact(item.name, item.line, shape, dtype, numbers(gradient),
                               text_of(gradient), item.reason)  # fmt: skip

    # ---- with respect to what

    def _wanted(self) -> Iterator[Wanted]:
        if self.options.wrt:
            for name in self.options.wrt:
                item = named_in(name, self.ran, self.found, self.of)
                if not item.tensor.requires_grad:
                    raise UsageError(f"--wrt {name}: {item.reason}")
                if item.reason:
                    self.notes.append(f"{item.reason}: its derivatives are zeros")
                yield item
            return
        names = tensor_names(self.ran, self.found)
        known = {id(tensor): place for place, tensor in enumerate(self.found.held)}
        leaves = leaves_below([edge_of(self.tensor)])
        assert self.ran.outcome is not None
        taken = {name for name, bound in self.ran.outcome.bindings.items()
                 if isinstance(bound, AnyTensor) and node_of(bound) is not None}  # fmt: skip
        for leaf in sorted(leaves, key=lambda leaf: known.get(id(leaf), len(known))):
            name, line = names(leaf)
            if name in taken:
                name = self.ran.recording.names.numbered(leaf) or name
            taken.add(name)
            yield Wanted(name, leaf, line)

    def _seed(self) -> Any:
        text = self.options.grad_output
        return None if text is None else grad_output(text, self.tensor)

    def _bound(self, order: int) -> None:
        rows, columns = prod(self.axis.shape), sum(axis.size for axis in self.axes)
        count = rows * columns**order
        if count > MOST:
            what = "Jacobian" if order == 1 else "Hessian"
            raise UsageError(
                f"the {what} of {self.of.name} has {count:,} elements, more than {MOST:,}",
                "--wrt NAMES asks for fewer tensors, --of for a smaller result",
            )
