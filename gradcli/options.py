"""options: what commands take, as data. The fast reader and typer both read these declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .named import NamedTuple
from .process import memory
from .process.deadline import STANDARD, Standard

_UNITS = {
    "": 1, "b": 1, "k": 10**3, "kb": 10**3, "kib": 2**10, "m": 10**6, "mb": 10**6, "mib": 2**20,
    "g": 10**9, "gb": 10**9, "gib": 2**30, "t": 10**12, "tb": 10**12, "tib": 2**40,
}  # fmt: skip
LARGEST = 1 << 56  # bytes or things: more than any machine has, and a number for any system call
_SECONDS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}


# The headings under which help lists what every command shares; a command's own stand above.
PROGRAM, OUTPUT, LIMITED = "Program and inputs", "Output", "Limits"


class Misuse(ValueError):
    """A value that an option does not take; the message says what it would take."""


class Shared(NamedTuple):
    """The options that every command on a program shares, as they were given."""

    file: str | None
    sets: list[str]
    no_grad: list[str]
    device: str
    dtype: str | None
    format: str
    out: str | None
    quiet: int
    color: str
    wide: bool
    timeout: float
    max_steps: int
    max_nodes: int
    max_memory: int
    max_output: int
    max_source: int
    max_depth: int
    engine: str | None = None
    arguments: tuple[str, ...] | None = None  # of the program: what stands behind --
    data: str | None = None
    example: str | None = None
    output: bool = False
    no_output: bool = False
    no_pager: bool = False


class Option(NamedTuple):
    """One option, or without flags one argument. A flag has no `parse`.

    `field` is its name in the tuple that the command gets; a `default` that is a text goes through
    `parse`, as does what `variable` (of the environment) holds. `many` may be given several times,
    and `gather` turns the list into the value. `alone` is the text that its flag stands for where
    the next word is none that `parse` takes. `most` is what a settings file may ask for. A shell
    completes the words of `among`, or values of a `kind` that `commands.completion` knows.
    """

    field: str
    flags: tuple[str, ...]
    help: str
    default: Any = None
    parse: Callable[[str], Any] | None = str
    metavar: str | None = None
    many: bool = False
    gather: Callable[[list[Any]], Any] = list
    counted: bool = False
    required: bool = False
    variable: str | None = None
    show_default: bool = False
    panel: str | None = None
    alone: str | None = None
    most: Callable[[], int] | None = None
    among: tuple[str, ...] = ()
    kind: str = ""

    @property
    def is_limit(self) -> bool:
        """Whether it bounds what programs take: such a one is raised by the caller alone."""
        return self.panel == LIMITED or self.most is not None

    @property
    def takes_lists(self) -> bool:
        """Whether several values may stand with commas between them."""
        return self.gather is words or "," in (self.metavar or "")

    def takes(self, text: str) -> bool:
        """Whether a text is a value of it."""
        try:
            return self.parse is not None and self.parse(text) is not None
        except Misuse:
            return False


class Command(NamedTuple):
    """A command: `asked` is the tuple that its own options fill.

    `shared` are the options of every command; without them the function gets its own alone.
    """

    name: str
    help: str
    asked: Callable[..., Any]
    options: tuple[Option, ...] = ()
    shared: tuple[Option, ...] = ()

    @property
    def every(self) -> tuple[Option, ...]:
        """Arguments first, its own options, then the shared ones: as help lists them."""
        arguments = [o for o in (*self.options, *self.shared) if not o.flags]
        return (*arguments, *(o for o in (*self.options, *self.shared) if o.flags))

    @property
    def hands_on(self) -> bool:
        """Whether the program may be given arguments of its own, behind --."""
        return ENGINE in self.shared

    def filled(self, given: dict[str, Any]) -> tuple[Any, ...]:
        """What its function is called with."""
        own = self.asked(*(given[option.field] for option in self.options))
        if not self.shared:
            return (own,)
        fields: dict[str, Any] = {field: given.get(field) for field in Shared._fields}
        fields["format"] = fields["format"] or self._format_of(fields["out"])
        return Shared(**fields), own

    def _format_of(self, out: str | None) -> str:
        """The format that a file's ending stands for, if the command has it."""
        named = ENDINGS.get((out or "").rpartition(".")[2].lower(), "text")
        formats = next((option.among for option in self.shared if option.field == "format"), ())
        return named if named in formats else "text"


def _amount(text: str, units: Mapping[str, float]) -> tuple[float | None, float | None]:
    """The number in front and what its unit stands for: "1_000", "4 GiB", "1e6", "2.5m"."""
    text = text.strip().lower()
    end = len(text)
    while end and not text[end - 1].isdigit() and text[end - 1] != ".":
        end -= 1
    digits, unit = text[:end].replace("_", "").replace(",", ""), text[end:].strip()
    if not digits[:1].isdigit() or not digits.isascii():
        return None, None
    try:
        number = float(digits)
    except ValueError:
        return None, None
    return (None if number == float("inf") else number), units.get(unit)


def size(text: str) -> int:
    """4GiB, 500MB, 100_000, 1e6: a whole number of bytes or of things."""
    amount, unit = _amount(text, _UNITS)
    if amount is None or unit is None:
        raise Misuse(f"{text!r} is not an amount: 4GiB, 500MB, 1e6 are")
    number = int(min(amount * unit, LARGEST))
    if number < 1:
        raise Misuse("the least is 1; no limit can be switched off")
    return number


def memory_size(text: str) -> int:
    """An amount, or the standard one, also with an amount that it is not to exceed."""
    head, _, most = text.partition(":")
    if head != "standard":
        return size(text)
    return memory.Standard(min(memory.standard(), size(most)) if most else memory.standard())


def seconds(text: str) -> float:
    """60, 90s, 500ms, 2m; or the standard."""
    if text == "standard":
        return Standard(STANDARD)
    amount, unit = _amount(text, _SECONDS)
    if amount is None or unit is None:
        raise Misuse(f"{text!r} is not a time: 60, 90s, 500ms, 2m are")
    number = amount * unit
    if not 0 < number <= 10**7:
        raise Misuse("a time limit lies between 0 and 10000000 seconds")
    return number


def count(text: str) -> int:
    """A whole number, zero or more."""
    try:
        number = int(text)
    except ValueError:
        raise Misuse(f"{text!r} is not a whole number") from None
    if number < 0:
        raise Misuse(f"{number} is less than 0")
    return number


def destination(text: str) -> str:
    """Where an answer is written: a path; - is standard output, as elsewhere on a command line."""
    if not text:
        raise Misuse("an empty text is no path")
    return "/dev/stdout" if text == "-" else text


def one_pass(text: str) -> int:
    """The number of one backward pass, counted from 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise Misuse(f"{text!r} is not the number of a pass: 1 is the first")
    return number


EVERY_PASS = 0  # in the place of the number of a backward pass


def pass_number(text: str) -> int:
    """The number of a backward pass, counted from 1, or the word `all`."""
    if text == "all":
        return EVERY_PASS
    number = count(text)
    if not number:
        raise Misuse("passes are counted from 1")
    return number


EVERY_FOLD = 0  # among the numbers of the folds that are to be open


def folds(text: str) -> frozenset[int]:
    """The numbers of folds, counted from 1, with commas between them, or the word `all`."""
    if text == "all":
        return frozenset({EVERY_FOLD})
    numbers = frozenset(map(count, text.split(",")))
    if EVERY_FOLD in numbers:
        raise Misuse("folds are counted from 1")
    return numbers


def number(text: str) -> float:
    """A number of any kind."""
    try:
        return float(text)
    except ValueError:
        raise Misuse(f"{text!r} is not a number") from None


def tolerance(text: str) -> float:
    """How far two numbers may be apart."""
    value = number(text)
    if not 0 <= value < float("inf"):
        raise Misuse(f"{text!r} is not a tolerance: 0, 1e-5, 0.01 are")
    return value


def words(given: list[str]) -> list[str]:
    """Names and expressions given with commas between them, or one by one."""
    return [name.strip() for text in given for name in _parts(text) if name.strip()]


def _parts(text: str) -> list[str]:
    """A text split at its commas; those in brackets and in quotes belong to an expression."""
    if not any(mark in text for mark in "([{'\""):
        return text.split(",")
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth = max(0, depth - 1)
        elif sign == "," and not depth:
            parts.append("")
            continue
        parts[-1] += sign
    return parts


def named(text: str) -> str:
    """At least one name."""
    if not words([text]):
        raise Misuse(f"{text!r} is no name")
    return text


def one_of(*choices: str) -> Callable[[str], str]:
    """A parser that takes one of these words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise Misuse(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return parse


def under(panel: str, *options: Option) -> tuple[Option, ...]:
    """The same options under a heading of help."""
    return tuple(option._replace(panel=panel) for option in options)


def flag(field: str, *flags: str, help: str) -> Option:
    """On or off."""
    return Option(field, flags, help, False, None)


def several(
    field: str, *flags: str, help: str, metavar: str | None = None, kind: str = ""
) -> Option:
    """May be given several times; the texts as they are."""
    return Option(field, flags, help, (), many=True, metavar=metavar, kind=kind)


def names(
    field: str, *flags: str, help: str, metavar: str = "NAMES", among: tuple[str, ...] = (),
    kind: str = "name",
) -> Option:  # fmt: skip
    """Names, with commas or one by one; some of these words where they are given."""

    def known(text: str) -> str:
        for word in words([named(text)]):
            one_of(*among)(word)
        return text

    parse = known if among else named
    return Option(
        field, flags, help, (), parse, many=True, gather=words, metavar=metavar, among=among,
        kind="" if among else kind,
    )  # fmt: skip


def choice(field: str, *flags: str, of: tuple[str, ...], default: str, help: str) -> Option:
    """One of some words."""
    return Option(
        field, flags, help, default, one_of(*of), metavar="|".join(of), show_default=True, among=of
    )  # fmt: skip


def _limit(name: str, default: str, what: str, parse: Callable[[str], Any] = size) -> Option:
    return Option(
        name.replace("-", "_"), (f"--{name}",), what, default, parse,
        metavar="TIME" if parse is seconds else "N", show_default=default[0].isdigit(),
        variable="GRADCLI_" + name.replace("-", "_").upper(), panel=LIMITED,
    )  # fmt: skip


FILE = Option(
    "file", (), "The program; - reads standard input. Optional if the folder holds exactly one "
    ".expr file, or if input is piped in.", metavar="[FILE]", kind="program",
)  # fmt: skip
EXAMPLE = Option("example", ("--example",), "Use a program that comes with gradcli; gradcli "
                 "examples lists them.", metavar="NAME", kind="example")  # fmt: skip
FORMATS = ("text", "json")
# What a file's ending says of its format.
ENDINGS = dict(pair.split(":") for pair in (
    "json:json svg:svg html:html htm:html dot:dot gv:dot mmd:mermaid tex:latex md:markdown "
    "xml:junit"
).split())  # fmt: skip
ENGINES = ("own", "torch")
DTYPES = ("float16", "float32", "float64", "bfloat16", "half", "float", "double")
SETTINGS: tuple[Option, ...] = (
    Option(
        "sets", ("--set", "-s"), "Give an input a value: w=2.0, x=[1.0,2.0] (floats become leaves "
        "that require grad), n=3, x=@data.npy, x=@data.npz:KEY.", (), many=True,
        metavar="NAME=VALUE", kind="setting",
    ),
    names("no_grad", "--no-grad", help="Inputs that do not require a gradient.", kind="input"),
    Option("device", ("--device",), "Device for the tensors.", "cpu", metavar="cpu|cuda|cuda:N",
           show_default=True, among=("cpu", "cuda")),
    Option("data", ("--data",), "Folder with the files of MNIST, FashionMNIST or CIFAR that the "
           "program reads through torchvision.", metavar="DIR"),
    Option(
        "dtype", ("--dtype",), "Default floating dtype, for example float64.", None,
        one_of(*DTYPES), metavar="TYPE", among=DTYPES,
    ),
)  # fmt: skip
ENGINE = choice(
    "engine", "--engine", of=ENGINES, default="own",
    help="Engine that runs the program: gradcli's own, or Python and the PyTorch that is "
    "installed. torch trusts FILE: its code can do all that Python can. Arguments after -- go "
    "to the program as its sys.argv.",
)._replace(panel=PROGRAM)  # fmt: skip
ANSWER: tuple[Option, ...] = under(
    OUTPUT,
    Option("out", ("--out", "-o"), "Write the answer to this file.", None, destination,
           metavar="OUT"),
    Option("quiet", ("--quiet", "-q"), "Suppress notes and warnings; -qq also suppresses the "
           "answer (exit code only).", 0, None, counted=True),
    choice("color", "--color", of=("auto", "always", "never"), default="auto",
           help="Colours; auto asks the terminal, FORCE_COLOR, NO_COLOR."),
    flag("wide", "--wide", help="Never cut lines to the width of the terminal."),
    flag("no_pager", "--no-pager", help="Print long answers directly, and not through $PAGER or "
         "less."),
)  # fmt: skip
PRINTED = (
    flag("output", "--output", help="Show all of the program's output; on a terminal, only its "
         "beginning and end precede an answer."),
    flag("no_output", "--no-output", help="Hide the program's output."),
)  # fmt: skip
LIMITS: tuple[Option, ...] = (
    _limit(
        "timeout",
        "standard",
        "Processor time for the program; wall-clock time is limited to ten times that. The "
        "default is 60s, and no limit with --engine torch.",
        seconds,
    ),
    _limit("max-steps", "100_000_000", "Steps of the interpreter."),
    _limit("max-nodes", "10_000_000", "Backward nodes."),
    _limit(
        "max-memory",
        "standard",
        "Memory for values. The default is 4GiB, and at most half of "
        "what the machine and its control group have; the jobs of check share it.",
        memory_size,
    ),
    _limit("max-output", "16MiB", "Bytes that the program may print."),
    _limit("max-source", "8MiB", "Size of the file."),
    _limit("max-depth", "1000", "Depth of nested calls."),
)


def shared(
    *formats: str, arguments: tuple[Option, ...] = (FILE,), engine: bool = False,
    prints: bool = False, by_ending: bool = True,
) -> tuple[Option, ...]:  # fmt: skip
    """The options of every command on a program; other formats or arguments where given.

    `prints`: what the program prints stands before the answer. `by_ending`: a file's ending says
    in which format it is written.
    """
    told = "; without it the ending of OUT decides, or it is text" if by_ending else ""
    answer = choice("format", "--format", "-f", of=formats or FORMATS, default="text",
                    help=f"Text for people, JSON for programs{told}.")  # fmt: skip
    if by_ending:
        answer = answer._replace(default=None, show_default=False)
    engines = (ENGINE,) if engine else ()
    example = (EXAMPLE,) if FILE in arguments else ()
    program = under(PROGRAM, *example, *SETTINGS)
    printed = under(OUTPUT, *PRINTED) if prints else ()
    return (*arguments, *program, *engines, *under(OUTPUT, answer), *ANSWER, *printed, *LIMITS)
