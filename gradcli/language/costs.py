"""language: costs of C code over text, integers and keys; charged before it runs.

A step pays for about a quarter of a microsecond. Small values cost no more than the look at their
size; which need not be charged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .session import session

SMALL = 256  # characters below which work on text is not charged by its length
COPIED = 10  # so many bits of a number of bytes: a step copies or compares 1024 of them
WALKED = 6  # a step looks at 64 characters one by one
MATCHED = 9  # a step compares 512 pairs of characters, searching from the right or stripping
BIG = 1 << 15  # bits above which integer work is charged
TEXTS = frozenset({str, bytes})
CROWDED = 4096  # with fewer keys, collisions of hashes are not counted


def charge_text(text: str | bytes) -> None:
    """For work that looks at each character once."""
    if len(text) > SMALL:
        session.budget.charge(len(text) >> WALKED)


def charge_compared(a: Any, b: Any) -> None:
    """Comparing is as long as the shorter one; numbers of many words are compared so too."""
    if type(a) in TEXTS and type(b) is type(a) and len(a) > SMALL:
        session.budget.charge(min(len(a), len(b)) >> COPIED)


def width_of(text: str | bytes) -> int:
    """The most bytes that one character takes in a text made of this one."""
    return 1 if type(text) is bytes or text.isascii() else 4


def joined(pieces: list[str], separator: str = "") -> str:
    """separator.join(pieces), asked for before it is made."""
    size = sum(map(len, pieces)) + len(separator) * len(pieces)
    if size > SMALL:
        session.budget.charge(size >> COPIED)
        ascii_only = separator.isascii() and all(map(str.isascii, pieces))
        session.budget.charge_bytes(size if ascii_only else 4 * size)
    return separator.join(pieces)


def charge_integer(bits: int) -> None:
    """Charge for an integer of so many bits: its bytes, and steps as multiplication takes them."""
    session.budget.charge_bytes(bits >> 3)
    session.budget.charge(int((bits / 30) ** 1.58 / 30) + 1)


def charge_division(a: Any, b: Any) -> None:
    """Division takes as many steps as the words of one times those of the other."""
    if type(a) is int and type(b) is int and a.bit_length() > BIG:
        words = a.bit_length() // 30
        session.budget.charge(words * (b.bit_length() // 30 + 1) // 100 + 1)


def charge_number(value: Any) -> None:
    """For work that looks at each word of a number once."""
    if type(value) is int and value.bit_length() > BIG:
        session.budget.charge(value.bit_length() >> 13)
        session.budget.charge_bytes(value.bit_length() >> 3)


def charge_shown(value: Any) -> None:
    """For work on another form of a text or a number, its escapes or its bytes."""
    if type(value) not in TEXTS:
        charge_number(value)
    elif len(value) > SMALL:
        session.budget.charge(len(value) >> WALKED)
        # A character may become ten: \\U0001F600.
        session.budget.charge_bytes(len(value) * (4 if value.isascii() else 10))


def charge_sorting(keys: list[Any], kinds: Iterable[type]) -> None:
    """n log n comparisons, each as long as the keys are on average."""
    count = len(keys)
    rounds = max(count.bit_length() - 1, 0)
    size = 0
    if str in kinds:
        size = sum(map(len, keys))
    elif int in kinds and count > SMALL:
        size = sum([key.bit_length() for key in keys if type(key) is int]) >> 3
    session.budget.charge((count + (size >> COPIED)) * rounds)


def charge_keys(keys: Any) -> None:
    """For putting keys into a table at one go: those of equal hash are compared pair by pair."""
    count = len(keys)
    session.budget.charge((count >> 2) + 1)
    if count > SMALL:
        session.budget.charge_bytes(64 * count)
    if count > CROWDED:
        crowd = count - len(set(map(hash, keys)))
        session.budget.charge(crowd * crowd >> 5)
