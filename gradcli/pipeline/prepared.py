"""Pipeline: the settings of a run: its device, its default dtype, where prints and warnings go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..diagnostics import bounded
from ..engine.memory import device as devices
from ..engine.schema import dtypes
from ..engine.schema.origin import current_line
from ..namespace import resolve
from ..opening import DeviceMissing, UsageError
from ..pattern import pattern
from .request import Request


@contextmanager
def prepared(request: Request) -> Iterator[None]:
    """The device, and what floats become; as before afterwards."""
    device, dtype = devices.default_device(), dtypes.default_dtype()
    try:
        devices.set_default_device(request.device)
        if request.dtype is not None:
            dtypes.set_default_dtype(resolve(request.dtype))
        yield
    except devices.DeviceMissing as error:
        message, _, advice = str(error).partition(": pip ")
        raise DeviceMissing(message, f"pip {advice}" if advice else "") from None
    except RuntimeError as error:
        if "device" not in str(error).lower():
            raise
        raise UsageError(f"--device {request.device}: expected cpu, cuda or cuda:N") from None
    finally:
        devices.set_default_device(device)
        dtypes.set_default_dtype(dtype)


def printer(
    printed: list[str], write: Callable[[str], None] | None, guessed: bool
) -> Callable[[str], None]:
    """Where a program prints: what it reports of inputs that were `guessed` is left out, since
    numbers in it have no value."""

    def put(text: str) -> None:
        if not guessed:
            printed.append(text)
            if write is not None:
                write(text)

    return put


FORWARD_CALL = "Traceback of forward call that caused the error:"
AROUND = " " * 40  # as long as what a page says beside a warning: its file, line and type


class Warned:
    """The warnings of a program, each once, in order, with their lines and categories; without the
    calls of the engine. `charge` gets the size of each; a program's own count as output.
    """

    def __init__(self, charge: Callable[[str], None] = len) -> None:  # type: ignore[assignment]
        self.places: dict[str, tuple[int | None, str]] = {}
        self.charge = charge

    def __call__(
        self, message: Any, category: type[Warning] = UserWarning, line: int | None = None
    ) -> None:
        if issubclass(category, (DeprecationWarning, PendingDeprecationWarning)):
            return  # of the library; nobody's __main__ asked for it
        words = "".join(str(message).partition(FORWARD_CALL)[:2]).rstrip()
        words = bounded("\n".join(_LINE_END.split(words)))
        if words not in self.places:
            self.charge(AROUND + words)
            self.places[words] = (current_line() if line is None else line, category.__name__)


_LINE_END = pattern("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
