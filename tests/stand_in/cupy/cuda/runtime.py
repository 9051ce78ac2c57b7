"""Stand-in for CuPy: what it asks the driver."""

from __future__ import annotations

import os
from typing import Any

_current = [0]


class CUDARuntimeError(RuntimeError):
    """What a driver that is missing, or a device that is not there, raises."""


def getDeviceCount() -> int:
    count = int(os.environ.get("STAND_IN_DEVICES", "1"))
    if not count:
        raise CUDARuntimeError(
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime "
            "version"
        )
    return count


def getDevice() -> int:
    return _current[0]


def setDevice(device: int) -> None:
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    _current[0] = device


def deviceSynchronize() -> None:
    getDeviceCount()


def getDeviceProperties(device: int) -> dict[str, Any]:
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    return {"name": b"stand-in"}
