"""Questions: many programs in one call: which they are, and each checked within its limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import count

from ...defects import message_of
from ...diagnostics import Diagnostic, ExitStatus, LimitReached, ProgramError, noted
from ...named import NamedTuple
from ...opening import (
    OUTSIDE,
    SUFFIX,
    DeviceMissing,
    UsageError,
    is_excluded,
    leads_out,
    opened,
    within,
)
from ...process.deadline import deadline, last_place
from ...process.memory import reached
from ...recording.facts.check import FileCheck
from . import check, defect
from .options import CheckOptions

MOST_LINKS = 5  # that are listed one by one
MOST_ENTRIES = 100_000  # files and folders that are looked at below the folders of one call


class Place(NamedTuple):
    """A program to check: its name in reports, its path, its bytes if they were read already.

    `refused` says why there is nothing to check.
    """

    name: str
    path: str | None
    data: bytes | None = None
    refused: str = ""


class Programs(NamedTuple):
    """The programs, in order, and what is to be said of the folders."""

    programs: list[Place]
    notes: tuple[str, ...]


def places(given: Sequence[str], most: int, exclude: Sequence[str] = ()) -> Programs:
    """Files as they are, folders as the programs below them, in order; each program once.

    What matches a pattern is left out: by its path, or by the name of a file or folder in it.
    """
    found: dict[str, Place] = {}
    entries = count(1)
    excluded = False
    notes: list[str] = []
    for path in given or (None,):
        if path is None or path == "-":
            program = opened(path, most)
            found.setdefault(program.name, Place(program.name, program.path, program.data))
        elif os.path.isdir(path) and leads_out(path):
            found.setdefault(path, Place(path, None, None, f"{path} {OUTSIDE}"))
        elif os.path.isdir(path):
            folder = Folder(path, entries, exclude)
            if not folder.programs and not folder.has_excluded:
                found.setdefault(path, Place(path, None, None, f"{path} {NOTHING}"))
            found.update((p.name, p) for p in folder.programs if p.name not in found)
            excluded |= folder.has_excluded
            notes.extend(folder.left_out())
        else:
            found.setdefault(path, Place(path, path))
    kept = [place for name, place in found.items() if not is_excluded(name, exclude)]
    if not kept and (found or excluded):
        raise UsageError("--exclude leaves out every program")
    return Programs(kept, tuple(notes))


NOTHING = f"holds no {SUFFIX} file"


class Folder:
    """The programs of a folder and of the folders in it; hidden folders are left out.

    No link is followed: it may have come with the folder, and lead anywhere.
    """

    def __init__(self, path: str, entries: Iterator[int], exclude: Sequence[str] = ()) -> None:
        self.path = path
        self.programs: list[Place] = []
        self.links: list[str] = []
        self.has_excluded = False
        for here, folders, files in os.walk(path, onerror=self._unread):
            if any(next(entries) > MOST_ENTRIES for _ in (*folders, *files)):
                raise _too_many(path)
            shown = [name for name in folders if not name.startswith(".")]
            folders[:] = sorted(name for name in shown if not is_excluded(name, exclude))
            self.has_excluded |= len(folders) < len(shown)
            for name in folders:
                if os.path.islink(os.path.join(here, name)):
                    self.links.append(os.path.join(here, name))
            for name in sorted(files):
                if name.endswith(SUFFIX):
                    self._take(os.path.join(here, name))

    def _take(self, path: str) -> None:
        name = path.replace(os.sep, "/")
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            mode = stat.S_IFREG  # gone since: the check says so
        if stat.S_ISLNK(mode):
            self.links.append(path)
        elif stat.S_ISREG(mode):
            self.programs.append(Place(name, path))
        else:
            self.programs.append(Place(name, None, None, f"{name} is not a file"))

    def _unread(self, error: OSError) -> None:
        name = str(error.filename)
        why = f"{name} can't be read: {(error.strerror or 'unknown').lower()}"
        self.programs.append(Place(name, None, None, why))

    def left_out(self) -> list[str]:
        """The links that lead to something which is not checked in its own place."""
        root = os.path.realpath(self.path)
        known = {os.path.realpath(place.path) for place in self.programs if place.path}
        said = []
        for link in self.links:
            target = os.path.realpath(link)
            if target in known or (os.path.isdir(target) and _is_walked(root, target)):
                continue
            where = "" if within(root, target) else f" that leads out of {self.path}"
            said.append(f"{link} is a link{where}, which is not followed")
        left = len(said) - MOST_LINKS
        return said if left <= 1 else [*said[:MOST_LINKS], f"... and {left} more links"]


def _too_many(path: str) -> ProgramError:
    message = f"{path} holds more than the {MOST_ENTRIES:,} files and folders that are looked at"
    advice = noted("name folders further down, or leave some out with --exclude NAME")
    status = ExitStatus.LIMIT_REACHED
    return ProgramError(Diagnostic("LimitReached", message, notes=advice, exit_status=status))


def _is_walked(root: str, target: str) -> bool:
    """A folder below the root with no hidden one on the way."""
    inside = os.path.relpath(target, root).split(os.sep) if within(root, target) else [".."]
    return not any(name.startswith(".") for name in inside if name != ".")


def checked_within(place: Place, options: CheckOptions) -> FileCheck:
    """One program; whatever comes up becomes part of the answer."""
    limits = options.limits
    try:
        if place.refused:
            raise UsageError(place.refused)
        with deadline(limits.timeout):
            data = place.data
            if data is None:
                data = opened(place.path, limits.max_source).data
            return check(place.path, place.name, data, options)
    except DeviceMissing as error:
        return _unusable(place, error, ExitStatus.MISSING_DEVICE)
    except UsageError as error:
        return _unusable(place, error, ExitStatus.USAGE)
    except LimitReached as error:
        at = last_place()
        return defect(place.name, f"LimitReached: {error}", ExitStatus.LIMIT_REACHED, at=at)
    except MemoryError:
        status, at = ExitStatus.LIMIT_REACHED, last_place()
        message = f"LimitReached: {reached(limits.max_memory)}"
        return defect(place.name, message, status, at=at)
    except Exception as error:
        return defect(place.name, f"InternalError: {message_of(error)}", ExitStatus.DEFECT)


def _unusable(place: Place, error: UsageError, status: ExitStatus) -> FileCheck:
    kind = "DeviceError" if status is ExitStatus.MISSING_DEVICE else "UsageError"
    return defect(place.name, f"{kind}: {error}", status, advice=error.advice)
