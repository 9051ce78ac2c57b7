"""commands: `gradcli ops`: the operators, their signatures, derivatives, nodes, saved tensors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..opening import UsageError
from ..options import ANSWER, OUTPUT, Command, Option, choice, one_of, several, under
from ..output import save
from .environment import Environment, guarded
from .pages import as_shared

if TYPE_CHECKING:
    from ..recording.facts.operators import CatalogueFact, OperatorFact

FACES = ("all", "torch", "method", "functional", "linalg", "special", "fft", "signal.windows",
         "sparse", "hidden")  # fmt: skip

MOST_DETAILED = 4  # operators that some words find: more are listed, a line each
WIDE = 10_000  # columns: nothing is cut in a pipe or a file


class Arguments(NamedTuple):
    """The options of ops."""

    names: list[str]
    filters: list[str]
    face: str
    format: str
    out: str | None
    quiet: int
    color: str
    wide: bool
    no_pager: bool


COMMAND = Command(
    "ops",
    """List the operators, or describe one in detail.

    Signatures, formulas, derivatives, grad_fn names, saved tensors, types, what
    happens at ties and zeros, and an example that runs.

    \b
    gradcli ops                   all of them, a line each
    gradcli ops tanh              everything about one, with an example
    gradcli ops TanhBackward0     the operator that makes this node
    gradcli ops @                 the operator of a symbol; nn.Linear: of a layer
    gradcli ops "arc cosine"      operators that match these words, best first
    gradcli ops 'relu*'           operators whose names match, a line each
    gradcli ops --filter softmax  operators that concern a word
    """,
    Arguments,
    (
        Option("names", (), "Operators: sin, torch.sin, F.relu, add_, SinBackward0; patterns: "
               "'log*'.", (), many=True, metavar="[NAME]...", kind="operator"),
        several("filters", "--filter", help="Only those whose names, nodes or description contain "
                "the word.", metavar="WORD"),
        Option("face", ("--face",), f"Only those of one namespace: {', '.join(FACES[1:])}.", "all",
               one_of(*FACES), metavar="FACE", show_default=True, among=FACES),
        *under(OUTPUT, choice(
            "format", "--format", "-f", of=("text", "json", "markdown"), default="text",
            help="Text for people, JSON for programs, Markdown for a reference: one page, or "
            "where --out is a folder a page for each group.",
        )),
        *ANSWER,
    ),
)  # fmt: skip


def command(asked: Arguments) -> int:
    """Lists operators, or describes some; returns the exit code."""

    def body(env: Environment) -> int:
        facts = _catalogue_fact(asked)
        if asked.format == "json":
            from ..render.json.ops import ops

            env.answer(ops(facts))
        elif asked.format == "markdown":
            from ..render import ops_pages as reference

            if asked.out is not None and os.path.isdir(asked.out):
                for name, pieces in reference.pages(facts).items():
                    save(os.path.join(asked.out, name), pieces)
                return 0
            env.answer(reference.markdown(facts))
        else:
            from ..render import ops as page

            at_terminal = sys.stdout.isatty() and asked.out is None
            look = env.look if at_terminal else env.look._replace(width=WIDE)
            env.answer(page.text(facts, look))
        env.save()
        return 0

    common = as_shared(
        asked.out, asked.format, asked.quiet, asked.color, asked.wide, asked.no_pager
    )
    return guarded(common, body)


def _catalogue_fact(asked: Arguments) -> CatalogueFact:
    """The requested operators: those named in detail, those that fit a pattern a line each."""
    from ..questions.ops.rows import is_pattern, matching
    from ..recording.facts.operators import CatalogueFact

    face = None if asked.face == "all" else asked.face
    found = list(_named(asked, face) if asked.names else matching(asked.filters, face))
    if not found:
        words = " ".join([*asked.filters, *([face] if face else [])])
        raise UsageError(f"no operator matches {words!r}", "gradcli ops")
    markdown = asked.format == "markdown"
    several = len(found) > max(MOST_DETAILED, len(asked.names))
    detailed = markdown or not (several or all(map(is_pattern, asked.names or ["*"])))
    facts = CatalogueFact(tuple(dict.fromkeys(found)), detailed, tuple(asked.names))
    if not detailed:
        return facts
    from ..questions.ops.detail import detail

    return detail(facts, examples=not markdown)


def _named(asked: Arguments, face: str | None) -> Iterable[OperatorFact]:
    """The operators of each name and pattern; UsageError where there is none."""
    from ..questions.ops.rows import fitting, is_pattern, matching, named, near

    found: list[OperatorFact] = []
    alone = len(asked.names) == 1
    for name in asked.names:
        facts = fitting(name) if is_pattern(name) else named(name)
        if not facts and (alone or " " in name):
            facts = _in_words(name)
        facts = tuple(fact for fact in facts if face in (None, fact.face))
        if not facts and len(asked.names) > 1 and face is None:
            facts = _in_words(" ".join(asked.names))
            if facts:
                return facts
        if not facts:
            close = () if " " in name else near(name)
            told = bool(matching([name], face))
            raise UsageError(_unknown(name, close), _advice(name, close, told))
        found += facts
    return found


def _in_words(text: str) -> tuple[OperatorFact, ...]:
    """Words are a name ("cross entropy"), or what an operator does ("arc cosine")."""
    from ..questions.ops.rows import named
    from ..questions.ops.search import by_words

    return named("_".join(text.split())) or by_words(text)


def _advice(name: str, close: tuple[str, ...], told: bool) -> str:
    """Where to look: among those that speak of the word, at the nearest name, in the list."""
    if told:
        return f"gradcli ops --filter {name}"
    return f"gradcli ops {close[0]}" if close else "gradcli ops"


def _unknown(name: str, close: tuple[str, ...]) -> str:
    if not close:
        return f"there is no operator {name!r}"
    meant = close[0] if len(close) == 1 else f"{', '.join(close[:-1])} or {close[-1]}"
    return f"there is no operator {name!r}; did you mean {meant}?"
