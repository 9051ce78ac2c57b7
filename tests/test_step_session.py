"""Tests of `gradcli step` as a command and as a session: documents, breakpoints, a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import jsonschema
import program_generator
import pytest
from test_cli import SCHEMAS, TWO_PATHS, answer, gradcli, home, refused  # noqa: F401
from test_step import told

# ---------------------------------------------------------------- the command


@pytest.fixture
def validator() -> jsonschema.Validator:
    return jsonschema.Draft202012Validator(
        json.loads((SCHEMAS / "gradcli.step-1.json").read_text("utf-8"))
    )


def test_documents(home: Path, validator: jsonschema.Validator) -> None:  # noqa: F811
    doc = json.loads(answer("step", "two_paths.expr", "--format", "json"))
    validator.validate(doc)
    assert doc["schema"] == "gradcli.step/1" and doc["count"] == 1
    (walk,) = doc["passes"]
    assert [step["name"] for step in walk["steps"]][-1] == "a"
    assert walk["steps"][-1]["grad_after"]["value"] == -53.0
    some = json.loads(answer("step", "two_paths.expr", "--format", "json", "--break", "c"))
    validator.validate(some)
    assert [step["step"] for step in some["passes"][0]["steps"]] == [7]


@pytest.mark.parametrize("seed", range(12))
def test_documents_of_random_programs(seed: int, validator: jsonschema.Validator) -> None:
    from gradcli.render.json.steps import steps as document

    text = program_generator.program(seed)
    validator.validate(json.loads("".join(document(told(text)))))


def test_the_same_bytes_every_time(home: Path) -> None:  # noqa: F811
    (home / "random.expr").write_text(program_generator.program(7))
    once, again = (answer("step", "random.expr") for _ in range(2))
    assert once == again


def test_breaks_in_a_pipe(home: Path) -> None:  # noqa: F811
    shown = answer("step", "two_paths.expr", "--break", "b,w4")
    assert "… steps 1 to 3" in shown and shown.count("incoming") == 2
    assert "did you mean w4?" in refused(2, "step", "two_paths.expr", "--break", "w5")


def test_passes_are_chosen(home: Path) -> None:  # noqa: F811
    (home / "twice.expr").write_text(
        "x = tensor(1.0, requires_grad=True)\n(x * 2).backward()\n(x * 3).backward()\n"
    )
    assert answer("step", "twice.expr", "--pass", "2").startswith(
        "pass 2 of 2   (x * 3).backward()"
    )
    assert "there are 2 backward passes" in refused(2, "step", "twice.expr", "--pass", "3")
    assert "is not the number of a pass" in refused(2, "step", "twice.expr", "--pass", "0")


def test_hooks_and_retained_gradients_by_option(home: Path) -> None:  # noqa: F811
    shown = answer(
        "step", "two_paths.expr", "--hook", "b=lambda g: g * 2", "--retain-grad", "c",
        "--retain-graph",
    )  # fmt: skip
    assert "lambda g: g * 2   (tensor hook)\n               -9 → -18" in shown
    assert "c.grad keeps it" in shown and "retain_graph keeps what the nodes had saved" in shown
    assert "w1.grad = tensor(-72.)" in shown


def test_an_error_is_reported_after_the_steps(home: Path) -> None:  # noqa: F811
    (home / "twice.expr").write_text(TWO_PATHS + "L.backward()\n")
    done = gradcli("step", "twice.expr")
    assert done.returncode == 3 and "stopped in step 3" in done.stdout
    assert "Trying to backward through the graph a second time" in done.stderr


def test_nothing_to_differentiate(home: Path) -> None:  # noqa: F811
    assert "no result requires grad" in refused(3, "step", "-", stdin="x = tensor(1.0)\n")
    assert "--grad-output" in gradcli("step", "--set", "x=[1.0,2.0]", "-", stdin="y = x * 2").stderr
    shown = answer("step", "--set", "x=[1.0,2.0]", "--grad-output", "1.0", "-", stdin="y = x * 2")
    assert "x.grad = tensor([2., 2.])" in shown


# ---------------------------------------------------------------- step by step


def script(*lines: str) -> list[str]:
    """The answers to commands, without the prompts."""
    shown = answer("step", "two_paths.expr", "--commands", "-", stdin="\n".join(lines) + "\n")
    return re.split(r"\nstep \d+ of \d+> .*\n", shown)[1:]


def test_commands(home: Path) -> None:  # noqa: F811
    answers = script(
        "next", "", "run b", "show a.grad", "show w1 * a", "next 2", "show a.grad", "back",
        "show a.grad",
    )  # fmt: skip
    assert answers[0].startswith("  1  L = 10 - d")
    assert answers[1].startswith("  2  d = w3 * b + w4 * c")
    assert answers[2].startswith("     … steps 3 to 8\n\n  9  b = w1 * a")
    assert answers[3:5] == ["None\n", "tensor(8., grad_fn=<MulBackward0>)\n"]
    assert "11 steps; 28 bytes of saved tensors released" in answers[5]
    assert answers[6] == "tensor(-53.)\n"
    assert answers[7].startswith(" 10  w1  leaf") and answers[8] == "None\n"


def test_breakpoints(home: Path) -> None:  # noqa: F811
    answers = script("break c", "break AccumulateGrad", "break", "run", "clear", "run", "run")
    assert answers[0] == "run stops at c, step 7\n"
    assert answers[1] == "run stops at AccumulateGrad, steps 4, 6, 8, 10, 11\n"
    assert answers[2] == "c   step 7\nAccumulateGrad   steps 4, 6, 8, 10, 11\n"
    assert "  4  w4  leaf" in answers[3] and answers[4] == "run stops at nothing but the end\n"
    assert " 11  a  leaf" in answers[5] and "11 steps" in answers[6]


def test_what_a_session_says_to_mistakes(home: Path) -> None:  # noqa: F811
    answers = script("foo", "nxt", "run zz", "show zz", "break q", "pass 4", "back", "show 1 +")
    assert answers[0] == "foo: unknown command; help lists the commands\n"
    assert answers[1] == "nxt: unknown command; did you mean next?\n"
    assert answers[2].startswith("no step of this pass is called zz; its steps are L, d, ")
    assert answers[3] == "NameError: name 'zz' is not defined\n"
    assert answers[4].startswith("no step of this pass is called q")
    assert answers[5] == "there is no such pass\n"
    assert answers[6] == "this is where the pass begins\n"
    assert answers[7].startswith("SyntaxError: ")


def test_list_and_help(home: Path) -> None:  # noqa: F811
    answers = script("break b", "next", "list", "help", "quit", "next")
    assert answers[2].startswith("▶  1  L = 10 - d ") and "6 more; list all" in answers[2]
    assert "show [EXPR]" in answers[3] and answers[4:] == [""]


def test_values_of_the_moment(home: Path) -> None:  # noqa: F811
    """show runs the program again up to that step: hooks, updates, several passes."""
    (home / "train.expr").write_text(
        "w = tensor([2.0], requires_grad=True)\n"
        "opt = optim.SGD([w], lr=0.1)\n"
        "for i in range(3):\n"
        "    loss = (w * w).sum()\n"
        "    opt.zero_grad()\n"
        "    loss.backward()\n"
        "    print(i)\n"
        "    opt.step()\n"
    )
    shown = answer("step", "train.expr", "--commands", "-", stdin="pass 3\nshow i, w, w.grad\nrun\n"
                   "show w.grad\n")  # fmt: skip
    assert shown.startswith("0\n1\n2\n\npass 1 of 3")
    assert "(2, tensor([1.2800], requires_grad=True), None)\n" in shown
    assert shown.endswith("> show w.grad\ntensor([2.5600])\n")


def test_functions_of_the_program_can_be_called(home: Path) -> None:  # noqa: F811
    (home / "net.expr").write_text(
        "net = nn.Linear(1, 1)\ndef twice(v):\n    return v * 2\n"
        "y = twice(net(tensor([[1.0]])))\ny.backward()\n"
    )
    lines = "show twice(net(ones(3, 1))).shape\nshow twise(y)\n"
    shown = answer("step", "net.expr", "--commands", "-", stdin=lines)
    assert "torch.Size([3, 1])\n" in shown and shown.endswith(
        "NameError: name 'twise' is not defined\n"
    )


def test_commands_from_a_file(home: Path) -> None:  # noqa: F811
    (home / "talk.txt").write_text("# a comment\nrun c\nquit\n")
    shown = answer("step", "two_paths.expr", "--commands", "talk.txt")
    assert "step 0 of 11> run c\n" in shown and "comment" not in shown
    assert "none.txt" in refused(2, "step", "two_paths.expr", "--commands", "none.txt")
    assert "standard input is the program" in refused(2, "step", "-", "--commands", "-",
                                                      stdin=TWO_PATHS)  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal(home: Path) -> None:  # noqa: F811
    """On a terminal it asks; Ctrl-C leaves the line, Ctrl-D leaves."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(SCHEMAS.parent.parent), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", "step", "two_paths.expr", "--break", "d"],
        stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True,
        close_fds=True,
    )  # fmt: skip
    os.close(inner)
    seen = _until(outer, "step 2 of 11> ")
    assert "\x1b[" in seen and "next, back, run" in seen and "d = w3 * b + w4 * c" in seen
    os.write(outer, b"show d\n")
    assert "tensor(212., grad_fn=<AddBackward0>)" in _until(outer, "step 2 of 11> ")
    os.write(outer, b"run\n")
    assert "a.grad = tensor(-53.)" in _until(outer, "step 11 of 11> ")
    os.write(outer, b"\x04")
    assert process.wait(20) == 0
    os.close(outer)


def _until(terminal: int, words: str) -> str:
    """What the terminal shows, up to these words."""
    seen = ""
    ends = time.monotonic() + 30
    while words not in seen[1:] and time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
    assert words in seen, seen
    return seen


def test_what_an_edge_leads_to_keeps_its_distance(tmp_path: Path) -> None:
    """However long its name is where nothing is cut."""
    name = "a_name_that_is_longer_than_a_column"
    made = f"{name} = torch.ones(2, 3, requires_grad=True)"
    program = tmp_path / "p.expr"
    program.write_text(f"{made}\n(torch.ones(3, 2) @ {name}).sum().backward()\n")
    assert f"{name}  local " in gradcli("step", str(program)).stdout
