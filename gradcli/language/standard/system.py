"""language: os, sys, pathlib, platform and their like: words, and a folder in memory."""

from __future__ import annotations

import fnmatch
import posixpath
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.run_state import run_state
from ..attributes import STATICS
from ..builtins.containers import make_dict
from ..builtins.errors import ERRORS, to_raise, value_of
from ..builtins.types import host_type
from ..costs import charge_text
from ..operations import type_name
from ..session import session
from ..values import Builtin, ErrorValue, Lazy, Namespace
from . import files
from .collected import make_record
from .files import word_of
from .publishing import called, classes, functions

FILE = "program.py"  # sys.argv[0]; its place is __file__
VERSION = (3, 13, 0, "final", 0)

# ---------------------------------------------------------------- os.path


def _words(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *paths: method(*[word_of(path) for path in paths])


def _common_prefix(paths: Any) -> str:
    return posixpath.commonprefix([word_of(path) for path in paths])


def _size(path: Any) -> int:
    return files.content_of(path).size


PATH = functions({
    **{name: _words(getattr(posixpath, name)) for name in (
        "join", "basename", "dirname", "split", "splitext", "normpath", "isabs")},
    "abspath": files.place_of, "realpath": files.place_of,
    "expanduser": lambda path: word_of(path).replace("~", files.HOME, 1),
    "exists": lambda path: files.is_file(path) or files.is_folder(path),
    "isfile": files.is_file, "isdir": files.is_folder, "getsize": _size,
    "relpath": lambda path, start=".": posixpath.relpath(
        files.place_of(path), files.place_of(start)),
    "commonprefix": _common_prefix, "getmtime": lambda path: float(_size(path) * 0),
    "expandvars": word_of, "islink": lambda path: False,
})  # fmt: skip

# ---------------------------------------------------------------- os


def _walk(top: Any) -> Iterator[Any]:
    pending = [word_of(top)]
    while pending:
        folder = pending.pop()
        names = files.listed(folder)
        inner = [name for name in names if files.is_folder(posixpath.join(folder, name))]
        yield folder, inner, [name for name in names if name not in inner]
        pending.extend(posixpath.join(folder, name) for name in reversed(inner))


def _make_folders(name: Any, mode: int = 0o777, exist_ok: bool = False) -> None:
    files.make_folder(name, True, exist_ok)


class _Environment:
    """os.environ: empty at first."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}


environment = run_state(_Environment())


@called("_Environ")
class environ:
    """os.environ"""

    _torch_name = "os._Environ"
    PUBLIC = ("get", "setdefault", "keys", "values", "items", "pop", "update", "copy")
    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return environment.names[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        for word in (key, value):
            if type(word) is not str:
                raise TypeError(f"str expected, not {type_name(word)}")
        session.budget.charge_bytes(files.ENTRY)
        environment.names[key] = value

    def __delitem__(self, key: Any) -> None:
        del environment.names[key]

    def __contains__(self, key: Any) -> bool:
        return key in environment.names

    def __iter__(self) -> Iterator[str]:
        return iter(environment.names)

    def __len__(self) -> int:
        return len(environment.names)

    def update(self, other: Any) -> None:
        for key, value in make_dict(other).items():
            self[key] = value

    def __repr__(self) -> str:
        return f"environ({environment.names!r})"


def _of_environment(name: str) -> Callable[..., Any]:
    def run(self: environ, *args: Any) -> Any:
        return methods[name](*args)

    methods: dict[str, Callable[..., Any]] = {
        "get": lambda key, default=None: environment.names.get(key, default),
        "setdefault": lambda key, value: environment.names.setdefault(key, value),
        "pop": lambda key, *default: environment.names.pop(key, *default),
        "keys": lambda: list(environment.names), "copy": lambda: dict(environment.names),
        "values": lambda: list(environment.names.values()),
        "items": lambda: list(environment.names.items()),
    }  # fmt: skip
    return run


for _name in set(environ.PUBLIC) - {"update"}:
    setattr(environ, _name, _of_environment(_name))


def _get_environment(key: str, default: Any = None) -> Any:
    return environment.names.get(key, default)


def _change_folder(path: Any) -> None:
    if not files.is_folder(path):
        raise files.missing(path)
    files.disk.here = files.place_of(path)


def _not_found(command: Any) -> int:
    """os.system(command): there is no command that a program could run."""
    word_of(command)
    session.notes.setdefault("os.system() runs nothing here")
    return 127 << 8  # what a shell says of a command that it does not find


def _refused(name: str) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError(f"a program can't call {name}: it can't reach other processes")

    return run


OS: dict[str, Any] = {
    **functions({
        "makedirs": _make_folders, "mkdir": lambda path, mode=0o777: files.make_folder(path),
        "listdir": files.listed, "remove": files.remove, "unlink": files.remove,
        "rmdir": files.remove_folder, "rename": files.rename, "replace": files.rename,
        "getcwd": lambda: files.disk.here, "chdir": _change_folder, "getenv": _get_environment,
        "cpu_count": lambda: 1, "getpid": lambda: 1, "system": _not_found,
        "popen": _refused("os.popen"), "fspath": word_of,
        "walk": lambda top, **options: Lazy("generator", _walk(top)),
    }),
    "sep": "/", "linesep": "\n", "name": "posix", "curdir": ".", "pardir": "..", "pathsep": ":",
    "environ": environ(), "path": Namespace("os.path"),
}  # fmt: skip

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
            for folder, inner, held in _walk(self)
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


# ---------------------------------------------------------------- sys, platform


@called("_io.TextIOWrapper")
class Stream:
    """sys.stdout and sys.stderr"""

    _torch_name = "_io.TextIOWrapper"
    PUBLIC = ("write", "flush", "isatty", "encoding")
    __slots__ = ("_shown", "encoding")

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self.encoding = "utf-8"

    def write(self, s: Any) -> int:
        if type(s) is not str:
            raise TypeError(f"write() argument must be str, not {type_name(s)}")
        if self._shown:
            session.budget.charge_output(s)
            session.write(s)
        elif session.write_error is not None:
            session.write_error(s)
        return len(s)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def isatty(self) -> bool:
        return False


def leave(code: Any = None, /) -> None:
    """sys.exit"""
    raise to_raise(ErrorValue(ERRORS["SystemExit"], () if code is None else (code,)))


def current_error() -> ErrorValue | None:
    """sys.exception: the error that the innermost `except` is busy with."""
    return value_of(session.handling[-1]) if session.handling else None


def _error_facts() -> tuple[Any, Any, None]:
    """sys.exc_info; there are no frames to look at."""
    error = current_error()
    return (None, None, None) if error is None else (error.kind, error, None)


class _Recursion:
    __slots__ = ("limit",)

    def __init__(self) -> None:
        self.limit = 1000


recursion = run_state(_Recursion())


def _set_recursion_limit(limit: int) -> None:
    recursion.limit = int(limit)


_VERSION_INFO = make_record(
    "sys.version_info".replace(".", "_"), ["major", "minor", "micro", "releaselevel", "serial"], {}
)
_FLOAT_INFO = make_record("sys_float_info", [
    "max", "max_exp", "max_10_exp", "min", "min_exp", "min_10_exp", "dig", "mant_dig", "epsilon",
    "radix", "rounds",
], {})  # fmt: skip
SYS: dict[str, Any] = {
    **functions({
        "exit": leave, "getrecursionlimit": lambda: recursion.limit,
        "setrecursionlimit": _set_recursion_limit,
        "getsizeof": lambda object, default=0: 56,
        "getdefaultencoding": lambda: "utf-8",
        "exc_info": _error_facts, "exception": current_error,
    }),
    "argv": [FILE], "path": [], "modules": {}, "stdout": Stream(True), "stderr": Stream(False),
    "maxsize": 2**63 - 1, "platform": "linux", "byteorder": "little",
    "version": "3.13.0", "executable": "", "version_info": _VERSION_INFO.construct(*VERSION),
    "float_info": _FLOAT_INFO.construct(*sys.float_info),
}  # fmt: skip
PLATFORM = functions({
    "system": lambda: "Linux", "python_version": lambda: "3.13.0", "machine": lambda: "x86_64",
    "node": lambda: "", "processor": lambda: "", "release": lambda: "",
    "platform": lambda *args: "Linux", "python_implementation": lambda: "CPython",
})  # fmt: skip


def _input(prompt: Any = "", /) -> str:
    """There is no input: as Python says where standard input is at its end."""
    if prompt != "":
        text = str(prompt)
        charge_text(text)
        session.budget.charge_output(text)
        session.write(text)
    raise EOFError("EOF when reading a line")


OPEN = Builtin("open", files.open_file)
STATICS["PosixPath", "cwd"] = lambda: Path(files.disk.here)
STATICS["PosixPath", "home"] = lambda: Path(files.HOME)
_PATH = classes([Path])["PosixPath"]
MODULES: dict[str, dict[str, Any]] = {
    "os": OS,
    "os.path": PATH,
    "sys": SYS,
    "platform": PLATFORM,
    "pathlib": dict.fromkeys(("Path", "PurePath", "PosixPath"), _PATH),
    "glob": functions({"glob": _glob, "iglob": lambda pathname: iter(_glob(pathname))}),
    "io": {
        **functions({"StringIO": files.text_in_memory, "BytesIO": files.bytes_in_memory}),
        **functions({"open": files.open_file}),
        "UnsupportedOperation": host_type(files.UnsupportedOperation),
    },
    "shutil": functions({
        "rmtree": lambda path, ignore_errors=False: files.remove_folder(path, True),
        "copy": files.copy, "copy2": files.copy, "copyfile": files.copy, "move": files.move,
    }),
    "gc": functions({"collect": lambda generation=2: 0, "enable": lambda: None,
                     "disable": lambda: None}),
    "getpass": functions({"getuser": lambda: "user"}),
    "prelude": functions({"open": files.open_file, "input": _input, "exit": leave,
                          "quit": leave}),
}  # fmt: skip
