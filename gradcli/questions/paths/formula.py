"""Questions: the gradient as a formula in the names of the program, tested before it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.compile.formula import by_edges, edge_places, needs_gradient
from ...engine.schema.mode import state
from ...engine.tensors.saved import unpack
from ...engine.tensors.tensor import Tensor
from ...recording.facts.paths import FormulaFact, PathsReport
from ...symbols.algebra import Expr
from ...symbols.text import latex, latex_name, python, with_numbers
from .carrier import Symbol, Unsayable, reduced, written_out
from .chain import Chain
from .graph import Position, Ways
from .labels import Labels
from .nodes import run_node as run_numbers
from .opaque import Blocks, is_view, through_views

NODES = 5_000  # of a graph whose formula is worked out when asked for, and unasked
NODES_UNASKED = 100
LONG = 40  # names and numbers in a gradient on the way before it gets a line of its own
LONGEST = 20_000  # names and numbers in all formulas together
SHARED = 10  # the same where several edges go on from it


class Formulas:
    """Runs the chain rule on symbols."""

    def __init__(self, labels: Labels, ways: Ways, names: dict[Position, str]) -> None:
        from .words import Words

        self.words = Words(labels, ways, names)
        self.algebra = self.words.algebra
        self.ways = ways
        self.adjoints: dict[str, str] = {}  # lines of their own: name, and of which tensor
        self.lines: list[tuple[str, Expr]] = []
        self.blocks = Blocks(self.algebra, run_numbers, self.words.numbers)

    def run(self, node: Any, grads: dict[int, Any]) -> Sequence[Any]:
        """What a node makes of symbols: its row's derivatives, as they are declared; where no
        formula expresses them, the numbers of its Jacobian."""
        held = dict(self.words.definitions), self.words.depth
        try:
            if is_view(node):
                short = {nr: self._short(grad) for nr, grad in grads.items()}
                return through_views(node, short, self.run)
            return self._by_declaration(node, grads)
        except (Unsayable, AttributeError, TypeError, ValueError, IndexError, KeyError):
            if self.words.labels.ran.missing:
                raise  # there are no numbers
            self.words.definitions, self.words.depth = held
            return self.blocks.of(node, grads)

    def _by_declaration(self, node: Any, grads: dict[int, Any]) -> Sequence[Any]:
        row = getattr(node, "row", None)
        if row is None or not row.formulas:
            raise Unsayable(f"the derivative of {node.name()}")
        several = row.output_count > 1 or row.listed
        outputs = row.signature.outputs
        number = self.ways.graph.ids.get(id(node), -1)  # the node within a CopySlices is in none
        values: dict[str, Any] = {"grad": grads.get(0)}
        if several:
            extra = node.extra
            count = len(extra) if extra.__class__ is list else max(row.output_count, *grads, 1)
            values = {"grads": tuple(grads.get(nr) for nr in range(count))}
        places = edge_places(row)
        values["needs"] = {name: needs_gradient(node, place) for name, place in places.items()}
        needed = {key for formula in row.formulas
                  if any(values["needs"][name] for name in formula.inputs)
                  for key in formula.needs}  # fmt: skip
        for place, key in enumerate(row.saved_keys):
            if key in needed:
                value = unpack(node, place, as_tensor=True)
                place_of = (number, outputs.index(key)) if key in outputs else None
                values[key] = self._saved(node, key, value, place_of)
        out = by_edges(node, row, row.gradients(values, values["needs"]))
        given = node.inputs
        if given is None:
            return out
        return [grad if grad is None or form is None else reduced(grad, *form)
                for grad, form in zip(out, given, strict=True)]  # fmt: skip

    def _saved(self, node: Any, key: str, value: Any, position: Position | None) -> Any:
        if isinstance(value, list):
            return [self._saved(node, "", item, None) for item in value]
        if not isinstance(value, Tensor):
            return value
        if position is not None and key in node.row.undifferentiable:
            return Symbol(self.algebra, self.words.literal(value), value._data)
        if position is not None:
            expr = self.words.position(position, value)
            return Symbol(self.algebra, expr, value._data)
        return self.words.operand(node, key, value)

    # ---- the whole

    def gradient(
        self, chain: Chain, seed: Any, single: bool
    ) -> tuple[Symbol | None, list[tuple[str, Expr]], dict[tuple[int, int], Expr]]:
        """The gradient, the lines that it needs, the formulas of single edges."""
        algebra, ways = self.algebra, self.ways
        start = Symbol(algebra, algebra.number(_constant(seed)), seed)
        grads: list[Symbol | None] = [None] * len(chain.stops)
        grads[0] = start
        local: dict[tuple[int, int], Expr] = {}
        for stop, edges in enumerate(chain.edges):
            grad = grads[stop]
            if grad is None or not edges:
                continue
            if stop and grad.expr.weight > (LONG if len(edges) < 2 else SHARED):
                grad = self._named(grad, self.words.names[chain.stops[stop]])
            one = Symbol(algebra, algebra.one, grad.value * 0 + 1) if single else grad
            found = ways.region(chain.stops[stop], chain.number, one, self.run)
            for to, value in found.items():
                if value is None:
                    continue
                if value.expr.weight > LONGEST:
                    raise Unsayable("a derivative of very many names and numbers")
                if single:
                    local[stop, to] = algebra.factored(value.expr)
                    value = Symbol(algebra, algebra.mul(grad.expr, value.expr),
                                   grad.value * value.value)  # fmt: skip
                held = grads[to]
                grads[to] = value if held is None else held + value
        return grads[-1], self.lines, local

    def _short(self, grad: Symbol) -> Symbol:
        """A gradient that is about to be written down twice: a long one gets a line."""
        return grad if grad.expr.weight <= SHARED else self._named(grad, "")

    def _named(self, grad: Symbol, label: str) -> Symbol:
        """A gradient on the way gets a line of its own."""
        name = self.words.fresh(f"grad_{label or len(self.lines) + 1}")
        expr = self.algebra.factored(written_out(grad))
        self.lines.append((name, expr))
        value = float(grad.value.reshape(-1)[0]) if grad.value.size == 1 else None
        if self.words.labels.ran.missing:
            value = None
        if label:
            self.adjoints[name] = label
        shape = tuple(grad.value.shape)
        return Symbol(self.algebra, self.algebra.name(name, shape, value), grad.value)


def _constant(seed: Any) -> float:
    flat = seed.reshape(-1).tolist()
    if any(value != flat[0] for value in flat):
        raise Unsayable("a gradient to start from of different numbers")
    return flat[0]


# ---------------------------------------------------------------- as facts


def formula_of(
    labels: Labels, chain: Chain, names: dict[Position, str], seed: Any, expected: Any,
    report: PathsReport, asked: bool,
) -> tuple[FormulaFact | None, str]:  # fmt: skip
    """The formula, or why there is none; unasked only where it is short."""
    ways = chain.ways
    if len(ways.order) > (NODES if asked else NODES_UNASKED):
        return None, f"no formula: it would run over {len(ways.order):,} nodes" if asked else ""
    try:
        formulas = Formulas(labels, ways, names)
        found, lines, local = formulas.gradient(chain, seed, report.single)
        if found is None:
            raise Unsayable("a gradient that is not defined")
        fact = _fact(formulas, found, lines, local, names, chain)
    except Unsayable as reason:
        return None, f"no formula: {reason} has none in the language" if asked else ""
    except RecursionError:
        return None, "no formula: an expression of very many steps has none" if asked else ""
    except (AttributeError, TypeError, ValueError, IndexError, RuntimeError, KeyError) as error:
        return None, f"no formula: a derivative can't be written ({error})" if asked else ""
    if not asked and (fact.lines or len(fact.text) > 68):
        return None, ""
    if not _holds(labels, fact, expected):
        return (
            None,
            "no formula: at the end of the program the one found gives something else"
            if asked
            else "",
        )
    return fact, ""


def _fact(
    formulas: Formulas, found: Symbol, lines: list[tuple[str, Expr]],
    local: dict[tuple[int, int], Expr], names: dict[Position, str], chain: Chain,
) -> FormulaFact:  # fmt: skip
    algebra, words = formulas.algebra, formulas.words
    written = [found.expr, *(expr for _, expr in lines), *local.values()]
    if sum(expr.weight for expr in written) > LONGEST:
        raise Unsayable("a derivative of very many names and numbers")
    final = algebra.factored(written_out(found))
    made = {name: d.expr for name, d in words.definitions.items()}
    used = _used([final, *(expr for _, expr in lines)], {**made, **dict(lines)})
    before = [(d.name, algebra.factored(d.expr))
              for d in sorted(words.definitions.values(), key=lambda d: d.clock)
              if d.name in used]  # fmt: skip
    every = [*before, *(line for line in lines if line[0] in used)]
    page_names = Page(words.labelled, formulas.adjoints)
    numbers = with_numbers(final, algebra.values, str)
    constant = numbers is None or final.kind == "number"
    steps = tuple(
        (names[chain.stops[of]], names[chain.stops[to]], python(expr), latex(expr, page_names))
        for (of, to), expr in local.items()
    )
    return FormulaFact(
        python(final), tuple((name, python(expr)) for name, expr in every),
        "" if constant else numbers or "", latex(final, page_names),
        tuple((page_names(name), latex(expr, page_names)) for name, expr in every),
        "" if constant else latex(final, _latex_values(algebra.values)), steps,
        tuple((own, label) for own, label in words.labelled.items()
              if own in used and own not in made and "#" in label),
    )  # fmt: skip


class Page:
    """How names look on a page: numbered as in the paths, gradients on the way with a bar."""

    def __init__(self, labelled: dict[str, str], adjoints: dict[str, str]) -> None:
        self.labelled, self.adjoints = labelled, adjoints

    def __call__(self, name: str) -> str:
        of = self.adjoints.get(name)
        if of is not None:
            return f"\\bar{{{latex_name(of)}}}"
        return latex_name(self.labelled.get(name, name))


def _latex_values(values: dict[str, float]) -> Any:
    def latex_number(name: str) -> str:
        text = f"{values[name]:.6g}"
        return f"({text})" if text.startswith("-") else text

    return latex_number


def _used(roots: list[Expr], made: dict[str, Expr]) -> set[str]:
    """The names that a formula needs, directly or through the lines of others."""
    used: set[str] = set()
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        expr = pending.pop()
        if expr.serial in seen:
            continue
        seen.add(expr.serial)
        if expr.kind == "name":
            if expr.data not in used:
                used.add(expr.data)
                if expr.data in made:
                    pending.append(made[expr.data])
        elif expr.kind == "sum":
            pending.extend(e for _, e in expr.data)
        elif expr.kind == "product":
            pending.extend(e for e, _ in expr.data[1])
        elif expr.kind == "power":
            pending.extend(expr.data)
        elif expr.kind == "call":
            pending.extend(a for _, a in expr.data[2] if isinstance(a, Expr))
        elif expr.kind == "text":
            pending.extend(p for p in expr.data[0] if isinstance(p, Expr))
    return used


def _holds(labels: Labels, fact: FormulaFact, expected: Any) -> bool:
    """Runs the formula as part of the program: it must give what the paths add up to."""
    outcome = labels.ran.outcome
    assert outcome is not None and outcome.machine is not None
    values = outcome.machine.globals.values
    added: list[str] = []
    before, state.grad_enabled = state.grad_enabled, True
    try:
        for name, text in fact.lines:
            values[name] = outcome.machine.evaluate(text, "<formula>")
            added.append(name)
        result = outcome.machine.evaluate(fact.text, "<formula>")
    except Exception:  # whatever it is: this formula does not hold
        return False
    finally:
        state.grad_enabled = before
        for name in added:
            values.pop(name, None)
    return _alike(result, expected)


def _alike(result: Any, expected: Any) -> bool:
    """The same numbers but for rounding; a number stands for a tensor of one."""
    flat = result._data.reshape(-1).tolist() if isinstance(result, Tensor) else [result]
    wanted = expected.reshape(-1).tolist() if hasattr(expected, "reshape") else [expected]
    if len(flat) != len(wanted):
        return False
    most = max((abs(x) for x in wanted if x == x and abs(x) != float("inf")), default=0.0)
    room = 1e-3 * most + 1e-6
    return all(x == y or (x != x and y != y) or abs(x - y) <= room
               for x, y in zip(flat, wanted, strict=True))  # fmt: skip
