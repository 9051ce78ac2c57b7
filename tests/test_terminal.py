"""Tests of pages on a terminal: what rich draws there, and that pipes never load it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
import warm
from rich.color import Color
from test_cli import ROOT, gradcli, home  # noqa: F401

from gradcli.columns import written_in
from gradcli.render import terminal
from gradcli.render.text import CODES, Look, cell, columns

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
NETWORK = """\
torch.manual_seed(0)
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first_layer = nn.Linear(3, 3)
    def forward(self, x):
        return torch.relu(self.first_layer(x)) * 2 + x
encoder = Encoder()
x = torch.randn(4, 3)
loss = (encoder(x) ** 2).mean() + (encoder(x) * 3).sum() - torch.tensor([1., 2.]).sum()
loss.backward()
print("printed")
"""
FAILING = """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
if x.sum() > 1:  # a comment
    y = x @ torch.ones(3)
"""
ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")


def _environment() -> dict[str, str]:
    """That of a terminal: pytest's workers say their own width."""
    own = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI"}
    env = {name: value for name, value in os.environ.items() if name not in own}
    return env | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "GRADCLI_PAGER": ""}


def on_terminal(folder: Path, width: int, *line: str, **environment: str) -> str:
    """What a terminal of this width is sent by a command."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    env = _environment() | environment
    seen = b""
    with warm.started([*line, "--quiet"], env, folder, (inner, inner, inner)):
        os.close(inner)
        while True:
            try:
                piece = os.read(outer, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    os.close(outer)
    return seen.decode().replace("\r\n", "\n")


def plain(shown: str) -> list[str]:
    return ESCAPES.sub("", shown).splitlines()


@pytest.fixture
def program(home: Path) -> Path:  # noqa: F811
    (home / "net.expr").write_text(NETWORK)
    (home / "wrong.expr").write_text(FAILING)
    return home


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", ["trace", "flow", "grad"])
def test_pages_fit_and_leaves_keep_their_names(program: Path, command: str, width: int) -> None:
    rows = plain(on_terminal(program, width, command, "net.expr"))
    assert all(len(row.rstrip()) <= width for row in rows)
    shown = "\n".join(rows)
    for name in ("encoder.first_layer.weight", "encoder.first_layer.bias"):
        assert name in shown
    if command == "trace":
        assert re.search(r"^ +.*value.*grad", shown, re.M)


def test_the_state_of_what_is_saved_is_whole(program: Path) -> None:
    """Other columns give way, and the page is no wider than the screen."""
    rows = plain(on_terminal(program, 60, "trace", "net.expr", "--saved"))
    assert all(len(row.rstrip()) <= 60 for row in rows)
    assert any(row.rstrip().endswith("  freed by line 11") for row in rows)


LONG_NAMES = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.feed_forward_projection = nn.Linear(3, 3)
    def forward(self, x):
        return self.feed_forward_projection(x).tanh()
transformer_encoder_of_words = nn.Sequential(Block(), Block())
loss = transformer_encoder_of_words(torch.ones(2, 3)).sum()
loss.backward()
"""


@pytest.mark.parametrize("option", ["--views", "--stats", "--ledger", "--hook=all=norm"])
def test_a_name_without_room_beside_it_stands_in_a_line_of_its_own(
    home: Path,  # noqa: F811
    option: str,
) -> None:
    """The whole name of each leaf in the tree and in every table, numbers below it."""
    (home / "long.expr").write_text(LONG_NAMES)
    options = ("--no-output", option) if option.startswith("--hook") else (option,)
    rows = [row.rstrip() for row in plain(on_terminal(home, 60, "trace", "long.expr", *options))]
    assert max(map(len, rows)) <= 60
    name = "transformer_encoder_of_words.0.feed_forward_projection.bias"
    assert "".join(rows).count(name) >= (2 if option == "--stats" else 3)
    below = [rows[at + 1] for at, row in enumerate(rows) if row.endswith(("ion.bias", "weight"))]
    assert sum(row.count("…") == 2 for row in below) >= 4  # a value and a gradient below a leaf


def test_wide_cuts_nothing(program: Path) -> None:
    rows = plain(on_terminal(program, 60, "trace", "net.expr", "--wide"))
    whole = gradcli("trace", "net.expr").stdout.splitlines()
    words = {" ".join(row.split()) for row in rows}
    assert {" ".join(row.split()) for row in whole} <= words


def test_a_warning_and_its_advice_are_wrapped(tmp_path: Path) -> None:
    text = "x = torch.ones(2, requires_grad=True)\n(x * 2).grad\n"
    (tmp_path / "p.expr").write_text(text, "utf-8")
    command = [sys.executable, "-m", "gradcli", "run", "p.expr"]
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 60, 0, 0))
    subprocess.run(command, stdin=inner, stderr=inner, cwd=tmp_path, env=_environment(), check=True)
    os.close(inner)
    rows = plain(os.read(outer, 65536).decode().replace("\r\n", "\n"))
    assert max(map(len, rows)) <= 60
    assert "help: gradcli why p.expr NAME, for the tensor that was" in rows


def test_sentences_without_room_beside_stand_below_their_rows(tmp_path: Path) -> None:
    text = """\
net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1, bias=False))
opt = optim.SGD(net.parameters(), lr=0.1)
w = torch.tensor(1., requires_grad=True)
for i in range(2):
    net(torch.ones(1, 1)).sum().backward()
    opt.step()
"""
    (tmp_path / "p.expr").write_text(text, "utf-8")
    rows = [row.rstrip() for row in plain(on_terminal(tmp_path, 80, "why", "p.expr"))]
    at = rows.index("net.0.weight  stale    5")
    assert rows[at + 1 : at + 5] == [
        "    grad is the sum of 2 backward calls: nothing cleared it between them,",
        "    although net.0.weight was updated.",
        "net.0.bias    stale    5",
        "net.1.weight  stale    5",
    ]
    assert rows[at - 1].startswith("    grad is None: ")


def test_rows_of_numbers_keep_their_columns(tmp_path: Path) -> None:
    text = """\
a_long_name_of_a_weight = torch.linspace(-1, 1, 16).reshape(2, 8).requires_grad_()
a_long_name_of_another = torch.linspace(-1, 1, 4).requires_grad_()
L = a_long_name_of_a_weight.pow(3).sum() + a_long_name_of_another.sum()
L.backward()
for weight in (a_long_name_of_a_weight, a_long_name_of_another):
    weight.grad = None
"""
    (tmp_path / "p.expr").write_text(text, "utf-8")
    page = ESCAPES.sub("", on_terminal(tmp_path, 80, "grad", "p.expr"))
    rows = page.replace("\r", "").splitlines()
    at = rows.index("dL/da_long_name_of_a_weight =")
    assert rows[at + 1 : at + 4] == [
        "  [[3.0000, 2.2533, 1.6133, 1.0800, 0.6533, 0.3333, 0.1200, 0.0133],",
        "   [0.0133, 0.1200, 0.3333, 0.6533, 1.0800, 1.6133, 2.2533, 3.0000]]",
        "  [2, 8]  0.0133…3, mean 1.13, norm 6.07",
    ]
    assert "dL/da_long_name_of_another  = tensor([1., 1., 1., 1.])" in page
    page = ESCAPES.sub("", on_terminal(tmp_path, 60, "trace", "p.expr"))
    assert "[-1.0000, " not in page and "  -1…1  " in page  # a list that does not fit: its range
    assert "  a_long_name_of_a_weight.grad and 1 more =" in page  # no name is cut


def test_a_page_longer_than_the_screen_goes_through_a_pager(program: Path) -> None:
    (program / "long.expr").write_text("\n".join(f"x{i} = tensor({i}.)" for i in range(60)))
    pager = {"GRADCLI_PAGER": f'{sys.executable} -c "import sys; print(len(list(sys.stdin)))"'}
    (program / "short.expr").write_text("x = tensor(1.)\n")
    assert on_terminal(program, 80, "trace", "long.expr", **pager) == "64\n"
    for more in (("--no-pager",), ("--format", "json")):
        assert "x59" in on_terminal(program, 80, "trace", "long.expr", *more, **pager)
    assert "tensor  type" in on_terminal(program, 80, "trace", "short.expr", NO_COLOR="1", **pager)
    for other in ("", "cat", "no-such-pager", '"'):
        assert "x59" in on_terminal(program, 80, "trace", "long.expr", GRADCLI_PAGER=other)
    assert on_terminal(program, 80, "trace", "wrong.expr", **pager).count("RuntimeError") == 1


def test_a_width_of_zero_is_80(program: Path) -> None:
    assert plain(on_terminal(program, 0, "trace", "net.expr")) == plain(
        on_terminal(program, 80, "trace", "net.expr")
    )


def test_lines_lead_to_the_file(program: Path) -> None:
    shown = on_terminal(program, 100, "trace", "net.expr")
    assert f"{(program / 'net.expr').as_uri()}#10" in shown
    failed = on_terminal(program, 100, "run", "wrong.expr")
    assert f"{(program / 'wrong.expr').as_uri()}#3" in failed
    assert "\n".join(plain(failed)).count("y = x @ torch.ones(3)") == 1


@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"]
)
def test_without_colours_nothing_is_escaped(program: Path, environment: dict[str, str]) -> None:
    for name in ("net", "wrong"):
        shown = on_terminal(program, 80, "trace", f"{name}.expr", **environment)
        assert "\x1b" not in shown and shown.strip()
    assert "\x1b" not in on_terminal(program, 80, "trace", "net.expr", "--color", "never")


def test_a_pipe_never_loads_rich(program: Path) -> None:
    script = (
        "import sys; sys.argv = ['gradcli', *sys.argv[1:]]\n"
        "from gradcli.door import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('rich', 'pygments')])"
    )
    for line in (["trace", "net.expr"], ["trace", "net.expr", "--color", "always"],
                 ["why", "wrong.expr", "x"], ["run", "net.expr"]):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", script, *line], capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.stdout.splitlines()[-1] == "[]", line
    coloured = gradcli("trace", "net.expr", "--color", "always").stdout
    assert ESCAPES.sub("", coloured).split() == gradcli("trace", "net.expr").stdout.split()


@pytest.mark.parametrize("name", ["GREEN", "MAGENTA", "TEAL", "RED", "BLUE", "ORANGE"])
def test_colours_are_readable_on_white_and_on_black(name: str) -> None:
    """The contrast that WCAG asks of text, against both."""
    channels = [c / 255 for c in Color.parse(getattr(terminal, name)).get_truecolor()]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    light = sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert 1.05 / (light + 0.05) >= 4.5 and (light + 0.05) / 0.05 >= 4.5


def test_every_style_is_known_to_both() -> None:
    assert set(terminal.STYLES) == set(CODES)


def test_single_keys(program: Path) -> None:
    """A screen with the program, the steps and the present one; keys go on and back."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    env = _environment()
    (program / "small.expr").write_text(
        "a = torch.ones(1, 2, requires_grad=True)\nb = F.linear(a, a)\nb.backward()\n"
    )
    command = [sys.executable, "-m", "gradcli", "step", "small.expr", "--keys"]
    with subprocess.Popen(
        command, stdin=inner, stdout=inner, stderr=inner, cwd=program, env=env,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(inner)
        try:
            _until(outer, "requires_grad", "step 0 of 3", "TBackward0, inside F.linear(a, a)")
            for sent, words in (
                (b"n", "step 1 of 3"), (b"\x1b[C", "step 2 of 3"), (b"b", "step 1 of 3"),
                (b":show b\r", "tensor([[2.]], grad_fn=<MmBackward0>)"),
                (b"r", "a.grad = tensor([[2., 2.]])"),
            ):  # fmt: skip
                os.write(outer, sent)
                _until(outer, words)
            os.write(outer, b"q")
            assert process.wait(60) == 0
        finally:
            process.kill()
    os.close(outer)


def _until(outer: int, *words: str) -> None:
    """Reads what the terminal is sent, until all of these words are there."""
    seen = b""
    while not all(word in ESCAPES.sub("", seen.decode("utf-8", "replace")) for word in words):
        piece = os.read(outer, 65536)
        assert piece, seen
        seen += piece


def test_single_keys_need_a_terminal(program: Path) -> None:
    done = gradcli("step", "net.expr", "--keys")
    assert done.returncode == 2 and "--keys needs a terminal" in done.stderr


TALKATIVE = """x = torch.tensor(2., requires_grad=True)
y = x * 3
y.backward()
for turn in range(40):
    print('turn', turn)
print('end', end='')
"""
MIDDLE = "… 21 lines left out (--output shows them)"
ASKED = {
    "trace": (), "grad": (), "paths": ("--of", "y", "--wrt", "x"), "flow": (), "why": ("x",),
    "step": ("--plain",),
}  # fmt: skip


@pytest.mark.parametrize("command", ASKED)
def test_output_is_cut_to_its_ends_before_an_answer(command: str, tmp_path: Path) -> None:
    (tmp_path / "talk.expr").write_text(TALKATIVE)
    asked = (command, "talk.expr", *ASKED[command])
    shown = plain(on_terminal(tmp_path, 90, *asked))
    turns = [f"turn {turn}" for turn in range(40)]
    assert shown[:21] == [*turns[:10], MIDDLE, *turns[31:], "end"]
    assert shown[21] == "" and shown[22]
    answer = shown[22:]
    whole = plain(on_terminal(tmp_path, 90, *asked, "--output"))
    assert whole == [*turns, "end", "", *answer]
    assert plain(on_terminal(tmp_path, 90, *asked, "--no-output")) == answer


def test_output_is_whole_elsewhere(tmp_path: Path) -> None:
    """In a pipe, where it is the answer, and where nothing is left out."""
    (tmp_path / "talk.expr").write_text(TALKATIVE)
    turns = [f"turn {turn}" for turn in range(40)]
    assert plain(on_terminal(tmp_path, 90, "run", "talk.expr")) == [*turns, "end"]
    piped = gradcli("trace", str(tmp_path / "talk.expr"))
    assert piped.stdout.splitlines()[:42] == [*turns, "end", ""]
    silent = gradcli("trace", str(tmp_path / "talk.expr"), "--no-output")
    assert silent.stdout.splitlines() == piped.stdout.splitlines()[42:]
    both = gradcli("trace", str(tmp_path / "talk.expr"), "--no-output", "--output")
    assert both.returncode == 2 and "exclude each other" in both.stderr
    (tmp_path / "fail.expr").write_text(TALKATIVE + "print()\ntorch.ones(2) @ torch.ones(3)\n")
    failed = plain(on_terminal(tmp_path, 90, "grad", "fail.expr"))
    assert failed[9:12] == ["turn 9", MIDDLE, "turn 31"] and "end" in failed


def test_a_broken_sentence_keeps_its_styles_and_its_column() -> None:
    line = (
        cell("    types   ", "dim"),
        cell("floats stay as they are, others become floats", "good"),
    )
    shown = terminal.drawn([line], Look(color=True, width=28, rich=True))
    assert ESCAPES.sub("", shown).splitlines() == [
        "    types   floats stay as", "            they are, others", "            become floats"
    ]  # fmt: skip
    assert len([row for row in shown.splitlines() if "\x1b[" in row]) == 3


def test_a_table_is_straight_in_ascii() -> None:
    rows = [tuple(cell(word, "head") for word in ("", "a", "b")),
            *[tuple(map(cell, (name, "1", "2"))) for name in ("θ", "重み", "x")]]  # fmt: skip
    look = Look(color=True, unicode=False, rich=True)
    written_in("ascii")
    try:
        page = ESCAPES.sub("", terminal.drawn(columns(rows, look), look))
    finally:
        written_in("utf-8")
    assert [row.rstrip() for row in page.splitlines()][2:] == [
        r"\u03b8        1  2", r"\u91cd\u307f  1  2", "x             1  2"
    ]  # fmt: skip
