"""commands: what `gradcli check` writes beside its answer: reports for CI servers, annotations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..named import NamedTuple
from ..opening import UsageError
from ..output import save, tell
from ..render.escape import Terminal
from .environment import Environment

if TYPE_CHECKING:
    from ..recording.facts.check import FileCheck


class Reports(NamedTuple):
    """The reports of a call: files, and whether GitHub reads the log."""

    junit: str | None = None
    sarif: str | None = None
    github: bool = False

    def files(self) -> Iterator[tuple[str, str]]:
        """Each file with the option that names it."""
        for option, path in (("--junit", self.junit), ("--sarif", self.sarif)):
            if path is not None:
                yield option, path

    def ready(self, env: Environment, programs: Sequence[str | None]) -> None:
        """What can't be written is said before anything is checked."""
        taken = [] if env.common.out is None else [env.common.out]
        for option, path in self.files():
            folder = os.path.dirname(path) or "."
            if not os.path.isdir(folder):
                raise UsageError(f"{option} {path} can't be written: there is no folder {folder}")
            if path in taken:
                raise UsageError(f"{option} {path}: another answer goes into this file")
            for program in programs:
                env.spare(program, option, path)
            taken.append(path)

    def write(self, env: Environment, done: Sequence[FileCheck], status: int) -> None:
        """The files, whole; annotations behind the text, or beside another document."""
        if self.github:
            self._annotate(env, done)
        for option, path in self.files():
            try:
                save(path, [self._document(option, done, status)])
            except OSError as error:
                why = error.strerror or str(error)
                raise UsageError(f"{option} {path} can't be written: {why}") from None

    def _annotate(self, env: Environment, done: Sequence[FileCheck]) -> None:
        from ..render import github

        lines = list(github.lines(done))
        if env.common.format == "text" and env.common.out is None:
            env.answer(lines)
        elif env.common.format != "github":
            tell(Terminal("".join(lines)))

    def _document(self, option: str, done: Sequence[FileCheck], status: int) -> Terminal:
        if option == "--junit":
            from ..render import junit

            return junit.text(done, timed=True)
        from .. import __version__
        from ..render import sarif

        return sarif.text(done, __version__, status)
