"""Tests of the command as a stranger uses it: every option, every misuse, pipes, limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest
import warm
from pages import error_of
from schemas import fits

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "gradcli" / "schemas"
TWO_PATHS = """\
a = tensor(4.0, requires_grad=True)
w1, w2, w3, w4 = [tensor(i, requires_grad=True) for i in (2.0, 5.0, 9.0, 7.0)]
b = w1 * a
c = w2 * a
d = w3 * b + w4 * c
L = 10 - d
L.backward()
"""
Done = subprocess.CompletedProcess


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with one program in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two_paths.expr").write_text(TWO_PATHS)
    return tmp_path


def gradcli(
    *words: str, stdin: str | None = None, cwd: Path | None = None, **variables: str
) -> Done[str]:
    environment = {**os.environ, **variables}
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        if name not in variables:
            environment.pop(name, None)
    return warm.run(words, environment, stdin, cwd)


def answer(*words: str, stdin: str | None = None) -> str:
    done = gradcli(*words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(status: int, *words: str, stdin: str | None = None) -> str:
    done = gradcli(*words, stdin=stdin)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr and "InternalError" not in done.stderr
    assert done.stderr.endswith("\n") and done.stdout == ""
    return done.stderr


# ---------------------------------------------------------------- the commands


def test_run(home: Path) -> None:
    assert answer("run", "two_paths.expr") == ""
    assert answer("run", "-", stdin="print(tensor([1.0, 2.0]))\n") == "tensor([1., 2.])\n"
    assert answer("run", stdin="print(1)") == "1\n"


def test_trace(home: Path) -> None:
    page = answer("trace", "two_paths.expr")
    assert page.splitlines()[1].split() == "L = 10 - d RsubBackward1 -202. 1. 6".split()
    assert "   ├─ w3 * b            MulBackward0   72.        -1.      5" in page
    assert page.endswith("freed 4 of 6 nodes' saved tensors; --retain-graph keeps them\n")


def test_trace_is_the_same_every_time_and_in_80_columns(home: Path) -> None:
    pages = {
        gradcli("trace", "two_paths.expr", COLUMNS=wide).stdout for wide in ("40", "80", "300")
    }
    assert len(pages) == 1 and "\x1b" not in pages.pop()


def test_trace_of_several(home: Path) -> None:
    """One page after the other; what is wrong with one does not take the others away."""
    (home / "half.expr").write_text("a = tensor(1.0, requires_grad=True)\nL = a / 2\n")
    page = answer("trace", "two_paths.expr", "half.expr")
    pages = [answer("trace", name) for name in ("two_paths.expr", "half.expr")]
    assert page == f"==> two_paths.expr <==\n{pages[0]}\n==> half.expr <==\n{pages[1]}"
    done = gradcli("trace", "half.expr", "none.expr", "two_paths.expr", "-q")
    assert done.returncode == 2 and done.stdout.count("L = ") == 2
    words = ("trace", "half.expr", "two_paths.expr")
    assert error_of(refused(2, *words, "-o", "page")) == "UsageError: -o takes one program"
    said = "UsageError: --format json takes one program"
    assert error_of(refused(2, *words, "--format", "json")) == said


@pytest.mark.parametrize("change", ["w.mul_(3)", "w[0].mul_(3)", "w.add_(1)"])
def test_a_saved_tensor_that_was_changed_is_not_freed(home: Path, change: str) -> None:
    text = "x = torch.ones(2, requires_grad=True)\nw = x.exp()\nwith torch.no_grad():\n    "
    (home / "w.expr").write_text(f"{text}{change}\n")
    page = answer("trace", "w.expr", "--saved")
    assert "8  changed in place since\n8 bytes are kept for backward\n" in page
    doc = json.loads(answer("trace", "w.expr", "--saved", "--format", "json"))
    (saved,) = [fact for node in doc["nodes"] for fact in node.get("saved", ())]
    assert (saved["freed"], saved["changed"], saved["bytes"]) == (False, True, 8)


def test_trace_as_json(home: Path) -> None:
    doc = json.loads(answer("trace", "two_paths.expr", "--format", "json", "--saved", "--all"))
    fits(doc, "gradcli.trace-1")
    assert doc["file"] == "two_paths.expr" and doc["results"] == ["L"]
    assert {t["name"]: t["grad"] for t in doc["tensors"]}["a"] == -53.0
    assert [call["line"] for call in doc["backward"]] == [7]
    by_source = {node.get("source"): node for node in doc["nodes"]}
    assert by_source["w3 * b"]["flow"] == [{"output_nr": 0, "value": 72.0, "grad": -1.0}]
    assert all(entry["freed"] for entry in by_source["w3 * b"]["saved"])


def test_grad(home: Path) -> None:
    page = answer("grad", "two_paths.expr", "--wrt", "w1,b", "--wrt", "a")
    assert page.splitlines()[0].startswith("L = tensor(-202., grad_fn=<RsubBackward1>)")
    assert page.splitlines()[2:] == [
        "dL/dw1 = tensor(-36.)",
        "dL/db  = tensor(-9.)",
        "dL/da  = tensor(-53.)",
    ]


LOOP = """torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
loss = model(torch.ones(1, 2)).sum()
{0}for param in model.parameters():
    print(param.shape)
"""


@pytest.mark.parametrize("called", ["", "loss.backward()\n"])
def test_the_name_of_a_loop_hides_no_parameter(home: Path, called: str) -> None:
    (home / "loop.expr").write_text(LOOP.format(called))
    page = answer("grad", "loop.expr")
    names = {line.split()[0] for line in page.splitlines() if line.startswith("dloss/d")}
    assert names == {f"dloss/dmodel.{n}" for n in ("0.weight", "0.bias", "2.weight", "2.bias")}
    assert answer("grad", "loop.expr", "--wrt", "param").endswith("dloss/dparam = tensor([1.])\n")


def test_grad_of_another_result_and_with_everything(home: Path) -> None:
    assert answer("grad", "two_paths.expr", "--of", "d", "--wrt", "c").endswith(
        "\ndd/dc = tensor(7.)\n"
    )
    page = answer("grad", "two_paths.expr", "--all")
    assert page.count("\ndL/d") == 8
    doc = json.loads(answer("grad", "two_paths.expr", "--format", "json"))
    fits(doc, "gradcli.grad-1")
    assert [entry["name"] for entry in doc["gradients"]] == ["a", "w1", "w2", "w3", "w4"]


def test_grad_of_a_name_that_is_no_leaf_or_no_tensor_yet(home: Path) -> None:
    program = "x = 3.0\ny = x**2\n"
    assert "dy/dx = tensor(6.)" in answer("grad", "--wrt", "x", stdin=program)
    assert "dy/dx = tensor(8.)" in answer("grad", "--set", "x=4.0", stdin=program)
    assert "dy/dx = tensor(8.)" in answer("grad", "--set", "x=4", "--wrt", "x", stdin=program)
    constant = "a = tensor(4.0)\nw = tensor(2.0, requires_grad=True)\ny = w * a\n"
    assert "dy/da = tensor(2.)" in answer("grad", "--wrt", "a", stdin=constant)


def test_grad_of_what_does_not_depend(home: Path) -> None:
    page = answer("grad", "two_paths.expr", "--of", "b", "--wrt", "w4")
    assert "db/dw4 = None   b does not depend on w4" in page


def test_grad_output(home: Path) -> None:
    program = "y = x * 2\n"
    vector = ("grad", "--set", "x=[1.0,2.0]")
    text = refused(3, *vector, stdin=program)
    assert "--grad-output [1.0,1.0]" in text.replace("\n", " ")
    assert error_of(text).endswith("grad can be implicitly created only for scalar outputs")
    page = answer(*vector, "--grad-output", "[1.0,0.0]", stdin=program)
    assert "dy/dx = tensor([2., 0.])" in page
    assert "tensor([6., 6.])" in answer(*vector, "--grad-output", "3", stdin=program)


def test_second_derivatives(home: Path) -> None:
    page = answer("grad", "--set", "x=2.0", "--create-graph", stdin="y = x**3\n")
    assert "dy/dx = tensor(12., grad_fn=<MulBackward0>)" in page


# ---------------------------------------------------------------- inputs


def test_inputs(home: Path) -> None:
    numpy.savez(home / "data.npz", X=numpy.array([1.0, 2.0], dtype=numpy.float32))
    page = answer("grad", "--set", "x=@data.npz:X", stdin="y = (x * x).sum()\n")
    assert "dy/dx = tensor([2., 4.])" in page
    (home / "with.expr").write_text(
        "# set: x=@data.npz:X\n# set: k=3\ny = (x * k).sum()\nprint(k)\n"
    )
    assert answer("grad", "with.expr").startswith("3\n\ny = tensor(9.")
    assert "tensor([5., 5.])" in answer("grad", "with.expr", "--set", "k=5")


def test_no_grad_and_dtype(home: Path) -> None:
    program = "y = x * w\nprint(x.requires_grad, y.dtype)\n"
    page = answer("run", "--set", "x=1.0", "--set", "w=2.0", "--no-grad", "x", "--dtype", "float64",
                  stdin=program)  # fmt: skip
    assert page == "False torch.float64\n"


def test_missing_inputs(home: Path) -> None:
    program = "b = w1 * a\nprint(b)\n"
    page = answer("trace", stdin=program)
    assert page.splitlines()[1].split() == "b = w1 * a MulBackward0 ? 1".split()
    assert "tensor(" not in page
    doc = json.loads(answer("trace", "--format", "json", stdin=program))
    assert doc["missing"] == ["w1", "a"] and doc["tensors"][0]["value"] is None
    text = refused(3, "grad", stdin=program)
    assert "--set w1=1.0 --set a=1.0" in text and error_of(text).endswith("'w1', 'a' have no value")


# ---------------------------------------------------------------- hooks and retained gradients


def test_hooks(home: Path) -> None:
    page = answer("grad", "two_paths.expr", "--hook", "b=lambda g: g * 2", "--wrt", "a")
    assert "dL/da = tensor(-71.)" in page
    assert page.endswith("  1  b  lambda g: g * 2  tensor(-9.) → tensor(-18.)\n")
    page = answer("trace", "two_paths.expr", "--hook", "d=print")
    assert page.startswith("d tensor(-1.)\n\n")


@pytest.mark.parametrize(
    ("hook", "status", "words"),
    [
        ("b", 2, "expected NAME=FUNCTION"),
        ("b=3", 2, "not a function"),
        ("zz=print", 2, "no tensor that requires grad was bound to zz"),
        ("b=lambda g: (", 3, "was never closed"),
        ("b=lambda g: q", 3, "name 'q' is not defined"),
        ("b=__import__('os')", 3, ""),
    ],
)
def test_hooks_that_are_wrong(home: Path, hook: str, status: int, words: str) -> None:
    done = gradcli("grad", "two_paths.expr", "--hook", hook)
    assert done.returncode == status and words in error_of(done.stderr)
    assert "Traceback" not in done.stderr


def test_retain_grad(home: Path) -> None:
    doc = json.loads(answer("trace", "two_paths.expr", "--retain-grad", "b", "--format", "json"))
    kept = {t["name"]: t["grad"] for t in doc["tensors"] if t["retains_grad"]}
    assert kept == {"b": -9.0}
    doc = json.loads(answer("trace", "two_paths.expr", "--retain-grad", "all", "--format", "json"))
    assert sum(t["retains_grad"] for t in doc["tensors"]) == 4


def test_retain_graph(home: Path) -> None:
    twice = TWO_PATHS + "L.backward()\n"
    assert gradcli("run", stdin=twice).returncode == 3
    page = answer("trace", "--retain-graph", "--saved", stdin=twice)
    # Eight entries of 4 bytes; two of them are a.
    assert "28 bytes are kept for backward: memory that several share counts once\n" in page


# ---------------------------------------------------------------- FILE


def test_no_file_given(home: Path) -> None:
    done = gradcli("trace")
    assert done.returncode == 0 and done.stderr == "reading two_paths.expr, the only one here\n"
    assert gradcli("trace", "-q").stderr == ""
    (home / "other.expr").write_text("x = 1\n")
    assert error_of(refused(2, "run")).endswith("this folder holds 2: other.expr, two_paths.expr")


def test_files_that_are_none(home: Path) -> None:
    text = refused(2, "trace", "tow_paths.expr")
    assert text.endswith("no file tow_paths.expr\nhelp: did you mean two_paths.expr?\n")
    assert "two_paths" in refused(2, "run", "two_paths")
    assert "did you mean" not in refused(2, "run", "nosuch.expr")  # the ending is all they share
    assert error_of(refused(2, "run", ".")) == "UsageError: . is a folder"
    (home / "link.expr").symlink_to("gone.expr")
    gone = "UsageError: link.expr is a link to gone.expr, which is not there"
    assert error_of(refused(2, "run", "link.expr")) == gone
    refused(2, "run", "no/such/file.expr")
    assert refused(2, "grad", "two_paths.expr", "--wrt").endswith("help: gradcli grad --help\n")
    refused(2, "run", "a\nb")
    (home / "binary.expr").write_bytes(bytes(range(256)))
    assert "not UTF-8" in refused(3, "run", "binary.expr")
    (home / "empty.expr").write_text("")
    assert answer("run", "empty.expr") == ""
    assert "no graph" in answer("trace", "empty.expr")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(home: Path) -> None:
    (home / "two_paths.expr").chmod(0)
    assert "permission denied" in refused(2, "run", "two_paths.expr")


def test_out(home: Path) -> None:
    page = answer("trace", "two_paths.expr")
    assert answer("trace", "two_paths.expr", "-o", "page.txt") == ""
    assert (home / "page.txt").read_text() == page
    assert "overwrite the program" in refused(2, "run", "two_paths.expr", "-o", "two_paths.expr")
    refused(2, "run", "two_paths.expr", "-o", "no/such/folder")
    assert sorted(os.listdir(home)) == ["page.txt", "two_paths.expr"]


@pytest.mark.parametrize(("words", "begins"), [
    (("trace", "two_paths.expr", "-o", "x.svg"), "<?xml"),
    (("trace", "two_paths.expr", "-o", "x.GV"), "digraph"),
    (("grad", "two_paths.expr", "-o", "x.json"), '{"schema": "gradcli.grad/1"'),
    (("paths", "two_paths.expr", "--wrt", "a", "-o", "x.tex"), "% dL/da"),
    (("check", "two_paths.expr", "-o", "x.xml"), "<?xml"),
    (("trace", "two_paths.expr", "--format", "text", "-o", "x.svg"), "      "),
    (("grad", "two_paths.expr", "-o", "x.svg"), "L = tensor(-202."),  # grad draws nothing
    (("run", "print.expr", "-o", "x.json"), "[1]\n"),  # what the program printed
])  # fmt: skip
def test_the_ending_of_out_says_the_format(
    home: Path, words: tuple[str, ...], begins: str
) -> None:  # fmt: skip
    (home / "print.expr").write_text("print([1])\n")
    assert gradcli(*words).returncode == 0
    assert (home / words[-1]).read_text("utf-8").startswith(begins)


def test_a_page_has_no_other_ending(home: Path) -> None:
    done = gradcli("show", "two_paths.expr", "-o", "x.svg")
    assert done.returncode == 2 and not (home / "x.svg").exists()
    assert "help: gradcli trace FILE -o x.svg" in done.stderr


def test_out_into_what_is_no_plain_file(home: Path) -> None:
    """A link, a pipe and a device stay what they are."""
    page = answer("trace", "two_paths.expr")
    (home / "real.txt").write_text("old")
    (home / "link.txt").symlink_to("real.txt")
    answer("trace", "two_paths.expr", "-o", "link.txt")
    assert (home / "link.txt").is_symlink() and (home / "real.txt").read_text() == page
    assert answer("trace", "two_paths.expr", "-o", "/dev/stdout") == page
    os.mkfifo(home / "pipe")
    reader = os.open(home / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    answer("trace", "two_paths.expr", "-o", "pipe")
    assert os.read(reader, 1 << 16).decode() == page
    os.close(reader)


def test_out_into_what_no_one_reads_or_what_holds_more(home: Path) -> None:
    os.mkfifo(home / "pipe")
    (home / "link").symlink_to("pipe")
    for path in ("pipe", "link"):
        told = refused(2, "run", "two_paths.expr", "-o", path)
        assert "it is a pipe without a reader" in told
    assert "an empty text is no path" in refused(2, "run", "two_paths.expr", "-o", "")
    assert "Bad file descriptor" in refused(2, "run", "two_paths.expr", "-o", "/dev/fd/99")
    assert answer("trace", "two_paths.expr", "-o", "-") == answer("trace", "two_paths.expr")
    page = home / "page.txt"
    with page.open("w") as file:  # where standard output is a file, it is added to
        file.write("first\n")
        file.flush()
        command = [sys.executable, "-m", "gradcli", "run", "two_paths.expr", "-o", "/dev/stdout"]
        subprocess.run(command, stdout=file, check=True)
    assert page.read_text() == "first\n" + answer("run", "two_paths.expr")


# ---------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("trcae", "x"), "No such command 'trcae'. Did you mean 'trace'?"),
        (("two_paths.expr",), "gradcli trace two_paths.expr"),
        (("trace", "--dpeth", "3"), "--depth"),
        (("trace", "--depth", "x"), "'x' is not a whole number"),
        (("run", "--timeout", "soon"), "'soon' is not a time"),
        (("run", "--timeout", "0"), "a time limit lies between"),
        (("run", "--max-memory", "much"), "'much' is not an amount"),
        (("run", "--max-steps", "0"), "no limit can be switched off"),
        (("run", "--format", "xml"), "'xml' is not one of text, json"),
        (("run", "--dtype", "int8"), "'int8' is not one of"),
        (("run", "--device", "tpu"), "expected cpu, cuda or cuda:N"),
        (("run", "--set", "q"), "expected NAME=VALUE"),
        (("run", "--set", "q=1"), "no such input"),
        (("run", "--set", "b=1.0"), "computes it itself"),
        (("run", "--set", "a=@none.npy"), "none.npy"),
        (("trace", "--of", "X"), "no tensor has this name"),
        (("grad", "--wrt", "zz"), "no tensor has this name"),
        (("grad", "--of", "b", "--of", "c"), "--of takes one result"),
        (("trace", "--no-grad", "zz"), "no such input"),
        (("trace", "--no-grad", "b"), "computes it itself"),
        (("grad", "--wrt", "a", "--retain-grad", "zz"), "was bound to zz"),
    ],
)
def test_misuse(home: Path, words: tuple[str, ...], told: str) -> None:
    assert told in refused(2, *words, "-q") if "--" in " ".join(words) else refused(2, *words)


def test_a_missing_device(home: Path) -> None:
    try:
        import cupy  # noqa: F401
    except ImportError:
        text = refused(5, "run", "two_paths.expr", "--device", "cuda")
        assert "pip install 'gradcli[cuda]'" in text


def test_an_error_keeps_what_was_bound(home: Path) -> None:
    program = "x = tensor(2.0, requires_grad=True)\ny = x * 2\nprint(y)\nz = y.nope\n"
    done = gradcli("trace", stdin=program)
    assert done.returncode == 3
    assert "y = x * 2" in done.stdout and error_of(done.stderr).startswith("AttributeError: ")
    done = gradcli("trace", "--format", "json", stdin=program)
    doc = json.loads(done.stdout)
    fits(doc, "gradcli.trace-1")
    assert doc["error"]["type"] == "AttributeError" and doc["error"]["line"] == 4
    assert [t["name"] for t in doc["tensors"]] == ["x", "y"]
    doc = json.loads(gradcli("run", "--format", "json", stdin="print(1)\nx = (").stdout)
    fits(doc, "gradcli.run-1")
    assert doc["error"]["type"] == "SyntaxError"
    done = gradcli("trace", stdin="print(1)\nx = (")
    assert done.returncode == 3 and done.stdout == ""  # the error says it all


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("program", "option", "value"),
    [
        ("while True:\n    pass\n", "--timeout", "0.2s"),
        ("a = torch.ones(700, 700)\nwhile True:\n    a = a @ a\n", "--timeout", "0.2"),
        ("while True:\n    pass\n", "--max-steps", "1000"),
        ("x = 'a'\nwhile True:\n    x = x + x\n", "--max-memory", "100MB"),
        ("x = torch.zeros(10**9)\n", "--max-memory", "100MB"),
        ("while True:\n    print('hello')\n", "--max-output", "1k"),
        ("def f(n):\n    return f(n + 1)\nf(0)\n", "--max-depth", "50"),
        ("x = tensor(1.0, requires_grad=True)\nwhile True:\n    x = x * 2\n", "--max-nodes", "1e3"),
        ("x = tensor(1.0, requires_grad=True)\nfor i in range(50): x = x * 2\n",
         "--max-nodes", "20"),
        ("x = 1\n" * 1000, "--max-source", "100"),
    ],
)  # fmt: skip
def test_limits(program: str, option: str, value: str) -> None:
    start = time.monotonic()
    done = gradcli("run", option, value, stdin=program)
    assert done.returncode == 4, done.stderr
    assert error_of(done.stderr).startswith("LimitReached: ") and option in done.stderr
    assert time.monotonic() - start < 30
    variable = "GRADCLI_" + option[2:].replace("-", "_").upper()
    assert gradcli("run", stdin=program, **{variable: value}).returncode == 4


# ---------------------------------------------------------------- streams


def test_a_closed_pipe_ends_silently(home: Path) -> None:
    program = "for i in range(200000):\n    print('line', i)\n"
    for command in ("run", "trace"):
        with subprocess.Popen(
            [sys.executable, "-m", "gradcli", command],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdin and process.stdout and process.stderr
            process.stdin.write(program.encode())
            process.stdin.close()
            assert process.stdout.readline() == b"line 0\n"
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_interrupted(home: Path) -> None:
    (home / "loop.expr").write_text("print('on')\nwhile True:\n    pass\n")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "gradcli", "run", "loop.expr"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # A shell that starts the tests in the background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert b"Traceback" not in process.stderr.read()


def test_control_characters_never_go_out(home: Path) -> None:
    evil = r"'\x1b]0;title\x07\x1b[31m\r\x9b\u202e'"
    program = f"t = {evil}\nx = tensor(1.0, requires_grad=True)\nd = {{t: x}}\n"
    program += "print(t)\nraise ValueError(t)\n"
    for command in ("run", "trace", "grad"):
        done = gradcli(command, "--color", "never", stdin=program)
        shown = done.stdout + done.stderr
        assert not any(c in shown for c in "\x1b\x07\r\x9b\u202e"), command
    done = gradcli("run", "a\x1b[31m.expr")
    assert done.returncode == 2 and "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("variables", "option", "coloured"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"CLICOLOR_FORCE": "1"}, (), True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"NO_COLOR": "1"}, (), False),
    ],
)
def test_colours(
    home: Path, variables: dict[str, str], option: tuple[str, ...], coloured: bool
) -> None:
    page = gradcli("trace", "two_paths.expr", *option, **variables).stdout
    assert ("\x1b[" in page) is coloured


def test_quiet(home: Path) -> None:
    assert gradcli("run", "-q", stdin="print(1)\n").stdout == "1\n"
    assert gradcli("run", "-qq", stdin="print(1)\n").stdout == ""


def test_a_name_of_a_file_is_no_line_of_its_own(tmp_path: Path) -> None:
    """A line that begins with `::error` would be a command to a CI system."""
    file = tmp_path / "a\n::error::b.expr"
    file.write_text("1/0\n", "utf-8")
    for words in (["run", "nope"], ["run", str(tmp_path)], ["trace"], ["run"]):
        done = gradcli(*words, cwd=tmp_path)
        assert done.returncode in (2, 3)
        assert "\\n::error::b" in done.stderr and "\n::error" not in done.stderr


def test_a_file_whose_name_begins_with_a_dash() -> None:
    assert "help: for a file of this name: ./-x.expr\n" in refused(2, "run", "--", "-x.expr")


@pytest.mark.parametrize("command", ["", "trace", "check", "ops", "diff"])
@pytest.mark.parametrize("width", [40, 80])
def test_help_is_no_wider_than_the_terminal(command: str, width: int) -> None:
    """Only examples, which are there to be copied, and words without a space are."""
    shown = gradcli(*command.split(), "--help", COLUMNS=str(width)).stdout
    wide = [line.strip() for line in shown.splitlines() if len(line) > width]
    assert all(line.startswith(("gradcli ", "echo ", "-f, --format")) for line in wide), wide
    assert width < 80 or not wide
