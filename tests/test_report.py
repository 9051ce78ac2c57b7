"""Tests of collecting: the same inspector reads PyTorch's tensors and ours, and must agree."""

from __future__ import annotations

import gc
import random
import time
import warnings
from typing import Any

import pytest
from oracle import torch as pytorch

import gradcli
from gradcli.recording import collect as collecting, holding, operands, saved
from gradcli.recording.collect import Collected
from gradcli.recording.constants import constants
from gradcli.recording.facts import NodeFact, Place
from gradcli.render.table import mean_and_norm, summary, type_text

LIBRARIES = [pytest.param(gradcli, id="gradcli")]
if pytorch is not None:
    LIBRARIES.append(pytest.param(pytorch, id="torch"))
both = pytest.mark.parametrize("torch", LIBRARIES)


def collected(torch: Any, names: dict[str, Any], **options: Any) -> Collected:
    return collecting.collect(names, torch.Tensor, **options)


def two_paths(torch: Any) -> dict[str, Any]:
    a = torch.tensor(4.0, requires_grad=True)
    w1, w2, w3, w4 = (torch.tensor(i, requires_grad=True) for i in (2.0, 5.0, 9.0, 7.0))
    b, c = w1 * a, w2 * a
    d = w3 * b + w4 * c
    L = 10 - d
    return {"a": a, "w1": w1, "w2": w2, "w3": w3, "w4": w4, "b": b, "c": c, "d": d, "L": L}


@both
def test_tensors(torch: Any) -> None:
    names = two_paths(torch)
    names["L"].backward()
    facts = collected(torch, names, texts=True, lines={"L": 7}).tensors
    assert [fact.name for fact in facts] == list(names)
    by_name = {fact.name: fact for fact in facts}
    a, L = by_name["a"], by_name["L"]
    assert (a.value, a.grad, a.text, a.grad_text) == (4.0, -53.0, "tensor(4.)", "tensor(-53.)")
    assert a.is_leaf and a.requires_grad and a.grad_fn is None and not a.retains_grad
    assert (L.shape, L.dtype, L.device, L.line) == ((), "float32", "cpu", 7)
    assert L.grad_fn == "RsubBackward1" and L.grad is None and not L.has_grad


@both
def test_nodes(torch: Any) -> None:
    found = collected(torch, two_paths(torch))
    by_name = {fact.name: fact for fact in found.tensors}
    nodes = found.nodes
    L, d, b, c = (nodes[by_name[name].node] for name in "Ldbc")  # type: ignore[index]
    assert [L.name, d.name, b.name, c.name] == [
        "RsubBackward1", "AddBackward0", "MulBackward0", "MulBackward0",
    ]  # fmt: skip
    assert L.next == ((d.id, 0),)
    assert b.next == ((by_name["w1"].node, 0), (by_name["a"].node, 0))
    assert c.next[1] == b.next[1]  # one AccumulateGrad for both uses of a
    assert nodes[by_name["a"].node].name == "AccumulateGrad"  # type: ignore[index]
    assert len(nodes) == 11


@both
def test_a_leaf_that_the_graph_does_not_reach_has_no_node(torch: Any) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    alone = torch.tensor(1.0, requires_grad=True)
    found = collected(torch, {"x": x, "alone": alone, "plain": torch.ones(2), "y": x * 2})
    assert [fact.node is None for fact in found.tensors] == [False, True, True, False]


@both
def test_elements_and_private_names(torch: Any) -> None:
    one = torch.ones(1)
    names = {
        "_hidden": one, "rows": [one, (one, 3)], "table": {"k": one, 1: [one]}, "text": "x",
        "deep": [[[[[one]]]]], "after": one,
    }  # fmt: skip
    found = collected(torch, names)
    assert [fact.name for fact in found.tensors] == [
        "rows[0]", "rows[1][0]", "table['k']", "table[1][0]", "after",
    ]  # fmt: skip


@both
def test_output_numbers(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    p, q = x.unbind()
    found = collected(torch, {"p": p, "q": q, "r": p * q})
    p_fact, q_fact, r_fact = found.tensors
    assert p_fact.node == q_fact.node and (p_fact.output_nr, q_fact.output_nr) == (0, 1)
    assert found.nodes[r_fact.node].next == ((p_fact.node, 0), (p_fact.node, 1))  # type: ignore[index]


@both
def test_numbers_are_tuples(torch: Any) -> None:
    x = torch.tensor([[1.5, float("nan")], [float("inf"), 0.1]])
    found = collected(torch, {"x": x, "n": torch.tensor([1, 2]), "f": torch.tensor([True])})
    value = found.tensors[0].value
    assert isinstance(value, tuple) and isinstance(value[0], tuple)
    assert value[1][1] == 0.10000000149011612  # type: ignore[index]
    assert found.tensors[1].value == (1, 2) and found.tensors[2].value == (True,)


@both
def test_ranges(torch: Any) -> None:
    found = collected(
        torch,
        {"x": torch.tensor([[3.0, -1.0]]), "s": torch.tensor(3.0),
         "n": torch.tensor([float("nan"), 1.0]), "e": torch.ones(0)},
        texts=True,
    )  # fmt: skip
    ranges = [fact.range and fact.range[:2] for fact in found.tensors]
    assert ranges == [(-1.0, 3.0), None, None, None]


@both
def test_a_nan_among_many_numbers_leaves_the_range_of_the_others(torch: Any) -> None:
    for size in (7, 5000, 200_000):  # printed whole, kept as a summary, summed up without a copy
        x = torch.ones(size)
        x[2], x[3] = float("nan"), -4.0
        values = {"x": x, "all": x * float("nan"), "none": torch.ones(size)}
        for fact in collected(torch, values, texts=True).tensors:
            assert fact.range is not None and fact.range.has_nan == (fact.name != "none")
            shown = summary(fact.text, fact.shape, fact.range)
            assert shown == {"x": "nan, -4…1", "all": "nan", "none": "1"}[fact.name]


@both
def test_mean_and_norm_of_many_numbers(torch: Any) -> None:
    found = collected(
        torch,
        {"few": torch.ones(6), "x": torch.tensor([3.0, 4.0] + [0.0] * 8),
         "large": torch.tensor([1e200] * 7, dtype=torch.float64)},
        texts=True,
    )  # fmt: skip
    few, x, large = (fact.range for fact in found.tensors)
    assert few[2:4] == (None, None) and x[:4] == (0.0, 4.0, 0.7, 5.0)
    assert large.norm == pytest.approx(7**0.5 * 1e200)


@both
def test_numbers_without_an_order(torch: Any) -> None:
    """Of complex numbers the range of their magnitudes, of truth values how many are True."""
    for size in (8, 50_000):
        z = torch.full((size,), 3 + 4j)
        z[1] = 0
        mask = torch.arange(size) < size // 4
        values = {"z": z, "conj": z.conj(), "mask": mask, "all": mask | True, "few": mask[:2]}
        found = {fact.name: fact for fact in collected(torch, values, texts=True).tensors}
        shown = {
            name: summary("", one.shape, one.range) for name, one in found.items() if one.range
        }
        assert shown == {
            "z": "abs 0…5", "conj": "abs 0…5", "mask": "25 % True", "all": "all True",
        }  # fmt: skip
        assert mean_and_norm(found["z"].range) == f"-, {5 * (size - 1) ** 0.5:.3g}"
    z[3] = complex(float("nan"), 1.0)
    (fact,) = collected(torch, {"z": z}, texts=True).tensors
    assert summary("", fact.shape, fact.range) == "nan, abs 0…5"


@both
def test_the_layout_of_sparse_tensors(torch: Any) -> None:
    found = collected(torch, {"s": torch.eye(2).to_sparse(), "d": torch.eye(2)}, texts=True)
    assert [type_text(fact) for fact in found.tensors] == [
        "float32[2, 2] sparse_coo", "float32[2, 2]",
    ]  # fmt: skip


@both
def test_results(torch: Any) -> None:
    names = two_paths(torch)
    names["other"] = names["a"] * 3
    names["same"] = names["other"]
    found = collected(torch, names)
    chosen = collecting.results(found.tensors, found.nodes)
    assert [found.tensors[i].name for i in chosen] == ["L", "other"]


@both
def test_retained_grad_and_the_grad_of_inner_tensors(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    z = y * y
    y.retain_grad()
    z.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = collected(torch, {"x": x, "y": y, "z": z})
    assert [fact.grad for fact in found.tensors] == [24.0, 12.0, None]
    assert [fact.retains_grad for fact in found.tensors] == [False, True, False]


@both
def test_freed_and_saved(torch: Any) -> None:
    names = two_paths(torch)
    found = collected(torch, names)
    assert saved.freed(found, torch.Tensor) == ([], 6)
    facts = saved.saved(found, torch.Tensor)[0]
    b = found.tensors[5].node
    kept = {(fact.name, fact.holder, fact.text) for fact in facts if fact.node == b}
    assert kept == {("self", "w1", "tensor(2.)"), ("other", "a", "tensor(4.)")}
    assert {fact.bytes for fact in facts} == {4}
    names["L"].backward()
    gone, inner = saved.freed(found, torch.Tensor)
    assert (len(gone), inner) == (4, 6)
    assert all(fact.freed for fact in saved.saved(found, torch.Tensor)[0])


@both
def test_names_of_parameters(torch: Any) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    loss = net(torch.ones(4, 2)).sum()
    names = {"net": net, "loss": loss, "bias": net[2].bias}
    named = [
        holding.Named(name, 4, tensor) for name, tensor in holding.parameters(names, torch.Tensor)
    ]
    unused = holding.Named("unused", None, torch.ones(1, requires_grad=True))
    found = collected(torch, names, texts=True, others=named, leaves=[unused])
    inner = found.tensors[2:]
    assert [fact.name for fact in inner] == ["net.0.weight", "net.0.bias", "net.2.weight"]
    assert all(found.nodes[fact.node].name == "AccumulateGrad" for fact in inner)
    assert inner[0].shape == (3, 2) and inner[0].text.startswith("tensor([[")
    assert inner[0].line == 4


@both
def test_constants(torch: Any) -> None:
    a = torch.tensor(4.0)
    w = torch.tensor(2.0, requires_grad=True)
    names = {"a": a, "w": w, "y": w * a}

    def where(node: Any) -> Place:
        return Place(3, 5, 3, 10, "w * a", "y")

    found = collected(torch, names, texts=True, place=where)
    (constant,) = constants(found, operands.reader())
    assert (constant.edge, constant.text, constant.value) == (1, "a", None)  # nobody kept it


@pytest.mark.parametrize(
    ("text", "count", "words"),
    [
        ("a * b", 2, ("a", "b")),
        ("2 * x", 2, ("x", "")),
        ("x ** 2", 2, ("x", "")),
        ("10 - d", 1, ()),
        ("torch.addmm(b, x, w)", 3, ("b", "x", "w")),
        ("x.mul(y)", 2, ("x", "y")),
        ("f(*xs)", 1, ()),
        ("a if b else c", 2, ()),
        ("((", 2, ()),
        ("", 1, ()),
    ],
)
def test_operands(text: str, count: int, words: tuple[str, ...]) -> None:
    assert operands.operands(text, count) == words


def test_places_are_parsed_once() -> None:
    read = operands.reader()
    node = NodeFact(0, "MulBackward0", (None, None), Place(1, 1, 1, 6, "a * b"))
    assert read(node) is read(node)
    assert read(node._replace(place=Place(1, 1, 1, 6, "a * " + "b" * 9999))) == ()
    assert read(node._replace(place=None)) == ()


def program(torch: Any, seed: int) -> dict[str, Any]:
    """Some tensors made of each other at random; the same for both libraries."""
    rng = random.Random(seed)
    names: dict[str, Any] = {"a": torch.tensor([1.0, -2.0], requires_grad=True),
                             "b": torch.tensor([0.5, 3.0], requires_grad=True)}  # fmt: skip
    for i in range(rng.randrange(3, 12)):
        x, y = (names[rng.choice(list(names))] for _ in range(2))
        kind = rng.randrange(8)
        made = [lambda x=x, y=y: x * y, lambda x=x, y=y: x + 2 * y, lambda x=x: x.exp().detach(),
                lambda x=x: torch.tanh(x), lambda x=x, y=y: torch.stack([x, y]).sum(0),
                lambda x=x: x.unsqueeze(0).squeeze(), lambda x=x, y=y: x - y / 3,
                lambda x=x: x.unbind()[1].expand(2)][kind]()  # fmt: skip
        names[f"t{i}"] = made
    return names


@pytest.mark.skipif(pytorch is None, reason="compares with PyTorch")
@pytest.mark.parametrize("seed", range(25))
def test_both_libraries_report_the_same(seed: int) -> None:
    ours = collected(gradcli, program(gradcli, seed))
    theirs = collected(pytorch, program(pytorch, seed))
    assert ours.nodes == theirs.nodes
    for one, other in zip(ours.tensors, theirs.tensors, strict=True):
        assert one._replace(value=None) == other._replace(value=None)
        assert one.value == pytest.approx(other.value, rel=1e-5, nan_ok=True)
    assert collecting.results(ours.tensors, ours.nodes) == collecting.results(
        theirs.tensors, theirs.nodes
    )


def test_a_chain_of_many_nodes() -> None:
    """Collected and freed without recursion, in time."""
    x = gradcli.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y * x
    start = time.process_time()
    found = collected(gradcli, {"x": x, "y": y}, texts=True)
    assert len(found.nodes) == 200_001
    assert saved.freed(found, gradcli.Tensor) == ([], 200_000)
    assert time.process_time() - start < 20
    del found, y
    gc.collect()


def test_objects_that_hold_each_other_are_looked_into_once() -> None:
    """A thousand times the same object within itself: no more names than objects."""

    class Box:
        kind = table = None

    box, weight = Box(), gradcli.ones(1)
    box.table = {"many": [box] * 1000, "deep": [[[box] * 1000] * 1000] * 1000, "w": weight}  # type: ignore[assignment]
    found = list(holding.inside({"box": box, "all": [box] * 1000}, gradcli.Tensor))
    assert [name for name, _, _ in found] == ["box.w", "all[0].w"]


def test_lists_of_lists_are_looked_into_so_often() -> None:
    """A value holds a list a million times: so many containers are looked into, and no more."""
    weight = gradcli.ones(1)
    held = {"pairs": [(1, weight)] * 1_000_000, "nested": [[[[weight]]]], "deep": [[[[[weight]]]]]}
    found = [name for name, _ in holding.named_tensors(held, gradcli.Tensor)]
    assert len(found) == holding.LOOKED + 1
    assert found[0] == "pairs[0][1]" and found[-1] == "nested[0][0][0][0]"


@both
def test_saved_by_a_function_of_the_program(torch: Any) -> None:
    """What it saved is listed, and only tensors are said to be freed."""

    class Cube(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, x * 2)
            return x**3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3 * ctx.saved_tensors[0] ** 2

    x = torch.ones(2, requires_grad=True)
    y = Cube.apply(x).softmax(0).sum()
    found = collected(torch, {"x": x, "y": y})
    assert [(fact.name, fact.bytes) for fact in saved.saved(found, torch.Tensor)[0]] == [
        ("result", 8), ("saved_tensors[0]", 8), ("saved_tensors[1]", 8)
    ]  # fmt: skip
    y.backward()
    assert [(fact.name, fact.freed) for fact in saved.saved(found, torch.Tensor)[0]] == [
        ("result", True), ("saved_tensors", True)
    ]  # fmt: skip
