"""pattern: regular expressions, compiled at first use: a run needs few of them."""

from __future__ import annotations

import re
from typing import Any


class _Pattern:
    """Stands for a compiled one, and takes what is used of it."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, later."""
    made: Any = _Pattern(text, flags)
    return made
