"""Render: the ledger: which call added what to which gradient, stale gradients, buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..diagnostics import some
from ..recording.facts import Spread
from ..recording.facts.ledger import (
    AccountFact,
    BufferFact,
    EntryFact,
    LedgerFact,
    MarkFact,
    PassFact,
    StaleFact,
)
from .fold import repeats
from .folds import Folds
from .table import between
from .text import Cell, Line, Look, bare, cell, columns, counted, ellipsis, least, width_of

MOST = 12  # lines of the short form
MOST_PASSES = 20
MOST_ENTRIES = 24  # of one gradient in the table
WIDEST = 46  # columns of a value
LEAST = 12  # columns of names of which some are too long for the page
NAMES = 4  # gradients of one history that are named in its line


def short(ledger: LedgerFact, look: Look) -> list[Line]:
    """`a.grad = line 6 + line 7` for every gradient that has more than one entry."""
    groups: dict[str, list[AccountFact]] = {}
    for account in ledger.accounts:
        if account.is_eventful:
            groups.setdefault(history(account, look), []).append(account)
    if not groups:
        return []
    lines: list[Line] = [(cell("gradient contributions, by line", "head"),)]
    for told, accounts in list(groups.items())[:MOST]:
        names = [f"{account.name}.grad" for account in accounts]
        lines.extend(_wrapped(_listed(names, look), told, look))
    if len(groups) > MOST:
        more = f"{len(groups) - MOST:,} more; --ledger shows all"
        lines.append((cell(f"  {ellipsis(look)} {more}", "dim"),))
    return lines


def _listed(names: Sequence[str], look: Look) -> str:
    """As many names as fit into a line of a terminal, at most NAMES; the others are counted."""
    for shown in range(min(len(names), NAMES), 0, -1):
        more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
        said = ", ".join(names[:shown]) + more
        if look.whole or width_of(said) <= look.width - 4:
            break
    return said


def _wrapped(names: str, told: str, look: Look) -> Iterator[Line]:
    """In one line, else the history below the names."""
    if width_of(names) + width_of(told) + 5 <= look.width:
        yield (Cell("  "), cell(names, "leaf"), cell(" = "), cell(told))
        return
    yield (Cell("  "), cell(names, "leaf"), cell(" ="))
    rest = told
    while rest:
        room = look.width - 6
        if width_of(rest) > room:
            at = max(rest.rfind(", ", 0, room), rest.rfind(" + ", 0, room), 0)
            at = at + 2 if at else room
        else:
            at = len(rest)
        yield (cell("      " + rest[:at].strip()),)
        rest = rest[at:].strip()


def history(account: AccountFact, look: Look) -> str:
    """line 6 + line 7, None on line 8, line 6"""
    marks = account.marks or tuple(MarkFact(entry.kind, entry.line) for entry in account.entries)
    if len(marks) < account.total:
        half = len(marks) // 2
        first, last = _joined(marks[:half], look), _joined(marks[half:], look)
        return f"{first}, {account.left_out:,} more, {last}"
    return _joined(marks, look)


def _joined(marks: Sequence[MarkFact], look: Look) -> str:
    known: dict[MarkFact, int] = {}
    tokens = [known.setdefault(mark, len(known)) for mark in marks]
    text, before, at = "", "", 0
    times = "×" if look.unicode else "x"
    for repeat in [*repeats(tokens), None]:
        end = len(marks) if repeat is None else repeat.start
        for mark in marks[at:end]:
            text += _sign(before, mark.kind) + _word(mark)
            before = mark.kind
        if repeat is None:
            break
        unit = marks[repeat.start : repeat.start + repeat.period]
        inner, last = "", ""
        for mark in unit:
            inner += _sign(last, mark.kind) + _word(mark)
            last = mark.kind
        inner = f"({inner})" if repeat.period > 1 else inner
        text += _sign(before, unit[0].kind) + f"{inner} {times} {repeat.times:,}"
        before, at = last, repeat.start + repeat.period * repeat.times
    return text


def _sign(before: str, kind: str) -> str:
    """What stands between two entries."""
    if not before:
        return ""
    return " + " if kind == "added" and before in ("added", "assigned", "changed") else ", "


def _word(mark: MarkFact) -> str:
    line = "?" if mark.line is None else str(mark.line)
    return {
        "added": f"line {line}",
        "cleared": f"None on line {line}",
        "zeroed": f"zeros on line {line}",
        "assigned": f"set on line {line}",
        "changed": f"changed on line {line}",
    }[mark.kind]


# ---------------------------------------------------------------- in full


def table(ledger: LedgerFact, look: Look, folds: Folds) -> list[Line]:
    """Every entry, with what was added and what came out."""
    heads = ("gradient", "line", "entry", "amount", ".grad afterwards")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    for account in ledger.accounts:
        rows.extend(_rows(account, look, folds))
    if len(rows) == 1:
        return [(cell("no gradient was stored", "dim"),)]
    first = (0, least((row[0] for row in rows if len(row) > 2), look, LEAST))
    giving = (((3, 12), (4, 12)), (first,), 2)
    return columns(rows, look, giving=giving, right=frozenset({1}))


def _rows(account: AccountFact, look: Look, folds: Folds) -> Iterator[tuple[Cell, ...]]:
    entries = list(account.entries)
    hidden, place = account.left_out, len(entries) // 2
    key = "entries", account.name
    if len(entries) > MOST_ENTRIES and not folds.opens(key):
        place = MOST_ENTRIES // 2
        hidden += len(entries) - 2 * place
        entries = entries[:place] + entries[-place:]
    for i, entry in enumerate(entries):
        if hidden and i == place:
            if hidden == account.left_out:  # the run kept no more
                words = counted(hidden, "more entry", "more entries")
                yield (cell(f"  {ellipsis(look)} {words}; not kept", "dim"),)
            else:
                yield folds.more(key, hidden, look, "entry", "entries")
        yield (
            cell(f"{account.name}.grad" if i == 0 else "", "leaf" if account.is_leaf else ""),
            cell("" if entry.line is None else str(entry.line), "dim"),
            cell({"cleared": "set to None", "zeroed": "set to zeros"}.get(entry.kind, entry.kind)),
            _amount(entry, look),
            _after(entry, look),
        )


def _amount(entry: EntryFact, look: Look) -> Cell:
    """What was added or assigned; of a change in place nobody knows it."""
    if entry.kind not in ("added", "assigned"):
        return Cell("")
    return _value(entry.amount, entry.amount_range, look)


def _after(entry: EntryFact, look: Look) -> Cell:
    said = {"cleared": "None", "zeroed": "zeros"}.get(entry.kind)
    return Cell(said) if said else _value(entry.after, entry.after_range, look)


def _value(text: str | None, span: Spread | None, look: Look) -> Cell:
    """A value, or its range where it is too wide."""
    if text is None:
        return Cell("not kept", "dim")
    shown, least_to_most = bare(text), "" if span is None else between(span)
    if least_to_most and width_of(shown) > WIDEST and not look.whole:
        shown = least_to_most
    return cell(look.fit(shown, WIDEST))._replace(short=least_to_most)


def passes(ledger: LedgerFact, look: Look) -> list[Line]:
    """What each pass freed, or keeps alive."""
    if not ledger.passes:
        return []
    lines: list[Line] = [(cell("saved tensors that each pass freed or kept", "head"),)]
    shown = ledger.passes[-MOST_PASSES:]
    if len(shown) < len(ledger.passes):
        more = len(ledger.passes) - len(shown)
        lines.append(
            (cell(f"  {ellipsis(look)} {counted(more, 'earlier pass', 'earlier passes')}", "dim"),)
        )
    for i, fact in enumerate(shown):
        if i and fact == shown[i - 1]:
            continue
        times = next((n for n, other in enumerate(shown[i:]) if fact != other), len(shown) - i)
        lines.extend(_pass(fact, times, look))
    if ledger.alive:
        lines.extend(alive(ledger, look))
    return lines


def _pass(fact: PassFact, times: int, look: Look) -> Iterator[Line]:
    call = "autograd.grad" if fact.captured else "backward"
    line = "after the program" if fact.line is None else f"line {fact.line}"
    done = "kept" if fact.retained else "freed"
    saved = sum(buffer.nodes for buffer in fact.buffers)
    nodes = "one node" if saved == 1 else f"{saved:,} nodes"
    said = f"{done} {fact.bytes:,} bytes of {nodes}" if saved else "nothing was saved"
    ended = "; ended in an error" if fact.failed else ""
    repeated = f" {'×' if look.unicode else 'x'} {times:,}" if times > 1 else ""
    yield (cell(f"  {line}: {call} {said}{ended}{repeated}"),)
    for row in _lines(fact.buffers, look):
        yield (cell(f"      {row}", "dim"),)


def alive(ledger: LedgerFact, look: Look) -> list[Line]:
    """The bytes that a retained graph keeps alive, by line."""
    total = sum(buffer.bytes for buffer in ledger.alive)
    if not total:
        said = "the retained graph takes no memory: names of the program hold all that it saved"
        return [(cell(said, "dim"),)]
    rows = list(_lines(ledger.alive, look, words=False))
    head = f"the retained graph keeps {total:,} bytes alive that nothing else holds"
    return [(cell(f"{head}: {rows[0]}" if len(rows) == 1 and width_of(head) + width_of(rows[0]) + 2
                  <= look.width else head, "dim"),),
            *((cell(f"    {row}", "dim"),) for row in rows
              if len(rows) > 1 or width_of(head) + width_of(row) + 2 > look.width)]  # fmt: skip


def _lines(buffers: Iterable[BufferFact], look: Look, words: bool = True) -> Iterator[str]:
    """line 5: 20 bytes (self, other), line 3: 8 bytes; as many in a row as fit."""
    row = ""
    known = [buffer for buffer in buffers if buffer.bytes]
    for buffer in known[:MOST]:
        line = "?" if buffer.line is None else str(buffer.line)
        told = some(buffer.names, NAMES)
        names = f" ({told})" if words and told else ""
        piece = f"line {line}: {buffer.bytes:,} bytes{names}"
        if row and width_of(row) + width_of(piece) + 8 > look.width:
            yield row + ","
            row = ""
        row += f", {piece}" if row else piece
    if len(known) > MOST:
        row += f" and {counted(len(known) - MOST, 'more line')}"
    if row:
        yield row


# ---------------------------------------------------------------- stale gradients


def stale(facts: Iterable[StaleFact], look: Look) -> list[Line]:
    """For standard error: gradients that grew although their tensor had changed since."""
    groups: dict[tuple[int | None, int | None, int | None, int], list[str]] = {}
    for fact in facts:
        key = fact.first, fact.update, fact.again, fact.times
        groups.setdefault(key, []).append(fact.name)
    lines: list[Line] = []
    for (first, update, again, times), names in list(groups.items())[:MOST]:
        many = f"{times:,} times " if times > 1 else ""
        shown = some([f"{name}.grad" for name in names], NAMES)
        lines.append((cell(f"stale gradient: {shown}", "error"),))
        what = names[0] if len(names) == 1 else "its tensor"
        lines.append(
            (cell(f"  {many}line {again} added to what line {first} had left there; line {update} "
                  f"changed {what} in between"),)
        )  # fmt: skip
        advice = f"{names[0]}.grad = None, or zero_grad() of the optimizer, before line {again}"
        lines.append((cell(f"help: {advice}", "advice"),))
    if len(groups) > MOST:
        more = counted(len(groups) - MOST, "more stale gradient")
        lines.append((cell(f"note: {more}; gradcli trace --ledger shows all", "dim"),))
    return lines
