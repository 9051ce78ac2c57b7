"""Engine: which file declares which name, remembered between runs, so that few files are read.

All declarations together take as long to import as Python takes to start, and a program uses a
few of them. What this keeps lies beside Python's own bytecode, under the same conditions: written
where that may be, and believed while the files are the ones that it was made from.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from .catalogue import Catalogue

FORMAT = 2
VOCABULARY = ("operator", "catalogue", "row", "declaration_index")


def declare(catalogue: Catalogue, package: str, folder: str) -> None:
    """Makes every declaration of a package known: from what was kept, else by importing all."""
    # By the name of the file: where two of them declare one name, that is the order of overloads.
    rooms = sorted(_rooms(folder), key=lambda room: room.rpartition(".")[2])
    load: Callable[[str], Any] = lambda room: import_module(f"{package}.{room}")  # noqa: E731
    stamp = _stamp(folder, rooms)
    spec = sys.modules[package].__spec__
    bytecode = None if spec is None else spec.cached
    home = f"{folder}/__pycache__" if bytecode is None else os.path.dirname(bytecode)
    place = os.path.join(home, "rooms.index")
    kept = _read(place, stamp)
    if kept is not None:
        catalogue.defer(kept, load, rooms)
        return
    catalogue.notes = []
    for room in rooms:
        load(room)
    notes, catalogue.notes = catalogue.notes, None
    if not sys.dont_write_bytecode:
        _write(place, (stamp, _table(notes)))


def _rooms(folder: str, package: str = "") -> Iterator[str]:
    """Dotted names of the files that declare, those in folders too."""
    for entry in os.scandir(folder):
        name, ends, _ = entry.name.partition(".py")
        if name.startswith("_"):
            continue
        if ends:
            yield package + name
        elif entry.is_dir():
            yield from _rooms(entry.path, f"{package}{name}.")


def _stamp(folder: str, rooms: list[str]) -> tuple[Any, ...]:
    """What the files are: their names, times and sizes."""
    engine = os.path.dirname(__file__)
    paths = [f"{folder}/{room.replace('.', '/')}.py" for room in rooms]
    paths += [f"{engine}/{name}.py" for name in VOCABULARY]
    found = []
    for path in paths:
        try:
            known = os.stat(path)
        except OSError:  # bytecode alone: nothing to compare with
            return (FORMAT, None)
        found.append((path, known.st_mtime_ns, known.st_size))
    return (FORMAT, tuple(found))


def _table(notes: list[tuple[str, str, str, str]]) -> dict[str, tuple[str, str]]:
    """For each face its names, on lines, and on as many lines what each of them is: the keys of its
    overloads in order, a tab, the files that they are in; of a row its file. Two texts are read in
    a part of the time that lists take."""
    faces: dict[str, dict[str, tuple[list[str], list[str]]]] = {}
    for face, name, key, room in notes:
        keys, rooms = faces.setdefault(face, {}).setdefault(name, ([], []))
        keys.append(key)
        if room not in rooms:
            rooms.append(room)
    rows = faces.pop("rows")
    table = {"rows": ("\n".join(rows), "\n".join(files[0] for _, files in rows.values()))}
    for face, known in faces.items():
        found = (f"{' '.join(keys)}\t{' '.join(rooms)}" for keys, rooms in known.values())
        table[face] = "\n".join(known), "\n".join(found)
    return table


def _read(place: str, stamp: tuple[Any, ...]) -> Any:
    if stamp[1] is None:
        return None
    try:
        with open(place, "rb") as file:
            kept = marshal.loads(file.read())  # from a file it takes six times as long
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return kept[1] if isinstance(kept, tuple) and len(kept) == 2 and kept[0] == stamp else None


def _write(place: str, kept: Any) -> None:
    """All at once, so that a run beside this one never reads half of it."""
    with suppress(OSError):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        mine = f"{place}.{os.getpid()}"
        with open(mine, "wb") as file:
            marshal.dump(kept, file)
        os.replace(mine, place)
