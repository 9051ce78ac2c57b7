"""Render: finds stretches of a sequence that repeat themselves, in linear time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LEAST = 3  # fewer repetitions than this read better as they are
LONGEST = 400  # a period longer than this is not looked for
TRIES = 4  # so many returns of the first token are tried as a period


class Repeat(NamedTuple):
    """tokens[start : start + period] stands there `times` times in a row."""

    start: int
    period: int
    times: int


def repeats(tokens: Sequence[int]) -> list[Repeat]:
    """The repeats from left to right; they do not overlap."""
    following = _following(tokens)
    found: list[Repeat] = []
    at, end = 0, len(tokens)
    while at < end:
        repeat = _repeat_at(tokens, following, at)
        if repeat is None:
            at += 1
        else:
            found.append(repeat)
            at += repeat.period * repeat.times
    return found


def _following(tokens: Sequence[int]) -> list[int]:
    """For each position the next one with the same token, or -1."""
    seen: dict[int, int] = {}
    following = [-1] * len(tokens)
    for i in range(len(tokens) - 1, -1, -1):
        following[i] = seen.get(tokens[i], -1)
        seen[tokens[i]] = i
    return following


def _repeat_at(tokens: Sequence[int], following: list[int], at: int) -> Repeat | None:
    candidate = at
    for _ in range(TRIES):
        candidate = following[candidate]
        if candidate < 0 or candidate - at > LONGEST:
            return None
        period = candidate - at
        j = at
        while j + period < len(tokens) and tokens[j] == tokens[j + period]:
            j += 1
        count = (j - at) // period + 1
        if count >= LEAST:
            return Repeat(at, period, count)
    return None
