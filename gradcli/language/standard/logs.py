"""language: logging: loggers, handlers and formatters, which write as the program's own prints do.

What goes to standard error is not shown, and one note says so. Messages are put together by the
language's own `%`, so that widths and texts are charged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.run_state import run_state
from ...engine.schema.settable import Takes
from ..adoption import VALUES
from ..attributes import KEPT_BYTES, get_attribute
from ..calls import call, is_callable
from ..compile.flow import catchable
from ..costs import charge_text
from ..formatting import format_method, percent, quoted, text
from ..operations import DICTS, collect
from ..session import session
from .clock import strftime
from .files import open_file
from .publishing import classes, functions
from .system import SYS
from .tracebacks import format_current

LEVELS = {
    "CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARNING": 30, "WARN": 30, "INFO": 20, "DEBUG": 10,
    "NOTSET": 0,
}  # fmt: skip
NAMES = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO", 10: "DEBUG", 0: "NOTSET"}
PLAIN = "%(levelname)s:%(name)s:%(message)s"  # of basicConfig
NOT_SHOWN = "what the program logs to standard error is not shown"


def _level_name(level: Any) -> Any:
    if type(level) is str:
        return LEVELS.get(level, f"Level {level}")
    return NAMES.get(level, f"Level {level}")


def _level(level: Any) -> int:
    if type(level) is int:
        return level
    if type(level) is not str:
        raise TypeError(f"Level not an integer or a valid string: {text(level)}")
    if level not in LEVELS:
        raise ValueError(f"Unknown level: {level!r}")
    return LEVELS[level]


class LogRecord:
    """One message, as handlers and formatters get it."""

    _torch_name = "logging.LogRecord"
    PUBLIC = ("name", "msg", "args", "levelname", "levelno", "lineno", "funcName", "filename",
              "module", "getMessage")  # fmt: skip
    funcName, filename, module = "<module>", "<program>", "<program>"

    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}

    def __init__(self, name: str, level: int, msg: Any, args: tuple[Any, ...]) -> None:
        self.name, self.levelno, self.levelname = name, level, _level_name(level)
        self.msg = msg
        self.args = args[0] if len(args) == 1 and type(args[0]) in DICTS and args[0] else args
        self.lineno = getattr(state.origin, "lineno", 0)

    def getMessage(self) -> str:
        message = text(self.msg)
        return percent(message, self.args) if self.args else message


class _Extensible:
    """What a program's own classes may build on."""

    EXTENSIBLE = True
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}


class Formatter(_Extensible):
    """A record as a line of text."""

    _torch_name = "logging.Formatter"
    PUBLIC = ("format", "formatTime", "formatMessage", "datefmt")

    def __init__(self, fmt: Any = None, datefmt: Any = None, style: Any = "%") -> None:
        if style not in ("%", "{", "$"):
            raise ValueError("Style must be one of: %,{,$")
        if style == "$":
            raise NotImplementedError("a Formatter with style='$'")
        self._pattern = text({"%": "%(message)s", "{": "{message}"}[style] if fmt is None else fmt)
        self._style = style
        self.datefmt = datefmt

    def formatTime(self, record: Any, datefmt: Any = None) -> str:
        return strftime(datefmt) if datefmt else strftime("%Y-%m-%d %H:%M:%S") + ",000"

    def formatMessage(self, record: Any) -> str:
        words = {
            name: get_attribute(record, name)
            for name in ("name", "levelname", "levelno", "lineno", "funcName", "filename", "module")
            if name in self._pattern
        }
        words["message"] = call(get_attribute(record, "getMessage"), (), {})
        words |= {"pathname": LogRecord.filename, "process": 1, "thread": 1, "msecs": 0.0,
                  "threadName": "MainThread", "processName": "MainProcess", "created": 0.0,
                  "relativeCreated": 0.0}  # fmt: skip
        if "asctime" in self._pattern:
            words["asctime"] = self.formatTime(record, self.datefmt)
        if self._style == "{":
            return format_method(self._pattern, (), words)
        return percent(self._pattern, words)

    def format(self, record: Any) -> str:
        return self.formatMessage(record)


PLAIN_FORMATTER = Formatter()


class Filter(_Extensible):
    """Lets records pass whose logger has a name, or is below it."""

    _torch_name = "logging.Filter"
    PUBLIC = ("filter", "name")

    def __init__(self, name: str = "") -> None:
        self.name = name

    def filter(self, record: Any) -> bool:
        name = get_attribute(record, "name")
        return not self.name or name == self.name or name.startswith(self.name + ".")


def _passes(filters: list[Any], record: Any) -> bool:
    """Whether all let it pass: objects with `filter`, or functions."""
    for one in filters:
        answer = call(one if is_callable(one) else get_attribute(one, "filter"), (record,), {})
        if not answer:
            return False
    return True


def _added(filters: list[Any], one: Any) -> None:
    session.budget.charge_bytes(KEPT_BYTES)
    if not any(known is one for known in filters):
        filters.append(one)


class Handler(_Extensible):
    """Where records go; a class of the program says it in `emit`."""

    _torch_name = "logging.Handler"
    PUBLIC: tuple[str, ...] = (
        "level", "formatter", "handle", "handleError", "emit", "format", "setFormatter",
        "setLevel", "flush", "close", "acquire", "release", "addFilter", "removeFilter", "filters",
    )  # fmt: skip

    def __init__(self, level: Any = 0) -> None:
        self.filters: list[Any] = []
        self.level = _level(level)
        self.formatter: Any = None

    def setLevel(self, level: Any) -> None:
        self.level = _level(level)

    def setFormatter(self, fmt: Any) -> None:
        self.formatter = fmt

    def format(self, record: Any) -> str:
        formatter = PLAIN_FORMATTER if self.formatter is None else self.formatter
        return text(call(get_attribute(formatter, "format"), (record,), {}))

    def handle(self, record: Any) -> bool:
        if not _passes(self.filters, record):
            return False
        self.emit(record)
        return True

    def addFilter(self, filter: Any) -> None:
        _added(self.filters, filter)

    def removeFilter(self, filter: Any) -> None:
        self.filters = [one for one in self.filters if one is not filter]

    def emit(self, record: Any) -> None:
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def handleError(self, record: Any) -> None:
        """What went wrong with a record, on standard error; the program goes on."""
        said = (
            f"--- Logging error ---\n{format_current()}"
            f"Message: {quoted(get_attribute(record, 'msg'))}\n"
            f"Arguments: {quoted(get_attribute(record, 'args'))}\n"
        )
        call(get_attribute(SYS["stderr"], "write"), (said,), {})

    def flush(self) -> None:
        """Nothing waits to be written."""

    close = acquire = release = flush


class StreamHandler(Handler):
    """Writes lines to a stream of the program: sys.stdout, a file, a text in memory."""

    _torch_name = "logging.StreamHandler"
    PUBLIC: tuple[str, ...] = ("stream", "terminator", "setStream")
    terminator = "\n"

    def __init__(self, stream: Any = None) -> None:
        super().__init__()
        self.stream = SYS["stderr"] if stream is None else stream

    def setStream(self, stream: Any) -> Any:
        before, self.stream = self.stream, stream
        return before

    def emit(self, record: Any) -> None:
        if self.stream is SYS["stderr"] and session.write_error is None:
            session.notes.setdefault(NOT_SHOWN)
        try:
            line = self.format(record) + self.terminator
            call(get_attribute(self.stream, "write"), (line,), {})
        except Exception as error:
            if not catchable(error):
                raise
            session.handle(error)
            try:
                call(get_attribute(self, "handleError"), (record,), {})
            finally:
                session.handling.remove(error)


class FileHandler(StreamHandler):
    """Writes to a file, which is in memory."""

    _torch_name = "logging.FileHandler"
    PUBLIC = ("baseFilename",)

    def __init__(
        self, filename: Any, mode: Any = "a", encoding: Any = None, delay: Any = False,
        errors: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(open_file(filename, mode))
        self.baseFilename = filename


class NullHandler(Handler):
    """Lets records go nowhere."""

    _torch_name = "logging.NullHandler"
    PUBLIC = ()

    def handle(self, record: Any) -> bool:
        return True

    emit = Handler.flush  # type: ignore[assignment]


class Logger:
    """logging.getLogger(name): hands its records to its own handlers and to those above it."""

    _torch_name = "logging.Logger"
    PUBLIC = ("name", "level", "handlers", "propagate", "disabled", "parent", "debug", "info",
              "warning", "warn", "error", "critical", "fatal", "exception", "log", "setLevel",
              "getEffectiveLevel", "isEnabledFor", "addHandler", "removeHandler", "hasHandlers",
              "getChild", "addFilter", "removeFilter", "filters")  # fmt: skip
    TAKES: Mapping[str, Takes] = {
        "propagate": Takes.VALUE, "disabled": Takes.VALUE, "handlers": Takes.VALUE,
    }  # fmt: skip

    def __reduce__(self) -> str:
        return "Logger"  # a copy is the same object

    def __init__(self, name: str, level: Any = 0) -> None:
        self.name = name
        self.level = _level(level)
        self.handlers: Any = []
        self.filters: list[Any] = []
        self.propagate: Any = True
        self.disabled: Any = False

    def __repr__(self) -> str:
        kind = "RootLogger" if self.name == "root" else "Logger"
        return f"<{kind} {self.name} ({_level_name(self.getEffectiveLevel())})>"

    @property
    def parent(self) -> Logger | None:
        if self is registry.root:
            return None
        name = self.name
        while (cut := name.rfind(".")) > 0:
            name = name[:cut]
            charge_text(name)
            if name in registry.loggers:
                return registry.loggers[name]
        return registry.root

    def setLevel(self, level: Any) -> None:
        self.level = _level(level)

    def getEffectiveLevel(self) -> int:
        logger: Logger | None = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return 0

    def isEnabledFor(self, level: Any) -> bool:
        return not self.disabled and level > registry.off and level >= self.getEffectiveLevel()

    def addHandler(self, hdlr: Any) -> None:
        session.budget.charge_bytes(KEPT_BYTES)
        if not any(one is hdlr for one in collect(self.handlers)):
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr: Any) -> None:
        self.handlers = [one for one in collect(self.handlers) if one is not hdlr]

    def addFilter(self, filter: Any) -> None:
        _added(self.filters, filter)

    def removeFilter(self, filter: Any) -> None:
        self.filters = [one for one in self.filters if one is not filter]

    def hasHandlers(self) -> bool:
        return bool(self._reached())

    def _reached(self) -> list[Any]:
        found: list[Any] = []
        logger: Logger | None = self
        while logger is not None:
            found += collect(logger.handlers)
            logger = logger.parent if logger.propagate else None
        return found

    def getChild(self, suffix: str) -> Logger:
        return get_logger(suffix if self is registry.root else f"{self.name}.{suffix}")

    def _log(self, level: Any, msg: Any, args: tuple[Any, ...]) -> None:
        if type(level) is not int:
            raise TypeError("level must be an integer")
        session.budget.charge(1)
        if not self.isEnabledFor(level):
            return
        record = LogRecord(self.name, level, msg, args)
        if not _passes(self.filters, record):
            return
        handlers = self._reached()
        if not handlers and level >= LEVELS["WARNING"]:
            session.notes.setdefault(NOT_SHOWN)
        for handler in handlers:
            if level >= get_attribute(handler, "level"):
                call(get_attribute(handler, "handle"), (record,), {})

    def log(self, level: Any, msg: Any, *args: Any, **options: Any) -> None:
        self._log(level, msg, args)

    def debug(self, msg: Any, *args: Any, **options: Any) -> None:
        self._log(10, msg, args)

    def info(self, msg: Any, *args: Any, **options: Any) -> None:
        self._log(20, msg, args)

    def warning(self, msg: Any, *args: Any, **options: Any) -> None:
        self._log(30, msg, args)

    def error(self, msg: Any, *args: Any, **options: Any) -> None:
        self._log(40, msg, args)

    def critical(self, msg: Any, *args: Any, **options: Any) -> None:
        self._log(50, msg, args)

    warn, fatal, exception = warning, critical, error


class _Registry:
    """The loggers of a run by their names."""

    __slots__ = ("loggers", "off", "root")

    def __init__(self) -> None:
        self.root = Logger("root", 30)
        self.loggers: dict[str, Logger] = {}
        self.off = -1  # messages up to this level are dropped


registry = run_state(_Registry())


def get_logger(name: Any = None) -> Logger:
    if not name or name == "root":
        return registry.root
    if type(name) is not str:
        raise TypeError("A logger name must be a string")
    found = registry.loggers.get(name)
    if found is None:
        session.budget.charge_bytes(KEPT_BYTES + len(name))
        found = registry.loggers[name] = Logger(name)
    return found


def _configure(
    *, filename: Any = None, filemode: Any = "a", format: Any = PLAIN, datefmt: Any = None,
    style: Any = "%", level: Any = None, stream: Any = None, handlers: Any = None,
    force: Any = False, encoding: Any = None, errors: Any = None,
) -> None:  # fmt: skip
    """basicConfig"""
    root = registry.root
    if force:
        root.handlers = []
    if not collect(root.handlers):
        if handlers is None:
            made = StreamHandler(stream) if filename is None else FileHandler(filename, filemode)
            handlers = [made]
        formatter = Formatter(format, datefmt, style)
        for handler in collect(handlers):
            if get_attribute(handler, "formatter") is None:
                call(get_attribute(handler, "setFormatter"), (formatter,), {})
            root.addHandler(handler)
        if level is not None:
            root.setLevel(level)


def _of_root(name: str) -> Any:
    def run(msg: Any, *args: Any, **options: Any) -> None:
        if not collect(registry.root.handlers):
            _configure()
        getattr(registry.root, name)(msg, *args)

    return run


def _log(level: Any, msg: Any, *args: Any, **options: Any) -> None:
    if not collect(registry.root.handlers):
        _configure()
    registry.root.log(level, msg, *args)


def _disable(level: Any = 50) -> None:
    registry.off = _level(level)


VALUES.add(LogRecord)
MODULES: dict[str, dict[str, Any]] = {
    "logging": {
        **LEVELS,
        **functions({name: _of_root(name) for name in (
            "debug", "info", "warning", "warn", "error", "critical", "exception")}),
        **functions({"log": _log, "basicConfig": _configure, "disable": _disable,
                     "getLogger": get_logger, "getLevelName": _level_name}),
        **classes([Handler, StreamHandler, FileHandler, NullHandler, Formatter, Filter, Logger]),
    },
}  # fmt: skip
