"""Render: `gradcli paths` for notes and lectures: Markdown, and LaTeX for amsmath."""

from __future__ import annotations

from collections.abc import Sequence

from ...recording.facts.paths import PathFact, PathsReport, StepFact
from ...recording.facts.seeds import SeedFact
from .. import escape, seeds
from ..escape import Terminal
from .words import derivative_of, number, share_text, whole

FEW = 6  # paths that are in one equation


def page(report: PathsReport, kind: str) -> Terminal:
    """The derivation; nothing where the program failed."""
    if report.error is not None:
        return Terminal("")
    lines = _latex(report) if kind == "latex" else _markdown(report)
    return Terminal("\n".join(escape.block(line) for line in lines) + "\n")


# ---------------------------------------------------------------- Markdown


def _markdown(report: PathsReport) -> list[str]:
    name = derivative_of(report)
    if not report.path_count:
        return [f"# {_code(name)}", "", f"No path: {report.reason}."]
    single = report.single or report.element is not None
    value = f" = {'?' if report.sum is None else number(report.sum)}" if single else ""
    count = report.edge_count if report.by_edges else report.path_count
    told = "One path leads" if count == 1 else f"{whole(count)} paths lead"
    lines = [f"# {_code(name + value)}", "",
             f"{told} from {_code(report.of)} to {_code(report.wrt)}"
             f"{' over the graph’s own edges' if report.by_edges else ''}. "
             "What each one brings is the product of its local derivatives.", ""]  # fmt: skip
    for place, seed in zip(seeds.names_of(report.seeds), report.seeds, strict=True):
        if place:
            lines += [f"{_code(place)} is what the program gave for {_code(seed.name)}:", "",
                      "```", seeds.text(seed), "```", ""]  # fmt: skip
    lines += _table(report, single, report.seeds)
    if count > len(report.paths) > 0:
        more = count - len(report.paths)
        told = "One more path is" if more == 1 else f"{whole(more)} more paths are"
        lines += [f"{told} in the sum as well.", ""]
    lines += _verdict(report, single)
    formula = report.formula
    if formula is not None:
        if formula.steps:
            lines += ["", "Local derivatives:", ""]
            lines += [f"- ${_derivative(report, of, wrt)} = {latex}$"
                      for of, wrt, _, latex in formula.steps]  # fmt: skip
        lines += ["", "Put together:", "", "$$", *_equations(report), "$$", "",
                  "```python", formula.program.replace("```", "'''"), "```"]  # fmt: skip
    elif report.no_formula:
        lines += ["", report.no_formula[0].upper() + report.no_formula[1:] + "."]
    return lines


def _table(report: PathsReport, single: bool, given: Sequence[SeedFact]) -> list[str]:
    if not report.paths:
        return []
    rows = ["| path | product | share |", "| --- | ---: | ---: |"]
    for path in report.paths:
        stops = " → ".join(_code(name) for name in _short(path.names, "…"))
        rows.append(f"| {stops} | {_product(path, single, given)} | {_share(path)} |")
    return [*rows, ""]


def _product(path: PathFact, single: bool, given: Sequence[SeedFact]) -> str:
    """-1 · 7 · 5 = -35, or the structures of matrices."""
    vector = seeds.vector_of(given)
    if not single:
        return " · ".join(
            _short([vector] * bool(vector) + [_step(step) for step in path.steps], "…")
        )
    factors = [given[0].value] if vector else []
    factors += [step.derivative for step in path.steps]
    value = "?" if path.product is None else number(path.product)
    if len(factors) < 2 or None in factors:
        return value
    return " · ".join(_short([number(f) for f in factors], "…")) + f" = {value}"


def _step(step: StepFact) -> str:
    if step.derivative is not None:
        return number(step.derivative)
    return step.structure or "?"


def _share(path: PathFact) -> str:
    return share_text(path.share) + (", cancels" if path.against else "")


def _verdict(report: PathsReport, single: bool) -> list[str]:
    if report.equal is None:
        return ["Inputs without a value: " + ", ".join(map(_code, report.missing)) + "."]
    word = "equal" if report.equal else "**not equal**"
    if single:
        reverse = "None" if report.reverse is None else number(report.reverse)
        total = "?" if report.sum is None else number(report.sum)
        return [f"The sum is **{total}**; reverse mode says {reverse}: {word}."]
    return [f"The sum, compared with reverse mode: {word}.", "", "```", report.sum_text, "```"]


def _code(text: str) -> str:
    """A piece of the program, also inside a table."""
    return "`" + text.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"


def _short(items: Sequence[str], mark: str) -> list[str]:
    """The middle of many left out."""
    return list(items) if len(items) <= 10 else [*items[:4], mark, *items[-4:]]


# ---------------------------------------------------------------- LaTeX


def _latex(report: PathsReport) -> list[str]:
    head = f"% {derivative_of(report)} of {report.file}; needs \\usepackage{{amsmath}}"
    head = head.replace("\n", " ")
    if not report.path_count:
        return [head, f"\\[ {_derivative(report, report.of, report.wrt)} = 0 \\]"]
    lines = [head, "\\begin{align*}", *_chain(report), "\\end{align*}"]
    if report.formula is not None:
        lines += ["\\[", *_equations(report), "\\]"]
    elif report.no_formula:
        lines.append("% " + report.no_formula.replace("\n", " "))
    return lines


def _math(report: PathsReport, name: str) -> str:
    return dict(report.page_names).get(name) or "\\mathtt{" + name.replace("#", "\\#") + "}"


def _seed_names(report: PathsReport) -> list[str]:
    """The v that the program gave in place of 1."""
    vector = seeds.vector_of(report.seeds)
    return [vector if len(vector) == 1 else f"\\mathrm{{{vector}}}"] if vector else []


def _derivative(report: PathsReport, of: str, wrt: str) -> str:
    return f"\\frac{{\\partial {_math(report, of)}}}{{\\partial {_math(report, wrt)}}}"


def _chain(report: PathsReport) -> list[str]:
    """The sum of products: of derivatives, of numbers, of what they make."""
    names = dict(report.page_names)
    given = _seed_names(report)
    left = " \\, ".join([*given, _derivative(report, report.of, report.wrt)])
    shown = report.paths[:FEW]
    count = report.edge_count if report.by_edges else report.path_count
    more = " + \\cdots" if count > len(shown) else ""
    terms = []
    for path in shown:
        pairs = zip(path.names, path.names[1:], strict=False)
        factors = [f"\\frac{{\\partial {names[of]}}}{{\\partial {names[wrt]}}}"
                   for of, wrt in pairs]  # fmt: skip
        terms.append(" ".join([*given, *_short(factors, "\\cdots")]))
    lines = [f"{left} &= " + " \\\\\n  &\\quad + ".join(terms) + more]
    known = all(step.derivative is not None for path in shown for step in path.steps)
    if report.single and known:
        first = [_signed(report.seeds[0].value) for _ in given]
        products = [
            " \\cdot ".join(_short([*first, *(_signed(step.derivative) for step in path.steps)],
                                  "\\cdots")) for path in shown
        ]  # fmt: skip
        if given or any(len(path.steps) > 1 for path in shown) or len(shown) > 1:
            lines.append("  &= " + " + ".join(products) + more)
        total = _tex(report.sum)
        if len(shown) > 1:
            values = "".join(_added(path.product, place) for place, path in enumerate(shown))
            lines.append(f"  &= {values}{more} = {total}")
        else:
            lines.append(f"  &= {total}")
    elif report.sum is not None and not isinstance(report.sum, tuple):
        lines.append(f"  &= {_tex(report.sum)}")
    return [line + (" \\\\" if place < len(lines) - 1 else "") for place, line in enumerate(lines)]


def _tex(value: object) -> str:
    text = number(value)
    if "e" in text:
        mantissa, _, power = text.partition("e")
        return f"{mantissa} \\cdot 10^{{{int(power)}}}"
    return text.replace("inf", "\\infty").replace("nan", "\\mathrm{nan}")


def _signed(value: object) -> str:
    text = _tex(value)
    return f"({text})" if text.startswith("-") else text


def _added(value: object, place: int) -> str:
    text = _tex(value)
    if not place:
        return text
    return f" - {text[1:]}" if text.startswith("-") else f" + {text}"


def _equations(report: PathsReport) -> list[str]:
    """The formula, the lines it needs, the numbers put in."""
    formula = report.formula
    assert formula is not None
    rows = [f"{name} &= {text}" for name, text in formula.latex_lines]
    left = " \\, ".join([*_seed_names(report), _derivative(report, report.of, report.wrt)])
    rows.append(f"{left} &= {formula.latex}")
    if formula.latex_numbers and formula.latex_numbers != formula.latex:
        rows.append(f"  &= {formula.latex_numbers}")
    body = [row + (" \\\\" if place < len(rows) - 1 else "") for place, row in enumerate(rows)]
    return ["\\begin{aligned}", *body, "\\end{aligned}"]
