"""Stand-in for CuPy: what was written down of the real one."""

from __future__ import annotations

import functools
import inspect
import json
from pathlib import Path
from typing import Any

RECORD: dict[str, Any] = json.loads((Path(__file__).parents[1] / "names.json").read_text())


@functools.cache
def signature_of(text: str) -> inspect.Signature:
    """Parameters as they were recorded, to bind a call to."""
    scope: dict[str, Any] = {}
    exec(f"def recorded{text}: ...", scope)
    return inspect.signature(scope["recorded"])
