"""inspect: the same answers from Python and in notebooks, about PyTorch's tensors.

    from gradcli import inspect

    with inspect.record() as run:
        loss = model(x).mean()
        loss.backward()
    run.trace()
    run.why("model.encoder.weight")

`inspect.trace(loss, model=net)` reads a graph that exists already. Answers print as text, show
themselves in notebooks, and `to_dict()` gives the document that `--format json` prints.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import TYPE_CHECKING, Any

from . import answers, existing
from .answers import Answer, Answers, Page
from .existing import quietly

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..pipeline.request import Ran
    from ..questions.provenance import Provenance

__all__ = ["Answer", "Answers", "Page", "Recording", "paths", "record", "trace", "why"]

_latest: list[Recording] = []  # the recording that ended last


class Recording:
    """What happened within `with record() as run:`, and the questions about it."""

    def __init__(self, frame: FrameType, *, steps: bool, reasons: bool) -> None:
        self._frame: FrameType | None = frame
        self._steps, self._reasons = steps, reasons
        self._session: Any = None
        self._thread = 0
        self._recording: Any = None
        self._provenance: Provenance | None = None
        self._error: BaseException | None = None

    # ------------------------------------------------------------ the recording

    def __enter__(self) -> Recording:
        from ..live.library import require_torch
        from ..live.own_engine import OwnRecorder, OwnSide, is_own
        from ..live.session import Session
        from ..live.side import torch_side
        from ..questions.flow import attach_flow
        from ..questions.interventions import watching
        from ..questions.picture import drawing
        from ..questions.provenance import Provenance
        from ..questions.shown_pass import keep

        if self._frame is None:
            raise RuntimeError("it has recorded already: inspect.record() makes another one")
        recording = self._recording = drawing() if self._steps else watching(values=True)
        keep(recording.passes, None)
        recording.attach(recording.buffers)
        if self._reasons:
            attach_flow(recording)
        self._provenance = Provenance(recording) if self._reasons else None
        observer: Any = recording.observer
        if is_own(self._frame):
            session = Session(self._frame, OwnSide(), observer, OwnRecorder)
        else:
            session = Session(self._frame, torch_side(require_torch("inspect.record")), observer)
        self._session, self._frame, self._thread = session, None, get_ident()
        session.recorder.passes.is_light = recording.is_light
        session.on_bind, session.on_local = recording.on_bind, recording.on_local
        with session.side.hands_off():
            recording.begin(session)
        session.begin()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if self._session is None:
            raise RuntimeError("nothing was recorded: with inspect.record() as run: ...")
        if get_ident() != self._thread:
            raise RuntimeError("a recording ends in the thread in which it began")
        self._error = error
        self._session.end(error)
        _latest[:] = [self]
        if isinstance(error, Exception):
            self._explain(error)

    def _explain(self, error: Exception) -> None:
        """What explains the error stands beneath it, where Python shows it."""
        from ..questions.why.refused import causes_of_refusal
        from ..render import error as page, text

        recorder = self._session.recorder
        if self._provenance is not None and not recorder.causes:
            recorder.causes = causes_of_refusal(self._ran(), self._provenance)
        if recorder.explained(error):
            source = self._session.program.source.text
            error.add_note(page.beneath(self._diagnostic(), source, text.Look(False, True, 80)))

    # ------------------------------------------------------------ the questions

    @quietly
    def trace(self, *of: str) -> Answer:
        """The graph of the last pass, and the tensors; `of` names results to draw instead."""
        from ..questions.trace import Options, trace_report

        ran = self._ran()
        return answers.traced(
            trace_report(ran, Options(of)), lambda: trace_report(ran, Options(of, texts=False))
        )

    @quietly
    def why(self, question: Any = None) -> Answer | Answers:
        """Why a gradient is as it is: of a name, a tensor, a module's parameters, or all leaves."""
        from ..questions.question import Question
        from ..questions.why import reported
        from ..questions.why.all_leaves import every_leaf
        from ..recording.holding import asked_tensors
        from ..recording.sides import AnyTensor

        ran = self._ran()
        assert ran.outcome is not None
        if self._provenance is None:
            raise RuntimeError("reasons were not recorded: inspect.record(reasons=True)")
        whole, provenance = self._session.is_whole, self._provenance
        if isinstance(question, str):
            return answers.reason(reported(ran, provenance, question, is_whole=whole), ran)
        if question is None:
            asked = every_leaf(ran, provenance)
        else:
            names: dict[int, str] = {}
            for name, tensor in existing.named_in(ran.outcome.bindings):
                names.setdefault(id(tensor), name)
            asked = [
                Question(names.get(id(tensor), called), tensor, None)
                for tensor, called in asked_tensors(question)
            ]
        found = Answers(
            answers.reason(reported(ran, provenance, one, is_whole=whole), ran) for one in asked
        )
        is_one = isinstance(question, (AnyTensor, int, float))
        return found[0] if is_one else found

    @quietly
    def flow(self, number: int | None = None) -> Answer:
        """The training at a glance: passes, leaves, what is wrong; or the gradients of one pass."""
        from ..questions.flow import flow_report
        from ..render import flow as page, text
        from ..render.json import flow as document

        if not self._reasons:
            raise RuntimeError("the flow was not recorded: inspect.record(reasons=True)")
        report = flow_report(self._ran(), number)
        return Answer(page.text(report, text.Look(False, True, 100)), lambda: document.flow(report))

    @quietly
    def paths(self, of: Any, wrt: Any, *, symbolic: bool = False) -> Answer:
        """The chain rule from a result to a tensor, path by path; each a name or a tensor.

        Of a graph that a pass has dropped it shows the values that the last pass had.
        """
        known: Any = self._provenance.passes.every_node() if self._provenance else {}
        return answers.paths_between(self._ran(), of, wrt, known, self._before(), symbolic=symbolic)

    def _before(self) -> Callable[[Any], Any]:
        """What gives a tensor as it was in the last pass."""
        from ..live.large import Before
        from ..live.side import TorchSide

        kept = self._recording.passes.kept
        is_live = bool(kept) and isinstance(self._session.side, TorchSide)
        return Before(kept[max(kept)].leaves.values() if is_live else ())

    @quietly
    def show(self, *of: str) -> Page:
        """The page of the last pass, with the program beside the graph."""
        from ..questions.trace import Options, trace_report

        ran = self._ran()
        return Page(ran.text, trace_report(ran, Options(of, detail=True)))

    @quietly
    def knows(self, model: Any) -> bool:
        """Whether a name held this model while it was recorded."""
        if self._session is None:
            return False
        from ..recording.holding import asked_tensors

        held = {id(tensor) for _, tensor in existing.named_in(self._session.outcome().bindings)}
        return any(id(tensor) in held for tensor, _ in asked_tensors(model))

    def _ran(self) -> Ran:
        if self._session is None:
            raise RuntimeError("nothing was recorded: with inspect.record() as run: ...")
        error = None if self._error is None else self._diagnostic()
        return existing.ran_of(
            self._session.program, self._session.outcome(), error, self._recording
        )

    def _diagnostic(self) -> Diagnostic:
        """The error of the program at its place."""
        from ..live.failures import diagnostic_of

        error: Any = self._error
        return diagnostic_of(error, self._session.text, self._session.recorder.explained(error))


def record(*, reasons: bool = True, steps: bool = False) -> Recording:
    """Use it in a `with` statement around the forward and the backward pass.

    `reasons` keeps what `why` asks for, `steps` every local derivative for the picture.
    """
    return Recording(sys._getframe(1), steps=steps, reasons=reasons)


def trace(*tensors: Any, model: Any = None, **named: Any) -> Answer:
    """The graph behind tensors that are there already, with the names of a model's parameters."""
    from ..questions.trace import Options, trace_report

    ran = existing.run_of(sys._getframe(1), tensors, model, named)
    report = quietly(lambda: trace_report(ran, Options()))()
    return answers.traced(report, lambda: trace_report(ran, Options(texts=False)))


def paths(of: Any, wrt: Any, *, symbolic: bool = False) -> Answer:
    """The chain rule between two tensors of a graph that is there already."""
    ran = existing.run_of(sys._getframe(1), (of, wrt), None, {})
    return quietly(answers.paths_between)(ran, of, wrt, {}, symbolic=symbolic)


def why(model: Any) -> Answer | Answers:
    """The gradient of each parameter of a model; with reasons where the last recording knows it."""
    known = _latest[0] if _latest else None
    if known is not None and known.knows(model):
        return known.why(model)
    ran = existing.run_of(sys._getframe(1), (), model, {})
    assert ran.outcome is not None
    named = existing.named_in(ran.outcome.bindings)
    return Answers(quietly(answers.state)(name, tensor) for name, tensor in named)


class _Cell:
    """A cell of a notebook, as the frame that will run it."""

    f_lineno = 0

    class _Code:
        def __init__(self, filename: str) -> None:
            self.co_filename = filename

    def __init__(self, filename: str, names: dict[str, Any]) -> None:
        self.f_code = self._Code(filename)
        self.f_globals = self.f_locals = names


def load(shell: Any) -> None:
    """Gives a notebook `%%grad`: it runs the cell, shows the trace, and leaves `run` behind."""

    def grad(line: str, cell: str) -> Answer:
        __tracebackhide__ = True  # a notebook shows the frames of its cell
        text = shell.transform_cell(cell)
        number = len(shell.user_ns.get("In", "  ")) - 1
        filename = shell.compile.cache(text, number)
        compile(text, filename, "exec")  # a syntax error is reported as in any cell
        frame: Any = _Cell(filename, shell.user_ns)
        recording = shell.user_ns["run"] = Recording(frame, steps=False, reasons=True)
        with recording:
            exec(recording._session.code(), shell.user_ns)
        return recording.trace()

    shell.register_magic_function(grad, "cell", "grad")
