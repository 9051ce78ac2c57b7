"""Tests of every public name with wrong arguments: an error of the program, never one of gradcli.

The walk over all of them takes minutes: the gate asks a sample, GRADCLI_WRONG=all asks the rest.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from gradcli.defects import Defect, message_of
from gradcli.diagnostics import LimitReached
from gradcli.engine.schema.run_state import as_new
from gradcli.language.adoption import adopt
from gradcli.language.budget import Budget
from gradcli.language.builtins.errors import value_of
from gradcli.language.builtins.paths import resolve_path
from gradcli.language.builtins.prelude import PRELUDE
from gradcli.language.calls import call, is_callable
from gradcli.language.formatting import text
from gradcli.language.interpreter import run
from gradcli.language.names import known_paths
from gradcli.language.own_errors import is_defect
from gradcli.language.program import parse
from gradcli.language.source import Source

ALL = os.environ.get("GRADCLI_WRONG") == "all"
SAMPLE = 700  # calls in the gate
TOGETHER = 50  # of them, before tensors and modes are made anew
ENDLESS = {"breakpoint", "input", "exit", "quit"}
# Each is the arguments of one call; `*` stands before those that are given by name.
ARGUMENTS = """
(),{}
(None,),{}
(None, None, None),{}
("text",),{}
("", ""),{}
(10**30,),{}
(-1, -1),{}
(1.5, float("nan")),{}
(float("inf"),),{}
(True, False),{}
(1j,),{}
([],),{}
([[1], [1, 2]],),{}
([None],),{}
((), ()),{}
({},),{}
({"a": 1}, {"b": x}),{}
({1, 2},),{}
(print,),{}
(lambda: 0, lambda a: a),{}
(torch, nn),{}
(torch.float32,),{}
(torch.Size([1, 2]),),{}
(torch.ones(0),),{}
(torch.ones(2, 0, 3), -7),{}
(torch.tensor(1.0), "sum"),{}
(torch.ones(2, 3), torch.ones(4, 5)),{}
(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.bool)),{}
(torch.ones(2, dtype=torch.complex64), [0, 0]),{}
(x, x, x, x, x),{}
(x, 99),{}
(x, (0, 0)),{}
(x, slice(None)),{}
(Own(),),{}
(Own, Own()),{}
(net, net),{}
(iter([1]),),{}
(range(10**12),),{}
(b"a", b""),{}
([b"a"], 0),{}
(ValueError("v"),),{}
(np.ones(2), np.float32(1)),{}
(x,),{"dim": "a"}
(x,),{"nosuch": 1}
(),{"input": x, "self": x}
(x,),{"out": 5, "dtype": "float"}
""".strip().splitlines()
START = """
import numpy as np
class Own:
    pass
x = torch.ones(2, 3, requires_grad=True)
net = nn.Linear(2, 2)
"""


def names() -> list[tuple[str, Any]]:
    """What can be called, by its public name."""
    values, _ = known_paths()
    found = [(path, resolve_path(path)) for path in sorted({*values})]
    found += [(name, value) for name, value in sorted(PRELUDE.items()) if name not in ENDLESS]
    return [(name, value) for name, value in found if is_callable(value)]


def calls() -> Iterator[tuple[str, Any, str]]:
    """All of them, or a sample that is the same on every run."""
    every = names()
    if ALL:
        yield from ((name, value, given) for name, value in every for given in ARGUMENTS)
        return
    draw = random.Random(7)
    yield from ((*draw.choice(every), draw.choice(ARGUMENTS)) for _ in range(SAMPLE))


def mistakes(asked: list[tuple[str, Any, str]]) -> Iterator[str]:
    """How gradcli itself fails at these calls: not by the program's own error, not at a limit."""
    budget = Budget(max_memory=1 << 28, max_steps=10**6, timeout=20)
    makers = ", ".join(f"lambda: ({given})" for given in ARGUMENTS)
    made = run(parse(Source(f"{START}made = [{makers}]\n")), {}, budget=budget).bindings["made"]
    for name, value, given in asked:
        budget.start()
        positional, named = call(made[ARGUMENTS.index(given)], (), {})
        place = f"{name} with {given}"
        try:
            text(adopt(call(value, positional, named)))
        except LimitReached:
            continue
        except Defect as error:
            yield f"{place}: {message_of(error)}"
        except Exception as error:
            if is_defect(error):
                yield f"{place}: {message_of(error)}"
            elif "gradcli." in (told := text(value_of(error))):
                yield f"{place}: {told}"


@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_are_the_programs_error() -> None:
    wrong: list[str] = []
    every = calls()
    while some := list(islice(every, TOGETHER)):
        with as_new():
            wrong += mistakes(some)
    assert wrong == []
