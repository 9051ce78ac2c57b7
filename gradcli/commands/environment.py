"""commands: a command's input, its output, and its exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..columns import written_in
from ..defects import message_of, notes_of
from ..diagnostics import Diagnostic, ExitStatus, Label, LimitReached, ProgramError, Span, noted
from ..opening import DeviceMissing, Opened, UsageError, opened
from ..options import Shared
from ..output import (
    PAGE,
    Unwritable,
    close_silently,
    document_to_stdout,
    encoding_of,
    flush,
    look_of,
    prepare_streams,
    progress,
    put,
    save,
    tell,
    write,
)
from ..process.deadline import deadline, last_place, time_for
from ..process.ending import keep, why_unwritable
from ..process.memory import bounded, reached, too_little
from ..render.escape import Terminal, block, line
from ..render.look import Look
from .printed import Ends, ends_of

if TYPE_CHECKING:
    from ..pipeline.request import Ran, Request

# One thread starts faster and is faster on what people trace; who sets the variable decides.
# NumPy reads these when it is imported, with the pipeline.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


class Environment:
    """Where a command works: its input, its output, and how both look."""

    def __init__(self, common: Shared) -> None:
        self.common = common
        if common.format != "text":
            document_to_stdout()
        self.look: Look = look_of(sys.stdout, common.color)
        written_in("utf-8" if common.out is not None else encoding_of(sys.stdout))
        if common.out is not None:
            self.look = Look(common.color == "always", True, PAGE, whole=True)
        elif common.wide:
            self.look = self.look._replace(whole=True)
        self.look_of_errors: Look = look_of(sys.stderr, common.color)
        if not self.look_of_errors.color and not sys.stderr.isatty():
            self.look_of_errors = self.look_of_errors._replace(unicode=False)
        self.source: str | None = None
        self.program: Opened | None = None
        self.pieces: list[Terminal] = []
        self.long: list[Terminal] = []  # what a pager is going to show
        self.ends: Ends | None = None  # of what the program prints, where its middle is left out

    def request(self, **wanted: Any) -> Request:
        """Reads the program; everything that the pipeline must know. `wanted` are its fields."""
        common = self.common
        if common.arguments and common.engine != "torch":
            first = common.arguments[0]
            is_file = common.file is None and first.startswith("-")
            raise UsageError(
                "-- ARGUMENTS are for a program that Python runs",
                f"for a file of this name: ./{first}" if is_file else "--engine torch",
            )
        if common.output and common.no_output:
            raise UsageError("--output and --no-output exclude each other", "")
        program = self.program = opened(self._file(), common.max_source)
        if program.note and not common.quiet:
            tell(block(line(program.note) + "\n"))
        if program.path is not None:  # lines of the page lead to lines of the file
            self.look = self.look._replace(path=program.path)
            self.look_of_errors = self.look_of_errors._replace(path=program.path)
        self.spare(program.path)
        return self.request_for(program, **wanted)

    def _file(self) -> str | None:
        """The program that was named, by its path or as an example."""
        if self.common.example is None:
            return self.common.file
        if self.common.file is not None:
            raise UsageError(f"--example takes the place of {self.common.file}")
        from .example_programs import example

        return example(self.common.example).path

    def spare(self, path: str | None, option: str = "--out", out: str | None = None) -> None:
        """An answer must not be written over a program."""
        out = self.common.out if out is None else out
        if out is not None and path is not None and _same(out, path):
            raise UsageError(f"{option} {out} would overwrite the program")

    def request_for(self, program: Opened, **wanted: Any) -> Request:
        """The same for a program that was read already."""
        from ..pipeline.request import Limits, Request

        common = self.common
        limits = Limits(
            common.timeout, common.max_steps, common.max_nodes, common.max_memory,
            common.max_output, common.max_source, common.max_depth,
        )  # fmt: skip
        return Request(
            program.data, program.name, program.path, tuple(common.sets), tuple(common.no_grad),
            common.device, common.dtype, limits, engine=common.engine or "own",
            arguments=common.arguments or (), folder=common.data, **wanted,
        )  # fmt: skip

    def printer(self, alone: bool = False) -> Callable[[str], None]:
        """What the program's print writes to: harmless at once, kept where a file is written.

        `alone`: it is the whole answer.
        """
        if self.common.quiet > 1 or self.common.no_output:
            return lambda text: None
        if self.common.out is not None:
            return lambda text: self.pieces.append(block(text))

        def write(text: str) -> None:
            put(block(text))

        if alone or not self._is_cut():
            return write
        self.ends = Ends(write, self._mark())
        return self.ends

    def _is_cut(self) -> bool:
        """Into a pipe or a file everything goes."""
        return not self.look.whole and not self.common.output

    def _mark(self) -> str:
        return "…" if self.look.unicode else "..."

    def after_output(self, report: Any, streamed: bool = True) -> Any:
        """The report, with what is shown of the program's output; what was held back is out."""
        self._end_output()
        if self.common.no_output:
            return report._replace(output="")
        if not streamed and self._is_cut():
            return report._replace(output=ends_of(report.output, self._mark()))
        return report

    def _end_output(self) -> None:
        if self.ends is not None:
            self.ends.end()

    def answer(self, pieces: Iterable[Terminal]) -> None:
        """The answer itself."""
        if self.common.quiet > 1:
            return
        if self.common.out is not None:
            self.pieces.extend(pieces)
        elif (
            self.common.no_pager
            or self.common.format != "text"
            or not progress.is_terminal(sys.stdout)
        ):
            write(pieces)
        else:
            from ..output.pager import is_long

            page = list(pieces)
            if self.long or is_long(page):
                self.long.extend(page)
            else:
                write(page)

    def show_long(self) -> None:
        """What is longer than the screen goes through the pager."""
        if self.long:
            from ..output.pager import show

            progress.end()
            flush()
            if not show(self.long):
                write(self.long)

    def explained(self, ran: Ran, *, tries: bool = True) -> Ran:
        """The same run; what its error advises was tried, where that is cheap."""
        is_own = ran.request.engine == "own"
        if ran.error is None or (is_own and ran.outcome is None):  # it did not run
            return ran
        open_ends = ran.error.is_bare or ran.error.is_of_constants
        if is_own and not open_ends and not (tries and ran.error.cures):
            return ran
        from ..questions.tried_advice import in_own_words, with_cut, with_trials

        if is_own:
            return with_cut(with_trials(ran) if tries else ran, tries=tries)
        return in_own_words(ran, tries=tries)

    def finish(self, ran: Ran) -> int:
        """The file, the warnings, the error; the exit code."""
        keep(ran)
        self.save()
        if not self.common.quiet and self.common.format == "text":
            if ran.warnings:
                from ..render import warning

                told = zip(ran.warnings, ran.warning_places, strict=True)
                tell(warning.text(told, ran.request.name, self.look_of_errors))
            tell(Terminal("".join(block(f"note: {text}\n") for text in ran.notes)))
        if ran.error is None:
            return ExitStatus.OK
        return self.fail(ran.error, ran.error_text)

    def note(self, text: str) -> None:
        """A remark, beside the answer."""
        tell(block(f"note: {text}\n"))

    def save(self) -> None:
        """The answer goes into the file of --out, if there is one."""
        if self.common.out is not None and self.common.quiet < 2:
            try:
                save(self.common.out, self.pieces)
            except OSError as error:
                why = error.strerror or str(error)
                raise UsageError(f"--out {self.common.out} can't be written: {why}") from None

    def fail(self, diagnostic: Diagnostic, text: str | None = None) -> int:
        """Tells the error."""
        from ..render import error

        self._end_output()
        tell(error.text(diagnostic.bounded(), text, self.look_of_errors))
        return int(diagnostic.exit_status)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def guarded(common: Shared, body: Callable[[Environment], int], foreign: bool = False) -> int:
    """Runs a command within its limits; whatever comes up ends in words and an exit code.

    `foreign`: a library runs that takes memory as it likes.
    """
    prepare_streams()
    env = Environment(common)
    try:
        with ExitStack() as limits:
            trusted = "torch" in (common.engine or "")
            limits.enter_context(deadline(time_for(common.timeout, trusted=trusted)))
            limits.enter_context(
                bounded(common.max_memory, foreign=foreign or trusted, trusted=trusted)
            )
            limits.enter_context(progress.progress(not common.quiet, _so_far))
            status = body(env)
        env.show_long()  # reading in a pager is not limited
        flush()
        return status
    except BrokenPipeError as error:
        return _unwritable(env, error)
    except Unwritable as error:
        return _unwritable(env, error.error)
    except KeyboardInterrupt:
        tell(Terminal("interrupted\n"))
        return ExitStatus.INTERRUPTED
    except ProgramError as error:
        return env.fail(error.diagnostic)
    except DeviceMissing as error:
        return env.fail(Diagnostic("DeviceError", str(error), notes=noted(error.advice),
                                    exit_status=ExitStatus.MISSING_DEVICE))  # fmt: skip
    except UsageError as error:
        return env.fail(_usage(str(error), error.advice))
    except LimitReached as error:
        return env.fail(_limited(env, error))
    except MemoryError:
        return env.fail(_limited(env, reached(common.max_memory)))
    except OSError as error:
        return env.fail(_usage(f"{error.filename or 'the system'}: {error.strerror}", ""))
    except Exception as error:
        short = too_little()
        return env.fail(_defect(error) if short is None else _limited(env, short))


def _unwritable(env: Environment, error: OSError) -> int:
    """A closed pipe ends silently. A full disk is reported."""
    close_silently()
    if error.errno in (errno.EPIPE, None):
        return ExitStatus.OK
    return env.fail(_usage(why_unwritable(error), ""))


def _usage(message: str, advice: str) -> Diagnostic:
    return Diagnostic("UsageError", message, notes=noted(advice), exit_status=ExitStatus.USAGE)


def _limited(env: Environment, error: LimitReached) -> Diagnostic:
    """A limit that was reached before the program ran or after it, at what ran last."""
    if env.program is None:
        return error.as_diagnostic("")
    line, column = _place_in_progress() or last_place() or (1, 1)
    label = Label(Span(line, column, line, column + 1), "", primary=True)
    return error.as_diagnostic(env.program.name, label)


def _so_far(seconds: float) -> str:
    """How far the program has come; nothing before it has started and once it is over."""
    session = sys.modules.get("gradcli.language.session")
    mode = sys.modules.get("gradcli.engine.schema.mode")
    place = _place_in_progress()
    if session is None or mode is None or place is None:
        return ""
    budget = session.session.budget
    nodes = mode.next_sequence() - budget.first_node
    return f"{seconds:.1f} s   {budget.steps:,} steps   {nodes:,} nodes   line {place[0]}"


def _place_in_progress() -> tuple[int, int] | None:
    """Where the program is, if it has started."""
    origin = sys.modules.get("gradcli.engine.schema.origin")
    return None if origin is None else origin.current_place()


def _defect(error: BaseException) -> Diagnostic:
    """An error of ours, told as one."""
    return Diagnostic("InternalError", message_of(error), notes=notes_of(error),
                      exit_status=ExitStatus.DEFECT)  # fmt: skip
