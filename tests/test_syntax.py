"""Tests: what Python's compiler refuses beyond its parser is refused in the same words."""

from __future__ import annotations

import pytest

from gradcli.diagnostics import Diagnostic, ProgramError
from gradcli.language.program import parse
from gradcli.language.source import Source

REFUSED = r"""
[x := 1 for y in (z := [1])]
[[y for y in (x := [1])] for z in [1]]
[0 for y in map(lambda v: (x := v), [1])]
[y := 1 for y in [1]]
[[y := 1 for z in [1]] for y in [1]]
{y: (y := 1) for y in [1]}
class A: x = [y := 1 for z in [1]]
class A(metaclass=M, metaclass=N): pass
def f():\n    from math import *
class A:\n    from math import *
import torch as __debug__
async def f():\n    yield 1\n    return 2
async def f():\n    if 1:\n        return [2]\n    yield
x = 1\ndef f():\n    global x\n    x: int
def f():\n    x = 1\n    def g():\n        nonlocal x\n        x: int = 2
def f():\n    global x\n    nonlocal x
[(yield 1) for x in [1]]
def f():\n    {(yield 1) for x in [1]}
def f():\n    {x: (yield) for x in [1]}
def f():\n    ((yield) for x in [1])
match 1:\n    case x: pass\n    case 2: pass
match 1:\n    case _: pass\n    case 2: pass
match 1:\n    case x as y: pass\n    case 2: pass
match 1:\n    case 1 | x: pass\n    case 2: pass
match 1:\n    case x | 1: pass
match 1:\n    case (1 | _) | 2: pass
match 1:\n    case x, x: pass
match 1:\n    case [x, *x]: pass
match 1:\n    case {"a": x, **x}: pass
match 1:\n    case [x, (1 | x)]: pass
match 1:\n    case [x] | [y]: pass
match 1:\n    case [x, 1] | [x, y]: pass
match 1:\n    case {"a": 1, "a": 2}: pass
match 1:\n    case int(real=1, real=2): pass
match 1:\n    case [*a, *b]: pass
""".strip().split("\n")
ALLOWED = r"""
[x := y for y in [1]]
print([(x := y) for y in [1] if (z := y)])
[y for y in [1] if (x := y) for v in [x]]
class A: x = (y := 1)
match 1:\n    case x if x > 1: pass\n    case _: pass
match 1:\n    case [x] | (x, 1): pass\n    case {"a": x}: pass
match 1:\n    case int(real=x, imag=y) | [x, y]: pass
match 1:\n    case [_, _, *_]: pass\n    case _ if 1: pass\n    case 3: pass
match 1:\n    case (1 | 2) as x: pass\n    case _: pass
async def f():\n    yield 1\n    return
async def f():\n    def g():\n        return 2\n    yield g
async def f():\n    return 2
""".strip().split("\n")


def refusal(text: str) -> Diagnostic | None:
    try:
        parse(Source(text))
    except ProgramError as error:
        return error.diagnostic
    return None


@pytest.mark.parametrize("line", REFUSED)
def test_refused_in_the_words_of_python(line: str) -> None:
    text = line.replace("\\n", "\n") + "\n"
    with pytest.raises(SyntaxError) as raised:
        compile(text, "program", "exec")
    found = refusal(text)
    assert found is not None and found.span is not None
    assert (found.type, found.message) == ("SyntaxError", raised.value.msg)
    assert found.span.line == raised.value.lineno


@pytest.mark.parametrize("line", ALLOWED)
def test_allowed_as_by_python(line: str) -> None:
    text = line.replace("\\n", "\n") + "\n"
    compile(text, "program", "exec")
    assert refusal(text) is None


@pytest.mark.parametrize(
    ("text", "said", "advice"),
    [
        ("f = lambda: (yield)", "'yield' inside a lambda", "help: write a function with def"),
        ("async def f():\n    return [await x for x in [1]]", "'await' inside a comprehension",
         "help: await in a loop, and add to a list there"),
        ("async def f():\n    return list(await x for x in [1])", "'await' inside a comprehension",
         "help: await in a loop, and add to a list there"),
        ("async def f():\n    return [x async for x in g()]", "'async for' in a comprehension",
         "help: write it as a loop"),
    ],
)  # fmt: skip
def test_what_python_has_and_the_language_not(text: str, said: str, advice: str) -> None:
    compile(text, "program", "exec")
    found = refusal(text)
    assert found is not None
    assert (found.message, found.notes) == (f"{said} is not part of the language", (advice,))
