"""Render: finds repeated stretches of a sequence, in linear time."""

from __future__ import annotations

from collections.abc import Sequence

from ..named import NamedTuple

LEAST = 3  # fewer repetitions than this read better as they are
LONGEST = 400  # a period longer than this is not looked for
BLOCK = 1024  # tokens that are looked at together
TRIES = 4  # so many returns of the first token are tried as a period


class Repeat(NamedTuple):
    """tokens[start : start + period] stands there `times` times in a row."""

    start: int
    period: int
    times: int


def repeats(tokens: Sequence[int], *, outermost: bool = False) -> list[Repeat]:
    """The repeats from left to right; they do not overlap. Where one of several repeats is
    repeated itself, `outermost` reports this one, and not those within it."""
    following: dict[int, list[int]] = {}
    found: list[Repeat] = []
    at, end = 0, len(tokens)
    while at < end:
        repeat = _repeat_at(tokens, following, at, outermost=outermost)
        if repeat is None:
            at += 1
        else:
            found.append(repeat)
            at += repeat.period * repeat.times
    return found


def _following(tokens: Sequence[int], start: int) -> list[int]:
    """For each position of the block that starts here the next one with the same token; -1 where
    it is none, or too far away to matter."""
    seen: dict[int, int] = {}
    following = []
    block = tokens[start : start + BLOCK + LONGEST]
    for i in range(start + len(block) - 1, start - 1, -1):
        token = tokens[i]
        following.append(seen.get(token, -1))
        seen[token] = i
    following.reverse()
    return following


def _alike(tokens: Sequence[int], at: int, period: int) -> int:
    """How far from here on each token is the one that stands a period later."""
    length, most, size = 0, len(tokens) - at - period, 1
    while length < most:
        size = min(size, most - length)
        i = at + length
        if tokens[i : i + size] == tokens[i + period : i + period + size]:
            length += size
            size *= 2
        elif size == 1:
            break
        else:
            size //= 2
    return length


def _repeat_at(
    tokens: Sequence[int], following: dict[int, list[int]], at: int, *, outermost: bool
) -> Repeat | None:
    """What repeats itself from here on; `following` has the blocks that were looked at."""
    found: Repeat | None = None
    candidate = at
    for _ in range(TRIES):
        start = candidate - candidate % BLOCK
        if start not in following:
            following[start] = _following(tokens, start)
        candidate = following[start][candidate - start]
        if candidate < 0 or candidate - at > LONGEST:
            break
        period = candidate - at
        count = _alike(tokens, at, period) // period + 1
        if count >= LEAST:
            found = Repeat(at, period, count)
            if not outermost:
                break
            candidate = at + period * (count - 1)  # a larger one begins behind this one
    return found
