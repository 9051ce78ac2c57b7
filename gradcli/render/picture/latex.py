"""Render: a picture for LaTeX: TikZ with the same coordinates, a document of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import name as named, normalize

from ..escape import Terminal
from ..text import width_of
from . import style
from .geometry import LINE, PAD, TOP, Drawn, Picture, Strand, number, pieces

# A page of the picture's size: `standalone` does the same and is missing from small TeX systems.
HEAD = r"""\documentclass{article}
\usepackage[paperwidth=%sbp,paperheight=%sbp,margin=4bp]{geometry}
\usepackage{textcomp}
\usepackage{tikz}
\pagestyle{empty}
\setlength{\parindent}{0pt}
\setlength{\topskip}{0pt}
\begin{document}
"""
BORDER = 12  # bp around the picture, and room for what TeX rounds
STYLES = {"title": r"\bfseries ", "bad": r"\bfseries "}
DASHES = {"zero": "dashed,", "none": "dotted,", "bad": "", "": ""}
SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r'\char34{}',
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "-": "-{}", "·": r"\ensuremath{\cdot}",
    "∘": r"\ensuremath{\circ}", "…": r"\ldots{}", "⋯": r"\ensuremath{\cdots}", "–": "--",
    "→": r"\ensuremath{\rightarrow}", "×": r"\ensuremath{\times}", " ": r"\ ",
}  # fmt: skip
_GREEK = re.compile("GREEK (SMALL|CAPITAL) LETTER (.*)")
SMALL = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma "
    "varsigma tau upsilon phi chi psi omega".split()
)
LARGE = frozenset("gamma delta theta lambda xi pi sigma upsilon phi psi omega".split())
ACCENTS = {"\u0300": r"\`", "\u0301": r"\'", "\u0302": r"\^", "\u0303": r"\~", "\u0308": r'\"',
           "\u0327": r"\c"}  # fmt: skip
COLUMN = 4.4  # bp


def latex(picture: Picture, theme: str = "auto") -> Iterator[Terminal]:
    """The file."""
    colours = style.DARK if theme == "dark" else style.LIGHT
    paper = tuple(number(0.75 * size + BORDER) for size in (picture.width, picture.height))
    yield Terminal(HEAD % paper)
    for name, colour in colours.items():
        yield Terminal(f"\\definecolor{{g{name}}}{{HTML}}{{{colour[1:].upper()}}}\n")
    yield Terminal(
        "\\begin{tikzpicture}[x=0.75bp,y=-0.75bp,every node/.style={anchor=base west,"
        "inner sep=0,outer sep=0,font=\\ttfamily\\fontsize{8.6bp}{10bp}\\selectfont}]\n"
        f"\\fill[gpage] (0,0) rectangle ({number(picture.width)},{number(picture.height)});\n"
    )
    for strand in picture.wires:
        yield Terminal(_wire(strand, sideways=picture.sideways))
    for drawn in picture.boxes:
        yield Terminal("".join(_box(drawn)))
    for x, y, row in picture.notes:
        colour = "gbad" if row.style == "bad" else "gtext"
        yield Terminal(_text(x, y, row.text, colour, STYLES.get(row.style, "")))
    yield Terminal("\\end{tikzpicture}\n\\end{document}\n")


def _wire(strand: Strand, *, sideways: bool) -> str:
    wire = strand.wire
    colour = "gminus" if wire.negative else "gplus"
    if wire.kind:
        colour = "gbad" if wire.kind == "bad" else "gzero"
    width = number(0.6 + 1.6 * wire.weight)
    path = ""
    for x, y, control in pieces(strand, sideways=sideways):
        if control is not None:
            a, b, c, d = map(number, control)
            path += f" .. controls ({a},{b}) and ({c},{d}) .."
        elif path:
            path += " --"
        path += f" ({number(x)},{number(y)})"
    words = "".join(
        _text(left, base, text, colour, r"\fontsize{7.9bp}{9bp}\selectfont ")
        for left, base, text in strand.words
    )
    return f"\\draw[{colour},{DASHES[wire.kind]}line width={width}bp,<-]{path};\n{words}"


def _box(drawn: Drawn) -> Iterator[str]:
    box, x, y, width, height = drawn
    kind = "leaf" if box.kind == "again" else box.kind
    edge = "gedge" if kind == "inner" else f"g{kind}-edge"
    if "bad" in box.marks:
        edge = "gbad"
    shape = {"leaf": "rounded corners=9bp,", "again": "rounded corners=9bp,dashed,",
             "fold": "dashed,double,", "result": "line width=1.6bp,"}.get(box.kind, "")  # fmt: skip
    yield (
        f"\\draw[{shape}{edge},fill=g{kind}] ({number(x)},{number(y)}) rectangle "
        f"({number(x + width)},{number(y + height)});\n"
    )
    for place, row in enumerate(box.rows):
        colour = {"bad": "gbad", "grad": "ggrad", "title": "gtext", "value": "gtext"}.get(
            row.style, "gdim"
        )
        yield _text(x + PAD, y + TOP - 2 + LINE * place, row.text, colour,
                    STYLES.get(row.style, ""))  # fmt: skip


def _text(x: float, y: float, text: str, colour: str, font: str) -> str:
    return f"\\node[text={colour}] at ({number(x)},{number(y)}) {{{font}{_escaped(text)}}};\n"


def _escaped(text: str) -> str:
    composed = normalize("NFC", text)
    return "".join(SIGNS.get(c) or (c if c.isascii() else _foreign(c)) for c in composed)


def _foreign(sign: str) -> str:
    """A Greek letter, a letter with an accent; of any other sign the number, in its columns."""
    greek = _GREEK.fullmatch(named(sign, ""))
    if greek is not None:
        letter = greek[2].lower().replace("lamda", "lambda").replace("final ", "var")
        is_small = greek[1] == "SMALL"
        if letter in (SMALL if is_small else LARGE):
            return f"\\ensuremath{{\\{letter if is_small else letter.capitalize()}}}"
    base, mark = (*normalize("NFD", sign), "")[:2]
    if mark in ACCENTS and base.isascii() and base.isalpha():
        return f"{ACCENTS[mark]}{{{base}}}"
    width = max(width_of(sign), 0.5) * COLUMN
    return f"\\resizebox{{{number(width)}bp}}{{1.3ex}}{{{ord(sign):04X}}}"
