"""commands: `gradcli why`: why a gradient is None, zero, NaN, or as large as it is."""

from __future__ import annotations

import os

from ..named import NamedTuple
from ..opening import PROGRAMS, UsageError
from ..options import Command, Option, Shared, flag, shared
from ..process.ending import keep
from .environment import Environment, guarded


class Arguments(NamedTuple):
    """The words and options of why."""

    words: list[str]
    no_try: bool
    try_: bool


COMMAND = Command(
    "why",
    """Explain why a gradient is None, zero, NaN, or as large as it is.

    One diagnosis, the lines responsible, and a fix that gradcli has tested by running
    the program once more with that change.

    \b
    gradcli why chain.expr a
    gradcli why net.expr net.0.weight
    gradcli why loss.expr x.grad[1,0]
    gradcli why net.expr                        every leaf, a line each
    echo 'x = tensor(3.0)' | gradcli why x
    """,
    Arguments,
    (
        Option("words", (), "The program (- reads standard input; optional, as elsewhere), and "
               "a tensor's name: x, x.grad[1,0], weights[0], net.0.weight. Without a name every "
               "leaf is explained.", (), many=True, metavar="[FILE] [NAME]", kind="word"),
        flag("no_try", "--no-try", help="Do not run the program again to try the advice."),
        flag("try_", "--try", help="With --engine torch: run a .py file again too, in a separate "
             "process. Files that it writes are written twice."),
    ),
    shared("text", "json", arguments=(), engine=True, prints=True),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program, finds the verdict; its exit code."""

    def body(env: Environment) -> int:
        file, name = _words(asked.words)
        env.common = common._replace(file=file)
        if name is None:
            return _every(env)
        request = env.request()
        from ..questions.why import why_report

        streams = common.format == "text"
        is_script = request.engine == "torch" and (request.path or "").endswith(".py")
        trials = not asked.no_try and (asked.try_ or not is_script)
        ran, report = why_report(request, name, trials=trials)
        ran = env.explained(ran, tries=trials)
        keep(report)
        if streams:
            from ..render import why as page

            report = env.after_output(report, streamed=False)
            env.answer([page.text(report, ran.text, env.look)])
        else:
            from ..render.json import why as document

            env.answer(document.why(report))
        return env.finish(ran)

    return guarded(common, body)


def _every(env: Environment) -> int:
    """The verdict on every leaf; advice is not tried."""
    from ..questions.why.all_leaves import why_reports

    request = env.request()
    ran, whole, reports = why_reports(request)
    ran = env.explained(ran, tries=False)
    keep(reports)
    if env.common.format == "text":
        from ..render import why as page

        whole = env.after_output(whole, streamed=False)
        env.answer([page.overview(whole, reports, request.name, env.look)])
    else:
        from ..render.json import why as document

        env.answer(document.every(whole, reports))
    return env.finish(ran)


def _words(words: list[str]) -> tuple[str | None, str | None]:
    """(file or nothing, name or nothing), in either order where the file is known by its ending."""
    if len(words) == 2:
        first, second = words
        if second.endswith(PROGRAMS) and not _is_file(first):
            return second, first
        return first, second
    if len(words) == 1 and not _is_file(words[0]):
        return None, words[0]
    if len(words) < 2:
        return (words[0] if words else None), None
    raise UsageError(
        f"one name at a time, not {len(words) - 1}", f"gradcli why {' '.join(words[:2])}"
    )


def _is_file(word: str) -> bool:
    """No name of a tensor: standard input, a path, a program's ending, or a file that is there."""
    is_path = word == "-" or "/" in word.partition("[")[0] or word.endswith(PROGRAMS)
    return is_path or os.path.isfile(word)
