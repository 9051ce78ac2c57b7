"""language: os.path, pathlib and glob: words, and what they lead to in a folder in memory."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Callable, Iterator
from typing import Any

from ..attributes import STATICS
from ..session import session
from ..values import Lazy
from . import files
from .files import word_of
from .publishing import called, classes, functions
from .records import make_record

# ---------------------------------------------------------------- os.path


def _words(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *paths: method(*[word_of(path) for path in paths])


def _common_prefix(paths: Any) -> str:
    return posixpath.commonprefix([word_of(path) for path in paths])


def _size(path: Any) -> int:
    return files.content_of(path).size


def _time(path: Any) -> float:
    """There is no clock: each file is as old as the others."""
    files.content_of(path)
    return 0.0


PATH = functions({
    **{name: _words(getattr(posixpath, name)) for name in (
        "join", "basename", "dirname", "split", "splitext", "normpath", "isabs")},
    "abspath": files.place_of, "realpath": files.place_of,
    "expanduser": lambda path: word_of(path).replace("~", files.HOME, 1),
    "exists": lambda path: files.is_file(path) or files.is_folder(path),
    "isfile": files.is_file, "isdir": files.is_folder, "getsize": _size,
    "relpath": lambda path, start=".": posixpath.relpath(
        files.place_of(path), files.place_of(start)),
    "commonprefix": _common_prefix, "getmtime": _time,
    "expandvars": word_of, "islink": lambda path: False,
})  # fmt: skip


def walk(top: Any) -> Iterator[Any]:
    pending = [word_of(top)]
    while pending:
        folder = pending.pop()
        names = files.listed(folder)
        inner = [name for name in names if files.is_folder(posixpath.join(folder, name))]
        yield folder, inner, [name for name in names if name not in inner]
        pending.extend(posixpath.join(folder, name) for name in reversed(inner))


# ---------------------------------------------------------------- pathlib


@called("PosixPath")
class Path:
    """pathlib.Path: a word; what it reads and writes is in memory."""

    _torch_name = "pathlib.PosixPath"
    PUBLIC = ("name", "stem", "suffix", "parent", "parts", "exists", "is_file", "is_dir", "mkdir",
              "joinpath", "resolve", "absolute", "expanduser", "with_suffix", "with_name",
              "as_posix", "iterdir", "glob", "rglob", "open", "read_text", "write_text", "unlink",
              "is_absolute", "relative_to", "is_relative_to", "touch", "rmdir", "parents",
              "stat", "suffixes", "with_stem", "match")  # fmt: skip

    __slots__ = ("word",)

    def __init__(self, *parts: Any) -> None:
        word = posixpath.join(*[word_of(part) for part in parts]) if parts else "."
        kept = [part for part in word.split("/") if part not in ("", ".")]
        self.word = ("/" if word.startswith("/") else "") + "/".join(kept) or "."

    @property
    def name(self) -> str:
        return posixpath.basename(self.word) if self.word != "." else ""

    @property
    def stem(self) -> str:
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.name)[1]

    @property
    def suffixes(self) -> list[str]:
        return [f".{part}" for part in self.name.lstrip(".").split(".")[1:]]

    @property
    def parent(self) -> Path:
        return Path(posixpath.dirname(self.word) or ".")

    @property
    def parents(self) -> list[Path]:
        found, path = [], self
        while path.parent.word != path.word:
            path = path.parent
            found.append(path)
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        root = ("/",) if self.word.startswith("/") else ()
        return (*root, *[part for part in self.word.split("/") if part not in ("", ".")])

    def __truediv__(self, other: Any) -> Any:
        return Path(self.word, other) if isinstance(other, (str, Path)) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return Path(other, self.word) if isinstance(other, str) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self.word == other.word

    def __lt__(self, other: Any) -> Any:
        return self.word < other.word if isinstance(other, Path) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.word)

    def __str__(self) -> str:
        return self.word

    def __repr__(self) -> str:
        return f"PosixPath({self.word!r})"

    def joinpath(self, *parts: Any) -> Path:
        return Path(self.word, *parts)

    def exists(self) -> bool:
        return files.is_file(self) or files.is_folder(self)

    def is_file(self) -> bool:
        return files.is_file(self)

    def is_dir(self) -> bool:
        return files.is_folder(self)

    def is_absolute(self) -> bool:
        return self.word.startswith("/")

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        files.make_folder(self, parents, exist_ok)

    def resolve(self, strict: bool = False) -> Path:
        return Path(files.place_of(self))

    def absolute(self) -> Path:
        return Path(files.place_of(self))

    def expanduser(self) -> Path:
        return Path(self.word.replace("~", files.HOME, 1))

    def with_suffix(self, suffix: str) -> Path:
        return Path(posixpath.splitext(self.word)[0] + suffix)

    def with_name(self, name: str) -> Path:
        return Path(posixpath.dirname(self.word), name)

    def with_stem(self, stem: str) -> Path:
        return self.with_name(stem + self.suffix)

    def match(self, pattern: str) -> bool:
        wanted = Path(pattern).parts
        return len(wanted) <= len(self.parts) and all(
            map(_fits, self.parts[len(self.parts) - len(wanted) :], wanted)
        )

    def is_relative_to(self, other: Any) -> bool:
        start = Path(other).parts
        return self.parts[: len(start)] == start

    def as_posix(self) -> str:
        return self.word

    def relative_to(self, other: Any) -> Path:
        start = Path(other).parts
        if self.parts[: len(start)] != start:
            raise ValueError(f"{self.word!r} is not in the subpath of {word_of(other)!r}")
        return Path(*self.parts[len(start) :])

    def iterdir(self) -> Lazy:
        return Lazy("generator", (Path(self.word, name) for name in files.listed(self)))

    def glob(self, pattern: str) -> Lazy:
        return Lazy("generator", iter([
            Path(self.word, name)
            for name in files.listed(self)
            if _fits(name, pattern)
        ]))  # fmt: skip

    def rglob(self, pattern: str) -> Lazy:
        return Lazy("generator", iter([
            Path(folder, name)
            for folder, inner, held in walk(self)
            for name in (*inner, *held)
            if _fits(name, pattern)
        ]))  # fmt: skip

    def open(self, mode: str = "r", *more: Any, **options: Any) -> Any:
        return files.open_file(self, mode, *more, **options)

    def read_text(self, encoding: Any = None, errors: Any = None) -> str:
        return files.open_file(self).read()

    def write_text(self, data: str, encoding: Any = None, errors: Any = None) -> int:
        return files.open_file(self, "w").write(data)

    def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
        if not self.is_file():
            files.new_file(self)

    def unlink(self, missing_ok: bool = False) -> None:
        if self.is_file() or not missing_ok:
            files.remove(self)

    def rmdir(self) -> None:
        files.remove_folder(self)

    def stat(self) -> Any:
        return STAT.construct(files.content_of(self).size)


STAT = make_record("stat_result", ["st_size"], {})


def _fits(name: str, pattern: str) -> bool:
    session.budget.charge(1 + (len(name) * len(pattern) >> 3))
    return fnmatch.fnmatchcase(name, pattern)


def _glob(pathname: str, **options: Any) -> list[str]:
    folder, pattern = posixpath.split(word_of(pathname))
    if not files.is_folder(folder or "."):
        return []
    return [posixpath.join(folder, n) for n in files.listed(folder or ".") if _fits(n, pattern)]


STATICS["PosixPath", "cwd"] = lambda: Path(files.disk.here)
STATICS["PosixPath", "home"] = lambda: Path(files.HOME)
_PATH = classes([Path])["PosixPath"]
MODULES: dict[str, dict[str, Any]] = {
    "os.path": PATH,
    "pathlib": dict.fromkeys(("Path", "PurePath", "PosixPath"), _PATH),
    "glob": functions({"glob": _glob, "iglob": lambda pathname: iter(_glob(pathname))}),
}
