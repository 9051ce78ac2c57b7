"""pipeline: many programs in one call: which they are, and each checked within its limits."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...deadline import deadline
from ...defects import message_of
from ...diagnostics import ExitStatus, LimitReached
from ...opening import SUFFIX, NotThere, Unusable, opened
from ...report.model.check import FileCheck
from . import Wishes, check, defect


class Place(NamedTuple):
    """A program to check: how it is told, where it lies, its bytes if they were read already."""

    name: str
    path: str | None
    data: bytes | None = None


def places(given: Sequence[str], most: int) -> list[Place]:
    """Files as they are, folders as the programs below them, in order; each program once."""
    found: dict[str, Place] = {}
    for path in given or (None,):
        if path is None or path == "-":
            program = opened(path, most)
            found.setdefault(program.name, Place(program.name, program.path, program.data))
        elif os.path.isdir(path):
            inside = list(_below(path))
            if not inside:
                raise Unusable(f"{path} holds no {SUFFIX} file")
            found.update((one, Place(one, one)) for one in inside if one not in found)
        else:
            found.setdefault(path, Place(path, path))
    return list(found.values())


def _below(folder: str) -> Iterator[str]:
    """The programs of a folder and of the folders in it; links and hidden folders are left out."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(here, name)
            if name.endswith(SUFFIX) and not os.path.islink(path):
                yield path.replace(os.sep, "/")


def each(found: Sequence[Place], wishes: Wishes, jobs: int) -> Iterator[FileCheck]:
    """The programs checked, in their order, by so many processes."""
    if jobs > 1 and len(found) > 1:
        from .jobs import side_by_side

        yield from side_by_side(found, wishes, min(jobs, len(found)))
        return
    for place in found:
        yield checked_within(place, wishes)
        gc.collect()  # the process may have switched the collector off


def checked_within(place: Place, wishes: Wishes) -> FileCheck:
    """One program; whatever comes up becomes part of the answer."""
    limits = wishes.limits
    try:
        with deadline(limits.timeout):
            data = place.data
            if data is None:
                data = opened(place.path, limits.max_source).data
            return check(place.path, place.name, data, wishes)
    except NotThere as error:
        return _unusable(place, error, ExitStatus.MISSING_DEVICE)
    except Unusable as error:
        return _unusable(place, error, ExitStatus.USAGE)
    except LimitReached as error:
        return defect(place.name, f"LimitReached: {error}", ExitStatus.LIMIT_REACHED)
    except MemoryError:
        message = f"LimitReached: the limit of {limits.max_memory:,} bytes is reached; --max-memory"
        return defect(place.name, f"{message} raises it", ExitStatus.LIMIT_REACHED)
    except Exception as error:
        return defect(place.name, f"InternalError: {message_of(error)}", ExitStatus.DEFECT)


def _unusable(place: Place, error: Unusable, status: ExitStatus) -> FileCheck:
    kind = "DeviceError" if status is ExitStatus.MISSING_DEVICE else "UsageError"
    return defect(place.name, f"{kind}: {error}", status, advice=error.advice)
