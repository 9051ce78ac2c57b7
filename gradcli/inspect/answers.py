"""inspect: the answers: texts for people, documents for programs, pictures for notebooks."""

from __future__ import annotations

import json as _json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..columns import pad, width_of
from .existing import named_in, quietly

if TYPE_CHECKING:
    from ..pipeline.request import Ran

PRE = "line-height:1.3;white-space:pre;overflow-x:auto"  # tables are wide, and stay tables


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
            self._text = quietly(self._text)()
        return self._text.rstrip("\n")

    __str__ = __repr__

    def to_dict(self) -> dict[str, Any]:
        """The document that `--format json` prints."""
        found: dict[str, Any] = _json.loads("".join(quietly(self._document)()))
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
        from ..render.picture.drawing import DrawOptions
        from ..render.picture.page import html

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
        widths = [max((width_of(row[place]) for row in rows), default=0) for place in range(3)]
        return "\n".join("  ".join([*map(pad, row[:3], widths), row[3]]).rstrip() for row in rows)

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


def traced(report: Any, whole: Callable[[], Any]) -> Answer:
    """The page of a graph; `whole` makes the report of its document."""
    from ..render import json, text, trace as page
    from ..render.picture import written
    from ..render.picture.drawing import DrawOptions

    look = text.Look(False, True, 100, whole=True)
    return Answer(
        lambda: page.text(report, look), lambda: json.trace(whole()),
        lambda: written(report, "svg", DrawOptions(), "auto"),
    )  # fmt: skip


def paths_between(
    ran: Ran, of: Any, wrt: Any, known: Any, before: Any = None, *, symbolic: bool
) -> Answer:
    """The chain rule between two tensors, each given by a name or itself."""
    from ..questions.paths import Options, paths_report
    from ..questions.paths.live import LivePass, recording_of, translated
    from ..questions.paths.translation import Translation
    from ..render import paths as page, text
    from ..render.json import paths as document

    assert ran.outcome is not None
    bindings = dict(ran.outcome.bindings)
    names = {id(tensor): name for name, tensor in reversed(named_in(bindings))}
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


def reason(report: Any, ran: Ran) -> Answer:
    """One verdict."""
    from ..render import text, why as page
    from ..render.json import why as document

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


def state(name: str, tensor: Any) -> Answer:
    """What can be said of a gradient without a recording."""
    from ..recording.side import NAN
    from ..recording.sides import gradient_of, nonfinite

    gradient = gradient_of(tensor)
    if not tensor.requires_grad:
        word = "frozen"
    elif gradient is None:
        word = "none"
    elif found := nonfinite(gradient):
        word = "nan" if found & NAN else "inf"
    else:
        word = "fine" if bool((gradient != 0).any()) else "zero"
    told = {"name": name, "state": word, "reason": STATES[word]}
    return Answer(f"{name}.grad: {STATES[word]}", lambda: [_json.dumps(told)], name=name,
                  verdict=word, sentence=STATES[word])  # fmt: skip
