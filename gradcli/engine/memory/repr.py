"""Engine: the text of a tensor, character for character as PyTorch prints it.

Works on a plain array and a few facts about its tensor, so that whatever has those (the engine,
a reader of recorded answers, a test) gets the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite, prod
from typing import Any

from ...named import NamedTuple
from ..schema.dtypes import (
    BY_NAME as DTYPES,
    COMPLEX,
    FLOATING,
    DType,
    default_complex,
    default_dtype,
)
from ..schema.mode import state
from ..schema.run_state import run_state
from .device import module_of

PREFIX = "tensor("
PARAMETER = "Parameter containing:\n"
MOST_DIGITS = 1000  # that reports print: more than a number has


class PrintOptions:
    """What torch.set_printoptions changes."""

    __slots__ = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")

    def __init__(
        self,
        precision: int = 4,
        threshold: float = 1000,
        edgeitems: int = 3,
        linewidth: int = 80,
    ) -> None:
        self.precision, self.threshold, self.edgeitems = precision, threshold, edgeitems
        self.linewidth = linewidth
        self.sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=float("inf")),
}
print_options = run_state(PrintOptions())


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """torch.set_printoptions: a profile first, single options over it; sci_mode is always set."""
    changes = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    chosen = _PROFILES.get(profile) if profile is not None else None
    for name, value in changes.items():
        if value is None and chosen is not None:
            value = getattr(chosen, name)
        if value is not None:
            setattr(print_options, name, value)
    print_options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """torch.get_printoptions."""
    return {name: getattr(print_options, name) for name in print_options.__slots__}


def settle_printoptions() -> None:
    """The program is over, and reports print tensors: what it set counts if it can print one."""
    if not prints(print_options):
        set_printoptions(profile="default")


def prints(options: Any) -> bool:
    """Whether these options, ours or PyTorch's, can print any tensor: it checks none of them."""
    sizes = options.precision, options.edgeitems, options.threshold, options.linewidth
    is_number = all(type(size) in (int, float) and size >= 0 for size in sizes)
    whole = type(options.precision) is type(options.edgeitems) is int
    return is_number and whole and options.precision <= MOST_DIGITS


@contextmanager
def printoptions(**changes: Any) -> Iterator[None]:
    """torch.printoptions: the options changed for a block."""
    before = get_printoptions()
    set_printoptions(**changes)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_text(
    array: Any,
    *,
    dtype: DType | str,
    device: str = "cpu",
    requires_grad: bool = False,
    grad_fn: str | None = None,
    parameter: bool = False,
    options: PrintOptions | None = None,
) -> str:
    """repr() of the tensor that holds `array`; `grad_fn` is the node's bare name."""
    options = print_options if options is None else options
    kind = DTYPES[dtype] if isinstance(dtype, str) else dtype
    suffixes = []
    if device != "cpu":
        suffixes.append(f"device='{device}'")
    if array.size == 0:
        body = "[]"
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if kind is not default_dtype():
            suffixes.append(f"dtype={kind!r}")
    else:
        if not options.edgeitems:
            suffixes.append(f"size={tuple(array.shape)}")
        if not needs_no_dtype(kind):
            suffixes.append(f"dtype={kind!r}")
        body = _body(array, kind, options)
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = _with_suffixes(PREFIX + body, suffixes, options.linewidth)
    return PARAMETER + text if parameter else text


def sparse_text(
    parts: Sequence[tuple[str, Any, DType]],
    layout: str,
    *,
    shape: tuple[int, ...],
    device: str = "cpu",
    requires_grad: bool = False,
    grad_fn: str | None = None,
) -> str:
    """repr() of a sparse tensor: the name, the array and the type of each of its parts, its values
    last."""
    options, pieces = print_options, []
    for name, array, kind in parts:
        start = f"{name}=tensor("
        body = "[]"
        if array.size:
            body = _body(array, kind, options, len(PREFIX) + len(start))
        else:
            body += f", size={tuple(array.shape)}"
        pieces.append(f"{start}{body})")
    _, values, kind = parts[-1]
    suffixes = [] if device == "cpu" else [f"device='{device}'"]
    suffixes += [f"size={tuple(shape)}", f"nnz={len(values)}"]
    if not needs_no_dtype(kind):
        suffixes.append(f"dtype={kind!r}")
    suffixes.append(f"layout=torch.{layout}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = PREFIX + (",\n" + " " * len(PREFIX)).join(pieces)
    breaks = layout == "sparse_coo"
    return _with_suffixes(text, suffixes, options.linewidth, breaks)


def number_text(value: float) -> str:
    """repr() of a tensor that holds one number of the default type and asks for no gradient."""
    telling = value and isfinite(value)
    text = _float_format([value], print_options)(value) if telling else _whole(value)
    return f"{PREFIX}{text})"


def element_texts(flat: Any, dtype: str) -> list[str]:
    """What PyTorch prints for the elements of a tensor, one by one."""
    return [text.strip() for text in _element_texts(flat, DTYPES[dtype], print_options)[0]]


def needs_no_dtype(kind: DType) -> bool:
    """Types that a literal of the printed text would get anyway."""
    if kind.category == FLOATING:
        return kind is default_dtype()
    return kind.name in ("int64", "bool") or kind is default_complex()


def _with_suffixes(text: str, suffixes: list[str], linewidth: int, breaks: bool = False) -> str:
    # The column counts the comma and blank to come twice on the first line of a text; so does
    # PyTorch, which is why a suffix moves down a few columns before the line is full.
    column = len(text) - text.rfind("\n") + 1
    parts = [text]
    for place, suffix in enumerate(suffixes):
        if (breaks and not place) or column + len(suffix) + 2 > linewidth:
            parts.append(",\n" + " " * len(PREFIX) + suffix)
            column = len(PREFIX) + len(suffix)
        else:
            parts.append(", " + suffix)
            column += len(suffix) + 2
    parts.append(")")
    return "".join(parts)


def _body(array: Any, kind: DType, options: PrintOptions, indent: int = len(PREFIX)) -> str:
    cut: tuple[bool, ...] = (False,) * array.ndim
    if array.size > options.threshold and array.ndim:
        array, cut = _edges(array, options.edgeitems)
    if hasattr(array, "get"):  # an array on a GPU
        array = array.get()
    texts, width = _element_texts(array.ravel(), kind, options)
    if not array.ndim:
        return texts[0]
    per_line = max(1, int((options.linewidth - indent - array.ndim + 1) // (width + 2)))
    return _Layout(texts, array.shape, cut, options.edgeitems, per_line, indent).text()


def _edges(array: Any, edgeitems: int) -> tuple[Any, tuple[bool, ...]]:
    """The part of a long array that is shown, and which axes were shortened for it."""
    cut = tuple(length > 2 * edgeitems for length in array.shape)
    shown = [
        [*range(edgeitems), *range(length - edgeitems, length)] if shortened else range(length)
        for length, shortened in zip(array.shape, cut, strict=True)
    ]
    state.reserve(prod(map(len, shown)) * array.itemsize)
    # Of all axes at once: an expanded one is never copied whole.
    return array[module_of(array).ix_(*shown)], cut


class _Layout(NamedTuple):
    """Lays element texts out in brackets; recursion is over axes, so never deep."""

    texts: list[str]
    shape: Sequence[int]
    cut: Sequence[bool]
    edgeitems: int
    per_line: int
    indent: int

    def text(self) -> str:
        return self._block(0, 0, len(self.texts))

    def _block(self, axis: int, start: int, stop: int) -> str:
        indent = "\n" + " " * (self.indent + axis + 1)
        last = axis == len(self.shape) - 1
        length = self.shape[axis]
        if last:
            items = self.texts[start:stop]
        else:
            step = (stop - start) // length if length else 0
            items = [
                self._block(axis + 1, at, at + step)
                for at in range(start, start + step * length, step or 1)
            ]
        if self.cut[axis]:
            items.insert(self.edgeitems, " ..." if last and self.edgeitems else "...")
        if not last:
            return "[" + ("," + "\n" * (len(self.shape) - axis - 2) + indent).join(items) + "]"
        lines = (
            ", ".join(items[at : at + self.per_line]) for at in range(0, len(items), self.per_line)
        )
        return "[" + ("," + indent).join(lines) + "]"


def _element_texts(flat: Any, kind: DType, options: PrintOptions) -> tuple[list[str], int]:
    """Every element's text, aligned, and the width that the line breaking counts with."""
    if kind.category == COMPLEX:
        real, real_width = _aligned_floats(flat.real.tolist(), options)
        imaginary, imaginary_width = _aligned_floats(flat.imag.tolist(), options)
        both = [a + _imaginary(b) for a, b in zip(real, imaginary, strict=True)]
        return both, real_width + imaginary_width + 1
    if kind.category == FLOATING:
        return _aligned_floats(flat.tolist(), options)
    texts = [str(value) for value in flat.tolist()]
    width = max(map(len, texts), default=1)
    return [text.rjust(width) for text in texts], width


def _imaginary(text: str) -> str:
    text = text.lstrip() + "j"
    return text if text[0] in "+-" else "+" + text


def _aligned_floats(values: list[float], options: PrintOptions) -> tuple[list[str], int]:
    # Zeros, infinities and NaN have no say in the format: they may stick out of the column.
    telling = [value for value in values if value and isfinite(value)]
    if not telling:
        return [_whole(value) for value in values], 1
    to_text = _float_format(telling, options)
    width = max(len(to_text(value)) for value in telling)
    return [to_text(value).rjust(width) for value in values], width


def _float_format(telling: list[float], options: PrintOptions) -> Callable[[float], str]:
    smallest = min(map(abs, telling))
    largest = max(map(abs, telling))
    scientific = options.sci_mode
    if scientific is None:
        scientific = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4
    if not scientific and all(value.is_integer() for value in telling):
        return _whole
    # A program chose the precision, and it may be anything: no part of it is a field.
    spec = f".{options.precision}{'e' if scientific else 'f'}"
    return lambda value: format(value, spec)


def _whole(value: float) -> str:
    text = f"{value:.0f}"
    return text + "." if isfinite(value) else text
