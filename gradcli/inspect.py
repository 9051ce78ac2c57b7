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

import ast
import json as _json
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diagnostics import Diagnostic
    from .pipeline.request import Ran
    from .questions.why.provenance import Provenance

__all__ = ["Answer", "Answers", "Page", "Recording", "paths", "record", "trace", "why"]

PRE = "line-height:1.3;white-space:pre;overflow-x:auto"  # tables are wide, and stay tables
_latest: list[Recording] = []  # the recording that ended last


class Answer:
    """An answer: text for people, a document for programs, a picture where there is one."""

    name: str
    verdict: str
    sentence: str
    lines: tuple[int, ...]

    def __init__(
        self, text: str | Callable[[], str], document: Callable[[], Iterable[str]],
        picture: Callable[[], Iterable[str]] | None = None, **facts: Any,
    ) -> None:  # fmt: skip
        self._text, self._document, self._picture = text, document, picture
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        if not isinstance(self._text, str):
            self._text = self._text()
        return self._text.rstrip("\n")

    __str__ = __repr__

    def to_dict(self) -> dict[str, Any]:
        """The document that `--format json` prints."""
        found: dict[str, Any] = _json.loads("".join(self._document()))
        return found

    def _repr_html_(self) -> str:
        from html import escape

        picture = "" if self._picture is None else "".join(self._picture())
        picture = picture.partition("?>")[2] or picture  # what XML begins with is no HTML
        return f"{picture}<pre style='{PRE}'>{escape(repr(self))}</pre>"


class Page:
    """A page with a picture: it displays itself in notebooks, in a frame."""

    def __init__(self, source: str, report: Any) -> None:
        self._source, self._report = source, report

    def html(self) -> str:
        """The page: one file that needs no network."""
        from .render.picture.drawing import DrawOptions
        from .render.picture.page import html

        return "".join(html(self._source, [self._report], DrawOptions(), "auto"))

    def save(self, path: str) -> None:
        """Writes it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def __repr__(self) -> str:
        return "a page: save('page.html') writes it, a notebook shows it"

    def _repr_html_(self) -> str:
        from html import escape

        inner = escape(self.html(), quote=True)
        return f"<iframe style='width:100%;height:640px;border:0' srcdoc=\"{inner}\"></iframe>"


class Answers(list[Answer]):
    """One for each parameter: a line of the list, and each with its reason in full."""

    def __repr__(self) -> str:
        rows = [(one.name, one.verdict, _lines(one), one.sentence) for one in self]
        widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
        return "\n".join(
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)),
                       row[3]]).rstrip()
            for row in rows
        )  # fmt: skip

    __str__ = __repr__

    def to_dict(self) -> list[dict[str, Any]]:
        """Their documents."""
        return [one.to_dict() for one in self]

    def _repr_html_(self) -> str:
        from html import escape

        rows = (f"<details><summary><code>{escape(one.name)}</code> {escape(one.verdict)}</summary>"
                f"{one._repr_html_()}</details>" for one in self)  # fmt: skip
        return "".join(rows)


def _lines(answer: Answer) -> str:
    lines = getattr(answer, "lines", ())
    return "line " + ", ".join(map(str, lines)) if lines else ""


class Recording:
    """What happened within `with record() as run:`, and the questions about it."""

    def __init__(self, frame: FrameType, *, steps: bool, reasons: bool) -> None:
        self._frame: FrameType | None = frame
        self._steps, self._reasons = steps, reasons
        self._session: Any = None
        self._recording: Any = None
        self._provenance: Provenance | None = None
        self._error: BaseException | None = None

    # ------------------------------------------------------------ the recording

    def __enter__(self) -> Recording:
        from .live.library import require_torch
        from .live.own_engine import OwnRecorder, OwnSide, is_own
        from .live.session import Session
        from .live.side import torch_side
        from .questions.flow import attach_flow
        from .questions.interventions import watching
        from .questions.picture import drawing
        from .questions.shown_pass import keep
        from .questions.why.provenance import Provenance

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
        self._session, self._frame = session, None
        session.recorder.passes.is_light = recording.is_light
        session.on_bind, session.on_local = recording.on_bind, recording.on_local
        with session.side.hands_off():
            recording.begin(session)
        session.begin()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._error = error
        self._session.end(error)
        _latest[:] = [self]
        if isinstance(error, Exception):
            self._explain(error)

    def _explain(self, error: Exception) -> None:
        """What explains the error stands beneath it, where Python shows it."""
        from .questions.why.refused import causes_of_refusal
        from .render import error as page, text

        recorder = self._session.recorder
        if self._provenance is not None and not recorder.causes:
            recorder.causes = causes_of_refusal(self._ran(), self._provenance)
        if recorder.explained(error):
            source = self._session.program.source.text
            error.add_note(page.beneath(self._diagnostic(), source, text.Look(False, True, 80)))

    # ------------------------------------------------------------ the questions

    def trace(self, *of: str) -> Answer:
        """The graph of the last pass, and the tensors; `of` names results to draw instead."""
        from .questions.trace import Options, trace_report

        ran = self._ran()
        return _traced(
            trace_report(ran, Options(of)), lambda: trace_report(ran, Options(of, texts=False))
        )

    def why(self, question: Any = None) -> Answer | Answers:
        """Why a gradient is as it is: of a name, a tensor, a module's parameters, or all leaves."""
        from .questions.question import Question
        from .questions.why import reported
        from .questions.why.all_leaves import every_leaf
        from .recording.holding import asked_tensors
        from .recording.sides import AnyTensor

        ran = self._ran()
        assert ran.outcome is not None
        if self._provenance is None:
            raise RuntimeError("reasons were not recorded: inspect.record(reasons=True)")
        whole, provenance = self._session.is_whole, self._provenance
        if isinstance(question, str):
            return _reason(reported(ran, provenance, question, is_whole=whole), ran)
        if question is None:
            asked = every_leaf(ran, provenance)
        else:
            names: dict[int, str] = {}
            for name, tensor in _named(ran.outcome.bindings):
                names.setdefault(id(tensor), name)
            asked = [
                Question(names.get(id(tensor), called), tensor, None)
                for tensor, called in asked_tensors(question)
            ]
        answers = Answers(
            _reason(reported(ran, provenance, one, is_whole=whole), ran) for one in asked
        )
        is_one = isinstance(question, (AnyTensor, int, float))
        return answers[0] if is_one else answers

    def flow(self, number: int | None = None) -> Answer:
        """The training at a glance: passes, leaves, what is wrong; or the gradients of one pass."""
        from .questions.flow import flow_report
        from .render import flow as page, text
        from .render.json import flow as document

        if not self._reasons:
            raise RuntimeError("the flow was not recorded: inspect.record(reasons=True)")
        report = flow_report(self._ran(), number)
        return Answer(page.text(report, text.Look(False, True, 100)), lambda: document.flow(report))

    def paths(self, of: Any, wrt: Any, *, symbolic: bool = False) -> Answer:
        """The chain rule from a result to a tensor, path by path; each a name or a tensor.

        Of a graph that a pass has dropped it shows the values that the last pass had.
        """
        known: Any = self._provenance.passes.every_node() if self._provenance else {}
        return _paths(self._ran(), of, wrt, known, self._before(), symbolic=symbolic)

    def _before(self) -> Callable[[Any], Any]:
        """What gives a tensor as it was in the last pass."""
        from .live.large import Before
        from .live.side import TorchSide

        kept = self._recording.passes.kept
        is_live = bool(kept) and isinstance(self._session.side, TorchSide)
        return Before(kept[max(kept)].leaves.values() if is_live else ())

    def show(self, *of: str) -> Page:
        """The page of the last pass, with the program beside the graph."""
        from .questions.trace import Options, trace_report

        ran = self._ran()
        return Page(ran.text, trace_report(ran, Options(of, detail=True)))

    def knows(self, model: Any) -> bool:
        """Whether a name held this model while it was recorded."""
        if self._session is None:
            return False
        from .recording.holding import asked_tensors

        held = {id(tensor) for _, tensor in _named(self._session.outcome().bindings)}
        return any(id(tensor) in held for tensor, _ in asked_tensors(model))

    def _ran(self) -> Ran:
        if self._session is None:
            raise RuntimeError("nothing was recorded: with inspect.record() as run: ...")
        error = None if self._error is None else self._diagnostic()
        return _ran(self._session.program, self._session.outcome(), error, self._recording)

    def _diagnostic(self) -> Diagnostic:
        """The error of the program at its place."""
        from .live.failures import diagnostic_of

        error: Any = self._error
        return diagnostic_of(error, self._session.text, self._session.recorder.explained(error))


def record(*, reasons: bool = True, steps: bool = False) -> Recording:
    """Use it in a `with` statement around the forward and the backward pass.

    `reasons` keeps what `why` asks for, `steps` every local derivative for the picture.
    """
    return Recording(sys._getframe(1), steps=steps, reasons=reasons)


def trace(*tensors: Any, model: Any = None, **named: Any) -> Answer:
    """The graph behind tensors that are there already, with the names of a model's parameters."""
    from .questions.trace import Options, trace_report

    ran = _existing(sys._getframe(1), tensors, model, named)
    return _traced(trace_report(ran, Options()), lambda: trace_report(ran, Options(texts=False)))


def paths(of: Any, wrt: Any, *, symbolic: bool = False) -> Answer:
    """The chain rule between two tensors of a graph that is there already."""
    ran = _existing(sys._getframe(1), (of, wrt), None, {})
    return _paths(ran, of, wrt, {}, symbolic=symbolic)


def why(model: Any) -> Answer | Answers:
    """The gradient of each parameter of a model; with reasons where the last recording knows it."""
    known = _latest[0] if _latest else None
    if known is not None and known.knows(model):
        return known.why(model)
    ran = _existing(sys._getframe(1), (), model, {})
    assert ran.outcome is not None
    return Answers(_state(name, tensor) for name, tensor in _named(ran.outcome.bindings))


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


# ---------------------------------------------------------------- answers


def _traced(report: Any, whole: Callable[[], Any]) -> Answer:
    from .render import json, text, trace as page
    from .render.picture import written
    from .render.picture.drawing import DrawOptions

    look = text.Look(False, True, 100, whole=True)
    return Answer(
        lambda: page.text(report, look), lambda: json.trace(whole()),
        lambda: written(report, "svg", DrawOptions(), "auto"),
    )  # fmt: skip


def _paths(
    ran: Ran, of: Any, wrt: Any, known: Any, before: Any = None, *, symbolic: bool
) -> Answer:
    from .questions.paths import Options, paths_report
    from .questions.paths.live import LivePass, recording_of, translated
    from .questions.paths.translation import Translation
    from .render import paths as page, text
    from .render.json import paths as document

    assert ran.outcome is not None
    bindings = dict(ran.outcome.bindings)
    names = {id(tensor): name for name, tensor in reversed(_named(bindings))}
    asked = []
    for word, one in (("of", of), ("wrt", wrt)):
        name = one if isinstance(one, str) else names.get(id(one), word)
        if not isinstance(one, str):
            bindings.setdefault(name, one)
        asked.append(name)
    live = LivePass(None, stops=False)
    live.translation = Translation(known, before)
    outcome = ran.outcome.with_bindings(bindings)
    ran = ran._replace(outcome=outcome, heard=recording_of(live), error=None)
    ran = translated(ran, (asked[0],), (asked[1],))
    ran, report = paths_report(ran, Options((asked[0],), (asked[1],), formula=symbolic))
    if ran.error is not None:
        raise RuntimeError(ran.error.message)
    return Answer(page.text(report, text.Look(False, True, 100)), lambda: document.paths(report))


def _reason(report: Any, ran: Ran) -> Answer:
    from .render import text, why as page
    from .render.json import why as document

    look = text.Look(False, True, 80)
    return Answer(
        page.text(report, ran.text, look), lambda: document.why(report),
        name=report.name, verdict=report.verdict, lines=report.lines, sentence=report.sentence,
    )  # fmt: skip


STATES = {
    "frozen": "requires_grad is False",
    "none": "None: no gradient came to it; a recording knows why: with inspect.record() as run",
    "nan": "NaN",
    "inf": "infinity",
    "zero": "zero",
    "fine": "fine",
}


def _state(name: str, tensor: Any) -> Answer:
    """What can be said of a gradient without a recording."""
    from .recording.sides import bad, gradient_of

    gradient = gradient_of(tensor)
    if not tensor.requires_grad:
        word = "frozen"
    elif gradient is None:
        word = "none"
    elif wrong := bad(gradient):
        word = "nan" if wrong & 1 else "inf"
    else:
        word = "fine" if bool((gradient != 0).any()) else "zero"
    told = {"name": name, "state": word, "reason": STATES[word]}
    return Answer(f"{name}.grad: {STATES[word]}", lambda: [_json.dumps(told)], name=name,
                  verdict=word, sentence=STATES[word])  # fmt: skip


# ---------------------------------------------------------------- names


def _ran(program: Any, outcome: Any, error: Any, recording: Any) -> Ran:
    from .pipeline.request import Ran, Request

    source = program.source
    request = Request(source.text.encode(), source.name, engine="torch")
    return Ran(request, program, source.text, outcome, [], (), error, heard=recording)


def _existing(frame: FrameType, tensors: Any, model: Any, named: dict[str, Any]) -> Ran:
    """What is there, by the words of the call."""
    from .language.interpreter import Outcome
    from .live.session import program_of
    from .live.text import Text
    from .questions.picture import drawing
    from .recording.leaf_names import other_leaves
    from .recording.sides import AnyTensor

    program = program_of(frame)
    tree = program.tree
    call = Text(program.source, tree, frame.f_code.co_filename).spot(frame).node
    words = [ast.unparse(part) for part in call.args] if isinstance(call, ast.Call) else []
    given = {k.arg: ast.unparse(k.value) for k in getattr(call, "keywords", ()) if k.arg}
    if len(words) != len(tensors) + (not tensors and model is not None and "model" not in given):
        words = [f"tensor_{place}" for place in range(len(tensors))]
    bindings = dict(zip(words, tensors, strict=False))
    if model is not None:
        _make_known(model)
        bindings[given.get("model", words[-1] if words and not tensors else "model")] = model
    bindings.update(named)
    for value in bindings.values():
        _make_known(value)
    for one in tensors:
        if not isinstance(one, AnyTensor):
            raise TypeError(f"expected a tensor, not {type(one)}")
    bindings |= other_leaves(tensors, bindings, {**frame.f_globals, **frame.f_locals})
    outcome = Outcome(program, bindings, [], None, 0, {})
    return _ran(program, outcome, None, drawing())


def _make_known(value: Any) -> None:
    """PyTorch's tensors count as tensors once one is asked about."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, (torch.Tensor, torch.nn.Module)):
        from .live.side import torch_side

        torch_side(torch)


def _named(bindings: Any) -> list[tuple[str, Any]]:
    from .recording import holding
    from .recording.sides import AnyTensor

    named = dict(holding.named_tensors(bindings, AnyTensor))
    plain = {name: tensor for name, tensor in named.items() if "[" not in name}
    return list((plain | dict(holding.parameters(bindings, AnyTensor)) | named).items())
