"""language: argparse: Python's own parser, over words that the program gives.

A program that runs here is given no arguments: `parse_args()` reads none. The host's parser gets
texts, numbers and functions of the language; it writes nothing and leaves nothing by itself.
"""

from __future__ import annotations

import argparse
import re
from copy import copy
from typing import Any

from ..adoption import is_plain
from ..builtins.errors import ERRORS, matches, name_of, value_of
from ..builtins.types import host_type
from ..calls import call, is_callable
from ..costs import charge_text
from ..formatting import quoted, text
from ..operations import collect, type_name
from ..session import session
from ..values import Builtin, Type
from .namespaces import Namespace
from .publishing import classes
from .system import leave

ACTIONS = frozenset("store store_const store_true store_false append append_const count extend "
                    "help version".split())  # fmt: skip
OPEN = ("*", "+", argparse.REMAINDER, argparse.PARSER)  # any number of words
MOST_WORDS = 1000  # how they go to such arguments is searched for
WIDTH = 78  # of help: a terminal of 80 columns, whatever stands around the run
WIDE = re.compile(r"%(\([^)]*\))?[^a-zA-Z%(]*\d{3}")  # a form that pads to hundreds of columns


class ArgumentTypeError(Exception):
    _torch_name = "argparse.ArgumentTypeError"


# ---------------------------------------------------------------- the host's parser


class _Host(argparse.ArgumentParser):
    """Says what it has to say through the session, and ends the program, not the process."""

    def _print_message(self, message: str, file: Any = None) -> None:
        session.budget.charge_output(message)
        session.write(message)

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        if message:
            session.budget.charge_output(message)
            session.notes[message.strip()] = None
        leave(status)

    def error(self, message: str) -> Any:
        self.exit(2, f"{self.prog}: error: {message}")


class HelpFormatter(argparse.HelpFormatter):
    _torch_name = "argparse.HelpFormatter"
    PUBLIC = ()

    def __init__(self, prog: str, *places: Any, **options: Any) -> None:
        super().__init__(prog, width=WIDTH)

    def _expand_help(self, action: argparse.Action) -> str:
        shown = copy(action)
        if shown.default is not argparse.SUPPRESS:
            shown.default = text(shown.default)
        return super()._expand_help(shown)


class ArgumentDefaultsHelpFormatter(HelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    _torch_name = "argparse.ArgumentDefaultsHelpFormatter"


class RawDescriptionHelpFormatter(HelpFormatter, argparse.RawDescriptionHelpFormatter):
    _torch_name = "argparse.RawDescriptionHelpFormatter"


class RawTextHelpFormatter(HelpFormatter, argparse.RawTextHelpFormatter):
    _torch_name = "argparse.RawTextHelpFormatter"


class MetavarTypeHelpFormatter(HelpFormatter, argparse.MetavarTypeHelpFormatter):
    _torch_name = "argparse.MetavarTypeHelpFormatter"


FORMATTERS = (HelpFormatter, ArgumentDefaultsHelpFormatter, RawDescriptionHelpFormatter,
              RawTextHelpFormatter, MetavarTypeHelpFormatter)  # fmt: skip


class _Converter:
    """`type=`: a function of the program, whose errors mean that the word does not fit."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = str(getattr(function, "name", type_name(function)))

    def __repr__(self) -> str:
        return quoted(self.function)

    def __call__(self, word: Any) -> Any:
        try:
            return call(self.function, (word,), {})
        except Exception as error:
            if name_of(error) == "ArgumentTypeError":
                raise argparse.ArgumentTypeError(text(value_of(error))) from None
            if matches(error, (ERRORS["TypeError"], ERRORS["ValueError"])):
                raise ValueError from None
            raise


def _help_text(value: Any, name: str) -> Any:
    """A text for the help, or None."""
    if value is None or value is argparse.SUPPRESS:
        return value
    if type(value) is not str:
        raise TypeError(f"{name} must be a string, not {type_name(value)}")
    charge_text(value)
    if WIDE.search(value):
        raise ValueError(f"{name} has a form of more than 99 columns")
    return value


def _destination(name: Any) -> Any:
    if type(name) is not str or name.startswith("__"):
        raise ValueError(f"dest {quoted(name)} is no name of an argument")
    return name


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """The keywords of add_argument, for the host."""
    made = {name: value for name, value in options.items() if name in (
        "required", "default", "const", "nargs", "metavar")}  # fmt: skip
    for name, value in options.items():
        if name in ("help", "version"):
            made[name] = _help_text(value, name)
        elif name == "dest":
            made[name] = _destination(value)
        elif name == "type" and value is not None:
            if not is_callable(value):
                raise ValueError(f"{quoted(value)} is not callable")
            made[name] = _Converter(value)
        elif name == "choices" and value is not None:
            made[name] = collect(value)
            if not is_plain(made[name]):
                raise TypeError("choices are numbers or words here")
        elif name == "action":
            flag = type(value) is Type and value.host is argparse.BooleanOptionalAction
            if not flag and value not in ACTIONS:
                raise ValueError(f"unknown action {quoted(value)}")
            made[name] = value.host if flag else value
    for name in ("nargs", "metavar"):
        if name in made and not is_plain(made[name]):
            raise ValueError(f"{name} takes a number or words")
    if type(made.get("nargs")) is int and made["nargs"] > 1000:
        raise ValueError("nargs of more than 1000")
    if unknown := options.keys() - made.keys() - {"type", "choices"}:
        raise TypeError(f"add_argument() got an unexpected keyword argument '{unknown.pop()}'")
    return made


class _Group:
    """What arguments are added to: a parser, or a part of one."""

    _torch_name = "argparse._ArgumentGroup"
    PUBLIC: tuple[str, ...] = ("add_argument", "add_argument_group", "set_defaults",
                               "add_mutually_exclusive_group", "get_default")  # fmt: skip
    __slots__ = ("_host",)
    _host: Any

    def __init__(self, host: Any) -> None:
        self._host = host

    def add_argument(self, *names: Any, **options: Any) -> None:
        if not all(type(name) is str for name in names) or not (names or "dest" in options):
            raise TypeError("add_argument() needs names")
        session.budget.charge_bytes(2000)
        for name in names:
            _destination(name.lstrip("-") if name.startswith("-") else name)
        settings = _settings(options)
        if not any(name.startswith("-") for name in names) and settings.get("nargs") in OPEN:
            open_ones = [action for action in self._host._actions
                         if not action.option_strings and action.nargs in OPEN]  # fmt: skip
            if len(open_ones) > 1:
                raise ValueError("three arguments of any number of words")
        try:
            self._host.add_argument(*names, **settings)
        except argparse.ArgumentError as error:  # it carries the host's argument
            raise ValueError(str(error)) from None

    def add_argument_group(self, title: Any = None, description: Any = None) -> _Group:
        return _Group(self._host.add_argument_group(
            _help_text(title, "title"), _help_text(description, "description")))  # fmt: skip

    def add_mutually_exclusive_group(self, *, required: Any = False) -> _Group:
        return _Group(self._host.add_mutually_exclusive_group(required=bool(required)))

    def set_defaults(self, **named: Any) -> None:
        for name in named:
            _destination(name)
        self._host.set_defaults(**named)

    def get_default(self, dest: str) -> Any:
        return self._host.get_default(dest)


class ArgumentParser(_Group):
    """argparse.ArgumentParser"""

    _torch_name = "argparse.ArgumentParser"
    PUBLIC = (*_Group.PUBLIC, "parse_args", "parse_known_args", "parse_intermixed_args", "error",
              "exit", "print_help", "print_usage", "format_help", "format_usage",
              "add_subparsers")  # fmt: skip
    __slots__ = ()

    def __init__(
        self, prog: Any = None, usage: Any = None, description: Any = None, epilog: Any = None,
        parents: Any = (), formatter_class: Any = None, add_help: Any = True,
        allow_abbrev: Any = True, conflict_handler: Any = "error", **others: Any,
    ) -> None:  # fmt: skip
        kind = formatter_class.host if type(formatter_class) is Type else HelpFormatter
        self._host = _Host(
            _help_text(prog, "prog") or "program.py", _help_text(usage, "usage"),
            _help_text(description, "description"), _help_text(epilog, "epilog"),
            [parent._host for parent in collect(parents) if type(parent) is ArgumentParser],
            kind if kind in FORMATTERS else HelpFormatter, add_help=bool(add_help),
            allow_abbrev=bool(allow_abbrev),
            conflict_handler="resolve" if conflict_handler == "resolve" else "error",
        )  # fmt: skip
        self._host.color = False  # of newer Pythons, which look at the terminal

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[Any]]:
        words = [] if args is None else collect(args)
        if len(words) > MOST_WORDS:
            raise ValueError(f"a command line of more than {MOST_WORDS} words")
        for word in words:
            if type(word) is not str:
                raise TypeError(f"'{type_name(word)}' object is not subscriptable")
            charge_text(word)
        session.budget.charge((len(words) + 1) * len(self._host._actions))
        found = argparse.Namespace(**namespace.table if type(namespace) is Namespace else {})
        found, left = self._host.parse_known_args(words, found)
        if type(namespace) is not Namespace:
            return Namespace(**vars(found)), left
        namespace.table.update(vars(found))
        return namespace, left

    def parse_args(self, args: Any = None, namespace: Any = None) -> Namespace:
        found, left = self.parse_known_args(args, namespace)
        if left:
            self._host.error(f"unrecognized arguments: {' '.join(left)}")
        return found

    parse_intermixed_args = parse_args

    def add_subparsers(
        self, *, title: Any = None, description: Any = None, dest: Any = None, help: Any = None,
        metavar: Any = None, required: Any = False,
    ) -> _Commands:  # fmt: skip
        said = {"title": title, "description": description, "help": help, "metavar": metavar}
        given = {name: _help_text(value, name) for name, value in said.items() if value is not None}
        return _Commands(self._host.add_subparsers(
            required=bool(required), parser_class=_Host, **given,
            **{} if dest is None else {"dest": _destination(dest)},
        ))  # fmt: skip

    def exit(self, status: Any = 0, message: Any = None) -> None:
        self._host.exit(status, _help_text(message, "message"))

    def error(self, message: Any) -> None:
        self._host.error(text(message))

    def print_help(self, file: Any = None) -> None:
        self._host._print_message(self._host.format_help())

    def print_usage(self, file: Any = None) -> None:
        self._host._print_message(self._host.format_usage())

    def format_help(self) -> str:
        return self._host.format_help()

    def format_usage(self) -> str:
        return self._host.format_usage()


class _Commands:
    """What add_subparsers gives."""

    _torch_name = "argparse._SubParsersAction"
    PUBLIC = ("add_parser",)
    __slots__ = ("_host",)

    def __init__(self, host: Any) -> None:
        self._host = host

    def add_parser(self, name: Any, *, help: Any = None, **options: Any) -> ArgumentParser:
        session.budget.charge_bytes(10_000)
        made = ArgumentParser(f"{self._host._prog_prefix} {text(name)}", **options)
        shown = {} if help is None else {"help": _help_text(help, "help")}
        if name in self._host.choices:
            raise ValueError(f"conflicting subparser: {text(name)}")
        own = self._host.add_parser(text(name), **shown)
        own.__dict__.update(vars(made._host))
        made._host = own
        return made


MODULES: dict[str, dict[str, Any]] = {
    "argparse": {
        **classes([ArgumentParser, Namespace, *FORMATTERS]), "SUPPRESS": argparse.SUPPRESS,
        "ArgumentTypeError": host_type(ArgumentTypeError),
        "BooleanOptionalAction": Type(
            "BooleanOptionalAction", argparse.BooleanOptionalAction,
            Builtin("BooleanOptionalAction", lambda *args: None), "argparse",
        ),
    },
}  # fmt: skip
