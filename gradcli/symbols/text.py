"""Symbols: formulas as text: of the language, with the numbers put in, for a page of LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .algebra import Expr, Number

SUM, PRODUCT, POWER, ATOM = 1, 2, 4, 5
GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split()
)
OPERATORS = frozenset("sin cos tan sinh cosh tanh exp log max min arg det ln".split())

Names = Callable[[str], str]


def python(expr: Expr, names: Names = str) -> str:
    """The formula as a program writes it."""
    return _Python(names).text(expr, SUM)


def with_numbers(expr: Expr, values: Mapping[str, float], used: Callable[[str], str]) -> str | None:
    """The same with numbers for names; None where a name has no single number."""
    missing: list[str] = []

    def number_of(name: str) -> str:
        value = values.get(name)
        if value is None:
            missing.append(name)
            return name
        return used(f"{value:.6g}")

    text = _Python(number_of, True).text(expr, SUM)
    return None if missing else text


class _Python:
    """Writes a formula with the least brackets."""

    def __init__(self, names: Names, numbers: bool = False) -> None:
        self.names, self.numbers = names, numbers

    def text(self, expr: Expr, within: int) -> str:
        written, level = self._written(expr)
        return f"({written})" if level < within else written

    def _written(self, expr: Expr) -> tuple[str, int]:
        kind, data = expr.kind, expr.data
        if kind == "number":
            return self._number(data)
        if kind == "name":
            name = self.names(data)
            return name, PRODUCT if name.startswith("-") else ATOM
        if kind == "sum":
            return self._sum(data), SUM
        if kind == "product":
            return self._product(*data)
        if kind == "power":
            return f"{self.text(data[0], ATOM)}**{self.text(data[1], POWER)}", POWER
        if kind == "call":
            if data[1] == "operator":
                return self._operator(data[0], data[2])
            return self._call(*data), ATOM
        pieces, atomic = data
        text = "".join(p if isinstance(p, str) else self.text(p, ATOM) for p in pieces)
        return text, ATOM if atomic else 0

    def _number(self, value: Number) -> tuple[str, int]:
        if isinstance(value, Fraction):
            return f"{value.numerator}/{value.denominator}", PRODUCT
        text = repr(value)
        if text in ("inf", "-inf", "nan"):
            text = f"float('{text}')"
        return text, PRODUCT if text.startswith("-") else ATOM

    def _sum(self, terms: tuple[tuple[Number, Expr], ...]) -> str:
        out = ""
        ordered = [t for t in terms if t[0] > 0] + [t for t in terms if not t[0] > 0]
        for factor, expr in ordered:
            minus = factor < 0
            size: Any = abs(factor)
            text = self._scaled(size, expr)
            if not out:
                out = f"-{text}" if minus else text
            else:
                out += f" - {text}" if minus else f" + {text}"
        return out

    def _scaled(self, factor: Number, expr: Expr) -> str:
        if expr.kind == "number":
            return self._number(factor * expr.data)[0]
        own, factors = expr.data if expr.kind == "product" else (1, ((expr, 1),))
        text, level = self._product(factor * own, factors)
        return text if level >= PRODUCT else f"({text})"

    def _product(self, factor: Number, factors: Any) -> tuple[str, int]:
        above, below = self._parts(factor, factors, True)
        text = "*".join(above)
        if len(below) == 1:
            text += f"/{below[0]}"
        elif below:
            text += f"/({'*'.join(below)})"
        return (f"-{text}" if factor < 0 else text), PRODUCT

    def _parts(self, factor: Number, factors: Any, inline: bool) -> tuple[list[str], list[str]]:
        """What stands above and what below the line of a fraction, which may be a mere slash."""
        above: list[str] = []
        below: list[str] = []
        size: Any = abs(factor)
        over: Number = size.numerator if isinstance(size, Fraction) else size
        for expr, exponent in factors:
            plain = exponent if exponent > 0 else -exponent
            many = len(factors) > 1 or over != 1 or factor < 0 or (inline and exponent < 0)
            (above if exponent > 0 else below).append(self._raised(expr, plain, many))
        if over != 1 or not above:
            above.insert(0, self._number(over)[0])
        if isinstance(size, Fraction):
            below.insert(0, str(size.denominator))
        return above, below

    def _raised(self, expr: Expr, exponent: Number, many: bool) -> str:
        if exponent == 1:
            return self.text(expr, POWER if many else PRODUCT)
        to = self._number(exponent)[0]
        return f"{self.text(expr, ATOM)}**{f'({to})' if '/' in to else to}"

    def _call(self, function: str, style: str, args: Any) -> str:
        def argument(keyword: str, value: Any) -> str:
            text = value if isinstance(value, str) else self.text(value, 0)
            return f"{keyword}={text}" if keyword else text

        if style == "method":
            own = args[0][1]
            head = own if isinstance(own, str) else self.text(own, ATOM)
            if head[0].isdigit():
                head = f"({head})"
            return f"{head}.{function}({', '.join(argument(k, v) for k, v in args[1:])})"
        if style == "list":
            return f"{function}([{', '.join(argument('', v) for _, v in args)}])"
        return f"{function}({', '.join(argument(k, v) for k, v in args)})"

    def _operator(self, sign: str, args: Any) -> tuple[str, int]:
        """a @ b, a > b."""
        level = PRODUCT if sign == "@" else 0
        within = POWER if sign == "@" else SUM
        one, other = (v if isinstance(v, str) else self.text(v, within) for _, v in args)
        return f"{one} {sign} {other}", level


# ---------------------------------------------------------------- LaTeX


def latex_name(name: str) -> str:
    r"""w1 as w_{1}, y#2 as y_{2}, ws[0] as \mathit{ws}_{0}, loss as \mathit{loss}."""
    match = re.fullmatch(r"([A-Za-z]+)(?:[_#]?(\d+)|\[(\d+)\])?", name)
    if match is None:
        return _verbatim(name)
    stem, index = match[1], match[2] or match[3] or ""
    if stem in GREEK:
        text = f"\\{stem}"
    else:
        text = stem if len(stem) == 1 else f"\\mathit{{{stem}}}"
    return f"{text}_{{{index}}}" if index else text


def latex(expr: Expr, names: Names = latex_name) -> str:
    """The formula for a page."""
    return _Latex(names).text(expr, SUM)


class _Latex(_Python):
    """The same in LaTeX: fractions, powers, names in italics."""

    def text(self, expr: Expr, within: int) -> str:
        written, level = self._written(expr)
        return f"\\left({written}\\right)" if level < within else written

    def _written(self, expr: Expr) -> tuple[str, int]:
        if expr.kind == "power":
            base, exponent = expr.data
            return f"{self.text(base, ATOM)}^{{{self.text(exponent, SUM)}}}", POWER
        if expr.kind == "text":
            pieces, atomic = expr.data
            text = "".join(_verbatim(p) if isinstance(p, str) else self.text(p, ATOM)
                           for p in pieces)  # fmt: skip
            return text, ATOM if atomic else 0
        return super()._written(expr)

    def _number(self, value: Number) -> tuple[str, int]:
        if isinstance(value, Fraction):
            sign = "-" if value < 0 else ""
            return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", POWER
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if text.lstrip("-") == "inf":
            text = text.replace("inf", "\\infty")
        if "e" in text:
            mantissa, _, power = text.partition("e")
            text = f"{mantissa} \\cdot 10^{{{int(power)}}}"
        return text, PRODUCT if text.startswith("-") or "cdot" in text else ATOM

    def _product(self, factor: Number, factors: Any) -> tuple[str, int]:
        above, below = self._parts(factor, factors, False)
        text = _joined(above)
        if below:
            text = f"\\frac{{{text}}}{{{_joined(below)}}}"
        return (f"-{text}" if factor < 0 else text), PRODUCT

    def _raised(self, expr: Expr, exponent: Number, many: bool) -> str:
        if exponent == 1:
            return self.text(expr, POWER if many else PRODUCT)
        return f"{self.text(expr, ATOM)}^{{{self._number(exponent)[0]}}}"

    def _operator(self, sign: str, args: Any) -> tuple[str, int]:
        text, level = super()._operator(sign, args)
        return text.replace(f" {sign} ", f" {_SIGNS.get(sign, sign)} ", 1), level

    def _call(self, function: str, style: str, args: Any) -> str:
        short = function.rpartition(".")[2]
        texts = [(f"\\mathrm{{{k}}}=" if k else "") + (_verbatim(v) if isinstance(v, str) else
                 self.text(v, 0)) for k, v in args]  # fmt: skip
        if style == "method" and short in ("t", "mT"):
            own = args[0][1]
            return f"{self.text(own, ATOM)}^{{\\top}}"
        if short == "sqrt":
            return f"\\sqrt{{{texts[0]}}}"
        if short == "abs":
            return f"\\left|{texts[0]}\\right|"
        if short == "where" and texts[1:] in (["1.0", "0.0"], ["\\mathtt{1.0}", "\\mathtt{0.0}"]):
            return f"\\mathbf{{1}}\\left[{texts[0]}\\right]"
        name = f"\\{short}" if short in OPERATORS else f"\\operatorname{{{_safe(short)}}}"
        return f"{name}\\left({', '.join(texts)}\\right)"


_SIGNS = {"@": "\\,", ">=": "\\ge", "<=": "\\le", "==": "=", "!=": "\\ne"}


def _joined(parts: list[str]) -> str:
    """Factors side by side; a dot before a number."""
    out = parts[0]
    for part in parts[1:]:
        numbers = out[-1].isdigit() and part[0] == "("
        dot = numbers or part[0].isdigit() or part.startswith("\\frac")
        out += f" \\cdot {part}" if dot else f" {part}"
    return out


def _safe(text: str) -> str:
    return re.sub(r"([_#$%&{}])", r"\\\1", text)


def _verbatim(text: str) -> str:
    """A piece of a program."""
    stripped = text.replace("\\", "\\backslash ").replace("^", "\\hat{}").replace("~", "\\sim ")
    return f"\\mathtt{{{_safe(stripped)}}}" if text.strip() else text
