"""language: tempfile: files and folders under /tmp, which exist in memory as all others do."""

from __future__ import annotations

from typing import Any

from ...engine.schema.run_state import run_state
from . import files
from .publishing import called, classes, functions

FOLDER = "/tmp"


class _Names:
    """How many names were given."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


_names = run_state(_Names())


def _fresh(suffix: Any, prefix: Any, dir: Any) -> str:
    _names.count += 1
    start, end = "tmp" if prefix is None else prefix, suffix or ""
    return f"{FOLDER if dir is None else files.word_of(dir)}/{start}{_names.count:08d}{end}"


def make_folder(suffix: Any = None, prefix: Any = None, dir: Any = None) -> str:
    """mkdtemp"""
    name = _fresh(suffix, prefix, dir)
    files.make_folder(name)
    return name


def make_file(
    suffix: Any = None, prefix: Any = None, dir: Any = None, text: bool = False
) -> tuple[int, str]:
    """mkstemp: the number of a file that is open, and its name"""
    name = _fresh(suffix, prefix, dir)
    files.new_file(name)
    return 2 + _names.count, name


@called("TemporaryDirectory")
class TemporaryDirectory:
    """A folder that goes away at the end of the `with`."""

    _torch_name = "tempfile.TemporaryDirectory"
    PUBLIC = ("name", "cleanup")
    __slots__ = ("name",)

    def __init__(
        self, suffix: Any = None, prefix: Any = None, dir: Any = None,
        ignore_cleanup_errors: Any = False, *, delete: Any = True,
    ) -> None:  # fmt: skip
        self.name = make_folder(suffix, prefix, dir)

    def cleanup(self) -> None:
        if files.is_folder(self.name):
            files.remove_folder(self.name, True)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *error: object) -> None:
        self.cleanup()


class _Temporary(files.MemoryFile):
    """A file that goes away when it is closed."""

    __slots__ = ("_deleted",)
    _deleted: bool

    def close(self) -> None:
        super().close()
        if self._deleted and files.is_file(self.name):
            files.remove(self.name)

    def __exit__(self, *error: object) -> None:
        self.close()


def open_temporary(
    mode: str = "w+b", buffering: Any = -1, encoding: Any = None, newline: Any = None,
    suffix: Any = None, prefix: Any = None, dir: Any = None, delete: Any = True, *,
    errors: Any = None, delete_on_close: Any = True,
) -> files.MemoryFile:  # fmt: skip
    """NamedTemporaryFile, TemporaryFile"""
    name = _fresh(suffix, prefix, dir)
    made = _Temporary(files.open_file(name, mode).content, name, mode)
    made._deleted = bool(delete)
    return made


MODULES: dict[str, dict[str, Any]] = {
    "tempfile": {
        **functions({
            "mkdtemp": make_folder, "mkstemp": make_file, "gettempdir": lambda: FOLDER,
            "NamedTemporaryFile": open_temporary, "TemporaryFile": open_temporary,
        }),
        **classes([TemporaryDirectory]),
    },
}  # fmt: skip
