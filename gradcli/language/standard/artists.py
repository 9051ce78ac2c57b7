"""language: what a notebook shows of what matplotlib's functions give: a class, or a text.

Nothing is drawn, and a program gets a `Drawing` of each; these are only words for its last cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.schema.numpy_wrappers import Wrapped
from ...engine.tensors.tensor import Tensor
from ..formatting import quoted
from ..session import session

MOST = 1000  # that a notebook shows


class Artist:
    """A class of matplotlib, of which Python shows the address, or the whole text."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        if self.text.startswith("<") or "(" in self.text:
            return self.text
        return f"<{self.text} object at {session.address_of(self)}>"


Shown = Callable[[tuple[Any, ...], dict[str, Any]], Any]


def _columns(value: Any) -> int:
    held: Any = value.array if isinstance(value, Wrapped) else value
    shape: tuple[int, ...] = tuple(held.shape) if isinstance(value, Tensor | Wrapped) else ()
    return shape[1] if len(shape) == 2 else 1


def _lines(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Artist]:
    """plot(x, y, "r", x, z): a line for each column of each y."""
    count, left = 0, list(args)
    while left:
        last = left.pop(0)
        if type(last) is str:
            continue
        if left and type(left[0]) is not str:
            last = left.pop(0)
        count += _columns(last)
    return [Artist("matplotlib.lines.Line2D") for _ in range(min(count, MOST))]


def _text(x: float, y: float) -> Shown:
    def shown(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Artist | None:
        words = next((value for value in (*args, *kwargs.values()) if type(value) is str), None)
        left = 0.0 if kwargs.get("loc") == "left" else x
        return None if words is None else Artist(f"Text({left}, {y}, {quoted(words)})")

    return shown


def _placed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Artist | None:
    """text(x, y, "words")"""
    if len(args) < 3 or type(args[2]) is not str:
        return None
    return Artist(f"Text({', '.join(map(quoted, args[:3]))})")


def _limits(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[float, ...] | None:
    pair = args[0] if args and type(args[0]) in (list, tuple) else args
    if kwargs or len(pair) != 2 or not all(type(end) in (int, float) for end in pair):
        return None
    return (float(pair[0]), float(pair[1]))


def _bars(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Artist | None:
    if not args or not hasattr(type(args[0]), "__len__"):
        return None
    return Artist(f"<BarContainer object of {len(args[0])} artists>")


def _figure(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Artist | None:
    size = kwargs.get("figsize", args[1] if len(args) > 1 else (6.4, 4.8))
    dpi = kwargs.get("dpi", 100)
    if len(size) != 2 or not all(type(part) in (int, float) for part in (*size, dpi)):
        return None
    return Artist(f"<Figure size {size[0] * dpi:g}x{size[1] * dpi:g} with 0 Axes>")


def _axes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Artist:
    return Artist("<Axes3D: >" if kwargs.get("projection") == "3d" else "<Axes: >")


def _one(name: str) -> Shown:
    return lambda args, kwargs: Artist(name)


SHOWN: dict[str, Shown] = {
    **dict.fromkeys(("plot", "semilogx", "semilogy", "loglog", "step"), _lines),
    **dict.fromkeys(("title", "set_title"), _text(0.5, 1.0)),
    **dict.fromkeys(("xlabel", "set_xlabel"), _text(0.5, 0)),
    **dict.fromkeys(("ylabel", "set_ylabel"), _text(0, 0.5)), "suptitle": _text(0.5, 0.98),
    **dict.fromkeys(("text", "figtext"), _placed),
    **dict.fromkeys(("xlim", "ylim", "set_xlim", "set_ylim"), _limits),
    **dict.fromkeys(("bar", "barh"), _bars), "figure": _figure,
    **dict.fromkeys(("subplot", "axes", "gca", "add_subplot"), _axes),
    **{
        name: _one(f"matplotlib.{kind}")
        for name, kind in {
            "scatter": "collections.PathCollection", "imshow": "image.AxesImage",
            "matshow": "image.AxesImage", "legend": "legend.Legend",
            "axhline": "lines.Line2D", "axvline": "lines.Line2D",
            "hlines": "collections.LineCollection", "vlines": "collections.LineCollection",
            "fill_between": "collections.FillBetweenPolyCollection",
            "contour": "contour.QuadContourSet", "contourf": "contour.QuadContourSet",
            "colorbar": "colorbar.Colorbar", "quiver": "quiver.Quiver",
            "pcolormesh": "collections.QuadMesh",
        }.items()
    },
    **dict.fromkeys(("ion", "ioff"), _one("contextlib.ExitStack")),
}  # fmt: skip
OF_MATPLOTLIB = ("matplotlib.", "pylab.", "figure")


def shown_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a notebook shows of what the function of this name gives; None for nothing."""
    shown = SHOWN.get(name.rpartition(".")[2]) if name.startswith(OF_MATPLOTLIB) else None
    return None if shown is None else shown(args, kwargs)
