"""Tests of pictures: what they show, where it lies, and that a browser draws it as it was meant."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser import measured
from command_here import here
from picture_programs import PROGRAMS, every

from gradcli.pipeline.request import Request
from gradcli.questions import picture, trace
from gradcli.recording.facts.steps import ValueFact
from gradcli.render.picture.layout import Link, Size, layout
from gradcli.render.picture.words import magnitude, sign_of

SVG = "{http://www.w3.org/2000/svg}"
MOST = 150
ALL = every()
DIRECTIONS = ("down", "right")


@cache
def drawn(name: str, *options: str) -> str:
    """The picture of a program."""
    path = _file(name)
    done = here("trace", str(path), "--format", "svg", *options)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


_FOLDER: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where the programs of this file lie. Each runs once: pictures of one run look at its report
    in different ways."""
    _FOLDER[:] = [tmp_path_factory.mktemp("pictures")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture, "recorded", once(picture.recorded, _of_run))
        patch.setattr(trace, "trace_report", once(trace.trace_report, _of_report))
        yield


def once(answer: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose answers to questions of one key are given again."""
    known: dict[Any, Any] = {}

    def ask(*given: Any, **named: Any) -> Any:
        mark = key(*given, **named)
        if mark not in known:
            known[mark] = given, answer(*given, **named)
        return known[mark][1]

    return ask


def _of_run(request: Request, write: Any, interventions: Any, **how: Any) -> Any:
    return request, interventions, *sorted(how.items())


def _of_report(ran: Any, options: Any) -> Any:
    return id(ran), options


def _file(name: str) -> Path:
    path = _FOLDER[0] / f"{name}.expr"
    path.write_text(ALL[name], "utf-8", errors="surrogatepass")
    return path


@cache
def document(name: str, *options: str) -> dict[str, Any]:
    done = here("trace", str(_file(name)), "--format", "json", "--all", *options)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def groups(text: str) -> list[ET.Element]:
    return list(ET.fromstring(text.encode()).iter(f"{SVG}g"))


def words_of(group: ET.Element) -> list[str]:
    return [text.text or "" for text in group.iter(f"{SVG}text")]


def boxes(text: str) -> list[ET.Element]:
    return [g for g in groups(text) if "id" in g.attrib]


def wires(text: str) -> list[ET.Element]:
    return [g for g in groups(text) if "data-from" in g.attrib]


# ---------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("name", ALL)
def test_every_node_is_drawn_or_folded(name: str) -> None:
    text = drawn(name)
    nodes = document(name)["nodes"]
    found = boxes(text)
    assert len(found) <= MOST
    own = [int(g.attrib["data-node"]) for g in found if "data-node" in g.attrib]
    folded = [int(m) for g in found for m in g.attrib.get("data-members", "").split()]
    assert len(set(own)) == len(own) and len(set(folded)) == len(folded)
    assert not set(own) & set(folded)
    again = {int(g.attrib["data-ref"]) for g in found if "data-ref" in g.attrib}
    assert again <= set(own)
    assert set(own) | set(folded) <= {node["id"] for node in nodes}
    below = _below(nodes, own)
    assert below <= set(own) | set(folded)
    place = {g.attrib["id"]: g for g in found}
    for wire in wires(text):
        assert wire.attrib["data-from"] in place and wire.attrib["data-to"] in place
        assert len(list(wire.iter(f"{SVG}path"))) == 1


def _below(nodes: list[dict[str, Any]], start: list[int]) -> set[int]:
    seen = set(start)
    pending = list(start)
    for number in pending:
        for edge in nodes[number]["next"]:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                pending.append(edge[0])
    return seen


@pytest.mark.parametrize("name", ALL)
def test_every_edge_between_boxes_is_a_wire(name: str) -> None:
    text = drawn(name)
    home: dict[int, set[str]] = {}
    for g in boxes(text):
        for key in ("data-node", "data-ref", "data-members"):
            for number in g.attrib.get(key, "").split():
                home.setdefault(int(number), set()).add(g.attrib["id"])
    joined = {(w.attrib["data-from"], w.attrib["data-to"]) for w in wires(text)}
    expected = set()
    for node in document(name)["nodes"]:
        for edge in node["next"]:
            for to in home.get(node["id"], ()) if edge is not None else ():
                ways = {(source, to) for source in home[edge[0]] if source != to}
                expected |= ways & joined
                assert ways & joined or home[edge[0]] & {to}, (node["id"], edge)
    assert joined == expected


def test_two_paths_says_the_chain_rule() -> None:
    text = drawn("two_paths")
    node = {words_of(g)[0]: g for g in boxes(text)}
    a = node["a"]
    assert "grad -53 = -35 + -18" in words_of(a)
    arriving = {
        tuple(words_of(w)): w.attrib["data-to"]
        for w in wires(text)
        if w.attrib["data-from"] == a.attrib["id"]
    }
    assert arriving == {
        ("-7 · 5 = -35",): node["c = w2 * a"].attrib["id"],
        ("-9 · 2 = -18",): node["b = w1 * a"].attrib["id"],
    }


def test_a_long_loop_is_folded_with_its_turns() -> None:
    (fold,) = [g for g in boxes(drawn("rnn")) if "data-members" in g.attrib]
    assert fold.attrib["data-times"] == "998"
    assert len(fold.attrib["data-members"].split()) == 998 * 5
    assert words_of(fold)[:2] == ["⋯ 998 more turns", "5 operations each · line 7"]
    assert len(boxes(drawn("rnn"))) < 25


def test_leaves_that_a_large_graph_shares_are_drawn_at_each_use() -> None:
    """However few boxes its folds leave: wires from end to end would make it wide."""
    text = drawn("lstm")
    again = [g for g in boxes(text) if "data-ref" in g.attrib]
    assert len(again) == 8 and len({g.attrib["data-ref"] for g in again}) == 4
    width = re.search(r'viewBox="0 0 (\d+)', text)
    assert width is not None and int(width[1]) < 1500


def test_many_neurons_fit_a_screen() -> None:
    """Calls fold until no row is too wide; leaves that all of them share are one box."""
    text = drawn("neurons")
    width = re.search(r'viewBox="0 0 (\d+)', text)
    assert width is not None and int(width[1]) < 1700
    titles = [words_of(g)[0] for g in boxes(text) if "data-members" in g.attrib]
    assert titles.count("MLP.__call__()") == 2 and "⋯ 39 more leaves" in titles
    assert "net.layers[0].neurons[0].w[0]" in [words_of(g)[0] for g in boxes(text)]


def test_of_loops_within_loops_the_outermost_is_folded(tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(
        "w = tensor(0.9, requires_grad=True)\ny = tensor(1.0, requires_grad=True)\n"
        "for i in range(10):\n    for j in range(100):\n        y = (y * w).sin()\n"
        "    y = y.exp()\ny.backward()\n"
    )
    svg = here("trace", str(tmp_path / "p.expr"), "--format", "svg").stdout
    folds = [words_of(g) for g in boxes(svg) if "data-members" in g.attrib]
    assert folds == [
        ["⋯ 98 more turns", "2 operations each · line 5"],
        ["⋯ 8 more turns", "201 operations each · lines 5–6"],
        ["⋯ 98 more turns", "2 operations each · line 5"],
    ]


def test_outputs_of_one_node_have_their_names() -> None:
    node = next(g for g in boxes(drawn("outputs")) if "a, b, c = x.unbind(0)" in words_of(g))
    assert words_of(node)[2:6] == [
        "a value [0., 1., 2., 3.]", "a grad [21., 0., 0., 0.]",
        "b value [4., 5., 6., 7.]", "b grad [8., 9., 10., 11.]"]  # fmt: skip


def test_a_name_belongs_to_the_result_of_a_call_and_to_no_node_within_it(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "layer = nn.Linear(2, 1)\nfor _ in range(2):\n    y = layer(torch.ones(1, 2))\n"
        "    y.sum().backward()\n"
    )
    for one in ("1", "2"):
        text = here("trace", str(file), "--format", "svg", "--pass", one).stdout
        titles = {words_of(g)[1].partition(" ")[0]: words_of(g)[0] for g in boxes(text)}
        assert titles["TBackward0"] == "layer"
        assert titles["AddmmBackward0"] == "y = layer(torch.ones(1, 2))"


def test_what_an_expression_used_itself_has_not_its_name(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "x = torch.ones(2, 3, requires_grad=True)\ny = x\nfor _ in range(3):\n    y = y + x\n"
        "t = torch.tensor([0, 1])\nloss = F.cross_entropy(y, t)\nloss.backward()\n"
    )
    text = here("trace", str(file), "--format", "svg").stdout
    assert sorted(words_of(g)[0] for g in boxes(text)) == [
        "F.cross_entropy(y, t)", "loss = F.cross_entropy(y, t)",
        "x", "y = y + x", "y = y + x", "y = y + x",
    ]  # fmt: skip


def test_outputs_without_names_have_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "x = torch.arange(8.).reshape(1, 4, 2).requires_grad_()\n"
        "y = F.group_norm(x, 2)\ny.sum().backward()\n"
    )
    text = here("trace", str(file), "--format", "svg").stdout
    node = next(g for g in boxes(text) if "y = F.group_norm(x, 2)" in words_of(g))
    starts = [words.partition(" ")[0] for words in words_of(node) if " value " in words]
    assert starts == ["y", "[1]", "[2]"]


def test_a_wire_for_several_is_as_bad_as_the_worst(tmp_path: Path) -> None:
    """And says that they are added only where they reach one tensor."""
    wire = next(w for w in wires(drawn("wide")) if w.attrib["data-from"].startswith("m"))
    assert words_of(wire) == ["190 gradients"] and wire.attrib["class"] == "wire bad"
    added = {words_of(w)[0] for w in wires(drawn("rnn")) if w.attrib["data-from"][0] == "r"}
    assert "998 gradients, added" in added
    (tmp_path / "p.expr").write_text(
        "parts = [tensor(float(i), requires_grad=True) for i in range(40)]\n"
        "loss = (torch.stack(parts) * 0).sum()\nloss.backward()\n"
    )
    svg = here("trace", str(tmp_path / "p.expr"), "--format", "svg").stdout
    wire = next(w for w in wires(svg) if w.attrib["data-from"].startswith("m"))
    assert words_of(wire) == ["30 gradients"] and wire.attrib["class"] == "wire zero"


def test_what_has_no_value_has_one_question_mark_each() -> None:
    leaves = [words_of(g) for g in boxes(drawn("no_values")) if "leaf" in g.attrib["class"]]
    assert [leaf[2:] for leaf in leaves] == [["value ?", "grad ?"]] * 3


def test_words_on_wires_are_as_narrow_as_their_lines_allow() -> None:
    rows = [row for wire in wires(drawn("mlp")) for row in words_of(wire)]
    at = rows.index("matrix product with the")
    assert rows[at + 1] == "other factor, transposed"


def test_a_wire_out_of_a_fold_says_only_what_was_passed_on() -> None:
    """The last node within it has another gradient than its box."""
    text = drawn("transformer", "--fold")
    folds = {g.attrib["id"] for g in boxes(text) if " " in g.attrib.get("data-members", "")}
    folds = {key for key in folds if not key.endswith("x1")}  # one operation and its leaves
    out = [g for g in wires(text) if g.attrib["data-to"] in folds]
    assert out
    for g in out:
        said = " ".join(words_of(g))
        assert re.fullmatch(r"\d+ gradients(, added)?|-?[\d.e-]+(…-?[\d.e-]+)?", said), said


def test_what_a_part_of_a_container_made_is_not_its_result(tmp_path: Path) -> None:
    file = tmp_path / "container.expr"
    file.write_text(
        "net = nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.Tanh(), nn.ReLU()), nn.Tanh())\n"
        "y = net(torch.ones(1, 1))\ny.sum().backward()\n", "utf-8",
    )  # fmt: skip
    text = here("trace", str(file), "--format", "svg").stdout
    heads = [words_of(g)[:2] for g in boxes(text)]
    named = [kind.split(" ")[0] for head, kind in heads if head.startswith("y =")]
    assert named == ["TanhBackward0"]
    made = ["net.0", "net.1.0", "net.1.1"]
    assert {head for head, kind in heads if head in made} == set(made)


def test_modules_are_folded_by_their_names() -> None:
    text = drawn("transformer", "--fold")
    folds = [g for g in boxes(text) if "data-members" in g.attrib]
    assert [words_of(g)[0] for g in folds] == ["embed", "blocks.0", "blocks.1", "head"]
    assert float(ET.fromstring(text.encode()).attrib["height"]) < 2 * 1080
    titles = [g.findtext(f"{SVG}title") for g in folds]  # gradients come with the pass
    assert titles[1] == "folded: blocks.0; Block · 22 operations, 16 leaves; line 32"


def test_nan_zero_and_none_are_words() -> None:
    nan = {words_of(g)[0]: words_of(g) for g in boxes(drawn("nan"))}
    assert any("nan" in word for word in nan["x"])
    dead = [word for w in wires(drawn("dead")) for word in words_of(w)]
    assert any("= 0" in word for word in dead)
    text = drawn("failing")
    assert "line 4: RuntimeError" in text and "z = y.exp()" in text
    freed = {words_of(g)[0]: words_of(g) for g in boxes(drawn("freed"))}
    assert freed["y = x ** 3"][-2:] == ["the error comes from here", "freed by backward on line 3"]
    assert ".grad 12 at the end" in freed["x"]


def test_a_large_gradient_is_compared_by_its_range(tmp_path: Path) -> None:
    """What a picture keeps of it and what .grad holds are not worked out by the same sums."""
    file = tmp_path / "large.expr"
    lines = "w = torch.randn(5000, requires_grad=True)\n(w * w.detach().sin()).sum().backward()\n"
    for more, count in (("", 0), ("w.grad.mul_(2)\n", 1)):
        file.write_text(f"torch.manual_seed(0)\n{lines}{more}", "utf-8")
        assert here("trace", str(file), "--format", "svg").stdout.count("at the end") == count


def test_products_of_small_numbers_have_their_digits(tmp_path: Path) -> None:
    file = tmp_path / "small.expr"
    file.write_text("a = tensor(0.1, requires_grad=True)\nb = a * 0.0123\n(b * 0.5).backward()\n")
    assert "0.5 · 0.0123 = 0.00615" in here("trace", str(file), "--format", "svg").stdout


LONG_NAMES = """
class Wrap(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.self_attention_layer = inner
    def forward(self, x): return self.self_attention_layer(x)
net = Wrap(Wrap(Wrap(nn.Linear(2, 2))))
key = "temperature of the softmax, learned"
scales = {key: tensor(2.0, requires_grad=True)}
out = F.max_pool2d(net(torch.ones(3, 2)).view(1, 1, 3, 2), 2) * scales[key]
big = (torch.ones(5000, requires_grad=True) * 2 / 2).mul(out).relu() + out
big.sum().backward()
"""


def test_names_of_leaves_and_modules_are_whole(tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(LONG_NAMES)
    svg = here("trace", str(tmp_path / "p.expr"), "--format", "svg").stdout
    titles = {
        "".join(row.text or "" for row in box.iter(f"{SVG}text") if row.attrib.get("class") == "t")
        for box in boxes(svg)
    }
    path = "net" + ".self_attention_layer" * 3
    assert {path, f"{path}.weight", f"{path}.bias"} <= titles
    assert "scales['temperature of the softmax, learned']" in titles
    rows = [row for group in groups(svg) for row in words_of(group)]
    assert "MaxPool2DWithIndicesBackward0" in rows
    assert "each element times its own" in " ".join(rows)
    assert max(map(len, rows)) <= 38
    assert "value [5000] all 1" in rows  # one number for all of them is no scalar


def test_a_long_name_is_divided_between_its_words(tmp_path: Path) -> None:
    """And of numbers that do not fit on a wire their range is told."""
    (tmp_path / "p.expr").write_text(
        "first_projection_of_the_input_embedding = tensor([[0.1, -0.2, 2.3]], requires_grad=True)\n"
        "y = (first_projection_of_the_input_embedding * 12.345).sin().sum()\ny.backward()\n"
    )
    svg = here("trace", str(tmp_path / "p.expr"), "--format", "svg").stdout
    leaf = next(words_of(g) for g in boxes(svg) if "leaf" in g.attrib["class"])
    assert leaf[:2] == ["first_projection_of_the_input_", "embedding"]
    rows = [row for wire in wires(svg) for row in words_of(wire)]
    assert "= -12.3…4.07" in rows and not any(row.endswith("…") for row in rows)


def test_three_numbers_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(
        "w = tensor([-0.1234, -0.2345, -0.3456], requires_grad=True)\n(w * w).sum().backward()\n"
    )
    svg = here("trace", str(tmp_path / "p.expr"), "--format", "svg").stdout
    leaf = next(words_of(g) for g in boxes(svg) if "leaf" in g.attrib["class"])
    assert "grad [-0.2468, -0.4690, -0.6912]" in leaf


def test_depth_draws_that_many_levels() -> None:
    text = drawn("two_paths", "--depth", "1")
    titles = [words_of(g)[0] for g in boxes(text)]
    assert titles == ["⋯ 4 more operations", "d = w3 * b + w4 * c", "L = 10 - d"]


def test_themes() -> None:
    assert "prefers-color-scheme" in drawn("two_paths")
    for theme in ("light", "dark"):
        assert "prefers-color-scheme" not in drawn("two_paths", "--theme", theme)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_bytes_twice(name: str) -> None:
    again = here("trace", str(_file(name)), "--format", "svg")
    assert again.stdout == drawn(name)


def test_hostile_names_stay_words() -> None:
    text = drawn("hostile")
    root = ET.fromstring(text.encode())
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text", "g",
    }  # fmt: skip
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text) is None


# ---------------------------------------------------------------- the facts behind it


@pytest.mark.parametrize(
    "name", ["transformer", "two_passes", "second_order", "calls", "two_paths"]
)
def test_trace_and_step_share_ids_and_names(name: str) -> None:
    trace = document(name)
    steps = json.loads(here("step", str(_file(name)), "--format", "json").stdout)
    nodes = {node["id"]: node for node in trace["nodes"]}
    names: dict[int, set[str]] = {}
    for tensor in trace["tensors"]:
        names.setdefault(tensor["node"], set()).add(tensor["name"])
    for step in steps["passes"][-1]["steps"]:
        node = nodes[step["id"]]
        assert (node["name"], node["step"]) == (step["node"], step["step"])
        told = [edge for edge in step["edges"] if edge["then"] != "constant"]
        assert [edge for edge in node["edges"] if edge] == [
            {key: value for key, value in edge.items() if key != "to"} for edge in told
        ]
        if step["is_leaf"]:
            assert step["name"] in names[step["id"]]


def test_the_json_has_the_chain_rule() -> None:
    nodes = document("two_paths")["nodes"]
    arrived: dict[int, float] = {}
    for node in nodes:
        for edge, facts in zip(node["next"], node["edges"], strict=True):
            arrived[edge[0]] = arrived.get(edge[0], 0.0) + facts["product"]["value"]
            incoming = next(flow["grad"] for flow in node["flow"])
            assert facts["product"]["value"] == incoming * facts["local"]["value"]["value"]
    leaves = {node["id"]: node["flow"][0]["grad"] for node in nodes if not node["next"]}
    assert leaves == {number: arrived[number] for number in leaves}


def test_the_json_reports_calls_and_order() -> None:
    answer = document("transformer")
    frames = answer["frames"]
    paths = {frame["name"]: frame for frame in frames}
    outer = frames[paths["blocks.0.attention.q"]["parent"]]
    assert (outer["name"], outer["kind"], outer["line"]) == ("blocks.0.attention", "Attention", 23)
    orders = [node["order"] for node in answer["nodes"] if node["next"]]
    assert sorted(orders) == list(range(1, len(orders) + 1))
    place = {node["id"]: node["order"] for node in answer["nodes"]}
    for node in answer["nodes"]:
        for edge in node["next"]:
            assert edge is None or (place[edge[0]] or 0) < node["order"]
    calls = {(frame["name"], frame["line"]) for frame in document("calls")["frames"]}
    assert calls == {("layer", 10), ("attend", 7)}


# ---------------------------------------------------------------- where it lies


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_geometry(direction: str, theme: str, tmp_path: Path) -> None:
    ways: list[tuple[str, ...]] = [()]
    if theme == "light":
        ways += [("--fold",), ("--expand",), ("--depth", "2")]
    pictures = {
        f"{name} {options}": drawn(name, "--direction", direction, "--theme", theme, *options)
        for options in ways
        for name in (PROGRAMS if options or theme == "dark" else ALL)
    }
    found = measured(pictures, tmp_path)
    assert found.keys() == pictures.keys()
    assert {name: wrong[:5] for name, wrong in found.items() if wrong} == {}


# ---------------------------------------------------------------- other formats


def written(name: str, format: str, *options: str) -> str:
    done = here("trace", str(_file(name)), "--format", format, *options)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_mermaid_stays_below_its_limits(name: str) -> None:
    text = written(name, "mermaid", "--expand")
    edges = re.findall(r"^  (\w+) (?:-->|==>|-\.->)(?:\|\"[^\"|<]*(?:<br>[^\"|<]*)*\"\|)? (\w+)$",
                       text, re.MULTILINE)  # fmt: skip
    arrows = re.findall(r"-->|==>|-\.->", re.sub(r'"[^"\n]*"', "", text))
    assert len(edges) == len(arrows) < 500 and len(text) < 50_000
    nodes = set(re.findall(r"^  (\w+)(?:\(\[|\[|\{\{)", text, re.MULTILINE))
    assert {end for edge in edges for end in edge} <= nodes


def test_mermaid_has_boxes_in_the_order_of_the_picture() -> None:
    """From the result up, and from the left: its own layout starts from this order."""
    text = written("two_paths", "mermaid")
    names = re.findall(r"^  \w+(?:\(\[|\[|\{\{)+\"([\w ]+)", text, re.MULTILINE)
    assert [name.split()[0] for name in names] == "L d w3 w4 b w3 c w4 w1 a w2".split()
    assert '"wrappingWidth": 400' in text.splitlines()[1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_dot_reads_the_picture(name: str) -> None:
    text = written(name, "dot")
    edges = len(re.findall(r"^  \w+ -> \w+ \[", text, re.MULTILINE))
    assert edges == len(wires(drawn(name)))
    dot = shutil.which("dot")
    if dot is not None:
        done = subprocess.run(
            [dot, "-Tplain"], input=text.encode(), capture_output=True, timeout=60
        )
        assert done.returncode == 0 and done.stderr == b""
        plain = done.stdout.decode().splitlines()
        assert sum(line.startswith("edge ") for line in plain) == edges
        assert sum(line.startswith("node ") for line in plain) == len(boxes(drawn(name)))


@pytest.mark.parametrize("name", ["two_paths", "hostile", "rnn", "nan"])
def test_latex_has_the_same_coordinates(name: str, tmp_path: Path) -> None:
    text = written(name, "latex")
    assert text.isascii()
    corners = re.findall(r"^\\draw\[.*?\] \(([\d.]+),([\d.]+)\) rectangle", text, re.MULTILINE)
    rects = [g.findall(f"{SVG}rect") for g in boxes(drawn(name))]
    shapes = [next(r for r in them if r.attrib.get("class") == "shape") for them in rects if them]
    assert corners == [(r.attrib["x"], r.attrib["y"]) for r in shapes]
    latex = shutil.which("pdflatex")
    if latex is not None:
        (tmp_path / "picture.tex").write_text(text)
        done = subprocess.run([latex, "-interaction=nonstopmode", "-halt-on-error", "picture.tex"],
                              cwd=tmp_path, capture_output=True, timeout=120)  # fmt: skip
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_latex_writes_letters_of_other_alphabets(tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text(
        "α = tensor(2.0, requires_grad=True)\nΔς, é = α * 2, α + 1\n损 = Δς * é\n损.backward()\n",
        "utf-8",
    )
    text = here("trace", str(tmp_path / "p.expr"), "--format", "latex").stdout
    assert r"\bfseries \ensuremath{\alpha}}" in text
    assert r"\ensuremath{\Delta}\ensuremath{\varsigma}" in text and r"\'{e}" in text
    assert r"\resizebox{8.8bp}{1.3ex}{635F}" in text  # the number of the sign, in two columns


@pytest.mark.parametrize("table", ["--views", "--stats", "--saved", "--legend"])
def test_a_table_is_no_picture(table: str, tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text("x = torch.ones((), requires_grad=True)\n(x * 2).backward()\n")
    done = here("trace", str(tmp_path / "p.expr"), table, "--format", "svg")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{table} has no place in a picture: use --format text" in done.stderr


def test_wires_that_would_run_together_have_lanes() -> None:
    far = [Link(0, box) for box in range(1, 13)]
    placed = layout([Size(90.0, 40.0)] * 13, far)
    lanes = [bend.turn for way in placed.wires for bend in way if bend.turn is not None]
    assert len(lanes) > 8 and len(set(lanes)) > 4
    placed = layout([Size(90.0, 40.0)] * 3, far[:2])
    assert all(bend.turn is None for way in placed.wires for bend in way)


@pytest.mark.parametrize(
    ("shape", "text", "sign", "size"),
    [((), "tensor(-2.)", -1, 2.0), ((1,), "tensor([-0.3792])", -1, 0.3792),
     ((1,), "tensor([0.])", 0, 0.0),
     ((1, 1), "tensor([[3.]])", 1, 3.0), ((), "tensor(1.+2.j)", 1, None)],
)  # fmt: skip
def test_the_colour_and_width_of_a_wire_with_one_number(
    shape: tuple[int, ...], text: str, sign: int, size: float | None
) -> None:
    value = ValueFact(shape, "float32", text)
    assert (sign_of(value), magnitude(value)) == (sign, size)
