"""language: os, sys, platform and their like: answers that are the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.schema.run_state import run_state
from ..builtins.containers import make_dict
from ..builtins.errors import ERRORS, to_raise, value_of
from ..builtins.types import host_type
from ..costs import charge_text
from ..operations import type_name
from ..session import session
from ..values import Builtin, ErrorValue, Lazy, Namespace
from . import files
from .files import word_of
from .pathnames import walk
from .publishing import called, functions
from .records import make_record

FILE = "program.py"  # sys.argv[0]; its place is __file__
VERSION = (3, 13, 0, "final", 0)

# ---------------------------------------------------------------- os


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
        "cpu_count": lambda: 1, "getpid": lambda: 1, "fsync": lambda fd: None, "system": _not_found,
        "popen": _refused("os.popen"), "fspath": word_of,
        "walk": lambda top, **options: Lazy("generator", walk(top)),
    }),
    "sep": "/", "linesep": "\n", "name": "posix", "curdir": ".", "pardir": "..", "pathsep": ":",
    "environ": environ(), "path": Namespace("os.path"),
}  # fmt: skip

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
    "sys_version_info", ["major", "minor", "micro", "releaselevel", "serial"], {}
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
MODULES: dict[str, dict[str, Any]] = {
    "os": OS,
    "sys": SYS,
    "platform": PLATFORM,
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
