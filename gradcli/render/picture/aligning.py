"""Render: where the items of each row stand across: Brandes and Koepf's four alignments, averaged.

Wires that cross rows come out straight, boxes are in the middle of what they are joined to. The
blocks of an alignment are put together as tightly as their widths allow. The mean leaves room that
nothing needs: stretches that are straight are moved towards what they are joined to.
"""

from __future__ import annotations

from itertools import pairwise

from .items import Item

PULLS = 8  # times that all stretches are moved


def aligned(rows: list[list[Item]]) -> list[float]:
    """For each item, by its number, the place of its line."""
    count = sum(map(len, rows))
    marked = _conflicts(rows)
    found: list[list[float]] = []
    for down in (True, False):
        for rightward in (True, False):
            roots = _blocks(rows, marked, count, down=down, rightward=rightward)
            found.append(_packed(rows, roots, count, rightward=rightward))
    return _pulled(_balanced(found, rows), rows)


def _is_strand(item: Item) -> bool:
    return item.box < 0


def _conflicts(rows: list[list[Item]]) -> set[tuple[int, int]]:
    """Pieces of wires that cross a piece between two strands: the long wires stay straight."""
    marked: set[tuple[int, int]] = set()
    for row in rows[1:]:
        pieces = [(one.place, item.place, one, item) for item in row for one in item.above]
        straight = [p for p in pieces if _is_strand(p[2]) and _is_strand(p[3])]
        if not straight:
            continue
        for above, below, one, item in pieces:
            if _is_strand(one) and _is_strand(item):
                continue
            if any((a < above and b > below) or (a > above and b < below)
                   for a, b, _, _ in straight):  # fmt: skip
                marked.add((one.number, item.number))
    return marked


def _blocks(
    rows: list[list[Item]], marked: set[tuple[int, int]], count: int, *, down: bool,
    rightward: bool,
) -> list[int]:  # fmt: skip
    """For each item the first one of its block: items that stand on one line."""
    root = list(range(count))
    ends: dict[int, int] = {}  # the last item of each block so far
    ordered = rows if down else rows[::-1]
    for row in ordered[1:]:
        last = -1 if rightward else 1 << 60
        for item in row if rightward else reversed(row):
            near = sorted(item.above if down else item.below, key=lambda one: one.place)
            near = list(dict.fromkeys(near))
            if not near:
                continue
            low, high = (len(near) - 1) // 2, len(near) // 2
            main = item.main[0 if down else 1]
            middle = (near[low], near[high]) if rightward else (near[high], near[low])
            for one in middle if main is None else (main,):
                pair = (one.number, item.number) if down else (item.number, one.number)
                free = one.place > last if rightward else one.place < last
                taken = ends.get(root[one.number], one.number) != one.number
                if root[item.number] == item.number and free and not taken and pair not in marked:
                    root[item.number] = root[one.number]
                    ends[root[one.number]] = item.number
                    last = one.place
    return root


def _packed(rows: list[list[Item]], root: list[int], count: int, *, rightward: bool) -> list[float]:
    """Blocks as far to one side as they can be, then as near to the other as they fit."""
    ahead: dict[int, dict[int, float]] = {}
    waiting: dict[int, int] = dict.fromkeys(root, 0)
    for row in rows:
        line = row if rightward else row[::-1]
        for left, right in pairwise(line):
            a, b = root[left.number], root[right.number]
            gap = left.gap(right) if rightward else right.gap(left)
            known = ahead.setdefault(a, {})
            if b not in known:
                waiting[b] += 1
            known[b] = max(known.get(b, 0.0), gap)
    order = [block for block, left in waiting.items() if not left]
    place = dict.fromkeys(waiting, 0.0)
    for block in order:
        for other, gap in ahead.get(block, {}).items():
            place[other] = max(place[other], place[block] + gap)
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    for block in reversed(order):
        room = min((place[other] - gap for other, gap in ahead.get(block, {}).items()),
                   default=None)  # fmt: skip
        if room is not None and room > place[block]:
            place[block] = room
    sign = 1.0 if rightward else -1.0
    return [sign * place[root[number]] for number in range(count)]


def _balanced(found: list[list[float]], rows: list[list[Item]]) -> list[float]:
    """The four put over each other at the narrowest one's sides; the mean of the middle two."""
    items = [item for row in rows for item in row]
    starts = [min(lines[i.number] - i.before for i in items) for lines in found]
    ends = [max(lines[i.number] + i.after for i in items) for lines in found]
    narrow = min(range(4), key=lambda k: ends[k] - starts[k])
    moved = []
    for k, lines in enumerate(found):
        rightward = k % 2 == 0
        shift = starts[narrow] - starts[k] if rightward else ends[narrow] - ends[k]
        moved.append([line + shift for line in lines])
    result = []
    for number in range(len(found[0])):
        middle = sorted(lines[number] for lines in moved)[1:3]
        result.append(round(sum(middle) / 2, 1))
    return result


def _pulled(lines: list[float], rows: list[list[Item]]) -> list[float]:
    """Each straight stretch as near to the middle of what it is joined to as its neighbours let
    it."""
    stretch_of: dict[int, list[Item]] = {}
    left: dict[int, Item] = {}
    right: dict[int, Item] = {}
    for row in rows:
        for item in row:
            over = [one for one in item.above if lines[one.number] == lines[item.number]]
            stretch = stretch_of[over[0].number] if over else []
            stretch.append(item)
            stretch_of[item.number] = stretch
        for one, other in pairwise(row):
            left[other.number], right[one.number] = one, other
    stretches = list({id(stretch): stretch for stretch in stretch_of.values()}.values())
    for _ in range(PULLS):
        before = list(lines)
        for stretch in stretches:
            _pull(stretch, lines, left, right)
        stretches.reverse()
        if lines == before:
            break
    return lines


def _pull(
    stretch: list[Item], lines: list[float], left: dict[int, Item], right: dict[int, Item]
) -> None:
    inside = set(stretch)
    pulls = sorted(lines[near.number] - lines[item.number] for item in stretch
                   for near in (*item.above, *item.below) if near not in inside)  # fmt: skip
    if not pulls:
        return
    low, high = pulls[(len(pulls) - 1) // 2], pulls[len(pulls) // 2]
    shift = min(max(0.0, low), high)
    for item in stretch:
        if (one := left.get(item.number)) is not None:
            shift = max(shift, lines[one.number] + one.gap(item) - lines[item.number])
        if (one := right.get(item.number)) is not None:
            shift = min(shift, lines[one.number] - item.gap(one) - lines[item.number])
    for item in stretch:
        lines[item.number] = round(lines[item.number] + shift, 1)
