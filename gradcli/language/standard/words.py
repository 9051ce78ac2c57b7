"""language: string, unicodedata, re, json, pprint, textwrap, each charged by a text's size."""

from __future__ import annotations

import itertools
import json
import pprint
import re
import string
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from ..attributes import get_attribute
from ..builtins.byte_strings import decode
from ..builtins.prelude import id_
from ..builtins.strings import PIECE
from ..builtins.types import host_type
from ..calls import call
from ..costs import SMALL, charge_shown, charge_text
from ..formatting import quoted, text
from ..operations import DICTS, type_name
from ..session import session
from ..values import Builtin, Lazy, stands_for, stepwise
from .publishing import called, classes, functions

# ---------------------------------------------------------------- string

STRING: dict[str, Any] = {
    name: getattr(string, name)
    for name in (
        "ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits",
        "punctuation", "printable", "whitespace",
    )
}  # fmt: skip


def _capwords(s: str, sep: str | None = None) -> str:
    charge_shown(s)
    return string.capwords(s, sep)


class Template:
    """string.Template"""

    _torch_name = "string.Template"
    PUBLIC = ("substitute", "safe_substitute", "template")
    __slots__ = ("template",)

    def __init__(self, template: Any) -> None:
        if type(template) is not str:
            raise TypeError(f"expected string or bytes-like object, got '{type_name(template)}'")
        self.template = template

    def _filled(self, method: str, given: Any, named: dict[str, Any]) -> str:
        names = {**(stands_for(given) or {}), **named}
        said = {name: text(value) for name, value in names.items()}
        longest = max(map(len, said.values()), default=0)
        session.budget.charge_bytes((self.template.count("$") + 1) * longest * 4)
        charge_shown(self.template)
        made: str = getattr(string.Template(self.template), method)(said)
        return made

    def substitute(self, mapping: Any = None, /, **kws: Any) -> str:
        return self._filled("substitute", mapping, kws)

    def safe_substitute(self, mapping: Any = None, /, **kws: Any) -> str:
        return self._filled("safe_substitute", mapping, kws)


# ---------------------------------------------------------------- unicodedata


SWAPPED = 8  # a step moves 256 marks by one place


def _marks(word: str) -> int:
    """How many marks are in a row: they are sorted by insertion."""
    if len(word) <= SMALL or word.isascii():
        return 0
    runs = itertools.groupby(map(unicodedata.combining, word), bool)
    return max(sum(1 for _ in run) if is_mark else 0 for is_mark, run in runs)


def _looked_up(name: str) -> Callable[..., Any]:
    """A function of one character or of a text, which can become eighteen times as long."""
    function = getattr(unicodedata, name)

    def run(*args: Any) -> Any:
        for part in args:
            if type(part) is str:
                session.budget.charge_bytes(72 * len(part))
                session.budget.charge(len(part) >> 2 if part.isascii() else 5 * len(part))
                session.budget.charge(_marks(part) ** 2 >> SWAPPED)
        return function(*args)

    return run


UNICODE = {
    **functions({name: _looked_up(name) for name in (
        "normalize", "is_normalized", "category", "name", "lookup", "combining", "bidirectional",
        "mirrored", "numeric", "decimal", "digit", "east_asian_width", "decomposition",
    )}),
    "unidata_version": unicodedata.unidata_version,
}  # fmt: skip

# ---------------------------------------------------------------- re
#
# Python's own engine works. What a pattern takes is charged by the sizes of pattern and text; one
# that goes back without end is ended by the clock, as every endless call in C is.

FLAGS = {
    name: int(getattr(re, name))
    for name in (
        "I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE", "A", "ASCII", "U",
        "UNICODE",
    )
}  # fmt: skip


def _worked(pattern: re.Pattern[str], text: Any) -> None:
    if type(text) is not str:
        raise TypeError(f"expected string or bytes-like object, got '{type_name(text)}'")
    session.budget.charge(1 + ((len(text) * (1 + len(pattern.pattern) // 16)) >> 4))


class Match:
    """re.Match"""

    _torch_name = "re.Match"
    PUBLIC = ("group", "groups", "groupdict", "start", "end", "span", "string", "expand", "pos",
              "lastindex", "lastgroup")  # fmt: skip

    __slots__ = ("_match",)

    def __init__(self, match: re.Match[str]) -> None:
        self._match = match

    def __reduce__(self) -> str:
        return "Match"  # a copy is the same object

    def __getitem__(self, group: Any) -> Any:
        return self._match[group]

    def __repr__(self) -> str:
        return repr(self._match)


class Pattern:
    """re.Pattern"""

    _torch_name = "re.Pattern"
    PUBLIC = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn",
              "pattern", "flags", "groups")  # fmt: skip

    __slots__ = ("_pattern",)

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def __reduce__(self) -> str:
        return "Pattern"

    @property
    def pattern(self) -> str:
        return self._pattern.pattern

    @property
    def flags(self) -> int:
        return int(self._pattern.flags)

    @property
    def groups(self) -> int:
        return self._pattern.groups

    def _search(self, name: str, text: Any, *bounds: int) -> Match | None:
        _worked(self._pattern, text)
        found = _SEARCHES[name](self._pattern, text, *bounds)
        return None if found is None else Match(found)

    def search(self, string: Any, *bounds: int) -> Match | None:
        return self._search("search", string, *bounds)

    def match(self, string: Any, *bounds: int) -> Match | None:
        return self._search("match", string, *bounds)

    def fullmatch(self, string: Any, *bounds: int) -> Match | None:
        return self._search("fullmatch", string, *bounds)

    def _matches(self, text: Any) -> Iterator[re.Match[str]]:
        _worked(self._pattern, text)
        for match in stepwise(self._pattern.finditer(text)):
            session.budget.charge_bytes(PIECE)
            yield match

    def findall(self, string: Any) -> list[Any]:
        return [
            match.group() if not match.re.groups
            else match.group(1) or "" if match.re.groups == 1
            else match.groups("")
            for match in self._matches(string)
        ]  # fmt: skip

    def finditer(self, string: Any) -> Lazy:
        return Lazy("callable_iterator", map(Match, self._matches(string)))

    def split(self, string: Any, maxsplit: int = 0) -> list[Any]:
        _worked(self._pattern, string)
        session.budget.charge_bytes(PIECE * (len(string) + 1))
        return self._pattern.split(string, maxsplit)

    def subn(self, repl: Any, string: Any, count: int = 0) -> tuple[str, int]:
        _worked(self._pattern, string)
        if type(repl) is str:
            session.budget.charge_bytes(4 * (len(string) + 1) * (len(repl) + 1))
            with _named_errors():
                return self._pattern.subn(repl, string, count)
        return self._pattern.subn(lambda match: self._replaced(repl, match), string, count)

    def _replaced(self, repl: Any, match: re.Match[str]) -> str:
        session.budget.charge(1)
        made = call(repl, (Match(match),), {})
        if type(made) is not str:
            raise TypeError(f"expected str instance, {type_name(made)} found")
        session.budget.charge_bytes(4 * len(made))
        return made

    def sub(self, repl: Any, string: Any, count: int = 0) -> str:
        return self.subn(repl, string, count)[0]

    def __repr__(self) -> str:
        return repr(self._pattern)


_SEARCHES: dict[str, Callable[..., re.Match[str] | None]] = {
    name: getattr(re.Pattern, name) for name in ("search", "match", "fullmatch")
}


def _of_match(method: Callable[..., Any]) -> Callable[..., Any]:
    def run(self: Match, *args: Any, **kwargs: Any) -> Any:
        with _named_errors():
            return method(self._match, *args, **kwargs)

    return run


for _name in ("group", "groups", "groupdict", "start", "end", "span", "expand"):
    setattr(Match, _name, _of_match(getattr(re.Match, _name)))
for _name in ("string", "pos", "lastindex", "lastgroup"):
    setattr(Match, _name, property(attrgetter(f"_match.{_name}")))


@called("error")
class PatternError(Exception):
    _torch_name = "re.error"


@contextmanager
def _named_errors() -> Iterator[None]:
    """Python's own error carries the pattern, a host object."""
    try:
        yield
    except re.error as error:
        raise PatternError(str(error)) from None


def compiled(pattern: Any, flags: int = 0) -> Pattern:
    if type(pattern) is Pattern:
        return pattern
    if type(pattern) is not str:
        raise TypeError("first argument must be string or compiled pattern")
    if type(flags) not in (int, bool):
        raise TypeError(f"unsupported operand type(s) for &: '{type_name(flags)}' and 'RegexFlag'")
    if flags & re.DEBUG:
        raise ValueError("re.DEBUG is not part of the language")  # it prints past every limit
    session.budget.charge(len(pattern) << 2)
    with _named_errors():
        return Pattern(re.compile(pattern, flags))


def _once(name: str) -> Callable[..., Any]:
    method = getattr(Pattern, name)
    place = 2 if name in ("sub", "subn") else 1

    def run(pattern: Any, *args: Any, flags: int = 0, **kwargs: Any) -> Any:
        if len(args) > place and name not in ("split", "sub", "subn"):
            *args, flags = args  # type: ignore[assignment]
        return method(compiled(pattern, flags), *args, **kwargs)

    return run


def _escape(pattern: str) -> str:
    charge_shown(pattern)
    return re.escape(pattern)


RE = {
    **functions({name: _once(name) for name in (
        "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")}),
    **functions({"compile": compiled, "escape": _escape}),
    **classes([Pattern, Match]), "error": host_type(PatternError), **FLAGS,
}  # fmt: skip

# ---------------------------------------------------------------- json


def _charge_walk(value: Any) -> None:
    """What a form of a whole value takes: as much as showing it."""
    charge_text(quoted(value))


class JSONEncoder:
    """json.JSONEncoder, for classes whose `default` says how an object of theirs is written."""

    _torch_name = "json.encoder.JSONEncoder"
    EXTENSIBLE = True
    PUBLIC = ("default", "encode")

    def __init__(self, **options: Any) -> None:
        self._options = options

    def default(self, o: Any) -> Any:
        raise TypeError(f"Object of type {type_name(o)} is not JSON serializable")

    def encode(self, o: Any) -> str:
        return _dumps(o, **{"default": get_attribute(self, "default"), **self._options})


def _dumps(obj: Any, *, cls: Any = None, default: Any = None, **options: Any) -> str:
    if cls is not None:
        named = options if default is None else {"default": default, **options}
        return str(call(get_attribute(call(cls, (), named), "encode"), (obj,), {}))
    for name in options:
        if name not in ("indent", "sort_keys", "ensure_ascii", "separators", "skipkeys",
                        "allow_nan"):  # fmt: skip
            raise TypeError(f"JSONEncoder.__init__() got an unexpected keyword argument '{name}'")
    indent = options.get("indent")
    if type(indent) is int and indent > 100:
        raise ValueError("an indent of more than 100")
    _charge_walk(obj)

    def other(value: Any) -> Any:
        plain = stands_for(value)
        if plain is not value:
            return plain
        if default is not None:
            return call(default, (value,), {})
        raise TypeError(f"Object of type {type_name(value)} is not JSON serializable")

    return json.dumps(obj, default=other, **options)


class JSONDecodeError(ValueError):
    _torch_name = "json.decoder.JSONDecodeError"


def _loads(
    s: Any, *, object_hook: Any = None, parse_float: Any = None, parse_int: Any = None,
    parse_constant: Any = None, object_pairs_hook: Any = None,
) -> Any:  # fmt: skip
    if type(s) is bytes:
        s = decode(s)
    if type(s) is not str:
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type_name(s)}")
    session.budget.charge(len(s) >> 3)
    session.budget.charge_bytes(40 * len(s))
    hooks: Any = {
        "object_hook": object_hook, "parse_float": parse_float, "parse_int": parse_int,
        "parse_constant": parse_constant, "object_pairs_hook": object_pairs_hook,
    }  # fmt: skip
    try:
        return json.loads(s, **{name: _calling(hook) for name, hook in hooks.items()})
    except json.JSONDecodeError as error:
        raise JSONDecodeError(str(error)) from None


def _calling(hook: Any) -> Any:
    """What the program does with a part that was read; None where it leaves it as it is."""
    return None if hook is None else lambda part: call(hook, (part,), {})


def _dump(obj: Any, fp: Any, **options: Any) -> None:
    call(get_attribute(fp, "write"), (_dumps(obj, **options),), {})


def _load(fp: Any, **hooks: Any) -> Any:
    return _loads(call(get_attribute(fp, "read"), (), {}), **hooks)


# ---------------------------------------------------------------- pprint, textwrap


class _Printer(pprint.PrettyPrinter):
    """Lists and dictionaries in Python's layout; all else as the language shows it."""

    def format(self, object: Any, context: Any, maxlevels: int, level: int) -> Any:
        if id(object) in context and not (maxlevels and level >= maxlevels):
            return _within_itself(object), False, True
        if type(object) in (list, tuple, str, int, float, bool, type(None)) or (
            type(object) in DICTS
        ):
            return super().format(object, context, maxlevels, level)
        return quoted(object), False, False

    def _format(self, object: Any, stream: Any, *rest: Any) -> None:
        if id(object) in rest[2]:  # what is around it
            stream.write(_within_itself(object))
        else:
            super()._format(object, stream, *rest)


def _within_itself(value: Any) -> str:
    """In Python's words, with the number that id() gives here."""
    return f"<Recursion on {type_name(value)} with id={id_(value)}>"


def _layout(object: Any, options: dict[str, Any], places: tuple[Any, ...] = ()) -> str:
    named = dict(zip(("indent", "width", "depth"), places, strict=False)) | options
    if named.get("indent", 1) > 100:
        raise ValueError("an indent of more than 100")
    _charge_walk(object)
    return _Printer(**named).pformat(object)


def _print(object: Any, stream: Any = None, *places: Any, **options: Any) -> None:
    text = _layout(object, options, places) + "\n"
    session.budget.charge_output(text)
    session.write(text)


def _wrapping(method: Callable[..., Any]) -> Callable[..., Any]:
    def run(text: str, *args: Any, **options: Any) -> Any:
        charge_shown(text)
        session.budget.charge(len(text) >> 2)
        return method(text, *args, **options)

    return run


def _indent(text: str, prefix: str, predicate: Any = None) -> str:
    for given in (text, prefix):
        charge_shown(given)
    session.budget.charge_bytes((text.count("\n") + 1) * len(prefix))
    chosen = None if predicate is None else lambda line: bool(call(predicate, (line,), {}))
    return textwrap.indent(text, prefix, chosen)


MODULES: dict[str, dict[str, Any]] = {
    "string": {**STRING, **functions({"capwords": _capwords}), **classes([Template])},
    "re": RE, "unicodedata": UNICODE,
    "json": {
        **functions({"dumps": _dumps, "loads": _loads, "dump": _dump, "load": _load}),
        "JSONDecodeError": host_type(JSONDecodeError), **classes([JSONEncoder]),
    },
    "pprint": {
        **functions({"pformat": lambda object, *places, **options: _layout(
            object, options, places)}),
        "pprint": Builtin("pprint", _print, "<function pprint>"),
        "pp": Builtin("pp", lambda object, *args, sort_dicts=False, **options: _print(
            object, *args, sort_dicts=sort_dicts, **options), "<function pp>"),
    },
    "textwrap": functions({
        "dedent": _wrapping(textwrap.dedent), "indent": _indent, "fill": _wrapping(textwrap.fill),
        "wrap": _wrapping(textwrap.wrap), "shorten": _wrapping(textwrap.shorten),
    }),
}  # fmt: skip
