"""Tests of the files of `check`, of --out and of programs: what a stranger may put there."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from command_here import here as gradcli
from test_check import GOOD, home, write  # noqa: F401

from gradcli.diagnostics import ProgramError
from gradcli.opening import UsageError
from gradcli.output import put_in_place

FORMS = ("text", "json", "junit", "github")
NEEDS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")

# ---------------------------------------------------------------- what is written


def test_an_update_never_writes_through_a_link(home: Path) -> None:  # noqa: F811
    victim = write(home, "outside/victim", "keep\n")
    write(home, "in/a.expr", "print(1)\n")
    for name in ("a.out", "a.out.unfinished", "a.out.tmp", ".a.out.unfinished", "a.out~"):
        (home / "in" / name).symlink_to(victim)
    done = gradcli("check", "--update", "in")
    assert done.returncode == 2 and "in/a.out is a link" in done.stdout
    (home / "in" / "a.out").unlink()
    assert gradcli("check", "--update", "in").returncode == 0
    assert (home / "in" / "a.out").read_text() == "1\n" and victim.read_text() == "keep\n"


@pytest.mark.parametrize("leads", ["outside", "nowhere", "itself", "a folder"])
def test_links_for_a_recorded_answer_are_refused(home: Path, leads: str) -> None:  # noqa: F811
    write(home, "in/a.expr", "print(1)\n")
    targets = {"outside": "../secret", "nowhere": "../new", "itself": "a.out", "a folder": ".."}
    write(home, "secret", "1\n")
    (home / "in" / "a.out").symlink_to(targets[leads])
    for words in ((), ("--update",)):
        done = gradcli("check", "in", *words)
        assert done.returncode == 2 and "is a link; a recorded answer" in done.stdout
    assert (home / "secret").read_text() == "1\n" and not (home / "new").exists()


@NEEDS_PIPES
def test_a_recorded_answer_that_is_no_file(home: Path) -> None:  # noqa: F811
    for name in ("a", "b", "c"):
        write(home, f"{name}.expr", "print(1)\n")
    os.mkfifo(home / "a.out")
    (home / "b.out").mkdir()
    done = gradcli("check", ".", "--update")
    assert done.returncode == 2
    assert "a.out is not a file" in done.stdout and "b.out can't be read" in done.stdout
    assert (home / "c.out").read_text() == "1\n"


def test_a_hard_link_keeps_its_other_name(home: Path) -> None:  # noqa: F811
    victim = write(home, "victim", "keep\n")
    write(home, "a.expr", "print(1)\n")
    os.link(victim, home / "a.out")
    assert gradcli("check", "--update", "a.expr").returncode == 0
    assert victim.read_text() == "keep\n" and (home / "a.out").read_text() == "1\n"


def test_out_replaces_the_file_behind_the_users_own_link(home: Path) -> None:  # noqa: F811
    write(home, "a.expr", GOOD)
    report = write(home, "reports/today.txt", "old\n")
    (home / "latest").symlink_to(report)
    assert gradcli("check", "a.expr", "-o", "latest").returncode == 0
    assert (home / "latest").is_symlink() and "1 program" in report.read_text()


@pytest.mark.parametrize("verb", ["check", "trace", "run"])
def test_out_makes_no_file_behind_a_link(home: Path, verb: str) -> None:  # noqa: F811
    write(home, "a.expr", GOOD)
    (home / "report").symlink_to(home / "outside")
    done = gradcli(verb, "a.expr", "-o", "report")
    assert done.returncode == 2 and "link that leads to nothing" in done.stderr
    assert not (home / "outside").exists() and (home / "report").is_symlink()


@pytest.mark.parametrize("out", ["today", "reports/today"])
def test_out_follows_no_link_out_of_the_folder(home: Path, out: str) -> None:  # noqa: F811
    write(home, "in/a.expr", GOOD)
    today = write(home, "reports/today", "keep\n")
    (home / "in" / "today").symlink_to(today)
    (home / "in" / "reports").symlink_to(home / "reports")
    os.chdir(home / "in")  # the fixture goes back
    for options in (("run", "-o"), ("check", "--junit"), ("check", "--sarif")):
        done = gradcli(options[0], "a.expr", options[1], out)
        assert done.returncode == 2 and "is a link that leads out of its folder" in done.stderr
    assert today.read_text() == "keep\n"
    assert gradcli("run", "a.expr", "-o", "../reports/today").returncode == 0


def test_the_file_in_the_making_is_nobodys(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Its name is new each time, it is not there before, and nothing stays of it."""
    asked: list[str] = []
    real = os.open

    def seen(path: str, flags: int, mode: int = 0o777, **more: Any) -> int:
        if flags & os.O_CREAT:
            asked.append(str(path))
            assert flags & os.O_EXCL and flags & os.O_NOFOLLOW
        return real(path, flags, mode, **more)

    monkeypatch.setattr(os, "open", seen)
    for _ in range(2):
        put_in_place(str(home / "a"), ["text"])  # type: ignore[list-item]
    assert len(set(asked)) == 2 and os.listdir(home) == ["a"]
    monkeypatch.setattr(os, "urandom", lambda count: b"\0" * count)
    (home / f".{'00' * 12}.unfinished").symlink_to(home / "victim")
    with pytest.raises(FileExistsError):
        put_in_place(str(home / "a"), ["text"])  # type: ignore[list-item]
    assert not (home / "victim").exists()


def test_a_piece_that_fails_leaves_the_old_file(home: Path) -> None:  # noqa: F811
    write(home, "a", "old")

    def pieces() -> Any:
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put_in_place(str(home / "a"), pieces())
    assert os.listdir(home) == ["a"] and (home / "a").read_text() == "old"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o755])
def test_who_may_read_stays(home: Path, mode: int) -> None:  # noqa: F811
    write(home, "a.expr", GOOD)
    write(home, "report", "old").chmod(mode)
    assert gradcli("trace", "a.expr", "-o", "report").returncode == 0
    assert stat.S_IMODE((home / "report").stat().st_mode) == mode


# ---------------------------------------------------------------- which programs there are


def test_a_link_out_of_its_folder_is_not_followed_by_its_name(
    home: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    """A pattern of the shell names it, and the stranger who made it knows where it leads."""
    write(home, "secret.expr", "password = hunter2\n")
    write(home, "in/sub/a.expr", GOOD)
    (home / "in" / "b.expr").symlink_to("../secret.expr")
    (home / "in" / "c.expr").symlink_to("sub/a.expr")
    monkeypatch.chdir(home / "in")
    done = gradcli("check", "b.expr", "c.expr")
    monkeypatch.chdir(home)
    assert done.returncode == 2 and "hunter" not in done.stdout
    assert "b.expr is a link that leads out of its folder" in done.stdout
    assert "passed  c.expr" in done.stdout
    assert "hunter" in gradcli("check", "in/b.expr").stdout  # within the folder of the command


@pytest.mark.parametrize("verb", ["run", "trace", "check", "diff"])
def test_no_command_reads_a_program_through_a_link_that_leads_out(home: Path, verb: str) -> None:  # noqa: F811
    write(home, "secret/a.expr", "password = hunter2\n")
    write(home, "in/own.expr", "print(1)\n")
    (home / "in" / "file.expr").symlink_to(home / "secret" / "a.expr")
    (home / "in" / "folder").symlink_to(home / "secret")
    (home / "in" / "own_link.expr").symlink_to("own.expr")
    other = ["own.expr"] if verb == "diff" else []
    elsewhere = str(home / "in" / "file.expr")
    os.chdir(home / "in")  # the fixture goes back
    assert gradcli(verb, "own_link.expr", *other).returncode == 0
    assert gradcli(verb, "../in/own.expr", *other).returncode == 0
    os.chdir(home / "secret")
    away = gradcli(verb, "../in/own_link.expr", *([elsewhere] if other else []))
    assert away.returncode == (2 if other else 0)
    os.chdir(home / "in")
    for path in ("file.expr", "folder/a.expr", elsewhere):
        done = gradcli(verb, path, *other)
        assert done.returncode == 2 and "hunter" not in done.stdout + done.stderr
        assert f"{path} is a link that leads out of its folder" in done.stdout + done.stderr
    done = gradcli("check", "folder")
    assert done.returncode == 2 and "folder is a link that leads out" in done.stdout


def test_links_that_lead_out_are_reported_and_not_followed(home: Path) -> None:  # noqa: F811
    write(home, "outside/secret.expr", "print('hidden'\n")
    write(home, "outside/word", "hidden\n")
    write(home, "in/a.expr", GOOD)
    (home / "in" / "folder").symlink_to(home / "outside")
    (home / "in" / "b.expr").symlink_to(home / "outside" / "secret.expr")
    (home / "in" / "c.expr").symlink_to(home / "outside" / "word")
    (home / "in" / "d.expr").symlink_to(home / "nowhere")
    done = gradcli("check", "in")
    assert done.returncode == 0 and "1 program: 1 passed" in done.stdout
    for name in ("folder", "b.expr", "c.expr", "d.expr"):
        assert f"in/{name} is a link that leads out of in, which is not followed" in done.stderr
    assert "hidden" not in done.stdout + done.stderr
    assert gradcli("check", "in", "-q").stderr == ""


def test_links_to_what_is_checked_anyway_are_no_news(home: Path) -> None:  # noqa: F811
    write(home, "in/sub/a.expr", GOOD)
    write(home, "in/notes", "text\n")
    (home / "in" / "b.expr").symlink_to("sub/a.expr")
    (home / "in" / "again").symlink_to("sub")
    (home / "in" / "sub" / "loop").symlink_to("..")
    (home / "in" / "sub" / "self").symlink_to(".")
    done = gradcli("check", "in")
    assert (done.returncode, done.stderr) == (0, "") and "1 program: 1 passed" in done.stdout
    (home / "in" / "c.expr").symlink_to("notes")
    assert "in/c.expr is a link, which is not followed" in gradcli("check", "in").stderr


def test_links_that_lead_in_circles_end(home: Path) -> None:  # noqa: F811
    write(home, "in/a.expr", GOOD)
    (home / "in" / "one").symlink_to("two")
    (home / "in" / "two").symlink_to("one")
    (home / "in" / "me.expr").symlink_to("me.expr")
    done = gradcli("check", "in", "in/me.expr")
    assert done.returncode == 2 and "1 passed" in done.stdout and "me.expr" in done.stderr


def test_many_links_are_counted(home: Path) -> None:  # noqa: F811
    write(home, "in/a.expr", GOOD)
    for number in range(400):
        (home / "in" / f"b{number:03}.expr").symlink_to(home / "out")
    lines = gradcli("check", "in").stderr.splitlines()
    assert len(lines) == 6 and lines[-1] == "... and 395 more links"


@NEEDS_PIPES
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", ["1", "3"])
def test_whatever_lies_there_the_report_is_written(home: Path, form: str, count: str) -> None:  # noqa: F811
    write(home, "in/a.expr", GOOD)
    os.mkfifo(home / "in" / "pipe.expr")
    os.mkfifo(home / "named.expr")
    (home / "in" / "folder.expr").mkdir()
    (home / "empty").mkdir()
    (home / "in" / "binary.expr").write_bytes(bytes(range(256)) * 40)
    (home / "in" / "device.expr").symlink_to("/dev/zero")
    odd = os.fsdecode(b"in/odd\xff\x1b[31m\n.expr")
    Path(odd).write_text("print(1\n")
    done = gradcli("check", "in", "gone.expr", "named.expr", "empty", "/dev/null", "/dev/zero",
                   "--max-source", "20000", "--format", form, "--jobs", count)  # fmt: skip
    assert done.returncode == 3
    page = done.stdout
    for words in ("in/pipe.expr is not a file", "there is no file gone.expr",
                  "named.expr is a pipe without a writer", "empty holds no .expr file",
                  "not UTF-8 text", "20,000 bytes of source"):  # fmt: skip
        assert words in page, words
    assert "\x1b" not in page and "\udcff" not in page
    assert "a.expr" in page or form == "github"


def test_a_folder_without_end_is_not_walked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    from gradcli.questions.check import files

    for number in range(12):
        write(home, f"in/many/{number}.txt", "")
    write(home, "in/few/a.expr", GOOD)
    monkeypatch.setattr(files, "MOST_ENTRIES", 10)
    with pytest.raises(ProgramError) as caught:
        files.places(["in"], 1000)
    assert caught.value.diagnostic.exit_status == 4
    assert "in holds more than the 10 files and folders" in caught.value.diagnostic.message
    found = files.places(["in"], 1000, ["many"])  # what is left out is not looked into
    assert [place.name for place in found.programs] == ["in/few/a.expr"]
    with pytest.raises(UsageError, match="leaves out every program"):
        files.places(["in/few", "in"], 1000, ["many", "few"])
    with pytest.raises(ProgramError):  # the folders of one call are counted together
        files.places(["in/few"] * 11, 1000)


@NEEDS_PIPES
def test_a_pipe_with_a_writer_is_read(home: Path) -> None:  # noqa: F811
    os.mkfifo(home / "p")
    writer = threading.Thread(target=lambda: (home / "p").write_text("print(1)\n" * 30_000))
    writer.start()
    assert gradcli("check", "p").returncode == 0
    writer.join()


def test_a_file_that_goes_in_between(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    from gradcli.questions.check import files

    for name in ("a", "b"):
        write(home, f"{name}.expr", GOOD)
    ordinary = files.opened

    def opened(path: str, most: int) -> Any:
        if path == "./a.expr":
            os.remove(path)
        return ordinary(path, most)

    monkeypatch.setattr(files, "opened", opened)
    done = gradcli("check", ".", "--format", "json")
    codes = {file["file"]: file["exit_code"] for file in json.loads(done.stdout)["files"]}
    assert codes == {"./a.expr": 2, "./b.expr": 0}


# ---------------------------------------------------------------- what is no text

NO_TEXT = {
    "binary": b"\x7fELF\x02\x01\x01\0\0 password",
    "a zero": b"print(1)\nx = 'password\0'\n",
    "UTF-16": "\ufeffprint('password')\n".encode("utf-16-le"),
    "UTF-16, large end": "\ufeffprint('password')\n".encode("utf-16-be"),
    "UTF-16 without a mark": "print('password')\n".encode("utf-16-le"),
    "UTF-32": "print('password')\n".encode("utf-32"),
    "Latin-1": "x = 'password é'\n".encode("latin-1"),
    "a surrogate": b"x = 'password \xed\xa0\x80'\n",
    "too long a form": b"x = 'password \xc0\xaf'\n",
    "cut": "x = 'password é".encode()[:-1],
    "gzip": b"\x1f\x8b\x08\0\0\0\0\0 password",
}


@pytest.mark.parametrize("verb", ["run", "trace", "check", "grad"])
@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_no_text_is_not_quoted(home: Path, name: str, verb: str) -> None:  # noqa: F811
    (home / "a.expr").write_bytes(NO_TEXT[name])
    words = ("--wrt", "x") if verb == "grad" else ()
    done = gradcli(verb, "a.expr", *words)
    page = done.stdout + done.stderr
    assert done.returncode == 3 and page.count("SyntaxError: the file is not UTF-8 text") == 1
    assert "password" not in page.replace("\0", "") and "byte 0x" in page
    if verb != "grad":
        told = gradcli(verb, "a.expr", "--format", "json") if verb != "run" else done
        assert "assword" not in told.stdout


def test_a_mark_at_the_start_of_text_is_read_over(home: Path) -> None:  # noqa: F811
    (home / "a.expr").write_bytes("\ufeffprint('é')\n".encode())
    assert gradcli("run", "a.expr").stdout == "é\n"


def closed(*words: str) -> subprocess.CompletedProcess[str]:
    """The command, started by a shell that closes its standard input."""
    line = [sys.executable, "-m", "gradcli", *words]
    return subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *line], capture_output=True,
                          encoding="utf-8", check=False)  # fmt: skip


def test_standard_input_that_is_closed(home: Path) -> None:  # noqa: F811
    write(home, "a.expr", "print(1)\n")
    done = closed("run", "-")
    assert done.returncode == 2 and "UsageError: standard input is closed" in done.stderr
    assert closed("run").stdout == "1\n"  # the only one here


# ---------------------------------------------------------------- how a difference is told


def test_a_difference_is_one_screen(home: Path) -> None:  # noqa: F811
    write(home, "a.expr", "for i in range(30000):\n    print(i % 7)\nprint('x' * 100000)\n")
    write(home, "a.out", "".join(f"{i % 7}\n" for i in range(20000)) + "other\n" * 30000)
    done = gradcli("check", "a.expr")
    assert done.returncode == 1 and "in line 20001" in done.stdout
    assert "@@ -19998," in done.stdout and len(done.stdout) < 8000
    page = gradcli("check", "a.expr", "--format", "github").stdout
    assert len(page) < 200_000
