"""The fuzzer's texts: what no person writes, for the parser and the checker; one from each seed."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence

from .programs import program
from .trees import tree

WORDS = (
    "x", "y", "torch", "nn", "F", "self", "print", "tensor", "lambda", "def f(x):", "class A:",
    "if", "else", "elif", "for", "in", "while", "try:", "except", "finally:", "with", "as",
    "return",
    "yield", "await", "async", "match x:", "case _:", "type X = int", "import os",
    "from . import x",
    "global x", "nonlocal y", "del x", "assert", "raise", "not", "and", "or", "is", "None", "True",
    "...", ":=", "->", "**", "//", "@", "~", "%", "==", "!=", "<=", "<<", ">>", "+=", "@=", ":",
    ";",
    ",", ".", "=", "(", ")", "[", "]", "{", "}", "'", '"', "'''", '"""', "\\", "\\\n", "#", "\n",
    "\t",
    "    ", "0", "1.5", "1e400", "0x", "0b2", "1_0", "1__0", "0777", "1j", "1.e", "b'x'", "r'\\'",
    "f'{x}'", "f'{x!r:>{y}}'", "f'{{}}'", "f'{'", "f'}'", "f'{x:{y:{z}}}'", "f'{x=}'",
    "f'''{\nx}'''",
    "f'{lambda x: 1}'", "f'{*x}'", "f'{x!z}'", "f'{}'", "u'x'", "rb'\\x'", "t'{x}'", "f'\\N{DASH}'",
    "__class__", "__builtins__", "__import__", "_", "__", "print(x)", "x[...]", "x[:, None]", "*x,",
    "**{}", "/", "*", "@property", "def f(a, /, b, *, c): pass", "def f[T](x: T): pass",
    "except* E:",
    "x if y else z", "[i for i in x]", "{**x}", "(yield)", "async with x: pass", "x: int = 1",
)  # fmt: skip
ODD = (
    "\ufeff", "\u200b", "\u202e", "\u2028", "\u2029", "\x0c", "\x0b", "\x00", "\x1b[31m", "\x85",
    "\xa0",
    "é", "é", "ﬁ", "ℌ", "𝔵", "µ", "٣", "१", "😀", "\U0010ffff", "\ud800", "\udfff", "\x1a", "\r",
    "\r\n", "\x7f", "ａ", "（", "“", "−", "×", "ª", "℘", "·", "\u0301", "\u3000", "ǆ", "İ", "ß",
)  # fmt: skip
NESTED = (
    ("(", ")"), ("[", "]"), ("{", "}"), ("{1:", "}"), ("f(", ")"), ("x[", "]"), ("-", ""),
    ("not ", ""),
    ("~", ""), ("lambda: ", ""), ("x if y else ", ""), ("x = ", ""), ("x.", ""), ("1 + ", ""),
    ("x ** ", ""), ("x and ", ""), ("x < ", ""), ("[x for x in ", "]"), ("(x := ", ")"),
    ("f'{", "}'"),
    ("if x:\n", ""), ("await ", ""), ("*", ""), ("x,", ""), ("(yield ", ")"), ("lambda x=", ": x"),
    ("{**", "}"), ("f(*", ")"), ("f(x=", ")"), ("x[1:", "]"), ("(", ""), ("[", ""), ("'''", ""),
    ("@x\n", ""), ("global x\n", ""), ("def f():\n", ""), ("class A:\n", ""), ("try:\n", ""),
    ("with x:\n", ""), ("while x:\n", ""), ("match x:\n case ", ""), ("(((((", ")"), ("((", ")"),
)  # fmt: skip


def text(seed: int, corpus: Sequence[bytes]) -> bytes:
    """An input for the parser; `corpus` are programs that others are made of."""
    draw = random.Random(seed)
    make = draw.choices([make for _, make in KINDS], [weight for weight, _ in KINDS])[0]
    return make(draw, corpus)


def encoded(made: str) -> bytes:
    return made.encode("utf-8", "surrogatepass")


def _some(draw: random.Random, corpus: Sequence[bytes]) -> str:
    if corpus and draw.random() < 0.8:
        return draw.choice(corpus).decode("utf-8", "replace")
    return program(draw.randrange(10**6))


def mutated(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """A program with a few words, letters or lines changed."""
    made = _some(draw, corpus)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 5, 10))):
        made = draw.choice(MUTATIONS)(draw, made, corpus)
    return encoded(made)


def _span(draw: random.Random, made: str, most: int = 40) -> tuple[int, int]:
    start = draw.randrange(len(made) + 1)
    return start, min(len(made), start + draw.randrange(most))


def _cut(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    start, end = _span(draw, made)
    return made[:start] + made[end:]


def _put(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    start, _ = _span(draw, made)
    return made[:start] + draw.choice(draw.choice((WORDS, ODD))) + made[start:]


def _swap(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    start, end = _span(draw, made)
    return made[:start] + draw.choice(WORDS) + made[end:]


def _again(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    start, end = _span(draw, made)
    return made[:end] + made[start:end] * draw.choice((1, 2, 10, 200)) + made[end:]


def _spliced(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    other = _some(draw, corpus)
    start, end = _span(draw, other, 200)
    place, _ = _span(draw, made)
    return made[:place] + other[start:end] + made[place:]


def _lines(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    lines = made.split("\n")
    place = draw.randrange(len(lines))
    how = draw.randrange(4)
    if how == 0:
        lines[place] = draw.choice(("  ", "\t", "        ")) + lines[place]
    elif how == 1:
        lines[place] = lines[place].lstrip()
    elif how == 2:
        lines.insert(draw.randrange(len(lines)), lines[place])
    else:
        lines[place:] = [" " + line for line in lines[place:]]
    return "\n".join(lines)


def _letter(draw: random.Random, made: str, corpus: Sequence[bytes]) -> str:
    if not made:
        return made
    place = draw.randrange(len(made))
    return (
        made[:place]
        + chr(draw.choice((draw.randrange(128), draw.randrange(0xD800))))
        + made[place + 1 :]
    )


MUTATIONS = (_cut, _put, _swap, _again, _spliced, _lines, _letter)


def soup(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """Words of Python in any order."""
    parts = draw.choices(WORDS + ODD if draw.random() < 0.2 else WORDS, k=draw.randrange(1, 30))
    return encoded(draw.choice((" ", "", "\n")).join(parts))


def noise(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """Bytes."""
    made = draw.randbytes(draw.randrange(200))
    return made if draw.random() < 0.5 else bytes(byte & 0x7F for byte in made)


def flipped(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """A program with bytes changed."""
    made = bytearray(encoded(_some(draw, corpus)))
    for _ in range(draw.randrange(1, 6)):
        if made:
            made[draw.randrange(len(made))] = draw.randrange(256)
    return bytes(made)


def deep(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """One thing in itself, up to a hundred thousand times."""
    opening, closing = draw.choice(NESTED)
    count = int(10 ** draw.uniform(0, 5))
    if opening.endswith("\n"):
        count = min(count, 300)
        return encoded(
            "".join(" " * level + opening for level in range(count)) + " " * count + "pass\n"
        )
    inner = draw.choice(("x", "1", "", "'a'", "tensor(1.0)"))
    lead = draw.choice(("", "y = ", "print(", "return ", "x = torch.tensor("))
    return encoded(lead + opening * count + inner + closing * count)


def great(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """Numbers, names, texts and lines of any length."""
    count = int(10 ** draw.uniform(0, 5.3))
    made = draw.choice((
        "9" * count, "0x" + "f" * count, "1" * count + "." + "1" * count,
        "1e" + "9" * min(count, 5000), "0b" + "1" * count,
        "0." + "0" * count + "1", "1_" * count + "1", "x" * count, "'" + "a" * count + "'",
        "#" + "c" * count, "\n" * count,
        " " * count, "f'" + "{x}" * min(count, 20000) + "'", "x" + " + x" * count,
        "x" + ".a" * count, "[" + "1," * count + "]",
        "x = 1;" * count, "'" + "\\x41" * count + "'", "f(" + "x," * count + ")",
        "{" + "1:2," * count + "}", "x" + "[0]" * count,
        "x = " * count + "1", "'a' " * count, "f'{1:" + "9" * count + "}'",
        "lambda " + ",".join(f"a{n}" for n in range(count)) + ": 1",
        "def f(" + ",".join(f"a{n}=1" for n in range(min(count, 9000))) + "): pass",
        "x" + "()" * count, "not " * count + "x", "\\\n" * count + "x",
        "1" + " if 1 else 1" * count, "1 < " * count + "1", "'%" + "9" * count + "d' % 1",
        "'{:" + "9" * count + "}'.format(1)", "2 ** " * count + "2",
    ))  # fmt: skip
    return encoded(draw.choice(("", "y = ", "print(")) + made)


def grown(draw: random.Random, corpus: Sequence[bytes]) -> bytes:
    """A random tree of Python's grammar, as text."""
    try:
        return encoded(ast.unparse(ast.fix_missing_locations(tree(draw))))
    except (ValueError, RecursionError):  # what no text stands for
        return soup(draw, corpus)


KINDS: tuple[tuple[int, Callable[[random.Random, Sequence[bytes]], bytes]], ...] = (
    (40, mutated), (10, soup), (3, noise), (8, flipped), (5, deep), (3, great), (30, grown),
)  # fmt: skip
