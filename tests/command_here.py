"""Tests: a command run in this process, as fast as it is; what is unclear goes to a process."""

from __future__ import annotations

import contextlib
import io
import subprocess
from typing import Any

from test_cli import Done, gradcli

from gradcli.command_line import read


def here(*words: str, **other: Any) -> Done[str]:
    """What `gradcli words` prints and how it ends."""
    call = None if other else read(list(words))
    if call is None:
        return gradcli(*words, **other)
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = call.run()
    return subprocess.CompletedProcess(words, int(status), out.getvalue(), errors.getvalue())
