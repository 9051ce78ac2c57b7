"""Tests of what is drawn: cells and columns, trees, folds, tables, errors, JSON, escapes."""

from __future__ import annotations

import random
import shlex
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradcli.diagnostics import Diagnostic, Label, Span, command
from gradcli.recording.facts import (
    BackwardFact,
    ConstantFact,
    FlowFact,
    NodeFact,
    Place,
    Report,
    RootFact,
    SavedFact,
    Spread,
    TensorFact,
)
from gradcli.recording.facts.basic import Elsewhere
from gradcli.recording.facts.steps import ValueFact
from gradcli.render import error, escape, fold, json as render_json, trace
from gradcli.render.graph import Graph
from gradcli.render.steps.values import size_of
from gradcli.render.table import summary
from gradcli.render.text import (
    Cell,
    Look,
    _cut,
    at,
    cell,
    columns,
    cut,
    pad,
    paint,
    width_of,
    wrap,
)  # fmt: skip

SCHEMAS = Path(__file__).parent.parent / "gradcli" / "schemas"
PLAIN = Look(color=False, unicode=True, width=80)


def place(line: int, text: str, target: str = "") -> Place:
    return Place(line, 5, line, 5 + len(text), text, target)


def leaf(name: str, node: int, value: float, grad: float | None, line: int = 1) -> TensorFact:
    told = None if grad is None else f"tensor({grad:g}.)"
    return TensorFact(
        name, (), "float32", "cpu", True, True, False, None, node, 0, line, value, grad,
        grad is not None, f"tensor({value:g}.)", told,
    )  # fmt: skip


def inner(name: str, node: int, value: float, function: str, line: int) -> TensorFact:
    return TensorFact(
        name, (), "float32", "cpu", True, False, False, function, node, 0, line, value, None,
        False, f"tensor({value:g}.)",
    )  # fmt: skip


def drawn(
    file: str, device: str, tensors: tuple[TensorFact, ...], nodes: tuple[NodeFact, ...],
    results: Sequence[int], **more: Any,
) -> Report:  # fmt: skip
    """A report that draws the trees of some of its tensors."""
    roots = (RootFact(tensors[at].node or 0, tensors[at].output_nr, tensors[at].name, at)
             for at in results)  # fmt: skip
    return Report(file, device, tensors, nodes, tuple(roots), **more)


def two_paths() -> Report:
    """L = 10 - (w3 * (w1 * a) + w4 * (w2 * a))"""
    accumulate = "AccumulateGrad"
    nodes = (
        NodeFact(0, "MulBackward0", ((1, 0), (2, 0)), place(3, "w1 * a", "b")),
        NodeFact(1, accumulate, ()),
        NodeFact(2, accumulate, ()),
        NodeFact(3, "MulBackward0", ((4, 0), (2, 0)), place(4, "w2 * a", "c")),
        NodeFact(4, accumulate, ()),
        NodeFact(5, "AddBackward0", ((6, 0), (8, 0)), place(5, "w3 * b + w4 * c", "d")),
        NodeFact(6, "MulBackward0", ((7, 0), (0, 0)), place(5, "w3 * b")),
        NodeFact(7, accumulate, ()),
        NodeFact(8, "MulBackward0", ((9, 0), (3, 0)), place(5, "w4 * c")),
        NodeFact(9, accumulate, ()),
        NodeFact(10, "RsubBackward1", ((5, 0),), place(6, "10 - d", "L")),
    )
    tensors = (
        leaf("a", 2, 4, -53),
        leaf("w1", 1, 2, -36, 2),
        leaf("w2", 4, 5, -28, 2),
        leaf("w3", 7, 9, -8, 2),
        leaf("w4", 9, 7, -20, 2),
        inner("b", 0, 8, "MulBackward0", 3),
        inner("c", 3, 20, "MulBackward0", 4),
        inner("d", 5, 212, "AddBackward0", 5),
        inner("L", 10, -202, "RsubBackward1", 6),
    )
    flows = (
        FlowFact(6, 0, (), "tensor(72.)", "tensor(-1.)"),
        FlowFact(8, 0, (), "tensor(140.)", "tensor(-1.)"),
        FlowFact(5, 0, (), "tensor(212.)", "tensor(-1.)"),
        *(
            FlowFact(fact.node or 0, 0, (), fact.text, fact.grad_text)
            for fact in tensors
            if fact.is_leaf
        ),
    )
    return drawn(
        "two_paths.expr", "cpu", tensors, nodes, (8,), flows=flows, freed=4, saving=6,
        backwards=(BackwardFact(7, False),),
    )  # fmt: skip


TWO_PATHS = """\
                        grad_fn        value      grad  line
L = 10 - d              RsubBackward1  -202.               6
└─ d = w3 * b + w4 * c  AddBackward0   212.       -1.      5
   ├─ w3 * b            MulBackward0   72.        -1.      5
   │  ├─ w3             leaf           9.         -8.      2
   │  └─ b = w1 * a     MulBackward0   8.                  3
   │     ├─ w1          leaf           2.         -36.     2
   │     └─ a           leaf           4.         -53.     1
   └─ w4 * c            MulBackward0   140.       -1.      5
      ├─ w4             leaf           7.         -20.     2
      └─ c = w2 * a     MulBackward0   20.                 4
         ├─ w2          leaf           5.         -28.     2
         └─ a           leaf           see above

tensor  type     requires_grad  leaf / grad_fn  value  grad  line
a       float32  yes            leaf            4.     -53.     1
w1      float32  yes            leaf            2.     -36.     2
w2      float32  yes            leaf            5.     -28.     2
w3      float32  yes            leaf            9.     -8.      2
w4      float32  yes            leaf            7.     -20.     2
b       float32  yes            MulBackward0    8.     None     3
c       float32  yes            MulBackward0    20.    None     4
d       float32  yes            AddBackward0    212.   None     5
L       float32  yes            RsubBackward1   -202.  None     6

backward on line 7 freed 4 of 6 nodes' saved tensors; --retain-graph keeps them
"""


def test_the_page_of_trace() -> None:
    assert trace.text(two_paths(), PLAIN) == TWO_PATHS


def test_the_page_in_ascii_says_the_same() -> None:
    page = trace.text(two_paths(), PLAIN._replace(unicode=False))
    assert page.isascii()
    drawn = str.maketrans({"├": "|", "└": "`", "│": "|", "─": "-"})
    assert page == TWO_PATHS.translate(drawn)


def test_colours_change_nothing_else() -> None:
    page = trace.text(two_paths(), PLAIN._replace(color=True))
    assert "\x1b[32mw1\x1b[0m" in page or "\x1b[32m" in page
    plain = "\n".join(line.rstrip() for line in escape.plain(page).split("\n"))
    assert plain == TWO_PATHS


def test_the_programs_own_output_comes_first() -> None:
    page = trace.text(two_paths()._replace(output="tensor(-53.)"), PLAIN)
    assert page.startswith("tensor(-53.)\n\n   ")


# ---------------------------------------------------------------- chains


def chain(count: int, *, alike: bool = True) -> Report:
    """y = y * a + b, `count` times."""
    nodes = [NodeFact(0, "AccumulateGrad", ()), NodeFact(1, "AccumulateGrad", ()),
             NodeFact(2, "AccumulateGrad", ())]  # fmt: skip
    last = 2
    for i in range(count):
        where = 4 if alike else i
        words = ("y * a", "y * a + b") if alike else (f"y * a{i * i}", f"y{i}")
        nodes.append(NodeFact(len(nodes), "MulBackward0", ((last, 0), (0, 0)),
                              place(where, words[0])))  # fmt: skip
        nodes.append(NodeFact(len(nodes), "AddBackward0", ((len(nodes) - 1, 0), (1, 0)),
                              place(where, words[1], "y")))  # fmt: skip
        last = len(nodes) - 1
    tensors = (leaf("a", 0, 1, None), leaf("b", 1, 2, None), leaf("y0", 2, 3, None),
               inner("y", last, 7, "AddBackward0", 4))  # fmt: skip
    return drawn("chain.expr", "cpu", tensors, tuple(nodes), (3,))


def test_a_long_chain_is_folded() -> None:
    page = trace.text(chain(5000), PLAIN)
    tree = page.split("\n\n")[0].splitlines()
    assert len(tree) < 12
    assert any("these 2 nodes × 4,999" in line for line in tree)
    assert tree[-1].split()[:2] == ["└─", "y0"] or "y0" in page
    assert "--expand" in page


def test_expand_draws_everything_without_drifting_to_the_right() -> None:
    lines = trace.text(chain(300), PLAIN, expand=True).splitlines()
    assert sum("MulBackward0" in line for line in lines) == 300
    assert max(map(len, lines)) <= 80


def test_a_chain_without_a_pattern_shows_its_ends() -> None:
    page = trace.text(chain(500, alike=False), PLAIN)
    assert "more nodes (AddBackward0 ×" in page
    assert len(page.splitlines()) < 100


def test_many_nodes_in_time() -> None:
    report = chain(50_000)
    start = time.process_time()
    page = trace.text(report, PLAIN)
    assert "× 49,999" in page
    assert time.process_time() - start < 5
    start = time.process_time()
    size = sum(map(len, render_json.trace(report)))
    assert size > 5_000_000
    assert time.process_time() - start < 15


def test_depth_stops_early() -> None:
    page = trace.text(two_paths(), PLAIN, depth=1)
    assert "w3 * b" not in page.split("\n\n")[0].replace("d = w3 * b + w4 * c", "")
    assert "--depth" in page
    assert "RsubBackward1" in trace.text(two_paths(), PLAIN, depth=0)
    assert len(trace.text(chain(1000), PLAIN, depth=20, expand=True).splitlines()) < 60


def test_sharing_does_not_double() -> None:
    """y = y + y forty times is forty lines and not two to the fortieth."""
    nodes = [NodeFact(0, "AccumulateGrad", ())]
    for i in range(40):
        nodes.append(NodeFact(i + 1, "AddBackward0", ((i, 0), (i, 0)), place(i + 2, "y + y", "y")))
    report = drawn("p.expr", "cpu", (leaf("x", 0, 1, None), inner("y", 40, 2, "AddBackward0", 9)),
                    tuple(nodes), (1,))  # fmt: skip
    page = trace.text(report, PLAIN, expand=True)
    assert page.count("AddBackward0") < 90
    assert "see #1" in page


def test_a_residual_connection_refers_to_the_line() -> None:
    """x + f(x): the short branch points at the node further down the long one."""
    nodes = [NodeFact(0, "AccumulateGrad", ())]
    last = 0
    for i in range(4):
        start = last
        for k in range(3):
            nodes.append(NodeFact(len(nodes), f"F{k}Backward0", ((last, 0),),
                                  place(9, f"f{k}(x)")))  # fmt: skip
            last = len(nodes) - 1
        nodes.append(NodeFact(len(nodes), "AddBackward0", ((start, 0), (last, 0)),
                              place(10 + i, "x + f(x)", "x")))  # fmt: skip
        last = len(nodes) - 1
    report = drawn("p.expr", "cpu", (leaf("x0", 0, 1, None), inner("x", last, 2, "Add", 13)),
                    tuple(nodes), (1,))  # fmt: skip
    page = trace.text(report, PLAIN, expand=True)
    tree = page.split("\n\n")[0]
    assert "see #1 below" in tree and "#1 x = x + f(x)" in tree
    assert tree.count("F0Backward0") == 4


def test_nodes_with_very_many_inputs() -> None:
    nodes = [NodeFact(i, "AccumulateGrad", ()) for i in range(1000)]
    nodes.append(NodeFact(1000, "StackBackward0", tuple((i, 0) for i in range(1000)), None))
    report = drawn("p.expr", "cpu", (inner("s", 1000, 0, "StackBackward0", 2),), tuple(nodes), (0,))
    page = trace.text(report, PLAIN)
    assert "985 more inputs" in page and len(page.splitlines()) < 30
    assert len(trace.text(report, PLAIN, expand=True).splitlines()) > 1000


def test_constants_and_results_without_a_graph() -> None:
    nodes = (NodeFact(0, "MulBackward0", (None, (1, 0)), place(2, "a * w", "y")),
             NodeFact(1, "AccumulateGrad", ()))  # fmt: skip
    report = drawn("p.expr", "cpu", (inner("y", 0, 8, "MulBackward0", 2),), nodes, (0,),
                    constants=(ConstantFact(0, 0, "a", "tensor(4.)"),))  # fmt: skip
    page = trace.text(report, PLAIN)
    assert "├─ a " in page and "constant      4." in page
    empty = trace.text(Report("p.expr", "cpu"), PLAIN)
    assert empty == "no tensor requires grad: there is no graph to draw\n"


def test_many_results_are_thinned() -> None:
    tensors = tuple(inner(f"losses[{i}]", i, i, "MulBackward0", 2) for i in range(200))
    nodes = tuple(NodeFact(i, "MulBackward0", (None,)) for i in range(200))
    page = trace.text(drawn("p.expr", "cpu", tensors, nodes, tuple(range(200))), PLAIN)
    assert "⋮ 1  199 more results: losses[0], losses[1], losses[2] and 196 more" in page
    assert "⋮ 2  194 more" in page and len(page.splitlines()) < 20


def test_saved_table() -> None:
    report = two_paths()._replace(saved=(
        SavedFact(0, "self", (), "tensor(2.)", "w1", 0, 4, False),
        SavedFact(0, "other", (), None, None, None, 0, True),
    ), saved_bytes=4)  # fmt: skip
    page = trace.text(report, PLAIN, saved=True)
    assert "w1 = 2." in page and "freed by line 7" in page and "4 bytes are kept" in page


# ---------------------------------------------------------------- widths


WIDE = [
    "tensor",
    "名前 = テンソル * 二",
    "é" * 90,
    "x" * 500,
    "a\tb\x1b[31mred\x07",
    "\u202eabc",
    "👩‍🔬" * 30,
]


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("text", WIDE, ids=range(len(WIDE)))
def test_nothing_is_wider_than_the_page(text: str, width: int) -> None:
    look = PLAIN._replace(width=width)
    nodes = (NodeFact(0, "NativeLayerNormBackward0", ((1, 0),), place(2, text, text[:9])),
             NodeFact(1, "AccumulateGrad", ()))  # fmt: skip
    tensors = (leaf(text, 1, 3, 4), inner("z", 0, 1, "NativeLayerNormBackward0", 2))
    tensors = (tensors[0]._replace(text=f"tensor([{text}])", range=Spread(0.0, 1e9)), tensors[1])
    page = trace.text(drawn("p.expr", "cpu", tensors, nodes, (1,)), look, saved=True)
    assert max(width_of(line) for line in page.splitlines()) <= width
    assert escape.block(page) == page


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (1.0, 1.0, "1"), (-0.0, 0.0, "0"), (1.0, 2.0, "1…2"), (1.0001, 1.0002, "1.0001…1.0002"),
        (0.1 + 0.2, 0.4, "0.3…0.4"), (float("inf"), float("inf"), "inf"),
    ],
)  # fmt: skip
def test_numbers_that_differ_are_shown_as_different(low: float, high: float, shown: str) -> None:
    span = Spread(low, high)
    assert summary("", (9,), span) == shown
    assert ("all" in size_of(ValueFact((9,), "float64", range=span))) == (low == high)


def test_sentences_are_broken_between_words_on_a_terminal_without_colours() -> None:
    said = (Cell("gradients: ", "name"), cell("of each pass " * 9))
    shown = paint([said], Look(width=50)).splitlines()
    whole = paint([said], Look(width=50, whole=True)).rstrip("\n")
    assert " ".join(row.strip() for row in shown) == whole
    assert all(row.startswith(" " * len("gradients: ") + "of") for row in shown[1:])
    assert max(map(width_of, shown)) <= 50


def test_cut_and_pad() -> None:
    assert cut("tensor", 6) == "tensor" and cut("tensor", 4) == "ten…"
    assert cut("名前名前", 5) == "名前…" and cut("abc", 0) == ""
    assert pad("名", 4) == "名  " and pad("1", 3, right=True) == "  1"


def test_columns_give_way_widest_first() -> None:
    rows = [(cell("x" * 50), cell("y" * 50), cell("zz"))]
    (line,) = columns(rows, PLAIN, giving=(((0, 10), (1, 10)),))
    assert sum(width_of(piece.text) for piece in line) == 80
    assert paint([line], PLAIN).count("…") == 2


@pytest.mark.parametrize(
    ("width", "shown"),
    [(24, "├─ f(g(x)), in net.0  ab"), (22, "├─ f(g(…, in net.0  ab"),
     (20, "├─ f(g(x)), in …  ab")],
)  # fmt: skip
def test_the_module_stays_where_an_expression_is_cut(width: int, shown: str) -> None:
    words = Cell("├─ f(g(x)), in net.0", bare=3, tail=len(", in net.0"))
    rows = [(words, Cell(""), Cell("ab"))]
    (line,) = columns(rows, PLAIN._replace(width=width), giving=(((0, 8),),))
    assert paint([line], PLAIN).rstrip() == shown


def test_fewer_words_leave_room_for_the_columns_behind_them() -> None:
    row = (cell("name"), Cell("1. → 2.718281", short="1. →"), cell("12"))
    (line,) = columns([row], Look(width=15), giving=(((1, 6),), 2))
    assert "".join(piece.text for piece in line).split() == ["name", "1.", "→", "12"]


@pytest.mark.parametrize(
    ("width", "shown"), [(13, "-0.989…-0.537"), (11, "-0.99…-0.54"), (9, "-1…-0.5"), (5, "…")]
)
def test_no_number_is_cut_to_another(width: int, shown: str) -> None:
    rows = [(cell("x"), Cell("-0.989…-0.537", short="-0.989…-0.537"), cell("7"))]
    (line,) = columns(rows, PLAIN._replace(width=width + 6), giving=(((1, 1),),))
    assert line[2].text.rstrip() == shown


def test_room_of_a_column_that_went_is_given_back() -> None:
    cells = [Cell("an expression of words"), Cell("12345"), Cell("mean and norm"), Cell("7")]
    (line,) = columns([cells], PLAIN._replace(width=32), giving=(((0, 8),), 2))
    assert "".join(cell.text for cell in line) == "an expression of words  12345  7"


@pytest.mark.parametrize(
    "name", ["w", "net.0.weight", "重み", "weights[1]", "d['k']", "a b", "$x", "it's $x", '"', "`'"]
)
def test_a_name_in_a_command_is_one_word(name: str) -> None:
    line = command("why", name)
    assert shlex.split(line) == ["gradcli", "why", name]
    assert line.count("'") <= 5


# ---------------------------------------------------------------- folds


def plainly(tokens: list[int], found: list[fold.Repeat]) -> list[int]:
    """The sequence again, from its repeats."""
    out: list[int] = []
    at = 0
    for repeat in found:
        out += tokens[at : repeat.start]
        out += tokens[repeat.start : repeat.start + repeat.period] * repeat.times
        at = repeat.start + repeat.period * repeat.times
    return out + tokens[at:]


def test_repeats() -> None:
    assert fold.repeats([1, 2, 1, 2, 1, 2, 3]) == [fold.Repeat(0, 2, 3)]
    assert fold.repeats([9, 1, 1, 1, 1, 8]) == [fold.Repeat(1, 1, 4)]
    assert fold.repeats([1, 2, 3]) == [] and fold.repeats([]) == []
    assert fold.repeats([1, 2, 1, 2]) == []


def test_repeats_report_the_whole_sequence() -> None:
    rng = random.Random(5)
    for _ in range(300):
        tokens: list[int] = []
        for _ in range(rng.randrange(6)):
            piece = [rng.randrange(3) for _ in range(rng.randrange(1, 5))]
            tokens += piece * rng.randrange(1, 7)
        assert plainly(tokens, fold.repeats(tokens)) == tokens


def test_repeats_are_linear() -> None:
    tokens = [random.Random(i).randrange(4) for i in range(60_000)]
    start = time.process_time()
    fold.repeats(tokens)
    assert time.process_time() - start < 3


def test_heights_and_signatures() -> None:
    graph = Graph(two_paths())
    assert graph.height[10] == 4 and graph.height[0] == 1 and graph.height[1] == 0
    assert graph.signature(1) == graph.signature(2)
    assert graph.signature(0) != graph.signature(3)  # w1 * a and w2 * a read differently


# ---------------------------------------------------------------- escapes


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("é 名 🙂", "é 名 🙂"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("a\x00b", "a\\x00b"),
        ("a\x7fb\x9b", "a\\x7fb\\x9b"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_one_escape(raw: str, shown: str) -> None:
    assert escape.line(raw) == shown and escape.block(raw) == shown
    assert Cell(escape.line(raw)).text == cell(raw).text


def test_line_ends() -> None:
    assert escape.line("a\nb\tc") == "a\\nb\\tc"
    assert escape.block("a\nb\tc\x1b\n") == "a\nb\tc\\x1b\n"


# ---------------------------------------------------------------- errors


SOURCE = "a = tensor(4.0)\nL = a * 2\nL.backward()\nx = 1\n\n\n\nL.backward()\n"


def test_an_error_with_two_labels() -> None:
    diagnostic = Diagnostic(
        "RuntimeError",
        "Trying to backward through the graph a second time",
        (
            Label(Span(8, 1, 8, 13), "needs it again", True),
            Label(Span(3, 1, 3, 13), "freed what MulBackward0 had saved"),
        ),
        ("help: L.backward(retain_graph=True) on line 3",),
        "p.expr",
    )
    assert error.text(diagnostic, SOURCE, PLAIN) == (
        "p.expr:8:1\n"
        "  3 │ L.backward()\n"
        "    │ ------------ freed what MulBackward0 had saved\n"
        "    ⋮\n"
        "  8 │ L.backward()\n"
        "    │ ^^^^^^^^^^^^ needs it again\n"
        "RuntimeError: Trying to backward through the graph a second time\n"
        "help: L.backward(retain_graph=True) on line 3\n"
    )
    assert error.text(diagnostic, SOURCE, PLAIN._replace(unicode=False)).isascii()


@pytest.mark.parametrize(
    ("source", "span", "marks"),
    [
        ("y = é * sin(x)", Span(1, 9, 1, 15), "        ^^^^^^"),
        ("y = '名前' + z", Span(1, 5, 1, 9), "    ^^^^^^"),
        ("\tz = w", Span(1, 6, 1, 7), "        ^"),
        ("a", Span(1, 40, 1, 41), None),
        ("", Span(1, 1, 1, 1), "^"),
        ("f(\n1,\n2)", Span(1, 1, 3, 3), "^^"),
        ("x" * 300, Span(1, 280, 1, 290), None),
        ("a\x1b[31mb", Span(1, 7, 1, 8), None),
    ],
)
def test_carets(source: str, span: Span, marks: str | None) -> None:
    diagnostic = Diagnostic("NameError", "no", (Label(span, "", True),), file="p.expr")
    page = error.text(diagnostic, source, PLAIN)
    assert page.endswith("NameError: no\n") and "\x1b" not in page
    assert max(map(width_of, page.splitlines())) <= 80
    if marks is not None:
        assert page.splitlines()[2][6:] == marks


def test_messages_of_several_lines_and_without_words() -> None:
    many = Diagnostic("RuntimeError", "one\ntwo\x1b[0m")
    assert error.text(many, None, PLAIN) == "RuntimeError: one\ntwo\\x1b[0m\n"
    assert error.text(Diagnostic("AssertionError", ""), None, PLAIN) == "AssertionError\n"
    coloured = error.text(Diagnostic("AssertionError", ""), None, PLAIN._replace(color=True))
    assert escape.plain(coloured) == "AssertionError\n"


def test_sentences_are_wrapped_by_columns() -> None:
    """A wide character takes two, and nothing of a sentence is lost."""
    for said in (
        "損失の勾配は重みまで 届きません、 どこかで 切れています",
        "gradients of größe and 重み are None",
    ):
        rows = wrap(said, 20)
        assert all(width_of(row) <= 20 for row in rows)
        assert "".join(rows).replace(" ", "") == said.replace(" ", "")
    plain = "a sentence of narrow characters alone, as most of them are"
    assert wrap(plain, 20, subsequent_indent="  ") == textwrap.wrap(
        plain, 20, subsequent_indent="  "
    )


def test_an_outcome_whose_first_word_is_wider_than_the_page_is_whole() -> None:
    name = "network." + "a_long_name_of_a_layer." * 4 + "weight.grad"
    lines = error.note(f"help: y = x{error.TRIED} {name} becomes tensor(1.)", Look(width=60))
    assert f"tried: {name}" in "".join(piece.text for line in lines for piece in line)


@pytest.mark.parametrize(("pieces", "wanted"), [
    (("    types   ", "floats stay as they are, others become floats"),
     ["    types   floats stay as", "            they are, others",
      "            become floats"]),
    (("  1  z  lambda g: torch.zeros_like(g)",),
     ["  1  z  lambda g:", "  torch.zeros_like(g)"]),
    (("backward freed what was saved",), ["backward freed what was", "saved"]),
])  # fmt: skip
def test_a_long_sentence_goes_on_below_itself(pieces: tuple[str, ...], wanted: list[str]) -> None:
    line = tuple(Cell(piece) for piece in pieces)
    assert paint([line], Look(width=28)).splitlines() == wanted


def test_what_has_no_room_for_a_word_is_left_out() -> None:
    rows = [tuple(map(Cell, ("a" * 30, "1", "a description")))]
    assert paint(columns(rows, Look(width=37)), Look()) == f"{'a' * 30}  1\n"
    assert paint(columns(rows, Look(width=42)), Look()) == f"{'a' * 30}  1  a desc…\n"


def test_ends_that_would_read_alike_are_one_number() -> None:
    piece = Cell("0.0992…0.1244", short="0.0992…0.1244")
    shown = [_cut(piece, width, "…") for width in (13, 10, 9, 4, 3)]
    assert shown == ["0.0992…0.1244", "0.099…0.12", "≈0.1", "≈0.1", "…"]


def test_a_place_of_another_cell_alone_has_no_line_before_it() -> None:
    there = Elsewhere("Cell In[5]", 5, "x * 2", False)
    assert at(2, there).text == f"2, {there}" and at(None, there).text == str(there)
