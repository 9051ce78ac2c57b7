"""commands: `gradcli show`: the page of a run, opened in a browser."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from ..opening import UsageError
from ..options import ENDINGS, OUTPUT, Command, Shared, flag, shared, under
from ..output import open_stream, put_in_place, write
from ..render.escape import Terminal, line
from .differentiation import DEPTH, DRAWN, EXPAND, FOLD, HIDE, PASS
from .environment import Environment, guarded
from .pictures import OPTIONS as PICTURES, Wanted, drawn


class Arguments(NamedTuple):
    """The options of show."""

    of: list[str]
    chosen: int | None
    depth: int | None
    expand: frozenset[int]
    fold: str | None
    hide: list[str]
    theme: str
    direction: str
    no_open: bool


COMMAND = Command(
    "show",
    """Open the picture of a backward pass in the browser.

    The program stands beside its graph; a slider walks through the pass. The page is one file and
    needs no network; its path is printed.

    \b
    gradcli show chain.expr
    gradcli show train.expr --no-open -o train.html
    """,
    Arguments,
    (
        DRAWN,
        PASS,
        DEPTH,
        EXPAND,
        FOLD,
        HIDE,
        *PICTURES,
        *under(OUTPUT, flag("no_open", "--no-open", help="Print the path of the page; open "
                            "nothing.")),
    ),
    tuple(option for option in shared(engine=True) if option.field != "format"),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program, writes its page, opens it; its exit code."""

    def body(env: Environment) -> int:
        from ..questions.interventions import Interventions

        ending = (common.out or "").rpartition(".")[2].lower()
        if ENDINGS.get(ending, "html") != "html":
            raise UsageError(f"-o {common.out}: show writes a page, in HTML",
                             f"gradcli trace FILE -o {common.out}")  # fmt: skip
        request = env.request(placeholders=True)
        wanted = Wanted(asked.fold, asked.expand, asked.depth, asked.theme, asked.direction,
                        tuple(asked.hide))  # fmt: skip
        pieces: list[Terminal] = []
        put = pieces.extend if common.out is None else env.answer
        of = tuple(asked.of)
        ran = drawn(
            request, env, Interventions(results=of), of, asked.chosen, wanted, "html", put
        )  # fmt: skip
        path = common.out or _own_path(env)
        if common.out is None:
            put_in_place(path, pieces)
        status = env.finish(ran)
        if common.quiet < 2 and open_stream(path) is None:  # who takes the page there opens it
            write([Terminal(line(path) + "\n")])
            if not asked.no_open and not _opened(path) and not common.quiet:
                env.note("no browser could be opened here: open this file in one")
        return status

    return guarded(common._replace(format="html"), body)


def _own_path(env: Environment) -> str:
    """Where the page of a program lies: in the user's cache, or in a folder of its own."""
    program = env.program
    name = "program" if program is None or program.path is None else program.path
    stem = os.path.splitext(os.path.basename(name))[0]
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in stem)[:60] or "program"
    mark = sha256(os.path.abspath(name).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "gradcli", "pages")
    with suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.access(folder, os.W_OK):
            return os.path.join(folder, f"{plain}-{mark}.html")
    from tempfile import mkdtemp

    return os.path.join(mkdtemp(prefix="gradcli-"), f"{plain}.html")


def _opened(path: str) -> bool:
    """Whether a browser with windows took it; one that runs in the terminal is not asked."""
    windows = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if not windows:
        return False
    import webbrowser
    from pathlib import Path

    with suppress(webbrowser.Error, OSError):
        return webbrowser.open(Path(path).absolute().as_uri())
    return False
