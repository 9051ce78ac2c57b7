"""Tests of notebooks: one is executed by Jupyter's own kernel, and its outputs are looked at."""

from __future__ import annotations

import html
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from browser import browser
from oracle import oracle

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")

CELLS = {
    "model": """import torch
from torch import nn
from gradcli import inspect
%load_ext gradcli
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))""",
    "fault": """%%grad
hidden = model[0](torch.ones(4, 2)).detach()
loss = model[2](hidden.relu()).mean()
print("in between")
loss.backward()""",
    "all": "run.why(model)",
    "one": 'run.why("model.0.weight")',
    "page": "run.show()",
    "mended": """with inspect.record() as run:
    mended = model(torch.ones(4, 2)).pow(2).mean()
    mended.backward()
run.why("model.0.weight")""",
    "picture": "run.trace()",
    "flow": "run.flow()",
    "there": "inspect.trace(loss, model=model)",
    "twice": """%%grad
w = torch.ones(2, requires_grad=True)
total = (w * 2).sum()
total.backward()
total.backward()""",
    "after": "print(run.why('w').verdict, w.grad.tolist())",
    "syntax": "%%grad\ny = 1 +",
    "numbers": "[p.grad.tolist() for p in model.parameters()]",
    "head": """class Head(nn.Module):
    def forward(self, x):
        return model(x).tanh().sum()
head = Head()""",
    "headed": """with inspect.record() as run:
    head(torch.ones(4, 2)).backward()
run.trace()""",
}
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def outputs() -> dict[str, Any]:
    """What stands below each cell, by its name."""
    try:
        import nbclient
        import nbformat
    except ImportError:
        warnings.warn("no nbclient here: no notebook was executed", stacklevel=1)
        pytest.skip("no nbclient here: pip install -e '.[dev]'")
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(text) for text in CELLS.values()]
    nbclient.NotebookClient(book, timeout=300, allow_errors=True).execute()
    return dict(zip(CELLS, (cell.outputs for cell in book.cells), strict=True))


def shown(outputs: dict[str, Any], name: str, kind: str = "text/plain") -> str:
    """What a cell displays as its value."""
    found = [one for one in outputs[name] if one.output_type == "execute_result"]
    assert len(found) == 1, outputs[name]
    return str(found[0].data[kind])


def test_numbers_are_those_of_pytorch(outputs: dict[str, Any]) -> None:
    space: dict[str, Any] = {}
    for name in ("model", "fault", "mended", "numbers"):
        text = re.sub(r"^%.*\n", "", CELLS[name], flags=re.MULTILINE)
        text = re.sub(r"^with inspect.*\n|^run\..*|^from gradcli.*\n", "", text, flags=re.MULTILINE)
        lines = [line.strip() for line in text.split("\n")]
        if name == "numbers":
            lines[-1] = f"found = {lines[-1]}"
        exec("\n".join(lines), space)
    assert json.loads(shown(outputs, "numbers")) == space["found"]


def test_a_cell_shows_its_trace(outputs: dict[str, Any]) -> None:
    assert [one.text for one in outputs["fault"] if one.output_type == "stream"] == ["in between\n"]
    rows = shown(outputs, "fault").split("\n")
    assert rows[1].split()[:4] == ["loss", "=", "model[2](hidden.relu()).mean()", "MeanBackward0"]
    assert rows[-1].startswith("backward on line 4 freed 1 of 3 nodes' saved tensors")
    page = shown(outputs, "fault", "text/html")
    assert page.lstrip().startswith("<svg") and "model.2.weight" in page and "<pre" in page


def test_reasons_name_the_cell(outputs: dict[str, Any]) -> None:
    rows = [line.split()[:4] for line in shown(outputs, "all").split("\n")]
    assert rows[:2] == [[f"model.0.{name}", "detached", "line", "1"] for name in ("weight", "bias")]
    assert [row[1] for row in rows[2:]] == ["fine", "fine"]
    text = shown(outputs, "one")
    assert "  Cell In[2]:1:10\n  1 │ hidden = model[0](torch.ones(4, 2)).detach()\n" in text
    assert text.endswith("help: hidden = model[0](torch.ones(4, 2))")
    assert shown(outputs, "all", "text/html").count("<details>") == 4


def test_another_cell_is_another_recording(outputs: dict[str, Any]) -> None:
    assert "no problem found" in shown(outputs, "mended")
    assert "Cell In[6]:3:5" in shown(outputs, "mended")
    drawn = shown(outputs, "picture")
    assert "mended = model(torch.ones(4, 2)).pow(2).mean()" in drawn
    assert "pass  line  loss" in shown(outputs, "flow")


def test_a_model_of_an_earlier_cell(outputs: dict[str, Any]) -> None:
    """Its nodes have the expressions of that cell, and the places in both."""
    (row,) = (row for row in shown(outputs, "headed").split("\n") if "TanhBackward0" in row)
    assert "model(x).tanh()" in row and row.endswith("2, Cell In[14]:3"), row


def test_a_graph_of_an_earlier_cell_has_no_words_of_this_one(outputs: dict[str, Any]) -> None:
    assert shown(outputs, "there").split("\n")[1].split() == ["loss", "MeanBackward0", "-0.4966"]


def test_an_error_is_explained_beneath(outputs: dict[str, Any]) -> None:
    error = outputs["twice"][-1]
    text = ESCAPES.sub("", "\n".join(error.traceback))
    assert error.ename == "RuntimeError" and "a second time" in error.evalue
    assert "freed what MulBackward0 (w * 2, line 2) had saved" in text.rpartition("RuntimeError")[2]
    assert "Cell In[10], line 4" in text
    assert "in handle_torch_function" not in text and "gradcli/inspect" not in text
    assert [one.text for one in outputs["after"]] == ["fine [2.0, 2.0]\n"]
    assert outputs["syntax"][-1].ename == "SyntaxError"


@pytest.mark.browser
def test_the_page_in_its_frame(outputs: dict[str, Any], tmp_path: Path) -> None:
    frame = shown(outputs, "page", "text/html")
    assert frame.startswith("<iframe") and "srcdoc=" in frame
    parts = [frame, shown(outputs, "fault", "text/html"), shown(outputs, "all", "text/html")]
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{''.join(parts)}", "utf-8")
    inner = "document.querySelector('iframe').contentDocument"
    with browser(tmp_path) as tab:
        tab.open(file)
        assert tab.ask(f"{inner}.querySelectorAll('.program li').length") == 4
        boxes = tab.ask(f"[...{inner}.querySelectorAll('svg text')].map(e => e.textContent)")
        size = tab.ask(f"{inner}.querySelector('svg').getBoundingClientRect().width")
        tables = tab.ask(
            "[...document.querySelectorAll('pre')].map(e => e.clientWidth <= innerWidth)"
        )
        complaints = list(tab.messages)
    assert {"model.2.weight", "model.2.bias"} <= set(map(html.unescape, boxes))
    assert size > 200 and all(tables)
    assert not complaints, complaints


@pytest.mark.browser
def test_the_frame_is_driven(outputs: dict[str, Any], tmp_path: Path) -> None:
    source = re.search(r'srcdoc="([^"]*)"', shown(outputs, "page", "text/html"))
    assert source is not None
    file = tmp_path / "page.html"
    file.write_text(html.unescape(source[1]), "utf-8")
    with browser(tmp_path) as tab:
        tab.open(file)
        assert "steps of the pass were not recorded" in tab.ask("told.textContent")
        tab.point("svg [data-node]", click=True)
        assert tab.ask("numbers.textContent") != tab.ask("numbers.dataset.empty")
        assert not tab.messages, tab.messages
