"""Tests of the documents: what `trace` and `grad` print as JSON, and the page of `grad`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from schemas import fits
from test_cli import gradcli
from test_render import PLAIN, inner, leaf, two_paths

from gradcli.recording.facts import (
    ErrorFact,
    EventFact,
    GradientFact,
    GradReport,
    NodeFact,
    Report,
    SavedFact,
)
from gradcli.render import grad as render_grad, json as render_json

# ---------------------------------------------------------------- JSON


def document(pieces: Any) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads("".join(pieces), parse_constant=refuse)


def valid(doc: Any, schema: str) -> Any:
    fits(doc, f"{schema}")
    return doc


def test_the_document_of_trace() -> None:
    report = two_paths()._replace(
        output="tensor(1.)\n\x1b[31m", warnings=("careful",), file='a"b.expr',
        error=ErrorFact("RuntimeError", "no", 3, 1, 3, 5),
        events=(EventFact("b", "<lambda>", "tensor(1.)", "tensor(2.)"),),
        saved=(SavedFact(0, "self", (), "tensor(2.)", "w1", 0, 4, False),),
    )  # fmt: skip
    doc = valid(document(render_json.trace(report)), "gradcli.trace-1")
    assert list(doc)[:3] == ["schema", "file", "device"] and doc["file"] == 'a"b.expr'
    assert doc["results"] == ["L"]
    assert [t["name"] for t in doc["tensors"]] == "a w1 w2 w3 w4 b c d L".split()
    assert doc["nodes"][5]["next"] == [[6, 0], [8, 0]]
    assert doc["nodes"][6]["source"] == "w3 * b"
    assert doc["output"] == "tensor(1.)\n\x1b[31m" and doc["error"]["column"] == 1


def test_numbers_that_json_lacks() -> None:
    fact = leaf("x", 0, 1, 2)._replace(
        value=((float("nan"), 1.0), (float("inf"), float("-inf"))), shape=(2, 2), grad=0.1
    )
    complex_ = fact._replace(name="z", dtype="complex64", value=(1 + 2j, complex("nan")), grad=None)
    report = Report("p.expr", "cpu", (fact, complex_), (NodeFact(0, "AccumulateGrad", ()),))
    doc = valid(document(render_json.trace(report)), "gradcli.trace-1")
    assert doc["tensors"][0]["value"] == [["nan", 1.0], ["inf", "-inf"]]
    assert doc["tensors"][1]["value"][0] == [1.0, 2.0]


def test_an_empty_document() -> None:
    doc = valid(document(render_json.trace(Report("p.expr", "cpu"))), "gradcli.trace-1")
    assert doc["tensors"] == [] and doc["nodes"] == [] and doc["error"] is None


GRADIENTS = GradReport(
    "p.expr",
    "cpu",
    inner("L", 10, -202, "RsubBackward1", 6),
    "tensor(-202., grad_fn=<RsubBackward1>)",
    (
        GradientFact("w1", 2, (), "float32", -36.0, "tensor(-36.)"),
        GradientFact("W", 2, (2, 1), "float32", ((1.0,), (2.0,)), "tensor([[1.],\n        [2.]])"),
        GradientFact("k", 3, (), "float32", None, None, "L does not depend on it"),
    ),
    events=(EventFact("b", "lambda g: g * 2", "tensor(1.)", "tensor(2.)"),),
)


def test_the_page_of_grad() -> None:
    assert render_grad.text(GRADIENTS, PLAIN) == (
        "L = tensor(-202., grad_fn=<RsubBackward1>)                                line 6\n"
        "\n"
        "dL/dw1 = tensor(-36.)\n"
        "dL/dW  = tensor([[1.],\n"
        "                 [2.]])\n"
        "dL/dk  = None   L does not depend on it\n"
        "\n"
        "hooks that ran, in order\n"
        "  1  b  lambda g: g * 2  tensor(1.) → tensor(2.)\n"
    )


def test_the_document_of_grad() -> None:
    doc = valid(document(render_json.grad(GRADIENTS)), "gradcli.grad-1")
    assert doc["of"]["name"] == "L" and doc["gradients"][1]["grad"] == [[1.0], [2.0]]
    assert doc["gradients"][2]["grad"] is None and doc["gradients"][2]["reason"]


@pytest.mark.parametrize("command", ["trace", "step"])
def test_a_document_grows_as_its_program_does(command: str) -> None:
    """Each node of a sum of many terms has the whole sum for its expression."""
    terms = ",".join(["x*2"] * 1000)
    text = f"x = torch.ones(3, requires_grad=True)\nsum([{terms}]).sum().backward()\n"
    done = gradcli(command, "--format", "json", stdin=text)
    assert done.returncode == 0
    assert len(done.stdout) < 3000 * 1000
    assert r"\u2026 and 3,5" in done.stdout
