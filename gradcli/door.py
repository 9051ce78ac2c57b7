"""door: the command `gradcli`: a line that is in order goes straight in, any other through cli."""

from __future__ import annotations

import sys

# Not `from . import ...`: that asks the library face first, which loads every operator.
from .process.interrupts import silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main() -> None:
    """The command; whatever happens, no traceback reaches a user."""
    from .defects import Defect

    try:
        from .command_line import read

        call = read(sys.argv[1:])
        status = call.run() if call is not None else _looked_at()
    except BrokenPipeError:
        status = 0
    except KeyboardInterrupt:
        status = 130
    except OSError as error:
        from .process.ending import unwritable

        status = unwritable(error)
    except (Exception, Defect) as error:
        status = _report_defect(error)
    sys.exit(status if isinstance(status, int) else 0)


def _looked_at() -> Any:
    from .cli import called, misused

    try:
        return called()
    except Exception as error:
        status = misused(error)
        if status is None:
            raise
        return status


def _report_defect(error: BaseException) -> int:
    from .defects import defect_text
    from .process.memory import too_little

    short = too_little()
    sys.stderr.write(defect_text(error) if short is None else f"LimitReached: {short}\n")
    return 70 if short is None else 4


def process() -> None:
    """The command as a process of its own."""
    silent()  # before anything else is loaded
    from .process.ending import begin, leave

    begin()
    status: Any = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    leave(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    process()
