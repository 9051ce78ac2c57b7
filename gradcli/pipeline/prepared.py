"""Pipeline: what holds while a program runs: its device, its floats, where its warnings go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..engine import device as devices
from ..engine import dtypes
from ..engine.origin import current_line
from ..namespace import resolve
from ..opening import DeviceMissing, UsageError
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


class Warned:
    """The warnings of a program: first lines, each once, in order, with the line they came from."""

    def __init__(self) -> None:
        self.lines: dict[str, int | None] = {}

    def __call__(self, message: Any, category: type[Warning] = UserWarning, *more: Any) -> None:
        if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning)):
            self.lines.setdefault((str(message).splitlines() or [""])[0], current_line())
