"""language: what to write instead, for the mistakes behind Python's `invalid syntax`."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

from ..diagnostics import Span

# What people paste from texts and other languages, and how it is written here.
LOOKALIKES = {
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "´": "'",
    "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "∙": "*", "÷": "/", "，": ",", "；": ";",
    "：": ":", "（": "(", "）": ")", "≤": "<=", "≥": ">=", "≠": "!=", "²": "**2", "³": "**3",
    "→": "->", "\u00a0": "a plain space", "\u200b": "nothing", "√": "torch.sqrt(...)",
    "∞": "math.inf", "…": "...",
}  # fmt: skip
WORDS = frozenset(keyword.kwlist)
STARTS = (
    "if", "elif", "else", "for", "while", "def", "class", "return", "with", "try", "except",
    "finally", "import", "from", "lambda", "and", "not", "raise", "assert", "break", "continue",
    "pass",
)  # fmt: skip
# What comes along when a session, a notebook or a page is pasted.
_PASTED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), advice)
    for pattern, advice in (
        (r"\s*(?:>>>|\.\.\.)(?:\s|$)", "leave out the prompts >>> and ..., and what was printed"),
        (r"\s*(?:In|Out) ?\[\d*\]:", "leave out the notebook's In [1]: and Out[1]:"),
        (r"\s*%%?[a-z]\w*", "leave the line out: it is a command to a notebook"),
        (r"\s*[!$] ?[a-z]", "leave the line out: it is a command to a shell"),
        (
            r"\s*\w+\s*=\s*(?:%[a-z]|!\s*(?:ls|cat|pwd|pip|echo|find|wc|head|tail|grep|git|wget|curl|"
            r"python|nvidia-smi|date|du|df|uname|which|whoami)\b)",
            "give the name a value: a program here can't ask a shell or a notebook for it",
        ),
        (r"\s*(?:```|~~~)", "leave out the lines with ``` around the program"),
    )
)
# (what is in the line, what is said). The first that matches at the failing place is shown.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), advice)
    for pattern, advice in (
        (r"(\w+)\s*(\+|-)\2\s*$", r"\1 \g<2>= 1"),
        (r"&&", "'and' in the place of &&"),
        (r"\|\|", "'or' in the place of ||"),
        (r"!(?!=)\s*[\w(]", "'not' in the place of !"),
        (r"\?[^:]*:", "a if condition else b"),
        (r"^\s*(\w+)\s*:=\s*(.+)$", r"\1 = \2"),
        (r"^\s*//\s*(.*)$", r"# \1"),
        (r"^\s*(?:let|var|const|int|float|double)\s+(\w+\s*=.*)$", r"\1"),
        (r"^\s*(?:function|func|fn)\s+(\w+\s*\(.*?\)).*$", r"def \1:"),
        (
            r"(?<![\w.])(\d+(?:\.\d+)?)\s*(?!(?:if|else|in|and|or|is|not|for|class|def|return)\b)"
            r"([A-Za-z_]\w*)",
            r"\1 * \2",
        ),
    )
)


LONGEST = 1000  # characters of a line: searching takes their square


def advice(line: str, message: str, span: Span) -> Iterator[str]:
    """The advice for a syntax error in a line of the program, at a span of it."""
    if len(line) > LONGEST:
        return
    # Behind a number it stands one further for some releases of Python, in other words.
    place = span.column - 1 + ("literal" in message)
    character = line[place : place + 1]
    if character in LOOKALIKES and ("character" in message or "literal" in message):
        shown = character if character.isprintable() else f"U+{ord(character):04X}"
        yield f"help: write {LOOKALIKES[character]} instead of {shown}"
        return
    if message.startswith("expected an indented block"):
        yield f"help: indent line {span.line} and what belongs to the same block by four spaces"
    elif message.startswith("unindent does not match"):
        yield f"help: indent line {span.line} like the block that it belongs to"
    elif message == "unexpected indent":
        yield f"help: begin line {span.line} where the line above begins"
    elif re.match(r"\s*else\s+if\b", line):
        yield "help: elif in the place of else if"
    elif message == "expected ':'":
        yield f"help: a colon behind {line[: span.column - 1].strip()!r}"
    elif message.startswith(("invalid syntax", "invalid decimal literal", "expected '('")):
        said = _instead(line, span)
        if said is not None:
            yield f"help: {said}"


def _instead(line: str, span: Span) -> str | None:
    """What an invalid line was meant to say, where that is plain."""
    for pattern, text in _PASTED:
        if pattern.match(line):
            return text
    words = re.findall(r"[^\W\d]\w*", line[: span.end_column - 1])
    assigned = re.match(r"\s*(\w+)\s*=(?!=)", line)
    if assigned is not None and assigned[1] in WORDS:
        return f"another name: {assigned[1]!r} is a word of the language"
    if re.match(r"\s*(?:else|elif|except|finally)\b", line) and words[:1] == words[-1:]:
        return f"begin {words[0]!r} where the statement begins that it belongs to"
    for pattern, text in _PATTERNS:
        for match in pattern.finditer(line):
            if match.start() <= span.column - 1 <= match.end():
                return match.expand(text).strip()
    if line[span.column - 1 :].strip() in ("", "#") and words:
        return f"complete line {span.line}: something is missing at its end"
    for word in reversed(words[:1] + words[-2:]):
        near = _near(word)
        if near is not None:
            return f"did you mean {near!r}?"
    return None


def _near(word: str) -> str | None:
    from difflib import get_close_matches

    if word in WORDS or len(word) < 3:
        return None
    if word.lower() in STARTS:
        return word.lower()
    if sorted(word) == sorted("for"):
        return "for"
    near = get_close_matches(word, STARTS, 1, 0.75)
    return near[0] if near else None
