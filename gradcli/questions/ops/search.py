"""Questions: operators found by words that describe them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from ...recording.facts.operators import OperatorFact
from .rows import last_part, operators

FILLERS = frozenset(
    "a all an and between by each elementwise for from in is of on or the to two with".split()
)
MOST_FOUND = 8
SPREAD = 1.5  # how far below the best score one is still shown
SHORTEST_STEM = 4  # letters that two forms of a word share


def by_words(text: str) -> tuple[OperatorFact, ...]:
    """Operators whose name and description have these words, the best match first.

    Of three words and more one may be missing. A word that stands alone has to be there as it is
    written: else it is more likely a misspelt name.
    """
    facts = [fact for fact in operators() if fact.face != "hidden"]
    joined = "".join(_parts(text))
    same = tuple(fact for fact in facts if "".join(_parts(last_part(fact.name))) == joined)
    if same:  # log sum exp, top k, is nan
        return same
    wanted = _words(text)
    pages = [_Page.of(fact) for fact in facts]
    for missing in range(2 if len(wanted) > 2 else 1):
        scores = [_score(page, wanted, missing) for page in pages]
        found = sorted(zip(scores, facts, strict=True), key=lambda pair: -pair[0])
        kept = [fact for score, fact in found if score > max(0, found[0][0] - SPREAD)]
        if kept:
            return tuple(kept[:MOST_FOUND])
    return ()


class _Page(NamedTuple):
    """The words of one operator."""

    name: list[str]
    doc: list[str]
    others: set[str]  # of its other names and overloads

    @staticmethod
    def of(fact: OperatorFact) -> _Page:
        others = " ".join([*fact.calls, *fact.nodes, *(o.doc for o in fact.overloads)])
        return _Page(_words(fact.name), _words(fact.doc), set(_words(others)))


def _score(page: _Page, wanted: list[str], missing: int) -> float:
    """0 where too many words are missing; more for the name than for the description."""
    if len(wanted) == 1 and not any(wanted[0] in part for part in page):
        return 0.0
    found = [
        max(weight * _likeness(word, part) for weight, part in zip((3, 2, 1), page, strict=True))
        for word in wanted
    ]
    if found.count(0) > missing:
        return 0.0
    named = sum(_likeness(part, wanted) for part in page.name) / max(1, len(page.name))
    starts = len(wanted) > 1 and page.doc[: len(wanted)] == wanted
    inside = " ".join(wanted) in " ".join(page.doc)
    return sum(found) / len(wanted) + named + starts + inside - 0.05 * len(page.doc)


def _likeness(word: str, words: Collection[str]) -> float:
    """1 where it is one of them, a half for another form of it: sort, sorted, sorting."""
    if word in words:
        return 1.0
    return 0.5 if any(_same_stem(word, other) for other in words) else 0.0


def _same_stem(one: str, other: str) -> bool:
    if one + "s" == other or other + "s" == one:
        return True
    shorter = min(len(one), len(other))
    least = max(SHORTEST_STEM, shorter - 2)
    return one[:least] == other[:least] and shorter >= least


def _words(text: str) -> list[str]:
    """Its words in small letters, without those that any description has."""
    parts = _parts(text)
    return [part for part in parts if part not in FILLERS] or parts


def _parts(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+", text.lower())
