"""defects: an error of gradcli itself: what to report, and no traceback."""

from __future__ import annotations

from collections.abc import Iterator

FRAMES = 4


class Defect(BaseException):
    """Something that gradcli promises never to do. Not an Exception: no program can catch it."""


def notes_of(error: BaseException) -> tuple[str, ...]:
    """What to report: the version, and the places in gradcli that the error came through."""
    from . import __version__

    places = list(_places(error))[-FRAMES:]
    return (
        f"this is a bug in gradcli {__version__} and not in your program; please report it with",
        "the command, the file, and these lines:",
        *(f"    {place}" for place in places),
    )


def message_of(error: BaseException) -> str:
    """Its class and the first line of its message."""
    first = (str(error).splitlines() or [""])[0][:300]
    return f"{type(error).__name__}: {first}"


def defect_text(error: BaseException) -> str:
    """The full report as text."""
    text = "\n".join((*notes_of(error), f"InternalError: {message_of(error)}"))
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text) + "\n"


def _places(error: BaseException) -> Iterator[str]:
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        _, found, name = code.co_filename.replace("\\", "/").rpartition("/gradcli/")
        place = f"gradcli/{name}" if found else name.rpartition("/")[2]
        yield f"{place}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next
