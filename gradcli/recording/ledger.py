"""Recording: the ledger: what was added to each `.grad` and by which call, resets, stale gradients.

It holds on to few values: of the entries of one gradient the first and the last, each value only
while it is small.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from ..engine.schema.origin import current_line
from ..named import NamedTuple
from .facts.ledger import AccountFact, EntryFact, MarkFact, StaleFact
from .memory import key_of, memory
from .numbers import numbers, range_of, text_of
from .passes import Pass, Passes
from .sides import alone, is_alone, sides
from .snapshot import restored
from .spectator import Spectator

ENDS = 50  # entries of one gradient that are held at each end
SMALL = 256  # elements of a gradient whose values are held
MARKS = 100_000  # entries of one gradient whose kinds and lines are held
MOST = 10_000  # tensors that are followed
RESETS = frozenset({"zeroed", "cleared", "assigned"})

Line = int | None


class Sum(NamedTuple):
    """A gradient that was added to over a change of its tensor: the lines of the backward call
    before the change, of the change, and of the backward call behind it."""

    first: Line
    update: Line
    again: Line


class Entry:
    """One entry, with the values as they were."""

    __slots__ = ("mark", "amount", "after")

    def __init__(self, mark: MarkFact, amount: Any = None, after: Any = None) -> None:
        self.mark, self.amount, self.after = mark, amount, after

    def fact(self, full: bool) -> EntryFact:
        amount, after = restored(self.amount), restored(self.after)
        if full:
            return EntryFact(
                *self.mark, None, None,
                None if amount is None else numbers(amount),
                None if after is None else numbers(after),
            )  # fmt: skip
        return EntryFact(
            *self.mark,
            None if amount is None else text_of(amount),
            None if after is None else text_of(after),
            amount_range=None if amount is None else range_of(amount),
            after_range=None if after is None else range_of(after),
        )  # fmt: skip


class Account:
    """What happened to the `.grad` of one tensor."""

    __slots__ = (
        "tensor", "first", "last", "marks", "count", "added", "updated", "grad",
        "memories", "sums", "open", "used", "unused", "waiting", "spent", "dropped",
    )  # fmt: skip

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.first: list[Entry] = []
        self.last: deque[Entry] = deque(maxlen=ENDS)
        self.marks: list[MarkFact] = []
        self.count = 0
        self.added: MarkFact | None = None  # by the backward call since the last reset
        self.updated: MarkFact | None = None  # the change of the tensor since that call
        # Sums over a change of the tensor: those since the last reset, those that changed it again,
        # and those that were not meant for it: a reset came first, or another optimiser's step.
        self.sums: dict[Sum, int] = {}
        self.open: dict[Sum, None] = {}
        self.used: set[Sum] = set()
        self.unused: set[Sum] = set()
        # By the line of the backward call: gradients that an update followed, and those that were
        # cleared before one; the lines of those that wait for either.
        self.waiting: list[Line] = []
        self.spent: Counter[Line] = Counter()
        self.dropped: dict[Line, Counter[Line]] = {}  # and by the line that cleared them
        self.grad: Any = None  # the tensor that .grad was at the last look
        self.memories: dict[bool, int] = {}  # of the gradient and of the tensor

    def enter(self, entry: Entry) -> None:
        """One more line; a reset forgets what was added."""
        self.count += 1
        if len(self.marks) < MARKS:
            self.marks.append(entry.mark)
        if len(self.first) < ENDS:
            self.first.append(entry)
        else:
            self.last.append(entry)
        if entry.mark.kind in RESETS:
            if entry.mark.kind != "assigned":
                for line in self.waiting:
                    self.dropped.setdefault(line, Counter())[entry.mark.line] += 1
            self.waiting.clear()
            self.added = self.updated = None
            self.unused.update(self.open)
            self.open.clear()

    def add(self, entry: Entry) -> None:
        """A backward call added to it: has the tensor changed since the call before?"""
        if self.added is not None and self.updated is not None:
            sum_ = Sum(self.added.line, self.updated.line, entry.mark.line)
            self.sums[sum_] = self.sums.get(sum_, 0) + 1
            self.open[sum_] = None
        self.enter(entry)
        self.waiting.append(entry.mark.line)
        self.added, self.updated = entry.mark, None

    def update(self, mark: MarkFact) -> None:
        """The tensor has changed."""
        if self.added is not None:
            self.updated = mark
        self.used.update(self.open)
        self.spent.update(self.waiting)
        self.waiting.clear()

    @property
    def stale(self) -> dict[Sum, int]:
        """Sums that changed the tensor, or would have next; what a generator's pass leaves in a
        discriminator is none."""
        return {one: times for one, times in self.sums.items()
                if one in self.used or one not in self.unused}  # fmt: skip


class Owned(NamedTuple):
    """Memory, or a tensor that has none of its own yet, and whose it is: the account's tensor's or
    its gradient's."""

    what: Any
    account: Account
    is_grad: bool


class Ledger(Spectator):
    """All accounts."""

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.accounts: dict[int, Account] = {}
        self._grads: dict[int, Account] = {}  # by the identity of the tensor that is the .grad
        self._shared: dict[int, Owned] = {}  # by the memory
        self._alone: list[Owned] = []  # tensors whose memory is not shared yet
        self._amounts: dict[int, Any] = {}  # about to be added, by the identity of the tensor
        self._marks: dict[tuple[str, Line], MarkFact] = {}  # one object for many entries
        # Whose values stay as they are until the pass is over.
        self._fresh: list[Entry] = []

    # ---- gradients

    def over(self, one: Pass, freed: list[Any]) -> None:
        """A pass has ended, perhaps in an error."""
        self._amounts.clear()
        fresh, self._fresh = self._fresh, []
        if fresh and (live := sides.live) is not None:
            held = [value for entry in fresh for value in (entry.amount, entry.after)]
            copies = iter(live.packed(held))
            for entry in fresh:
                entry.amount, entry.after = next(copies), next(copies)

    def accumulated(self, variable: Any, grad: Any) -> None:
        """Something is about to be added."""
        small = grad.numel() <= SMALL
        self._amounts[id(variable)] = alone(grad) if small else None

    def gathered(self, came: Sequence[tuple[Any, Any]]) -> None:
        """The same of many: nobody else has these gradients."""
        self._amounts.update(
            (id(variable), grad if grad.numel() <= SMALL else None) for variable, grad in came
        )

    def stored(self, variable: Any) -> None:
        """It was added."""
        self.filled((variable,))

    def filled(self, variables: Sequence[Any]) -> None:
        """The same of many."""
        running, amounts = self.passes.running, self._amounts
        mark = self._mark("added", running[-1].line if running else current_line())
        for variable in variables:
            amount = amounts.pop(id(variable), None)
            account = self._account(variable)
            if account is None:
                continue
            grad = variable.grad
            if amount is not None and is_alone(grad):
                entry = Entry(mark, amount, grad)
                self._fresh.append(entry)
            else:
                entry = Entry(mark, amount, self._copy(grad))
            account.add(entry)
            self._follow(account, grad)

    def _mark(self, kind: str, line: Line) -> MarkFact:
        known = self._marks.get((kind, line))
        if known is None:
            known = self._marks[kind, line] = MarkFact(kind, line)
        return known

    def assigned(self, tensor: Any, value: Any) -> None:
        """`tensor.grad = value` is about to happen."""
        known = self.accounts.get(id(tensor))
        if value is None:
            if known is not None and known.grad is not None:
                known.enter(Entry(self._mark("cleared", current_line())))
                self._forget(known)
            return
        if known is not None and known.grad is value:
            return  # x.grad *= 2 changed it in place, and hands it over once more
        account = known or self._account(tensor)
        if account is not None:
            copy = self._copy(value)
            account.enter(Entry(self._mark("assigned", current_line()), copy, copy))
            self._follow(account, value)

    def stepping(self, optimizer: Any) -> None:
        """An optimiser is about to change its own; what others have was not added up for it."""
        held: set[int] | None = None
        for account in self.accounts.values():
            if account.open:
                groups = optimizer.param_groups
                held = held or {id(one) for group in groups for one in group["params"]}
                if id(account.tensor) not in held:
                    account.unused.update(account.open)

    def changed(self, tensor: Any) -> None:
        """A tensor was given new values in place: a gradient, or what the gradient is of?"""
        if self._amounts:
            return  # the addition itself
        account = self._grads.get(id(tensor))
        if account is not None:
            self._grad_changed(account)
            return
        account = self.accounts.get(id(tensor))
        if account is not None:
            self._updated(account)
            return
        held = memory(tensor)
        if held is None:
            return
        self._look_again()
        found = self._shared.get(key_of(held))
        if found is not None:
            if found.is_grad:
                self._grad_changed(found.account)
            else:
                self._updated(found.account)

    def _updated(self, account: Account) -> None:
        account.update(self._mark("updated", current_line()))
        self._share(account.tensor, account, is_grad=False)

    def _grad_changed(self, account: Account) -> None:
        grad = account.grad
        if grad is None:
            return
        zeroed = not bool((grad.detach() != 0).any().item())
        copy = None if zeroed else self._copy(grad)
        mark = self._mark("zeroed" if zeroed else "changed", current_line())
        account.enter(Entry(mark, None, copy))

    # ---- which memory is whose

    def _account(self, tensor: Any) -> Account | None:
        account = self.accounts.get(id(tensor))
        if account is None and len(self.accounts) < MOST:
            account = self.accounts[id(tensor)] = Account(tensor)
            self._share(tensor, account, is_grad=False)
        return account

    def _follow(self, account: Account, grad: Any = None) -> None:
        """From here on, who changes this gradient in place is noticed."""
        grad = account.tensor.grad if grad is None else grad
        if grad is account.grad:
            return
        self._forget(account)
        account.grad = grad
        self._grads[id(grad)] = account
        self._share(grad, account, is_grad=True)

    def _forget(self, account: Account) -> None:
        if account.grad is not None:
            self._grads.pop(id(account.grad), None)
            account.grad = None
            self._let_go(account, is_grad=True)

    def _let_go(self, account: Account, *, is_grad: bool) -> None:
        """A former gradient's memory: it is another tensor's soon."""
        key = account.memories.pop(is_grad, None)
        held = None if key is None else self._shared.get(key)
        if key is not None and held is not None and held.account is account:
            if held.is_grad is is_grad:
                del self._shared[key]

    def _share(self, tensor: Any, account: Account, *, is_grad: bool) -> None:
        held = memory(tensor)
        if held is None:
            self._alone.append(Owned(tensor, account, is_grad))
        else:
            self._let_go(account, is_grad=is_grad)
            account.memories[is_grad] = key = key_of(held)
            self._shared[key] = Owned(held, account, is_grad)

    def _look_again(self) -> None:
        """A single number gets memory of its own once it is shared: `x.grad.data`."""
        if self._alone:
            waiting, self._alone = self._alone, []
            for tensor, account, is_grad in waiting:
                if not is_grad or account.grad is tensor:
                    self._share(tensor, account, is_grad=is_grad)

    def _copy(self, value: Any) -> Any:
        return None if value is None or value.numel() > SMALL else value.detach().clone()

    # ---- what it amounts to

    def facts(
        self, names: Callable[[Any], tuple[str, Line]], *, full: bool = False
    ) -> tuple[AccountFact, ...]:
        """The accounts, in the order of their first entry. `names` gives a tensor's name and the
        line that bound it; `full` asks for numbers in place of texts."""
        found = []
        for account in self.accounts.values():
            if account.count:
                name, line = names(account.tensor)
                entries = tuple(e.fact(full) for e in chain(account.first, account.last))
                left = account.count - len(entries)
                marks = tuple(account.marks) if len(account.marks) == account.count else ()
                leaf = account.tensor.is_leaf
                found.append(AccountFact(name, line, leaf, entries, account.count, left, marks))
        return tuple(found)

    @property
    def is_stale(self) -> bool:
        """Whether there is any gradient of that kind."""
        return any(account.stale for account in self.accounts.values())

    def stale(self, names: Callable[[Any], tuple[str, Line]]) -> tuple[StaleFact, ...]:
        """Gradients that were added to after an update of their tensor, without a reset."""
        return tuple(
            StaleFact(names(account.tensor)[0], *one, times)
            for account in self.accounts.values()
            for one, times in account.stale.items()
        )
