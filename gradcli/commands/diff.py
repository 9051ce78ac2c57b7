"""commands: `gradcli diff`: two programs, or two runs of one: where they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..diagnostics import ExitStatus
from ..opening import UsageError, opened
from ..options import (
    DTYPES,
    ENGINES,
    Command,
    Option,
    Shared,
    one_of,
    several,
    shared,
    tolerance,
    words,
)
from .environment import Environment, guarded

if TYPE_CHECKING:
    from ..pipeline.request import Request


class Arguments(NamedTuple):
    """The options of diff."""

    files: list[str]
    sets_a: list[str]
    sets_b: list[str]
    types: list[str]
    engines: list[str]
    rtol: float
    atol: float


def _types(text: str) -> list[str]:
    """float32, or float32,float64 for the one run and the other."""
    return [one_of(*DTYPES)(word) for word in words([text])]


def _engines(text: str) -> list[str]:
    """own, or own,torch for the one run and the other."""
    return [one_of(*ENGINES)(word) for word in words([text])]


COMMAND = Command(
    "diff",
    """Compare two programs, or two runs of one.

    Nodes, values, gradients, and where they first differ. Exit code 0 where all is
    equal, 1 where something differs.

    \b
    gradcli diff old.expr new.expr
    gradcli diff loss.expr --set-a w=2.0 --set-b w=2.5
    gradcli diff loss.expr --dtype float32,float64 --rtol 1e-3
    gradcli diff net.expr --device cpu,cuda
    gradcli diff net.expr --engine own,torch
    """,
    Arguments,
    (
        Option("files", (), "Two programs; or one, for two runs of it.", (), many=True,
               metavar="A [B]", kind="program"),
        several("sets_a", "--set-a", help="Give an input a value in the first run only.",
                metavar="NAME=VALUE", kind="setting"),
        several("sets_b", "--set-b", help="The same for the second run.", metavar="NAME=VALUE",
                kind="setting"),
        Option("types", ("--dtype",), "Default floating dtype; two, one for each run: "
               "float32,float64.", "", _types, metavar="TYPE[,TYPE]", among=DTYPES),
        Option("engines", ("--engine",), "Engine that runs it: gradcli's own, or Python with the "
               "installed PyTorch, which trusts FILE; two, one for each run: own,torch.", "own",
               _engines, metavar="ENGINE[,ENGINE]", show_default=True, among=ENGINES),
        Option("rtol", ("--rtol",), "Relative tolerance of numbers.", "1e-5",
               tolerance, metavar="R", show_default=True),
        Option("atol", ("--atol",), "Absolute tolerance of numbers.", "1e-7",
               tolerance, metavar="A", show_default=True),
    ),
    tuple(option for option in shared(arguments=()) if option.field != "dtype"),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs both, compares them; its exit code."""

    def body(env: Environment) -> int:
        runs = _runs(common, asked)
        requests = _requests(env, common, asked, runs)
        from ..questions.diff import compared
        from ..questions.diff.facts import Tolerance

        same_type, same_device = _alike(runs, "dtype"), _alike(runs, "device")
        tolerance = Tolerance(asked.rtol, asked.atol, same_type, same_device)
        said = [_option_text(run, runs) for run in runs]
        report, ran = compared(requests[0], requests[1], (said[0], said[1]), tolerance)
        if report is None:
            assert ran.error is not None
            return env.fail(ran.error, ran.error_text)
        if common.format == "text":
            from ..render import diff as page

            env.answer([page.text(report, env.look)])
        else:
            from ..render.json.diff import diff

            env.answer(diff(report))
        env.save()
        return int(ExitStatus.OK if report.equal else ExitStatus.CHECK_FAILED)

    # Each of the two has the whole time.
    whole = type(common.timeout)(common.timeout * 2)
    both = common._replace(timeout=whole, engine=",".join(asked.engines))
    return guarded(both, body)


class Run(NamedTuple):
    """What is particular to one of the two runs."""

    sets: list[str]
    device: str
    dtype: str
    engine: str


def _runs(common: Shared, asked: Arguments) -> tuple[Run, Run]:
    """The two runs; UsageError where they are the same."""
    files = list(asked.files)
    if len(files) > 2:
        raise UsageError(f"diff compares two programs, and {len(files)} were given")
    devices, types = _two(common.device.split(","), "--device"), _two(asked.types, "--dtype")
    engines = _two(asked.engines, "--engine")
    runs = (Run(asked.sets_a, devices[0], types[0], engines[0]),
            Run(asked.sets_b, devices[1], types[1], engines[1]))  # fmt: skip
    same = not (asked.sets_a or asked.sets_b) and all(
        _alike(runs, field) for field in ("device", "dtype", "engine")
    )
    if len(files) < 2 and same:
        raise UsageError("two programs are needed, or two runs of one", "gradcli diff A B, or "
                       "gradcli diff A --set-a x=1.0 --set-b x=2.0")  # fmt: skip
    return runs


def _alike(runs: tuple[Run, Run], field: str) -> bool:
    """Whether both runs have the same device, or the same type."""
    return bool(getattr(runs[0], field) == getattr(runs[1], field))


def _requests(
    env: Environment, common: Shared, asked: Arguments, runs: tuple[Run, Run]
) -> list[Request]:
    """Both programs, each with what is its own; one file stands for both."""
    files = list(asked.files)
    first = opened(files[0] if files else None, common.max_source)
    second = opened(files[1], common.max_source) if len(files) > 1 else first
    env.program = first  # a limit that is reached before both run names it
    for program in (first, second):
        env.spare(program.path)
    found = []
    for program, run in zip((first, second), runs, strict=True):
        request = env.request_for(program)
        limits = request.limits._replace(timeout=common.timeout)
        found.append(request._replace(
            sets=(*common.sets, *run.sets), device=run.device, dtype=run.dtype or None,
            limits=limits, engine=run.engine,
        ))  # fmt: skip
    return found


def _option_text(run: Run, runs: tuple[Run, Run]) -> str:
    """The options in which a run differs from the other."""
    told = [f"--set {text}" for text in run.sets]
    if not _alike(runs, "device"):
        told.append(f"--device {run.device}")
    if not _alike(runs, "dtype"):
        told.append(f"--dtype {run.dtype}")
    if not _alike(runs, "engine"):
        told.append(f"--engine {run.engine}")
    return " ".join(told)


def _two(given: list[str], option: str) -> tuple[str, str]:
    """One word for both runs, or one for each; nothing is the empty word."""
    if len(given) > 2:
        raise UsageError(f"{option}: one for both runs, or two with a comma between them")
    return (given[0], given[-1]) if given else ("", "")
