"""commands: the keys of `gradcli step --keys`, read one by one from the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..opening import UsageError

if TYPE_CHECKING:
    from ..render.steps.session import Session
    from ..render.text import Look

KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|.", re.DOTALL)  # what stands for one key


def stepped(session: Session, source: str, look: Look) -> None:
    """Goes through a pass until quit; without a terminal that gives single keys it is refused."""
    from ..render.steps.screen import Screen

    with _single_keys() as read, Screen(session, source, look) as screen:
        while not session.is_over:
            try:
                sent = read()
            except KeyboardInterrupt:
                return
            if not sent:
                return
            for key in KEY.findall(sent):
                screen.press(key)


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """What reads the keys that were pressed, at least one."""
    try:
        import termios
        import tty
    except ImportError:
        raise UsageError("--keys needs a terminal of Linux or macOS", "step without it") from None
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield lambda: os.read(terminal, 1024).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
