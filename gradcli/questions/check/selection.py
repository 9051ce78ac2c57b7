"""Questions: which of the programs are checked: those that changed, those that failed last."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence

from ...opening import UsageError, at_once
from ...output import put_in_place
from ...recording.facts.check import FileCheck
from ...render.escape import Terminal
from .answer import recorded_path
from .files import Place

HEAD = 1 << 16  # bytes of a program in which its first comments stand
SET = re.compile(r"#\s*set:\s*\w+\s*=\s*@([^\s,:\0]+)")
MOST_FOLDERS = 200  # whose failures are remembered


def changed_since(revision: str, places: Sequence[Place]) -> list[Place]:
    """Programs that differ from a revision of git, or whose recorded answer or data does; files
    that git does not know yet have changed."""
    if revision.startswith("-"):
        raise UsageError(f"--changed-since {revision}: a revision is expected")
    root = _git("rev-parse", "--show-toplevel").rstrip("\n")
    _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", said=revision)
    named = _git("-C", root, "diff", "--no-ext-diff", "--name-only", "-z", revision, "--")
    named += _git("-C", root, "ls-files", "--others", "--exclude-standard", "-z")
    changed = {os.path.realpath(os.path.join(root, name)) for name in named.split("\0") if name}
    return [place for place in places if place.path is None or changed.intersection(_parts(place))]


def _git(*words: str, said: str = "") -> str:
    """What git answers; it starts no monitor, which a repository that came with the programs may
    name."""
    line = ["git", "-c", "core.fsmonitor=false", "--no-optional-locks", *words]
    try:
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            errors="surrogateescape", check=False,
        )  # fmt: skip
    except OSError as error:
        raise UsageError(f"--changed-since needs git: {error.strerror}") from None
    if done.returncode:
        why = f"git knows no revision {said}" if said else done.stderr.partition("\n")[0]
        raise UsageError(f"--changed-since: {why}")
    return done.stdout


def _parts(place: Place) -> Iterator[str]:
    """The files that a program is made of: its text, its recorded answer, data that it names."""
    assert place.path is not None
    yield os.path.realpath(place.path)
    yield os.path.realpath(recorded_path(place.path))
    folder = os.path.dirname(place.path)
    try:
        with open(place.path, encoding="utf-8", errors="replace", opener=at_once) as file:
            head = file.read(HEAD)
    except OSError:
        return
    for name in SET.findall(head):
        yield os.path.realpath(os.path.join(folder, name))


# ---------------------------------------------------------------- what failed last


def failed_last(places: Sequence[Place]) -> list[Place]:
    """Those that failed when they were checked last in this folder."""
    failed = set(_memory().get(os.getcwd(), ()))
    return [place for place in places if _key(place) in failed]


def remember(facts: Sequence[FileCheck], places: Sequence[Place]) -> None:
    """Notes which of these fail. It is written beside no program, and where it can't be written
    nothing is lost but this."""
    path, memory, here = _memory_file(), _memory(), os.getcwd()
    before = memory.pop(here, [])
    keys = {place.name: _key(place) for place in places}
    checked = {keys[fact.file]: fact.exit_code for fact in facts if fact.file in keys}
    after = [key for key in before if key not in checked]
    after += [key for key, code in checked.items() if code]
    if path is None or after == before:
        return
    if after:
        memory[here] = after
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        kept = dict(list(memory.items())[-MOST_FOLDERS:])
        put_in_place(path, [Terminal(json.dumps(kept))])
    except OSError:
        return


def _key(place: Place) -> str:
    return os.path.realpath(place.path) if place.path is not None else place.name


def _memory_file() -> str | None:
    """In the user's folder for what can be made again."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(folder, "gradcli", "failed.json") if os.path.isabs(folder) else None


def _memory() -> dict[str, list[str]]:
    path = _memory_file()
    try:
        if path is None:
            return {}
        with open(path, encoding="utf-8", opener=at_once) as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    whole = isinstance(found, dict) and all(map(_all_text, found.values()))
    return found if whole else {}


def _all_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
