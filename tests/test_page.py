"""Tests of the page: what it shows, how it is driven, and that it asks nobody for anything."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser import MEASURE, Browser, browser
from command_here import here
from picture_programs import PROGRAMS, every
from test_cli import gradcli

ALL = every()
SHOWN = "!e.closest('[hidden]') && getComputedStyle(e).display !== 'none'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def tab(folder: Path) -> Iterator[Browser]:
    with browser(folder) as one:
        yield one


@cache
def page(folder: Path, name: str, *options: str, again: bool = False) -> Path:
    """The page of a program."""
    called = " ".join([name, *options, "again" * again])
    program, path = folder / f"{name}.expr", folder / f"{called}.html"
    program.write_text(ALL[name], "utf-8", errors="surrogatepass")
    done = here("trace", str(program), "--format", "html", "-o", str(path), *options)
    assert done.returncode in (0, 1, 3), done.stderr
    return path


def opened(tab: Browser, folder: Path, name: str, *options: str) -> None:
    tab.messages.clear()
    tab.open(page(folder, name, *options))


def count(tab: Browser, selector: str) -> int:
    """How many elements of a selector are to be seen."""
    return int(tab.ask(f"[...document.querySelectorAll({json.dumps(selector)})]"
                       f".filter(e => {SHOWN}).length"))  # fmt: skip


# ---------------------------------------------------------------- the file


@pytest.mark.parametrize("name", ["two_paths", "transformer", "hostile", "failing", "rnn"])
def test_the_page_asks_nobody(folder: Path, name: str) -> None:
    text = page(folder, name).read_text("utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None and policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    outside = re.findall(r'(?:src|href|action|url)\s*[=(]\s*["\']?(?!#)([^"\')\s>]+)', text)
    assert [one for one in outside if "://" in one] == []
    assert text.count("<script") == 2 and "alert(1)" not in text.replace("&lt;script&gt;", "<>")[
        : text.index('id="data"')
    ].replace("<>alert(1)", "")


def test_pages_are_small(folder: Path) -> None:
    for name in ("two_paths", "mlp", "lenet", "fit_a_line", "calls", "two_mistakes", "classifier",
                 "transformer", "rnn"):  # fmt: skip
        assert page(folder, name).stat().st_size < 150_000, name


def test_every_sign_of_the_docs_is_reported_on_the_page(folder: Path) -> None:
    from gradcli.render.picture.page import SIGNS

    text = (Path(__file__).parent.parent / "docs" / "pictures.md").read_text("utf-8")
    table = text.partition("| --- | --- |\n")[2].partition("\n\n")[0]
    rows = [row.replace("`", "").strip("| ").split(" | ") for row in table.splitlines()]
    told = dict(SIGNS)
    assert len(rows) > 9 and all(meaning.startswith(told[sign]) for sign, meaning in rows)
    assert page(folder, "mlp").read_text("utf-8").count("<dt>") == len(SIGNS)


@pytest.mark.parametrize("name", ["two_paths", "transformer"])
def test_same_bytes_twice(folder: Path, name: str) -> None:
    first = page(folder, name).read_bytes()
    assert page(folder, name, again=True).read_bytes() == first


def test_show_prints_the_path(folder: Path) -> None:
    program = folder / "shown.expr"
    program.write_text(ALL["two_paths"], "utf-8")
    cache = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"), "")
    cache["XDG_CACHE_HOME"] = str(folder / "cache")
    done = gradcli("show", str(program), "--no-open", **cache)
    assert done.returncode == 0 and done.stderr == ""
    path = Path(done.stdout.strip())
    assert path.is_relative_to(folder / "cache")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    done = gradcli("show", str(program), **cache)
    assert done.stdout.strip() == str(path) and "open this file" in done.stderr
    out = folder / "elsewhere.html"
    assert gradcli("show", str(program), "--no-open", "-o", str(out), **cache).returncode == 0
    assert out.read_text("utf-8").endswith("</html>\n")
    done = gradcli("show", str(program), "-o", "-", **cache)
    assert done.stdout.endswith("</html>\n") and done.stderr == ""


# ---------------------------------------------------------------- driven


def found_wrong(tab: Browser) -> list[str]:
    """What is wrong with the picture that is shown, by its geometry and its colours."""
    found: list[str] = tab.ask(
        "(() => {" + MEASURE.partition("const found")[0]
        + "return look([...document.querySelectorAll('svg.gradcli')].find(e => "
        + SHOWN + ")); })()"
    )  # fmt: skip
    return found


@pytest.mark.browser
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_picture_is_seen_and_nothing_fails(tab: Browser, folder: Path, name: str) -> None:
    opened(tab, folder, name)
    assert count(tab, "svg.gradcli") == 1
    assert tab.messages == []
    for scheme in ("light", "dark"):
        tab.scheme(scheme)
        wrong = found_wrong(tab)
        assert wrong == [], (name, scheme)
    tab.scheme("light")


@pytest.mark.browser
def test_the_slider_walks_through_backward(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "two_paths")
    leaves = "svg.gradcli g.leaf text.gr"
    assert count(tab, leaves) == 5
    tab.ask("document.querySelector('input[type=range]').focus()")
    tab.press("Home")
    assert count(tab, leaves) == 0
    assert "begins at L" in tab.ask("document.getElementById('told').textContent")
    tab.press("ArrowRight")
    told = tab.ask("document.getElementById('told').textContent")
    assert "incoming  dL/dL = 1" in told and "passed to step 2" in told
    assert tab.ask("document.querySelector('[aria-current]').dataset.line") == "7"
    assert tab.ask("document.querySelector('g.now').dataset.node") is not None
    tab.press("End")
    assert count(tab, leaves) == 5


@pytest.mark.browser
def test_a_box_marks_its_ways_and_its_line(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "two_paths")
    box = "[...document.querySelectorAll('g.box')].find(g => g.textContent.includes('c = w2 * a'))"
    tab.ask(f"{box}.focus()")
    ways = tab.ask(
        "[...document.querySelectorAll('g.box.way')].map(g => "
        "g.querySelector('text').textContent).sort()"
    )
    assert ways == ["L = 10 - d", "a", "c = w2 * a", "d = w3 * b + w4 * c", "w2", "w4 * c"]
    assert tab.ask("document.querySelector('li.lit').dataset.line") == "5"
    tab.press("Enter")
    assert "grad -7" in tab.ask("document.getElementById('numbers').textContent")
    tab.press("ArrowUp")
    assert tab.ask("document.activeElement.querySelector('text').textContent") in ("w2", "a")
    tab.press("Escape")
    tab.point("li[data-line='4']")
    lit = "[...document.querySelectorAll('g.box.lit')].map(g => g.dataset.lines)"
    assert tab.ask(lit) == ["4"]
    tab.ask("document.querySelector('ol.program li[tabindex=\"0\"]').focus()")
    for _ in range(3):
        tab.press("ArrowDown")
    assert tab.ask("document.activeElement.dataset.line") == "4" and tab.ask(lit) == ["4"]


@pytest.mark.browser
def test_tab_reaches_boxes_and_search_finds(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "mlp")
    seen = set()
    for _ in range(20):
        tab.press("Tab")
        seen.add(tab.ask("document.activeElement.id"))
    boxes = tab.ask("[...document.querySelectorAll('figure:not([hidden]) g.box')].map(g => g.id)")
    assert set(boxes) <= seen
    tab.ask("document.querySelector('input[type=search]').focus()")
    tab.type("bias")
    assert tab.ask("document.getElementById('found').textContent") == "2 found"
    assert count(tab, "g.found") == 2


@pytest.mark.browser
def test_search_finds_what_folds_hide(tab: Browser, folder: Path) -> None:
    """A fold is found by what another picture draws of it; the rest is counted as not searched."""
    opened(tab, folder, "transformer", "--fold")
    fold = "figure:not([hidden]) g.fold[data-lines='32']"
    inside = tab.ask(f"""(() => {{
        const members = document.querySelector("{fold}").dataset.members.split(" ");
        const box = [...document.querySelectorAll("figure[hidden] g.box[data-node]")]
            .find(b => members.includes(b.dataset.node));
        return box.querySelector("title").textContent; }})()""")
    tab.ask("document.querySelector('input[type=search]').focus()")
    tab.type(inside)
    assert "in folds" in tab.ask("document.getElementById('found').textContent")
    assert tab.ask(f"document.querySelector(\"{fold}\").classList.contains('found')")
    opened(tab, folder, "rnn")
    tab.ask("document.querySelector('input[type=search]').focus()")
    tab.type("tanh")
    assert tab.ask("document.getElementById('found').textContent").endswith("nodes not searched")


@pytest.mark.browser
def test_a_screen_reader_gets_names_with_numbers(tab: Browser, folder: Path) -> None:
    """Boxes are no parts of an image, and a gradient is said once the pass has come to it."""
    opened(tab, folder, "two_paths")
    every = tab.call("Accessibility.getFullAXTree")["nodes"]
    told = [(one["role"]["value"], one["name"]["value"]) for one in every
            if "role" in one and one.get("name", {}).get("value")]  # fmt: skip
    assert ("button", "a, leaf · line 2, value 4, grad -53 = -35 + -18") in told
    assert not [name for role, name in told if role == "image"]
    tab.ask("document.querySelector('input[type=range]').focus()")
    tab.press("Home")
    label = "[...document.querySelectorAll('g.leaf')].map(b => b.getAttribute('aria-label'))"
    assert not any("grad" in one for one in tab.ask(label))


@pytest.mark.browser
def test_folds_open_in_place(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "transformer", "--fold")
    before = count(tab, "g.box")
    fold = "figure:not([hidden]) g.fold[data-lines='32']"
    assert tab.ask(f"document.querySelector(\"{fold}\").getAttribute('aria-expanded')") == "false"
    tab.point(fold, click=True)
    assert count(tab, "svg.gradcli") == 1 and count(tab, "g.box") > before
    pressed = "[...document.querySelectorAll('button[aria-pressed=true]')].map(b => b.textContent)"
    assert tab.ask(pressed) == []
    focused = "document.activeElement"
    assert tab.ask(f"{focused}.getAttribute('aria-expanded')") == "true"
    assert tab.ask(f"{focused}.closest('figure').hidden") is False
    tab.press("Enter")  # closes it again, and leaves the focus at the fold
    assert count(tab, "g.box") == before and tab.ask(pressed) == ["folded"]
    assert tab.ask(f"{focused}.dataset.lines") == "32"
    tab.press("Enter")
    tab.point("figure:not([hidden]) [data-closes]", click=True)
    assert count(tab, "g.box") == before and count(tab, "[aria-expanded=true]") == 0


@pytest.mark.browser
def test_each_fold_opens_alone(tab: Browser, folder: Path) -> None:
    """The others stay closed, and what is drawn lies as well as any other picture."""
    opened(tab, folder, "transformer", "--fold")
    shown = "[...document.querySelectorAll('figure:not([hidden]) g.fold')]"
    keys = f"{shown}.map(g => g.id.replace(/^.*-/, ''))"
    closed = tab.ask(keys)
    assert len(closed) > 2
    for at, key in enumerate(closed):
        tab.ask(f"{shown}[{at}].dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        others = [other for other in closed if other != key]
        assert [one for one in tab.ask(keys) if one in closed] == others
        assert found_wrong(tab) == [], key
        if len(closed) <= 4:  # of few folds a second one opens beside the first
            second = tab.ask(keys).index(others[0])
            tab.ask(f"{shown}[{second}].dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
            assert [one for one in tab.ask(keys) if one in closed] == others[1:]
            assert found_wrong(tab) == [], (key, others[0])
        tab.point("button[data-view='0']", click=True)


@pytest.mark.browser
def test_a_large_call_opens_level_by_level(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "transformer", "--fold")
    block = "[...document.querySelectorAll('figure:not([hidden]) g.fold')].find(g => g.textContent"
    tab.ask(f"{block}.includes('blocks.0')).dispatchEvent(new MouseEvent('click', {{bubbles: 1}}))")
    titles = tab.ask("[...document.querySelectorAll('figure:not([hidden]) g.fold')].map(g => "
                     "g.querySelector('text').textContent)")  # fmt: skip
    assert [one for one in titles if one.startswith("blocks.")] == [
        "blocks.0.norm1", "blocks.0.attention", "blocks.0.norm2", "blocks.0.up", "blocks.0.down",
        "blocks.1"]  # fmt: skip


@pytest.mark.browser
def test_numbers_of_a_box_wait_for_the_pass(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "mlp")
    numbers = "document.getElementById('numbers').textContent"
    tab.point("figure:not([hidden]) g.leaf", click=True)
    assert "\ngrad\ntensor" in tab.ask(numbers) and "\nvalue\ntensor" in tab.ask(numbers)
    tab.ask("document.querySelector('input[type=range]').focus()")
    tab.press("Home")
    assert "grad" not in tab.ask(numbers) and "\nvalue\ntensor" in tab.ask(numbers)
    tab.press("End")
    assert "\ngrad\ntensor" in tab.ask(numbers)


@pytest.mark.browser
def test_passes_can_be_chosen(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "two_passes")
    title = "document.querySelector('figure:not([hidden]) title').textContent"
    assert "pass 2 of 2" in tab.ask(title)
    tab.ask("(() => { const s = document.querySelector('select'); s.value = '1';"
            "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    assert "pass 1 of 2" in tab.ask(title)
    assert count(tab, "svg.gradcli") == 1
    assert "pass 1 of 2" in tab.ask("document.querySelector('h1').textContent + document.title")
    assert tab.ask("[...document.querySelectorAll('option')].map(o => o.textContent)") == [
        "1 of 2, line 4", "2 of 2, line 4"]  # fmt: skip


def test_passes_that_are_built_alike_have_their_boxes_at_the_same_places(folder: Path) -> None:
    """Whoever goes from one pass to another sees numbers change, and nothing else."""
    text = page(folder, "training").read_text("utf-8")
    columns = data_of(text)["figures"]
    figures = ["".join(row[at] or "" for row in columns) for at in range(len(columns[0]))]
    open_ = [one for one in figures if ' data-view="1" ' in one]
    places = {tuple(re.findall(r'<rect class="shape"[^>]*>', one)) for one in open_}
    assert len(open_) == 7 and len(places) == 1


@pytest.mark.browser
def test_inputs_without_values_have_steps(tab: Browser, folder: Path) -> None:
    opened(tab, folder, "no_values")
    gradients = "figure:not([hidden]) g.leaf text.gr"
    assert count(tab, gradients) == 3
    assert "?" in tab.ask("document.getElementById('told').textContent")
    tab.ask("document.querySelector('input[type=range]').focus()")
    tab.press("Home")
    assert count(tab, gradients) == 0


@pytest.mark.browser
def test_what_the_page_holds_is_unpacked_whole(tab: Browser, folder: Path) -> None:
    """Blocks of all kinds that deflate has: stored, with codes that are fixed, with its own."""
    opened(tab, folder, "two_paths")
    text = "".join(f"{number} · {number * number % 997}, " for number in range(9000))
    for level, strategy in ((0, 0), (9, 0), (9, zlib.Z_FIXED), (9, zlib.Z_HUFFMAN_ONLY)):
        deflate = zlib.compressobj(level, wbits=-zlib.MAX_WBITS, strategy=strategy)
        packed = base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()
        bytes_ = f"Uint8Array.from(atob('{packed}'), c => c.charCodeAt(0))"
        assert tab.ask(f"inflated({bytes_}, {len(text.encode())})") == text, (level, strategy)


def test_the_page_draws_what_the_picture_draws(folder: Path) -> None:
    """Results that no pass came through too."""
    for name in ("two_results", "two_passes", "dead"):
        text = page(folder, name).read_text("utf-8")
        shown = next(f for f in text.split("<figure")[1:] if " hidden>" not in f.partition("\n")[0])
        svg = here("trace", str(folder / f"{name}.expr"), "--format", "svg").stdout
        nodes = [re.findall(r'data-node="(\d+)"', one) for one in (shown, svg)]
        assert nodes[0] == nodes[1]


@pytest.mark.browser
def test_without_scripts_the_picture_stands_there(tab: Browser, folder: Path) -> None:
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        opened(tab, folder, "transformer")
        shown: list[Any] = []
        tree = tab.call("DOM.getDocument", depth=-1)["root"]
        found = tab.call("DOM.querySelectorAll", nodeId=tree["nodeId"],
                         selector="figure:not([hidden]) svg, li[data-line]")  # fmt: skip
        shown = found["nodeIds"]
        assert len(shown) == 1 + len(ALL["transformer"].splitlines())
        opened(tab, folder, "rnn")
        tree = tab.call("DOM.getDocument", depth=-1)["root"]
        hint = tab.call("DOM.querySelector", nodeId=tree["nodeId"], selector=".hint")["nodeId"]
        tab.call("CSS.enable")
        styles = tab.call("CSS.getComputedStyleForNode", nodeId=hint)["computedStyle"]
        assert {"name": "display", "value": "none"} in styles  # nothing opens where it is clicked
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.browser
def test_a_tall_picture_is_printed_on_one_page(tab: Browser, folder: Path) -> None:
    """No page ends in the middle of a box; a small picture stays on ordinary paper."""
    for name, is_tall in (("calls", True), ("transformer", True), ("two_paths", False)):
        opened(tab, folder, name)
        shown = "document.querySelector('svg.gradcli').getBoundingClientRect()"
        size = tab.ask(f"(({{width, height}}) => [width, height])({shown})")
        pdf = base64.b64decode(tab.call("Page.printToPDF", preferCSSPageSize=True)["data"])
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        papers = [(float(width) / 0.75, float(height) / 0.75) for width, height in boxes]
        assert len(papers) == 2, (name, papers)
        fits = [size[0] <= width and size[1] <= height for width, height in papers]
        assert fits == [False, True] if is_tall else papers[0] == papers[1], (name, papers, size)


def data_of(page: str) -> dict[str, Any]:
    """What the script of a page reads."""
    found = re.search(r'id="data" data-size="(\d+)">([A-Za-z0-9+/=]+)</script>', page)
    assert found is not None
    whole = zlib.decompress(base64.b64decode(found[2]), -zlib.MAX_WBITS)
    assert len(whole) == int(found[1])
    data: dict[str, Any] = json.loads(whole)
    return data


def test_steps_in_the_page_are_whole(tmp_path: Path) -> None:
    """No name and no number is cut; what is larger than a few numbers is told by its range."""
    name = "a_name_that_is_longer_than_a_column_has_room_for"
    (tmp_path / "p.expr").write_text(
        f"{name} = torch.arange(12.0).reshape(3, 4).requires_grad_()\n"
        f"loss = (torch.ones(2, 3) @ {name} / 50).tanh().sum()\nloss.backward()\n"
    )
    here("trace", str(tmp_path / "p.expr"), "--format", "html", "-o", str(tmp_path / "p.html"))
    page = (tmp_path / "p.html").read_text("utf-8")
    texts = "\n".join(step[-1] for (step,) in data_of(page)["steps"])
    assert "…" not in texts and f"{name}  " in texts and "[3, 4] from " in texts
