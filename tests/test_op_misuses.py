"""Tests of misuses: what PyTorch's operator database says must fail, fails here in its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from op_misuses import misuses_of, ours
from oracle import RECORDS, oracle

DOMAIN: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "op_db_domain.json").read_text("utf-8")
)
NAMES = sorted({name for names in DOMAIN.values() for name in names})
LEAST = 350  # calls that are compared


def is_known(call: Any, theirs: str) -> bool:
    """What is written down shares no memory with an `out=`; what only warns is no misuse."""
    _, _, kwargs = call
    return "out" in kwargs["dict"] or not theirs


@pytest.mark.parametrize("name", NAMES)
def test_it_fails_in_the_same_words(name: str) -> None:
    apart = [
        (function, theirs, found)
        for function, call, theirs in oracle.ask(misuses_of.__name__, name)
        if not is_known(call, theirs)
        for found in [ours(function, call)]
        if found != theirs
    ]
    assert apart == []


def test_there_are_many_of_them() -> None:
    known = json.loads((RECORDS / f"{misuses_of.__name__}.json").read_text("utf-8"))
    assert sum(map(len, known.values())) >= LEAST
