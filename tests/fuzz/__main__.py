"""`python -m fuzz` in tests/: programs against PyTorch, texts against the parser."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from types import FrameType

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # the processes share the cores


def interrupted(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many to run")
    parser.add_argument("--seed", type=int, default=1, help="the first program's seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument(
        "--texts",
        type=float,
        metavar="MINUTES",
        help="texts in place of programs, for so many minutes of the processor",
    )
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="FOLDER", help="what texts are made of"
    )
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupted)  # whoever ends it hears a summary too
    if given.texts is not None:
        from . import parsing

        return parsing.run(given.texts, given.seed, given.jobs, given.corpus)
    from .run import run

    return run(given.programs, given.seed, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
