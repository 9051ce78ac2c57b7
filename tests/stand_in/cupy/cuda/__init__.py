"""Stand-in for CuPy: devices. STAND_IN_DEVICES says how many there are: 1, or none, or several."""

from __future__ import annotations

from typing import Any

from . import runtime as runtime


class Device:
    """One of the devices; the current one where none is named."""

    def __init__(self, device: Any = None) -> None:
        self.id = runtime.getDevice() if device is None else int(device)
        self._before: list[int] = []

    def use(self) -> None:
        runtime.setDevice(self.id)

    def __enter__(self) -> Device:
        self._before.append(runtime.getDevice())
        self.use()
        return self

    def __exit__(self, *error: Any) -> None:
        runtime.setDevice(self._before.pop())

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    __hash__ = None  # type: ignore[assignment]


def is_available() -> bool:
    try:
        return runtime.getDeviceCount() > 0
    except runtime.CUDARuntimeError:
        return False
